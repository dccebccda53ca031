"""The arrays of a python-graphblas Matrix or Vector, lent by SuiteSparse, and new ones that take arrays over.

python-graphblas's own methods take 30 times as long, which is more than a search of a small graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from suitesparse_graphblas import ffi, lib
from suitesparse_graphblas.utils import unclaim_buffer

from sparsezc.engines.cpu.suitesparse import native
from sparsezc.engines.cpu.suitesparse.expressions import acyclic

__all__ = ["CSR", "FULL", "HYPERCSR", "TABLE", "Lent", "format_of", "new_matrix", "new_vector"]


class Format:
    """How the arrays of a format are taken out of an object, and put in.

    Attributes
    ----------
    unpack, pack : callable
    options : tuple
        Functions that get and set an object's options that are INT32, and FP64; and the switches between formats.
    indices : int
        The number of arrays of row offsets and ids, which come before that of values.
    listed : int
        1 if the number of listed rows is told, else 0.
    sorted : int
        1 if ids may be in any order, so that they are sorted first, else 0.
    packed : list
        The settings that an object has after a packing: reading them again takes as long as packing. None: unknown.
    free : list
        Cells that no loan uses.
    """

    __slots__ = ("free", "indices", "listed", "options", "pack", "packed", "sorted", "unpack")

    def __init__(
        self, unpack: Any, pack: Any, options: tuple[Any, ...], indices: int = 0, listed: int = 0, sorted: int = 0
    ) -> None:
        self.unpack, self.pack, self.options = unpack, pack, options
        self.indices, self.listed, self.sorted = indices, listed, sorted
        self.packed: list[Any] | None = None
        self.free: list[_Cells] = []


# Looked up once, as a name of the library takes as long as a call of it.
_OF_MATRIX, _OF_VECTOR = (
    (*(getattr(lib, f"GxB_{kind}_Option_{how}") for how in ("get_INT32", "set_INT32", "get_FP64", "set_FP64")), fields)
    for kind, fields in {
        "Matrix": (lib.GxB_BITMAP_SWITCH, lib.GxB_HYPER_SWITCH),
        "Vector": (lib.GxB_BITMAP_SWITCH,),
    }.items()
)
CSR = Format(lib.GxB_Matrix_unpack_CSR, lib.GxB_Matrix_pack_CSR, _OF_MATRIX, 2, 0, 1)
HYPERCSR = Format(lib.GxB_Matrix_unpack_HyperCSR, lib.GxB_Matrix_pack_HyperCSR, _OF_MATRIX, 3, 1, 1)
TABLE = Format(lib.GxB_Matrix_unpack_FullR, lib.GxB_Matrix_pack_FullR, _OF_MATRIX)
FULL = Format(lib.GxB_Vector_unpack_Full, lib.GxB_Vector_pack_Full, _OF_VECTOR)
_BY_ROWS = {lib.GxB_SPARSE: CSR, lib.GxB_HYPERSPARSE: HYPERCSR, lib.GxB_FULL: TABLE}
_CONTROL, _STATUS, _ORIENTATION = lib.GxB_SPARSITY_CONTROL, lib.GxB_SPARSITY_STATUS, lib.GxB_FORMAT
_FULL, _BY_ROW, _INT = lib.GxB_FULL, lib.GxB_BY_ROW, ffi.typeof("int32_t*")
_new, _buffer, _NULL = ffi.new, ffi.buffer, ffi.NULL
_NO_VALUES = np.empty(0)
_UNSORTED = (False,)  # ids are in order
_INDEX = np.dtype(np.int64)  # sizes stay below 2**60, so signs do not matter


def format_of(store: Any) -> Format | None:
    """Return the format of a Matrix, or of a full Vector; None for formats that are not lent."""
    handle, kind = store.gb_obj[0], _new(_INT)
    if store.ndim == 1:
        _OF_VECTOR[0](handle, _STATUS, kind)
        return FULL if kind[0] == _FULL else None
    of_matrix = _OF_MATRIX[0]
    of_matrix(handle, _ORIENTATION, kind)
    if kind[0] != _BY_ROW:
        return None
    of_matrix(handle, _STATUS, kind)
    return _BY_ROWS.get(kind[0])


class _Cells:
    """The pointers, sizes and settings that a loan writes; used again, as making each takes half a microsecond."""

    __slots__ = ("control", "iso", "listed", "pointers", "sizes", "switch", "unpacked")

    def __init__(self, format: Format) -> None:
        indices, listed = format.indices, format.listed
        self.pointers = [_new("GrB_Index**") for _ in range(indices)] + [_new("void**")]
        self.sizes, self.iso, self.listed = _new("GrB_Index[4]"), _new("bool*"), _new("GrB_Index*")
        self.control, self.switch = _new("int32_t*"), _new("double*")
        places = [self.sizes + k for k in range(indices + 1)]
        self.unpacked = *self.pointers, *places, self.iso, *(self.listed,) * listed, *(_NULL,) * (format.sorted + 1)


class Lent:
    """A context that lends an object's arrays, which are valid within it alone; the object has no content meanwhile.

    It gives a list of arrays, the values last, whether one value stands for all, and the number of listed rows, or
    None. Arrays may be longer than their content. The object's format and settings remain. Without `values` there are
    none in the last array.
    """

    __slots__ = ("_cells", "_format", "_settings", "_store", "_values")

    _format: Any

    def __init__(self, store: Any, format: Format, *, values: bool = True) -> None:
        self._store, self._format, self._values = store, format, values

    def __enter__(self) -> tuple[list[NDArray[Any]], bool, Any]:
        store, format = self._store, self._format
        handle, free = store.gb_obj[0], format.free
        try:
            cells = self._cells = free.pop()
        except IndexError:
            cells = self._cells = _Cells(format)
        self._settings = _read(handle, format.options, cells)
        status = format.unpack(handle, *cells.unpacked)
        if status:
            native.gb.exceptions.check_status(status, store)
        try:
            pointers, sizes, last = cells.pointers, cells.sizes, format.indices
            found = [_seen(pointers[k][0], sizes[k], _INDEX) for k in range(last)]
            found.append(_seen(pointers[last][0], sizes[last], store.dtype.np_type) if self._values else _NO_VALUES)
            return found, cells.iso[0], cells.listed[0] if format.listed else None
        except BaseException:  # the object gets its content back
            Lent.__exit__(self)
            raise

    def __exit__(self, *error: object) -> None:
        format, cells = self._format, self._cells
        handle, sizes = self._store.gb_obj[0], cells.sizes[0 : format.indices + 1]
        number = (cells.listed[0],) if format.listed else ()
        status = format.pack(handle, *cells.pointers, *sizes, cells.iso[0], *number, *_UNSORTED[: format.sorted], _NULL)
        if status:
            native.gb.exceptions.check_status(status, self._store)
        if format.packed is None:
            format.packed = _read(handle, format.options, cells)
        if self._settings != format.packed:
            control, *values = self._settings
            _, set_control, _, set_switch, fields = format.options
            set_control(handle, _CONTROL, control)
            for field, value in zip(fields, values, strict=True):
                set_switch(handle, field, value)
        format.free.append(cells)


def _read(handle: Any, options: tuple[Any, ...], cells: _Cells) -> list[Any]:
    """Return the values of the settings that SuiteSparse forgets when it packs."""
    get_control, _, get_switch, _, fields = options
    control, switch = cells.control, cells.switch
    get_control(handle, _CONTROL, control)
    found = [control[0]]
    for field in fields:
        get_switch(handle, field, switch)
        found.append(switch[0])
    return found


def _seen(pointer: Any, nbytes: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return SuiteSparse's memory as an array."""
    if not nbytes:
        return np.empty(0, dtype)
    whole = nbytes - nbytes % dtype.itemsize  # of values there may be room for more
    return np.frombuffer(_buffer(pointer, whole), dtype)


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

    Values are of the positions `at`, ascending and distinct, or of all; then `present` says which of them are entries.
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

    `indptr` says where each of these rows begins in `ids`, which ascend in each.
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
    """Return python-graphblas's object of what SuiteSparse made of arrays, which NumPy does not free any more."""
    if status:
        native.gb.exceptions.check_status_carg(status, kind.__name__, made[0])
    for array in arrays:
        if array is not None:
            unclaim_buffer(array)
    return acyclic(kind._from_obj(made, *about, name=""))
