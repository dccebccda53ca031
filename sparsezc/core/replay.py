"""What an engine runs in place of statements: recorded rounds of a loop, compiled loops. Optional capabilities."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from sparsezc.core.matrix import Matrix
from sparsezc.core.scalar import Scalar
from sparsezc.core.vector import Vector
from sparsezc.expr import engines
from sparsezc.locks import hold_locks

__all__ = ["buckets", "rounds", "run_loop"]


def rounds(frontier: Vector, number: int) -> Generator[Scalar, None, int]:
    """Yield the numbers of the rounds that follow; return how many there were, 0 if the engine cannot run them.

    The body of the loop may run less often than there are rounds: see :func:`sparsezc.algorithms._rounds.rounds`.
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
    loop: Callable[..., Any], A: Matrix, *given: Any, cost: float, values: Any = None, over: range | None = None
) -> Any:
    """Return what a loop over the rows of a matrix returns; None if the engine runs none, or rather runs statements.

    An algorithm asks once its arguments are checked. Its statements give the same answer: they are the reference.

    Parameters
    ----------
    loop : callable
        A function of ``indptr``, ``indices``, the values if they are asked for, and `given`, in the Python that numba
        compiles: it writes to no operand and returns new arrays or numbers.
    given : int, float, bool or array, or callable
        A callable returns one of these, and is called only if the loop runs.
    cost : float
        Nanoseconds that the statements take at least for each row and entry: how soon compiling the loop pays.
    values : dtype, optional
        The NumPy type in which the loop reads values.
    over : range, optional
        The work of threads: each runs the loop with the first number of its share, and the first of the next, as last
        arguments. The result is a list of theirs.
    """
    with hold_locks(A):
        engine, store = A._need()
        return engines.capability(engine, "run_loop")(store, loop, given, cost, values, over)
