"""Ranks as threads of this process, with the collectives of the distributed engine's transport."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np

_PATIENCE_S = 60.0


class ThreadComm:
    """Communicator of one rank; `shared` has every rank's last contribution."""

    def __init__(self, rank: int, size: int, barrier: Barrier, shared: list[Any]) -> None:
        self.rank, self.size = rank, size
        self._barrier, self._shared = barrier, shared
        self.sent_bytes = 0

    def _exchange(self, mine: Any) -> list[Any]:
        self._shared[self.rank] = mine
        self._barrier.wait(_PATIENCE_S)
        found = list(self._shared)
        self._barrier.wait(_PATIENCE_S)
        return found

    def numbers(self, *mine: int) -> Any:
        return np.array(self._exchange(mine), np.int64).reshape(self.size, len(mine))

    def objects(self, mine: Any) -> list[Any]:
        return [pickle.loads(each) for each in self._exchange(pickle.dumps(mine))]

    def scatter(self, array: Any, sent: Any, received: Any) -> Any:
        cuts = np.concatenate([[0], np.cumsum(sent)])
        assert cuts[-1] == array.size
        self.sent_bytes += array.nbytes
        parts = self._exchange([array[cuts[r] : cuts[r + 1]].copy() for r in range(self.size)])
        mine = [part[self.rank] for part in parts]
        assert [part.size for part in mine] == list(received)
        return np.concatenate(mine)


def run(size: int, work: Callable[[ThreadComm], Any]) -> list[Any]:
    """Run `work` on each rank; return each rank's result, or its error."""
    barrier, shared = Barrier(size), [None] * size

    def one(rank: int) -> Any:
        try:
            return work(ThreadComm(rank, size, barrier, shared))
        except Exception as error:
            return error

    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(one, range(size)))
