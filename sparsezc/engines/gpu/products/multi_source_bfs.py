"""Steps of up to 256 searches at once: Boolean products with a panel of their frontiers (multi_source_*.cu).

Each pair of a search and a vertex is one bit, so a row of the matrix is read once for all searches. Searches whose
frontiers have few edges push, the others pull: a pull stops early once all of its searches have found a neighbour,
which a search with a small frontier would prevent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.elementwise.panel import WIDTH, Panel, SameVector
from sparsezc.engines.gpu.layouts.head_cache import HeadCache, Heads
from sparsezc.engines.gpu.products import rows_per_warp
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.runtime.codegen import flags, typedefs
from sparsezc.engines.gpu.storage.layout import Demand
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.engines.gpu.storage.vector_store import MaskBits
from sparsezc.memory.placement import RECORDS
from sparsezc.semirings.types.datatypes import BOOL, DataType

FEW = 1 / 32  # share of all edges in a frontier: a search with a smaller one would keep a pull from early exit
_ATOMIC = 1.5  # cost of setting a bit by an atomic, in reads of ids from device memory
ENTRIES = 4  # number of totals that precede those of single searches


def step(
    same: Any, dtype: DataType, pull: Rows | None, push: Rows | None, nrows: int, x: Panel, mask: MaskBits
) -> SameVector:
    """Return the vertices that each search reaches in one step and the mask allows.

    Parameters
    ----------
    same : scalar
        The value of every entry of the result; `dtype` is its type.
    pull, push : Rows, optional
        The rows that a pull reads, and those of the transpose, which a push reads: at least one of them.
    nrows : int
        The number of vertices that may be reached.
    x : Panel
        The frontiers.
    """
    gpu = cuda.current()
    case = Case(x, mask, gpu.xp.zeros(-(-nrows * x.width // 32), np.uint32))
    pushing, pulling = case.shares(pull, push)
    if push is not None and pushing.any():
        case.launch("push", push, pushing)
    if pull is not None and pulling.any():
        near = pull.layouts[HeadCache].get_or_build(pull, Demand(case.pulled, BOOL, columns=push))
        case.launch("pull", pull, pulling, near)
    return SameVector(dtype, nrows * x.width, case.y, same)


def push_cost(placement: str) -> float:
    """Return the cost of pushing an entry, in entries pulled."""
    return 1.0 + _ATOMIC * RECORDS[placement].resident


@dataclass(frozen=True)
class Work:
    """The entries of the matrix that a step may read."""

    frontier: int  # entries of the rows that are in any frontier
    wanted_rows: int
    wanted_first: int  # the sum of min(entries, 32): entries in the rows' first slices
    wanted: int
    searches: Any  # entries of the rows in each search's frontier
    nvals: int


def work_of(totals: NDArray[np.int64], nvals: int) -> Work:
    """Return the work for totals that were counted: four numbers, then one for each search."""
    frontier, rows, first, entries = totals[:ENTRIES].tolist()
    return Work(frontier, rows, first, entries, totals[ENTRIES:], nvals)


def divide(work: Work, push_cost: float, slots: int = 0) -> tuple[Any, Any]:
    """Return which searches push and which pull, for the fewest reads: all push, all pull, or those of few edges push.

    With heads of `slots` ids, a pull reads a row only if these give a search no neighbour.

    >>> all_few = Work(10, 100, 900, 1000, np.array([4, 6]), 1000)
    >>> [x.tolist() for x in divide(all_few, 1.0)]
    [[True, True], [False, False]]
    >>> one_has_many = Work(910, 100, 300, 1000, np.array([1] * 31 + [900]), 1000)
    >>> [int(x.sum()) for x in divide(one_has_many, 1.0)]
    [31, 1]
    >>> little_is_wanted = Work(900, 1, 1, 1, np.array([100, 800]), 1000)
    >>> [x.tolist() for x in divide(little_is_wanted, 1.0)]
    [[False, False], [True, True]]
    """
    return cheapest(work, push_cost, slots)[1:]


def cheapest(work: Work, push_cost: float, slots: int = 0) -> tuple[float, Any, Any]:
    """Return the entries that a step reads, and which searches push and which pull; see :func:`divide`."""
    there, best = work.searches > 0, work.frontier * push_cost
    if not slots and best <= min(work.wanted, work.wanted_first):  # a pull reads at least as much
        return best, there, there & False
    # By few NumPy calls, as the device is idle during them.
    edges = int(work.searches.sum())
    many = work.searches >= max(FEW * work.nvals, 1)
    some, all_of_them = int(np.count_nonzero(many)), int(np.count_nonzero(there))
    pushing = there
    if some:
        pulled = edges if some == all_of_them else int(work.searches[many].sum())
        cost = min(work.frontier, edges - pulled) * push_cost
        cost += _until_all_stop(work, some, pulled / some / work.nvals, slots)
        if cost < best:
            best, pushing = cost, there & ~many
    if some < all_of_them:
        least = int(work.searches[there].min())
        cost = _until_all_stop(work, all_of_them, least / work.nvals, slots)
        if cost < best:
            best, pushing = cost, there & False
    return best, pushing, there & ~pushing


def pulled_entries(work: Work, pulling: Any) -> float:
    """Return the entries that a pull of these searches reads without heads."""
    edges = work.searches[pulling]
    share = float(edges.min()) / work.nvals
    return _until_all_stop(work, edges.size, share if share < FEW else float(edges.mean()) / work.nvals, 0)


def _until_all_stop(work: Work, count: int, share: float, slots: int) -> float:
    """Estimate the entries that a pull reads, in slices of 32, until its last search has found a neighbour.

    The probability that an entry is in a search's frontier is `share`, that of all edges which end there. The last of
    k searches takes 1 + ln k times as many entries as one.
    """
    slices = (1 + log(count)) / share / 32
    left = 1 - (1 - (1 - share) ** slots) ** count if slots else 1.0
    return left * float(min(work.wanted, work.wanted_first * max(slices, 1.0)))


class _Active(NamedTuple):
    """Kernel arguments: a bit for each search that takes part in a launch (multi_source_bfs.cuh)."""

    a: np.uint64
    b: np.uint64
    c: np.uint64
    d: np.uint64


_NO_BITS = (np.uint64(0),) * 3


class Planned(NamedTuple):
    """At most 64 searches of a launch whose division the device itself has computed.

    Attributes
    ----------
    address : int
        The address of the searches' bits.
    counters : array of uint64, shape (2,)
        Zeros at the launch.
    """

    address: int
    counters: Any

    def active(self) -> _Active:
        """Return the address as a kernel argument."""
        return _Active(np.uint64(self.address), *_NO_BITS)


class Case:
    """One step: the panel of frontiers, the mask, and the bits of the vertices reached."""

    def __init__(self, x: Panel, mask: MaskBits, y: Any) -> None:
        self.x, self.mask, self.y = x, mask, y
        self.words = -(-x.width // 64)
        self.aligned = x.width == 64 * self.words
        self.pulled = 0.0  # entries that the pulling searches would read without heads

    def totals(self, pull: Rows | None, push: Rows | None) -> NDArray[np.int64]:
        """Return the totals for :func:`work_of`. Waits for the device."""
        totals = cuda.current().xp.zeros(ENTRIES + 64 * self.words, np.uint64)
        self.count(pull, push, totals)
        found: NDArray[np.int64] = cuda.current().asnumpy(totals).astype(np.int64)[: ENTRIES + self.x.width]
        return found

    def count(self, pull: Rows | None, push: Rows | None, totals: Any) -> None:
        """Add the totals to an array on the device, of a multiple of 64 searches."""
        gpu = cuda.current()
        nrows, pulled = (0, 0) if pull is None else (pull.nrows, pull.indptr)
        name = "multi_source_bfs_work"
        kernel = codegen.kernel(gpu, f"{name}.cu", prelude(words=self.words, aligned=self.aligned), name)
        kernel.launch(
            launch.blocks(gpu, max(self.x.length, nrows)), self.mask.arguments(),
            self._active(np.ones(self.x.width, np.bool_)), size=self.x.length,
            push_indptr=0 if push is None else push.indptr, nrows=nrows, pull_indptr=pulled, x=self.x.vector.bits,
            width=self.x.width, totals=totals,
        )  # fmt: skip

    def shares(self, pull: Rows | None, push: Rows | None) -> tuple[Any, Any]:
        """Return which searches push and which pull, as arrays of bool. Waits for the device."""
        totals = self.totals(pull, push)
        work = work_of(totals, 0 if push is None else push.nvals)
        there = work.searches > 0
        if push is None or pull is None:
            self.pulled = float(work.wanted)
            return (there, ~there & False) if pull is None else (~there & False, there)
        slots = pull.layouts[HeadCache].expected_slots(pull, BOOL, values=False)
        pushing, pulling = divide(work, push_cost(push.indices.placement), slots)
        self.pulled = pulled_entries(work, pulling) if pulling.any() else 0.0
        return pushing, pulling

    def launch(self, way: str, rows: Rows, searches: Any, near: Heads | None = None) -> None:
        """Launch the push or pull of these searches; `near`: the heads that a pull reads first."""
        gpu, planned = cuda.current(), isinstance(searches, Planned)
        chunks = rows.chunks
        looks = near is not None and near.k > 0
        slots = {} if near is None else {"heads": near.ids, "k": near.k}
        at_once = rows_per_warp.choose(rows)
        given = prelude(rows.wide, rows.compressed, looks, self.words, self.aligned, chunks.length, at_once, planned)
        nwords = -(-rows.nrows // 32)
        blocks = launch.blocks(gpu, 32 * max(nwords, chunks.count))
        name = f"multi_source_bfs_{way}"
        kernel = codegen.kernel(gpu, f"{name}.cu", given, name)
        stats.counted(kernel, placements.in_device_memory(rows))(
            blocks, chunks.all, self.mask.arguments(),
            searches.active() if planned else self._active(searches), nrows=rows.nrows, indptr=rows.indptr,
            indices=rows.indices.pointer, x=self.x.vector.bits, width=self.x.width, y=self.y,
            counters=searches.counters if planned else gpu.xp.zeros(2, np.uint64),
            piece=launch.piece(launch.warps(blocks), nwords, 16 if looks else 4), **slots,
        )  # fmt: skip

    def _active(self, searches: Any) -> _Active:
        """Return the bits of these searches as kernel arguments."""
        bits = np.zeros(WIDTH, np.bool_)
        bits[: searches.size] = searches
        return _Active(*np.packbits(bits, bitorder="little").view(np.uint64))


@cache
def prelude(
    wide: bool = False, compressed: bool = False, looks: bool = False, words: int = 1, aligned: bool = True,
    long: int = 1, at_once: int = 32, planned: bool = False,
) -> str:  # fmt: skip
    """Return the prelude of the kernels that include multi_source_bfs.cuh."""
    constants = f"constexpr u64 LONG = {long};\nconstexpr u32 WORDS = {words}, ROWS_PER_WARP = {at_once};"
    given = flags(ALIGNED=aligned, COMPRESSED=compressed, HEADS=looks, PLANNED=planned)
    return f"{typedefs(Id='u64' if wide else 'u32')}\n{given}\n{constants}"
