"""The steps of 64 searches on several cards that write into each other's memory; kernels plan the steps, not the hosts.

Each card has its part of the vertices, and a copy of the whole frontier. In a step a card pushes from its part of the
frontier, sends the words of other cards' vertices that it reached to these cards, and pulls to its own vertices. Once
all cards have done so, it selects its vertices reached for the first time, and writes the words of the frontier that
change into the other cards' copies. Then the cards exchange the numbers of entries that the next step would read, from
which all compute the same division into searches that push and searches that pull. A host launches steps ahead of those
whose numbers it has read; steps after the last one do nothing and wait for no other card.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.device import cuda
from sparsezc.engines.gpu.elementwise.panel import Panel, SameVector
from sparsezc.engines.gpu.layouts.head_cache import NO_HEADS, HeadCache
from sparsezc.engines.gpu.products.multi_source_bfs import (
    ENTRIES,
    FEW,
    Case,
    Planned,
    Work,
    prelude,
    pulled_entries,
)
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.several_processes.search_step import Setting
from sparsezc.engines.gpu.storage.layout import Demand
from sparsezc.engines.gpu.storage.vector_store import MaskBits
from sparsezc.semirings.types.datatypes import BOOL

if TYPE_CHECKING:
    from sparsezc.device.launcher import Launcher
    from sparsezc.engines.gpu.several_processes.search_levels import SharedSearches

__all__ = ["TOGETHER", "Cards", "memory", "run"]

_WIDTH = 64
#: Frontiers whose levels are written by one launch: the kernel numbers them by three bits.
TOGETHER = 8
_WORD = 8  # bytes of a word
_AHEAD = 2  # steps that are launched beyond the last one whose numbers the host has read
_PLAN, _PUSH, _PULL, _COUNTERS = 8, 0, 1, 4  # size and places of the plan, as in peer_searches.cu
_NUMBERS = 1 + ENTRIES + _WIDTH + 2  # numbers that a card sends, as in peer_searches.cu
_SLOTS, _SLOT = 8, 8 + _WIDTH  # slots for steps whose numbers the host has not read, and words of a slot


class Cards(NamedTuple):
    """The windows of all cards, and the number of this card.

    Attributes
    ----------
    arrays : sequence of arrays of bytes
        The windows of all cards: zeros, or as the last searches left them.
    own : int
        The number of this card.
    bounds : ndarray of int64, shape (cards + 1,)
        Card r has the vertices ``bounds[r]:bounds[r + 1]``.
    told : ndarray of uint64
        Host memory to which the device writes the numbers of steps.
    wait : callable
        Calls a function until it returns True.
    left : object or None
        The state that :func:`run` returned then; None at first.
    """

    arrays: Sequence[Any]
    own: int
    bounds: NDArray[np.int64]
    told: NDArray[np.uint64]
    wait: Callable[[Callable[[], bool]], None]
    left: Any


def memory(bounds: NDArray[np.int64]) -> tuple[int, int]:
    """Return the bytes of a card's window, and of the host memory to which its kernels write the steps' numbers."""
    return _WORD * _Places(bounds).end, _WORD * _SLOTS * _SLOT


class _Places:
    """The first word of each part of a window: frontier, words reached, words received, cards' numbers, flags."""

    def __init__(self, bounds: NDArray[np.int64]) -> None:
        n, cards = int(bounds[-1]), bounds.size - 1
        self.reached, self.came = n, 2 * n
        self.numbers = self.came + (cards - 1) * int(np.diff(bounds).max())
        self.flags = self.numbers + cards * _NUMBERS
        self.end = self.flags + cards


