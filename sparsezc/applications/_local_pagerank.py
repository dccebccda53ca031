"""l1-regularised PageRank near seeds: by the engine, by compiled loops, or by arrays of pairs (seed, vertex)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms._degree import out_degree
from sparsezc.algorithms.loops import local_pagerank as loops
from sparsezc.core import engine_loops
from sparsezc.core.matrix import Matrix
from sparsezc.exceptions import ConvergenceFailure
from sparsezc.memory.budget import require_host
from sparsezc.terminal.progress import steps

__all__ = ["Found", "Ints", "Problem", "solutions"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_STEPS = 10  # steps from one that computes pairs beyond the inside ones to the next: rows are read in few requests
_ENTRY_BYTES = 48  # bytes for each entry of the rows that are read: its id, and the data of the vertex there
_TABLE = 1 << 11  # slots of the first hash table of vertices; one seed often meets no more vertices


class Problem(NamedTuple):
    """The seeds, and the parameters of the solutions."""

    n: int
    seeds: Ints
    alpha: float
    rho: float
    tol: float
    max_iter: int

    @property
    def most(self) -> float:
        """The largest growth of an entry of Y in a step that counts as none."""
        return self.tol * self.rho * self.alpha

    def require(self, entries: int) -> None:
        """Raise OutOfMemory if host memory is short for rows of `entries` entries in all, and their vertices."""
        require_host(_ENTRY_BYTES * entries, f"local_clustering: {entries:,} entries near {self.seeds.size:,} seeds")

    def failure(self, grown: float) -> ConvergenceFailure:
        return ConvergenceFailure(
            f"after max_iter = {self.max_iter} iterations the gradient is still {grown / (self.rho * self.alpha):.3g} "
            f"of rho * alpha beyond its bound; at most tol = {self.tol:g} is needed"
        )


class Found(NamedTuple):
    """Pairs (seed, vertex) of some seeds' solutions, in any order: position of the seed, vertex, its degree, and y.

    `seeds`: the number of seeds. `ends` takes the rank of each pair in some order, in which the pairs of a seed are
    consecutive, and returns by rank the number of entries between the pair and pairs of the same seed of lower rank.
    """

    seeds: int
    seed: Ints
    vertex: Ints
    degree: Ints
    y: Floats
    ends: Callable[[Ints], Ints]


class _Rows(Protocol):
    """A reader of single rows of a matrix."""

    def ends(self, vertices: Ints) -> Ints:
        """Return the begin and the end of each vertex's row, shape (vertices, 2)."""

    def read(self, vertices: Ints, ends: Ints) -> tuple[Ints, NDArray[Any]]:
        """Return each row's begin and end in an array of ids, and this array; `ends`: as :meth:`ends` returns."""


class _Extracted:
    """Rows that statements extract; each begins at 0 until it is read."""

    def __init__(self, S: Matrix) -> None:
        self._S, self._degree = S, out_degree(S)

    def ends(self, vertices: Ints) -> Ints:
        degree = self._degree[vertices].new().to_dense(0)
        return np.column_stack((np.zeros_like(degree), degree))

    def read(self, vertices: Ints, ends: Ints) -> tuple[Ints, NDArray[Any]]:
        starts, ids, _ = self._S[vertices, :].new().to_csr()
        return np.column_stack((starts[:-1], starts[1:])).astype(np.int64), ids


