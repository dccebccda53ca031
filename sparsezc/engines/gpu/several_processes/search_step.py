"""A step of many searches on several processes, each with its part of the vertices and of the matrix's rows.

A process pushes from its part of the frontier to all vertices, and pulls to its own vertices from the whole frontier.
It counts the entries that the step would read; from the counts of all processes each computes the same division into
searches that push and searches that pull (multi_source_bfs.py). Frontiers are sent as lists of vertices with a word of
64 bits each.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.device import cuda
from sparsezc.engines.gpu.elementwise.panel import Panel, SameVector
from sparsezc.engines.gpu.layouts.head_cache import HeadCache
from sparsezc.engines.gpu.products.multi_source_bfs import (
    ENTRIES,
    Case,
    Work,
    cheapest,
    prelude,
    pulled_entries,
    push_cost,
    work_of,
)
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.several_processes.upper_triangle import EdgesOnce
from sparsezc.engines.gpu.storage.layout import Demand
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.engines.gpu.storage.vector_store import MaskBits
from sparsezc.semirings.types.datatypes import BOOL, DataType

_MANY_SLOTS = 255  # slots reported by a process without rows: more than any other has
_TOTALS = 4  # numbers that precede the totals counted by the kernel
_SCALE = 1000  # factor by which costs are sent as integers


class Setting(NamedTuple):
    """The rows of all processes: entries, the cost of pushing one, slots of row heads, and whether all can pull."""

    nvals: int
    push_cost: float
    slots: int
    pulls: bool

    @classmethod
    def of(cls, told: NDArray[np.int64], *, pulls: bool) -> Setting:
        """Return the setting for the results of :func:`told_of_rows` on all processes, one row each."""
        return cls(int(told[:, 0].sum()), int(told[:, 1].max()) / _SCALE, int(told[:, 2].min()), pulls)


def told_of_rows(push: Rows | None, pull: Rows | None) -> list[int]:
    """Return this process's number of entries, the scaled cost of pushing one, and the slots of its row heads."""
    slots = _MANY_SLOTS if pull is None else pull.layouts[HeadCache].expected_slots(pull, BOOL, values=False)
    held = pull if push is None else push
    cost, nvals = (0.0, 0) if held is None else (push_cost(held.indices.placement), held.nvals)
    return [nvals, round(_SCALE * cost), slots]


