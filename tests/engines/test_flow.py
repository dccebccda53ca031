"""ops.net_flow against SciPy: a flow within capacities, as large as a cut."""

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import maximum_flow

import sparsezc as gb
from sparsezc import ops
from sparsezc.device import cuda
from sparsezc.engines.cpu import flow as of_cpu
from sparsezc.engines.gpu.graphs import flow as of_gpu


@pytest.fixture(params=["SciPy", "loop", "device", "zerocopy", "hybrid", "long rows"])
def put(request, monkeypatch):
    """Return a function that puts a matrix on this test's engine and in its placement."""
    if request.param in ("SciPy", "loop"):
        if request.param == "loop":
            monkeypatch.setattr(of_cpu, "_SCIPYS", 0)
        else:
            monkeypatch.setattr(of_cpu, "run_arrays", lambda *_: None)
        yield lambda A: A
        return
    before = cuda.use(request.getfixturevalue("emulated"))
    monkeypatch.setattr(of_gpu, "_LEVELS", 4)  # so that rounds are recorded after the second four, and replayed
    monkeypatch.setattr(of_gpu, "_ROUNDS", 2)
    if request.param == "long rows":
        monkeypatch.setattr(of_gpu, "_LONG_ROW", 40)
    placement = "zerocopy" if request.param == "long rows" else request.param
    yield lambda A: A.to("gpu", placement=placement)
    cuda.use(before)


def network(n, edges, capacities, dtype="INT64"):
    """Return a matrix of capacities that has both entries of each edge, and SciPy's."""
    i, j = np.array(edges).T
    c = np.asarray(capacities)
    both = coo_array((np.r_[c, 0 * c], (np.r_[i, j], np.r_[j, i])), shape=(n, n)).tocsr()
    both.sum_duplicates()
    at = both.tocoo()
    return gb.Matrix.from_coo(at.row, at.col, at.data, dtype=dtype, nrows=n, ncols=n), both


def random_graph(rng, n, m, most):
    edges = rng.integers(0, n, (m, 2))
    edges = np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0)
    return n, edges, rng.integers(0, most, len(edges))  # some capacities are 0, some edges have an opposite one


def grid(k, rng):
    number = np.arange(k * k).reshape(k, k)
    edges = np.r_[np.c_[number[:, :-1].ravel(), number[:, 1:].ravel()], np.c_[number[:-1].ravel(), number[1:].ravel()]]
    edges = np.r_[edges, edges[:, ::-1]]
    return k * k, edges, rng.integers(1, 100, len(edges))


def bipartite(k, rng):
    """Return a bipartite graph of unit capacities, a source before one side and a sink behind the other."""
    left, right = np.arange(k), np.arange(k, 2 * k)
    middle = np.unique(np.c_[rng.integers(0, k, 3 * k), rng.integers(k, 2 * k, 3 * k)], axis=0)
    edges = np.r_[middle, np.c_[np.full(k, 2 * k), left], np.c_[right, np.full(k, 2 * k + 1)]]
    return 2 * k + 2, edges, np.ones(len(edges), int)


def check(R, both, s, t, rtol=0.0):
    """Check that the flow is one and that some cut is as large; return its value."""
    F = ops.net_flow(R, s, t).new()
    flow = csr_array((F.to_coo()[2], both.indices, both.indptr), both.shape)
    assert F.nvals == both.nnz
    slack = rtol * max(both.max(), 1)
    assert abs(flow + flow.T).max() <= slack
    assert (flow - both).max() <= slack
    net = flow.sum(axis=1)
    value = net[s]
    net[[s, t]] = 0, net[t] + value
    assert np.abs(net).max() <= slack * 64
    # full edges separate the vertices that reach t by edges with free capacity from the others
    free, reached = (both - flow > slack).toarray(), {t}
    waiting = [t]
    while waiting:
        for i in np.flatnonzero(free[:, waiting.pop()]).tolist():
            if i not in reached:
                reached.add(i)
                waiting.append(i)
    assert s not in reached
    return value


def test_random_graphs(put):
    rng = np.random.default_rng(3)
    for n, m, most in ((2, 1, 5), (9, 30, 6), (60, 300, 50), (120, 150, 9), (150, 3000, 1000)):
        R, both = network(*random_graph(rng, n, m, most))
        s, t = rng.permutation(n)[:2].tolist()
        assert check(put(R), both, s, t) == maximum_flow(both.astype(np.int32), s, t).flow_value


def test_grids_and_bipartite_graphs(put):
    rng = np.random.default_rng(5)
    for given, ends in ((grid(9, rng), (0, 80)), (grid(8, rng), (27, 36)), (bipartite(45, rng), (90, 91))):
        R, both = network(*given)
        assert check(put(R), both, *ends) == maximum_flow(both.astype(np.int32), *ends).flow_value


