"""gb.algorithms.hits, katz_centrality and eigenvector_centrality."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import eigsh

import sparsezc as gb
from tests.algorithms import verify, verify_sets
from tests.algorithms.graphs import SMALL, csr, dense, graphs, matrix, needs_real, network, real

hits, katz_centrality = gb.algorithms.hits, gb.algorithms.katz_centrality
eigenvector_centrality = gb.algorithms.eigenvector_centrality

#: Graphs on which the power method takes few iterations; on others the two largest eigenvalues are close.
CALM = ["one vertex", "one loop", "one edge", "star", "star pointing in", "cycle", "two cliques", "kronecker"]
weights = st.integers(0, 9)


def ones(graph):
    return (graph.toarray() != 0).astype(float)


def scores_of(v):
    assert str(v.dtype) == "FP64"
    assert v.nvals == v.size
    return dense(v, 0.0)


@pytest.mark.parametrize("name", CALM)
def test_hits_of_small_graphs(name):
    graph = SMALL[name]
    hubs, authorities = map(scores_of, hits(matrix(graph), tol=1e-12, max_iter=1000))
    assert np.isclose(hubs.sum(), 1)
    assert np.isclose(authorities.sum(), 1)
    operator = ones(graph)
    verify_sets.eigenvector(operator @ operator.T, hubs, 1e-6)
    verify_sets.eigenvector(operator.T @ operator, authorities, 1e-6)


@given(graphs(weights, max_vertices=12))
def test_hits_of_any_graph(graph):
    """If the iteration converges, it converges to the largest singular value; a weight of 0 is no edge."""
    try:
        hubs, authorities = map(scores_of, hits(matrix(graph), tol=1e-13, max_iter=20000, weighted=True))
    except gb.exceptions.ConvergenceFailure:
        return
    operator = graph.toarray().astype(float)
    if operator.any():
        verify_sets.eigenvector(operator @ operator.T, hubs, 1e-3)
        verify_sets.eigenvector(operator.T @ operator, authorities, 1e-3)
    else:
        assert np.allclose(hubs * hubs.size, 1)


def test_hits_where_two_eigenvalues_lie_close():
    """Two stars of nearly equal size converge with the defaults; the power method would need thousands of steps."""
    edges = [(0, i) for i in range(1, 200)] + [(200, i) for i in range(201, 401)]
    hubs, authorities = map(scores_of, hits(matrix(csr(402, edges))))
    assert np.isclose(hubs[200], 1)
    assert np.allclose(authorities[201:401], 1 / 200)


@pytest.mark.parametrize("largest", [1e-200, 1.0, 1e300])
def test_hits_of_weights_whose_squares_are_out_of_range(largest):
    hubs, _ = hits(matrix(csr(3, [(0, 2), (1, 2)], [largest, largest / 2])), weighted=True)
    assert np.allclose(scores_of(hubs), [2 / 3, 1 / 3, 0])


def test_hits_asks_for_its_dense_vectors_before_it_makes_them():
    A = gb.io.read("path:1000")
    need = 8 * 1000 * 31
    with (
        gb.config.set(host_budget=need - 1),
        pytest.raises(gb.exceptions.OutOfMemory, match=f"hits .* needs {need:,} "),
    ):
        hits(A)
    with gb.config.set(host_budget=need):
        assert hits(A, tol=1e-2)[0].nvals == 1000


@given(graphs(weights), st.booleans())
def test_katz_of_any_graph(graph, weighted):
    """Scores equal those of a direct solver."""
    operator = graph.toarray().astype(float) if weighted else np.zeros(graph.shape)
    if not weighted:
        rows, cols, _ = verify.edges(graph)
        operator[rows, cols] = 1
    alpha = 0.5 / max(1.0, operator.sum(axis=0).max())
    expected = np.linalg.solve(np.eye(len(operator)) - alpha * operator.T, np.ones(len(operator)))
    found = katz_centrality(matrix(graph), alpha, tol=1e-12, normalized=False, weighted=weighted)
    assert np.allclose(scores_of(found), expected, rtol=1e-8)
    unit = katz_centrality(matrix(graph), alpha, tol=1e-12, weighted=weighted)
    assert np.allclose(scores_of(unit), expected / np.linalg.norm(expected), rtol=1e-8)


def test_katz_from_a_vector_and_a_start():
    graph = SMALL["kronecker"]
    beta = {v: float(v % 3) for v in range(0, 512, 2)}
    expected = nx.katz_centrality(network(graph), 0.01, {v: beta.get(v, 0.0) for v in range(512)}, tol=1e-10)
    start = gb.Vector.from_coo([3], [2.0], size=512)
    found = katz_centrality(matrix(graph), 0.01, gb.Vector.from_dict(beta, size=512), tol=1e-10, nstart=start)
    assert np.allclose(scores_of(found), [expected[v] for v in range(512)], atol=1e-8)


@pytest.mark.parametrize("name", CALM)
def test_eigenvectors_of_small_graphs(name):
    graph = SMALL[name]
    if graph.nnz in (0, 1) or name.startswith("star"):  # without a cycle all eigenvalues are 0
        graph = csr(3, [(0, 1), (1, 0), (1, 2), (2, 0)])
    score = scores_of(eigenvector_centrality(matrix(graph), tol=1e-12, max_iter=20000))
    assert np.isclose(np.linalg.norm(score), 1)
    verify_sets.eigenvector(ones(graph).T, score, 1e-6)


@needs_real
def test_a_real_graph():
    graph = real("email-Eu-core")
    judge = network(graph)
    expected = nx.eigenvector_centrality(judge, tol=1e-10, max_iter=1000)
    found = scores_of(eigenvector_centrality(matrix(graph), tol=1e-10, max_iter=1000))
    assert np.allclose(found, [expected[v] for v in range(judge.order())], atol=1e-6)
    for found, expected in zip(hits(matrix(graph), tol=1e-12), nx.hits(judge), strict=True):
        assert np.allclose(scores_of(found), [expected[v] for v in range(judge.order())], atol=1e-8)
    expected = nx.katz_centrality(judge, alpha=0.005, tol=1e-10)
    found = scores_of(katz_centrality(matrix(graph), alpha=0.005, tol=1e-10))
    assert np.allclose(found, [expected[v] for v in range(judge.order())], atol=1e-8)


@pytest.mark.parametrize("algorithm", [hits, katz_centrality, eigenvector_centrality])
def test_bad_arguments(algorithm):
    A = matrix(csr(3, [(0, 1), (1, 2), (2, 0), (1, 0)]))
    with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
        algorithm(gb.Matrix("FP64", 2, 3))
    with pytest.raises(gb.exceptions.InvalidValue, match=r"tol is -1\.0"):
        algorithm(A, tol=-1.0)
    with pytest.raises(gb.exceptions.InvalidValue, match="max_iter is 0"):
        algorithm(A, max_iter=0)
    long = matrix(csr(200, [(i, i + 1) for i in range(199)] + [(i + 1, i) for i in range(199)]))
    with pytest.raises(gb.exceptions.ConvergenceFailure, match="after max_iter = 1 iterations"):
        algorithm(long, max_iter=1, tol=0.0)
    with pytest.raises(gb.exceptions.DimensionMismatch, match="nstart has size 2; the graph has 3"):
        algorithm(A, nstart=gb.Vector("FP64", 2))
    empty = algorithm(gb.Matrix("BOOL", 0, 0))
    assert (empty[0] if algorithm is hits else empty).size == 0


@pytest.mark.parametrize("algorithm", [hits, eigenvector_centrality])
def test_bad_weights(algorithm):
    for value, said in ((-1.0, "negative"), (np.nan, "NaN"), (np.inf, "infinite")):
        with pytest.raises(gb.exceptions.InvalidValue, match=said):
            algorithm(matrix(csr(2, [(0, 1), (1, 0)], [value, 2.0])), weighted=True)


def test_katz_that_grows_without_end():
    with pytest.raises(gb.exceptions.ConvergenceFailure, match="after max_iter = 2000"):
        katz_centrality(matrix(SMALL["two cliques"]), alpha=2.0, max_iter=2000)


def test_a_number_that_no_float_holds_is_refused():
    with pytest.raises(gb.exceptions.InvalidValue, match="alpha is inf; a finite number is needed"):
        katz_centrality(matrix(SMALL["two cliques"]), alpha=10**400)


def _united(parts):
    return sp.block_diag(parts, format="csr")


def _co_authors():
    """Return a graph of co-authors: each paper is a clique, and the largest cliques have nearly equal sizes."""
    rng = np.random.default_rng(1)
    share = np.minimum(rng.zipf(1.6, 6000), 200).astype(float)
    sizes = [*range(60, 54, -1), *[54] * 6, *(1 + rng.geometric(0.35, 4000)).tolist()]
    rows = [rng.choice(6000, size, p=None if size > 50 else share / share.sum()) for size in sizes]
    pairs = np.array([(i, j) for paper in rows for i in paper for j in paper if i != j])
    return csr(6000, np.unique(pairs, axis=0).tolist())


#: Symmetric graphs whose largest singular values are close, and True if the largest is simple (multiplicity 1).
CLOSE = {
    "cliques of 20 to 60": (lambda: _united([np.ones((s, s)) - np.eye(s) for s in range(20, 61)]), True),
    "many cliques and a larger one": (lambda: _united([np.ones((s, s)) - np.eye(s) for s in [40] * 30 + [41]]), True),
    "co-authors": (_co_authors, True),
    "random parts": (
        lambda: _united([nx.to_scipy_sparse_array(nx.gnm_random_graph(100, 450, seed=k)) for k in range(40)]), True,
    ),
    "stars of 500 to 520": (
        lambda: _united([nx.to_scipy_sparse_array(nx.star_graph(k)) for k in range(500, 521)]), False,
    ),
    "bipartite parts": (
        lambda: _united([nx.to_scipy_sparse_array(nx.bipartite.random_graph(50, 61, 0.3, seed=k)) for k in range(21)]),
        False,
    ),
    "a grid": (lambda: nx.to_scipy_sparse_array(nx.grid_2d_graph(40, 41)), False),
    "a path": (lambda: nx.to_scipy_sparse_array(nx.path_graph(300)), False),
}  # fmt: skip


@pytest.mark.parametrize("name", CLOSE)
def test_hits_with_defaults_converges_where_networkx_does(name):
    make, single = CLOSE[name]
    graph = sp.csr_array(make(), dtype=float)
    expected = nx.hits(nx.from_scipy_sparse_array(graph))  # NetworkX raises if it does not converge
    found = [scores_of(v) for v in hits(matrix(graph))]
    squared = graph @ graph.T
    for ours, theirs in zip(found, expected, strict=True):
        unit = ours / np.linalg.norm(ours)
        largest = np.linalg.norm(squared @ unit)
        assert np.linalg.norm(squared @ unit - largest * unit) <= 3e-8 * largest
        assert np.isclose(largest, eigsh(squared, 1, return_eigenvectors=False)[0], rtol=1e-9)
        if single:  # of a multiple singular value any vector of its space is right
            assert np.allclose(ours, [theirs[v] for v in range(ours.size)], atol=1e-6 * ours.max())
