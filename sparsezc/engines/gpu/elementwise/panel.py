"""Panels: matrices of few rows, or of few columns, stored as one dense vector.

The k values of each of the many columns (or rows) are consecutive: a product with a large sparse matrix reads that
matrix once for all k, and elementwise operations are those of vectors. Products make panels (spmm.py). For an operation
that takes no panels, panel.cu converts the panel to CSR rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.device import cuda
from sparsezc.engines.gpu.elementwise import vector_map
from sparsezc.engines.gpu.runtime import codegen, launch, presence_words
from sparsezc.engines.gpu.runtime.codegen import typedefs
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.engines.gpu.storage.vector_store import MaskBits, VectorStore
from sparsezc.expr.dispatch import Write
from sparsezc.memory import budget
from sparsezc.memory.buffer import index_dtype
from sparsezc.memory.device import DeviceBuffer
from sparsezc.semirings.types.datatypes import DataType

WIDTH = 256  # most columns (or rows) of a panel
_LONG = 32  # least ratio of a panel's length to its width


class _LateVector(VectorStore):
    """A vector whose values are computed, or waited for, at their first read."""

    __slots__ = ()

    def __init__(self, dtype: DataType, size: int, bits: Any, count: int | None) -> None:
        super().__init__(dtype, size)
        self.bits, self.count = bits, count
        del self.values

    def __getattr__(self, name: str) -> Any:
        """Return an attribute that is not set yet: the values, until their first read."""
        if name != "values":
            raise AttributeError(name)
        self.values = self.late_values()
        return self.values

    def late_values(self) -> Any:
        raise NotImplementedError

    def are_late(self) -> bool:
        """Return whether the values have been neither read nor replaced yet."""
        try:
            object.__getattribute__(self, "values")
        except AttributeError:
            return True
        return False


class SameVector(_LateVector):
    """An iso-valued vector, whose value `same` is written to an array at the first read of `values`."""

    __slots__ = ("same",)

    def __init__(self, dtype: DataType, size: int, bits: Any, same: Any, count: int | None = None) -> None:
        super().__init__(dtype, size, bits, count)
        self.same: Any = same

    def late_values(self) -> Any:
        filled = VectorStore(self.dtype, self.size)  # values at absent positions are undefined
        vector_map.write_scalar(self.same, self.dtype, filled, Write(MaskBits(self.bits), None, False))
        return filled.values

    def set(self, values: Any, bits: Any, count: int | None = None) -> None:
        if self.same is not None:
            self.same, self.values = None, values
        super().set(values, bits, count)

    def written(self, count: int | None = None, neutral: Any = None) -> None:
        self.same = None
        super().written(count, neutral)


class ArrivingVector(_LateVector):
    """A full vector whose values are being copied from a host array, which stays unchanged until their first read.

    A statement that reads `values` waits for all of them; one that iterates over `parts` processes them as they arrive.
    """

    __slots__ = ("_arrival", "_array")

    def __init__(self, dtype: DataType, host: NDArray[Any]) -> None:
        gpu = cuda.current()
        self._array = gpu.xp.empty(host.size, host.dtype)
        self._arrival: Any = gpu.copy_pageable(self._array, host)
        super().__init__(dtype, host.size, presence_words.full(host.size), host.size)

    def late_values(self) -> Any:
        self._arrival.wait(self._array.nbytes)
        array, self._array, self._arrival = self._array, None, None
        return array

    def arrive(self) -> None:
        """Wait until all values have arrived."""
        if self.are_late():
            self.values = self.late_values()

    def parts(self, least: int) -> Iterator[Any]:
        """Yield consecutive parts of the values as they arrive, each but the last of at least `least` values."""
        if not self.are_late():
            yield self.values
            return
        array, arrival, first = self._array, self._arrival, 0
        while first < self.size:
            wanted = min(first + least, self.size) * array.itemsize
            last = arrival.wait(wanted) // (array.itemsize * least) * least
            last = last if last > first else self.size
            yield array[first:last]
            first = last


@dataclass(eq=False)
class Panel:
    """A matrix of `width` rows or columns: entry (r, j), or (j, r), is the vector's entry j * width + r."""

    width: int
    across: bool  # the matrix has `width` rows
    vector: VectorStore

    @property
    def length(self) -> int:
        return self.vector.size // self.width

    def rows(self) -> Rows | None:
        """Return the matrix as CSR rows; None if it has no entries."""
        count = self.vector.nvals()
        if count == 0:
            return None
        return self._across(count) if self.across else self._along(count)

    def cast(self, dtype: DataType) -> Panel:
        """Return a copy with values of another type."""
        return Panel(self.width, self.across, vector_map.cast(self.vector, dtype))

    def _along(self, count: int) -> Rows:
        xp = cuda.current().xp
        at = presence_words.positions(self.vector.bits, self.vector.size)
        indptr = xp.searchsorted(at, xp.arange(self.length + 1, dtype=np.int64) * self.width)
        ids = (at % self.width).astype(index_dtype(self.width, "device"))
        values, iso = self._values(at)
        return Rows(self.length, self.width, count, indptr, DeviceBuffer(ids), DeviceBuffer(values), iso)

    def _across(self, count: int) -> Rows:
        gpu = cuda.current()
        xp = gpu.xp
        nwords = -(-self.length // 32)
        counts = xp.empty(self.width * nwords, np.int64)
        kernel = codegen.kernel(gpu, "panel.cu", typedefs(Id="u32"), "panel_rows")
        blocks = launch.blocks(gpu, 32 * nwords)
        given = {"length": self.length, "width": self.width, "bits": self.vector.bits, "counts": counts}
        kernel.launch(blocks, **given, before=0, ids=0, at=0)
        before = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(counts)])
        same = isinstance(self.vector, SameVector) and self.vector.same is not None
        ids, at = xp.empty(count, np.uint32), xp.empty(0 if same else count, np.int64)
        kernel.launch(blocks, **given, before=before, ids=ids, at=0 if same else at)
        values, iso = self._values(at)
        indptr = before[xp.arange(self.width + 1) * nwords]
        indices = DeviceBuffer(ids.astype(index_dtype(self.length, "device"), copy=False))
        return Rows(self.width, self.length, count, indptr, indices, DeviceBuffer(values), iso)

    def _values(self, at: Any) -> tuple[Any, bool]:
        vector = self.vector
        if isinstance(vector, SameVector) and vector.same is not None:
            return cuda.current().xp.full(1, vector.same, vector.dtype.np_type), True
        return vector.values[at], False


