"""Vertex orders: permutations with their documented properties, and matrices in these orders."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee

import sparsezc as gb
from sparsezc.exceptions import DimensionMismatch, InvalidValue
from sparsezc.io._read import read_csr
from sparsezc.memory.csr import Csr
from sparsezc.memory.csr_permute import permute

ORDERS = {
    "degree": gb.orders.degree,
    "reverse_cuthill_mckee": gb.orders.reverse_cuthill_mckee,
    "harmonic": gb.orders.harmonic,
    "communities": gb.orders.communities,
}
GRAPHS = ("kron:8", "grid:20x30", "star:40", "path:1")


def shuffled(graph: str, seed: int = 1) -> Any:
    """Return a graph with shuffled ids, as SciPy's matrix."""
    theirs = gb.io.to_scipy_sparse(gb.io.read(graph, placement="host")).tocsr()
    order = np.random.default_rng(seed).permutation(theirs.shape[0])
    return theirs[order][:, order].tocsr()


def span(theirs: Any) -> float:
    """Return the mean distance between the numbers of an edge's ends."""
    entries = theirs.tocoo()
    return float(np.abs(entries.row.astype(float) - entries.col).mean())


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_every_order_is_a_permutation_and_the_same_again(name: str, graph: str) -> None:
    A = gb.io.from_scipy_sparse(shuffled(graph))
    order = ORDERS[name](A)
    assert order.dtype == np.int64
    np.testing.assert_array_equal(np.sort(order), np.arange(A.nrows))
    np.testing.assert_array_equal(order, ORDERS[name](A))


@pytest.mark.parametrize("name", ORDERS)
def test_without_edges_nothing_moves_and_rectangles_are_refused(name: str) -> None:
    np.testing.assert_array_equal(np.sort(ORDERS[name](gb.Matrix(bool, 5, 5))), np.arange(5))
    with pytest.raises(DimensionMismatch):
        ORDERS[name](gb.Matrix(bool, 5, 4))


def test_degrees_fall_and_equals_keep_their_order() -> None:
    theirs = shuffled("kron:9")
    directed = sp.triu(theirs, 1).tocsr()
    for matrix, degrees in ((theirs, theirs.sum(axis=1)), (directed, directed.sum(axis=0) + directed.sum(axis=1))):
        order = gb.orders.degree(gb.io.from_scipy_sparse(matrix))
        counts = np.asarray(degrees).ravel().astype(np.int64)
        np.testing.assert_array_equal(order, sorted(range(counts.size), key=lambda v: (-counts[v], v)))


def test_cuthill_mckee_is_scipys_and_narrows_a_grid() -> None:
    theirs = shuffled("grid:20x30")
    order = gb.orders.reverse_cuthill_mckee(gb.io.from_scipy_sparse(theirs))
    np.testing.assert_array_equal(order, reverse_cuthill_mckee(theirs.astype(np.int8)))
    moved = theirs[order][:, order].tocoo()
    assert np.abs(moved.row - moved.col).max() <= 40
    directed = gb.io.from_scipy_sparse(sp.tril(theirs).tocsr())
    one_way = theirs[(found := gb.orders.reverse_cuthill_mckee(directed))][:, found].tocoo()
    assert np.abs(one_way.row - one_way.col).max() <= 40


def test_cuthill_mckee_of_no_vertices_and_of_no_edges() -> None:
    assert gb.orders.reverse_cuthill_mckee(gb.Matrix(bool, 0, 0)).tolist() == []
    assert sorted(gb.orders.reverse_cuthill_mckee(gb.Matrix(bool, 3, 3))) == [0, 1, 2]


def test_harmonic_is_the_order_of_networkxs_centrality() -> None:
    """With all vertices as sources the order is that of NetworkX's centrality, up to equal sums."""
    theirs = shuffled("kron:7")
    order = gb.orders.harmonic(gb.io.from_scipy_sparse(theirs), k=200)
    known = nx.harmonic_centrality(nx.from_scipy_sparse_array(theirs))
    sums = np.array([known[v] for v in range(theirs.shape[0])])
    assert (np.diff(sums[order]) < 1e-6).all()


