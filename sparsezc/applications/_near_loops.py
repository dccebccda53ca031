"""l1-regularised PageRank near its seeds by compiled loops, which threads run for some seeds each."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms.loops import near as loops
from sparsezc.applications._near import COST, STEPS, Found, Ints, Problem, Rows
from sparsezc.core import replay
from sparsezc.core.matrix import Matrix
from sparsezc.device.processors import processors

__all__ = ["by_loops"]

_THREADS, _SEEDS = 16, 4  # threads at most, and the seeds of each at least, whose steps take 0.3 ms or more
_TABLE = 1 << 11  # places for the numbers of vertices at first: one seed often meets no more


def by_loops(S: Matrix, rows: Rows, problem: Problem) -> Found | None:
    """Solve each seed by compiled loops, which read the rows of all in turns; None where arrays rather do it."""
    seeds, cost = problem.seeds, COST * problem.seeds.size / problem.rho

    def run(loop: Callable[..., Any], *given: Any) -> Any:
        return replay.run_arrays(loop, S, *given, cost=cost)

    table, known, ids = np.full(_TABLE, -1, np.int32), np.empty(_TABLE // 2, np.int64), np.empty(_TABLE, np.uint32)
    first = run(loops.number, table, known, 0, ids, 0, np.array([[0, seeds.size]]), seeds.copy())
    if first is None:
        return None
    table, known, count, ids = first
    lines = rows.ends(known[:count])
    degree = lines[:, 1] - lines[:, 0]
    place, starts = np.full(count, -1), np.zeros(1, np.int64)
    steps = _Steps(run, ids[: seeds.size].astype(np.int64), problem)
    while (wanted := steps.advance((place, starts, ids), degree)).size:
        before, wanted = count, wanted[np.argsort(known[wanted])]
        problem.require(int(starts[-1] + degree[wanted].sum()))
        asked, columns = rows.read(known[wanted], lines[wanted])
        table, known, count, ids = run(loops.number, table, known, count, ids, starts[-1], asked, columns)
        place[wanted] = starts.size - 1 + np.arange(wanted.size)
        place = np.concatenate((place, np.full(count - before, -1)))
        starts = np.concatenate((starts, starts[-1] + np.cumsum(degree[wanted])))
        lines = np.concatenate((lines, rows.ends(known[before:count])))
        degree = lines[:, 1] - lines[:, 0]
    sizes, inside, y, taken, grown = steps.state()
    if (failed := taken >= 0).any():
        raise problem.failure(grown[failed].max())

    def ends(rank: Ints) -> Ints:
        made: Ints = run(loops.later_ends, (place, starts, ids), np.r_[0, np.cumsum(sizes)], inside, rank)
        return made

    return Found(np.repeat(np.arange(seeds.size), sizes), known[inside], degree[inside], y, ends)


class _Steps:
    """The steps of all seeds. Each seed's are its own, so a thread takes them for some seeds.

    `at`: the numbers of the seeds.
    """

    def __init__(self, run: Callable[..., Any], at: Ints, problem: Problem) -> None:
        self._run, self._threads = run, max(1, min(processors(_THREADS), at.size // _SEEDS))
        self._limits = problem.alpha, problem.rho, problem.most, min(problem.max_iter, 2**62), STEPS
        self._seeds = np.array_split(at, self._threads)
        nothing = np.empty(0, np.int32), np.empty(0)
        self._states: list[tuple[NDArray[Any], ...]] = [
            (np.zeros(some.size + 1, np.int64), *nothing, np.zeros(some.size, np.int64), np.zeros(some.size))
            for some in self._seeds
        ]

    def advance(self, rows: tuple[Any, Any, Any], degree: Ints) -> Ints:
        """Take all steps for which rows were read; return the vertices whose rows are wanted, each once."""

        def some(seeds: Ints, state: tuple[NDArray[Any], ...]) -> Any:
            return self._run(loops.advance, rows, degree, seeds, state, self._limits)

        if self._threads == 1:
            taken = [*map(some, self._seeds, self._states)]
        else:
            with ThreadPoolExecutor(self._threads) as pool:
                taken = [*pool.map(some, self._seeds, self._states)]
        self._states = [tuple(state) for *state, _ in taken]
        return np.unique(np.concatenate([wanted for *_, wanted in taken]))

    def state(self) -> tuple[NDArray[Any], ...]:
        """Return the sizes of the seeds' solutions; their vertices and y; the steps of each; its last growth."""
        begun, *rest = zip(*self._states, strict=True)
        return np.concatenate([*map(np.diff, begun)]), *map(np.concatenate, rest)
