"""The arrays of a python-graphblas Matrix or Vector, lent by SuiteSparse, and Vectors that take arrays over.

python-graphblas's own methods take 30 times as long, which is more than a search of a small graph.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from suitesparse_graphblas import ffi, lib
from suitesparse_graphblas.utils import unclaim_buffer

from sparsezc.engines.cpu.suitesparse import native
from sparsezc.engines.cpu.suitesparse.expressions import acyclic

__all__ = ["CSR", "FULL", "HYPERCSR", "TABLE", "Lent", "format_of", "new_vector"]


class Format(NamedTuple):
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
    """

    unpack: Any
    pack: Any
    options: tuple[Any, ...]
    indices: int = 0
    listed: int = 0
    sorted: int = 0


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
    """What a loan writes: pointers, sizes, settings. They are used again, as making each takes half a microsecond."""

    __slots__ = ("control", "iso", "listed", "pointers", "sizes", "switch", "unpacked")

    def __init__(self, indices: int, listed: int, sorted: int) -> None:
        self.pointers = [_new("GrB_Index**") for _ in range(indices)] + [_new("void**")]
        self.sizes, self.iso, self.listed = _new("GrB_Index[4]"), _new("bool*"), _new("GrB_Index*")
        self.control, self.switch = _new("int32_t*"), _new("double*")
        places = [self.sizes + k for k in range(indices + 1)]
        self.unpacked = *self.pointers, *places, self.iso, *(self.listed,) * listed, *(_NULL,) * (sorted + 1)


class Lent:
    """A context that lends an object's arrays, which are valid within it alone; the object has no content meanwhile.

    It gives a list of arrays, the values last, whether one value stands for all, and the number of listed rows, or
    None. Arrays may be longer than their content. The object's format and settings remain. Without `values` there are
    none in the last array.
    """

    __slots__ = ("_cells", "_format", "_settings", "_store", "_values")

    def __init__(self, store: Any, format: Format, *, values: bool = True) -> None:
        self._store, self._format, self._values = store, format, values

    def __enter__(self) -> tuple[list[NDArray[Any]], bool, int | None]:
        store, (unpack, _, options, indices, listed, sorted) = self._store, self._format
        handle = store.gb_obj[0]
        free = _free[indices, listed]
        try:
            cells = self._cells = free.pop()
        except IndexError:
            cells = self._cells = _Cells(indices, listed, sorted)
        self._settings = _read(handle, options, cells)
        status = unpack(handle, *cells.unpacked)
        if status:
            native.gb.exceptions.check_status(status, store)
        try:
            pointers, sizes = cells.pointers, cells.sizes
            found = [_seen(pointers[k][0], sizes[k], _INDEX) for k in range(indices)]
            if self._values:
                found.append(_seen(pointers[indices][0], sizes[indices], store.dtype.np_type))
            else:
                found.append(_NO_VALUES)
            return found, cells.iso[0], cells.listed[0] if listed else None
        except BaseException:  # the object gets its content back
            self.__exit__()
            raise

    def __exit__(self, *error: object) -> None:
        store, (_, pack, options, indices, listed, sorted) = self._store, self._format
        handle, cells = store.gb_obj[0], self._cells
        sizes, number = cells.sizes[0 : indices + 1], (cells.listed[0],) * listed
        status = pack(handle, *cells.pointers, *sizes, cells.iso[0], *number, *(False,) * sorted, _NULL)
        if status:
            native.gb.exceptions.check_status(status, store)
        packed = _packed.get(pack)
        if packed is None:
            packed = _packed[pack] = _read(handle, options, cells)
        if self._settings != packed:
            control, *values = self._settings
            options[1](handle, _CONTROL, control)
            for field, value in zip(options[4], values, strict=True):
                options[3](handle, field, value)
        _free[indices, listed].append(cells)


#: Cells that no loan uses, by the numbers of arrays and of listed rows.
_free: defaultdict[tuple[int, int], list[_Cells]] = defaultdict(list)
#: The settings that an object has after a packing, by its function: reading them again takes as long as packing.
_packed: dict[Any, list[Any]] = {}


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
    if status:
        native.gb.exceptions.check_status_carg(status, "Vector", made[0])
    for array in (values, at, present):
        if array is not None:
            unclaim_buffer(array)
    return acyclic(native.gb.Vector._from_obj(made, dtype, size, name=""))
