"""The gallery's pictures: each page's program runs, and the module of the page's name draws the program's results.

A program whose output differs from its page's text, or whose results fail the module's ``holds``, is an error.
``python -m docs.gallery.pictures`` draws all pictures; Sphinx does so before it reads the pages, so that pictures and
pages agree with the programs.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import runpy
import tempfile
from pathlib import Path
from types import SimpleNamespace

GALLERY = Path(__file__).resolve().parents[1]
#: Pages with a program and a picture: `communities`, `networks/maze`.
NAMES = sorted(
    page.relative_to(GALLERY).with_suffix("").as_posix() for page in GALLERY.rglob("*.md") if page.stem != "index"
)
FOLDER = GALLERY / "drawn"
_BLOCK = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)


def program(name: str) -> tuple[str, str]:
    """Return a page's program, on the page's line numbers, and the output that the page shows."""
    text = (GALLERY / f"{name}.md").read_text()
    (match,) = _BLOCK.finditer(text)
    return "\n" * text[: match.start(1)].count("\n") + match[1], match[2]


def found(name: str) -> SimpleNamespace:
    """Run a page's program in an empty folder and return its variables; its output must be the page's."""
    text, said = program(name)
    printed = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        script = Path(folder) / f"{Path(name).name}.py"
        script.write_text(text)
        variables = runpy.run_path(str(script))
    if printed.getvalue() != said:
        raise ValueError(f"{name}.md: the program must print\n{said}but prints\n{printed.getvalue()}")
    return SimpleNamespace(**variables)


def draw(name: str, folder: Path = FOLDER, format: str = "svg") -> Path:
    """Draw a page's picture and return its file; the program's results must be those that the page states."""
    import matplotlib as mpl

    from docs.gallery.pictures import style

    with mpl.rc_context(style.SETTINGS):
        module = importlib.import_module(f"docs.gallery.pictures.{name.replace('/', '.')}")
        facts = found(name)
        if not module.holds(facts):
            raise ValueError(f"{name}.md: its program found something else than the page says")
        figure = module.draw(facts)
        path = folder / f"{name}.{format}"
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None} if format == "svg" else None)
    return path


def draw_all() -> None:
    """Draw all pictures into the gallery's folder."""
    for name in NAMES:
        draw(name)
