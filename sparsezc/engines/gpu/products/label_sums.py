"""The sums of a matrix's entries by the labels of rows and columns (ops/labels.py, label_sums.cu)."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.products import labels
from sparsezc.engines.gpu.products.labels import Case
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.storage import row_blocks
from sparsezc.engines.gpu.storage.assembly import assemble, placement_of, rows_of
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore

_PAIR_BYTES = 64  # of a pair that may exist: a place and a half in the table, keys and sums while they are sorted
_FREE = np.uint64(2**64 - 1)


def sum_by_labels(e: Any) -> MatrixStore:
    """Return the matrix of sums, some labels at a time where the table of all pairs would not fit."""
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
    entries = xp.bincount(label[counted], lengths[counted], width).astype(np.int64)
    before = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(xp.minimum(entries, width))])
    sums = _Sums(e, A.dtype, rows, label, counted, lengths, before)
    return assemble(row_blocks.blocks([before], _PAIR_BYTES), sums.make, e.shape, e.dtype, placement_of(store))


class _Sums:
    """What the blocks of a result have in common."""

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
        dense = every <= max(most, 1 << 12)
        places = every if dense else most + most // 2 + 1
        totals = xp.zeros(places, self.kind)
        pairs = xp.empty(0, np.uint64) if dense else xp.full(places, _FREE)
        inside = self.counted
        if (first, last) != (0, width):
            inside = inside & (self.label >= first) & (self.label < last)
        listed = xp.flatnonzero(inside)
        lengths, least = self.lengths[listed], 0
        for kind, limit in enumerate((*self.limits, self.rows.nvals)):
            at = xp.flatnonzero((lengths > least) & (lengths <= limit))
            if at.size:
                longest = int(lengths[at].max()) if kind == len(self.limits) else 0
                self._launch(kind, listed[at], longest, first, (pairs, totals, places))
            least = limit
        found = xp.flatnonzero(totals)
        sums = totals[found]
        keys = found.astype(np.uint64) if dense else pairs[found]
        del pairs, totals
        if not dense:
            order = xp.argsort(keys)
            keys, sums = keys[order], sums[order]
        starts = xp.arange(last - first + 1, dtype=np.uint64) * np.uint64(width)
        return xp.searchsorted(keys, starts).astype(np.int64), keys % np.uint64(width), sums

    def _launch(self, kind: int, listed: Any, longest: int, least: int, table: tuple[Any, Any, int]) -> None:
        gpu, rows = cuda.current(), self.rows
        tables = labels.tables(longest, int(listed.size), self.case) if longest else labels.NO_TABLES
        pairs, totals, places = table
        flags = codegen.flags(CLASS=kind, DENSE=pairs.size == 0)
        kernel = codegen.kernel(gpu, "label_sums.cu", f"{labels.types(self.case)}\n{flags}", "label_sums")
        grid = launch.blocks(gpu, (8, 32, 32, launch.THREADS, launch.THREADS)[kind] * listed.size)
        stats.counted(kernel, placements.lie_near(rows))(
            tables.keys.size // tables.slots if longest else grid, tables, count=listed.size,
            rows=listed.astype(np.uint64), indptr=rows.indptr, indices=rows.arguments.indices,
            values=rows.arguments.values, label=self.stored, width=self.width, least=least, pairs=pairs, totals=totals,
            places=places, counter=gpu.xp.zeros(1, np.uint64),
        )  # fmt: skip
