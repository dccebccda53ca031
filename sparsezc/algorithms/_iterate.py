"""Steps shared by algorithms that repeat a product until it changes little."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms.loops.ranks import onward
from sparsezc.core import replay
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.errors import ConvergenceFailure, InvalidValue
from sparsezc.semirings import binary, monoid, semiring, unary
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import is_watched, steps

_COUNTED = 8  # rounds of a compiled loop between two looks at it


def pieces(rounds: int) -> Iterable[int]:
    """Yield how many rounds a compiled loop runs at a time: all, or some if they are counted meanwhile."""
    size = _COUNTED if is_watched() else rounds
    some = (min(size, rounds - first) for first in range(0, rounds, size))
    return steps(some, "rounds", total=rounds, size=int, at_most=True)


#: The values that loops read of a matrix whose edges count equally.
NO_WEIGHTS = np.empty(0)


def multiply(weighted: bool) -> Any:
    """Return the product with a matrix on the left that counts edges, or adds their values."""
    return semiring.plus_times[datatypes.FP64] if weighted else semiring.plus_second[datatypes.FP64]


def product_by_loop(
    A: Matrix, x: NDArray[np.float64], weighted: bool, back: bool, cost: float
) -> NDArray[np.float64] | None:
    """Return A x, or A' x, of an array; None if the engine runs no loop."""
    y: NDArray[np.float64] | None = replay.run_loop(
        onward, A, *(() if weighted else (NO_WEIGHTS,)), x, back and not A._symmetric, cost=cost,
        values=np.float64 if weighted else None,
    )  # fmt: skip
    return y


def moved(x: Vector, before: Vector) -> float:
    """Return sum |x - before| of two full vectors; `before` is overwritten."""
    before << x.ewise_mult(before, binary.minus)
    before << before.apply(unary.abs)
    return float(before.reduce(monoid.plus).new().get(0.0))


def options(tol: float, max_iter: int) -> None:
    """Raise InvalidValue for a tolerance below 0 and for fewer than one iteration."""
    if not tol >= 0:
        raise InvalidValue(f"tol is {tol}; a number >= 0 is needed")
    if max_iter < 1:
        raise InvalidValue(f"max_iter is {max_iter}; at least 1 is needed")


def failure(what: str, max_iter: int, change: float, bound: float) -> ConvergenceFailure:
    """Make the error for an iteration that did not converge."""
    return ConvergenceFailure(
        f"after max_iter = {max_iter} iterations {what} still change by {change:.3g} in all; "
        f"at most {bound:.3g} is needed"
    )
