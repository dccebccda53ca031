"""GraphML, GML and Pajek files against NetworkX, and KONECT's files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import sparsezc as gb
from tests.io.formats.test_tables import edges

WRITERS = {"a.graphml": "write_graphml", "a.gml": "write_gml", "a.net": "write_pajek"}


def graph(kind: str, *, named: bool) -> Any:
    """Return a small graph of NetworkX, in which vertex 4, or e, is isolated."""
    nx = pytest.importorskip("networkx")
    G = getattr(nx, kind)()
    G.add_nodes_from("abcde" if named else range(5))
    for u, v, w in [(0, 1, 2.5), (1, 2, 3.0), (3, 2, 1.0), (3, 3, 4.0)]:
        ends = ("abcde"[u], "abcde"[v]) if named else (u, v)
        G.add_edge(*ends, weight=w)
    return G


def right(G: Any) -> dict[Any, Any]:
    both = {} if G.is_directed() else {(v, u): w for u, v, w in G.edges(data="weight")}
    return {(u, v): w for u, v, w in G.edges(data="weight")} | both


@pytest.mark.parametrize("kind", ["Graph", "DiGraph"])
@pytest.mark.parametrize("name", WRITERS)
def test_names_come_back(name: str, kind: str, tmp_path: Path) -> None:
    nx = pytest.importorskip("networkx")
    G, path = graph(kind, named=True), tmp_path / name
    getattr(nx, WRITERS[name])(G, path)
    A, ids = gb.io.read(path, relabel=True)
    assert ids.tolist() == list("abcde")
    assert edges(A, ids) == right(G)
    if name != "a.gml":  # GML's vertices have numbers besides names
        with pytest.raises(ValueError, match=r"found the vertex 'a'; whole numbers are needed, or relabel=True"):
            gb.io.read(path)
    assert gb.io.read(path, relabel=True, weights=False)[0].dtype == "BOOL"


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("kind", ["Graph", "DiGraph"])
def test_numbers_stay(name: str, kind: str, tmp_path: Path) -> None:
    """A graph that we write is read back equal, by NetworkX and by us."""
    nx = pytest.importorskip("networkx")
    G, path = graph(kind, named=False), tmp_path / f"{name}.gz"
    A = gb.io.from_networkx(G)
    gb.io.write(A, path)
    B = gb.io.read(path)
    assert B.shape == (5, 5)
    assert edges(B) == right(G) == edges(A)
    if name == "a.graphml":
        H = nx.read_graphml(path, node_type=int)
        assert right(H) == right(G)


def test_an_attribute_is_chosen(tmp_path: Path) -> None:
    nx = pytest.importorskip("networkx")
    G = nx.DiGraph([(0, 1, {"km": 7}), (1, 0, {"km": 9})])
    nx.write_graphml(G, tmp_path / "a.graphml")
    assert edges(gb.io.read(tmp_path / "a.graphml", weight_col="km")) == {(0, 1): 7, (1, 0): 9}
    assert gb.io.read(tmp_path / "a.graphml").dtype == "BOOL"
    with pytest.raises(ValueError, match="no edge has the attribute 'h'"):
        gb.io.read(tmp_path / "a.graphml", weight_col="h")
    with pytest.raises(ValueError, match="has no columns of vertices"):
        gb.io.read(tmp_path / "a.graphml", source_col="h")


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([2**63 + 1, 1], "UINT64"),
        ([-(2**63), 2**62 + 1], "INT64"),
        ([True, False], "BOOL"),
        ([-3, 2], "INT64"),
        ([2.0, 0.5], "FP64"),
    ],
)
def test_attributes_are_exact(values: list[Any], dtype: str, tmp_path: Path) -> None:
    nx = pytest.importorskip("networkx")
    nx.write_graphml(nx.DiGraph([(k, k + 1, {"w": w}) for k, w in enumerate(values)]), tmp_path / "a.graphml")
    A = gb.io.read(tmp_path / "a.graphml", weight_col="w")
    assert A.dtype == dtype
    assert list(edges(A).values()) == values


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.graphml", "<graphml>\n<node\n", r"a\.graphml, line \d+: this is no GraphML"),
        ("a.graphml", "<!DOCTYPE a [<!ENTITY b 'c'>]>\n<graphml/>", "declares a document type"),
        ("a.graphml", "<\0!\0D\0O\0C\0T\0Y\0P\0E\0", "GraphML in UTF-8 is needed"),
        (
            "a.gml",
            f"graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 weight {2**70} ] ]",
            "64 bits do not hold these",
        ),
        ("a.gml", "graph [\n  node [\n    id x?\n", r"a\.gml, line 3: this is no GraphML"),
        ("a.net", "*Vertices 2\n1 a\n*Arcs\n1\n", r"a\.net: this is no GraphML"),
        ("a.gml", "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 weight \"x\" ] ]", "the weight 'x'"),
    ],
)  # fmt: skip
def test_damaged(name: str, text: str, message: str, tmp_path: Path) -> None:
    pytest.importorskip("networkx")
    (tmp_path / name).write_text(text)
    with pytest.raises(gb.exceptions.GraphblasException, match=message):
        gb.io.read(tmp_path / name)


def test_the_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.gml").write_text("graph [ ]")
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match="pip install networkx brings it"):
        gb.io.read(tmp_path / "a.gml")


@pytest.mark.parametrize(
    ("text", "shape", "found"),
    [
        ("% sym unweighted\n% 2 3 3\n1 2\n2 3\n", (3, 3), {(0, 1): True, (1, 0): True, (1, 2): True, (2, 1): True}),
        ("% asym unweighted\n1 2 1 1082008561\n2 3 1 1082008562\n", (3, 3), {(0, 1): True, (1, 2): True}),
        ("% asym weighted\n% 2 5 5\n1 2 2.5 1082008561\n2 3 3 1082008562\n", (5, 5), {(0, 1): 2.5, (1, 2): 3.0}),
        ("% bip unweighted\n% 2 2 4\n1 2\n2 3\n", (2, 4), {(0, 1): True, (1, 2): True}),
        ("% asym positive\n1 2 4\n", (2, 2), {(0, 1): 4}),
    ],
)
def test_konect(text: str, shape: tuple[int, int], found: dict[Any, Any], tmp_path: Path) -> None:
    path = tmp_path / "out.moreno_names"
    path.write_text(text)
    A = gb.io.read(path)
    assert A.shape == shape
    assert edges(A) == found
    pytest.importorskip("h5py")
    gb.io.convert(path, tmp_path / "a.h5", memory="8GB")
    assert gb.io.read(tmp_path / "a.h5").isequal(A)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2\n", "line 1: found no line '% FORMAT WEIGHTS'"),
        ("% sym unweighted\n1 2\n0 1\n", r"line 3, column 1 \(character 1\): found the vertex id '0'; ids start at 1"),
        ("% bip unweighted\n% 1 2 2\n1 3\n", "says 2 x 2 in its head and has the id 3"),
        ("% asym weighted\n1 2 3 4\n1 2 3\n", "line 3: found 3 columns; 4 are needed"),
        ("% asym weighted\n", "holds no edges"),
    ],
)
def test_bad_konect(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "out.a"
    path.write_text(text)
    with pytest.raises(gb.exceptions.GraphblasException, match=message):
        gb.io.read(path)
    with pytest.raises(gb.exceptions.GraphblasException, match="suffix"):
        gb.io.write(gb.io.read("path:3"), path)
