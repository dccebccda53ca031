"""The benchmarks' verifiers accept right answers and refuse planted wrong ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph

from benchmarks.verify import answers
from benchmarks.verify.answers import Edges, Undecided, Wrong
from sparsezc.memory.csr import Csr


def random_graph(seed: int, directed: bool, n: int = 60, m: int = 110) -> sp.csr_matrix:
    """Return a sparse random graph with several components and lengths 1 to 9."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 10, m)
    matrix = sp.coo_matrix((weights, rng.integers(0, n, (2, m))), shape=(n, n)).tocsr()
    matrix.sum_duplicates()
    if not directed:
        matrix = matrix.maximum(matrix.T).tocsr()
    matrix.sort_indices()
    return matrix


def edges_of(matrix: sp.csr_matrix, part: int = 17) -> Edges:
    """Return the edges of a matrix in edge chunks whose ends fall inside rows."""
    csr = Csr.from_arrays(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1])
    return Edges(csr, np, part)


def levels(matrix: sp.csr_matrix, source: int) -> np.ndarray:
    found = csgraph.shortest_path(matrix, indices=source, unweighted=True)
    return np.where(np.isinf(found), -1, found).astype(np.int32)


def distances(matrix: sp.csr_matrix, source: int) -> tuple[np.ndarray, np.ndarray]:
    found = csgraph.dijkstra(matrix, indices=source)
    return np.where(np.isinf(found), 0, found).astype(np.int64), np.isfinite(found)


def smallest_labels(matrix: sp.csr_matrix) -> np.ndarray:
    count, group = csgraph.connected_components(matrix, directed=True, connection="weak")
    smallest = np.full(count, matrix.shape[0])
    np.minimum.at(smallest, group, np.arange(matrix.shape[0]))
    return smallest[group]


def power_iteration(matrix: sp.csr_matrix, iterations: int) -> np.ndarray:
    n = matrix.shape[0]
    pattern = (matrix != 0).astype(float)
    degree = np.asarray(pattern.sum(axis=1)).ravel()
    rank = np.full(n, 1 / n)
    for _ in range(iterations):
        dangling = rank[degree == 0].sum()
        rank = 0.85 * (pattern.T @ (rank / np.maximum(degree, 1)) + dangling / n) + 0.15 / n
    return rank


GRAPHS = [(seed, directed) for seed in range(4) for directed in (False, True)]


@pytest.mark.parametrize("part", [1, 17, 10**6])
def test_chunks_hold_every_entry_once(part: int) -> None:
    matrix = random_graph(3, directed=True)
    chunks = list(edges_of(matrix, part))
    rows, columns, values = (np.concatenate(each) for each in zip(*chunks, strict=True))
    coo = matrix.tocoo()
    assert (rows == coo.row).all()
    assert (columns == coo.col).all()
    assert (values == coo.data).all()


