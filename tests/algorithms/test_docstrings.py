"""Every algorithm's docstring has parameters, result, errors, formula and source, and docs/algorithms.md lists it."""

import inspect
import re
from pathlib import Path

import pytest

import sparsezc as gb

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "algorithms.md").read_text()
#: A sentence that refers to another function's docstring for the missing sections.
ELSEWHERE = re.compile(r"^(Parameters.*) are those of :func:`(\w+)`", re.MULTILINE)
#: A source has a year, a DOI or an arXiv number.
SOURCE = re.compile(r"Source: .*?(1[89]\d\d|20\d\d|doi:|arXiv:)", re.DOTALL)


@pytest.mark.parametrize("name", gb.algorithms.__all__)
def test_the_docstring_is_whole(name):
    function = getattr(gb.algorithms, name)
    text = inspect.getdoc(function)
    sections = set(re.findall(r"^(\w+)\n-+$", text, re.MULTILINE))
    missing = {"Parameters", "Returns", "Raises", "Notes", "Examples"} - sections
    if missing:
        said, other = ELSEWHERE.search(text).groups()
        assert hasattr(gb.algorithms, other)
        words = {"Parameters": "Parameters", "Returns": "result", "Raises": "errors"}
        assert all(words[section] in said for section in missing)
    assert SOURCE.search(text)
    assert f"gb.algorithms.{name}(" in text
    documented = set(re.findall(r"^([\w, ]+) : ", text, re.MULTILINE) if "Parameters" in sections else [])
    documented |= set(re.findall(r"^([a-z]\w*(?:, \w+)+)$", text, re.MULTILINE))  # without a type
    described = {each.strip() for names in documented for each in names.split(",")}
    assert not sections & {"Parameters"} or set(inspect.signature(function).parameters) <= described


@pytest.mark.parametrize("name", gb.algorithms.__all__)
def test_the_page_lists_it(name):
    assert re.search(rf"^\|.*`{name}\(.*\|", PAGE, re.MULTILINE)
