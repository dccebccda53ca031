"""gb.algorithms.jaccard_coefficient and cosine_similarity."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsezc as gb
from tests.algorithms.graphs import SMALL, both_ways, csr, graphs, matrix, needs_real, network, real

jaccard_coefficient, cosine_similarity = gb.algorithms.jaccard_coefficient, gb.algorithms.cosine_similarity
LINKS = (
    jaccard_coefficient, cosine_similarity, gb.algorithms.common_neighbors, gb.algorithms.adamic_adar_index,
    gb.algorithms.resource_allocation_index,
)  # fmt: skip


def ones(graph):
    return csr(graph.shape[0], np.c_[graph.nonzero()]).toarray().astype(float)


def angles(rows):
    """Return the cosine of each pair of rows; 0 if one of them is zero, and on the diagonal."""
    length = np.linalg.norm(rows, axis=1)
    both = np.outer(length, length)
    cosine = np.divide(rows @ rows.T, both, out=np.zeros_like(both), where=both > 0)
    np.fill_diagonal(cosine, 0)
    return cosine


def check(graph):
    """Check both coefficients of the rows, as sets of out-neighbours, against dense products."""
    rows = ones(graph)
    common = rows @ rows.T
    np.fill_diagonal(common, 0)
    union = rows.sum(axis=1)[:, None] + rows.sum(axis=1)[None, :] - common
    expected = np.divide(common, union, out=np.zeros_like(common), where=common > 0)
    found = jaccard_coefficient(matrix(graph))
    assert str(found.dtype) == "FP64"
    assert np.allclose(found.to_dense(fill_value=0.0), expected)
    assert found.nvals == (common > 0).sum()
    assert np.allclose(cosine_similarity(matrix(graph)).to_dense(fill_value=0.0), angles(rows))


@pytest.mark.parametrize("name", SMALL)
def test_small_graphs(name):
    check(SMALL[name])


@given(graphs())
def test_any_graph(graph):
    check(graph)
    graph = both_ways(graph)
    judge = network(graph).to_undirected()
    found = jaccard_coefficient(matrix(graph))
    for u, v, expected in nx.jaccard_coefficient(judge):
        assert found.get(u, v, 0.0) == pytest.approx(expected)


@given(graphs(st.floats(-5, 5, width=16)))
def test_weighted_cosines_of_any_graph(graph):
    found = cosine_similarity(matrix(graph), weighted=True).to_dense(fill_value=0.0)
    assert np.allclose(found, angles(graph.toarray()))


@given(graphs(), graphs())
def test_only_the_pairs_asked_for(graph, pairs):
    n = min(graph.shape[0], pairs.shape[0])
    A, P = matrix(csr(n, np.argwhere(ones(graph)[:n, :n]))), matrix(csr(n, np.argwhere(ones(pairs)[:n, :n])))
    for algorithm in (jaccard_coefficient, cosine_similarity):
        every, asked = algorithm(A).to_dense(fill_value=0.0), algorithm(A, P)
        every += np.diag(ones_of_rows(A))
        assert np.allclose(asked.to_dense(fill_value=0.0), np.where(P.to_dense(fill_value=0) != 0, every, 0))


def ones_of_rows(A):
    """Return the similarity of each row to itself: 1, or 0 for an empty row."""
    return (A.to_dense(fill_value=0) != 0).any(axis=1).astype(float)


@needs_real
def test_a_real_graph():
    check(real("email-Eu-core"))


@pytest.mark.parametrize("algorithm", [jaccard_coefficient, cosine_similarity])
def test_no_vertices_and_bad_arguments(algorithm):
    assert algorithm(gb.Matrix("BOOL", 0, 0)).shape == (0, 0)
    A = matrix(SMALL["diamonds"])
    with pytest.raises(gb.exceptions.DimensionMismatch, match="pairs is 2 x 3; A is 31 x 31"):
        algorithm(A, gb.Matrix("BOOL", 2, 3))
    with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
        algorithm(gb.Matrix("FP64", 2, 3))


@pytest.mark.parametrize("given", [list, np.array, iter, tuple])
def test_pairs_as_a_list(given):
    A = matrix(SMALL["star"])
    pairs = [(1, 2), (3, 1), (0, 1), (1, 2)]
    asked = gb.Matrix.from_coo([1, 3, 0], [2, 1, 1], True, nrows=A.nrows, ncols=A.ncols)
    for algorithm in LINKS:
        assert algorithm(A, pairs=given(pairs)).isequal(algorithm(A, asked))
    assert algorithm(A, []).nvals == 0


@pytest.mark.parametrize(
    ("pairs", "error", "message"),
    [
        ([(0, 1, 2)], "DomainMismatch", "pairs is \\[\\(0, 1, 2\\)\\]; a Matrix of the shape of A, or pairs"),
        ([(0, 1), (2,)], "DomainMismatch", "or pairs of vertices"),
        (5, "DomainMismatch", "pairs is 5"),
        ([(0, 99)], "IndexOutOfBound", "pairs is 99; the graph has vertices 0 to"),
        ([(0.5, 1)], "DomainMismatch", "pairs is 0.5; a vertex number"),
    ],
)
def test_wrong_pairs(pairs, error, message):
    for algorithm in LINKS:
        with pytest.raises(getattr(gb.exceptions, error), match=message):
            algorithm(matrix(SMALL["star"]), pairs)
