"""gb.applications.local_clustering: optimality conditions in NumPy, cvxpy's minimum, every prefix of a sweep."""

import warnings
from unittest import mock

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsezc as gb
from sparsezc.applications import _local_pagerank
from sparsezc.device import cuda
from sparsezc.engines import cpu
from sparsezc.engines.cpu import compiled_loops as cpu_loops
from sparsezc.exceptions import ConvergenceFailure, DomainMismatch, IndexOutOfBound, InvalidValue
from tests.algorithms.graphs import SMALL, both_ways, csr, graphs, kronecker, matrix, undirected
from tests.emulator.device import EmulatedDevice, why_unavailable

local_clustering = gb.applications.local_clustering
SOLVERS = "arrays", "loops"


def solved_by(solver):
    """Return a context in which loops run if `solver` is "loops", else arrays."""
    if solver == "loops":
        pytest.importorskip("numba", reason="numba compiles the loops")
    return mock.patch.object(cpu_loops, "pays", return_value=solver == "loops")


@pytest.fixture(params=SOLVERS)
def solver(request):
    with solved_by(request.param):
        yield request.param


def problem(graph, alpha):
    """Return the quadratic form in p / d, the degrees d and the adjacency matrix without loops."""
    S = ((graph + graph.T) != 0).toarray().astype(float)
    np.fill_diagonal(S, 0)
    d = S.sum(axis=1)
    return np.diag(d) - (1 - alpha) / 2 * (np.diag(d) + S), d, S


def is_optimal(graph, p, seed, alpha, rho, tol):
    """Check the gradient, scaled by D^1/2: -rho alpha d where p > 0, between that and 0 elsewhere."""
    M, d, _ = problem(graph, alpha)
    if d[seed] == 0:
        assert not p.any()
        return
    y = np.divide(p, d, out=np.zeros_like(p), where=d > 0)
    gradient = M @ y
    gradient[seed] -= alpha
    bound, slack = rho * alpha * d, tol * rho * alpha * d + 1e-12
    assert (p >= 0).all()
    assert (gradient >= -bound - slack).all()
    assert (gradient[p > 0] <= -bound[p > 0] + slack[p > 0]).all()
    assert (gradient <= slack).all()


def is_best_prefix(graph, p, found, conductance):
    network = undirected(graph)
    degree = dict(network.degree)
    order = sorted(np.flatnonzero(p), key=lambda v: -p[v] / degree[v])
    volume, total = np.cumsum([degree[v] for v in order]), 2 * network.number_of_edges()
    sets = [set(order[: k + 1]) for k in range(len(order)) if volume[k] < total]
    values = [nx.cut_size(network, one) / min(nx.volume(network, one), total - nx.volume(network, one)) for one in sets]
    if not values:
        assert not found
        assert conductance is None
        return
    assert conductance == pytest.approx(min(values))
    assert nx.conductance(network, found) == pytest.approx(min(values))


def check(graph, seeds, alpha, rho, tol=1e-6):
    p, cluster, conductance = local_clustering(matrix(graph), seeds, alpha, rho, tol=tol)
    for row, seed in enumerate(seeds):
        found = p[row, :].new().to_dense(0.0)
        is_optimal(graph, found, seed, alpha, rho, tol)
        members = set(cluster[row, :].new().to_coo()[0].tolist())
        is_best_prefix(graph, found, members, conductance.get(row))


@given(graphs(), st.data())
def test_any_graph(graph, data):
    seeds = data.draw(st.lists(st.integers(0, graph.shape[0] - 1), min_size=1, max_size=3, unique=True))
    alpha, rho = data.draw(st.sampled_from([0.05, 0.5, 1.0])), data.draw(st.sampled_from([1e-3, 0.05, 0.5]))
    with solved_by(data.draw(st.sampled_from(SOLVERS))):
        check(graph, seeds, alpha, rho)


@pytest.mark.parametrize("name", ["two cliques", "lollipop", "kronecker", "star"])
def test_small_graphs(name, solver):
    check(SMALL[name], [0, 3, 17] if name != "two cliques" else [0, 3, 8], 0.1, 1e-3)


