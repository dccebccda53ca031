"""The gallery's pictures: a page's program runs, and the module of the page's name draws what the program found.

``python -m docs.gallery.pictures`` draws them all; Sphinx does it before it reads the pages, so that no picture is
older than what it shows.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import runpy
import tempfile
from pathlib import Path
from types import SimpleNamespace

GALLERY = Path(__file__).resolve().parents[1]
#: Pages with a program and a picture.
NAMES = sorted(page.stem for page in GALLERY.glob("*.md") if page.stem != "index")
FOLDER = GALLERY / "drawn"
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def program(name: str) -> str:
    """Return the Python blocks of a page, each on the lines that it has there."""
    text = (GALLERY / f"{name}.md").read_text()
    lines = [""] * text.count("\n")
    for match in _BLOCK.finditer(text):
        first = text[: match.start(1)].count("\n")
        block = match[1].splitlines()
        lines[first : first + len(block)] = block
    return "\n".join(lines)


def found(name: str) -> SimpleNamespace:
    """Run the program of a page in an empty folder and return its variables."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / f"{name}.py"
        script.write_text(program(name))
        os.chdir(folder)
        try:
            return SimpleNamespace(**runpy.run_path(str(script)))
        finally:
            os.chdir(here)


def draw(name: str, folder: Path = FOLDER, format: str = "svg") -> Path:
    """Draw the picture of a page and return its file."""
    import matplotlib as mpl

    from docs.gallery.pictures import style

    with mpl.rc_context(style.SETTINGS):
        figure = importlib.import_module(f"docs.gallery.pictures.{name}").draw(found(name))
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.{format}"
        figure.savefig(path, metadata={"Date": None} if format == "svg" else None)
    return path


def draw_all() -> None:
    """Draw all pictures into the gallery's folder, without what the programs print."""
    with contextlib.redirect_stdout(io.StringIO()):
        for name in NAMES:
            draw(name)
