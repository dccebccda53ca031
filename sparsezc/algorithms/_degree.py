"""Degrees of vertices."""

from __future__ import annotations

from sparsezc.core import replay
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import semiring
from sparsezc.semirings.types import datatypes


def out_degree(A: Matrix) -> Vector:
    """Count the entries of each row; no entry where it is 0. Reads no entry of the matrix: u is full."""
    if (lengths := replay.row_lengths(A)) is not None:
        return replay.vector(lengths, lengths > 0)
    # k = A 1      over (plus, pair)
    degree = Vector(datatypes.INT64, A.nrows)
    degree << A.mxv(Vector.from_scalar(1, A.ncols, datatypes.INT64), semiring.plus_pair[datatypes.INT64])
    return degree


def in_degree(A: Matrix) -> Vector:
    """Count the entries of each column; no entry where it is 0."""
    if A._symmetric:
        return out_degree(A)
    # k' = 1'A     over (plus, pair)
    degree = Vector(datatypes.INT64, A.ncols)
    degree << Vector.from_scalar(1, A.nrows, datatypes.INT64).vxm(A, semiring.plus_pair[datatypes.INT64])
    return degree