def test_it_is_the_minimum_that_cvxpy_finds():
    cvxpy = pytest.importorskip("cvxpy", reason="cvxpy is not installed")
    graph = both_ways(kronecker(5, 3))
    seed = int(np.diff(graph.indptr).argmax())
    alpha, rho = 0.2, 0.005
    M, d, _ = problem(graph, alpha)
    some = d > 0
    root = np.sqrt(d[some])
    Q = M[np.ix_(some, some)] / np.outer(root, root)
    q = cvxpy.Variable(int(some.sum()))
    s = (np.flatnonzero(some) == seed) / root
    cvxpy.Problem(
        cvxpy.Minimize(
            cvxpy.quad_form(q, cvxpy.psd_wrap(Q)) / 2
            - alpha * s @ q
            + rho * alpha * cvxpy.norm1(cvxpy.multiply(root, q))
        )
    ).solve()
    p = local_clustering(matrix(graph), seed, alpha, rho, tol=1e-8)[0][0, :].new().to_dense(0.0)
    assert np.allclose(p[some], q.value * root, atol=1e-4)


def test_a_planted_cluster_is_found():
    """The sweep returns exactly the seed's planted community of 30 vertices."""
    network = nx.planted_partition_graph(10, 30, 0.5, 0.005, seed=1)
    A = matrix(csr(300, [e for u, v in network.edges for e in ((u, v), (v, u))]))
    _, cluster, conductance = local_clustering(A, [5, 100, 299], 0.05, 1e-4)
    for row, start in enumerate((0, 90, 270)):
        assert cluster[row, :].new().to_coo()[0].tolist() == list(range(start, start + 30))
    assert (conductance.to_dense() < 0.2).all()


def test_seeds_together_are_seeds_by_themselves(solver):
    A = matrix(both_ways(kronecker(7)))
    together = local_clustering(A, [1, 5, 40], rho=1e-3, tol=1e-3)
    for row, seed in enumerate((1, 5, 40)):
        alone = local_clustering(A, seed, rho=1e-3, tol=1e-3)
        assert alone[0][0, :].new().isclose(together[0][row, :].new(), rel_tol=1e-9)
        assert alone[1][0, :].new().isequal(together[1][row, :].new())


def test_only_rows_near_the_seed_matter():
    """Edges beyond the neighbours of the solution's vertices do not change the answer."""
    far = both_ways(csr(400, [(k, k + 1) for k in range(399)]))
    near = both_ways(csr(400, [(k, k + 1) for k in range(100)]))
    found = [local_clustering(matrix(graph), 0, 0.3, 1e-3, tol=1e-6)[0] for graph in (far, near)]
    assert found[0].isequal(found[1])
    assert found[0].nvals < 50


def test_loops_find_what_arrays_find():
    """Loops and arrays agree on seeds that share rows and reach more vertices than the loops' first table holds."""
    A = gb.io.read("kron:12")
    seeds = np.flatnonzero(np.diff(A._to_csr().indptr) == 7)[:40]
    found = {}
    for solver in SOLVERS:
        with (
            solved_by(solver),
            mock.patch.object(_local_pagerank, "_by_arrays", wraps=_local_pagerank._by_arrays) as arrays,
        ):
            found[solver] = local_clustering(A, seeds, rho=2e-5)
        assert arrays.called == (solver == "arrays")
    (p, cluster, conductance), other = found["arrays"], found["loops"]
    assert p.nvals > 2000
    assert p.isclose(other[0], rel_tol=1e-9)
    assert cluster.isequal(other[1])
    assert conductance.isclose(other[2], rel_tol=1e-12)


@pytest.mark.parametrize("rows", ["_Lent", "_Extracted"])
def test_each_row_of_what_is_found_is_read_once_and_no_other(rows, solver, monkeypatch):
    read = []
    way = getattr(_local_pagerank, rows)
    kept = way.read
    monkeypatch.setattr(way, "read", lambda self, at, ends: (read.extend(at.tolist()), kept(self, at, ends))[1])
    if rows == "_Extracted":
        monkeypatch.setattr(cpu.engine(), "lend_rows", lambda _: None, raising=False)
    seeds = [3, 77] if solver == "loops" else [3]  # arrays may read a row once for each seed
    p, _, _ = local_clustering(matrix(both_ways(kronecker(9))), seeds, rho=1e-3)
    assert sorted(read) == np.unique(p.to_coo()[1]).tolist()
    assert 1 < len(read) < 200


