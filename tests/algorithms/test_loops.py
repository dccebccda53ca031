"""Loops that the CPU engine compiles, against the statements that they replace."""

import warnings
from functools import cache
from importlib import import_module
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import sparsezc as gb
from sparsezc.algorithms import _iterate, _multi_source_bfs
from sparsezc.algorithms.loops import orders, searches
from sparsezc.core import engine_loops
from sparsezc.engines import cpu
from sparsezc.engines.cpu import compiled_loops as cpu_loops
from tests.algorithms.graphs import REAL, SMALL, both_ways, csr, loaded, matrix
from tests.only_statements import loops_pay

pytest.importorskip("numba", reason="numba compiles the loops")

alg = gb.algorithms
RNG = np.random.default_rng(5)


def at_random(n, edges):
    return csr(n, RNG.integers(0, n, (edges, 2)), RNG.integers(0, 9, edges))


GRAPHS = {name: SMALL[name] for name in ("one vertex", "no edges", "shuffled directed path", "loops", "shuffled path")}
GRAPHS |= {f"random {n}": at_random(n, m) for n, m in ((5, 4), (12, 40), (30, 40), (60, 90), (150, 900))}
GRAPHS |= {f"{name}, both ways": both_ways(GRAPHS[name]) for name in ("random 30", "random 60", "random 150")}
NAMES = [*GRAPHS, *(entry["name"] for entry in REAL if entry["name"] == "email-Eu-core")]

