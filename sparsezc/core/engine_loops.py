"""Loops of algorithms that an engine may run in place of their statements.

Each function calls a capability of the engine. If the engine lacks or declines it, the function returns None (or the
value that its docstring names), and the algorithm runs its statements. An engine runs a whole loop, the remaining
rounds of one, or a Python function that numba compiles.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.core.matrix import Matrix
from sparsezc.core.scalar import Scalar
from sparsezc.core.vector import Vector
from sparsezc.engines import cpu
from sparsezc.expr import engines
from sparsezc.memory.csr import Csr
from sparsezc.process.locks import hold_locks
from sparsezc.semirings.types.datatypes import INT32, INT64, DataType, lookup

__all__ = [
    "agreed", "buckets", "components", "follow", "lent_part", "lent_rows", "local_pagerank", "matrix",
    "matrix_of_rows", "part", "part_vector", "passes", "rounds", "row_lengths", "run_arrays", "run_loop",
    "runs_loops", "search", "searches", "shorten", "vector",
]  # fmt: skip


def search(A: Matrix, start: Vector | int, *, parents: bool = False) -> Vector | None:
    """Return the levels of a breadth-first search, or its parents; None if the engine cannot run all of its rounds.

    `start` is a vertex, or a vector with an entry for each start vertex. See
    :meth:`sparsezc.expr.engines.Capabilities.search`.
    """
    if not engines.can(A._kept()[0], "search"):
        return None
    with hold_locks(A):
        engine, store = A._kept()
        if isinstance(start, Vector):
            other, begin = start._need()
            if other is not engine:
                return None
        else:
            begin = start
        found = engines.capability(engine, "search")(store, begin, parents)
        return None if found is None else Vector._from_store(engine, found, INT64 if parents else INT32, A.nrows)


def searches(A: Matrix, sources: NDArray[np.int64]) -> Matrix | None:
    """Return the levels of a search from each source, a row for each; None if the engine cannot run all rounds.

    See :meth:`sparsezc.expr.engines.Capabilities.searches`.
    """
    with hold_locks(A):
        engine, store = A._kept()
        found = engines.capability(engine, "searches")(store, sources)
        return None if found is None else Matrix._from_store(engine, found, INT32, (sources.size, A.nrows))


def shorten(
    A: Matrix, near: Vector, distance: Vector, step: float, last: float, shortest: float, target: int | None
) -> bool:
    """Lower a full vector of distances along edges of `A` until no distance changes; return false if not supported.

    See :meth:`sparsezc.expr.engines.Capabilities.shorten`.
    """
    (engine, store), (other, distances) = near._need(), distance._need()
    if A._engine is not engine or other is not engine:
        return False
    limits = step, last, shortest, target
    return bool(engines.capability(engine, "shorten")(A._store, store, distances, limits))


def components(A: Matrix) -> Vector | None:
    """Return for each vertex the smallest vertex of its weak component, INT64; None if the engine cannot.

    See :meth:`sparsezc.expr.engines.Capabilities.components`.
    """
    with hold_locks(A):
        engine, store = A._need()
        found = engines.capability(engine, "components")(store)
        return None if found is None else Vector._from_store(engine, found, INT64, A.nrows)


def local_pagerank(S: Matrix, seeds: NDArray[np.int64], limits: tuple[float, float, float, int, int]) -> Any:
    """Return the l1-regularised PageRank around each seed, a vertex of a symmetric matrix; None if the engine cannot.

    The matrix has no entries on its diagonal. The result covers the first seeds, as many as fit in memory.

    `limits`: alpha, rho, the growth of an entry below which a step changes nothing, the largest number of steps, and
    the number of steps between two searches for further vertices (:func:`sparsezc.applications.local_clustering`).

    Returns
    -------
    object or None
        An object with `sizes`, the number of vertices of each solution; NumPy arrays `vertex`, `degree` and `y`, the
        solutions one after the other, each in any order; `settled`, whether all solutions converged; `grown`, the
        largest growth in the last step of those that did not, else 0; and ``ends(rank)``. That takes each vertex's
        rank among those of all solutions, a solution's consecutive, and returns, by rank, the number of entries in
        both directions between the vertex and those of lower rank in its solution.
    """
    with hold_locks(S):
        engine, store = S._need()
        return engines.capability(engine, "local_pagerank")(store, seeds, limits)


def follow(v: Vector, starts: NDArray[np.int64], length: int, meanwhile: Callable[[], None]) -> Matrix | None:
    """Return the walk from each start along a vector of positions, from i to ``v[i]``; None if the engine cannot.

    The caller then uses ``ops.walk``.

    `meanwhile` is called while the engine walks, if it can. See :meth:`sparsezc.expr.engines.Capabilities.follow`.
    """
    with hold_locks(v):
        engine, store = v._need()
        found = engines.capability(engine, "follow")(store, starts, length, meanwhile)
        return None if found is None else Matrix._from_store(engine, found, INT64, (starts.size, length + 1))


def rounds(frontier: Vector, number: int) -> Generator[Scalar, None, int]:
    """Yield the number of each round that the engine runs; return their count, 0 if the engine cannot run them.

    The body of the loop may run less often than there are rounds: see
    :func:`sparsezc.algorithms._frontier_loops.rounds`.
    """
    engine, store = frontier._need()
    replay = engines.capability(engine, "replay")(store, number)
    for at in replay or ():
        yield Scalar._on_device(at)
    return 0 if replay is None else replay.rounds


def buckets(
    near: Vector, distance: Vector, limits: tuple[float, float, float], continues: Callable[[], bool]
) -> Generator[tuple[Scalar, int], None, tuple[float, int]]:
    """Yield the limit of each round of delta-stepping that the engine runs, and 0 for the unknown size of `near`.

    Return the limit after these rounds, and their number.

    Parameters
    ----------
    near : Vector
        The vertices of the current bucket.
    distance : Vector, full
    limits : tuple
        The limit of this bucket, its increase beyond the least distance, and the last limit.
    continues : callable
        Called between batches of rounds; the rounds end once it returns false.
    """
    engine, store = near._need()
    replay = engines.capability(engine, "replay_buckets")(store, distance._need()[1], limits, continues)
    for at in replay or ():
        yield Scalar._on_device(at), 0
    return (limits[0], 0) if replay is None else (replay.number(), replay.rounds)


def run_loop(
    loop: Callable[..., Any],
    A: Matrix,
    *given: Any,
    times: float = 1,
    values: Any = None,
    over: range | None = None,
    again: Callable[[list[Any]], bool] | None = None,
) -> Any:
    """Run a loop over the rows of a matrix and return its result; None if the engine prefers the statements.

    An algorithm calls this after it has checked its arguments. Its statements give the same answer and are the
    reference.

    Parameters
    ----------
    loop : callable
        A function of ``indptr``, ``indices``, the values if `values` is given, and `given`, in the Python that numba
        compiles: it writes to no operand and returns new arrays or numbers.
    given : int, float, bool or array, or callable
        A callable returns one of these, and is called only if the loop runs. The loop may write to an array that a
        callable returned.
    times : float
        How often the statements read each row and entry at least, for each number of `over` unless `again` is given.
        From it and from the loop's mark (:func:`sparsezc.algorithms.loops.replacing`) the engine estimates whether
        compiling pays.
    values : dtype, optional
        The NumPy type in which the loop reads values.
    over : range, optional
        The work to divide among threads: each runs the loop with the start and the stop of its subrange as last
        arguments. The result is a list of the threads' results.
    again : callable, optional
        Called with the results once all threads have ended: while it returns true, they run the loop once more. They
        share the arrays in `given`, and `over` is one pass over the rows.
    """
    with hold_locks(A):
        engine, store = A._kept()
        return engines.capability(engine, "run_loop")(
            store, loop, given, _statement_ns(loop) * times, values, over, again
        )


def _statement_ns(loop: Callable[..., Any]) -> float:
    """Return the nanoseconds that the statements take at least where the loop reads a row or an entry once."""
    return float(getattr(loop, "statement_ns", np.inf))


def passes(A: Matrix, most: int) -> int:
    """Return the number of passes over a matrix's rows that one call of a loop should make, from 1 to `most`.

    They take about 0.2 s, because Python handles an interrupt only between two calls.
    """
    return max(1, min(most, _READ // (A.nrows + A.nvals + 1))) if runs_loops(A) else most


_READ = 30_000_000  # rows and entries that a loop reads in 0.2 s at random


def runs_loops(A: Matrix) -> bool:
    """Return whether a matrix's engine can run loops over its rows; :func:`run_loop` may still return None."""
    return engines.can(A._kept()[0], "run_loop")


