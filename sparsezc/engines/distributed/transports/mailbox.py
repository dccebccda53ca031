"""An all-gather of integers between ranks of one machine, through memory that they share, in a few us.

Each rank has a *box* for even and one for odd rounds: a tag (the round and the number of integers) and the integers. A
rank writes its integers, then the tag, and waits until the tags of all boxes have the round. It may overwrite a box two
rounds later: by then all others have written the round between, hence have read the one before. Ranks that send
different numbers of integers are not at the same statement: all raise an error.
"""

from __future__ import annotations

import platform
from array import array
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from sparsezc.exceptions import InvalidValue

__all__ = ["Mailbox", "open_mailbox"]

_CAPACITY = 127  # integers of a box, beside the tag: 1 KiB in all, so that no two ranks write to one cache line
_BOX = _CAPACITY + 1
_BITS = _CAPACITY.bit_length()  # bits of the number of integers, below the round in the tag


def open_mailbox(comm: Any, wait: Callable[[Callable[[], bool]], None]) -> Mailbox | None:
    """Return the mailbox of a communicator; None unless all its ranks are on one machine that keeps writes in order.

    Other processors must see a rank's writes in their order without a fence, which Python lacks.
    """
    if comm.Get_size() == 1:
        return None
    here = comm.Split_type(MPI.COMM_TYPE_SHARED)
    together = here.Get_size() == comm.Get_size() and platform.machine().lower() in ("x86_64", "amd64")
    here.Free()
    return Mailbox(comm, wait) if comm.allreduce(together, MPI.LAND) else None


class Mailbox:
    """The boxes of all ranks of a communicator, which are on one machine.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
    wait : callable
        Calls a function until it returns true.
    """

    def __init__(self, comm: Any, wait: Callable[[Callable[[], bool]], None]) -> None:
        self._wait, self._round = wait, 0
        self._window = MPI.Win.Allocate_shared(2 * _BOX * 8, 8, comm=comm)
        self._rank, ranks = comm.Get_rank(), range(comm.Get_size())
        memory: list[Any] = [self._window.Shared_query(rank)[0] for rank in ranks]
        self._boxes = [memoryview(box).cast("B").cast("q") for box in memory]
        self._mine = self._boxes[self._rank]
        self._others = [box for rank, box in enumerate(self._boxes) if rank != self._rank]
        self._mine[:] = array("q", bytes(2 * _BOX * 8))
        comm.Barrier()  # no rank writes before all boxes are cleared

    def holds(self, count: int) -> bool:
        """Return whether `count` integers fit in a box."""
        return count <= _CAPACITY

    def tell(self, mine: tuple[int, ...]) -> NDArray[np.int64]:
        """Return the integers of all ranks, shape (ranks, len(mine)); all ranks give the same number of integers.

        Raises
        ------
        InvalidValue
            On all ranks, if the numbers of integers differ.
        """
        self._round = number = self._round + 1
        at, tag = _BOX * (number & 1), number << _BITS | len(mine)
        first, end = at + 1, at + 1 + len(mine)
        self._mine[first:end] = array("q", mine)
        self._mine[at] = tag
        waiting = self._others

        def have_come() -> bool:
            nonlocal waiting
            waiting = [box for box in waiting if box[at] >> _BITS != number]
            return not waiting

        if not have_come():
            self._wait(have_come)
        for box in self._others:
            if box[at] != tag:
                self._refuse(at)
        return np.array([box[first:end].tolist() for box in self._boxes], np.int64)

    def _refuse(self, at: int) -> NoReturn:
        told = [box[at] & _CAPACITY for box in self._boxes]
        other = next(rank for rank, count in enumerate(told) if count != told[0])
        raise InvalidValue(
            f"ranks have strayed: of a message of integers rank 0 sends {told[0]}, and rank {other} {told[other]};"
            " gb.config.check = True, on all ranks, names their statements"
        )
