"""The levels of many searches of which each process has some vertices, with nothing between the steps but their counts.

A step is a :class:`SharedStep`. What statements would do after it, in five launches and as many reads of counts, one
kernel does here: it takes the vertices that are reached for the first time, writes their levels, and counts what the
next step would read. Processes whose cards reach each other's memory exchange nothing else: that kernel reads what
others reached of its vertices, and writes the words of the frontier that change to all, beside its own reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.elementwise import panel
from sparsezc.engines.gpu.elementwise.panel import Panel, SameVector
from sparsezc.engines.gpu.products.multi_source_bfs import ENTRIES, prelude
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.shared.searches import SharedStep
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.engines.gpu.storage.vector_store import FLIP, MaskBits, VectorStore
from sparsezc.semirings.types.datatypes import BOOL, INT32

__all__ = ["SharedSearches", "fit"]


def fit(start: Panel) -> bool:
    """Return whether device memory has room for the levels and bits of so many searches and vertices."""
    return panel.fits(start.vector.size, INT32, BOOL)


class _Windows:
    """A word of 64 bits for each of `size` vertices that are reached, then one for the frontier, of every process.

    Parameters
    ----------
    arrays : sequence of arrays of bytes
        On the device, of all processes in their order; kernels of all reach them. Zeros at first.
    own, first, length, size : int
        The process has the number `own`, and `length` of the vertices, from `first` on.
    """

    def __init__(self, arrays: Sequence[Any], own: int, first: int, length: int, size: int) -> None:
        gpu = cuda.current()
        words = arrays[own].view(np.uint32)
        self.reached, self.front = words[: 2 * size], words[2 * size : 4 * size]
        self.mine = slice(2 * first, 2 * (first + length))
        there = [gpu.pointer(array) + 8 * first for k, array in enumerate(arrays) if k != own]
        fronts = [address + 8 * size for address in there]
        self._theirs = [gpu.xp.asarray(np.array([*x, *fronts], np.uint64)) for x in ([0] * len(there), there)]

    def arguments(self, *, pushed: bool) -> dict[str, Any]:
        """Return what turn_rows is told of the others, who pushed or not."""
        theirs = self._theirs[pushed]
        return {"others": theirs.size // 2, "theirs": theirs}


class SharedSearches:
    """All levels; all processes call its methods in the same order.

    Parameters
    ----------
    push, pull : Rows, optional
        This process's rows of the matrix, and of its transpose; None: it has none.
    start : Panel
        Its part of the first frontier, of at most 64 searches.
    """

    def __init__(self, push: Rows | None, pull: Rows | None, start: Panel) -> None:
        self._push, self._pull, self._width, self._length = push, pull, start.width, start.length
        self._depth, self._level = 0, cuda.current().xp.empty(start.vector.size, np.int32)
        self._seen, self._front, self._counts = self._bits(), None, None
        self._start = self._bits() if start.vector.bits is None else start.vector.bits
        self._windows: _Windows | None = None

    def window(self, size: int) -> int:
        """Return the bytes of a window of so many vertices; 0: searches are too few to have a word each."""
        return 16 * size if self._width == 64 else 0

    def share(self, arrays: Sequence[Any], own: int, first: int, size: int) -> None:
        """Use windows of all processes, zeros, of which this one is number `own`; its vertices begin at `first`."""
        self._windows = _Windows(arrays, own, first, self._length, size)

    def begin(self) -> None:
        """Take the first frontier, once windows are shared, if they are."""
        self.turn(self._start)

    def _bits(self) -> Any:
        return cuda.current().xp.zeros(-(-self._length * self._width // 32), np.uint32)

    def step(self) -> SharedStep:
        """Return the step from the vertices that were reached last to those that no search of theirs has reached."""
        front = SameVector(BOOL, self._length * self._width, self._front, True)
        x = Panel(self._width, True, front)
        return SharedStep(True, BOOL, self._push, self._pull, x, MaskBits(self._seen, FLIP), self._counts)

    @launch.locked
    def reach(self, step: SharedStep, *, pushes: bool, pulls: bool) -> None:
        """Take a step within the windows; no other process may read them before it, or write to them, has ended."""
        windows = self._windows
        assert windows is not None
        mine = windows.reached[windows.mine]
        (windows.reached if pushes else mine).fill(0)
        if pushes:
            step.pushed(windows.reached)
        if pulls:
            step.pulled(windows.front, windows.front.size // 2, mine)

    def turn_windows(self, *, pushed: bool) -> None:
        """Take what all processes reached, which all of them have done."""
        assert self._windows is not None
        self.turn(self._windows.reached[self._windows.mine], pushed=pushed)

    @launch.locked
    def turn(self, reached: Any, *, pushed: bool = False) -> None:
        """Take what is reached for the first time, by the bits of all searches, and write its level."""
        gpu, aligned, windows = cuda.current(), self._width == 64, self._windows
        if windows is not None:
            self._front = windows.front[windows.mine]
        else:
            self._front = gpu.xp.empty(2 * self._length, np.uint32) if aligned else self._bits()
        self._counts = gpu.xp.zeros(2 + ENTRIES + 64, np.uint64)
        if self._length:
            kernel = codegen.kernel(gpu, "panel_words.cu", prelude(aligned=aligned), "turn_rows")
            push, pull = (0 if rows is None else rows.indptr for rows in (self._push, self._pull))
            kernel.launch(
                launch.blocks(gpu, self._length), size=self._length, reached=reached, width=self._width,
                depth=self._depth, seen=self._seen, front=self._front, levels=self._level, push_indptr=push,
                pull_indptr=pull, totals=self._counts,
                **({"others": 0, "theirs": 0} if windows is None else windows.arguments(pushed=pushed)),
            )  # fmt: skip
        self._depth += 1

    def levels(self) -> VectorStore:
        """Return the levels, as a panel's vector."""
        made = VectorStore(INT32, self._length * self._width)
        made.set(self._level, self._seen)
        return made
