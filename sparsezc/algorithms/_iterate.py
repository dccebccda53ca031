"""Steps shared by algorithms that repeat a product until it changes little."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check
from sparsezc.algorithms.loops.power_iterations import onward, powers
from sparsezc.core import engine_loops
from sparsezc.core.access import facts
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import ConvergenceFailure
from sparsezc.memory.budget import LOOP_BYTES, has_host
from sparsezc.semirings import binary, monoid, semiring, unary
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import steps


def pieces(A: Matrix, rounds: int) -> Iterable[int]:
    """Yield how many rounds a compiled loop runs at a time, so that it can be interrupted, and they are counted."""
    size = engine_loops.passes(A, rounds)
    some = (min(size, rounds - first) for first in range(0, rounds, size))
    return steps(some, "rounds", total=rounds, size=int, at_most=True)


#: The values that loops read of a matrix whose edges count equally.
NO_WEIGHTS = np.empty(0)
ROUNDS = 10  # that scores take at least, mostly
_WORTH = 4  # rounds that take longer than to make ids shorter
_SHORT = 1 << 24  # entries up to which that is done: 64 MiB
MOST_ROUNDS = 2**62  # more than end in any time: a compiled loop counts in 64 bits


def multiply(weighted: bool) -> Any:
    """Return the product with a matrix on the left that counts edges, or adds their values."""
    return semiring.plus_times[datatypes.FP64] if weighted else semiring.plus_second[datatypes.FP64]


def product_by_loop(
    A: Matrix, x: NDArray[np.float64] | Callable[[], NDArray[np.float64]], weighted: bool, back: bool
) -> NDArray[np.float64] | None:
    """Return A x, or A' x, of an array or of what is made if the engine runs a loop; None if it runs none."""
    y: NDArray[np.float64] | None = run_loop(onward, A, weighted, x, back and not facts.is_symmetric(A))
    return y


def run_loop(loop: Callable[..., Any], A: Matrix, weighted: bool, *given: Any, times: int = 1) -> Any:
    """Run a loop with the edges' weights, or without, and return its result; None if the engine runs no loop."""
    if weighted and not (A.dtype.is_integer or A.dtype.is_float or A.dtype is datatypes.BOOL):
        return None
    weights, values = ((), np.float64) if weighted else ((NO_WEIGHTS,), None)
    return engine_loops.run_loop(loop, A, *weights, *given, times=times, values=values)


def rows_of(A: Matrix, weighted: bool, rounds: int) -> Callable[[], tuple[bool, bool]]:
    """Return a function of how such rounds read rows: see :func:`~sparsezc.algorithms.loops.power_iterations.powers`.

    Ids of 4 bytes are made only where memory has room for them beside the loop's own arrays.
    """

    def made() -> tuple[bool, bool]:
        summed = facts.is_symmetric(A)
        if not summed or weighted or rounds <= _WORTH or A.nvals > _SHORT or A.nrows > 2**32:
            return summed, False
        return True, has_host(LOOP_BYTES * A.nrows + 4 * A.nvals)

    return made


def by_loop(
    A: Matrix, start: Vector, terms: Callable[[], Any], bound: float, max_iter: int, weighted: bool
) -> NDArray[np.float64] | None:
    """Return the scores after iterations in one loop, an array of its own; None if the engine runs none.

    See :func:`sparsezc.algorithms.loops.power_iterations.powers`.
    """
    begin = start.to_dense
    for some in pieces(A, min(max_iter, MOST_ROUNDS)):
        rows = rows_of(A, weighted, some)
        found = run_loop(powers, A, weighted, begin, terms, rows, float(bound), some, times=ROUNDS)
        if found is None:
            return None
        if not bound < found[1] < float("inf"):
            break
        begin = found[0]
    if not found[1] <= bound:
        raise failure("the scores", max_iter, found[1], bound)
    scores: NDArray[np.float64] = found[0]
    return scores


def moved(x: Vector, before: Vector) -> float:
    """Return sum |x - before| of two full vectors; `before` is overwritten."""
    before << x.ewise_mult(before, binary.minus)
    before << before.apply(unary.abs)
    return float(before.reduce(monoid.plus).new().get(0.0))


def options(tol: Any, max_iter: Any) -> tuple[float, int]:
    """Check a tolerance, at least 0, and a number of iterations, at least 1, which may be written as 100.0."""
    rounds = int(max_iter) if isinstance(max_iter, float) and max_iter.is_integer() else max_iter
    return _check.number(tol, "tol", 0, infinite=True), _check.count(rounds, "max_iter", 1)


def failure(what: str, max_iter: int, change: float, bound: float) -> ConvergenceFailure:
    """Make the error for an iteration that did not converge."""
    if not change < float("inf"):
        return ConvergenceFailure(
            f"after max_iter = {max_iter} iterations or fewer {what} are no longer finite: a factor, a start or weights"
            " are too large"
        )
    return ConvergenceFailure(
        f"after max_iter = {max_iter} iterations {what} still change by {change:.3g} in all; "
        f"at most {bound:.3g} is needed"
    )
