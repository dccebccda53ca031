"""The tutorials: each is a notebook that runs in a kernel of its own and prints the text on its page."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from docs.learn import notebooks
from docs.learn.notebooks import steps
from tests.emulator.device import why_unavailable
from tests.house.programs import same

LEARN = notebooks.LEARN
ROOT = LEARN.parents[1]
PAGES = notebooks.NAMES
NEEDS = {"larger_than_the_card": "h5py", "larger_than_the_memory": "h5py", "networkx_program": "networkx"}
#: A first cell for pages that need a GPU: the emulated device runs the kernels and counts requests.
EMULATED = {
    "larger_than_the_card": "from sparsezc.device import cuda\n"
    "from tests.emulator.device import EmulatedDevice\n"
    "device = EmulatedDevice()\n"
    "device.order, device.counting = 'lockstep', True\n"
    "cuda.use(device)"
}


def ran(name: str, folder: Path) -> list[Any]:
    """Run a tutorial's notebook in a kernel, in an empty folder; return its code cells with their new outputs."""
    nbclient, nbformat = (pytest.importorskip(each, reason="it runs notebooks") for each in ("nbclient", "nbformat"))
    pytest.importorskip("ipykernel", reason="it is the notebooks' kernel")
    made = notebooks.notebook((LEARN / f"{name}.md").read_text())
    cells = [cell for cell in made["cells"] if cell["cell_type"] == "code"]
    first = [{**cells[0], "id": "first", "source": EMULATED[name]}] if name in EMULATED else []
    made["cells"] = first + [cell | {"outputs": []} for cell in cells]
    (folder / "bin").mkdir()
    command = folder / "bin" / "sparsezc"  # the command of this checkout, which need not be installed
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sparsezc "$@"\n')
    command.chmod(0o755)
    (folder / "work").mkdir()
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    settings = {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": path, "COLUMNS": "100"}
    settings |= {"IPYTHONDIR": str(folder / "ipython"), "CUDA_VISIBLE_DEVICES": ""}
    book = nbformat.from_dict(made)
    nbformat.validate(book)
    client = nbclient.NotebookClient(book, timeout=100, kernel_name="python3")
    client.execute(cwd=str(folder / "work"), env={**os.environ, **settings})
    return list(book.cells[len(first) :])


@pytest.mark.parametrize("name", PAGES)
def test_a_notebook_prints_what_its_page_says(name: str, tmp_path: Path) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{name}.md needs {NEEDS[name]}")
    if name in EMULATED and (reason := why_unavailable()):
        pytest.skip(reason)
    found = list(steps((LEARN / f"{name}.md").read_text()))
    for step, cell in zip(found, ran(name, tmp_path), strict=True):
        got = "".join(out.text for out in cell.outputs)  # streams only: an error ends the run
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
    """The judge ignores times and rates, and sees other numbers."""
    assert same("run 8.67 ms (11.2 M edges/s)\n", "run   9 s (3 M edges/s)\n")
    assert same("reached 3 of\n...\n", "reached 3 of\nanything\n")
    assert not same("reached 3 of 4 vertices\n", "reached 2 of 4 vertices\n")
    assert not same("", "1\n")
