"""The tutorials: every program and command on their pages runs, and prints the text that stands below it."""

from __future__ import annotations

import contextlib
import doctest
import io
import linecache
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

nx = pytest.importorskip("networkx", reason="a tutorial is about it")

ROOT = Path(__file__).resolve().parents[2]
LEARN = ROOT / "docs" / "learn"
#: Pages whose programs read host memory: the tests' device runs the kernels and counts requests.
EMULATED = {"larger_than_the_card"}
NEEDS = {"larger_than_the_memory": "h5py"}
_STEP = re.compile(r"^```(python|sh)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
_TIME = re.compile(r"\b\d+(?:\.\d+)? (?:ms|us|s)\b(?: \([^)]* edges/s\))?")
_SAME = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Step(NamedTuple):
    """A program in Python or for the shell, and what the page says that it prints."""

    line: int
    language: str
    text: str
    said: str


def steps(page: str) -> Iterator[Step]:
    """Yield a page's programs in their order."""
    for match in _STEP.finditer(page):
        yield Step(page[: match.start(2)].count("\n"), match[1], match[2], match[3] or "")


def printed(step: Step, names: dict[str, Any], name: str) -> str:
    """Run a step in the current folder and return what it prints; Python's share their variables, `names`."""
    if step.language == "sh":
        script = f'sparsezc() {{ "{sys.executable}" -m sparsezc "$@"; }}\n{step.text}'
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        settings = {**os.environ, "PYTHONPATH": path, "CUDA_VISIBLE_DEVICES": "", "COLUMNS": "100"}
        done = subprocess.run(
            ["bash", "-euc", script], env=settings, capture_output=True, text=True, timeout=100, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout
    program = "\n" * step.line + step.text
    linecache.cache[name] = (len(program), None, program.splitlines(keepends=True), name)  # operators read their text
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(program, name, "exec"), names)
    return out.getvalue()


def same(said: str, got: str) -> bool:
    """Compare two outputs but for times; "..." in the first stands for anything."""
    said, got = (_TIME.sub("# s", text) for text in (said, got))
    return doctest.OutputChecker().check_output(said, got, _SAME)


PAGES = sorted(page.stem for page in LEARN.glob("*.md") if page.stem != "index")


@pytest.mark.parametrize("name", PAGES)
def test_a_tutorial_prints_what_it_says(
    name: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{name}.md needs {NEEDS[name]}")
    if name in EMULATED:
        request.getfixturevalue("counting")
    names: dict[str, Any] = {"__name__": "tutorial"}
    with nx.config(warnings_to_ignore=set(nx.config.warnings_to_ignore)):
        for step in steps((LEARN / f"{name}.md").read_text()):
            got = printed(step, names, f"{name}.md")
            assert same(step.said, got), f"{name}.md:{step.line + 1} prints:\n{got}"


@pytest.mark.parametrize("name", PAGES)
def test_a_tutorial_shows_what_it_prints(name: str) -> None:
    text = (LEARN / f"{name}.md").read_text()
    found = list(steps(text))
    assert len(re.findall(r"^```(?:python|sh)$", text, re.MULTILINE)) == len(found) >= 3
    assert [step.line for step in found if "print(" in step.text and not step.said] == []
    assert f"]({name}.md)" in (LEARN / "index.md").read_text()


def test_the_comparison_sees_numbers() -> None:
    """The judge judged."""
    assert same("run 8.67 ms (11.2 M edges/s)\n", "run   9 s (3 M edges/s)\n")
    assert same("reached 3 of\n...\n", "reached 3 of\nanything\n")
    assert not same("reached 3 of 4 vertices\n", "reached 2 of 4 vertices\n")
    assert not same("", "1\n")
