"""Degrees of vertices."""

from __future__ import annotations

from functools import partial

import numpy as np

from sparsezc.algorithms._iterate import product_by_loop
from sparsezc.core import engine_loops
from sparsezc.core.access import facts
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import InvalidValue
from sparsezc.semirings import binary, monoid, select, semiring
from sparsezc.semirings.types import datatypes


def out_degree(A: Matrix) -> Vector:
    """Count the entries of each row; empty rows have no entry. As the vector is full, only row offsets are read."""
    if (lengths := engine_loops.row_lengths(A)) is not None:
        return engine_loops.vector(lengths, None if lengths.all() else lengths > 0)
    # k = A 1      over (plus, pair)
    degree = Vector(datatypes.INT64, A.nrows)
    degree << A.mxv(Vector.from_scalar(1, A.ncols, datatypes.INT64), semiring.plus_pair[datatypes.INT64])
    return degree


def in_degree(A: Matrix) -> Vector:
    """Count the entries of each column; empty columns have no entry."""
    if facts.is_symmetric(A):
        return out_degree(A)
    # k' = 1'A     over (plus, pair)
    degree = Vector(datatypes.INT64, A.ncols)
    degree << Vector.from_scalar(1, A.nrows, datatypes.INT64).vxm(A, semiring.plus_pair[datatypes.INT64])
    return degree


def out_weight(A: Matrix, weighted: bool) -> Vector:
    """Count each vertex's out-edges, or add up their values; results of 0 have no entry."""
    if not weighted:
        return out_degree(A)
    if A.nvals and not A.reduce_scalar(monoid.min).new().get() >= 0:
        raise InvalidValue("weighted: A has negative values; weights >= 0 are needed")
    # a loop reads a matrix in a file in place; statements would load it
    sums = product_by_loop(A, partial(np.ones, A.ncols), True, False)
    if sums is None:
        total = Vector(datatypes.FP64, A.nrows)
        total << A.reduce_rowwise(monoid.plus[datatypes.FP64])
    else:
        total = engine_loops.vector(sums)
    # Scaled, as the sum of all may overflow though no vertex's does; summed, as a maximum may ignore a NaN.
    most = total.reduce(monoid.max).new().get(0.0)
    if most and not total.apply(binary.truediv, right=most).new().reduce(monoid.plus).new().get() < float("inf"):
        raise InvalidValue("weighted: A has values, or row sums, that are NaN or infinite; finite ones are needed")
    total << total.select(select.valuene, 0)
    return total
