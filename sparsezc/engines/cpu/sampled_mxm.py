"""A product of panels at a matrix's entries, and at once its product with another matrix, on the CPU engine."""

from __future__ import annotations

from typing import Any

from sparsezc.engines.cpu.expressions import acyclic, operand, operator
from sparsezc.errors import DimensionMismatch
from sparsezc.expr.expression import Expression

__all__ = ["sampled_mxm"]


def sampled_mxm(x: Expression) -> Any:
    """Make python-graphblas's Matrix of the second product; the first has A's entries, each a dot product."""
    A, X, flipped, Z, inner = x.operands
    fits = X.ncols == flipped.nrows and A.shape == (X.nrows, flipped.ncols) and A.ncols == Z.nrows
    if not fits or x.shape != (A.nrows, Z.ncols):
        shapes = ", ".join(f"{M.name} is {M.nrows} x {M.ncols}" for M in (A, X, flipped, Z))
        raise DimensionMismatch(f"sampled_mxm: {shapes}: one was resized since the expression was made")
    product = operand(X).mxm(operand(flipped), operator(inner.op))
    first = acyclic(product.new(mask=operand(A).S, axb_method="dot"))
    return acyclic(first.mxm(operand(Z), operator(x.op)).new())
