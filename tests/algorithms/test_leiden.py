"""gb.algorithms.leiden_communities, and the options that it shares with louvain_communities."""

from __future__ import annotations

import importlib.util
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import sparsezc as gb
from tests.algorithms.graphs import SMALL, both_ways, csr, graphs, matrix, needs_real, real

leiden, louvain, modularity = (
    gb.algorithms.leiden_communities,
    gb.algorithms.louvain_communities,
    gb.algorithms.modularity,
)


def pieces(graph, label):
    """Return the number of connected components of all communities together, by SciPy."""
    edges = coo_array(graph)
    kept = label[edges.row] == label[edges.col]
    inside = coo_array((np.ones(kept.sum()), (edges.row[kept], edges.col[kept])), shape=graph.shape)
    return connected_components(inside, directed=False)[0]


def check(graph, label):
    """Check that communities are named by their smallest vertices, and each is connected."""
    label = label.to_dense()
    assert all(label[c] == c == np.flatnonzero(label == c)[0] for c in np.unique(label))
    assert pieces(graph, label) == np.unique(label).size
    return label


def quality(graph, label):
    """Return the modularity of an undirected simple graph, by NumPy."""
    edges, m = coo_array(graph), graph.nnz
    chance = np.bincount(label[edges.row], minlength=label.size) / m
    return np.count_nonzero(label[edges.row] == label[edges.col]) / m - chance @ chance


def planted(groups, size, inside, outside, seed):
    """Return a random graph with planted communities, its vertices shuffled."""
    G = nx.planted_partition_graph(groups, size, inside, outside, seed=seed)
    order = np.random.default_rng(seed).permutation(len(G))
    edges = order[np.array(G.edges)]
    truth = np.empty(len(G), np.int64)
    truth[order] = np.arange(len(G)) // size
    return csr(len(G), np.r_[edges, edges[:, ::-1]]), truth


def symmetric(graph):
    A = matrix(graph)
    A._known_symmetric()
    return A


def same(a, b):
    """Return True if two labellings are the same partition."""
    pairs = np.unique(np.c_[a, b], axis=0)
    return len(pairs) == np.unique(a).size == np.unique(b).size


@given(graphs(st.integers(0, 9)), st.booleans(), st.sampled_from([0.5, 1.0, 3.0]), st.integers(0, 3))
def test_any_graph(graph, weighted, resolution, seed):
    """Communities are connected at each level and unite those before; modularity is no less than single vertices'."""
    A = matrix(graph)
    levels = leiden(A, resolution, seed=seed, weighted=weighted, return_levels=True)
    for level in levels:
        check(graph, level)
    for fine, coarse in pairwise(levels):
        fine, coarse = fine.to_dense(), coarse.to_dense()
        assert (coarse[fine] == coarse).all()
    assert leiden(A, resolution, seed=seed, weighted=weighted).isequal(levels[-1])
    W = graph.copy()
    if not weighted:
        W.data = np.ones(W.nnz)
    W = matrix(W + W.T)
    if W.reduce_scalar("plus").new().get(0) > 0:
        alone = modularity(W, gb.Vector.from_dense(np.arange(A.nrows)), resolution, weighted=True)
        assert modularity(W, levels[-1], resolution, weighted=True) >= alone - 1e-9


@pytest.mark.parametrize("method", [leiden, louvain])
def test_planted_communities_are_found(method):
    graph, truth = planted(12, 30, 0.5, 0.01, 3)
    found = method(symmetric(graph), seed=4)
    assert same(check(graph, found), truth)
    for wrong in (np.arange(360), np.zeros(360, np.int64), np.roll(truth, 7)):
        assert not same(wrong, truth)
        assert quality(graph, wrong) < quality(graph, truth) - 0.1


def test_the_judge_refuses_what_is_not_connected():
    graph = both_ways(csr(4, [(0, 1), (2, 3)]))
    with pytest.raises(AssertionError):
        check(graph, gb.Vector.from_dense([0, 0, 0, 0]))
    with pytest.raises(AssertionError):
        check(graph, gb.Vector.from_dense([1, 1, 2, 2]))


