"""The tutorials: every program and command on their pages runs, and prints the text that stands below it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from docs.learn import notebooks
from docs.learn.notebooks import steps
from tests.house.programs import printed, same

nx = pytest.importorskip("networkx", reason="a tutorial is about it")

LEARN = notebooks.LEARN
#: Pages whose programs read host memory: the tests' device runs the kernels and counts requests.
EMULATED = {"larger_than_the_card"}
NEEDS = {"larger_than_the_memory": "h5py"}
PAGES = notebooks.NAMES


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
    index = (LEARN / "index.md").read_text()
    assert f"]({name}.md)" in index
    assert f"<as_notebooks/{name}.ipynb>" in index


@pytest.mark.parametrize("name", PAGES)
def test_a_notebook_has_the_programs_and_outputs_of_its_page(name: str) -> None:
    made = notebooks.notebook((LEARN / f"{name}.md").read_text())
    cells = [cell for cell in made["cells"] if cell["cell_type"] == "code"]
    found = list(steps((LEARN / f"{name}.md").read_text()))
    assert [cell["source"].removeprefix("%%bash\n") for cell in cells] == [step.text.rstrip() for step in found]
    assert ["".join(out["text"] for out in cell["outputs"]) for cell in cells] == [step.said for step in found]
    assert made["cells"][0]["source"].startswith("# ")
    assert len({cell["id"] for cell in made["cells"]}) == len(made["cells"])
    assert not re.search(
        r"\]\(|```(python|sh)", "".join(c["source"] for c in made["cells"] if c["cell_type"] != "code")
    )


def test_the_comparison_sees_numbers() -> None:
    """The judge judged."""
    assert same("run 8.67 ms (11.2 M edges/s)\n", "run   9 s (3 M edges/s)\n")
    assert same("reached 3 of\n...\n", "reached 3 of\nanything\n")
    assert not same("reached 3 of 4 vertices\n", "reached 2 of 4 vertices\n")
    assert not same("", "1\n")
