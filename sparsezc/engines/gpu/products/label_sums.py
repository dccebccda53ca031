"""The sums of a matrix's entries by the labels of rows and columns (ops/labels.py, label_sums.cu)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.elementwise.filter import Kept
from sparsezc.engines.gpu.products import labels
from sparsezc.engines.gpu.products.labels import Case
from sparsezc.engines.gpu.runtime import boolean_reductions, codegen, groups, launch
from sparsezc.engines.gpu.storage import row_blocks
from sparsezc.engines.gpu.storage.assembly import assemble, rows_of
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore
from sparsezc.exceptions import InvalidValue
from sparsezc.memory.placement import FITS

_PAIR_BYTES = 64  # bytes of a possible pair of labels, with its sum, while pairs are sorted
_LEAST_BITS = (
    12  # least bits for a sum in its pair's word: a larger sum is listed in parts, and all sums are below 2^32
)
_FEW_ROWS = 8  # mean rows of a label up to which a row's entries seldom share a label: each entry is listed as a pair
_LONG_ROW = 2048  # entries of a row that a warp lists at most; a block lists a longer one


def sum_by_labels(e: Any) -> MatrixStore:
    """Return the matrix of sums, computed for a range of labels at a time if all pairs do not fit."""
    A, given = e.operands
    xp, store, width = cuda.current().xp, A._store, e.shape[0]
    if not width:
        return MatrixStore(e.dtype, 0, 0, None)
    label = labels.checked_labels(e, given)
    rows = rows_of(store)
    lengths = rows.indptr[1:] - rows.indptr[:-1]
    counted = (label < width) & (lengths > 0)
    if not boolean_reductions.any_true(counted):
        return MatrixStore(e.dtype, width, width, None)
    # most pairs of each label: a row has at most one for each entry, and one for each label
    most = xp.bincount(label[counted], xp.minimum(lengths[counted], width), width).astype(np.int64)
    before = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(most)])
    sums = _Sums(e, A.dtype, rows, label, counted, lengths, before)
    return assemble(row_blocks.blocks([before], _PAIR_BYTES), sums.make, e.shape, e.dtype, FITS)


class _Found(NamedTuple):
    """The arrays for pairs that kernels find, the fields of Pairs in label_sums.cu; 0 for one that is not used."""

    pairs: Any
    totals: Any
    bits: int
    found: Any
    capacity: int


class _Sums:
    """The data that the computations of all row blocks of a result share."""

    def __init__(self, e: Any, dtype: Any, rows: Any, label: Any, counted: Any, lengths: Any, before: Any) -> None:
        self.rows, self.width, self.before, self.kind = rows, e.shape[0], before, e.dtype.np_type
        self.counted, self.lengths, self.label = counted, lengths, label
        reads, counts, long = "x" in e.op.reads, self.kind.kind == "u", rows.nrows >= 2**32
        self.case = Case(dtype, rows.wide, rows.iso, reads, long, counts, loops=True)
        self.stored = label.astype(np.uint64 if long else np.uint32)
        self.limits = (8, 32, *labels.most_entries(self.case))
        self.are_few = int(counted.sum()) <= _FEW_ROWS * self.width

    def make(self, first: int, last: int, whole: bool) -> tuple[Any, Any, Any]:
        """Return rows first .. last-1 of the result: offsets, ids and values."""
        xp, width = cuda.current().xp, self.width
        most = int(self.before[last] - self.before[first])
        every = (last - first) * width
        inside = self.counted
        if (first, last) != (0, width):
            inside = inside & (self.label >= first) & (self.label < last)
        listed = xp.flatnonzero(inside)
        starts = xp.arange(last - first + 1, dtype=np.uint64) * np.uint64(width)
        bits = 64 - int(every).bit_length() if self.case.counts else 0
        if every <= max(most, 1 << 12):
            totals = xp.zeros(every, self.kind)
            self._add(listed, first, _Found(0, totals, 0, 0, 0))
            keys = xp.flatnonzero(totals).astype(np.uint64)
            sums = totals[keys]
        elif bits >= _LEAST_BITS:
            return self._sorted_with_sums(listed, first, most, starts, min(bits, 32))
        else:
            keys, sums = self._sorted(listed, first, most)
        return xp.searchsorted(keys, starts).astype(np.int64), keys % np.uint64(width), sums

    def _sorted(self, listed: Any, first: int, most: int) -> tuple[Any, Any]:
        """Return the pairs of the listed rows, sorted, and the sum of each."""
        xp = cuda.current().xp
        pairs, totals, count = self._listed(listed, first, most, 0)
        order = xp.argsort(pairs)
        pairs, sums = pairs[order], totals[:count][order]
        last = xp.concatenate([pairs[1:] != pairs[:-1], xp.ones(1, np.bool_)])
        ends = xp.flatnonzero(last)
        sums = xp.bincount(xp.cumsum(last) - last, sums, ends.size)
        kept = xp.flatnonzero(sums)
        return pairs[ends][kept], sums[kept].astype(self.kind)

    def _sorted_with_sums(self, listed: Any, first: int, most: int, starts: Any, bits: int) -> tuple[Any, Any, Any]:
        """Return rows of the result by sorting words of a pair with its sum in the lowest bits (label_pairs.cu)."""
        gpu = cuda.current()
        xp = gpu.xp
        if self.are_few and self._are_small(2**bits):
            pairs = self._entries(listed, first, bits)
        else:
            pairs = self._listed(listed, first, most + (2**32 >> bits), bits)[0]
        pairs.sort()
        sorted_pairs = {"count": pairs.size, "pairs": pairs, "bits": bits}
        words = xp.empty(-(-pairs.size // 32), np.uint32)
        grid = launch.blocks(gpu, pairs.size)
        self._kernel("first_of_pairs").launch(grid, **sorted_pairs, first=words)
        kept = Kept.of(pairs.size, words)
        ids, sums = xp.empty(kept.count(), np.uint32), xp.zeros(kept.count(), np.uint32)
        self._kernel("add_pairs").launch(
            grid, **sorted_pairs, first=words, before=kept.before, width=self.width, ids=ids, sums=sums
        )
        return kept.offsets(xp.searchsorted(pairs, starts << np.uint64(bits)).astype(np.int64)), ids, sums

    def _listed(self, listed: Any, first: int, capacity: int, bits: int) -> tuple[Any, Any, int]:
        """Return the pairs of the listed rows, unsorted, with sums in the lowest `bits` or, if 0, in a second array."""
        xp = cuda.current().xp
        totals = groups.NULL if bits else xp.empty(capacity, self.kind)
        found = _Found(xp.empty(capacity, np.uint64), totals, bits, xp.zeros(1, np.uint64), capacity)
        self._add(listed, first, found)
        count = int(found.found[0])
        if count > capacity:
            raise InvalidValue("sum_by_labels: the sum of all entries is 2^32 or more; dtype FP64 is needed")
        return found.pairs[:count], totals, count

    def _entries(self, listed: Any, first: int, bits: int) -> Any:
        """Return a pair for each entry of the listed rows, with its weight in the lowest `bits`."""
        gpu, rows = cuda.current(), self.rows
        xp = gpu.xp
        is_long = self.lengths[listed] > _LONG_ROW
        listed = xp.concatenate([listed[~is_long], listed[is_long]])
        ends = xp.cumsum(self.lengths[listed])
        pairs = xp.empty(int(ends[-1]), np.uint64)
        stats.counted(self._kernel("list_pairs"), placements.in_device_memory(rows))(
            launch.blocks(gpu, 32 * listed.size), count=listed.size, nshort=int((~is_long).sum()),
            rows=listed.astype(np.uint64), places=ends - self.lengths[listed], indptr=rows.indptr,
            indices=rows.arguments.indices, values=rows.arguments.values, label=self.stored, width=self.width,
            least=first, bits=bits, pairs=pairs,
        )  # fmt: skip
        return pairs

    def _are_small(self, limit: int) -> bool:
        """Return whether each weight is below a limit and the sum of all is below 2^32."""
        rows = self.rows
        if not self.case.reads:
            return bool(rows.nvals < 2**32)
        largest, total = 0.0, 0.0
        for start, stop in row_blocks.pieces(rows.values.count, 2 * rows.values.dtype.itemsize):
            weights = rows.values.load(start, stop)
            largest, total = max(largest, float(weights.max())), total + float(weights.sum(dtype=np.float64))
        return largest < limit and total * (rows.nvals if rows.iso else 1) < 2**32

    def _kernel(self, name: str) -> Any:
        return codegen.kernel(cuda.current(), "label_pairs.cu", labels.types(self.case), name)

    def _add(self, listed: Any, first: int, found: _Found) -> None:
        """List the pairs of the listed rows, or add them to the dense totals."""
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
        stats.counted(kernel, placements.in_device_memory(rows))(
            tables.keys.size // tables.slots if longest else grid, tables, found, count=listed.size,
            rows=listed.astype(np.uint64), indptr=rows.indptr, indices=rows.arguments.indices,
            values=rows.arguments.values, label=self.stored, width=self.width, least=least,
            counter=gpu.xp.zeros(1, np.uint64),
        )  # fmt: skip
