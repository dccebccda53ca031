"""Loops over the rows of a matrix that its engine runs in place of statements: an optional capability."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sparsezc.core.matrix import Matrix
from sparsezc.expr import engines
from sparsezc.locks import hold_locks

__all__ = ["run"]


def run(
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