def vector(
    values: NDArray[Any],
    present: NDArray[np.bool_] | None = None,
    *,
    at: NDArray[np.int64] | None = None,
    size: int | None = None,
) -> Vector:
    """Make a Vector of arrays that a loop returned; the arrays must not be used afterwards.

    Without `at`, value i is the entry at position i, unless `present` is false there; with `at`, which ascends, it is
    the entry at position ``at[i]`` of `size`.
    """
    engine, dtype = cpu.engine(), lookup(values.dtype)
    n = values.size if size is None else size
    return Vector._made_late(engine, lambda: engine.adopt_vector(values, dtype, n, at, present), dtype, n)


def matrix(
    indptr: NDArray[np.int64], indices: NDArray[Any], values: NDArray[Any], ncols: int, *, symmetric: bool = False
) -> Matrix:
    """Make a Matrix of the rows that a loop returned, ids ascending; the arrays must not be used afterwards."""
    csr = Csr.from_arrays(indptr, indices, values, ncols, symmetric=symmetric)
    made: Matrix = Matrix._from_csr(csr, cpu.engine().name, adopt=True)
    return made


def matrix_of_rows(
    rows: NDArray[np.int64], indptr: NDArray[np.int64], ids: NDArray[Any], values: NDArray[Any], n: int
) -> Matrix:
    """Make an n x n Matrix of the rows that a loop returned; `rows` lists them, ascending, and other rows are empty.

    All entries have one value.
    """
    engine, dtype = cpu.engine(), lookup(values.dtype)
    made: Matrix = Matrix._from_store(
        engine, engine.adopt_rows(rows, indptr, ids, values, dtype, (n, n)), dtype, (n, n)
    )
    return made


