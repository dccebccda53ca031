"""The transport between ranks of one machine: device arrays are read where their rank has them, through CUDA IPC.

Each rank has a *window*, device memory that the others have opened. A rank copies what it sends into its window; a
collective of numbers says that all have done so, and where each part begins; then every rank copies its parts out of
the others' windows. This works between cards, over NVLink where they have it, and between ranks that share a card.
The window has two halves, which messages use in turns: when a rank writes to a half again, all have begun the message
after the one that was there, hence have read it. So an exchange is one collective. Host arrays go over MPI.

Source: CUDA C++ Programming Guide, section Interprocess Communication.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.device.protocol import Window
from sparsezc.engines.distributed.transports.mpi import Mpi
from sparsezc.engines.distributed.transports.protocol import DEADLINE, Counts
from sparsezc.errors import DeviceUnavailable, OutOfMemory

__all__ = ["Ipc"]

_FIRST = 1 << 20  # bytes of a half at first
_FAILED = -2  # instead of a window's version: the rank has no memory for it


class Ipc(Mpi):
    """Collectives of device arrays through the memory of the machine's cards, all else over MPI.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        All its ranks are on one machine.
    deadline : float
        Seconds after which a wait ends all ranks.

    Raises
    ------
    DeviceUnavailable
        On all ranks, if a rank cannot open the memory of another.
    OutOfMemory
        On all ranks, if a rank has no memory for its window; an exchange raises it, too.
    """

    def __init__(self, comm: Any, deadline: float = DEADLINE) -> None:
        super().__init__(comm, deadline)
        self._gpu = cuda.current()
        self._half, self._turn, self._version = 0, 0, -1
        self._window: Window
        self._old: list[Window] = []  # some rank may still have them open
        self._versions = np.full(self.size, -1, np.int64)  # of the windows that this rank has opened
        self._theirs: dict[int, Any] = {}
        failed = self._make_room(_FIRST)
        self._open(self.numbers(_FAILED if failed else self._version)[:, 0], failed)

    def gather(self, mine: Any, counts: Counts) -> Any:
        if not self._is_on_device(mine):
            return super().gather(mine, counts)
        return self._exchange(mine, np.zeros(self.size, np.int64), counts, range(self.size))

    def scatter(self, mine: Any, sent: Counts, received: Counts) -> Any:
        if not self._is_on_device(mine):
            return super().scatter(mine, sent, received)
        return self._exchange(mine, np.cumsum(sent) - sent, received, range(self.size))

    def shift(self, mine: Any, count: int) -> Any:
        if not self._is_on_device(mine):
            return super().shift(mine, count)
        after, counts = (self.rank + 1) % self.size, np.zeros(self.size, np.int64)
        counts[after] = count
        return self._exchange(mine, np.zeros(self.size, np.int64), counts, [after])

    def _is_on_device(self, array: Any) -> bool:
        return isinstance(array, self._gpu.xp.ndarray)

    def _exchange(self, mine: Any, starts: Counts, counts: Counts, ranks: Iterable[int]) -> Any:
        """Show an array to all ranks, of which rank r reads from ``starts[r]``; return `counts` elements of each."""
        xp, size = self._gpu.xp, mine.dtype.itemsize
        mine = xp.ascontiguousarray(mine).reshape(-1)
        closed, self._old = self._old, []
        failed = self._make_room(mine.nbytes)
        begin = self._turn * self._half
        if not failed:
            xp.copyto(self._window.array[begin : begin + mine.nbytes], mine.view(np.uint8))
        self._gpu.synchronize()  # what this rank read of the message before has arrived, too
        said = self.numbers(_FAILED if failed else self._version, begin, *(starts * size).tolist())
        closed.clear()  # all ranks opened their successors in an exchange before this one
        self._open(said[:, 0], failed)
        out = xp.empty(int(counts.sum()), mine.dtype)
        whole, at = out.view(np.uint8), 0
        for rank in ranks:
            nbytes = int(counts[rank]) * size
            if nbytes:
                start = int(said[rank, 1] + said[rank, 2 + self.rank])
                memory = self._window.array if rank == self.rank else self._theirs[rank]
                xp.copyto(whole[at : at + nbytes], memory[start : start + nbytes])
                at += nbytes
        self.received += (int(counts.sum()) - int(counts[self.rank])) * size
        self._turn = 1 - self._turn
        return out

    def _make_room(self, nbytes: int) -> str:
        """Replace the window by a larger one where a message needs it; return why that failed, if it did."""
        if nbytes <= self._half:
            return ""
        half = 1 << (nbytes - 1).bit_length()
        try:
            window = self._gpu.window(2 * half)
        except OutOfMemory as error:
            return str(error)
        if self._half:
            self._old.append(self._window)
        self._window, self._half, self._version = window, half, self._version + 1
        return ""

    def _open(self, versions: Counts, failed: str) -> None:
        """Open the windows that are new; all ranks know from the versions that there are some, or that one failed."""
        new = np.flatnonzero(versions != self._versions).tolist()
        if not new:
            return
        self._agree(OutOfMemory, failed)
        said, why = self.objects((self._window.name, self._window.array.size)), ""
        for rank in new:
            if rank != self.rank:
                self._theirs.pop(rank, None)
                try:
                    self._theirs[rank] = self._gpu.open_window(*said[rank])
                except DeviceUnavailable as error:
                    why = str(error)
        self._agree(DeviceUnavailable, why)
        self._versions = versions.copy()

    def _agree(self, kind: type[Exception], why: str) -> None:
        """Raise an error on all ranks if one has a reason."""
        for rank, each in enumerate(self.objects(why)):
            if each:
                raise kind(f"transport 'ipc': rank {rank} of {self.size}: {each}")
