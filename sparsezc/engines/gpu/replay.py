"""Rounds of a loop that do not wait for the host: recorded once, then run many at a time.

A search of a road network has thousands of levels of little work each, and most of a level's time is the host's:
Python, launches, a wait for the frontier's size. So :func:`sparsezc.algorithms._rounds.rounds` hands a loop to
:class:`Replay` once its frontier has stayed small: the body runs twice more while the device records its kernels (a
CUDA graph), and is then replayed a batch at a time, with one wait for the frontier after each. A frontier that grows
goes back to the host, which chooses between push and pull. The rows of such graphs are short: the row-head cache, made
once pushes have read so much that it has paid for itself, keeps them off the link.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sparsezc import device, stats
from sparsezc.engines.gpu import direction, heads, launch, orders
from sparsezc.engines.gpu.stores import VectorStore

_LEAST, _MOST = 4, 32  # recorded pairs of rounds between two looks at the frontier
_TRIFLE = 1 << 14  # entries that are pushed whatever the share of all that they are
_FEW = 64  # a frontier of fewer than one vertex in so many is pushed


class Replay:
    """The rounds from `depth` on, for as long as `frontier` is small and not empty.

    Iterating gives the loop's body three rounds, each with the round's number as it lies on the device; `depth` is the
    number of the next round afterwards. A body that runs with an empty frontier must change nothing.
    """

    def __init__(self, frontier: VectorStore, depth: int) -> None:
        self.frontier, self.depth = frontier, depth

    def __iter__(self) -> Iterator[Any]:
        if not self._goes_on():
            return
        near = self._heads(0)  # held: their addresses are recorded
        if stats.is_counting():  # which asks the device after each launch
            return
        gpu = device.current()
        number = launch.OnDevice(gpu.xp.full(1, self.depth, np.int64))
        with launch.unattended() as spare:  # noqa: F841  (held until the last replay has ended)
            yield number  # once as ever: what is compiled now is not recorded
            launch.next_round(number)
            before = self._arrays()
            with gpu.record() as recording:
                for _ in range(2):  # in and out change places twice, and are where they were
                    yield number
                    launch.next_round(number)
        recording.replay()
        self.depth += 3
        pairs = _LEAST
        while self._arrays() == before and self._goes_on() and self._heads(2 * pairs) is near:
            for _ in range(pairs):
                recording.replay()
            self.depth += 2 * pairs
            pairs = min(2 * pairs, _MOST)
        gpu.synchronize()  # the recording, and the arrays that it goes through, may go

    def _arrays(self) -> tuple[int, int]:
        gpu = device.current()
        with orders.within(self.frontier.order):
            return gpu.pointer(self.frontier.values), gpu.pointer(self.frontier.bits)

    def _heads(self, rounds: int) -> Any:
        """The heads of the rows that are pushed, if there are any after so many rounds with such a frontier."""
        rows = self.frontier.next_rows
        return None if rows is None else heads.to_push(rows, rows, rounds * (self.frontier.count or 0))

    def _goes_on(self) -> bool:
        """Whether the frontier has entries, and so few that a push needs no second thought. Waits for the device."""
        store = self.frontier
        store.count = store.row_entries = None
        if not 0 < store.nvals() < store.size // _FEW:
            return False
        rows = store.next_rows
        if rows is None:
            return True
        entries = store.count_rows(rows)
        return entries < _TRIFLE or direction.is_small(store.nvals(), entries, rows.nvals)