def shape_of(nrows: int, ncols: int) -> tuple[int, bool] | None:
    """Return the width of a panel of this shape and whether the width counts rows; None if the shape is not narrow."""
    width, length = sorted((nrows, ncols))
    if not 1 <= width <= WIDTH or length < _LONG * width or length >= 2**32:
        return None
    return width, nrows < ncols


def fits(size: int, *dtypes: DataType) -> bool:
    """Return whether panels of these types fit in device memory together."""
    needed = sum(size * (dtype.np_type.itemsize + 1) for dtype in dtypes)
    return needed == 0 or needed <= budget.available() // 2


def get_or_build(store: MatrixStore, width: int, across: bool) -> Panel:
    """Return the panel of a matrix, which the matrix keeps."""
    if store.panel is None:
        store.keep_panel(build(store, width, across))
    panel: Panel = store.panel
    return panel


def build(store: MatrixStore, width: int, across: bool) -> Panel:
    """Return a matrix of any shape as a panel, which the matrix does not keep."""
    made = Panel(width, across, VectorStore(store.dtype, store.nrows * store.ncols))
    rows = store.rows
    if rows is not None:
        _put(rows, made)
    return made


def put_panel(store: MatrixStore, made: Panel) -> MatrixStore:
    """Store a panel as the content of a new matrix: as a panel if the matrix's shape is narrow, otherwise as rows."""
    if shape_of(store.nrows, store.ncols) == (made.width, made.across):
        store.hold(made)
    else:
        store.replace(made.rows())
    return store


def _put(rows: Rows, panel: Panel) -> None:
    """Fill a panel with the entries of some rows."""
    xp = cuda.current().xp
    at = rows.indices.load().astype(np.int64)
    row = xp.searchsorted(rows.indptr, xp.arange(rows.nvals, dtype=np.int64), side="right") - 1
    at = at * panel.width + row if panel.across else row * panel.width + at
    if rows.iso:
        bits = presence_words.mark(at.astype(np.uint64), panel.vector.size)
        same = rows.values.read(0, 1)[0]
        panel.vector = SameVector(panel.vector.dtype, panel.vector.size, bits, same, rows.nvals)
    else:
        panel.vector.put(at, rows.values.load())
