"""The gathered runs of a product's wanted rows: their bounds in the matrix, and their offsets once gathered.

A *run* is the entries of a wanted row that has any. The numbers of entries and runs before each word of rows are kept
in device memory, a byte for every second row (memory/budget.py reserves it); numbers of single rows are computed from
them when needed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.device import cuda
from sparsezc.device.protocol import Pages
from sparsezc.engines.gpu.placements import Wanted, host_gather
from sparsezc.engines.gpu.placements.host_gather import Runs
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.storage.matrix_store import Rows


class Stretch(NamedTuple):
    """Consecutive rows first .. end-1, and the numbers of wanted entries and runs before them and in them."""

    rows: tuple[int, int]
    entries_before: int
    runs_before: int
    nvals: int
    nruns: int


class Offsets(NamedTuple):
    """The offsets of a stretch's rows once they are gathered (int64 on the device).

    Other rows that share presence words with these are included, as empty rows.
    """

    first: int
    array: Any

    @property
    def address(self) -> np.uint64:
        """Return the address that the offset of row 0 would have."""
        return np.uint64((cuda.current().pointer(self.array) - 8 * self.first) % 2**64)


class Listed(NamedTuple):
    """The runs of some stretches, and their pinned memory, which is returned to host_gather.py."""

    runs: list[Runs]
    pages: Pages


class Scan:
    """The numbers of wanted entries and runs before each word of rows, and numbers computed from them."""

    def __init__(self, rows: Rows, wanted: Wanted) -> None:
        gpu = cuda.current()
        nwords = -(-rows.nrows // 32)
        self._rows, self._wanted = rows, wanted
        self._entries, self._runs = gpu.xp.empty((2, nwords + 1), np.int64)
        self._launch("count_runs", rows.nrows)
        for counts in (self._entries, self._runs):
            gpu.xp.cumsum(counts, out=counts)

    def _launch(self, name: str, threads: int, **arguments: Any) -> None:
        gpu, rows, wanted = cuda.current(), self._rows, self._wanted
        kernel = codegen.kernel(gpu, "row_runs.cu", codegen.typedefs(Bound="i64" if rows.wide else "i32"), name)
        kernel.launch(
            launch.blocks(gpu, threads), nrows=rows.nrows, indptr=rows.indptr, wanted=wanted.words, flip=wanted.flip,
            entries=self._entries, runs=self._runs, **arguments,
        )  # fmt: skip

    def before(self, cuts: Any) -> tuple[list[int], list[int]]:
        """Return the numbers of wanted entries and of runs before each row of `cuts` (int64). Waits for the device."""
        gpu = cuda.current()
        found = gpu.xp.empty((2, cuts.size), np.int64)
        self._launch("runs_before", 32 * cuts.size, count=cuts.size, row=cuts, before=found)
        entries, runs = gpu.asnumpy(found).tolist()
        return entries, runs

    def offsets(self, stretch: Stretch, start: int) -> Offsets:
        """Return the offsets of a stretch's rows once its entries are gathered to positions from `start` on."""
        first, end = stretch.rows[0] // 32 * 32, min(self._rows.nrows, -(-stretch.rows[1] // 32) * 32)
        made = Offsets(first, cuda.current().xp.empty(end - first + 1, np.int64))
        self._tell(stretch, start=start, offsets=made.array)
        return made

    def listed(self, stretches: list[tuple[Stretch, int]]) -> Listed:
        """Return the runs of stretches, each with the entry from which its bounds count. Waits for the device.

        Raises
        ------
        OutOfMemory
            Memory for the runs cannot be pinned.
        """
        dtype = np.dtype(np.int64 if self._rows.wide else np.int32)
        ends = np.cumsum([stretch.nruns for stretch, _ in stretches]).tolist()
        pages = host_gather.take_pages(2 * dtype.itemsize * ends[-1])
        bounds = pages.array.view(dtype)[: 2 * ends[-1]].reshape(-1, 2)
        for (stretch, base), end in zip(stretches, ends, strict=True):
            self._tell(stretch, base=base, pointer=pages.pointer + bounds.strides[0] * (end - stretch.nruns))
        lists = np.split(bounds, ends[:-1])
        tasks = self._tasks([stretch for stretch, _ in stretches], bounds)
        told = zip(stretches, lists, tasks, strict=True)
        return Listed([Runs(base, mine, *task) for (_, base), mine, task in told], pages)

    def _tasks(self, stretches: list[Stretch], bounds: NDArray[Any]) -> list[NDArray[np.int64]]:
        """Return, for each stretch, two rows: the numbers of runs and of entries before each task, and the totals.

        A task begins with a word of rows or, if that has many entries, within it at a run. Waits for the device and so
        for the launches that write the runs.
        """
        gpu = cuda.current()
        xp = gpu.xp
        begins = [host_gather.tasks(stretch.nvals) for stretch in stretches]
        sizes, at = [part.size for part in begins], np.concatenate(begins)
        entries_before, runs_before = np.array([stretch[1:3] for stretch in stretches]).repeat(sizes, axis=0).T
        words = xp.searchsorted(self._entries, xp.asarray(entries_before + at), side="right") - 1
        runs, entries = gpu.asnumpy(xp.stack([self._runs[words], self._entries[words]]))
        found = np.maximum([runs - runs_before, entries - entries_before], 0)
        if (far := np.flatnonzero(at - found[1] > host_gather.UNEVEN)).size:
            listed_before = np.cumsum([0, *(stretch.nruns for stretch in stretches[:-1])]).repeat(sizes)[far]
            found[:, far] = _run_of_each(found[:, far], at[far], listed_before, bounds)
        parts = np.split(found, np.cumsum(sizes)[:-1], axis=1)
        return [
            np.append(part, [[stretch.nruns], [stretch.nvals]], axis=1)
            for stretch, part in zip(stretches, parts, strict=True)
        ]

    def _tell(self, stretch: Stretch, start: int = 0, offsets: Any = 0, base: int = 0, pointer: int = 0) -> None:
        """Launch the kernel that writes a stretch's offsets to device memory or its runs to host memory."""
        first, end = stretch.rows
        self._launch(
            "list_runs", 32 * (-(-end // 32) - first // 32), first=first, end=end,
            entries_before=stretch.entries_before, runs_before=stretch.runs_before,
            start=start, offsets=offsets, base=base, list=pointer,
        )  # fmt: skip


def _run_of_each(found: Any, at: Any, listed_before: Any, bounds: NDArray[Any]) -> NDArray[np.int64]:
    """Return, for each entry of `at`, its run and the entries before that run.

    `found`: the runs and the entries before the entry's word of rows in its stretch. `listed_before`: the runs in
    `bounds` before its stretch.
    """
    run, entry = found
    runs = run[:, None] + np.arange(32)  # the most runs of a word of rows
    places = np.minimum(listed_before[:, None] + runs, len(bounds) - 1)
    sums = np.cumsum(np.column_stack([entry, bounds[places, 1] - bounds[places, 0]]), axis=1)
    passed = (sums[:, 1:] <= at[:, None]).sum(axis=1)
    return np.stack([run + passed, np.take_along_axis(sums, passed[:, None], axis=1)[:, 0]])
