"""The sums of a matrix's entries by the labels of rows and columns (ops/labels.py, label_sums.cu)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.products import labels
from sparsezc.engines.gpu.products.labels import Case
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.storage import row_blocks
from sparsezc.engines.gpu.storage.assembly import assemble, rows_of
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore
from sparsezc.errors import InvalidValue
from sparsezc.memory.placement import FITS

_PAIR_BYTES = 64  # of a pair that may exist, with its sum, while pairs are sorted
_LEAST_BITS = (
    12  # for a sum beside its pair: one that needs more is listed in parts, and sums of all rows are below 2^32
)


def sum_by_labels(e: Any) -> MatrixStore:
    """Return the matrix of sums, some labels at a time where all pairs would not fit."""
    A, given = e.operands
    xp, store, width = cuda.current().xp, A._store, e.shape[0]
    if not width:
        return MatrixStore(e.dtype, 0, 0, None)
    label = labels.checked_labels(e, given)
    rows = rows_of(store)
    lengths = rows.indptr[1:] - rows.indptr[:-1]
    counted = (label < width) & (lengths > 0)
    if not bool(counted.any()):
        return MatrixStore(e.dtype, width, width, None)
    # a row has a pair for each label that its entries have
    most = xp.bincount(label[counted], xp.minimum(lengths[counted], width), width).astype(np.int64)
    before = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(most)])
    sums = _Sums(e, A.dtype, rows, label, counted, lengths, before)
    return assemble(row_blocks.blocks([before], _PAIR_BYTES), sums.make, e.shape, e.dtype, FITS)


class _Found(NamedTuple):
    """The pairs that kernels find; the fields are those of Pairs in label_sums.cu, 0 where there is none."""

    pairs: Any
    totals: Any
    bits: int
    found: Any
    room: int


class _Sums:
    """The part of the work that all blocks of a result share."""

    def __init__(self, e: Any, dtype: Any, rows: Any, label: Any, counted: Any, lengths: Any, before: Any) -> None:
        self.rows, self.width, self.before, self.kind = rows, e.shape[0], before, e.dtype.np_type
        self.counted, self.lengths, self.label = counted, lengths, label
        reads, counts, long = "x" in e.op.reads, self.kind.kind == "u", rows.nrows >= 2**32
        self.case = Case(dtype, rows.wide, rows.iso, reads, long, counts, loops=True)
        self.stored = label.astype(np.uint64 if long else np.uint32)
        self.limits = (8, 32, *labels.most_entries(self.case))

    def make(self, first: int, last: int, whole: bool) -> tuple[Any, Any, Any]:
        """Return the rows of some labels: offsets, ids and values."""
        xp, width = cuda.current().xp, self.width
        most = int(self.before[last] - self.before[first])
        every = (last - first) * width
        inside = self.counted
        if (first, last) != (0, width):
            inside = inside & (self.label >= first) & (self.label < last)
        listed = xp.flatnonzero(inside)
        if every <= max(most, 1 << 12):
            totals = xp.zeros(every, self.kind)
            self._add(listed, first, _Found(0, totals, 0, 0, 0))
            keys = xp.flatnonzero(totals)
            sums = totals[keys]
        else:
            keys, sums = self._sorted(listed, first, most, every)
        starts = xp.arange(last - first + 1, dtype=np.int64) * width
        return xp.searchsorted(keys, starts.astype(keys.dtype)).astype(np.int64), keys % keys.dtype.type(width), sums

    def _sorted(self, listed: Any, first: int, most: int, every: int) -> tuple[Any, Any]:
        """Return the pairs of some rows, ascending, and their sums."""
        xp = cuda.current().xp
        bits = 64 - int(every).bit_length() if self.case.counts else 0
        bits = min(bits, 32) if bits >= _LEAST_BITS else 0
        room = most + (2**32 >> bits) if bits else most
        found = _Found(
            xp.empty(room, np.uint64), 0 if bits else xp.empty(room, self.kind), bits, xp.zeros(1, np.uint64), room
        )
        self._add(listed, first, found)
        count = int(found.found[0])
        if count > room:
            raise InvalidValue("sum_by_labels: the sum of all entries is 2^32 or more; dtype FP64 is needed")
        pairs = found.pairs[:count]
        if bits:
            pairs.sort()
            sums = pairs & np.uint64(2**bits - 1)
            pairs >>= np.uint64(bits)
        else:
            order = xp.argsort(pairs)
            pairs, sums = pairs[order], found.totals[order]
        last = xp.concatenate([pairs[1:] != pairs[:-1], xp.ones(1, np.bool_)])
        ends = xp.flatnonzero(last)
        if bits:
            sums = xp.cumsum(sums)[ends]
            sums[1:] -= sums[:-1].copy()
        else:
            sums = xp.bincount(xp.cumsum(last) - last, sums, ends.size)
        pairs = pairs[ends]
        kept = xp.flatnonzero(sums)
        if kept.size < sums.size:
            pairs, sums = pairs[kept], sums[kept]
        return pairs, sums.astype(self.kind)

    def _add(self, listed: Any, first: int, found: _Found) -> None:
        """List the pairs of some rows, or add them up."""
        xp = cuda.current().xp
        lengths, least = self.lengths[listed], 0
        for kind, limit in enumerate((*self.limits, self.rows.nvals)):
            at = xp.flatnonzero((lengths > least) & (lengths <= limit))
            if at.size:
                longest = int(lengths[at].max()) if kind == len(self.limits) else 0
                self._launch(kind, listed[at], longest, first, found)
            least = max(least, limit)

    def _launch(self, kind: int, listed: Any, longest: int, least: int, found: _Found) -> None:
        gpu, rows = cuda.current(), self.rows
        tables = labels.tables(longest, int(listed.size), self.case) if longest else labels.NO_TABLES
        flags = codegen.flags(CLASS=kind, DENSE=isinstance(found.pairs, int))
        kernel = codegen.kernel(gpu, "label_sums.cu", f"{labels.types(self.case)}\n{flags}", "label_sums")
        grid = launch.blocks(gpu, (8, 32, 32, launch.THREADS, launch.THREADS)[kind] * listed.size)
        stats.counted(kernel, placements.lie_near(rows))(
            tables.keys.size // tables.slots if longest else grid, tables, found, count=listed.size,
            rows=listed.astype(np.uint64), indptr=rows.indptr, indices=rows.arguments.indices,
            values=rows.arguments.values, label=self.stored, width=self.width, least=least,
            counter=gpu.xp.zeros(1, np.uint64),
        )  # fmt: skip