class _Left:
    """The device arrays, beside windows, that are kept for the next searches with the same bounds.

    Attributes
    ----------
    number : int
        The last number by which the cards synchronised.
    plan, numbers : array of uint64
        The plan and the numbers of this card.
    fronts, inboxes, numbers_of, flags_of, bounds : array of uint64
        The kernel arguments with addresses in windows.
    """

    def __init__(self, cards: Cards) -> None:
        gpu, places, bounds, own = cuda.current(), _Places(cards.bounds), cards.bounds, cards.own
        bases = [gpu.pointer(array) for array in cards.arrays]
        sizes, first = np.diff(bounds).tolist(), int(bounds[own])
        fronts = [base + _WORD * first for r, base in enumerate(bases) if r != own] + [0]
        inboxes = [
            base + _WORD * (places.came + (own - (own > r)) * size)
            for r, (base, size) in enumerate(zip(bases, sizes, strict=True))
        ]
        numbers, flags = ([base + _WORD * place for base in bases] for place in (places.numbers, places.flags))
        parts = fronts, inboxes, numbers, flags, bounds.tolist()
        self.fronts, self.inboxes, self.numbers_of, self.flags_of, self.bounds = (
            gpu.xp.asarray(np.array(part, np.uint64)) for part in parts
        )
        self.plan, self.numbers = (gpu.xp.zeros(size, np.uint64) for size in (_PLAN, _NUMBERS))
        self.number = 0


def run(part: SharedSearches, cards: Cards, setting: Setting) -> tuple[int, _Left]:
    """Run all steps; return the bytes received from other cards, and the state to keep for the next searches."""
    with launch.lock:
        steps = _Steps(part, cards, setting)
    while not steps.is_over():
        steps.add()
        steps.hear(_AHEAD)
    steps.hear(0)
    return _WORD * steps.came, steps.left()


@cache
def constants() -> str:
    """Return the prelude of the kernels."""
    return f"{prelude(aligned=True)}\nconstexpr double FEW = {FEW};"