class SharedStep:
    """One step of the searches; all processes call its methods in the same order.

    Parameters
    ----------
    same : scalar
        The value of every entry of the result; `dtype` is its type.
    push, pull : Rows, optional
        This process's rows of the matrix, and of its transpose; None: it has none.
    x : Panel
        This process's part of the frontier, of at most 64 searches.
    mask : MaskBits
        The positions of its part of the result that may be written.
    counts : array of uint64, optional
        On the device, if known: the number of vertices in the frontier, and the totals of :meth:`Case.count`.
    """

    def __init__(
        self, same: Any, dtype: DataType, push: Rows | None, pull: Rows | None, x: Panel, mask: MaskBits,
        counts: Any = None,
    ) -> None:  # fmt: skip
        self.width, self._counts = x.width, counts
        if x.vector.bits is None:  # an empty part
            x = Panel(x.width, True, SameVector(BOOL, x.vector.size, self.bits(x.length), True))
        self._same, self._dtype, self._push, self._pull, self._x, self._mask = same, dtype, push, pull, x, mask
        self._found = 0  # number of this process's vertices in the frontier
        self._mine: NDArray[np.int64] = np.zeros(0, np.int64)
        self._pushing, self._pulling = np.zeros((2, x.width), np.bool_)
        self._work: Work | None = None  # of all processes, once divided
        self._reads = 0.0  # entries that all processes will read, if they may push and pull

    @launch.locked
    def work(self) -> list[int]:
        """Return this process's counts of reads, of the same length on all; the first is its frontier's vertices."""
        xp, rows, counts = cuda.current().xp, self._pull, self._counts
        if counts is None:
            case = Case(self._x, self._mask, None)
            counts = xp.zeros(1 + ENTRIES + 64 * case.words, np.uint64)  # one array, as each read waits for the device
            self._over(self._x.vector.bits, self._x.length, counts[:1], None)
            if self._x.length or rows is not None:
                case.count(rows, self._push, counts[1:])
        found = cuda.current().asnumpy(counts).view(np.int64)
        self._found, self._mine = int(found[0]), found[1 : 1 + ENTRIES + self.width]
        return [self._found, *told_of_rows(self._push, rows), *self._mine.tolist()]

    def divide(self, told: NDArray[np.int64], *, pushes: bool, pulls: bool) -> tuple[bool, bool]:
        """Return whether any searches push and whether any pull, given the counts of all processes, one row each."""
        nvals, cost, slots, _ = Setting.of(told[:, 1:], pulls=pulls)
        self._work = work = work_of(told[:, _TOTALS:].sum(axis=0), nvals)
        there, self._reads = work.searches > 0, 0.0
        if pushes and pulls:
            self._reads, self._pushing, self._pulling = cheapest(work, cost, slots)
        else:
            self._pushing, self._pulling = there & pushes, there & pulls
        return bool(self._pushing.any()), bool(self._pulling.any())

    @launch.locked
    def frontier(self, first: int, wide: bool) -> tuple[Any, Any]:
        """Return this process's vertices in the frontier, numbered from `first` on, and their words."""
        return self._listed(self._x.vector.bits, self._x.length, np.array([self._found]), None, first, wide)

    def frontier_bits(self) -> Any:
        """Return the bits of this process's part of the frontier."""
        return self._x.vector.bits

    @launch.locked
    def pushed(self, reached: Any) -> None:
        """Add to `reached` the bits of all vertices that pushes from this process's part of the frontier reach."""
        if self._push is not None and self._found:
            Case(self._x, MaskBits(), reached).launch("push", self._push, self._pushing)

    @launch.locked
    def pulled(self, frontier: Any, size: int, reached: Any, columns: Rows | None = None) -> None:
        """Add to `reached` the vertices that pulls find, given the bits of the whole frontier.

        `columns`: the rows of the transpose, if this process has all of them.
        """
        rows = self._pull
        if rows is not None:
            wanted_rows, first, entries = self._mine[1:4].tolist()
            assert self._work is not None
            mine = replace(self._work, wanted_rows=wanted_rows, wanted_first=first, wanted=entries)
            x = Panel(self.width, True, SameVector(BOOL, size * self.width, frontier, True))
            near = rows.layouts[HeadCache].get_or_build(
                rows, Demand(pulled_entries(mine, self._pulling), BOOL, columns=columns)
            )
            Case(x, self._mask, reached).launch("pull", rows, self._pulling, near)

    @launch.locked
    def reach_by_edges_once(self, reached: Any) -> bool:
        """Add to `reached` what all searches reach by the upper triangle, if that reads less; return whether it does.

        Only for a process that has all rows.
        """
        rows = self._push
        if rows is None or rows is not self._pull or not self._reads:
            return False
        once = rows.layouts[EdgesOnce].get_or_build(rows, self._reads)
        if once is not None:
            Case(self._x, MaskBits(), reached).launch("both", once.as_configured(), self._pushing | self._pulling)
        return once is not None

    def result(self, reached: Any, size: int) -> SameVector:
        """Return this process's part of the result, to which the mask is not applied yet."""
        return SameVector(self._dtype, size * self.width, reached, self._same)

    def bits(self, size: int) -> Any:
        """Return cleared bits for `size` vertices."""
        return cuda.current().xp.zeros(-(-size * self.width // 32), np.uint32)

    @launch.locked
    def counted(self, bits: Any, size: int, bounds: Any, own: int) -> NDArray[np.int64]:
        """Count vertices with a bit by process, 0 for this one (`own`); `bounds`: those of the parts, on the device."""
        gpu = cuda.current()
        counts = gpu.xp.zeros(bounds.size - 1, np.uint64)
        self._over(bits, size, counts, (bounds, own))
        found: NDArray[np.int64] = gpu.asnumpy(counts).astype(np.int64)
        return found

    @launch.locked
    def listed(
        self, bits: Any, size: int, counts: NDArray[np.int64], owners: tuple[Any, int], wide: bool
    ) -> tuple[Any, Any]:
        """Return the counted vertices, sorted by process, and their words."""
        return self._listed(bits, size, counts, owners, 0, wide)

    def _listed(
        self, bits: Any, size: int, counts: NDArray[np.int64], owners: Any, first: int, wide: bool
    ) -> tuple[Any, Any]:
        xp, total = cuda.current().xp, int(counts.sum())
        at, words = xp.empty(total, np.uint64 if wide else np.uint32), xp.empty(total, np.uint64)
        if total:
            before = (np.cumsum(counts) - counts).astype(np.uint64)
            places = xp.asarray(before) if owners is not None else xp.zeros(1, np.uint64)  # needs no copy
            self._over(bits, size, places, owners, (first, at, words))
        return at, words

    def _over(self, bits: Any, size: int, numbers: Any, owners: Any, lists: Any = None) -> None:
        """Count or list the vertices with a bit, by owner; `owners` None: they have one owner."""
        if not size:
            return
        gpu = cuda.current()
        bounds, own, count = (0, 1, 1) if owners is None else (*owners, numbers.size)
        given = {"size": size, "bits": bits, "width": self.width, "bounds": bounds, "owners": count, "skipped": own}
        if lists is None:
            self._kernel("count_rows", False).launch(launch.blocks(gpu, size), **given, counts=numbers)
            return
        first, at, words = lists
        self._kernel("list_rows", at.dtype.itemsize == 8).launch(
            launch.blocks(gpu, size), **given, places=numbers, first=first, at=at, words=words
        )

    @launch.locked
    def put(self, at: Any, words: Any, first: int, bits: Any) -> None:
        """Set the bits of listed vertices (uint32 or uint64), which are numbered from `first` on."""
        if at.size:
            self._kernel("put_words", at.dtype.itemsize == 8).launch(
                launch.blocks(cuda.current(), at.size), count=at.size, at=at, words=words, first=first,
                width=self.width, bits=bits,
            )  # fmt: skip

    def _kernel(self, name: str, wide: bool) -> Any:
        return codegen.kernel(cuda.current(), "panel_words.cu", prelude(wide=wide, aligned=self.width == 64), name)
