"""Up to k entries of each row (draws.cu, weighted_draws.cu, smallest_keys.cu).

Positions are found first, from the offsets in device memory and, if picks depend on them, from values, streamed as by
products. Then only the picked entries' ids and values are read, those of a row by neighbouring lanes, so that a line
with several of them is read once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.runtime import codegen, gather_scatter, launch
from sparsezc.engines.gpu.runtime.codegen import flags, typedefs
from sparsezc.engines.gpu.storage import assembly, row_blocks
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.exceptions import InvalidValue
from sparsezc.expr.sampling import MOST_FLOYD, Pick
from sparsezc.memory.device import DeviceBuffer
from sparsezc.semirings.types.datatypes import INT64, DataType

_LIST = 128  # most keys that a warp keeps in shared memory
_PIECE = 8192  # most entries of a row that one warp reads
_SLOT_BYTES = 64  # bytes of device memory of a pick, while positions are found and gathered
_SORTED_BYTES = 160  # bytes of device memory of an entry, while whole rows are sorted
_NONE = np.uint64(2**64 - 1)
_HOW = {"largest": 0, "smallest": 1, "random_weighted": 2, "random": 3}


class Found(NamedTuple):
    """Positions by row, ascending in each; the number of each row; how often each was drawn, None: once."""

    at: Any
    lengths: Any
    times: Any = None


def selectk(rows: Rows, dtype: DataType, i: Any, pick: Pick) -> MatrixStore:
    """Return the picked entries of the rows `i` (None: all); with replacement the values count the picks of each."""
    picks = Finder(rows, dtype, pick)
    xp, near = cuda.current().xp, placements.in_device_memory(rows)
    d = _lengths(rows, i)
    result = INT64 if pick.replace else dtype
    whole_rows = picks.reads_whole_rows
    slots = d if whole_rows else xp.full(d.size, pick.k, np.int64) if pick.replace else d.clip(0, pick.k)
    offsets = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(xp.maximum(slots, 1))])

    def make(first: int, last: int, whole: bool) -> tuple[Any, Any, Any]:
        found = picks.find(i, first, last)
        local = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(found.lengths)])
        if not whole:
            return local, None, None
        ids = gather_scatter.gather(rows.indices, found.at, near=near)
        if pick.replace:
            return local, ids, found.times
        return local, ids, None if rows.iso else gather_scatter.gather(rows.values, found.at, near=near)

    ranges = row_blocks.blocks([offsets], _SORTED_BYTES if whole_rows else _SLOT_BYTES)
    iso = rows.values if rows.iso and not pick.replace else None
    return assembly.assemble(ranges, make, (d.size, rows.ncols), result, DeviceBuffer.placement, iso)


def entries(rows: Rows, dtype: DataType, i: Any, pick: Pick, *, values: bool) -> tuple[Any, ...]:
    """Return places in `i`, positions, columns and values (None if not wanted) of the entries picked from rows `i`.

    An entry is listed as often as it is drawn.
    """
    picks, near, xp = Finder(rows, dtype, pick), placements.in_device_memory(rows), cuda.current().xp
    if pick.replace and pick.k and i.size:
        drawn = xp.sort(picks.drawn(i, 0), axis=1).ravel()
        there = drawn != _NONE
        at, place = drawn[there], xp.repeat(xp.arange(i.size), pick.k)[there]
    else:
        found = picks.find(i, 0, i.size)
        at = found.at
        place = xp.searchsorted(xp.cumsum(found.lengths), xp.arange(at.size), side="right")
    ids = gather_scatter.gather(rows.indices, at, near=near)
    if not values:
        return place, at, ids, None
    if rows.iso:
        return place, at, ids, xp.repeat(rows.values.load(), at.size)
    return place, at, ids, gather_scatter.gather(rows.values, at, near=near)


def _lengths(rows: Rows, i: Any) -> Any:
    lengths = rows.indptr[1:] - rows.indptr[:-1]
    return lengths if i is None else lengths[i]


class Finder:
    """A finder of the positions that a pick chooses in the rows of a matrix."""

    def __init__(self, rows: Rows, dtype: DataType, pick: Pick) -> None:
        self.rows, self.dtype, self.pick = rows, dtype, pick
        self.gpu, self.near = cuda.current(), placements.in_device_memory(rows)
        self.by_key = pick.how in ("largest", "smallest") or (pick.how == "random_weighted" and not pick.replace)
        self.reads_whole_rows = (
            pick.k > _LIST if self.by_key else (pick.how == "random" and not pick.replace and pick.k > MOST_FLOYD)
        )

    def find(self, i: Any, first: int, last: int) -> Found:
        """Return the positions for rows first .. last-1 of the result."""
        xp = self.gpu.xp
        listed = xp.arange(first, last, dtype=np.int64) if i is None else i[first:last]
        begin, end = self.rows.indptr[listed], self.rows.indptr[listed + 1]
        k, how = self.pick.k, self.pick.how
        if k == 0 or last == first:
            return Found(xp.empty(0, np.uint64), xp.zeros(last - first, np.int64), xp.empty(0, np.int64))
        if how in ("first", "last"):
            lengths = (end - begin).clip(0, k)
            return Found(_ranges(begin if how == "first" else end - lengths, lengths), lengths)
        if self.reads_whole_rows:
            return self._by_sorting(begin, end, first)
        if self.by_key:
            return self._by_key(begin, end, first)
        if self.pick.replace:
            return _counted(self.drawn(listed, first))
        at = xp.empty((last - first) * k, np.uint64)
        self._draw("floyd", listed, first, at)
        lengths = (end - begin).clip(0, k)
        return Found(at if int(lengths.sum()) == at.size else at[at != _NONE], lengths)

    def _draw(self, name: str, listed: Any, first: int, at: Any) -> None:
        kernel = codegen.kernel(self.gpu, "draws.cu", "", name)
        threads = listed.size if name == "floyd" else at.size
        kernel.launch(
            launch.blocks(self.gpu, threads), count=listed.size, range=0, k=self.pick.k, listed=listed, first=first,
            indptr=self.rows.indptr, seed=np.uint64(self.pick.seed), at=at,
        )  # fmt: skip

    def drawn(self, listed: Any, first: int) -> Any:
        """Return k positions of each row, drawn with replacement; _NONE for empty rows."""
        at = self.gpu.xp.empty((listed.size, self.pick.k), np.uint64)
        if self.pick.how == "random":
            self._draw("with_replacement", listed, first, at)
            return at
        bad = self.gpu.xp.zeros(1, np.uint32)
        kernel = codegen.kernel(self.gpu, "weighted_draws.cu", _prelude(self.dtype, self.rows.iso), "weighted_draws")
        stats.counted(kernel, self.near)(
            launch.blocks(self.gpu, 32 * listed.size), count=listed.size, k=self.pick.k, listed=listed, first=first,
            indptr=self.rows.indptr, values=self.rows.values.pointer, seed=np.uint64(self.pick.seed), at=at, bad=bad,
        )  # fmt: skip
        _check(bad)
        return at

    def _by_key(self, begin: Any, end: Any, first: int) -> Found:
        """Return the k entries with the smallest keys of each row; of long rows among the k smallest of each piece."""
        xp, k, count = self.gpu.xp, self.pick.k, begin.size
        pieces = xp.maximum(-(-(end - begin) // _PIECE), 1)
        last = xp.cumsum(pieces)
        total = int(last[-1])
        if total == count:
            row, starts, ends = xp.arange(count), begin, end
        else:
            row = xp.searchsorted(last, xp.arange(total), side="right")
            starts = begin[row] + (xp.arange(total) - (last - pieces)[row]) * _PIECE
            ends = xp.minimum(starts + _PIECE, end[row])
        keys, at = xp.empty((total, k), np.uint64), xp.empty((total, k), np.uint64)
        bad = xp.zeros(1, np.uint32)
        prelude = _prelude(self.dtype, self.rows.iso, _HOW[self.pick.how], max(32, 1 << (k - 1).bit_length()))
        kernel = codegen.kernel(self.gpu, "smallest_keys.cu", prelude, "smallest_keys")
        stats.counted(kernel, self.near)(
            launch.blocks(self.gpu, 32 * total), count=total, k=k, row=(row + first).astype(np.uint64),
            begin=starts.astype(np.uint64), end=ends.astype(np.uint64), row_begin=begin[row].astype(np.uint64),
            values=self.rows.values.pointer, seed=np.uint64(self.pick.seed), keys=keys, at=at, bad=bad,
        )  # fmt: skip
        _check(bad)
        row, keys, at = xp.repeat(row, k), keys.ravel(), at.ravel()
        there = at != _NONE
        if total != count:
            return self._first_k(row[there], keys[there], at[there], count)
        return Found(at[there], xp.bincount(row[there], minlength=count).astype(np.int64))

    def _first_k(self, row: Any, keys: Any, at: Any, count: int) -> Found:
        """Return the k entries with the smallest keys of each row, among these; of equal keys the first positions."""
        xp = self.gpu.xp
        order = xp.argsort(at, kind="stable")
        order = order[xp.argsort(keys[order], kind="stable")]
        order = order[xp.argsort(row[order], kind="stable")]
        row, at = row[order], at[order]
        rank = xp.arange(row.size) - xp.searchsorted(row, row)
        row, at = row[rank < self.pick.k], at[rank < self.pick.k]
        return Found(at[_by_row(row, at)], xp.bincount(row, minlength=count).astype(np.int64))

    def _by_sorting(self, begin: Any, end: Any, first: int) -> Found:
        """Return the k entries with the smallest keys of each row, by sorting all keys."""
        xp = self.gpu.xp
        lengths = end - begin
        at = _ranges(begin, lengths)
        row = xp.searchsorted(xp.cumsum(lengths), xp.arange(at.size), side="right")
        draw = at - begin[row].astype(np.uint64)
        keys, part, bad = xp.empty(at.size, np.uint64), xp.empty(at.size, np.uint8), xp.zeros(1, np.uint32)
        prelude = _prelude(self.dtype, self.rows.iso, _HOW[self.pick.how])
        kernel = codegen.kernel(self.gpu, "smallest_keys.cu", prelude, "keys_of_entries")
        if at.size:
            stats.counted(kernel, self.near)(
                launch.blocks(self.gpu, at.size), count=at.size, row=(row + first).astype(np.uint64), at=at, draw=draw,
                values=self.rows.values.pointer, seed=np.uint64(self.pick.seed), keys=keys, part=part, bad=bad,
            )  # fmt: skip
        _check(bad)
        some = part != 0
        return self._first_k(row[some], keys[some], at[some], begin.size)


def _by_row(row: Any, at: Any) -> Any:
    """Return the permutation that sorts entries by row, then position."""
    xp = cuda.current().xp
    order = xp.argsort(at, kind="stable")
    return order[xp.argsort(row[order], kind="stable")]


def _ranges(begin: Any, lengths: Any) -> Any:
    """Return the concatenated positions of each row's `lengths` entries from `begin` on."""
    xp = cuda.current().xp
    ends = xp.cumsum(lengths)
    entry = xp.arange(int(ends[-1]) if ends.size else 0)
    row = xp.searchsorted(ends, entry, side="right")
    return (begin[row] + entry - (ends - lengths)[row]).astype(np.uint64)


def _counted(at: Any) -> Found:
    """Return each drawn position of a row once, with the number of its draws."""
    xp = cuda.current().xp
    at = xp.sort(at, axis=1)
    first = at != _NONE
    first[:, 1:] &= at[:, 1:] != at[:, :-1]
    there = int((at != _NONE).sum())
    begins = xp.flatnonzero(first.ravel()[(at != _NONE).ravel()])
    return Found(at[first], first.sum(axis=1), xp.diff(xp.concatenate([begins, xp.asarray([there])])))


def _check(bad: Any) -> None:
    if int(bad[0]):
        raise InvalidValue("selectk: a weight is negative, NaN or infinite; finite weights >= 0 are needed")


@lru_cache(maxsize=64)
def _prelude(dtype: DataType, iso: bool, how: int = 0, most: int = 32) -> str:
    return "\n".join((typedefs(A=dtype), flags(ISO=iso, HOW=how), f"constexpr unsigned K = {most};"))
