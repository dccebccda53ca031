"""The levels of many searches of which each process has some vertices, with nothing between the steps but their counts.

A step is a :class:`SharedStep`. What statements would do after it, in five launches and as many reads of counts, one
kernel does here: it takes the vertices that are reached for the first time, writes their levels, and counts what the
next step would read.
"""

from __future__ import annotations

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
        self.turn(self._bits() if start.vector.bits is None else start.vector.bits)

    def _bits(self) -> Any:
        return cuda.current().xp.zeros(-(-self._length * self._width // 32), np.uint32)

    def step(self) -> SharedStep:
        """Return the step from the vertices that were reached last to those that no search of theirs has reached."""
        front = SameVector(BOOL, self._length * self._width, self._front, True)
        x = Panel(self._width, True, front)
        return SharedStep(True, BOOL, self._push, self._pull, x, MaskBits(self._seen, FLIP), self._counts)

    @launch.locked
    def turn(self, reached: Any) -> None:
        """Take what is reached for the first time, by the bits of all searches, and write its level."""
        gpu, aligned = cuda.current(), self._width == 64
        self._front = gpu.xp.empty(2 * self._length, np.uint32) if aligned else self._bits()
        self._counts = gpu.xp.zeros(1 + ENTRIES + 64, np.uint64)
        if self._length:
            kernel = codegen.kernel(gpu, "panel_words.cu", prelude(aligned=aligned), "turn_rows")
            push, pull = (0 if rows is None else rows.indptr for rows in (self._push, self._pull))
            kernel.launch(
                launch.blocks(gpu, self._length), size=self._length, reached=reached, width=self._width,
                depth=self._depth, seen=self._seen, front=self._front, levels=self._level, push_indptr=push,
                pull_indptr=pull, totals=self._counts,
            )  # fmt: skip
        self._depth += 1

    def levels(self) -> VectorStore:
        """Return the levels, as a panel's vector."""
        made = VectorStore(INT32, self._length * self._width)
        made.set(self._level, self._seen)
        return made
