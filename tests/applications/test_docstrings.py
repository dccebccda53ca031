"""Every application documents its parameters, result, errors, formula and source, and has its place on a page."""

import inspect
import re
from pathlib import Path

import pytest

import sparsezc as gb

GALLERY = Path(__file__).resolve().parents[2] / "docs" / "gallery"
SOURCE = re.compile(r"Source: .*?(doi:|arXiv:|19\d\d|20\d\d)", re.DOTALL)


@pytest.mark.parametrize("name", gb.applications.__all__)
def test_the_docstring_is_whole(name):
    function = getattr(gb.applications, name)
    text = inspect.getdoc(function)
    sections = set(re.findall(r"^(\w+)\n-+$", text, re.MULTILINE))
    assert sections >= {"Parameters", "Returns", "Raises", "Notes", "Examples"}
    assert SOURCE.search(text)
    assert f"gb.applications.{name}(" in text
    documented = re.findall(r"^([\w, ]+) : ", text, re.MULTILINE)
    documented += re.findall(r"^([a-z]\w*(?:, \w+)+)$", text, re.MULTILINE)
    described = {each.strip() for names in documented for each in names.split(",")}
    assert set(inspect.signature(function).parameters) <= described


@pytest.mark.parametrize("name", gb.applications.__all__)
def test_the_gallery_lists_it_and_has_a_page_for_it(name):
    listed = re.search(rf"^\|.*`{name}\(.*?\((\w+\.md)\) \|", (GALLERY / "index.md").read_text(), re.MULTILINE)
    assert f"gb.applications.{name}(" in (GALLERY / listed[1]).read_text()


def test_dir_shows_the_applications():
    assert dir(gb.applications) == sorted(gb.applications.__all__)
    assert "applications" in dir(gb)