#: Calls on a graph A for which the loops' answers equal the statements' bit for bit.
EQUAL = {
    "components": alg.connected_components,
    "strong components": alg.strongly_connected_components,
    "cores": alg.core_number,
    "cut vertices": alg.articulation_points,
    "bridges": alg.bridges,
    "blocks": alg.biconnected_components,
    "levels": lambda A: alg.bfs(A, 0),
    "levels from two": lambda A: alg.multi_source_shortest_paths(A, {0, A.nrows - 1}),
    "neighbourhood": lambda A: alg.k_hop(A, A.nrows - 1, 2),
    "graph around a vertex": lambda A: alg.ego_graph(A, A.nrows - 1, 2, center=False),
    "distances": lambda A: alg.sssp(A, 0),
    "distances up to a target": lambda A: alg.sssp(A, 0, target=A.nrows - 1),
    "distances up to a cutoff": lambda A: alg.sssp(A, 0, cutoff=4.5),
    "distances in FP32": lambda A: alg.sssp(A.dup("FP32"), 0, cutoff=6),
    "distances in FP64": lambda A: alg.sssp(A.dup("FP64"), A.nrows // 2),
    "distances of a pattern": lambda A: alg.sssp(A.dup(bool), 0),
    "distances from the nearest": lambda A: alg.multi_source_shortest_paths(A, {0, A.nrows - 1}, weighted=True),
    "distances by Bellman and Ford": lambda A: alg.bellman_ford(A, 0)[0],
    "distances over lengths of any sign": lambda A: alg.bellman_ford(tilted(A), A.nrows // 2)[0],
    "a negative cycle": lambda A: alg.find_negative_cycle(A.apply("minus", right=2).new()).size > 0,
    "no negative cycle": lambda A: alg.find_negative_cycle(tilted(A)).size,
    "no cycle": alg.is_directed_acyclic_graph,
    "generations": lambda A: alg.topological_generations(A.select("triu", 1).new()),
    "independent set": lambda A: alg.maximal_independent_set(A, seed=3),
    "independent set around a vertex": lambda A: alg.maximal_independent_set(A, nodes=[A.nrows - 1], seed=4),
    "labels": alg.label_propagation,
    "communities": lambda A: alg.louvain_communities(A, seed=1),
    "communities by weight": lambda A: alg.louvain_communities(A, 0.7, seed=2, weighted=True),
    "communities by Leiden": lambda A: alg.leiden_communities(A, seed=1),
    "communities by Leiden, by weight": lambda A: alg.leiden_communities(A, 0.7, seed=2, weighted=True),
    "unions of communities": alg.greedy_modularity_communities,
    "unions by weight": lambda A: alg.greedy_modularity_communities(A, 0.7, 2 if A.nrows > 1 else 1, weighted=True),
    "matching": lambda A: alg.maximal_matching(A, seed=3),
    "forest": alg.minimum_spanning_forest,
    "order": lambda A: alg.topological_sort(A.select("triu", 1).new()),
    "triangles": alg.triangles,
    "opposite edges": lambda A: alg.overall_reciprocity(A) if A.nvals else alg.triangle_count(A),
    "number of triangles": alg.triangle_count,
    "share of triples": alg.transitivity,
    "shares of pairs": lambda A: alg.clustering(A.ewise_add(A.T, "first").new()._known_symmetric()),
}
#: Calls whose answers are equal up to rounding.
CLOSE = {
    "ranks": lambda A: alg.pagerank(A, tol=1e-9),
    "ranks by weight": lambda A: alg.pagerank(A, tol=1e-9, weighted=True),
    "ranks, all rounds": lambda A: alg.pagerank(A, tol=None, max_iter=3, dangling=one(A), personalization=one(A)),
    "correlation of degrees": lambda A: np.nan_to_num(alg.degree_assortativity(A)),
    "correlation of degrees in": lambda A: np.nan_to_num(alg.degree_assortativity(A, "in", "out")),
    "modularity": lambda A: alg.modularity(A, gb.Vector.from_dense(np.arange(A.nrows) // 3)),
    "closeness": lambda A: alg.closeness_centrality(A, k=min(A.nrows, 130), seed=1),
    "harmonic closeness": lambda A: alg.harmonic_centrality(A, k=min(A.nrows, 70), seed=1),
    "scores": lambda A: alg.eigenvector_centrality(A, 1000, 1e-4),
    "scores of directed graphs": lambda A: alg.eigenvector_centrality(directed(A), 1000, 1e-4),
    "scores by weight": lambda A: alg.eigenvector_centrality(directed(A), 1000, 1e-4, one(A), weighted=True),
    "walks": lambda A: alg.katz_centrality(A, 0.01, one(A)),
    "walks by weight": lambda A: alg.katz_centrality(A, 1e-5, normalized=False, weighted=True),
    "hubs": lambda A: alg.hits(A)[0],
    "authorities by weight": lambda A: alg.hits(A, weighted=True)[1],
    "common neighbours": lambda A: alg.common_neighbors(A, ahead(A)),
    "common neighbours by weight": lambda A: alg.common_neighbors(A, ahead(A), one(A)),
    "common neighbours by degree": lambda A: alg.resource_allocation_index(A, ahead(A)),
    "common neighbours by the degree's logarithm": lambda A: alg.adamic_adar_index(A, ahead(A)),
    "shares of common neighbours": lambda A: alg.jaccard_coefficient(A, ahead(A)),
    "cosines of common neighbours": lambda A: alg.cosine_similarity(A, ahead(A)),
    "betweenness of edges": lambda A: alg.edge_betweenness_centrality(A, k=min(A.nrows, 20), seed=1),
    "betweenness": lambda A: alg.betweenness_centrality(A, k=min(A.nrows, 20), seed=1),
    "betweenness with ends": lambda A: alg.betweenness_centrality(A, sources=[0, A.nrows - 1], endpoints=True),
}
#: Calls that need a strongly connected graph.
CONNECTED = {
    "eccentricity": alg.eccentricity,
    "diameter": alg.diameter,
    "radius": alg.radius,
    "bound of the diameter": alg.approximate_diameter,
    "bound of the diameter from a vertex": lambda A: alg.approximate_diameter(A, A.nrows // 2, 3),
    "mean distance": alg.average_shortest_path_length,
}


def directed(A):
    return A.dup()._known_symmetric(False)


def tilted(A):
    """Make some lengths negative without a negative cycle: add the difference of the heights of an edge's ends."""
    i, j, values = A.to_coo()
    height = np.arange(A.nrows) * 7 % 5
    return gb.Matrix.from_coo(i, j, values + height[j] - height[i], nrows=A.nrows, ncols=A.nrows, dtype="INT64")


def ahead(A):
    """Return pairs of each vertex with those 0, 1 and 7 numbers ahead."""
    v = np.arange(A.nrows)
    return np.unique(np.concatenate([np.c_[v, (v + k) % v.size] for k in (0, 1, 7)]), axis=0)


def one(A):
    return gb.Vector.from_coo([0], [1.0], size=A.nrows)


def test_ids_are_read_in_any_width() -> None:
    """No loop views ids as another type: ids have 4 bytes in files and 8 in memory, so a view would misread one."""
    for path in Path(orders.__file__).parent.glob("*.py"):
        assert "indices.view" not in path.read_text(), path.name


@pytest.fixture
def compiled(monkeypatch):
    """Return a function that turns the loops on, and lists in ``ran`` the loops that ran."""
    ran = []
    run, run_arrays = cpu_loops.run_loop, cpu_loops.run_arrays

    def listed(store, loop, *given):
        ran.append(loop.__name__)
        return run(store, loop, *given)

    def listed_arrays(loop, *given):
        ran.append(loop.__name__)
        return run_arrays(loop, *given)

    def begin():
        monkeypatch.setattr(cpu_loops, "pays", lambda _: True)
        monkeypatch.setattr(cpu.engine(), "run_loop", listed, raising=False)
        monkeypatch.setattr(cpu.engine(), "run_arrays", listed_arrays, raising=False)

    begin.ran = ran
    return begin


def graph(name):
    if name in GRAPHS:
        return matrix(GRAPHS[name])
    found = loaded(name)
    return found[0] if isinstance(found, tuple) else found


def is_same(one, other, exactly):
    if not isinstance(one, gb.Vector | gb.Matrix):
        return one == other if exactly else np.isclose(one, other)
    return one.isequal(other, check_dtype=True) if exactly else one.isclose(other, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_loops_give_the_statements_answers(name, compiled, monkeypatch):
    """Loops answer as statements do, both compiled and interpreted by Python, which runs them over few entries."""
    A = graph(name)
    tried = {what: (call, what in EQUAL) for what, call in (EQUAL | CLOSE).items()}
    if name in ("one vertex", "shuffled path"):
        tried |= {what: (call, True) for what, call in CONNECTED.items()}
    if not A.nvals:
        for what in ("modularity", *(what for what in tried if "communities" in what), "unions by weight"):
            del tried[what]  # undefined without edges
    expected = {what: call(A) for what, (call, _) in tried.items()}
    with monkeypatch.context() as python:
        for setting, value in (("_FEW", 1_000), ("_MANY", 0), ("_ran", set()), ("_machine_code", None)):
            python.setattr(cpu_loops, setting, value)
        for what, (call, exactly) in tried.items():
            if not what.startswith(("communities", "ranks")):  # their loops run only compiled
                assert is_same(expected[what], call(A), exactly), what
    compiled()
    for what, (call, exactly) in tried.items():
        compiled.ran.clear()
        assert is_same(expected[what], call(A), exactly), what
        assert compiled.ran, f"{what}: no loop ran"


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_of_undirected_graphs_are_the_leading_eigenvector(weighted, compiled):
    A = graph("random 150, both ways").dup("FP64")._known_symmetric()
    values, vectors = np.linalg.eigh(A.to_dense(0.0) if weighted else A.dup(bool).to_dense(False).astype(float))
    compiled()
    scores = alg.eigenvector_centrality(A, 1000, 1e-14, weighted=weighted)
    assert set(compiled.ran) == {"powers", "krylov"}
    assert values[-1] > 1.1 * values[-2]
    np.testing.assert_allclose(scores.to_dense(), np.abs(vectors[:, -1]), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("by", ["loops", "statements"])
@pytest.mark.parametrize("weighted", [False, True])
def test_eigenvectors_where_the_power_method_needs_thousands_of_rounds(weighted, by, compiled, monkeypatch):
    """On a grid, whose largest eigenvalues are close, scores are right; a vertex without edges gets 0."""
    compiled()
    if by == "statements":
        monkeypatch.setattr(cpu.engine(), "run_loop", lambda *_: None, raising=False)
    S = gb.io.read("grid:12x40").dup("FP64")
    i, j, _ = S.to_coo()
    values = 1 + (i + j) % 3 if weighted else 1.0
    A = gb.Matrix.from_coo(i, j, values, dtype="FP64", nrows=481, ncols=481)._known_symmetric()
    operator = A.to_dense(0.0)
    most, vectors = np.linalg.eigh(operator)
    assert most[-1] < 1.01 * most[-2]
    scores = alg.eigenvector_centrality(A, 2000, 1e-13, weighted=weighted).to_dense()
    np.testing.assert_allclose(scores, np.abs(vectors[:, -1]), atol=1e-7)
    assert compiled.ran == [] if by == "statements" else compiled.ran.count("krylov") > 1
    with pytest.raises(gb.exceptions.ConvergenceFailure, match="after max_iter = 2000 iterations the scores still"):
        alg.eigenvector_centrality(A._known_symmetric(False), 2000, 1e-13, weighted=weighted)


@pytest.mark.parametrize("dtype", ["INT64", "FP64"])
def test_least_cuts(dtype, compiled):
    A = matrix(both_ways(at_random(30, 120))).dup(dtype)
    expected = alg.stoer_wagner(A)[0]
    compiled()
    cut, part = alg.stoer_wagner(A)
    assert compiled.ran == ["least_cut"]
    assert type(cut) is type(expected)
    assert np.isclose(cut, expected)
    side = part.to_dense(False)
    assert 0 < side.sum() < A.nrows
    assert np.isclose(np.triu(np.maximum(W := A.to_dense(0), W.T))[side[:, None] != side].sum(), cut)


def test_long_loops_are_called_in_portions(compiled, monkeypatch):
    """Loops return between portions, where Python handles interrupts; each portion has work for all threads."""
    A = graph("random 150, both ways")._known_symmetric()
    calls = {
        "brandes": lambda: alg.betweenness_centrality(A, sources=range(9)),
        "counts": lambda: alg.closeness_centrality(A),
        "powers": lambda: alg.katz_centrality(A, 0.01, tol=1e-9),
    }
    compiled()
    whole = {name: call() for name, call in calls.items()}
    assert compiled.ran == list(calls)
    monkeypatch.setattr(engine_loops, "_READ", 0)
    monkeypatch.setattr(_multi_source_bfs, "processors", lambda _: 2)
    assert [piece for piece, _ in _multi_source_bfs.loop_pieces(A, range(5), 5)] == [
        range(2),
        range(2, 4),
        range(4, 5),
    ]
    for (name, call), portions in zip(calls.items(), (5, 2, 2), strict=True):
        compiled.ran.clear()
        assert call().isclose(whole[name])
        assert set(compiled.ran) == {name}
        assert len(compiled.ran) >= portions


@pytest.mark.parametrize("searches", [1, 64])
def test_the_extremes_of_eccentricities(searches, compiled, monkeypatch):
    monkeypatch.setattr(import_module("sparsezc.algorithms.eccentricity"), "_SEARCHES", searches)
    compiled()
    for seed in range(6):
        for G in (nx.connected_watts_strogatz_graph(70, 4, 0.1, seed=seed), nx.random_labeled_tree(60, seed=seed)):
            i, j = np.array(G.to_directed(as_view=True).edges).T
            A = gb.Matrix.from_coo(i, j, True, nrows=len(G), ncols=len(G))._known_symmetric()
            assert (alg.diameter(A), alg.radius(A)) == (nx.diameter(G), nx.radius(G))
    assert {"longest", "least"} <= set(compiled.ran)


def test_exchanges_of_ends(compiled):
    """The compiled loop equals the same loop run by Python."""
    A = graph("random 150, both ways")
    expected = alg.double_edge_swap(A, 900, seed=2)
    compiled()
    assert alg.double_edge_swap(A, 900, seed=2).isequal(expected)
    assert compiled.ran[-3:] == ["ends_of", "exchanges", "rows_of"]


def test_python_runs_loops_without_numpy_s_warnings(monkeypatch):
    monkeypatch.setattr(cpu_loops, "_FEW", 600)
    A = gb.Matrix.from_coo([0, 1], [1, 2], [1.7e308, 1.7e308], nrows=3, ncols=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert alg.sssp(A, 0).to_dict() == {0: 0.0, 1: 1.7e308}


def test_exchanges_in_a_matrix_of_2_to_the_40_rows():
    A = gb.Matrix.from_coo([0, 1, 2, 2**40 - 1], [1, 0, 2**40 - 1, 2], True, nrows=2**40, ncols=2**40)
    found = alg.double_edge_swap(A, 1, seed=1)
    assert found.nvals == 4
    assert set(found.to_coo()[0].tolist()) == {0, 1, 2, 2**40 - 1}
    assert not found.isequal(A)


@pytest.mark.parametrize("name", ["random 12", "random 60, both ways"])
def test_all_pairs(name, compiled):
    A = graph(name)
    expected = alg.all_pairs_shortest_paths(A)
    compiled()
    assert alg.all_pairs_shortest_paths(A).isequal(expected, check_dtype=True)
    assert compiled.ran == ["distances"] * A.nrows


def test_all_pairs_end_where_memory_does(compiled, monkeypatch):
    """Memory grows with the distances found: 1,000 vertices without edges fit the budget, 150 with edges do not."""
    monkeypatch.setattr(import_module("sparsezc.algorithms.all_pairs_shortest_paths"), "_UNCHECKED", 0)
    compiled()
    with gb.config.set(host_budget=100_000):
        assert alg.all_pairs_shortest_paths(gb.Matrix("INT64", 1000, 1000)).nvals == 1000
        with pytest.raises(gb.exceptions.OutOfMemory, match=r"distances from \d+ of 150 vertices needs"):
            alg.all_pairs_shortest_paths(graph("random 150"))


@pytest.mark.parametrize("name", ["random 150", "random 60, both ways"])
def test_parents_are_on_shortest_paths(name, compiled):
    A = graph(name)
    level, distance = alg.bfs(A, 0), alg.sssp(A, 0)
    compiled()
    tree, (found, parent) = alg.bfs_parents(A, 0), alg.bellman_ford(A, 0)
    assert compiled.ran == ["parents", "distances"]
    for parents, depth, length in ((tree, level, None), (parent, distance, A)):
        v, p = (part.astype(int) for part in parents.to_coo())
        assert np.array_equal(v, depth.to_coo()[0])
        depth, v, p = depth.to_dense(-1), v[v != 0], p[v != 0]
        step = 1 if length is None else length.to_dense(-1)[p, v]
        assert np.array_equal(depth[v], depth[p] + step)
        assert all(A.get(i, j) is not None for i, j in zip(p, v, strict=True))
    assert found.isequal(distance)


def test_lengths_that_loops_do_not_take(compiled):
    """Statements, not loops, take negative lengths and integers whose sums might wrap around."""
    compiled()
    A = gb.Matrix.from_edgelist([(0, 1), (0, 2), (2, 1)], [4, 5, -3], nrows=3, ncols=3)
    assert alg.sssp(A, 0).to_dict() == {0: 0, 1: 2, 2: 5}
    B = gb.Matrix.from_edgelist([(0, 1)], [2**62], nrows=2, ncols=2)
    assert alg.sssp(B, 0).to_dict() == {0: 0, 1: 2**62}
    assert not compiled.ran


def test_a_failure_to_converge_is_told_alike(compiled):
    A = graph("random 60")
    for begin in (lambda: None, compiled):
        begin()
        with pytest.raises(gb.exceptions.ConvergenceFailure, match="after max_iter = 2 iterations the scores still"):
            alg.eigenvector_centrality(A, tol=1e-12, max_iter=2)
        with pytest.raises(gb.exceptions.ConvergenceFailure, match="after max_iter = 2 iterations the scores still"):
            alg.katz_centrality(A, 0.01, tol=1e-12, max_iter=2)
        with pytest.raises(gb.exceptions.ConvergenceFailure, match="after max_iter = 2 iterations the ranks still"):
            alg.pagerank(A, tol=1e-12, max_iter=2)


def test_scores_that_overflow_do_not_converge(compiled):
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1e300, 1e300, 1.0], nrows=3, ncols=3)
    for begin in (lambda: None, compiled):
        begin()
        with pytest.raises(gb.exceptions.ConvergenceFailure):
            alg.eigenvector_centrality(A, weighted=True)


def test_rounds_are_counted_by_any_integer(compiled):
    A = graph("random 12")
    ranks = alg.pagerank(A)
    for begin in (lambda: None, compiled):
        begin()
        assert alg.pagerank(A, max_iter=10**20).isclose(ranks)
        with pytest.raises(gb.exceptions.DomainMismatch, match=r"max_iter is 50\.0; an integer is needed"):
            alg.pagerank(A, max_iter=50.0)


def test_rows_without_entries_take_no_memory(compiled):
    """Statements run on 2^40 rows; a loop would allocate an element for each row, reached or not."""
    n = 2**40
    A = gb.Matrix.from_coo([0, 1, n // 2], [1, n // 2, 0], [1, 2, 3], nrows=n, ncols=n)
    compiled()
    assert alg.bfs(A, 0).to_dict() == {0: 0, 1: 1, n // 2: 2}
    assert alg.bfs_parents(A, 1).to_dict() == {1: 1, n // 2: 1, 0: n // 2}
    assert alg.overall_reciprocity(A) == 0
    assert alg.resource_allocation_index(A, [(0, 1), (0, 2)]).nvals == 0
    assert alg.topological_generations(A.select("triu").new()[:2, :2].new()).to_dict() == {0: 0, 1: 1}


def test_statements_run_where_memory_is_short_for_a_loop(compiled, monkeypatch):
    A = graph("random 12")
    compiled()
    monkeypatch.setattr(cpu_loops, "_SMALL", 0)
    assert engine_loops.run_loop(orders.cores, A, times=0.01) is not None
    with gb.config.set(host_budget=100):
        assert engine_loops.run_loop(orders.cores, A, times=0.01) is None


def test_ids_are_made_shorter_where_memory_has_room(compiled, monkeypatch):
    """Shorter ids count toward the loop's memory; where they do not fit, the answers are the same without them."""
    A, given = graph("random 150, both ways")._known_symmetric(), []
    shorter = 64 * A.nrows + 4 * A.nvals

    def run_loop(*args, **options):
        given.append(args[5]())
        return original(*args, **options)

    compiled()
    original = engine_loops.run_loop
    monkeypatch.setattr(engine_loops, "run_loop", run_loop)
    found = []
    for space in (shorter, shorter - 1):
        with gb.config.set(host_budget=space):
            found.append((alg.katz_centrality(A, 0.01), alg.eigenvector_centrality(A, 1000)))
    assert set(compiled.ran) >= {"powers"}
    half = len(given) // 2
    assert set(given[:half]) == {(True, True)}
    assert set(given[half:]) == {(True, False)}
    for one, other in zip(*found, strict=True):
        assert one.isequal(other)
    with gb.config.set(host_budget=shorter):
        assert _iterate.rows_of(A, True, 9)() == _iterate.rows_of(A, False, 4)() == (True, False)
        assert _iterate.rows_of(graph("random 150"), False, 9)() == (False, False)


@pytest.mark.parametrize(
    ("format", "sparsity", "by"),
    [
        ("csr", "sparse", "row"),
        ("csc", "sparse", "col"),
        ("hypercsr", "hypersparse", "row"),
        ("bitmapr", "bitmap", "row"),
    ],
)
def test_a_matrix_in_any_format_is_left_as_it_was(format, sparsity, by, compiled):
    A = gb.Matrix.from_coo([4, 4, 90], [90, 7, 4], [2, 3, 4], nrows=100, ncols=100)
    expected = A.dup()
    A._store.ss.config["format"] = f"by_{by}"
    A._store.ss.config["sparsity_control"] = sparsity
    before = A._store.ss.format
    compiled()
    assert alg.sssp(A, 4).to_dict() == {4: 0, 7: 3, 90: 2}
    assert A._store.ss.format == before == format
    assert A.isequal(expected)


@pytest.mark.parametrize(("taken", "statements", "runs"), [(0, 0.1e9, False), (0, 1e9, True), (10e9, 0.1e9, True)])
def test_loops_run_once_starting_the_compiler_pays(taken, statements, runs, monkeypatch):
    monkeypatch.setattr(cpu_loops, "_machine_code", cache(lambda _: None))
    monkeypatch.setattr(cpu_loops.time, "process_time_ns", lambda: taken)
    assert loops_pay(statements) is runs


def test_loops_run_where_one_has_run(monkeypatch):
    known = cache(lambda _: None)
    known(0)
    monkeypatch.setattr(cpu_loops, "_machine_code", known)
    assert loops_pay(0) is True


def test_threads_share_searches(compiled, monkeypatch):
    monkeypatch.setattr(cpu_loops, "processors", lambda most: 3)
    monkeypatch.setattr(cpu_loops, "_ALONE", 0)
    A = graph("random 150")
    expected = alg.betweenness_centrality(A)
    compiled()
    assert alg.betweenness_centrality(A).isclose(expected, rel_tol=1e-9, abs_tol=1e-12)
    level, met = np.empty(150, np.int32), np.zeros(150, bool)
    each = engine_loops.run_loop(searches.levels, A, level, met, np.array([0]), 9)
    assert each[3] == alg.bfs(A, 0).nvals


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_share_rounds_of_ranks(symmetric, weighted, compiled, monkeypatch):
    """The number of threads changes no bit. Without memory for the rows of A', one thread pushes along those of A."""
    A = graph("random 150")
    if symmetric:
        A = A.ewise_add(A.T, "plus").new()._known_symmetric()
    how = {"tol": 1e-12, "weighted": weighted, "dangling": one(A), "max_iter": 1000}
    expected = alg.pagerank(A, **how)
    compiled()
    alone = alg.pagerank(A, **how)
    with monkeypatch.context() as short:
        short.setattr(import_module("sparsezc.algorithms.pagerank"), "has_host", lambda _: False)
        assert alg.pagerank(A, **how).isclose(expected, rel_tol=1e-9)
    monkeypatch.setattr(cpu_loops, "processors", lambda most: 3)
    monkeypatch.setattr(cpu_loops, "_ALONE", 1)
    compiled.ran.clear()
    assert alg.pagerank(A, **how).isequal(alone)
    assert alone.isclose(expected, rel_tol=1e-9)
    assert compiled.ran[-1] == "pagerank"
    assert ("transposed" in compiled.ran) is not symmetric


def test_an_engine_without_loops_runs_statements(monkeypatch):
    monkeypatch.delattr(type(cpu.engine()).__mro__[1], "run_loop")
    A = graph("random 12")
    assert engine_loops.run_loop(orders.cores, A, times=1e10) is None
    assert alg.core_number(A).nvals == 12
