"""The rules of language that a program can check; CONTRIBUTING.md has the others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("sparsezc", "ops", "semirings", "tests", "benchmarks", "docs")
#: Pronouns for persons unknown, in two parts, so that this file does not contain them.
PRONOUNS = (("some", "body"), ("no", "body"), ("any", "body"), ("who", "ever"))
UNNAMED = re.compile(rf"\b({'|'.join(start + end for start, end in PRONOUNS)})\b", re.IGNORECASE)
QUESTION = re.compile(r"(What|Whether)\b")
#: Words that are no terms here: data is stored or is in memory, and code is in folders.
ODD = re.compile(r"\b(lie|lies|lying|rooms)\b")
#: Files that may contain these words.
ALLOWED = {"tests/house/test_words.py"}
QUOTED = re.compile(r"[\"']\s*(What|Whether)\b")  # a quote that may open such a docstring


def files(folder: str, *suffixes: str) -> list[Path]:
    """Return the files of a folder of the repository that have one of these suffixes."""
    found = (path for path in (ROOT / folder).rglob("*") if path.suffix in suffixes)
    return sorted(path for path in found if "__pycache__" not in path.parts)


def pages() -> list[Path]:
    """Return the Markdown pages: those at the top level and in all folders."""
    return [*sorted(ROOT.glob("*.md")), *(page for folder in FOLDERS for page in files(folder, ".md"))]


def summaries(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and text of each docstring's first line, a CUDA text's first comment, and a page's headings."""
    text = path.read_text()
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                said = ast.get_docstring(node)
                if said:
                    yield getattr(node, "lineno", 1), said.partition("\n")[0]
    elif path.suffix == ".md":
        for number, line in enumerate(text.splitlines(), 1):
            if line.startswith("#"):
                yield number, line.lstrip("# ")
    else:
        yield 1, text.partition("\n")[0].lstrip("/ ")


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_actor_is_named(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {hit[0]}"
        for path in [*files(folder, ".py", ".pyi", ".cu", ".cuh", ".md", ".cpp", ".h"), *ROOT.glob("*.md")]
        for number, line in enumerate(path.read_text().splitlines(), 1)
        for hit in UNNAMED.finditer(line)
    ]
    assert found == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_summary_opens_with_a_question(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {text}"
        for path in files(folder, ".py", ".cu", ".cuh", ".md")
        if path.suffix != ".py" or QUOTED.search(path.read_text())
        for number, text in summaries(path)
        if QUESTION.match(text)
    ]
    assert found == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_words_are_the_fields_terms(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {hit[0]}"
        for path in [*files(folder, ".py", ".pyi", ".md"), *ROOT.glob("*.md")]
        if str(path.relative_to(ROOT)) not in ALLOWED
        for number, line in enumerate(path.read_text().splitlines(), 1)
        for hit in ODD.finditer(line)
    ]
    assert found == []


def test_every_term_has_one_line() -> None:
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)
    terms = [term.strip() for row in rows[1:] for term in row[0].split(",")]
    assert len(terms) > 40
    assert sorted(terms) == sorted(set(terms))
    assert [row[0] for row in rows[1:]] == sorted((row[0] for row in rows[1:]), key=str.lower)


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_open_with_a_title(page: Path) -> None:
    text = page.read_text()
    assert text.startswith(("# ", "```{include}"))
