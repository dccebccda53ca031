"""The levels of many searches of which each process has some vertices, with nothing between the steps but their counts.

A step is a :class:`SharedStep`. What statements would do after it, in five launches and as many reads of counts, one
kernel does here: it takes the vertices that are reached for the first time, and counts what the next step would read.
Levels are written for several steps at once. Processes whose cards reach each other's memory exchange nothing else:
that kernel reads what others reached of its vertices, and writes the words of the frontier that change to all, beside
its own reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.device import cuda
from sparsezc.device.launcher import Launcher
from sparsezc.engines.gpu.elementwise import panel
from sparsezc.engines.gpu.elementwise.panel import Panel, SameVector
from sparsezc.engines.gpu.products.multi_source_bfs import ENTRIES, prelude
from sparsezc.engines.gpu.runtime import codegen, launch, presence_words
from sparsezc.engines.gpu.shared.searches import SharedStep
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.engines.gpu.storage.vector_store import FLIP, MaskBits, VectorStore
from sparsezc.semirings.types.datatypes import BOOL, INT32

__all__ = ["SharedSearches", "from_starts", "searches"]

_MOST = 64  # searches
_WAITING = 8  # frontiers whose levels are written together, which the kernel numbers by three bits


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

    The levels are written for several depths at once, as writing those of one depth takes nearly as long.

    Parameters
    ----------
    push, pull : Rows, optional
        This process's rows of the matrix, and of its transpose; None: it has none.
    start : Panel
        Its part of the first frontier, of at most 64 searches.
    """

    def __init__(self, push: Rows | None, pull: Rows | None, start: Panel) -> None:
        xp = cuda.current().xp
        self._push, self._pull, self._width, self._length = push, pull, start.width, start.length
        words = -(-start.vector.size // 32)
        self._seen, self._front, self._counts = xp.zeros(words, np.uint32), None, None
        self._start = xp.zeros(words, np.uint32) if start.vector.bits is None else start.vector.bits
        # The frontiers whose levels wait, each aligned to 8 bytes, and the depth of the first of them
        self._fronts, self._waiting, self._depth = xp.empty((_WAITING, words + words % 2), np.uint32), 0, 0
        self._level = xp.empty(start.vector.size, np.int32)
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

    def step(self) -> SharedStep:
        """Return the step from the vertices that were reached last to those that no search of theirs has reached."""
        front = SameVector(BOOL, self._length * self._width, self._front, True)
        x = Panel(self._width, True, front)
        return SharedStep(True, BOOL, self._push, self._pull, x, MaskBits(self._seen, FLIP), self._counts)

    @launch.locked
    def keep(self) -> None:
        """Keep the frontier for its levels and clear what led to it, which all processes have taken.

        The device does so while the host divides the next step.
        """
        assert self._windows is not None
        self._room()[: self._seen.size] = self._front
        self._waiting += 1
        self._windows.reached.fill(0)

    def _room(self) -> Any:
        """Return the room for a frontier whose levels wait."""
        if self._waiting == _WAITING:
            self._write_levels()
        return self._fronts[self._waiting]

    @launch.locked
    def reach(self, step: SharedStep, *, pushes: bool, pulls: bool) -> None:
        """Take a step within clear windows; no other process may read them, or write to them, before it has ended."""
        windows = self._windows
        assert windows is not None
        if pushes:
            step.pushed(windows.reached)
        if pulls:
            step.pulled(windows.front, windows.front.size // 2, windows.reached[windows.mine])

    def turn_windows(self, *, pushed: bool) -> None:
        """Take what all processes reached, which all of them have done."""
        assert self._windows is not None
        self.turn(self._windows.reached[self._windows.mine], pushed=pushed)

    @launch.locked
    def turn(self, reached: Any, *, pushed: bool = False) -> None:
        """Take what is reached for the first time, by the bits of all searches."""
        gpu, aligned, windows = cuda.current(), self._width == 64, self._windows
        if windows is not None:
            self._front = windows.front[windows.mine]
        else:
            waits = self._room()
            self._waiting += 1
            self._front = waits[: self._seen.size]
            if not aligned:
                waits.fill(0)
        self._counts = gpu.xp.zeros(2 + ENTRIES + 64, np.uint64)
        if self._length:
            push, pull = (0 if rows is None else rows.indptr for rows in (self._push, self._pull))
            self._kernel("turn_rows").launch(
                launch.blocks(gpu, self._length), size=self._length, reached=reached, width=self._width,
                seen=self._seen, front=self._front, push_indptr=push, pull_indptr=pull, totals=self._counts,
                **({"others": 0, "theirs": 0} if windows is None else windows.arguments(pushed=pushed)),
            )  # fmt: skip

    def step_alone(self) -> bool:
        """Take a step if there is a frontier and no other process; return whether there was one."""
        step = self.step()
        told = np.array([step.work()])
        if not told[0, 0]:
            return False
        pushes, pulls = step.divide(told, pushes=self._push is not None, pulls=self._pull is not None)
        reached = step.bits(self._length)
        if not step.told(reached):
            if pushes:
                step.pushed(reached)
            if pulls:
                step.pulled(self._front, self._length, reached, columns=self._push)
        self.turn(reached)
        return True

    def _write_levels(self) -> None:
        if self._waiting and self._length:
            self._kernel("write_levels").launch(
                launch.blocks(cuda.current(), self._length), size=self._length, width=self._width,
                fronts=self._fronts, stride=self._fronts.shape[1], count=self._waiting, depth=self._depth,
                levels=self._level,
            )  # fmt: skip
        self._depth += self._waiting
        self._waiting = 0

    def _kernel(self, name: str) -> Launcher:
        return codegen.kernel(cuda.current(), "panel_words.cu", prelude(aligned=self._width == 64), name)

    @launch.locked
    def levels(self) -> VectorStore:
        """Return the levels, as a panel's vector."""
        self._write_levels()
        made = VectorStore(INT32, self._length * self._width)
        made.set(self._level, self._seen)
        return made


def from_starts(
    starts: NDArray[np.int64], shape: tuple[int, int], push: Rows | None, pull: Rows | None
) -> SharedSearches | None:
    """Return searches of which this process has shape[1] vertices; None where device memory is short.

    Search i starts at its vertex j for each ``j * shape[0] + i`` of `starts`.
    """
    size, bits = shape[0] * shape[1], None
    if starts.size:
        bits = presence_words.mark(cuda.current().xp.asarray(starts.astype(np.uint64)), size)
    if not panel.fits(size, INT32, BOOL, BOOL):
        return None
    return SharedSearches(push, pull, Panel(shape[0], True, SameVector(BOOL, size, bits, True)))


def searches(store: MatrixStore, sources: NDArray[np.int64]) -> MatrixStore | None:
    """Return the levels of searches with no other process beside them, a row each; None where statements are to run."""
    shape = sources.size, store.nrows
    if not 0 < sources.size <= _MOST or store.nvals == 0 or panel.shape_of(*shape) != (sources.size, True):
        return None
    with launch.lock:
        push, pull = store.held()
        part = from_starts(sources * sources.size + np.arange(sources.size), shape, push, pull)
    if part is None:
        return None
    part.begin()
    while part.step_alone():
        pass
    made = MatrixStore(INT32, *shape, None)
    made.hold(Panel(sources.size, True, part.levels()))
    return made
