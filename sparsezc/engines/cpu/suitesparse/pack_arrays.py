"""Matrices and Vectors of python-graphblas that take over arrays, in a thirtieth of the time of its own methods."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from suitesparse_graphblas import ffi, lib
from suitesparse_graphblas.utils import unclaim_buffer

from sparsezc.engines.cpu.suitesparse import native
from sparsezc.engines.cpu.suitesparse.expressions import acyclic

__all__ = ["new_matrix", "new_vector"]


def new_vector(
    theirs: Any,
    size: int,
    values: NDArray[Any],
    at: NDArray[Any] | None = None,
    present: NDArray[Any] | None = None,
    *,
    iso: bool = False,
) -> Any:
    """Make a Vector that takes over its arrays, which own their memory.

    Values are at the positions `at`, ascending and distinct, or at all positions, where `present` marks the entries.
    """
    dtype = native.gb.dtypes.lookup_dtype(theirs)
    if not values.size or (at is not None and not at.size):
        return acyclic(native.gb.Vector(dtype, size))
    made, content = ffi.new("GrB_Vector*"), ffi.new("void**", ffi.from_buffer("void*", values))
    given = made, dtype._carg, size
    if at is not None:
        ids = ffi.new("GrB_Index**", ffi.from_buffer("GrB_Index*", at))
        status = lib.GxB_Vector_import_CSC(
            *given, ids, content, at.nbytes, values.nbytes, iso, at.size, False, ffi.NULL
        )
    elif present is not None:
        bytes = ffi.new("int8_t**", ffi.from_buffer("int8_t*", present))
        count = int(np.count_nonzero(present))
        status = lib.GxB_Vector_import_Bitmap(
            *given, bytes, content, present.nbytes, values.nbytes, iso, count, ffi.NULL
        )
    else:
        status = lib.GxB_Vector_import_Full(*given, content, values.nbytes, iso, ffi.NULL)
    return _owner_of(native.gb.Vector, status, made, (dtype, size), (values, at, present))


def new_matrix(
    theirs: Any,
    shape: tuple[int, int],
    rows: NDArray[Any],
    indptr: NDArray[Any],
    ids: NDArray[Any],
    values: NDArray[Any],
    *,
    iso: bool = False,
) -> Any:
    """Make a Matrix of some rows, ascending, that takes over its arrays, which own their memory.

    `indptr` has the offset of each of these rows in `ids`, which ascend in each row.
    """
    dtype = native.gb.dtypes.lookup_dtype(theirs)
    if not ids.size:  # SuiteSparse refuses the arrays of a 1 x 1 matrix without entries
        return acyclic(native.gb.Matrix(dtype, *shape))
    arrays = indptr, rows, ids
    made, content = ffi.new("GrB_Matrix*"), ffi.new("void**", ffi.from_buffer("void*", values))
    cells = [ffi.new("GrB_Index**", ffi.from_buffer("GrB_Index*", array)) for array in arrays]
    sizes = [array.nbytes for array in (*arrays, values)]
    status = lib.GxB_Matrix_import_HyperCSR(
        made, dtype._carg, *shape, *cells, content, *sizes, iso, rows.size, False, ffi.NULL
    )
    return _owner_of(native.gb.Matrix, status, made, (dtype, *shape), (*arrays, values))


def _owner_of(kind: Any, status: int, made: Any, about: tuple[Any, ...], arrays: tuple[Any, ...]) -> Any:
    """Return python-graphblas's object of SuiteSparse's, which owns its arrays: NumPy no longer frees them."""
    if status:
        native.gb.exceptions.check_status_carg(status, kind.__name__, made[0])
    for array in arrays:
        if array is not None:
            unclaim_buffer(array)
    return acyclic(kind._from_obj(made, *about, name=""))
