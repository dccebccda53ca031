"""The levels of many searches on several processes, each with its part of the vertices.

A step is a :class:`SharedStep`. After it one kernel replaces five launches of statements and as many reads of counts:
it selects the vertices reached for the first time, and counts the entries that the next step would read. Levels are
written for several steps at once. On cards that write into each other's memory, kernels plan the steps
(peer_searches.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.device import cuda
from sparsezc.device.launcher import Launcher
from sparsezc.engines.gpu.elementwise import panel
from sparsezc.engines.gpu.elementwise.panel import Panel, SameVector
from sparsezc.engines.gpu.products.multi_source_bfs import ENTRIES, prelude
from sparsezc.engines.gpu.runtime import codegen, launch, presence_words
from sparsezc.engines.gpu.several_processes import peer_searches
from sparsezc.engines.gpu.several_processes.peer_searches import TOGETHER
from sparsezc.engines.gpu.several_processes.search_step import Setting, SharedStep, told_of_rows
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.engines.gpu.storage.vector_store import FLIP, MaskBits, VectorStore
from sparsezc.semirings.types.datatypes import BOOL, INT32

__all__ = ["SharedSearches", "from_starts", "searches"]

_MOST = 64  # most searches


class SharedSearches:
    """The levels of searches on all processes, which call its methods in the same order.

    Levels are written for several depths at once, as writing those of one takes nearly as long.

    Parameters
    ----------
    push, pull : Rows, optional
        This process's rows of the matrix, and of its transpose; None: it has none.
    start : Panel
        This process's part of the first frontier, of at most 64 searches.

    Attributes
    ----------
    length : int
        The number of vertices of this process.
    start, seen : array of uint32
        The bits of this process's part of the first frontier, and of its vertices reached so far.
    """

    def __init__(self, push: Rows | None, pull: Rows | None, start: Panel) -> None:
        xp = cuda.current().xp
        self.push, self.pull, self.width, self.length = push, pull, start.width, start.length
        words = -(-start.vector.size // 32)
        self.seen, self._front, self._counts = xp.zeros(words, np.uint32), None, None
        self.start = xp.zeros(words, np.uint32) if start.vector.bits is None else start.vector.bits
        # The frontiers whose levels are not written yet, each aligned to 8 bytes; their number; the depth of the first.
        self._fronts, self._waiting, self._depth = self.fronts(0), 0, 0
        self._level = xp.empty(start.vector.size, np.int32)

    def rows(self) -> list[int]:
        """Return the three numbers of this process's rows (told_of_rows) that steps on cards need of all processes."""
        return told_of_rows(self.push, self.pull)

    def memory(self, bounds: NDArray[np.int64]) -> tuple[int, int]:
        """Return the bytes of a window and of host memory for steps on cards; 0 unless there are 64 searches."""
        return peer_searches.memory(bounds) if self.width == _MOST else (0, 0)

    def run_on_cards(self, cards: tuple[Any, ...], told: NDArray[np.int64], *, pulls: bool) -> tuple[int, Any]:
        """Run all steps on cards, given the fields of Cards and the numbers that rows() returns on each process.

        Return the bytes received, and the state to pass as Cards.left next time.
        """
        return peer_searches.run(self, peer_searches.Cards(*cards), Setting.of(told, pulls=pulls))

    def begin(self) -> None:
        """Begin with the first frontier."""
        self._fronts = self.fronts(TOGETHER)
        self.turn(self.start)

    def step(self) -> SharedStep:
        """Return the step from the vertices reached last to the vertices that their searches have not reached."""
        front = SameVector(BOOL, self.length * self.width, self._front, True)
        x = Panel(self.width, True, front)
        return SharedStep(True, BOOL, self.push, self.pull, x, self.unseen, self._counts)

    @property
    def unseen(self) -> MaskBits:
        """Return the mask of the positions that were not reached."""
        return MaskBits(self.seen, FLIP)

    def fronts(self, count: int) -> Any:
        """Return an array for `count` frontiers."""
        words = self.seen.size
        return cuda.current().xp.empty((count, words + words % 2), np.uint32)

    @launch.locked
    def turn(self, reached: Any) -> None:
        """Make the vertices reached for the first time the next frontier, given the bits of all searches."""
        gpu = cuda.current()
        if self._waiting == TOGETHER:
            self._write_waiting()
        waits = self._fronts[self._waiting]
        self._waiting += 1
        self._front = waits[: self.seen.size]
        if self.width != 64:  # the kernel only sets bits
            waits.fill(0)
        self._counts = gpu.xp.zeros(1 + ENTRIES + 64, np.uint64)
        if self.length:
            push, pull = (0 if rows is None else rows.indptr for rows in (self.push, self.pull))
            self._kernel("turn_rows").launch(
                launch.blocks(gpu, self.length), size=self.length, reached=reached, width=self.width,
                seen=self.seen, front=self._front, push_indptr=push, pull_indptr=pull, totals=self._counts,
            )  # fmt: skip

    def step_alone(self) -> bool:
        """Run a step of searches on a single process; return whether there was a frontier."""
        step = self.step()
        told = np.array([step.work()])
        if not told[0, 0]:
            return False
        pushes, pulls = step.divide(told, pushes=self.push is not None, pulls=self.pull is not None)
        reached = step.bits(self.length)
        if not step.reach_by_edges_once(reached):
            if pushes:
                step.pushed(reached)
            if pulls:
                step.pulled(self._front, self.length, reached, columns=self.push)
        self.turn(reached)
        return True

    def _write_waiting(self) -> None:
        self.write_levels(self._fronts[: self._waiting])
        self._waiting = 0

    @launch.locked
    def write_levels(self, fronts: Any) -> None:
        """Write the levels of the next frontiers in turn, at most TOGETHER."""
        if fronts.size:
            self._kernel("write_levels").launch(
                launch.blocks(cuda.current(), self.length), size=self.length, width=self.width, fronts=fronts,
                stride=fronts.shape[1], count=fronts.shape[0], depth=self._depth, levels=self._level,
            )  # fmt: skip
        self._depth += fronts.shape[0]

    def _kernel(self, name: str) -> Launcher:
        return codegen.kernel(cuda.current(), "panel_words.cu", prelude(aligned=self.width == 64), name)

    @launch.locked
    def levels(self) -> VectorStore:
        """Return the levels, as a panel's vector."""
        self._write_waiting()
        made = VectorStore(INT32, self.length * self.width)
        made.set(self._level, self.seen)
        return made


def from_starts(
    starts: NDArray[np.int64], shape: tuple[int, int], push: Rows | None, pull: Rows | None
) -> SharedSearches | None:
    """Return shape[0] searches of which this process has shape[1] vertices; None if device memory is short.

    Search i starts at this process's vertex j for each ``j * shape[0] + i`` in `starts`.
    """
    size, bits = shape[0] * shape[1], None
    if starts.size:
        bits = presence_words.mark(cuda.current().xp.asarray(starts.astype(np.uint64)), size)
    if not panel.fits(size, INT32, BOOL, BOOL):
        return None
    return SharedSearches(push, pull, Panel(shape[0], True, SameVector(BOOL, size, bits, True)))


def searches(store: MatrixStore, sources: NDArray[np.int64]) -> MatrixStore | None:
    """Return the levels of searches on a single process, one row each; None if statements must run."""
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
