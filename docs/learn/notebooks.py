"""The programs on pages, and the tutorials as Jupyter notebooks, which the built pages offer for download."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

LEARN = Path(__file__).resolve().parent
#: Names of the tutorials.
NAMES = sorted(page.stem for page in LEARN.glob("*.md") if page.stem != "index")
FOLDER = LEARN / "as_notebooks"
_STEP = re.compile(
    r"^(?P<indent> *)```(?P<language>python|sh)\n(?P<text>.*?)^(?P=indent)```\n"
    r"(?:\n(?P=indent)```text\n(?P<said>.*?)^(?P=indent)```\n)?",
    re.MULTILINE | re.DOTALL,
)


class Step(NamedTuple):
    """A program in Python or for the shell, its line on the page, and the output that the page shows."""

    line: int
    language: str
    text: str
    said: str


def steps(page: str) -> Iterator[Step]:
    """Yield a page's programs in their order."""
    for match in _STEP.finditer(page):
        line = page[: match.start("text")].count("\n")
        yield Step(line, match["language"], match["text"], match["said"] or "")


def notebook(page: str) -> dict[str, Any]:
    """Return a page as a notebook: texts without their links, programs, and outputs (nbformat 4.5)."""
    cells: list[dict[str, Any]] = []
    end = 0

    def add(kind: str, source: str, **parts: Any) -> None:
        cells.append({"cell_type": kind, "id": f"cell-{len(cells)}", "metadata": {}, "source": source} | parts)

    def add_text(text: str) -> None:
        if text.strip():
            add("markdown", re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text.strip()))

    for match, step in zip(_STEP.finditer(page), steps(page), strict=True):
        add_text(page[end : match.start()])
        said = {"output_type": "stream", "name": "stdout", "text": step.said}
        text = step.text.rstrip() if step.language == "python" else f"%%bash\n{step.text.rstrip()}"
        add("code", text, execution_count=None, outputs=[said] if step.said else [])
        end = match.end()
    add_text(page[end:])
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def write_all() -> None:
    """Write the notebooks of all tutorials."""
    FOLDER.mkdir(exist_ok=True)
    for name in NAMES:
        made = notebook((LEARN / f"{name}.md").read_text())
        (FOLDER / f"{name}.ipynb").write_text(json.dumps(made, indent=1) + "\n")