@pytest.mark.parametrize(("seed", "directed"), GRAPHS)
def test_right_answers_are_accepted(seed: int, directed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = random_graph(seed, directed)
    edges, n = edges_of(matrix), matrix.shape[0]
    for source in range(0, n, 7):
        answers.bfs(edges, levels(matrix, source), source)
        answers.sssp(edges, *distances(matrix, source), source)
    x = (1 + np.arange(n) % 7).astype(np.float32)
    answers.product(edges, x, (matrix @ x).astype(np.float32), pattern=False)
    answers.product(edges, x, ((matrix != 0) @ x).astype(np.float32), pattern=True)
    for small in (answers.SMALL, 0):  # judged by SciPy and plain iterations, then as large graphs are
        monkeypatch.setattr(answers, "SMALL", small)
        answers.components(edges, smallest_labels(matrix))
        answers.pagerank(edges, power_iteration(matrix, 20), 0.85, 20)


def test_floating_lengths_are_judged_with_a_tolerance() -> None:
    matrix = random_graph(1, directed=True)
    matrix.data = (matrix.data / 7).astype(np.float32)
    found = csgraph.dijkstra(matrix, indices=0)
    reached = np.isfinite(found)
    answers.sssp(edges_of(matrix), np.where(reached, found, 0).astype(np.float32), reached, 0)
    with pytest.raises(Wrong):
        answers.sssp(edges_of(matrix), np.where(reached & (found > 0), found * 1.01, 0), reached, 0)


@pytest.mark.parametrize(("seed", "directed"), GRAPHS)
def test_any_single_change_of_bfs_is_refused(seed: int, directed: bool) -> None:
    matrix = random_graph(seed, directed)
    right = levels(matrix, 5)
    for vertex in range(len(right)):
        for planted in {-1, right[vertex] - 1, right[vertex] + 1, 0, 10**6} - {right[vertex]}:
            wrong = right.copy()
            wrong[vertex] = planted
            with pytest.raises(Wrong):
                answers.bfs(edges_of(matrix), wrong, 5)


@pytest.mark.parametrize(("seed", "directed"), GRAPHS)
def test_of_all_parents_of_a_vertex_just_those_one_level_up_are_accepted(seed: int, directed: bool) -> None:
    matrix = random_graph(seed, directed)
    level, (_, right) = levels(matrix, 5), csgraph.breadth_first_order(matrix, 5)
    right = np.where(right < 0, -1, right).astype(np.int64)
    right[5] = 5
    edges = edges_of(matrix)
    answers.bfs_parents(edges, right, 5)
    there = matrix.toarray() != 0
    for vertex in range(len(right)):
        for planted in set(range(-2, len(right) + 1)) - {right[vertex]}:
            wrong = right.copy()
            wrong[vertex] = planted
            is_one = 0 <= planted < len(right) and there[planted, vertex] and 0 <= level[planted] == level[vertex] - 1
            if is_one:
                answers.bfs_parents(edges, wrong, 5)
            else:
                with pytest.raises(Wrong):
                    answers.bfs_parents(edges, wrong, 5)


def test_parents_that_go_round_in_a_circle_are_refused() -> None:
    pairs = sp.csr_matrix((np.ones(4), ([0, 1, 2, 3], [1, 0, 3, 2])), shape=(4, 4))
    answers.bfs_parents(edges_of(pairs), np.array([0, 0, -1, -1]), 0)
    with pytest.raises(Wrong, match="do not lead to the source"):
        answers.bfs_parents(edges_of(pairs), np.array([0, 0, 3, 2]), 0)


@pytest.mark.parametrize(("seed", "directed"), GRAPHS)
def test_any_single_change_of_sssp_is_refused(seed: int, directed: bool) -> None:
    matrix = random_graph(seed, directed)
    right, reached = distances(matrix, 5)
    for vertex in np.flatnonzero(reached):
        for planted in (right[vertex] - 1, right[vertex] + 1):
            wrong = right.copy()
            wrong[vertex] = planted
            with pytest.raises(Wrong):
                answers.sssp(edges_of(matrix), wrong, reached, 5)
    for vertex in range(len(right)):
        flipped = reached.copy()
        flipped[vertex] = not flipped[vertex]
        with pytest.raises(Wrong):
            answers.sssp(edges_of(matrix), right, flipped, 5)


def test_lengths_that_are_not_positive_are_not_judged() -> None:
    matrix = random_graph(0, directed=True)
    matrix.data[3] = 0
    with pytest.raises(Undecided, match="not positive"):
        answers.sssp(edges_of(matrix), *distances(random_graph(0, directed=True), 5), 5)


def relabel(change: Callable[[np.ndarray, int, int], None]) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that plants `change` in an answer; the change gets the two smallest labels, in order."""

    def plant(label: np.ndarray) -> np.ndarray:
        wrong = label.copy()
        first, second = np.unique(label)[:2]
        change(wrong, first, second)
        return wrong

    return plant


def _merge(label: np.ndarray, first: int, second: int) -> None:
    label[label == second] = first


def _split(label: np.ndarray, first: int, _second: int) -> None:
    members = np.flatnonzero(label == first)
    label[members[1:]] = members[1]


def _not_smallest(label: np.ndarray, first: int, _second: int) -> None:
    members = np.flatnonzero(label == first)
    label[members] = members[-1]


def _out_of_range(label: np.ndarray, _first: int, _second: int) -> None:
    label[-1] = -1


@pytest.mark.parametrize("small", [answers.SMALL, 0])
@pytest.mark.parametrize("change", [_merge, _split, _not_smallest, _out_of_range])
@pytest.mark.parametrize("directed", [False, True])
def test_wrong_components_are_refused(
    change: Callable[[np.ndarray, int, int], None], directed: bool, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "SMALL", small)
    matrix = random_graph(2, directed)
    with pytest.raises(Wrong):
        answers.components(edges_of(matrix), relabel(change)(smallest_labels(matrix)))


def test_components_deeper_than_the_passes_are_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "SMALL", 0)
    monkeypatch.setattr(answers, "PASSES", 2)
    n = 40
    order = np.r_[0, np.arange(n - 1, 0, -1)]  # a path stored against the direction in which labels spread
    path = sp.coo_matrix((np.ones(n - 1), (order[1:], order[:-1])), shape=(n, n)).tocsr()
    with pytest.raises(Undecided, match="2 passes"):
        answers.components(edges_of(path, 1), np.zeros(n, np.int64))


@pytest.mark.parametrize("small", [answers.SMALL, 0])
def test_wrong_ranks_are_refused(small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "SMALL", small)
    matrix = random_graph(0, directed=True)
    right = power_iteration(matrix, 20)
    n = right.size
    swapped, negative, missing = right.copy(), right.copy(), right.copy()
    swapped[[right.argmin(), right.argmax()]] = right.max(), right.min()
    negative[0] = -negative[0]
    missing[3] = np.nan
    for wrong in (np.full(n, 1 / n), swapped, right * 1.01, negative, missing, right[:-1]):
        with pytest.raises(Wrong):
            answers.pagerank(edges_of(matrix), wrong, 0.85, 20)


def test_too_few_iterations_are_refused_where_they_can_be_repeated() -> None:
    matrix = random_graph(0, directed=True)
    with pytest.raises(Wrong, match="plain iterations"):
        answers.pagerank(edges_of(matrix), power_iteration(matrix, 19), 0.85, 20)


def test_ranks_that_one_more_step_changes_too_much_are_refused() -> None:
    """GAP's rule: one more step may change the ranks by a tolerance at most."""
    matrix = random_graph(0, directed=True)
    answers.pagerank_step(edges_of(matrix), power_iteration(matrix, 60), 0.85, 1e-4)
    early = power_iteration(matrix, 3)
    for wrong in (early, early * 1.01, np.full_like(early, np.nan), early[:-1]):
        with pytest.raises(Wrong):
            answers.pagerank_step(edges_of(matrix), wrong, 0.85, 1e-4)


def test_a_wrong_product_is_refused() -> None:
    matrix = random_graph(0, directed=True)
    x = np.ones(matrix.shape[0], np.float32)
    right = (matrix @ x).astype(np.float32)
    for vertex in range(right.size):
        wrong = right.copy()
        wrong[vertex] += 1
        with pytest.raises(Wrong):
            answers.product(edges_of(matrix), x, wrong, pattern=False)
