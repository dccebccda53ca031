"""Lengths of edges and of paths: their types, their extremes, and the checks of valid lengths."""

from __future__ import annotations

from functools import cache
from math import inf, isnan
from typing import Any, NamedTuple

import numpy as np

from sparsezc.core.access import facts
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import InvalidValue
from sparsezc.semirings import monoid, select, semiring
from sparsezc.semirings.types import datatypes

#: The end of each message that rejects negative lengths.
TAKEN_BY = "; bellman_ford and all_pairs_shortest_paths take negative ones"


class Lengths(NamedTuple):
    """The number of edges, and the extremes and the mean of their lengths."""

    edges: int
    least: float
    most: float
    mean: float


def lengths_of(A: Matrix) -> Lengths:
    """Return number, extremes and mean of the edges' lengths, kept with `A`; raise InvalidValue for NaN."""
    return facts.fact(A, "lengths", lambda: _look(A))  # type: ignore[no-any-return]


def _look(A: Matrix) -> Lengths:
    if not A.nvals:
        return Lengths(0, 0, 0, 0)
    total = A.reduce_scalar(monoid.plus["FP64"]).new().get()
    if isnan(total):
        raise InvalidValue("the values of A hold NaN (or infinities of both signs); edge lengths must have an order")
    least, most = (A.reduce_scalar(fold).new().get() for fold in (monoid.min, monoid.max))
    return Lengths(A.nvals, least, most, total / A.nvals)


def distances_of(A: Matrix) -> tuple[Any, Any]:
    """Return the type of distances over the edges of `A`, and this type's infinity; raise InvalidValue for NaN."""
    if A.dtype not in {datatypes.FP32, datatypes.FP64}:
        return datatypes.INT64, infinity(datatypes.INT64)
    lengths_of(A)
    return A.dtype, infinity(A.dtype)


def refuse_long(A: Matrix, dtype: datatypes.DataType) -> None:
    """Raise InvalidValue for integer lengths >= 2^63 - 1, the INT64 that stands for infinity."""
    if dtype is datatypes.INT64 and (most := lengths_of(A).most) >= infinity(dtype):
        raise InvalidValue(f"A has values up to {most}: distances may not fit INT64")


@cache  # np.iinfo takes a microsecond
def infinity(dtype: datatypes.DataType) -> float:
    """Return the distance of unreachable vertices in a type: infinity, or an integer type's largest value."""
    return int(np.iinfo(dtype.np_type).max) if dtype.is_integer else inf


def refuse_overflow(A: Matrix, lowest: Any) -> None:
    """Raise InvalidValue for integer distances that may have wrapped around.

    If a sum of two INT64 wraps around, a distance is negative: the sum itself, or the one that a length was added to.
    `lowest` is the least distance.
    """
    lengths = lengths_of(A)
    if lowest < 0 and max(-int(lengths.least), int(lengths.most)) * A.nrows >= 2**63:
        raise InvalidValue(
            f"A has values from {lengths.least} to {lengths.most} and {A.nrows} rows: distances may not fit INT64"
        )


def refuse_reaching_infinity(A: Matrix, distance: Vector) -> None:
    """Raise InvalidValue if an integer distance is as large as the INT64 that stands for infinity.

    `distance` is the result of a search, with that INT64 at each vertex not reached: an edge from a reached vertex to
    such a vertex proves that the search reached it at this distance or more.
    """
    if lengths_of(A).most * A.nrows < 2**63:
        return
    reached = distance.select(select.valuene, infinity(datatypes.INT64)).new()
    if reached.vxm(A, semiring.any_pair[datatypes.BOOL]).new(mask=~reached.S).nvals:
        raise InvalidValue(
            f"A has values up to {lengths_of(A).most}: a distance of 2^63 - 1 or more does not fit INT64"
        )