def test_large_and_fractional_capacities(put):
    rng = np.random.default_rng(8)
    n, edges, _ = random_graph(rng, 40, 250, 2)
    large = (rng.integers(0, 3, len(edges)) << 40) + rng.integers(0, 2, len(edges))
    value = check(put(network(n, edges, large)[0]), network(n, edges, large)[1], 0, 7)
    assert value > 2**40
    small = large / 2**41
    R, both = network(n, edges, small, "FP64")
    assert check(put(R), both, 0, 7, 1e-13) == pytest.approx(value / 2**41, rel=1e-12)
    # sums of a row beyond INT64, although the flow is small
    k = 70
    star = np.r_[[[0, 1]], np.c_[np.full(k, 1), np.arange(2, k + 2)], np.c_[np.arange(2, k + 2), np.full(k, k + 2)]]
    R, both = network(k + 3, star, np.r_[[9], np.full(2 * k, 2**60)])
    assert check(put(R), both, 0, k + 2) == 9


def test_nothing_flows(put):
    """The flow is 0 without entries, without a path and against an edge; one edge alone carries its capacity."""
    R, both = network(6, [(0, 1), (2, 3)], [3, 4])
    assert check(put(R), both, 0, 3) == 0
    assert check(put(R), both, 1, 0) == 0
    assert check(put(R), both, 2, 3) == 4
    assert ops.net_flow(put(gb.Matrix("INT64", 4, 4)), 0, 3).new().nvals == 0
    loops = gb.Matrix.from_coo([0, 0, 1, 1], [0, 1, 0, 1], [5, 2, 0, 7])
    assert ops.net_flow(put(loops), 0, 1).new().to_dense().tolist() == [[0, 2], [-2, 0]]


def test_repeated_and_masked(put):
    R, _ = network(*grid(6, np.random.default_rng(1)))
    R = put(R)
    F = ops.net_flow(R, 0, 35).new()
    assert ops.net_flow(R, 0, 35).new().isequal(F)
    some = F.select("valuegt", 3).new()
    out = gb.Matrix("INT64", 36, 36)
    out(some.S) << ops.net_flow(R, 0, 35)
    assert out.isequal(some)


def test_bad_operands(put):
    R = network(3, [(0, 1), (1, 2)], [1, 2])[0]
    with pytest.raises(gb.exceptions.InvalidValue, match=r"has an entry \(i, j\) without \(j, i\)"):
        ops.net_flow(put(gb.Matrix.from_coo([0, 1], [1, 2], [1, 2], nrows=3, ncols=3)), 0, 2).new()
    for given, ends, error, message in (
        (R.T, (0, 2), TypeError, "must be a Matrix"),
        (R.dup("INT8"), (0, 2), TypeError, "is of INT8; INT64 or FP64 is needed"),
        (gb.Matrix("INT64", 3, 4), (0, 2), gb.exceptions.DimensionMismatch, "is 3 x 4"),
        (R, (0.5, 2), TypeError, "source is 0.5 of type float; an integer is needed"),
        (R, (0, 3), gb.exceptions.IndexOutOfBound, r"target is 3; 0 \.\. 2 is needed"),
        (R, (1, 1), gb.exceptions.InvalidValue, "source and target are both 1"),
    ):
        with pytest.raises(error, match=message):
            ops.net_flow(given, *ends)


def test_symmetric_graphs_with_loops_and_zeros():
    """Loops and zeros stay in the matrix, which has both entries of each edge."""
    rng = np.random.default_rng(7)
    C = np.triu(rng.integers(0, 9, (40, 40)) * (rng.random((40, 40)) < 0.2))
    i, j = np.nonzero(rng.random((40, 40)) < 0.05)
    C, kept = C + np.triu(C, 1).T, csr_array(np.isin(np.arange(1600).reshape(40, 40), i * 40 + j))
    kept = ((csr_array(C) != 0) + kept + kept.T).tocoo()
    A = gb.Matrix.from_coo(kept.row, kept.col, C[kept.row, kept.col], dtype="INT64", nrows=40, ncols=40)
    assert (A.to_dense(fill_value=0) == C).all()
    assert C.trace()
    assert (A.to_coo()[2] == 0).any()
    value, F = gb.algorithms.maximum_flow(A._known_symmetric(), 3, 11)
    F, E = (x.to_dense(fill_value=0) for x in (F, gb.algorithms.maximum_flow(A._known_symmetric(False), 3, 11)[1]))
    assert value == maximum_flow(csr_array(C).astype(np.int32), 3, 11).flow_value
    for flow in (F, E):
        assert (flow <= C).all()
        assert not flow.diagonal().any()
        assert not (flow * flow.T).any()
        net = flow.sum(axis=1) - flow.sum(axis=0)
        assert net[3] == value == -net[11]
        assert np.count_nonzero(net) == 2


def test_a_loop_without_machine_code_runs_all_the_same(monkeypatch):
    monkeypatch.setattr(of_cpu, "_SCIPYS", 0)
    monkeypatch.setattr(of_cpu, "run_arrays", lambda loop, given, _: None if loop is of_cpu._drain else loop(*given))
    A, _ = network(3, [(0, 1), (1, 2)], [5, 3])
    assert ops.net_flow(A, 0, 2).new().to_dense(0).tolist() == [[0, 3, 0], [-3, 0, 3], [0, -3, 0]]
