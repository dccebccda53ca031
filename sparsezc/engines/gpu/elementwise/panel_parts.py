"""Rows, columns and sums of panels, and vectors as panels (panel_gather.cu, panel_fold.cu)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.elementwise.panel import ArrivingVector, Panel
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.runtime.codegen import typedefs
from sparsezc.engines.gpu.storage.vector_store import VectorStore
from sparsezc.semirings.types.datatypes import DataType

_SUMS = 1 << 18  # partial sums of all columns that one launch computes: as many as a GPU has threads
_FEW = 64  # rows that one thread adds up


class Places(NamedTuple):
    """The position of a panel's entry (r, c) in another panel or vector: see panel_gather.cu."""

    width: int
    base: int
    row_step: int
    column_step: int


class Region(NamedTuple):
    """Rows and consecutive columns of a panel; `rows`: row indices on the device, or None: `nrows` from `first` on."""

    first: int
    nrows: int
    column: int
    ncols: int
    rows: Any = None

    def places(self, width: int) -> Places:
        """Return the positions of the region's entries in a panel of `width`."""
        base = self.column + (0 if self.rows is not None else self.first * width)
        return Places(self.ncols, base, width, 1)


def region_of(panel: Panel, i: Any, j: Any) -> Region | None:
    """Return the part of a panel that two index lists select; None if its columns are not consecutive."""
    long, few = (j, i) if panel.across else (i, j)
    column, row = _range_of(few), _range_of(long)
    if column is None:
        return None
    if row is not None:
        return Region(row[0], row[1], *column)
    if long.kind == "range":
        rows = cuda.current().xp.arange(long.key.start, long.key.stop, long.key.step, dtype=np.int64)
    else:
        rows = cuda.current().xp.asarray(np.asarray(long.key, np.int64))
    return Region(0, int(rows.size), *column, rows)


def _range_of(index: Any) -> tuple[int, int] | None:
    """Return the first position of an index list and their number; None if they are not consecutive."""
    if index.kind == "all":
        return 0, index.size
    if index.kind == "one":
        return index.key, 1
    if index.kind == "range" and index.key.step == 1:
        return index.key.start, index.size
    return None


def extract(panel: Panel, region: Region) -> VectorStore:
    """Return a part of a panel as the vector of a panel of width `region.ncols`."""
    return _gathered(panel.vector, region.nrows * region.ncols, region.places(panel.width), region.rows)


def put(new: VectorStore, panel: Panel, region: Region) -> None:
    """Replace a part of a panel by the entries of `new`, of the same type; entries that `new` lacks are deleted."""
    vector = panel.vector
    if vector.bits is None:
        vector.make()
    if new.bits is None:
        new.make()
    kernel = codegen.kernel(cuda.current(), "panel_gather.cu", typedefs(T=new.dtype), "put")
    was_full = vector.is_full and new.is_full
    values, bits = new.operands()
    kernel.launch(
        launch.blocks(cuda.current(), new.size), size=new.size, u=values, u_bits=bits,
        **region.places(panel.width)._asdict(), out=vector.values, out_bits=vector.bits,
    )  # fmt: skip
    vector.set(vector.values, vector.bits, vector.size if was_full else None)


def spread(v: VectorStore, like: Panel, by_length: bool) -> VectorStore:
    """Return the vector of a panel like `like` with v(r) all along row r (`by_length`), or v(c) along column c."""
    places = Places(like.width, 0, int(by_length), int(not by_length))
    return _gathered(v, like.vector.size, places, None)


def _gathered(u: VectorStore, size: int, places: Places, rows: Any) -> VectorStore:
    gpu, made = cuda.current(), VectorStore(u.dtype, size)
    u.nvals()  # counts the entries: if the vector is full, its presence words are not read
    values, bits = u.operands()
    made.set(gpu.xp.empty(size, u.dtype.np_type), gpu.xp.empty(made.nwords, np.uint32), size if u.is_full else None)
    kernel = codegen.kernel(gpu, "panel_gather.cu", typedefs(T=u.dtype), "gather")
    kernel.launch(
        launch.blocks(gpu, size), size=size, u=values, u_bits=bits, **places._asdict(),
        rows=0 if rows is None else rows, out=made.values, out_bits=made.bits,
    )  # fmt: skip
    return made


def fold(monoid: Any, panel: Panel, along_rows: bool) -> VectorStore:
    """Return the monoid's sum of each row (of `width` consecutive values), or of each column, of a panel."""
    u, width = panel.vector, panel.width
    u.nvals()
    if along_rows:
        return _folded(monoid, u, panel.length, Places(1, width, 1, width))
    length = panel.length
    while True:
        each = max(_FEW, -(-length * width // _SUMS))
        length = -(-length // each)
        u = _folded(monoid, u, length * width, Places(width, each * width, width, each))
        if length == 1:
            return u


def _folded(monoid: Any, u: VectorStore, sums: int, how: Places) -> VectorStore:
    gpu, dtype = cuda.current(), monoid.type
    made = VectorStore(dtype, sums)
    values, bits = u.operands()
    made.set(gpu.xp.empty(sums, dtype.np_type), gpu.xp.empty(made.nwords, np.uint32), sums if u.is_full else None)
    prelude = "\n".join((typedefs(X=u.dtype, Z=dtype), codegen.monoid(monoid)))
    kernel = codegen.kernel(gpu, "panel_fold.cu", prelude, "panel_fold")
    width, piece, step, count = how
    kernel.launch(
        launch.blocks(gpu, sums), size=u.size, sums=sums, u=values, u_bits=bits, width=width, piece=piece, step=step,
        count=count, out=made.values, out_bits=made.bits,
    )  # fmt: skip
    return made


def from_full(values: Any, dtype: DataType, width: int, across: bool) -> Panel:
    """Return a two-dimensional host array as a panel; its one copy to the device may still be running."""
    host = np.ascontiguousarray(values.T if across else values, dtype.np_type).reshape(-1)
    return Panel(width, across, ArrivingVector(dtype, host))


def to_full(panel: Panel) -> Any:
    """Return a full panel as a two-dimensional host array."""
    host = cuda.current().asnumpy(panel.vector.values).reshape(panel.length, panel.width)
    return host.T if panel.across else host
