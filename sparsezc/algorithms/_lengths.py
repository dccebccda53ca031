"""Lengths of edges and of paths: their type, and what cannot be one."""

from __future__ import annotations

from math import isnan
from typing import Any

from sparsezc.errors import InvalidValue
from sparsezc.matrix import Matrix
from sparsezc.semirings import monoid, types


def distances_of(A: Matrix) -> tuple[Any, Any]:
    """Type of the distances over the edges of `A`, and their infinity; NaN is refused."""
    if A.dtype not in {types.FP32, types.FP64}:
        return types.INT64, 2**63 - 1
    if A.nvals and isnan(A.reduce_scalar(monoid.plus["FP64"]).value):
        raise InvalidValue("the values of A hold NaN (or infinities of both signs); edge lengths must have an order")
    return A.dtype, float("inf")


def refuse_overflow(A: Matrix, lowest: Any) -> None:
    """Refuse integer distances that may have wrapped around.

    A sum of two INT64 that wraps leaves a negative distance behind: the wrapped sum itself, or the distance that the
    sum began with. So only a negative lowest distance calls for a look at the lengths, a pass over the matrix.
    """
    if lowest >= 0:
        return
    low, high = (int(A.reduce_scalar(fold).value) for fold in (monoid.min, monoid.max))
    if max(-low, high) * A.nrows >= 2**63:
        raise InvalidValue(f"A has values from {low} to {high} and {A.nrows} rows: distances may not fit INT64")
