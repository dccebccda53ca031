"""Loops that an engine runs in place of statements, whole or from a round on, or in machine code: capabilities."""

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
    """Return the levels of a search, or parents; None if the engine cannot run it whole: then statements have to.

    `start`: a vertex, or a vector of some. See :meth:`sparsezc.expr.engines.Capabilities.search`.
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
    """Return the levels of a search from each of some vertices, a row each; None if the engine cannot run them whole.

    See :meth:`sparsezc.expr.engines.Capabilities.searches`.
    """
    with hold_locks(A):
        engine, store = A._kept()
        found = engines.capability(engine, "searches")(store, sources)
        return None if found is None else Matrix._from_store(engine, found, INT32, (sources.size, A.nrows))


def shorten(
    A: Matrix, near: Vector, distance: Vector, step: float, last: float, shortest: float, target: int | None
) -> bool:
    """Lower the distances of a full vector along the edges of `A` until none changes; false if the engine cannot.

    See :meth:`sparsezc.expr.engines.Capabilities.shorten`.
    """
    (engine, store), (other, distances) = near._need(), distance._need()
    if A._engine is not engine or other is not engine:
        return False
    limits = step, last, shortest, target
    return bool(engines.capability(engine, "shorten")(A._store, store, distances, limits))


def components(A: Matrix) -> Vector | None:
    """Return the smallest vertex of each vertex's weak component, INT64; None if the engine cannot: then statements do.

    See :meth:`sparsezc.expr.engines.Capabilities.components`.
    """
    with hold_locks(A):
        engine, store = A._need()
        found = engines.capability(engine, "components")(store)
        return None if found is None else Vector._from_store(engine, found, INT64, A.nrows)


def local_pagerank(S: Matrix, seeds: NDArray[np.int64], limits: tuple[float, float, float, int, int]) -> Any:
    """Return the l1-regularised PageRank around vertices of a symmetric matrix; None if the engine cannot.

    The matrix has no entries on its diagonal. The answer is of the first of the seeds, as many as there is room for.

    `limits`: alpha, rho, the growth of an entry in a step that is none, the most steps, and of how many one looks
    beyond the solution (:func:`sparsezc.applications.local_clustering`).

    Returns
    -------
    object or None
        It has `sizes`, the vertices of each solution; `vertex`, `degree` and `y` of all, NumPy arrays, those of a seed
        behind each other in any order; `settled`, whether all steps that they take were taken; `grown`, the largest
        growth in the last one, 0 if they were; and ``ends(rank)``, which takes ranks of the vertices, from 0 on, those
        of a seed behind each other, and returns by rank how many entries end there that begin at a lower one of the
        same seed.
    """
    with hold_locks(S):
        engine, store = S._need()
        return engines.capability(engine, "local_pagerank")(store, seeds, limits)


def follow(v: Vector, starts: NDArray[np.int64], length: int, meanwhile: Callable[[], None]) -> Matrix | None:
    """Walk from each start to the position at the last one; None if the engine cannot: then ``ops.walk`` does.

    `meanwhile` is called while the engine walks, if it can. See :meth:`sparsezc.expr.engines.Capabilities.follow`.
    """
    with hold_locks(v):
        engine, store = v._need()
        found = engines.capability(engine, "follow")(store, starts, length, meanwhile)
        return None if found is None else Matrix._from_store(engine, found, INT64, (starts.size, length + 1))


def rounds(frontier: Vector, number: int) -> Generator[Scalar, None, int]:
    """Yield the numbers of the rounds that follow; return how many there were, 0 if the engine cannot run them.

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
    """Yield the rounds of delta-stepping that follow: the limit of each, and 0, as the size of `near` is unknown.

    Return the limit after them, and the number of rounds.

    Parameters
    ----------
    near : Vector
        The vertices of the current bucket.
    distance : Vector, full
    limits : tuple
        The limit of this bucket, its increase beyond the least distance, and the last limit.
    continues : callable
        Called now and then; the rounds end once it returns false.
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
    cost: float,
    values: Any = None,
    over: range | None = None,
    again: Callable[[list[Any]], bool] | None = None,
) -> Any:
    """Return what a loop over the rows of a matrix returns; None if the engine runs none, or rather runs statements.

    An algorithm asks once its arguments are checked. Its statements give the same answer: they are the reference.

    Parameters
    ----------
    loop : callable
        A function of ``indptr``, ``indices``, the values if they are asked for, and `given`, in the Python that numba
        compiles: it writes to no operand and returns new arrays or numbers.
    given : int, float, bool or array, or callable
        A callable returns one of these, and is called only if the loop runs. The loop may write to an array that a
        callable returned.
    cost : float
        Nanoseconds that the statements take at least for each row and entry: how soon compiling the loop pays.
    values : dtype, optional
        The NumPy type in which the loop reads values.
    over : range, optional
        The work of threads: each runs the loop with the first number of its share, and the first of the next, as last
        arguments. The result is a list of theirs.
    again : callable, optional
        Called with the results once all threads have ended: while it returns true, they run the loop once more. They
        share the arrays in `given`, and `over` is one pass over the rows.
    """
    with hold_locks(A):
        engine, store = A._kept()
        return engines.capability(engine, "run_loop")(store, loop, given, cost, values, over, again)


def passes(A: Matrix, most: int) -> int:
    """Return how many passes over the rows of a matrix a loop is to make at a time, 1 or more, at most `most`.

    These take about 0.2 s: Python sees an interrupt only between two calls of loops.
    """
    return max(1, min(most, _READ // (A.nrows + A.nvals + 1))) if runs_loops(A) else most


_READ = 30_000_000  # rows and entries, in any order


def runs_loops(A: Matrix) -> bool:
    """Return whether a matrix's engine may run loops over its rows: :func:`run_loop` may still return None."""
    return engines.can(A._kept()[0], "run_loop")


