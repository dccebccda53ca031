"""The tutorials: every program and command on their pages runs, and prints the text that stands below it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.house.programs import printed, same, steps

nx = pytest.importorskip("networkx", reason="a tutorial is about it")

LEARN = Path(__file__).resolve().parents[2] / "docs" / "learn"
#: Pages whose programs read host memory: the tests' device runs the kernels and counts requests.
EMULATED = {"larger_than_the_card"}
NEEDS = {"larger_than_the_memory": "h5py"}
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
    assert f"]({name}.md)" in (LEARN / "index.md").read_text()


def test_the_comparison_sees_numbers() -> None:
    """The judge judged."""
    assert same("run 8.67 ms (11.2 M edges/s)\n", "run   9 s (3 M edges/s)\n")
    assert same("reached 3 of\n...\n", "reached 3 of\nanything\n")
    assert not same("reached 3 of 4 vertices\n", "reached 2 of 4 vertices\n")
    assert not same("", "1\n")
