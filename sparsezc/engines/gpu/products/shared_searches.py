"""A step of many searches of which each process has some vertices, with the rows of a matrix at them.

A process pushes from its own part of the frontier to all vertices, and pulls to its own vertices from all of the
frontier. It counts what the step would read; from these numbers of all processes each decides alike which searches
push and which pull (multi_source_bfs.py). Frontiers travel as listed vertices with a word of 64 bits each.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.device import cuda
from sparsezc.engines.gpu.elementwise.panel import Panel, SameVector
from sparsezc.engines.gpu.layouts.head_cache import HeadCache
from sparsezc.engines.gpu.products.multi_source_bfs import Case, divide, prelude, pulled_entries, push_cost, work_of
from sparsezc.engines.gpu.runtime import codegen, launch, presence_words
from sparsezc.engines.gpu.storage.layout import Demand
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.engines.gpu.storage.vector_store import MaskBits
from sparsezc.semirings.types.datatypes import BOOL, DataType

_MANY_SLOTS = 255  # of a process without rows: more than any has
_TOTALS = 4  # numbers in front of the totals that the kernel counts
_SCALE = 1000  # costs are told as integers


class SharedStep:
    """One step; all processes call its methods in the same order.

    Parameters
    ----------
    same : scalar
        The value of every entry of the result; `dtype` is its type.
    push, pull : Rows, optional
        This process's rows of the matrix, and of its transpose; None: it has none.
    x : Panel
        Its part of the frontier, of at most 64 searches.
    mask : MaskBits
        The entries of its part of the result that may be written.
    """

    def __init__(
        self, same: Any, dtype: DataType, push: Rows | None, pull: Rows | None, x: Panel, mask: MaskBits
    ) -> None:
        self.width = x.width
        if x.vector.bits is None:  # an empty part
            x = Panel(x.width, True, SameVector(BOOL, x.vector.size, self.bits(x.length), True))
        self._same, self._dtype, self._push, self._pull, self._x, self._mask = same, dtype, push, pull, x, mask
        self._at = _rows_with_any(x.vector.bits, x.length, x.width)
        self._mine: NDArray[np.int64] = np.zeros(0, np.int64)
        self._pushing, self._pulling = np.zeros((2, x.width), np.bool_)
        self._pulled = 0.0  # entries that pulls would read here without heads

    @launch.locked
    def work(self) -> list[int]:
        """Return what this process would read, its vertices in the frontier first: as many numbers on each."""
        rows = self._pull
        slots = _MANY_SLOTS if rows is None else rows.layouts[HeadCache].expected_slots(rows, BOOL, values=False)
        self._mine = np.zeros(4 + self.width, np.int64)
        if self._x.length or rows is not None:
            self._mine = Case(self._x, self._mask, None).totals(rows, self._push)
        held = rows if self._push is None else self._push
        cost, nvals = (0.0, 0) if held is None else (push_cost(held.indices.placement), held.nvals)
        return [int(self._at.size), nvals, round(_SCALE * cost), slots, *self._mine.tolist()]

    def divide(self, told: NDArray[np.int64], *, pushes: bool, pulls: bool) -> tuple[bool, bool]:
        """Return whether searches push and whether some pull, by the numbers of all processes, a row each."""
        nvals, totals = int(told[:, 1].sum()), told[:, _TOTALS:].sum(axis=0)
        work = work_of(totals, nvals)
        there = work.searches > 0
        if pushes and pulls:
            cost, slots = int(told[:, 2].max()) / _SCALE, int(told[:, 3].min())
            self._pushing, self._pulling = divide(work, cost, slots)
        else:
            self._pushing, self._pulling = there & pushes, there & pulls
        if self._pulling.any():
            rows, first, entries = self._mine[1:4].tolist()
            mine = replace(work, wanted_rows=rows, wanted_first=first, wanted=entries)
            self._pulled = pulled_entries(mine, self._pulling)
        return bool(self._pushing.any()), bool(self._pulling.any())

    @launch.locked
    def frontier(self) -> tuple[Any, Any]:
        """Return this process's vertices in the frontier, from its first on, and their words."""
        return self._at, self.words_at(self._x.vector.bits, self._at)

    def frontier_bits(self) -> Any:
        """Return the bits of this process's part of the frontier."""
        return self._x.vector.bits

    @launch.locked
    def pushed(self, size: int) -> Any:
        """Return the bits of all vertices, `size`, that pushes from this process's part reach."""
        case = Case(self._x, MaskBits(), self.bits(size))
        if self._push is not None and self._at.size:
            case.launch("push", self._push, self._pushing)
        return case.y

    @launch.locked
    def pulled(self, frontier: Any, size: int, reached: Any) -> None:
        """Add to `reached` what pulls find, by the bits of all vertices of the frontier."""
        rows = self._pull
        if rows is not None:
            x = Panel(self.width, True, SameVector(BOOL, size * self.width, frontier, True))
            near = rows.layouts[HeadCache].get_or_build(rows, Demand(self._pulled, BOOL))
            Case(x, self._mask, reached).launch("pull", rows, self._pulling, near)

    @launch.locked
    def result(self, reached: Any, size: int) -> SameVector:
        """Return the part of the result of this process: the bits that the mask allows."""
        if not self._mask.allows_all and reached.size:
            reached &= self._mask.bits ^ np.uint32(self._mask.flip)
        return SameVector(self._dtype, size * self.width, reached, self._same)

    def bits(self, size: int) -> Any:
        """Return the bits of so many vertices, none of which is set."""
        return cuda.current().xp.zeros(-(-size * self.width // 32), np.uint32)

    @launch.locked
    def listed(self, bits: Any, size: int) -> tuple[Any, Any]:
        """Return the vertices with any bit, ascending, and their words."""
        at = _rows_with_any(bits, size, self.width)
        return at, self.words_at(bits, at)

    @launch.locked
    def put(self, at: Any, words: Any, bits: Any) -> None:
        """Set the bits of listed vertices, uint32 or uint64."""
        if at.size:
            self._kernel("put_words", at.dtype.itemsize == 8).launch(
                launch.blocks(cuda.current(), at.size), count=at.size, at=at, words=words, width=self.width, bits=bits
            )

    def words_at(self, bits: Any, at: Any) -> Any:
        """Return the words of listed vertices."""
        gpu = cuda.current()
        words = gpu.xp.empty(at.size, np.uint64)
        if at.size:
            self._kernel("take_words", False).launch(
                launch.blocks(gpu, at.size), count=at.size, at=at, bits=bits, width=self.width, words=words
            )
        return words

    def _kernel(self, name: str, wide: bool) -> Any:
        return codegen.kernel(cuda.current(), "panel_words.cu", prelude(wide=wide, aligned=self.width == 64), name)


def _rows_with_any(bits: Any, count: int, width: int) -> Any:
    """Return the vertices with any bit (int64, ascending)."""
    gpu = cuda.current()
    if not count:
        return gpu.xp.empty(0, np.int64)
    found = gpu.xp.empty(-(-count // 32), np.uint32)
    lines = codegen.kernel(gpu, "bits.cu", "", "lines")
    lines.launch(launch.blocks(gpu, count), MaskBits(bits).arguments(), count=count, width=width, bits=found)
    return presence_words.positions(found, count)
