"""The gallery: each page has its parts, its command parses, and the build draws its picture by a module."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import sparsezc as gb
from docs.gallery import pictures
from sparsezc import cli
from sparsezc.cli.answers import names
from sparsezc.cli.table import ROWS

PARTS = ["Problem", "Formula", "Source", "Where it differs from the published rule"]
INDEX = (pictures.GALLERY / "index.md").read_text()
FORMS = {row.name: row.out for row in ROWS}
PARSER = cli.parser()


def page(name: str) -> str:
    return (pictures.GALLERY / f"{name}.md").read_text()


def modules() -> list[str]:
    """Return the drawing modules, by the names of their pages."""
    folder = Path(pictures.__file__).parent
    names = (path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.py"))
    return sorted(name for name in names if not name.endswith(("style", "__main__", "__init__")))


def test_every_page_has_a_picture_and_is_listed() -> None:
    assert modules() == pictures.NAMES
    listed = re.search(r"```\{toctree\}\n:hidden:\n\n(.*?)\n```", INDEX, re.DOTALL)[1].split("\n")
    assert sorted(listed) == pictures.NAMES
    assert [name for name in pictures.NAMES if f"](drawn/{name}.svg)]({name}.md)" not in INDEX] == []


@pytest.mark.parametrize("name", pictures.NAMES)
def test_a_page_has_its_parts(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = page(name)
    assert re.findall(r"^\*\*(.*?)\.\*\*", text, re.MULTILINE) == PARTS
    assert len(re.findall(r"^```python$", text, re.MULTILINE)) == 1
    lines = [line for line in pictures.program(name)[0].splitlines() if line]
    if "/" in name:  # networks: printed data takes lines of its own
        assert len([line for line in lines if not line.startswith("import")]) <= 15
    else:
        assert len(lines) <= 10
    figure = re.search(r"^```\{figure\} (\S+)\n:alt: (.*)\n:width: 100%\n\n(.+)", text, re.MULTILINE)
    assert figure[1] == "../" * name.count("/") + f"drawn/{name}.svg"
    assert len(figure[2]) > 80
    commands = re.search(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1].splitlines()
    for line in commands:
        words = shlex.split(line)
        assert words[:2] == ["sparsezc", "run"]
        given = PARSER.parse_args(words[1:])
        names.check(given, FORMS[words[2]])
    functions = {shlex.split(line)[2].replace("-", "_") for line in commands}
    folders = [
        folder for folder in ("algorithms", "applications") for name in functions if hasattr(getattr(gb, folder), name)
    ]
    assert len(folders) == len(functions)


def test_a_program_that_finds_something_else_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Another output or another finding fails."""
    pytest.importorskip("matplotlib", reason="the pictures are drawn by it")
    from docs.gallery.pictures.networks import maze

    monkeypatch.setattr(maze, "holds", lambda _: False)
    with pytest.raises(ValueError, match="something else"):
        pictures.draw("networks/maze", tmp_path)
    text, said = pictures.program("networks/maze")
    monkeypatch.setattr(pictures, "program", lambda _: (text, said.replace("576", "577").replace("575", "576")))
    with pytest.raises(ValueError, match="must print"):
        pictures.draw("networks/maze", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_published_rule_of_geolocation_leaves_the_pacific() -> None:
    """It averages degrees across the date line, so a place in the Pacific moves to another ocean."""
    pytest.importorskip("matplotlib", reason="the published rule is beside the picture")
    from docs.gallery.pictures import geolocation

    pacific = np.array([[[-18.1, 178.4], [-13.8, -171.8], [-21.2, -175.2]]])
    assert -80 < geolocation.published(pacific)[0, 1] < -35
