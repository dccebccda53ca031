"""The algorithms on real graphs, against answers on which two other programs agree (the data folder's README)."""

import numpy as np
import pytest

import sparsezc as gb
from tests.algorithms import verify
from tests.algorithms.graphs import DATA, REAL, csr, dense, loaded, needs_real, references

pytestmark = needs_real
each_graph = pytest.mark.parametrize("entry", REAL, ids=lambda entry: entry["name"])

#: Graphs of a million entries are slow and rarely find more than the smaller ones, so every run skips them.
each_smaller = pytest.mark.parametrize(
    "entry",
    [pytest.param(x, marks=[pytest.mark.slow] if x["name"] in {"cnr-2000", "twitter_combined"} else []) for x in REAL],
    ids=lambda entry: entry["name"],
)


@each_graph
def test_levels(entry):
    A, expected = loaded(entry["name"]), references(entry["name"])
    for source, level in zip(expected["sources"], expected["bfs_level"], strict=False):
        assert np.array_equal(dense(gb.algorithms.bfs(A, source)), level)


@each_graph
def test_parents(entry):
    """A vertex's parent is one level nearer the source and has an edge to it; any such tree is right."""
    A, expected = loaded(entry["name"]), references(entry["name"])
    source, level = expected["sources"][0], expected["bfs_level"][0]
    parent = dense(gb.algorithms.bfs_parents(A, source))
    assert np.array_equal(parent >= 0, level >= 0)
    assert parent[source] == source
    child = np.flatnonzero(level > 0)
    assert np.array_equal(level[parent[child]] + 1, level[child])
    rows, cols = A.to_coo(values=False)[:2]
    n = np.uint64(A.nrows)
    assert np.isin(parent[child].astype(np.uint64) * n + child.astype(np.uint64), rows * n + cols).all()


@each_graph
def test_distances(entry):
    A, expected = loaded(entry["name"]), references(entry["name"])
    for source, distance in zip(expected["sources"], expected["sssp_dist"], strict=False):
        assert np.array_equal(dense(gb.algorithms.sssp(A, source)), distance)


@each_graph
def test_ranks(entry):
    A, expected = loaded(entry["name"]), references(entry["name"])["pagerank"]
    rank = gb.algorithms.pagerank(A, tol=1e-9 / A.nrows, max_iter=300)
    assert np.abs(dense(rank, 0.0) - expected).sum() < 1e-8


@each_graph
def test_components(entry):
    A, expected = loaded(entry["name"]), references(entry["name"])["wcc"]
    assert np.array_equal(dense(gb.algorithms.connected_components(A)), expected)


@each_smaller
def test_core_numbers(entry):
    A, expected = loaded(entry["name"]), references(entry["name"])["core"]
    assert np.array_equal(dense(gb.algorithms.core_number(A)), expected)


@each_smaller
def test_strong_components(entry):
    """Labels equal the references'; those of an undirected graph are its connected components."""
    A, known = loaded(entry["name"]), references(entry["name"])
    expected = known["scc" if entry["directed"] else "wcc"]
    assert np.array_equal(dense(gb.algorithms.strongly_connected_components(A)), expected)


@each_smaller
def test_label_propagation(entry):
    A, expected = loaded(entry["name"]), references(entry["name"])["cdlp10"]
    assert np.array_equal(dense(gb.algorithms.cdlp(A, 10)), expected)


GRAPHALYTICS = DATA / "graphalytics"


def published(name):
    """Return the vertices and values of a published answer, a plain or gzipped file."""
    path = GRAPHALYTICS / name
    table = np.loadtxt(path if path.exists() else path.with_name(name + ".gz"), dtype=object)
    return table[:, 0].astype(np.int64), table[:, 1].astype(float)


