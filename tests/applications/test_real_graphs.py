"""The applications on real graphs, NetworkX's and the data folder's, by the judges of random graphs."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from networkx.algorithms import bipartite
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.sparse.csgraph import maximum_flow as scipys

import sparsezc as gb
from tests.algorithms.graphs import both_ways, csr, dense, loaded, matrix, needs_real, real
from tests.applications import test_application_classification as classification
from tests.applications import test_collaborative_filtering as filtering
from tests.applications import test_fused_lasso as lasso
from tests.applications import test_geolocation as geolocation
from tests.applications import test_graphsage as graphsage
from tests.applications import test_local_clustering as clustering
from tests.applications import test_maximum_flow as flow
from tests.applications import test_projection as projection
from tests.applications import test_scan_statistics as scan
from tests.applications import test_seeded_graph_matching as matching

a, b = gb.applications, gb.algorithms
CLUB = both_ways(csr(34, list(nx.karate_club_graph().edges)))
NOVEL = csr_array(nx.to_scipy_sparse_array(nx.les_miserables_graph()), dtype=np.int64)


def events():
    """Return Davis' study as a matrix: a row for each woman, a column for each event that she attended."""
    G = nx.davis_southern_women_graph()
    women, held = ([v for v in G if G.nodes[v]["bipartite"] == side] for side in (0, 1))
    return csr_array(bipartite.biadjacency_matrix(G, women, held), dtype=np.float64)


@pytest.mark.parametrize("graph", [CLUB, NOVEL], ids=["club", "novel"])
def test_of_people(graph):
    n, rng = graph.shape[0], np.random.default_rng(1)
    scan.check(graph, 1)
    scan.check(graph, 2)
    lasso.check(graph, rng.normal(size=n), 0.2, 0.1)
    geolocation.check(graph, geolocation.places_of(n, 1), 6)
    clustering.check(graph, [0, 5, n - 1], 0.1, 1e-3)
    flow.check(graph, 0, n - 1)
    A, W, X = matrix(graph), graphsage.weights(3, 4, 2), rng.normal(size=(n, 3))
    rows = [graphsage.samples(A, 3, seed) for seed in (4, 5)]
    expected = graphsage.layer(rows[1], graphsage.layer(rows[0], X, W[0]), W[1])
    assert np.allclose(a.graphsage(A, X, *W, 3, seed=4).to_dense(), expected)


def test_a_club_is_told_from_its_members_in_another_order():
    A, order = CLUB.toarray(), np.random.default_rng(2).permutation(34)
    who = np.argsort(order)
    _, disagreements = matching.check(A, A[np.ix_(order, order)], [(v, who[v]) for v in range(10)])
    assert disagreements == 0


def test_a_path_through_a_club():
    rng = np.random.default_rng(3)
    x, ex = rng.random((34, 3)), rng.random((CLUB.nnz, 2))
    P = csr(3, [(0, 1), (1, 2)])
    edges = classification.edges_of(CLUB)
    ey = ex[[edges.index((0, 1)), edges.index((1, 2))]]
    found = a.application_classification(matrix(CLUB), matrix(P), x, x[:3], ex, ey).to_dense()
    assert found.argmax(axis=0).tolist() == [0, 1, 2]
    assert np.allclose(found, classification.by_loops(CLUB, P, x, x[:3], ex, ey, "corrected", 3))


def test_of_events():
    R = events()
    for weight in projection.THEIRS:
        for onto in ("rows", "columns"):
            B = a.projection(matrix(R), onto, weight)
            assert np.allclose(B.dup("FP64").to_dense(0), projection.networkx_answer(R, onto, weight))
    steps = [a.collaborative_filtering(matrix(R), 3, rounds=k, penalty=0.1, rate=0.01, seed=1) for k in (1, 3)]
    U, V = filtering.rounds_by_loops(R, *filtering.dense(*steps[0][:2]), 2, 0.1, 0.01)
    assert np.allclose(steps[1][0].to_dense(), U)
    assert np.allclose(steps[1][1].to_dense(), V)


@needs_real
def test_of_a_department():
    graph = real("email-Eu-core")
    A, S = matrix(graph), clustering.problem(graph, 0.15)[2]
    psi, vertex = b.scan_statistics(A)
    around = S.sum(axis=1) + ((S @ S) * S).sum(axis=1) / 2  # a vertex's edges, and those between its neighbours
    assert np.array_equal(psi.to_dense(), around)
    assert vertex == around.argmax()
    clustering.check(graph, [3, 700], 0.15, 1e-3)
    s, t = (int(v) for v in np.argsort(-S.sum(axis=1))[:2])
    value, F = b.maximum_flow(A, s, t)
    assert value == scipys(graph.astype(np.int32), s, t).flow_value == b.minimum_cut(A, s, t)[0]
    flow.is_flow(graph, F, s, t, value)
    weighted = loaded("email-Eu-core")
    i, j, length = weighted.to_coo()
    lengths = csr_array((length.astype(float), (i.astype(int), j.astype(int))), shape=A.shape)
    nominated, score = a.vertex_nomination(weighted, [s, t], k=50)
    expected = dijkstra(lengths, indices=[s, t], min_only=True)
    expected[[s, t]] = np.inf
    assert np.array_equal(dense(score, np.inf), expected)
    assert nominated.to_dense().tolist() == np.argsort(expected, kind="stable")[:50].tolist()
    common = (graph @ graph.T).toarray()
    np.fill_diagonal(common, 0)
    assert np.array_equal(a.projection(A).to_dense(0), common)


def test_of_a_photograph():
    """Fused lasso on the grid of a photograph's section (scikit-learn's) equals the judge's minimum."""
    datasets = pytest.importorskip("sklearn.datasets", reason="scikit-learn is not installed")
    image = datasets.load_sample_image("china.jpg")[200:216, 300:320].mean(axis=2) / 255
    number = np.arange(image.size).reshape(image.shape)
    right, below = (
        np.c_[one.ravel(), two.ravel()] for one, two in ((number[:, :-1], number[:, 1:]), (number[:-1], number[1:]))
    )
    x = lasso.check(both_ways(csr(image.size, np.r_[right, below])), image.ravel(), 0.1, 0.0)
    smooth = x.reshape(image.shape)
    assert np.abs(np.diff(smooth)).sum() < np.abs(np.diff(image)).sum() / 2
