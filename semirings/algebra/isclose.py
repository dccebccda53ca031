"""The operator ``binary.isclose``, made of a Python function as users' operators are."""

from __future__ import annotations

import math

from sparsezc.semirings.algebra.operators import BinaryOp


def close(rel_tol: float = 1e-7, abs_tol: float = 0.0) -> BinaryOp:
    """Return whether ``|x - y| <= max(rel_tol * max(|x|, |y|), abs_tol)``, or both are the same infinity."""

    def isclose(x, y):  # type: ignore[no-untyped-def]
        if x == y:
            return True
        if max(abs(x), abs(y)) == math.inf:
            return False
        return max(x, y) - min(x, y) <= max(rel_tol * max(abs(x), abs(y)), abs_tol)

    made: BinaryOp = BinaryOp.register_anonymous(isclose)
    made._commute()
    return made