def run_arrays(
    loop: Callable[..., Any],
    A: Matrix,
    *given: Any,
    times: float = 1,
    over: range | None = None,
    again: Callable[[list[Any]], bool] | None = None,
) -> Any:
    """Run a loop over arrays in host memory and return its result; None if the engine prefers the statements.

    The engine is that of `A`. On several processes the result is None, as all must run the same statements. `loop`,
    `given`, `over` and `again` are as in :func:`run_loop`, but `given` begins with the row offsets and the ids, and
    the loop may write to the caller's arrays. `times` is the number of items that the statements process at least, each
    of which takes the time in the loop's mark; if it is infinite, the loop runs
    however long compiling takes.
    """
    return engines.capability(A._kept()[0], "run_arrays")(loop, given, _statement_ns(loop) * times, over, again)


def agreed(A: Matrix, *found: Any) -> Any:
    """Return rank 0's values of numbers and arrays that every rank has computed.

    Libraries of linear algebra round differently on different processors, but all ranks must decide alike. The engine
    is that of `A`; on one process the given values are returned.
    """
    return engines.capability(A._kept()[0], "agreed")(*found) or found


def row_lengths(A: Matrix) -> NDArray[np.int64] | None:
    """Return the number of entries of each row; None if the engine would need a statement to count them."""
    with hold_locks(A):
        engine, store = A._kept()
        found: NDArray[np.int64] | None = engines.capability(engine, "row_lengths")(store)
        return found


@contextmanager
def lent_rows(A: Matrix) -> Iterator[Any]:
    """Lend the rows of a matrix to code on the host; None if the host cannot read them as they are stored.

    The object lent has ``indices``, the ids of all entries, and ``ends(rows)``, which returns the positions in
    ``indices`` where rows begin and end, all as NumPy arrays. No other code may use the matrix meanwhile.
    """
    with hold_locks(A):
        engine, store = A._need()
        with engines.capability(engine, "lend_rows")(store) or nullcontext() as rows:
            yield rows


def part(A: Matrix, loop: Callable[..., Any], values: Any = None) -> Any:
    """Return this rank's part of a matrix's rows, for loops; None if all ranks must run the statements.

    It is None on one process, too.

    `loop` and `values` are those of :func:`run_loop`. The object has `lo` and `hi`, the range of the rows; ``run(loop,
    *given, over=)``, which runs a loop over these rows while they are lent (:func:`lent_part`); ``total(mine)``, which
    returns the sum of all ranks' FP64 arrays; ``gather(mine)``, which returns the values of all rows, given those of
    this rank's rows; and ``has_moves()``, which returns whether rows are about to move to other ranks: the caller must
    then request the part again.
    """
    with hold_locks(A):
        engine, store = A._kept()
        return engines.capability(engine, "part")(store, _statement_ns(loop), values)


@contextmanager
def lent_part(A: Matrix, part: Any) -> Iterator[None]:
    """Lend this rank's part of a matrix to loops; no other code may use the matrix meanwhile."""
    with hold_locks(A), part.lent():
        yield


def part_vector(A: Matrix, part: Any, mine: NDArray[Any], dtype: DataType) -> Vector:
    """Make a distributed vector with a value for each row of a matrix; `mine` has those of this rank's rows."""
    return Vector._from_store(A._kept()[0], part.vector(mine, dtype), dtype, A.nrows)
