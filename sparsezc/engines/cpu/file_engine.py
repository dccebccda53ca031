"""The engine of matrices that stay in a mapped file: compiled loops read them there; statements read them into memory.

So a graph that is larger than the memory can be searched without a GPU: the system keeps as many of the file's pages in
memory as there is space for. The offsets of rows are mapped, too; only an algorithm's own arrays take memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu.compiled_loops import run_arrays, run_in_place
from sparsezc.engines.cpu.suitesparse import native
from sparsezc.engines.cpu.suitesparse.row_arrays import RowArrays
from sparsezc.exceptions import OutOfMemory
from sparsezc.expr.dispatch import Write
from sparsezc.expr.expression import Expression
from sparsezc.expr.mask import Mask
from sparsezc.memory import wrap
from sparsezc.memory.csr import Csr
from sparsezc.memory.mapped import MappedBuffer, check_rows
from sparsezc.semirings.types.datatypes import DataType, cast

__all__ = ["FileEngine", "reader"]

_PIECE = 1 << 18  # values that are reduced at a time


class FileStore:
    """A matrix with its ids in a file; see :class:`~sparsezc.memory.csr.Csr`."""

    def __init__(self, csr: Csr) -> None:
        self.csr = csr

    @cached_property
    def pattern(self) -> RowArrays:
        """The arrays without values, checked at first use."""
        csr = self.csr
        if isinstance(csr.indices, MappedBuffer):
            check_rows(csr.indices.path, csr)
            ids = csr.indices.array  # not read(), which checks all ids once more
        else:
            ids = csr.indices.read()
        signed: Any = ids.view(np.int64) if ids.dtype == np.uint64 else ids
        return RowArrays(csr.indptr, signed, np.empty(0, csr.dtype.np_type), csr.iso)

    @cached_property
    def rows(self) -> RowArrays:
        """All arrays; values are checked at first use."""
        return self.pattern._replace(values=self.csr.values.read())


class FileEngine:
    """An engine that runs only loops: for statements its matrices move to `in_memory`, the CPU engine."""

    name = "file"
    lock = None

    def __init__(self, in_memory: Any) -> None:
        self.in_memory = in_memory

    def run(self, expression: Expression, out: Any, write: Write[Mask | None]) -> None:
        """Reduce a matrix to one value piece by piece; for other statements read it into memory, and run it there."""
        if expression.operation == "reduce":
            out._receive(expression, _reduced(expression.operands[0]._store.csr, expression.op), write.accum)
            return
        masks = [] if write.mask is None else [write.mask.parent]
        for x in (out, *expression.operands, *masks):
            if x._stored and x._engine is self:
                self.load(x)
        self.in_memory.run(expression, out, write)

    def load(self, x: Any) -> None:
        """Move a matrix to the CPU engine (a capability).

        Raises
        ------
        OutOfMemory
            The matrix does not fit in memory.
        """
        try:
            x._settle(self.in_memory)
        except OutOfMemory as error:
            raise OutOfMemory(
                f"{x.name} stays in its file, where the loops of searches, components and PageRank read it; other"
                f" statements need it in memory: {error}"
            ) from None

    def nvals(self, store: FileStore) -> int:
        return store.csr.nvals

    def matrix_from_csr(self, csr: Csr) -> FileStore:
        return FileStore(csr)

    def matrix_to_csr(self, store: FileStore) -> Csr:
        _, csr = store.rows, store.csr  # `rows` checks the arrays
        if isinstance(csr.indices, MappedBuffer):
            return csr
        ids, values = (wrap(each.read().copy()) for each in (csr.indices, csr.values))  # after a resize or clear
        return Csr(csr.nrows, csr.ncols, csr.indptr.copy(), ids, values, csr.dtype, csr.iso)

    def dup(self, store: FileStore, dtype: DataType) -> FileStore:
        """Return the same pattern, in the file, with its values there or, of another type, in memory."""
        csr = store.csr
        values = csr.values if dtype is csr.dtype else wrap(cast(csr.values.read(), dtype))
        return FileStore(Csr(csr.nrows, csr.ncols, csr.indptr, csr.indices, values, dtype, csr.iso))

    def clear(self, store: FileStore) -> None:
        csr = store.csr
        offsets, ids = np.zeros(csr.nrows + 1, np.int64), np.empty(0, np.uint32)
        self._put(store, Csr.from_arrays(offsets, ids, [], csr.ncols, dtype=csr.dtype))

    def resize(self, store: FileStore, *shape: int) -> None:
        here = self.in_memory
        made = here.matrix_from_csr(store.csr)
        here.resize(made, *shape)
        self._put(store, here.matrix_to_csr(made))

    def _put(self, store: FileStore, csr: Csr) -> None:
        store.csr = csr
        for name in ("pattern", "rows"):
            store.__dict__.pop(name, None)

    def wait(self, store: FileStore) -> None:
        pass

    def summary(self, store: FileStore) -> str:
        """Return a summary without reading entries (a capability)."""
        where = store.csr.indices
        said = f"{store.csr.nvals:,} entries"
        return f"{said} in {where.path}" if isinstance(where, MappedBuffer) else said

    def row_lengths(self, store: FileStore) -> NDArray[np.int64]:
        """Count the entries of each row (a capability)."""
        return np.diff(store.csr.indptr)

    def run_loop(
        self, store: FileStore, loop: Callable[..., Any], given: tuple[Any, ...], _: float, values: Any,
        over: range | None, again: Callable[[list[Any]], bool] | None,
    ) -> Any:  # fmt: skip
        """Run a compiled loop over the rows, read where they are (a capability)."""
        parts = store.pattern if values is None else store.rows
        for buffer in (store.csr.indices, store.csr.values):  # after comparing checksums, which reads all in order
            if isinstance(buffer, MappedBuffer):
                buffer.expect(jumps=getattr(loop, "is_jumping", False))
        return run_in_place(parts, loop, given, values, over, again)

    def run_arrays(self, *given: Any) -> Any:
        """Run a compiled loop over arrays (a capability)."""
        return run_arrays(*given)


def _reduced(csr: Csr, op: Any) -> Any:
    """Return all values reduced by a monoid; None if there are none."""
    if not csr.nvals:
        return None
    gb, fold, theirs = native.gb, native.operator(op), native.type_of(csr.dtype)
    if csr.iso:
        return gb.Vector.from_scalar(csr.values.read()[0], csr.nvals, theirs).reduce(fold).new().value
    starts = range(0, csr.nvals, _PIECE)
    pieces = (gb.Vector.from_dense(csr.values.read(at, at + _PIECE), dtype=theirs) for at in starts)
    found = [piece.reduce(fold).new().value for piece in pieces]
    return gb.Vector.from_dense(found, dtype=native.type_of(op.return_type)).reduce(fold).new().value


@cache
def _beside(in_memory: Any) -> FileEngine:
    return FileEngine(in_memory)


def reader(in_memory: Any, csr: Csr) -> FileEngine | None:
    """Return the engine beside the CPU engine that reads a mapped matrix; None if its ids are compressed."""
    return _beside(in_memory) if isinstance(csr.indices, MappedBuffer) else None