def test_harmonic_brings_together_what_a_search_meets_together() -> None:
    theirs = shuffled("grid:40x40")
    order = gb.orders.harmonic(gb.io.from_scipy_sparse(theirs), k=4, seed=3)
    assert span(theirs[order][:, order]) < 0.7 * span(theirs)
    with pytest.raises(InvalidValue, match="k is 0"):
        gb.orders.harmonic(gb.io.from_scipy_sparse(theirs), k=0)


def test_communities_lie_side_by_side() -> None:
    graph = nx.disjoint_union_all([nx.complete_graph(size) for size in (5, 9, 7, 1)])
    rng = np.random.default_rng(2)
    place = rng.permutation(22)
    theirs = nx.to_scipy_sparse_array(graph).tocsr()[place][:, place]
    order = gb.orders.communities(gb.io.from_scipy_sparse(theirs))
    clique = np.repeat([0, 1, 2, 3], [5, 9, 7, 1])[place][order]
    np.testing.assert_array_equal(clique, np.repeat([1, 2, 0, 3], [9, 7, 5, 1]))


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
@pytest.mark.parametrize("graph", ["kron:8?weights=1-99", "kron:8", "grid:9x7", "path:1"])
def test_a_matrix_in_another_order(graph: str, block: int) -> None:
    A = gb.io.read(graph, placement="host")
    theirs = gb.io.to_scipy_sparse(A).tocsr()
    order = np.random.default_rng(5).permutation(A.nrows)
    made = permute(A._to_csr(), order, block=block)
    assert made.symmetric
    expected = theirs[order][:, order].tocsr()
    expected.sort_indices()
    np.testing.assert_array_equal(made.indptr, expected.indptr)
    np.testing.assert_array_equal(made.indices.read(), expected.indices)
    np.testing.assert_array_equal(np.broadcast_to(made.values.read(), made.nvals), expected.data)
    back = permute(made, gb.orders.inverse(order), block=block)
    np.testing.assert_array_equal(back.indices.read(), A._to_csr().indices.read())


def test_a_directed_matrix_with_weights_and_empty_rows() -> None:
    theirs = sp.random_array((60, 60), density=0.03, rng=4, format="csr")
    order = np.random.default_rng(6).permutation(60)
    made = permute(gb.io.from_scipy_sparse(theirs)._to_csr(), order, block=5)
    found = sp.csr_array((made.values.read(), made.indices.read().astype(np.int64), made.indptr), shape=(60, 60))
    np.testing.assert_array_equal(found.toarray(), theirs[order][:, order].toarray())


def test_a_mapped_file_in_another_order(tmp_path: Path) -> None:
    pytest.importorskip("h5py", reason="h5py is not installed")
    gb.io.convert("kron:10", tmp_path / "a.h5")
    order = np.random.default_rng(8).permutation(1 << 10)
    made = permute(read_csr(tmp_path / "a.h5", placement="mapped")[0], order)
    expected = permute(gb.io.read("kron:10", placement="host")._to_csr(), order)
    np.testing.assert_array_equal(made.indices.read(), expected.indices.read())


def test_beside_the_result_only_a_block_is_in_memory() -> None:
    n, degree = 1 << 17, 32
    rng = np.random.default_rng(7)
    ids = np.sort(rng.integers(0, n // degree, (n, degree)) + np.arange(degree) * (n // degree), axis=1).ravel()
    csr = Csr.from_arrays(np.arange(0, n * degree + 1, degree), ids.astype(np.uint32), rng.random(ids.size), n)
    order = rng.permutation(n)
    tracemalloc.start()
    try:
        made = permute(csr, order, block=1 << 16)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= made.nbytes + 80 * (1 << 16) + 24 * n


@pytest.mark.parametrize(
    ("order", "error", "message"),
    [
        ([0, 1], DimensionMismatch, "order has shape"),
        ([0, 1, 1], InvalidValue, "2 is not in it"),
        ([0, 1, 3], InvalidValue, "from 0 to 3; 0 to 2"),
        ([0.0, 1.0, 2.0], InvalidValue, "float64"),
    ],
)
def test_what_is_no_permutation(order: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        permute(gb.io.read("path:3", placement="host")._to_csr(), order)
