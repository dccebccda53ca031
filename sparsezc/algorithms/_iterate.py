"""Steps shared by algorithms that repeat a product until the scores change little."""

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
    """Yield how many rounds each call of a compiled loop runs: few enough to interrupt them and to report progress."""
    size = engine_loops.passes(A, rounds)
    some = (min(size, rounds - first) for first in range(0, rounds, size))
    return steps(some, "rounds", total=rounds, size=int, at_most=True)


#: The values passed to loops if edges count equally.
NO_WEIGHTS = np.empty(0)
ROUNDS = 10  # rounds; scores mostly take more
_WORTH = 4  # rounds; copying ids to 4 bytes pays off in more
_SHORT = 1 << 24  # entries; the 4-byte ids of more would take over 64 MiB
MOST_ROUNDS = 2**62  # rounds; more than can ever run, and a compiled loop counts in 64 bits


def multiply(weighted: bool) -> Any:
    """Return the semiring of A x, in which edges count by their values if `weighted`, else equally."""
    return semiring.plus_times[datatypes.FP64] if weighted else semiring.plus_second[datatypes.FP64]


def product_by_loop(
    A: Matrix, x: NDArray[np.float64] | Callable[[], NDArray[np.float64]], weighted: bool, back: bool
) -> NDArray[np.float64] | None:
    """Return A x, or A' x if `back`, by a loop; None if the engine runs none. A callable `x` returns the array."""
    y: NDArray[np.float64] | None = run_loop(onward, A, weighted, x, back and not facts.is_symmetric(A))
    return y


def run_loop(loop: Callable[..., Any], A: Matrix, weighted: bool, *given: Any, times: int = 1) -> Any:
    """Run a loop over the edges, with their weights or without; return its result, None if the engine runs no loop."""
    if weighted and not (A.dtype.is_integer or A.dtype.is_float or A.dtype is datatypes.BOOL):
        return None
    weights, values = ((), np.float64) if weighted else ((NO_WEIGHTS,), None)
    return engine_loops.run_loop(loop, A, *weights, *given, times=times, values=values)


def rows_of(A: Matrix, weighted: bool, rounds: int) -> Callable[[], tuple[bool, bool]]:
    """Return the argument `rows` of :func:`~sparsezc.algorithms.loops.power_iterations.powers`, a callable.

    Ids are copied to 4 bytes only if host memory suffices for them beside the loop's own arrays.
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
    """Iterate by a compiled loop until the scores converge; return a new array, None if the engine runs no loop.

    For `terms` see :func:`sparsezc.algorithms.loops.power_iterations.powers`.
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
    """Check a tolerance >= 0 and a number of iterations >= 1, which may be a float such as 100.0."""
    rounds = int(max_iter) if isinstance(max_iter, float) and max_iter.is_integer() else max_iter
    return _check.number(tol, "tol", 0, infinite=True), _check.count(rounds, "max_iter", 1)


def failure(what: str, max_iter: int, change: float, bound: float) -> ConvergenceFailure:
    """Return the error of an iteration in which `what`, such as "the scores", did not converge."""
    if not change < float("inf"):
        return ConvergenceFailure(
            f"after max_iter = {max_iter} iterations or fewer {what} are no longer finite: a factor, a start or weights"
            " are too large"
        )
    return ConvergenceFailure(
        f"after max_iter = {max_iter} iterations {what} still change by {change:.3g} in all; "
        f"at most {bound:.3g} is needed"
    )
