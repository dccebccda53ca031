"""Greedy colouring on several processes (colors.py), whose rows also wait for rows of other processes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.graphs.colors import LONG_ROW, kernel_prelude
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.storage.assembly import near, rows_of
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore

_NONE = 2**32 - 1


class SharedColors:
    """The colours of all rows, and rounds that colour this process's rows.

    Parameters
    ----------
    store : MatrixStore
        A symmetric pattern in which only this process's rows have entries.
    order : ndarray of int64
        The order of all rows: the row with the higher value chooses first, of equal ones the first row.
    first, last : int
        This process has the rows first .. last-1.
    """

    def __init__(self, store: MatrixStore, order: NDArray[np.int64], first: int, last: int) -> None:
        xp, n = cuda.current().xp, order.size
        self._own, self._rows = slice(first, last), near(rows_of(store), values=False)
        self._key = np.dtype(np.uint64 if n >= 2**32 else np.uint32)
        self._is_long = self._rows.indptr[1:] - self._rows.indptr[:-1] > LONG_ROW
        self._waits, self._color = xp.zeros(n, np.uint32), xp.full(n, _NONE, np.uint32)
        self._work = {
            "capacity": n, "indptr": self._rows.indptr, "indices": self._rows.arguments.indices,
            "order": xp.asarray(order), "waits": self._waits,
        }  # fmt: skip
        self._ready = self._run("wait_rows", xp.arange(first, last, dtype=np.int64))

    def _run(self, name: str, listed: Any, **given: Any) -> Any:
        """Run a kernel over the listed rows; return the rows that then wait for no other (int64)."""
        gpu, n = cuda.current(), self._color.size
        xp = gpu.xp
        if not listed.size:
            return listed
        long = self._is_long[listed]
        count = int(long.sum())
        rows, found = (xp.empty(n, self._key) for _ in range(2))
        rows[: listed.size - count], rows[n - count :] = listed[~long], listed[long]
        counts, found_counts = xp.asarray(np.array([listed.size - count, count], np.uint64)), xp.zeros(2, np.uint64)
        kernel = codegen.kernel(gpu, "colors.cu", kernel_prelude(self._rows.wide, self._key.itemsize == 8), name)
        stats.counted(kernel, placements.in_device_memory(self._rows))(
            launch.blocks(gpu, 32 * listed.size), **self._work, listed=rows, counts=counts, next=found,
            next_counts=found_counts, **given,
        )  # fmt: skip
        short, more = gpu.asnumpy(found_counts).tolist()
        return xp.concatenate([found[:short], found[n - more :]]).astype(np.int64)

    @launch.locked
    def choose(self) -> tuple[Any, Any]:
        """Colour this process's rows that wait for no other; return these rows and their colours (int64)."""
        rows = self._ready
        self._ready = self._run("color_rows", rows, color=self._color)
        return rows, self._color[rows].astype(np.int64)

    def take(self, rows: Any, colors: Any) -> None:
        """Store colours that rows of all processes have chosen."""
        self._color[rows] = colors.astype(np.uint32)

    def freed(self) -> tuple[Any, Any]:
        """Return rows of other processes (int64, ascending), and how many rows that each waited for have chosen."""
        xp = cuda.current().xp
        waits = self._waits.view(np.int32).astype(np.int64)  # of other processes' rows: the negative number
        waits[self._own] = 0
        at = xp.flatnonzero(waits)
        self._waits[at] = 0
        return at, -waits[at]

    def free(self, pieces: list[tuple[Any, Any]]) -> None:
        """Add the numbers that other processes report for this process's rows; each process lists a row once."""
        xp = cuda.current().xp
        found = [self._ready]
        for at, count in pieces:
            left = self._waits[at].astype(np.int64) - count
            self._waits[at] = left.astype(np.uint32)
            found.append(at[left == 0])
        self._ready = xp.concatenate(found)

    @property
    def color(self) -> Any:
        """The colours of this process's rows, int64."""
        return self._color[self._own].astype(np.int64)
