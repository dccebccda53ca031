"""The rows that a product wants, one after another: where their entries lie, and where each is once they are gathered.

A *run* is the entries of a wanted row that has any. How many entries and runs come before each word of rows is kept on
the card, a byte for every second row; what is told of single rows follows from that, and is made where it is used.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc import device
from sparsezc.engines.gpu import launch, specialise
from sparsezc.engines.gpu.placements import Wanted, hands
from sparsezc.engines.gpu.placements.hands import Runs
from sparsezc.engines.gpu.stores import Rows


class Stretch(NamedTuple):
    """Rows first .. end-1, and how many entries and runs are wanted before them and of them."""

    rows: tuple[int, int]
    entries_before: int
    runs_before: int
    nvals: int
    nruns: int


class Offsets(NamedTuple):
    """Where the rows of a stretch begin once they are gathered (int64 on the device); and of the rows that share
    presence words with them, which have no entries.
    """

    first: int
    array: Any

    @property
    def address(self) -> np.uint64:
        """Where the offset of row 0 would lie."""
        return np.uint64((device.current().pointer(self.array) - 8 * self.first) % 2**64)


class Listed(NamedTuple):
    """Runs of some stretches, and the memory that they lie in, which goes back to hands.py."""

    runs: list[Runs]
    pages: device.Pages


class Order:
    """The runs of the rows that a product wants, in the rows' order."""

    def __init__(self, rows: Rows, wanted: Wanted) -> None:
        gpu = device.current()
        nwords = -(-rows.nrows // 32)
        self._rows, self._wanted = rows, wanted
        self._entries, self._runs = gpu.xp.empty((2, nwords + 1), np.int64)
        self._launch("count_runs", rows.nrows)
        for counts in (self._entries, self._runs):
            gpu.xp.cumsum(counts, out=counts)

    def _launch(self, name: str, threads: int, *arguments: Any) -> None:
        gpu, rows, wanted = device.current(), self._rows, self._wanted
        kernel = specialise.kernel(gpu, "runs.cu", specialise.typedefs(Bound="i64" if rows.wide else "i32"), name)
        common = np.uint64(rows.nrows), rows.indptr, wanted.words, np.uint32(wanted.flip), self._entries, self._runs
        kernel(launch.blocks(gpu, threads), launch.THREADS, (*common, *arguments))

    def before(self, cuts: Any) -> tuple[list[int], list[int]]:
        """How many entries and runs are wanted before each of some rows (int64 on the device). Waits for the device."""
        gpu = device.current()
        found = gpu.xp.empty((2, cuts.size), np.int64)
        self._launch("runs_before", 32 * cuts.size, np.uint64(cuts.size), cuts, found)
        entries, runs = gpu.asnumpy(found).tolist()
        return entries, runs

    def offsets(self, stretch: Stretch, start: int) -> Offsets:
        """Where the rows of a stretch begin if its entries are put together from position `start` on."""
        first, end = stretch.rows[0] // 32 * 32, min(self._rows.nrows, -(-stretch.rows[1] // 32) * 32)
        made = Offsets(first, device.current().xp.empty(end - first + 1, np.int64))
        self._list(stretch, start, made.array, 0, 0)
        return made

    def list(self, stretches: list[tuple[Stretch, int]]) -> Listed:
        """The runs of some stretches, each counted from an entry. Waits for the device.

        Raises
        ------
        OutOfMemory
            The host lets no memory be pinned for them.
        """
        dtype = np.dtype(np.int64 if self._rows.wide else np.int32)
        pages = hands.take(2 * dtype.itemsize * sum(stretch.nruns for stretch, _ in stretches))
        bounds, at, tasks = pages.array.view(dtype), 0, []
        lists = []
        for stretch, base in stretches:
            self._list(stretch, 0, 0, base, pages.pointer + at * dtype.itemsize)
            lists.append(bounds[at : at + 2 * stretch.nruns].reshape(-1, 2))
            tasks.append(stretch.entries_before + hands.tasks(stretch.nvals))
            at += 2 * stretch.nruns
        found, made = self._nearest(np.concatenate(tasks)), list[Runs]()
        for (stretch, base), listed, task in zip(stretches, lists, tasks, strict=True):
            mine, found = found[:, : task.size], found[:, task.size :]
            before = np.array([[stretch.runs_before], [stretch.entries_before]])
            begins, taken = np.append(np.maximum(mine - before, 0), [[stretch.nruns], [stretch.nvals]], axis=1)
            made.append(Runs(base, listed, begins, taken))
        return Listed(made, pages)

    def _nearest(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each of some positions among the wanted entries, how many runs and entries come before the word of rows
        that it lies in. Waits for the device, and so for what was listed.
        """
        gpu = device.current()
        xp = gpu.xp
        at = xp.searchsorted(self._entries, xp.asarray(positions), side="right") - 1
        return gpu.asnumpy(xp.stack([self._runs[at], self._entries[at]]))

    def _list(self, stretch: Stretch, start: int, offsets: Any, base: int, pointer: int) -> None:
        first, end = stretch.rows
        counts = map(np.int64, (stretch.entries_before, stretch.runs_before, start))
        given = np.uint64(first), np.uint64(end), *counts, offsets, np.int64(base), np.uint64(pointer)
        self._launch("list_runs", 32 * (-(-end // 32) - first // 32), *given)