def vector(
    values: NDArray[Any],
    present: NDArray[np.bool_] | None = None,
    *,
    at: NDArray[np.int64] | None = None,
    size: int | None = None,
) -> Vector:
    """Make a Vector of arrays that a loop returned, and that must not be used afterwards.

    It has an entry for each value, or for those where `present` is true; or, with `at`, one at each of these positions,
    ascending, of `size`.
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
    """Make an n x n Matrix of some rows, ascending, that a loop returned as :func:`matrix` takes all.

    One value stands for all entries.
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
    cost: float,
    over: range | None = None,
    again: Callable[[list[Any]], bool] | None = None,
) -> Any:
    """Return what a loop over arrays in host memory returns, in machine code; None if statements rather do it.

    `A` says for which engine: where several processes run the statements, as all have to run the same, none runs loops.
    `loop` and `given` are as in :func:`run_loop`; the loop may write to the arrays that are the caller's own. `cost`:
    nanoseconds that the statements take at least. `over` and `again` are as there, too, and `given` begins with the
    offsets of rows, and ids.
    """
    return engines.capability(A._kept()[0], "run_arrays")(loop, given, cost, over, again)


def agreed(A: Matrix, *found: Any) -> Any:
    """Return numbers and arrays, of equal shapes, that each process computed by itself, as the first of them has them.

    Processors of other kinds round otherwise in libraries of linear algebra, and all have to decide alike. `A` says for
    which engine: where there is one process, they are what was given.
    """
    return engines.capability(A._kept()[0], "agreed")(*found) or found


def row_lengths(A: Matrix) -> NDArray[np.int64] | None:
    """Count the entries of each row, if the engine knows them; None: a statement counts them."""
    with hold_locks(A):
        engine, store = A._kept()
        found: NDArray[np.int64] | None = engines.capability(engine, "row_lengths")(store)
        return found


@contextmanager
def lent_rows(A: Matrix) -> Iterator[Any]:
    """Lend the rows of a matrix where the host reads them; None if they are elsewhere, or not as they are stored.

    They have ``indices``, ids of all entries, and ``ends(rows)``, which returns where rows begin and end in these, all
    as NumPy arrays. Nothing else may use the matrix meanwhile.
    """
    with hold_locks(A):
        engine, store = A._need()
        with engines.capability(engine, "lend_rows")(store) or nullcontext() as rows:
            yield rows


def part(A: Matrix, cost: float, values: Any = None) -> Any:
    """Return the rows that this process has of a matrix, for loops; None, on all, where there is one, or statements do.

    `cost` and `values` are those of :func:`run_loop`. It has `lo` and `hi`, the rows' numbers, and
    ``run(loop, *given, over=)``, which runs a loop over these rows while they are lent (:func:`lent_part`);
    ``total(mine)`` returns the sum of arrays of FP64 of all processes, ``gather(mine)`` the values of all rows, given
    those of these, and ``has_moves()`` whether rows are to move: then they have to be asked for anew.
    """
    with hold_locks(A):
        engine, store = A._kept()
        return engines.capability(engine, "part")(store, cost, values)


@contextmanager
def lent_part(A: Matrix, part: Any) -> Iterator[None]:
    """Lend to loops the rows that this process has of a matrix, which nothing else may use meanwhile."""
    with hold_locks(A), part.lent():
        yield


def part_vector(A: Matrix, part: Any, mine: NDArray[Any], dtype: DataType) -> Vector:
    """Make the vector of all rows of a matrix, given the values of this process's."""
    return Vector._from_store(A._kept()[0], part.vector(mine, dtype), dtype, A.nrows)
