"""gb.algorithms.sssp."""

import importlib

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import bellman_ford

import sparsezc as gb
from tests.algorithms import verify
from tests.algorithms.graphs import SMALL, csr, dense, graphs, matrix

sssp = gb.algorithms.sssp
INTEGERS = ["INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"]


def distances(A, source):
    return dense(sssp(A, source), np.inf)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("dtype", ["INT64", "FP64"])
def test_small_graphs(name, dtype):
    graph = SMALL[name].copy()
    graph.data = np.random.default_rng(5).integers(0, 99, graph.nnz).astype(dtype.lower().replace("fp", "float"))
    A = matrix(graph, dtype)
    for source in {0, graph.shape[0] // 2}:
        verify.distances(graph, source, distances(A, source))


@given(graphs(st.integers(0, 12)), st.data())
def test_any_graph(graph, data):
    source = data.draw(st.integers(0, graph.shape[0] - 1))
    answer = distances(matrix(graph), source)
    verify.distances(graph, source, answer)
    positive = csr(graph.shape[0], np.c_[graph.nonzero()], graph.data[graph.data > 0])  # SciPy drops explicit zeros
    if positive.nnz == graph.nnz:
        assert (answer == bellman_ford(graph, indices=source)).all()


@given(graphs(st.floats(0, 1e6, width=32)), st.data())
@pytest.mark.parametrize("dtype", ["FP32", "FP64"])
def test_any_floating_lengths(dtype, graph, data):
    source = data.draw(st.integers(0, graph.shape[0] - 1))
    answer = sssp(matrix(graph, dtype), source)
    assert str(answer.dtype) == dtype
    graph.data = graph.data.astype(np.float64)
    verify.distances(graph, source, dense(answer, np.inf).astype(float), rtol=1e-5 if dtype == "FP32" else 1e-12)


@given(graphs(st.integers(-3, 12), max_vertices=12), st.data())
def test_negative_lengths(graph, data):
    """Distances are right; a negative cycle raises an error exactly if the source reaches it."""
    source = data.draw(st.integers(0, graph.shape[0] - 1))
    network = nx.DiGraph()
    network.add_nodes_from(range(graph.shape[0]))
    rows, cols, weight = verify.edges(graph)
    network.add_weighted_edges_from(zip(rows.tolist(), cols.tolist(), weight.tolist(), strict=True))
    try:
        expected = nx.single_source_bellman_ford_path_length(network, source)
    except nx.NetworkXUnbounded:
        with pytest.raises(gb.exceptions.InvalidValue, match="cycle of negative length"):
            sssp(matrix(graph), source)
    else:
        assert sssp(matrix(graph), source).to_dict() == expected


@pytest.mark.parametrize("dtype", INTEGERS)
def test_sums_leave_the_type_of_the_lengths(dtype):
    """Distances of INT8 lengths are INT64, as 127 + 127 does not fit INT8."""
    graph = csr(3, [(0, 1), (1, 2)], [127, 127])
    answer = sssp(matrix(graph, dtype), 0)
    assert str(answer.dtype) == "INT64"
    assert dense(answer).tolist() == [0, 127, 254]


def test_a_boolean_edge_is_one_hop_or_none():
    graph = csr(3, [(0, 1), (1, 2)], [True, False])
    assert dense(sssp(matrix(graph, "BOOL"), 0)).tolist() == [0, 1, 1]


@pytest.mark.parametrize("lengths", [[2**62, 2**62], [-(2**62), -(2**62) - 1], [1, 2**63 - 1]])
def test_overflow_is_refused(lengths):
    with pytest.raises(gb.exceptions.InvalidValue, match="may not fit INT64"):
        sssp(matrix(csr(3, [(0, 1), (1, 2)], lengths)), 0)


def asked_for_lengths(A):
    """Yield calls on A of the functions that take lengths."""
    known = gb.algorithms
    taken = [known.sssp, known.bellman_ford, known.find_negative_cycle]
    yield from (lambda each=each: each(A, 0) for each in taken)
    yield lambda: known.all_pairs_shortest_paths(A)
    yield lambda: known.multi_source_shortest_paths(A, [0], weighted=True)
    yield lambda: known.eccentricity(A, weighted=True)
    yield lambda: known.closeness_centrality(A, weighted=True)


@pytest.mark.parametrize("lengths", [[2**63 - 1, 1], [1, 2**63 - 1], [2**63, 1]])
def test_the_length_that_stands_for_no_way_is_refused(lengths):
    A = gb.Matrix.from_coo([0, 1], [1, 0], np.array(lengths, np.uint64), nrows=2, ncols=2)
    for dtype in ["UINT64"] + ["INT64"] * (max(lengths) < 2**63):
        for ask in asked_for_lengths(A.dup(dtype)):
            with pytest.raises(gb.exceptions.InvalidValue, match=f"values up to {max(lengths)}: .* not fit INT64"):
                ask()


@pytest.mark.parametrize("lengths", [[2**63 - 1, -1], [-1, 2**63 - 1], [2**62, 2**62 - 1], [2**62, 2**62]])
@pytest.mark.parametrize("search", [gb.algorithms.sssp, gb.algorithms.bellman_ford])
def test_a_distance_that_stands_for_no_way_is_refused(search, lengths):
    with pytest.raises(gb.exceptions.InvalidValue, match="not fit INT64"):
        search(matrix(csr(3, [(0, 1), (1, 2)], lengths)), 0)


@pytest.mark.parametrize("lengths", [[2**62, 2**62 - 2], [2**63 - 2, -1]])
def test_the_longest_distance(lengths):
    A = matrix(csr(4, [(0, 1), (1, 2)], lengths))
    expected = {0: 0, 1: lengths[0], 2: sum(lengths)}
    assert sssp(A, 0).to_dict() == gb.algorithms.bellman_ford(A, 0)[0].to_dict() == expected


def test_uint64_lengths_beyond_int64_are_refused():
    with pytest.raises(gb.exceptions.InvalidValue, match="may not fit INT64"):
        sssp(matrix(csr(3, [(0, 1), (1, 2)], np.array([2**63 + 5, 1], np.uint64)), "UINT64"), 0)


@pytest.mark.parametrize("dtype", ["FP32", "FP64"])
def test_nan_is_refused_and_infinity_is_no_way(dtype):
    graph = csr(3, [(0, 1), (1, 2)], [1.0, np.nan])
    with pytest.raises(gb.exceptions.InvalidValue, match="NaN"):
        sssp(matrix(graph, dtype), 0)
    graph.data[1] = np.inf
    assert sssp(matrix(graph, dtype), 0).to_dict() == {0: 0.0, 1: 1.0}


def test_negative_cycle_that_is_not_reached():
    graph = csr(4, [(0, 1), (2, 3), (3, 2)], [1, -1, -1])
    assert sssp(matrix(graph), 0).to_dict() == {0: 0, 1: 1}
    with pytest.raises(gb.exceptions.InvalidValue, match=r"the distance of vertex [23] still falls after 4 rounds"):
        sssp(matrix(graph), 2)


def test_a_negative_loop_is_a_negative_cycle():
    with pytest.raises(gb.exceptions.InvalidValue, match="negative"):
        sssp(matrix(csr(1, [(0, 0)], [-1])), 0)


@pytest.mark.parametrize("last", [2**31 - 3, 2**31 - 2, 2**31 - 1, 2**31, 2**32 + 5, 2**40])
def test_distances_around_32_bits(last):
    """Distances just below and above 2^32 are right; the search keeps 4 bytes a vertex where they fit."""
    steps = [last // 3, last // 3, last - 2 * (last // 3)]
    A = gb.Matrix.from_coo(
        [0, 1, 2, 0], [1, 2, 3, 3], [*steps, last], "UINT64" if last > 2**35 else "INT64", nrows=5, ncols=5
    )
    assert sssp(A, 0).to_dict() == {0: 0, 1: steps[0], 2: 2 * steps[0], 3: last}


@pytest.mark.parametrize("delta", [0.5, 1, 3, 7.5, 1000, float("inf"), np.float16(2), np.uint8(3), 2**70, 10**400])
@pytest.mark.parametrize("dtype", ["INT32", "FP64"])
def test_any_delta_finds_the_same(delta, dtype):
    rng = np.random.default_rng(8)
    at = np.unique(rng.integers(0, 100 * 100, 600))
    A = gb.Matrix.from_coo(at // 100, at % 100, rng.integers(0, 50, at.size), dtype, nrows=100, ncols=100)
    assert sssp(A, 3, delta=delta).isequal(sssp(A, 3), check_dtype=True)
    assert sssp(A, 3, delta).to_dict() == nx.single_source_dijkstra_path_length(
        nx.from_scipy_sparse_array(gb.io.to_scipy_sparse(A), create_using=nx.DiGraph), 3
    )


@pytest.mark.parametrize("delta", [0, -1, float("nan")])
def test_a_delta_that_is_no_step(delta):
    with pytest.raises(gb.exceptions.InvalidValue, match=r"delta=.*above 0"):
        sssp(gb.Matrix.from_coo([0], [1], [1], nrows=2, ncols=2), 0, delta=delta)


def test_a_delta_is_refused_where_a_length_is_negative():
    A = gb.Matrix.from_coo([0, 1], [1, 2], [5, -3], nrows=3, ncols=3)
    with pytest.raises(gb.exceptions.InvalidValue, match=r"a value of -3, and delta=4 is .*; bellman_ford and "):
        sssp(A, 0, delta=4)
    assert sssp(A, 0).to_dict() == gb.algorithms.bellman_ford(A, 0)[0].to_dict() == {0: 0, 1: 5, 2: 2}


@pytest.mark.parametrize(
    "algorithm",
    [
        lambda A: gb.algorithms.multi_source_shortest_paths(A, [0], weighted=True),
        lambda A: gb.algorithms.closeness_centrality(A, weighted=True),
        lambda A: gb.algorithms.harmonic_centrality(A, weighted=True),
        lambda A: gb.algorithms.eccentricity(A, weighted=True),
        lambda A: gb.algorithms.diameter(A, weighted=True),
        lambda A: gb.algorithms.average_shortest_path_length(A, weighted=True),
        lambda A: gb.algorithms.betweenness_centrality(A, weighted=True),
        lambda A: gb.algorithms.edge_betweenness_centrality(A, weighted=True),
    ],
)
def test_who_refuses_negative_lengths_names_who_takes_them(algorithm):
    A = gb.Matrix.from_coo([0, 1], [1, 0], [5, -3], nrows=2, ncols=2)
    with pytest.raises(gb.exceptions.InvalidValue, match=r"value of -3; lengths .* bellman_ford and all_pairs_"):
        algorithm(A)


def test_a_delta_that_is_no_number():
    A = gb.Matrix.from_coo([0], [1], [1], nrows=2, ncols=2)
    for delta in ("x", [1], 1j):
        with pytest.raises(gb.exceptions.DomainMismatch, match=r"delta=.*a number is needed"):
            sssp(A, 0, delta=delta)
    assert sssp(A, 0, delta=np.float32(2)).isequal(sssp(A, 0, delta=np.int64(2)))


def test_lengths_are_looked_at_again_when_they_change():
    A = gb.Matrix.from_coo([0, 1], [1, 2], [5, 5], nrows=3, ncols=3)
    assert sssp(A, 0).to_dict() == {0: 0, 1: 5, 2: 10}
    A[0, 1] = -3
    assert sssp(A, 0).to_dict() == {0: 0, 1: -3, 2: 2}
    A[1, 0] = 1
    with pytest.raises(gb.exceptions.InvalidValue, match="negative"):
        sssp(A, 0)


@pytest.mark.parametrize("dtype", ["INT32", "INT64", "UINT64"])
def test_lengths_whose_sums_wrap_around_come_to_an_end(dtype):
    """INT32 sums are INT64; lengths whose sums may wrap around are refused, as the search might then never end."""
    most = int(np.iinfo(dtype.lower()).max)
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 1], [5, most - 2, most - 2], dtype, nrows=3, ncols=3)
    if dtype == "INT32":
        assert sssp(A, 0).to_dict() == {0: 0, 1: 5, 2: most + 3}
    else:
        with pytest.raises(gb.exceptions.InvalidValue, match="may not fit INT64"):
            sssp(A, 0)


@given(graphs(st.integers(0, 12)), st.data())
@pytest.mark.parametrize("dtype", ["INT8", "INT64", "FP32"])
def test_a_target_leaves_out_what_is_farther(dtype, graph, data):
    """With a target the answer has exactly the vertices that are at most as far as the target."""
    source, target = (data.draw(st.integers(0, graph.shape[0] - 1)) for _ in range(2))
    A, delta = matrix(graph, dtype), data.draw(st.sampled_from([None, 0.5, 3, 1000]))
    every = sssp(A, source)
    most = every.get(target, np.inf)
    expected = {i: length for i, length in every.to_dict().items() if length <= most}
    answer = sssp(A, source, delta, target=target)
    assert answer.to_dict() == expected
    assert answer.dtype == every.dtype


def test_a_target_over_negative_lengths():
    A = matrix(csr(4, [(0, 1), (0, 2), (2, 1), (1, 3)], [5, 7, -4, 1]))
    assert sssp(A, 0, target=1).to_dict() == {0: 0, 1: 3}
    with pytest.raises(gb.exceptions.InvalidValue, match="cycle of negative length"):
        sssp(matrix(csr(3, [(0, 1), (1, 2), (2, 1)], [1, -2, 1])), 0, target=0)


def test_a_target_that_is_no_vertex():
    A = matrix(csr(2, [(0, 1)], [1]))
    with pytest.raises(gb.exceptions.IndexOutOfBound, match="target is 2"):
        sssp(A, 0, target=2)


@pytest.mark.parametrize("dtype", ["INT64", "FP64"])
@pytest.mark.parametrize("delta", [None, 1000])
def test_the_search_ends_at_its_target(dtype, delta, monkeypatch):
    """On a path, where each round settles one vertex, the search ends within two rounds after its target."""
    A, limits = matrix(csr(300, [(i, i + 1) for i in range(299)], np.full(299, 2)), dtype), []
    module = importlib.import_module("sparsezc.algorithms.sssp")
    counted = module.buckets
    monkeypatch.setattr(module, "buckets", lambda *a, **o: (limits.append(x) or x for x in counted(*a, **o)))
    assert sssp(A, 0, delta, target=20).to_dict() == {i: 2 * i for i in range(21)}
    assert len(limits) <= 22


def test_beyond_its_target_nothing_overflows():
    """Lengths whose sums overflow beyond the target raise no error."""
    A = matrix(csr(4, [(0, 1), (1, 2), (2, 3)], [1, 2**62, 2**62]))
    assert sssp(A, 0, target=1).to_dict() == {0: 0, 1: 1}
    for target in (None, 3):
        with pytest.raises(gb.exceptions.InvalidValue, match="not fit INT64"):
            sssp(A, 0, target=target)


@pytest.mark.parametrize("kind", ["INT64", "UINT8", "FP32", "FP64"])
@pytest.mark.parametrize("cutoff", [0, 3, 3.5, 40, 10**30, float("inf")])
def test_a_cutoff_leaves_the_nearer_ones(kind, cutoff):
    rng = np.random.default_rng(5)
    graph = csr(200, rng.integers(0, 200, (900, 2)).tolist(), rng.integers(1, 9, 900).astype(float))
    A = matrix(graph).dup(kind)
    everything = sssp(A, 3).to_dict()
    assert sssp(A, 3, cutoff=cutoff).to_dict() == {v: d for v, d in everything.items() if d <= cutoff}
    assert sssp(A, 3, target=7, cutoff=cutoff).to_dict() == {
        v: d for v, d in everything.items() if d <= min(cutoff, everything[7])
    }


def test_a_cutoff_with_negative_lengths():
    A = matrix(csr(4, [(0, 1), (1, 2), (0, 2), (2, 3)], [5.0, -4.0, 2.0, 9.0]))
    assert sssp(A, 0, cutoff=4).to_dict() == {0: 0, 2: 1}


def test_a_search_ends_at_its_cutoff(monkeypatch):
    """On a path of 1,000 edges the search runs products up to the cutoff only."""
    A = gb.io.read("path:1001?weights=2-2")
    products = []
    vxm = gb.Vector.vxm
    monkeypatch.setattr(gb.Vector, "vxm", lambda self, *a, **k: products.append(1) or vxm(self, *a, **k))
    assert sssp(A, 0, cutoff=11).nvals == 6
    assert len(products) < 20
    products.clear()
    assert sssp(A, 0).nvals == 1001
    assert len(products) >= 1000


@pytest.mark.parametrize(
    ("cutoff", "error"), [(-1, "InvalidValue"), (float("nan"), "InvalidValue"), ("2", "DomainMismatch")]
)
def test_cutoffs_that_are_none(cutoff, error):
    with pytest.raises(getattr(gb.exceptions, error), match="cutoff="):
        sssp(gb.io.read("path:3"), 0, cutoff=cutoff)