@pytest.mark.parametrize("seed", range(3))
def test_communities_are_connected_where_louvain_leaves_parts(seed):
    """Communities stay connected in sparse graphs, where a vertex that leaves may disconnect its community."""
    G = nx.gnm_random_graph(400, 700, seed=seed)
    graph = csr(400, [(u, v) for u, v in G.edges] + [(v, u) for u, v in G.edges])
    A = symmetric(graph)
    for most in (None, 1, 2):
        label = check(graph, leiden(A, max_level=most, seed=seed))
    best = nx.community.modularity(G, nx.community.louvain_communities(G, seed=seed))
    assert quality(graph, check(graph, leiden(A, seed=seed))) > best - 0.02
    assert quality(graph, label) > 0.3


@pytest.mark.parametrize("method", [leiden, louvain])
def test_a_seed_chooses_and_numbers_do_not_matter(method):
    graph = both_ways(SMALL["kronecker"])
    A = symmetric(graph)
    label = method(A, seed=3)
    assert method(A, seed=3).isequal(label)
    order = np.random.default_rng(1).permutation(graph.shape[0])
    moved = graph.tocsr()[order][:, order].tocsr()
    simple = graph - coo_array((graph.diagonal(), (range(graph.shape[0]),) * 2), shape=graph.shape)
    simple.data[:] = 1
    reached = [
        quality(simple.tocsr(), label.to_dense()),
        quality(simple.tocsr()[order][:, order], method(symmetric(moved), seed=3).to_dense()),
    ]
    assert abs(reached[0] - reached[1]) < 0.03


@pytest.mark.parametrize("method", [leiden, louvain])
def test_engines_give_the_same_labels(method, gpu):
    """Labels of both engines are equal, because no sum depends on its order."""
    graph, _ = planted(4, 12, 0.5, 0.05, 1)
    rng = np.random.default_rng(2)
    weights = gb.Matrix.from_coo(*graph.nonzero(), rng.random(graph.nnz), nrows=48, ncols=48)
    for A, weighted in ((symmetric(graph), False), (weights, True)):
        there = A.to("gpu", placement="zerocopy")
        assert method(there, seed=5, weighted=weighted).isequal(method(A, seed=5, weighted=weighted))


@pytest.mark.parametrize("method", [leiden, louvain])
def test_levels(method):
    A = symmetric(both_ways(csr(200, [(v, (v + 1) % 200) for v in range(200)])))
    levels = method(A, seed=1, return_levels=True)
    assert len(levels) > 1
    assert method(A, seed=1).isequal(levels[-1])
    assert len(method(A, max_level=1, seed=1, return_levels=True)) == 1
    if method is louvain:
        reached = [modularity(A, level) for level in levels]
        assert reached == sorted(reached)
    assert len(method(gb.Matrix("BOOL", 3, 3), return_levels=True)) == 1


def test_weights_and_resolution():
    heavy = matrix(csr(4, [(0, 1), (1, 2), (2, 3), (3, 0)], [1, 9, 1, 9]))
    assert leiden(heavy, weighted=True, seed=1).to_dense().tolist() == [0, 1, 1, 0]
    for factor in (1e-300, 1e-9, 1e300):
        scaled = heavy.apply(gb.binary.times, right=factor).new()
        assert leiden(scaled, weighted=True, seed=1).to_dense().tolist() == [0, 1, 1, 0]
    ring = symmetric(both_ways(csr(12, [(v, (v + 1) % 12) for v in range(12)])))
    assert leiden(ring, resolution=50.0, seed=0).to_dense().tolist() == list(range(12))
    assert leiden(ring, resolution=0.01, seed=0).to_dense().tolist() == [0] * 12


def test_bad_arguments():
    A = matrix(csr(3, [(0, 1), (1, 0)]))
    assert leiden(gb.Matrix("BOOL", 0, 0)).size == 0
    assert leiden(gb.Matrix("BOOL", 3, 3)).to_dense().tolist() == [0, 1, 2]
    with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
        leiden(gb.Matrix("FP64", 2, 3))
    with pytest.raises(gb.exceptions.InvalidValue, match="max_level is 0; at least 1"):
        leiden(A, max_level=0)
    with pytest.raises(gb.exceptions.InvalidValue, match="negative values"):
        leiden(matrix(csr(2, [(0, 1)], [-1])), weighted=True)