class _Lent:
    """Rows that are read in place, in host memory."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows

    def ends(self, vertices: Ints) -> Ints:
        return np.column_stack(self._rows.ends(vertices))

    def read(self, vertices: Ints, ends: Ints) -> tuple[Ints, NDArray[Any]]:
        return ends, self._rows.indices


def solutions(S: Matrix, problem: Problem) -> Iterator[Found]:
    """Yield the solutions of consecutive seeds, as many together as fit in memory."""
    limits = problem.alpha, problem.rho, problem.most, problem.max_iter, _STEPS
    left, failed, far = problem.seeds, False, 0.0
    while left.size and (found := engine_loops.local_pagerank(S, left, limits)) is not None:
        seeds = found.sizes.size
        if not (failed := failed or not found.settled):
            seed = np.repeat(np.arange(seeds), found.sizes)
            yield Found(seeds, seed, found.vertex, found.degree, found.y, found.ends)
        far, left = max(far, found.grown), left[seeds:]
        del found  # free its device arrays before the next ones are made
    if failed:
        raise problem.failure(far)
    if left.size:
        with _reading(S) as rows:
            rest = problem._replace(seeds=left)
            yield _by_loops(S, rows, rest) or _by_arrays(rows, rest)


@contextmanager
def _reading(S: Matrix) -> Iterator[_Rows]:
    """Lend the rows of a matrix, in place if the host can read them; no statement may use the matrix meanwhile."""
    with engine_loops.lent_rows(S) as rows:
        yield _Extracted(S) if rows is None else _Lent(rows)


def _by_loops(S: Matrix, rows: _Rows, problem: Problem) -> Found | None:
    """Solve each seed by compiled loops, alternately with reads of the rows that all seeds need; None without loops."""
    alpha, rho, seeds = problem.alpha, problem.rho, problem.seeds

    def run(loop: Callable[..., Any], *given: Any) -> Any:
        return engine_loops.run_arrays(loop, S, *given, times=seeds.size / rho)

    table, known, ids = np.full(_TABLE, -1, np.int32), np.empty(_TABLE // 2, np.int64), np.empty(_TABLE, np.uint32)
    first = run(loops.number, table, known, 0, ids, 0, np.array([[0, seeds.size]]), seeds.copy())
    if first is None:
        return None
    table, known, count, ids = first
    at, lines = ids[: seeds.size].astype(np.int64), rows.ends(known[:count])
    degree = lines[:, 1] - lines[:, 0]
    place, starts = np.full(count, -1), np.zeros(1, np.int64)
    state = (
        np.zeros(seeds.size + 1, np.int64), np.empty(0, np.int32), np.empty(0),
        np.zeros(seeds.size, np.int64), np.zeros(seeds.size),
    )  # fmt: skip
    limits = alpha, rho, problem.most, min(problem.max_iter, 2**62), _STEPS
    while True:
        *state, wanted = run(loops.advance, (place, starts, ids), degree, at, tuple(state), limits)
        if not wanted.size:
            break
        before, wanted = count, wanted[np.argsort(known[wanted])]
        problem.require(int(starts[-1] + degree[wanted].sum()))
        asked, columns = rows.read(known[wanted], lines[wanted])
        table, known, count, ids = run(loops.number, table, known, count, ids, starts[-1], asked, columns)
        place[wanted] = starts.size - 1 + np.arange(wanted.size)
        place = np.concatenate((place, np.full(count - before, -1)))
        starts = np.concatenate((starts, starts[-1] + np.cumsum(degree[wanted])))
        lines = np.concatenate((lines, rows.ends(known[before:count])))
        degree = lines[:, 1] - lines[:, 0]
    begin, inside, y, steps, grown = state
    if (failed := steps >= 0).any():
        raise problem.failure(grown[failed].max())

    def ends(rank: Ints) -> Ints:
        made: Ints = run(loops.later_ends, (place, starts, ids), begin, inside, rank)
        return made

    seed = np.repeat(np.arange(seeds.size), np.diff(begin))
    return Found(seeds.size, seed, known[inside], degree[inside], y, ends)


def _by_arrays(rows: _Rows, problem: Problem) -> Found:
    """Solve all seeds together, step by step: the reference."""
    near = _Near(rows, problem)
    y = _solved(near, problem)
    inside = near.inside

    def ends(rank: Ints) -> Ints:
        flows, ranks = near.flows(), np.full(near.vertex.size, -1)
        ranks[inside] = rank
        one, other = ranks[flows.indices], np.repeat(rank, np.diff(flows.indptr))
        return np.bincount(np.maximum(one, other)[one >= 0], minlength=rank.size)

    return Found(problem.seeds.size, near.seed[inside], near.vertex[inside], near.degree[inside], y, ends)


class _Near:
    """The pairs of a seed and a vertex near it, numbered as they are met; only rows of inside pairs are read.

    Attributes
    ----------
    seed, vertex, degree : arrays
        Of each pair: the position of the seed, the vertex, and its degree.
    lines : array
        The begin and the end of the row of each pair's vertex.
    source : array
        alpha s D^-1 - rho alpha at each pair.
    inside : array
        The pairs whose rows have been read, in the order of reading.
    """

    def __init__(self, rows: _Rows, problem: Problem) -> None:
        self._from, self._require, self.n, seeds = rows, problem.require, problem.n, problem.seeds
        self.alpha, self.rho = problem.alpha, problem.rho
        self._sorted = self._number = np.empty(0, np.int64)
        self.seed = self.vertex = self.degree = self.inside = np.empty(0, np.int64)
        self.lines, self.source = np.empty((0, 2), np.int64), np.empty(0)
        # (1 - alpha)/2 D^-1 S: a column for each inside pair, whose rows are the pairs of its neighbours
        self._starts, self._rows, self._values = np.zeros(1, np.int64), np.empty(0, np.int64), np.empty(0)
        numbers = self._numbers(np.arange(seeds.size) * self.n + seeds)
        with np.errstate(divide="ignore"):
            self.source[numbers] += np.where(self.degree[numbers] > 0, self.alpha / self.degree[numbers], 0)

    def _numbers(self, keys: Ints) -> Ints:
        """Return the number of each pair, given as seed * n + vertex; new pairs get the next ones."""
        keys, which = _unique(keys)
        at = np.searchsorted(self._sorted, keys)
        is_new = np.r_[self._sorted, -1][at] != keys
        new = keys[is_new]
        numbers: Ints = np.r_[self._number, -1][at]
        numbers[is_new] = self.vertex.size + np.arange(new.size)
        self._sorted = np.insert(self._sorted, at[is_new], new)
        self._number = np.insert(self._number, at[is_new], numbers[is_new])
        seed, vertex = new // self.n, new % self.n
        self.seed, self.vertex = np.r_[self.seed, seed], np.r_[self.vertex, vertex]
        self.lines = np.r_[self.lines, self._from.ends(vertex)]
        self.degree = self.lines[:, 1] - self.lines[:, 0]
        self.source = np.r_[self.source, np.full(new.size, -self.rho * self.alpha)]
        return numbers[which]

    def read(self, pairs: Ints) -> None:
        """Read the rows of pairs, that of a vertex once for all of its seeds, and add the pairs to the inside ones."""
        self._require(int(self._starts[-1] + self.degree[pairs].sum()))
        vertices, first, which = np.unique(self.vertex[pairs], return_index=True, return_inverse=True)
        lines, columns = self._from.read(vertices, self.lines[pairs[first]])
        begin, counts = lines[which, 0], (lines[:, 1] - lines[:, 0])[which]
        ends = np.cumsum(counts)
        where = np.repeat(begin - (ends - counts), counts) + np.arange(counts.sum())
        rows = self._numbers(np.repeat(self.seed[pairs] * self.n, counts) + columns[where].astype(np.int64))
        self._starts = np.r_[self._starts, self._starts[-1] + ends]
        self._rows = np.r_[self._rows, rows]
        self._values = np.r_[self._values, (1 - self.alpha) / 2 / self.degree[rows]]
        self.inside = np.r_[self.inside, pairs]

    def flows(self) -> Any:
        """Return (1 - alpha)/2 D^-1 S as a SciPy matrix: a row for each pair, a column for each inside pair."""
        from scipy.sparse import csc_array  # importing it takes a tenth of a second

        return csc_array((self._values, self._rows, self._starts), shape=(self.vertex.size, self.inside.size))

    def inner(self) -> Any:
        """Return the rows of :meth:`flows` for inside pairs, in the order of reading."""
        from scipy.sparse import csc_array

        place = np.full(self.vertex.size, -1)
        place[self.inside] = np.arange(self.inside.size)
        rows = place[self._rows]
        is_inside = rows >= 0
        starts = np.r_[0, np.cumsum(is_inside)][self._starts]
        return csc_array((self._values[is_inside], rows[is_inside], starts), shape=(self.inside.size,) * 2)


def _unique(keys: Ints) -> tuple[Ints, Ints]:
    """Compute ``np.unique(keys, return_inverse=True)`` by an unstable sort, which is faster."""
    order = np.argsort(keys)
    ordered = keys[order]
    is_first = np.r_[True, ordered[1:] != ordered[:-1]][: keys.size]
    which = np.empty(keys.size, np.int64)
    which[order] = np.cumsum(is_first) - 1
    return ordered[is_first], which


def _solved(near: _Near, problem: Problem) -> Floats:
    """Return y at the inside pairs; each seed settles by itself, as in ``loops.local_pagerank.advance``."""
    stay, most = (1 - near.alpha) / 2, problem.most
    y: Floats = np.empty(0)
    grown, moves = np.zeros(problem.seeds.size), np.ones(problem.seeds.size, np.bool_)
    inner, source = near.inner(), np.empty(0)
    for iteration in steps(range(problem.max_iter), "rounds", at_most=True):
        # T = (1 - alpha)/2 (Y + Y S D^-1) + alpha s D^-1 - rho alpha, Y = max(T, 0): no entry of Y falls
        looks = moves & ((grown <= most) | (iteration % _STEPS == 0))
        seed, new = near.seed[near.inside], np.empty(0, np.int64)
        if looks.any():
            beyond = near.flows() @ y + near.source
            t = beyond[near.inside]
            beyond[near.inside] = 0
            new = np.flatnonzero((beyond > most) & looks[near.seed])
        else:
            t = inner @ y + source
        t = np.where(moves[seed], t + stay * y, y)
        grown[moves] = 0.0
        np.maximum.at(grown, seed, t - y)
        y = t
        if new.size:
            y = np.r_[y, beyond[new]]
            np.maximum.at(grown, near.seed[new], beyond[new])
            near.read(new)
            inner, source = near.inner(), near.source[near.inside]
            looks[near.seed[new]] = False
        moves &= ~looks | (grown > most)
        if not moves.any():
            return y
    raise problem.failure(grown[moves].max())