@pytest.mark.parametrize("error", [False, True])
def test_the_matrix_is_as_it_was(error, solver):
    """The matrix, whose arrays are lent to the solver, is unchanged after an answer and after an error."""
    A = matrix(both_ways(kronecker(5)))
    expected = A.dup()
    if error:
        with pytest.raises(ConvergenceFailure):
            local_clustering(A, [1], 0.01, 1e-6, max_iter=3)
    else:
        local_clustering(A, [1])
    assert A.isequal(expected)


def test_a_solution_that_is_none_is_refused():
    """The judge refuses solutions that are not optimal."""
    graph = SMALL["two cliques"]
    p = local_clustering(matrix(graph), 0, 0.1, 1e-3, tol=1e-6)[0][0, :].new().to_dense(0.0)
    for wrong in (p * 1.01, np.where(np.arange(9) == 1, 0, p)):
        with pytest.raises(AssertionError):
            is_optimal(graph, wrong, 0, 0.1, 1e-3, 1e-6)


def test_what_has_no_cluster_has_no_entries(solver):
    A = matrix(both_ways(csr(4, [(0, 1), (0, 2)])))
    p, cluster, conductance = local_clustering(A, [3, 0], rho=0.6)
    assert (p.nvals, cluster.nvals, conductance.nvals) == (0, 0, 0)


def test_engines_agree(gpu, solver):
    A = matrix(both_ways(kronecker(5, 3)))
    expected = local_clustering(A, [1, 9], 0.3, 0.01)
    with gb.config.set(placement="zerocopy"), warnings.catch_warnings():
        warnings.simplefilter("error", gb.exceptions.PerformanceWarning)
        found = local_clustering(A.to("gpu"), [1, 9], 0.3, 0.01)
    assert all(a.isclose(b, rel_tol=1e-9) for a, b in zip(found, expected, strict=True))


def test_what_does_not_settle_says_how_far_it_came(solver):
    with pytest.raises(ConvergenceFailure, match=r"max_iter = 2 iterations the gradient is still .* tol = 1e-09"):
        local_clustering(matrix(SMALL["two cliques"]), 0, tol=1e-9, max_iter=2)
    with pytest.raises(ConvergenceFailure, match=r"is still 142 of rho"):
        local_clustering(matrix(SMALL["two cliques"]), 0, tol=1e-9, max_iter=20)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"seeds": []}, InvalidValue, "seeds is empty"),
        ({"seeds": [1, 1]}, InvalidValue, "seeds has vertex 1 2 times"),
        ({"seeds": 9}, IndexOutOfBound, "seeds is 9"),
        ({"alpha": 0}, InvalidValue, "alpha is 0; a number > 0 and <= 1"),
        ({"alpha": 1.5}, InvalidValue, "alpha is 1.5"),
        ({"alpha": None}, DomainMismatch, "alpha is None"),
        ({"rho": -1}, InvalidValue, "rho is -1"),
        ({"tol": 0}, InvalidValue, "tol is 0"),
        ({"max_iter": 0}, InvalidValue, "max_iter is 0"),
    ],
)
def test_bad_input(options, error, message):
    with pytest.raises(error, match=message):
        local_clustering(matrix(SMALL["two cliques"]), **{"seeds": [0]} | options)


@pytest.mark.skipif(why_unavailable() is not None, reason=f"no emulator: {why_unavailable()}")
@pytest.mark.parametrize(("seeds", "rho"), [([3], 1e-4), ([5, 9, 77], 1e-3)])
@pytest.mark.parametrize("lent", [True, False])
def test_rows_cross_the_link_once_or_never(seeds, rho, lent, solver, monkeypatch):
    """Kernels read at most 1.5 times the ids of the solution's rows, in 32-byte sectors; none if the host reads them.

    Kernels read rows that the engine cannot lend to the host, such as compressed ones.
    """
    device = EmulatedDevice("lockstep", counting=True)
    before = cuda.use(device)
    try:
        A = gb.io.read("kron:11", placement="zerocopy")
        if not lent:
            monkeypatch.setattr(A._engine, "lend_rows", lambda _: None, raising=False)
        degree = np.diff(A._to_csr().indptr)
        local_clustering(A, seeds, rho=rho)
        device.reset()
        found = np.unique(local_clustering(A, seeds, rho=rho)[0].to_coo()[1].astype(np.int64))
        read = device.total(1)
    finally:
        cuda.use(before)
    touched = 4 * int(degree[found].sum())
    assert touched > 0
    assert read.useful_bytes == (0 if lent else touched)
    assert 32 * read.sectors <= 1.5 * touched
