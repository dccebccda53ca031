"""The gallery: each page has its parts, its program runs, its command parses, its picture has a module."""

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
#: What a page's program must have found for its text and its picture to be true.
FOUND = {
    "application_classification": lambda x: (
        [each.to_dense().argmax(axis=0).tolist() == x.hidden.tolist() for each in x.log_p.values()] == [True, False]
    ),
    "collaborative_filtering": lambda x: x.answers["als"][2][10] < x.answers["gd"][2][40],
    "communities": lambda x: len(set(x.leiden.to_dense().tolist())) == 6,
    "fused_lasso": lambda x: (
        np.abs(x.smooth.to_dense() - x.image.ravel()).mean() < np.abs(x.noisy - x.image).mean() / 5
    ),
    "geolocation": lambda x: x.located.nvals == 2 * len(x.places),
    "graph_search": lambda x: np.all(np.diff([x.scores[W.to_dense()].mean() for W in x.walks.values()]) > 0.1),
    "graphsage": lambda x: x.H.shape == (240, 8),
    "local_clustering": lambda x: len(set(x.cluster.to_coo()[1].tolist()) ^ set(range(44, 78))) <= 1,
    "maximum_flow": lambda x: (
        x.value == x.cut and (x.side_of_s.to_dense(False)[: x.n] == x.shape.ravel()).mean() > 0.98
    ),
    "projection": lambda x: x.pairs == x.B.nvals // 2 == 139,
    "random_walks": lambda x: [W.shape for W in x.walks.values()] == [(400, 101)] * 3,
    "sample_neighbors": lambda x: x.once.nvals == 60_000 == x.often.reduce_scalar("plus").new().get(),
    "scan_statistics": lambda x: np.argmax(x.largest) == 30 and max(x.degree) < 20 < max(x.largest),
    "seeded_graph_matching": lambda x: x.right[0] < 0.1 and x.right[18] == 1,
    "vertex_nomination": lambda x: np.isin(x.nominated.to_dense(), x.group).mean() >= 0.9,
}


def page(name: str) -> str:
    return (pictures.GALLERY / f"{name}.md").read_text()


def modules() -> list[str]:
    return sorted(
        p.stem for p in Path(pictures.__file__).parent.glob("*.py") if p.stem not in ("style", "__main__", "__init__")
    )


def test_every_page_has_a_picture_and_is_listed() -> None:
    assert pictures.NAMES == modules() == sorted(FOUND)
    assert re.search(r"```\{toctree\}\n:hidden:\n\n(.*?)\n```", INDEX, re.DOTALL)[1].split("\n") == pictures.NAMES
    assert [name for name in pictures.NAMES if f"]({name}.md)" not in INDEX] == []


@pytest.mark.parametrize("name", pictures.NAMES)
def test_a_page_has_its_parts(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = page(name)
    assert re.findall(r"^\*\*(.*?)\.\*\*", text, re.MULTILINE) == PARTS
    assert len(re.findall(r"^```python$", text, re.MULTILINE)) == 1
    assert len([line for line in pictures.program(name).splitlines() if line and not line.startswith("import")]) <= 15
    figure = re.search(r"^```\{figure\} (\S+)\n:alt: (.*)\n:width: 100%\n\n(.+)", text, re.MULTILINE)
    assert figure[1] == f"drawn/{name}.svg"
    assert len(figure[2]) > 80
    commands = re.search(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1].splitlines()
    for line in commands:
        words = shlex.split(line)
        assert words[:2] == ["sparsezc", "run"]
        given = cli.parser().parse_args(words[1:])
        names.check(given, FORMS[words[2]])
    functions = {shlex.split(line)[2].replace("-", "_") for line in commands}
    rooms = [room for room in ("algorithms", "applications") for name in functions if hasattr(getattr(gb, room), name)]
    assert len(rooms) == len(functions)


@pytest.mark.parametrize("name", pictures.NAMES)
def test_a_program_runs_and_finds_what_its_page_says(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    here = Path.cwd()
    assert FOUND[name](pictures.found(name))
    assert capsys.readouterr().out
    assert Path.cwd() == here


def test_averages_of_degrees_are_off_by_a_hundred_kilometres() -> None:
    """The figures on the page of geolocation."""
    pytest.importorskip("matplotlib", reason="the published rule is beside the picture")
    from docs.gallery.pictures import geolocation

    weighted, plain = geolocation.errors(pictures.found("geolocation"))
    assert np.percentile(weighted, [50, 90]).round(-1).tolist() == [130, 230]
    assert np.median(plain).round(-1) == 340
    pacific = np.array([[[-18.1, 178.4], [-13.8, -171.8], [-21.2, -175.2]]])
    assert -80 < geolocation.published(pacific)[0, 1] < -35