class _Steps:
    """The steps of a card.

    Attributes
    ----------
    launched, fronts, came : int
        The numbers of steps launched, of steps that had a frontier as far as the host has read, and of words received.
    """

    def __init__(self, part: SharedSearches, cards: Cards, setting: Setting) -> None:
        self._part, self._cards, self._setting = part, cards, setting
        words, places = cards.arrays[cards.own].view(np.uint64), _Places(cards.bounds)
        n, first, length = int(cards.bounds[-1]), int(cards.bounds[cards.own]), part.length
        self._front, self._reached = words[:n], words[places.reached : places.reached + n]
        self._came, self._theirs, self._flags = words[places.came :], words[places.numbers :], words[places.flags :]
        self._mine = slice(first, first + length)
        self._first = part.start.view(np.uint64) if length else words[:0]
        self._left = _Left(cards) if cards.left is None else cards.left
        self._number, self._written = self._left.number, 0
        self._fronts = part.fronts(2 * TOGETHER)
        self._left.plan.fill(1)  # not 0: there is a frontier
        self._case = {
            "push": Case(_panel(self._front[self._mine]), MaskBits(), self._reached.view(np.uint32)),
            "pull": Case(_panel(self._front), part.unseen, self._reached[self._mine].view(np.uint32)),
        }
        self._near, self._heard = NO_HEADS, 0
        self.launched = self.fronts = self.came = 0
        self._over = False
        cards.told.fill(0)
        if part.pull is not None:
            self._near = part.pull.layouts[HeadCache].usable

    @launch.locked
    def add(self) -> None:
        """Launch a step; the first one only takes the frontier from which the searches start."""
        gpu, part, cards, left = cuda.current(), self._part, self._cards, self._left
        count, own, plan = len(cards.arrays), cards.own, left.plan
        counters = plan[_COUNTERS:]
        among = {"flags_of": left.flags_of, "flags": self._flags, "own": own, "cards": count}
        if self.launched:
            if part.push is not None:
                self._case["push"].launch("push", part.push, Planned(gpu.pointer(plan) + _WORD * _PUSH, counters[:2]))
            self._kernel("send_words").launch(
                launch.blocks(gpu, self._reached.size), reached=self._reached, bounds=left.bounds, cards=count,
                own=own, inbox_of=left.inboxes, plan=plan,
            )  # fmt: skip
            if part.pull is not None:
                pulled = Planned(gpu.pointer(plan) + _WORD * _PULL, counters[2:])
                self._case["pull"].launch("pull", part.pull, pulled, self._near)
            self._number += 1
            self._kernel("meet_cards").launch(1, **among, number=self._number, plan=plan)
        if self.launched >= self._written + 2 * TOGETHER:  # the host has read the numbers of all but the last few steps
            self._write_levels(TOGETHER)
        kept = self._fronts[self.launched % (2 * TOGETHER)].view(np.uint64)
        if part.length:
            push, pull = (0 if rows is None else rows.indptr for rows in (part.push, part.pull))
            self._kernel("turn_words").launch(
                launch.blocks(gpu, part.length), size=part.length,
                reached=self._reached[self._mine] if self.launched else self._first, came=self._came,
                others=count - 1, seen=part.seen.view(np.uint64), front=self._front[self._mine],
                fronts_of=left.fronts, kept=kept, push_indptr=push, pull_indptr=pull, plan=plan,
                numbers=left.numbers,
            )  # fmt: skip
        self._number += 1
        setting = self._setting
        self._kernel("plan_step").launch(
            1, **among, number=self._number, numbers=left.numbers, theirs_of=left.numbers_of,
            theirs=self._theirs, nvals=float(setting.nvals), push_cost=setting.push_cost, slots=setting.slots,
            pulls=setting.pulls, plan=plan, told=self._slot(self.launched).ctypes.data, step=self.launched + 1,
        )  # fmt: skip
        self.launched += 1

    def _kernel(self, name: str) -> Launcher:
        return codegen.kernel(cuda.current(), "peer_searches.cu", constants(), name)

    def _slot(self, step: int) -> NDArray[np.uint64]:
        at = step % _SLOTS * _SLOT
        return self._cards.told[at : at + _SLOT]

    def hear(self, ahead: int) -> None:
        """Read the numbers of steps that have ended; wait until at most `ahead` launched steps are unread."""
        while self._heard < self.launched:
            if not self._is_told():
                if self._heard >= self.launched - ahead:
                    return
                self._cards.wait(self._is_told)
            slot = self._slot(self._heard)
            self._heard += 1
            left, came, _, pull = slot[1:5].tolist()
            self.came += came
            if not left:
                self._over = True
            else:
                self.fronts += 1
                if pull and self._part.pull is not None:
                    self._read(slot.view(np.int64))

    def _write_levels(self, count: int) -> None:
        first = self._written % (2 * TOGETHER)
        self._part.write_levels(self._fronts[first : first + count])
        self._written += count

    def left(self) -> _Left:
        """Write the remaining levels, and return the state to keep for the next searches."""
        while self._written < self.fronts:
            self._write_levels(min(TOGETHER, self.fronts - self._written))
        self._left.number += 1 + 2 * self.fronts  # steps after the last one do not synchronise
        return self._left

    def is_over(self) -> bool:
        """Return whether the host has read of a step without a frontier."""
        return self._over

    def _is_told(self) -> bool:
        return int(self._slot(self._heard)[0]) == self._heard + 1

    @launch.locked
    def _read(self, slot: NDArray[np.int64]) -> None:
        """Count the entries that a pull read; row heads may be built for them, which later pulls use."""
        rows = self._part.pull
        assert rows is not None
        wanted_rows, first, entries = slot[5:8].tolist()
        work = Work(0, wanted_rows, first, entries, slot[8:].copy(), self._setting.nvals)
        pulling = np.unpackbits(slot[4:5].view(np.uint8), bitorder="little").astype(np.bool_)
        self._near = rows.layouts[HeadCache].get_or_build(rows, Demand(pulled_entries(work, pulling), BOOL))


def _panel(words: Any) -> Panel:
    return Panel(_WIDTH, True, SameVector(BOOL, words.size * _WIDTH, words.view(np.uint32), True))