def graph_of(name, directed):
    """Return a Graphalytics graph and its vertices' ids in ascending order, from .v and .e files or adjacency lines."""
    path = GRAPHALYTICS / name
    if path.exists():
        lines = [[int(x) for x in line.split()] for line in path.read_text().splitlines() if line.strip()]
        ids = np.unique([x for line in lines for x in line])
        pairs = np.array([(line[0], x) for line in lines for x in line[1:]])
    else:
        listed = [path.with_name(name + end) for end in (".v", ".v.gz", ".e", ".e.gz")]
        vertices, edges = (np.loadtxt(file, ndmin=2) for file in listed if file.exists())
        ids, pairs = np.unique(vertices[:, 0].astype(np.int64)), edges[:, :2].astype(np.int64)
    pairs = np.searchsorted(ids, pairs)
    return csr(ids.size, pairs if directed else np.r_[pairs, pairs[:, ::-1]]), ids


def matrix_of(graph):
    rows, cols, _ = verify.edges(graph)
    return gb.Matrix.from_coo(rows, cols, True, nrows=graph.shape[0], ncols=graph.shape[0])


needs_graphalytics = pytest.mark.skipif(not GRAPHALYTICS.is_dir(), reason=f"no published answers at {GRAPHALYTICS}")


@needs_graphalytics
@pytest.mark.parametrize(
    ("graph", "answer", "source", "directed"),
    [
        ("example-directed", "example-directed-BFS", 1, True),
        ("example-undirected", "example-undirected-BFS", 2, False),
        ("validation-bfs-dir-input", "validation-bfs-dir-output", 1, True),
        ("validation-bfs-undir-input", "validation-bfs-undir-output", 1, False),
        ("p2p-31", "p2p-31-BFS", 6, False),
        ("p2p-31", "p2p-31-BFS-directed", 6, True),
    ],
)
def test_graphalytics_levels(graph, answer, source, directed):
    graph, ids = graph_of(graph, directed)
    vertices, hops = published(answer)
    level = gb.algorithms.bfs(matrix_of(graph), np.searchsorted(ids, source))
    expected = np.where(hops >= 2**62, -1, hops)  # 2**63 - 1 stands for "not reached"
    assert np.array_equal(dense(level)[np.searchsorted(ids, vertices)], expected)


@needs_graphalytics
@pytest.mark.parametrize(
    ("graph", "answer", "rounds", "directed"),
    [
        ("example-directed", "example-directed-PR", 2, True),
        ("example-undirected", "example-undirected-PR", 2, False),
        ("validation-pr-dir-input", "validation-pr-dir-output", 14, True),
        ("validation-pr-undir-input", "validation-pr-undir-output", 26, False),
        ("p2p-31", "p2p-31-PR", 10, False),
    ],
)
def test_graphalytics_ranks(graph, answer, rounds, directed):
    """After a fixed number of rounds each rank is within 1e-4 of the published one, Graphalytics' own bound."""
    graph, ids = graph_of(graph, directed)
    vertices, expected = published(answer)
    rank = gb.algorithms.pagerank(matrix_of(graph), tol=None, max_iter=rounds)
    assert np.allclose(dense(rank, 0.0)[np.searchsorted(ids, vertices)], expected, rtol=1e-4, atol=0)


@needs_graphalytics
@pytest.mark.parametrize(
    ("graph", "answer", "directed"),
    [
        ("example-directed", "example-directed-WCC", True),
        ("example-undirected", "example-undirected-WCC", False),
        ("validation-wcc-dir-input", "validation-wcc-dir-output", True),
        ("validation-wcc-undir-input", "validation-wcc-undir-output", False),
        ("p2p-31", "p2p-31-WCC", True),
    ],
)
def test_graphalytics_components(graph, answer, directed):
    """Labels correspond one to one to the published labels, whose numbers may differ."""
    graph, ids = graph_of(graph, directed)
    vertices, expected = published(answer)
    label = dense(gb.algorithms.connected_components(matrix_of(graph)))[np.searchsorted(ids, vertices)]
    pairs = np.unique(np.c_[label, expected], axis=0)
    assert len(pairs) == np.unique(label).size == np.unique(expected).size