@pytest.mark.parametrize("method", [gb.algorithms.louvain_communities, leiden])
def test_numbers_that_are_none(method):
    A = matrix(csr(3, [(0, 1), (1, 0)]))
    for options, said in (
        ({"seed": -1}, "seed is -1; from 0 to"),
        ({"resolution": np.nan}, "resolution is nan; a finite number"),
        ({"resolution": -0.5}, "resolution is -0.5; a finite number >= 0"),
        ({"resolution": np.inf}, "resolution is inf; a finite number"),
        ({"threshold": np.nan}, "threshold is nan"),
    ):
        with pytest.raises(gb.exceptions.InvalidValue, match=said):
            method(A, **options)
    with pytest.raises(TypeError, match="seed is 'a' of type str"):
        method(A, seed="a")
    for name in ("resolution", "threshold"):
        with pytest.raises(gb.exceptions.DomainMismatch, match=f"{name} is '1'; a number is needed"):
            method(A, **{name: "1"})
    with pytest.raises(gb.exceptions.DomainMismatch, match=r"^A has values of type FC64"):
        method(gb.Matrix.from_coo([0, 1], [1, 0], [1j, 2j]), weighted=True)
    assert method(A, np.float32(1), np.float64(0), seed=np.int64(1)).to_dense().tolist() == [0, 0, 2]


@pytest.mark.parametrize("weight", [5e-324, 1e-310, 1e-290, 1e290, 2.0**1021])
@pytest.mark.parametrize("method", [gb.algorithms.louvain_communities, leiden])
def test_weights_of_any_size(method, weight):
    A = gb.Matrix.from_coo([0, 1, 2, 3], [1, 0, 3, 2], [weight] * 4)
    assert method(A, seed=1, weighted=True).to_dense().tolist() == [0, 0, 2, 2]


def simple_real(name):
    graph = both_ways(real(name))
    return csr(graph.shape[0], np.c_[graph.nonzero()][np.not_equal(*graph.nonzero())])


def peers(graph, method):
    """Yield the modularities that other programs reach with the same method."""
    edges = coo_array(graph)
    once = edges.row < edges.col
    i, j, n = edges.row[once], edges.col[once], graph.shape[0]
    if importlib.util.find_spec("networkit"):
        import networkit as nk

        G = nk.GraphFromCoo((i.astype(np.int64), j.astype(np.int64)), n=n, directed=False)
        found = nk.community.PLM(G, refine=True) if method == "louvain" else nk.community.ParallelLeiden(G)
        found.run()
        yield quality(graph, np.asarray(found.getPartition().getVector()))
    if importlib.util.find_spec("igraph"):
        import igraph

        G = igraph.Graph(n=n, edges=np.c_[i, j])
        if method == "louvain":
            yield quality(graph, np.asarray(G.community_multilevel().membership))
        elif importlib.util.find_spec("leidenalg"):
            import leidenalg

            found = leidenalg.find_partition(G, leidenalg.ModularityVertexPartition, seed=1)
            yield quality(graph, np.asarray(found.membership))


@needs_real
@pytest.mark.parametrize("method", ["louvain", "leiden"])
@pytest.mark.parametrize(
    "name", ["email-Eu-core", "as-caida20071105", pytest.param("ca-AstroPh", marks=pytest.mark.slow)]
)
def test_real_graphs_beside_other_programs(name, method):
    """Modularity is within 0.01 of the best of networkit, igraph and leidenalg, within 0.005 of the first installed."""
    graph = simple_real(name)
    found = getattr(gb.algorithms, f"{method}_communities")(symmetric(graph), seed=1)
    label = check(graph, found) if method == "leiden" else found.to_dense()
    reached = list(peers(graph, method))
    if not reached:
        pytest.skip("neither networkit nor igraph is installed")
    assert quality(graph, label) > max(reached) - 0.01
    assert quality(graph, label) > reached[0] - 0.005


@pytest.mark.parametrize("seed", range(3))
def test_networkx_hands_its_graphs_over(seed):
    G = nx.planted_partition_graph(5, 12, 0.6, 0.05, seed=seed)
    nx.config.warnings_to_ignore.add("cache")
    parts = nx.community.leiden_communities(G, seed=seed, backend="sparsezc")
    assert nx.community.is_partition(G, parts)
    assert all(nx.is_connected(G.subgraph(part)) for part in parts)
    best = nx.community.modularity(G, nx.community.louvain_communities(G, seed=seed))
    assert nx.community.modularity(G, parts) > best - 0.02
    with (
        nx.config(warnings_to_ignore={"cache"}),
        pytest.raises(ValueError, match="max_level argument must be a positive integer or None"),
    ):
        nx.community.leiden_communities(G, max_level=0, backend="sparsezc")
