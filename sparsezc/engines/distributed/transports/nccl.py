"""The transport between cards of several machines: device arrays travel through NCCL, host arrays over MPI.

NCCL refuses two ranks on one card, which :class:`~sparsezc.engines.distributed.transports.ipc.Ipc` serves. All calls of
the library are in :class:`Binding`, so that another binding than CuPy's is a change of one class.

Source: NVIDIA Collective Communication Library documentation, section Point-to-point communication.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.distributed.transports.mpi import Mpi
from sparsezc.engines.distributed.transports.protocol import DEADLINE, Counts
from sparsezc.exceptions import DeviceUnavailable

__all__ = ["Binding", "Nccl"]

_BYTES = 1  # ncclUint8
Part = tuple[int, int, int]  # address, bytes, rank


class Binding:
    """NCCL through CuPy, on the current stream.

    Raises
    ------
    DeviceUnavailable
        CuPy has no NCCL.
    """

    def __init__(self) -> None:
        try:
            from cupy.cuda import get_current_stream, nccl
        except ImportError as error:
            raise DeviceUnavailable(f"transport 'nccl' needs NCCL, and CuPy does not find it: {error}") from None
        self._nccl, self._stream = nccl, get_current_stream

    def card(self) -> str:
        """Return the UUID of this rank's card."""
        import cupy

        return str(cupy.cuda.runtime.getDeviceProperties(cupy.cuda.runtime.getDevice())["uuid"])

    def name(self) -> Any:
        """Return the unique id of a new NCCL communicator."""
        return self._nccl.get_unique_id()

    def join(self, size: int, name: Any, rank: int) -> None:
        """Join the NCCL communicator of a unique id (`name`); a collective."""
        self._ranks = self._nccl.NcclCommunicator(size, name, rank)

    def exchange(self, sent: Sequence[Part], received: Sequence[Part]) -> None:
        """Launch sends and receives on the stream; kernels launched later wait for them."""
        stream = self._stream().ptr
        self._nccl.groupStart()
        for address, nbytes, rank in sent:
            self._ranks.send(address, nbytes, _BYTES, rank, stream)
        for address, nbytes, rank in received:
            self._ranks.recv(address, nbytes, _BYTES, rank, stream)
        self._nccl.groupEnd()

    def has_ended(self) -> bool:
        """Return whether the exchange has ended."""
        return bool(self._stream().done)


class Nccl(Mpi):
    """Collectives of device arrays through NCCL, all others over MPI.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        Each of its ranks has a card of its own.
    deadline : float
        Seconds after which a wait ends all ranks.
    binding : Binding, optional

    Raises
    ------
    DeviceUnavailable
        On all ranks: two ranks share a card, or a rank has no NCCL.
    """

    def __init__(self, comm: Any, deadline: float = DEADLINE, binding: Binding | None = None) -> None:
        super().__init__(comm, deadline)
        self._gpu = cuda.current()
        try:
            self._nccl = Binding() if binding is None else binding
            mine, why = (self._nccl.card(), self._nccl.name() if self.rank == 0 else None), ""
        except DeviceUnavailable as error:
            mine, why = ("", None), str(error)
        every = self.objects((*mine, why))
        cards = [card for card, _, _ in every]
        for rank, (card, _, why) in enumerate(every):
            if why:
                raise DeviceUnavailable(f"rank {rank} of {self.size}: {why}")
            first = cards.index(card)
            if first < rank:
                raise DeviceUnavailable(
                    f"transport 'nccl': ranks {first} and {rank} share a card, and NCCL needs one for each rank;"
                    " transport 'ipc' serves ranks that share one"
                )
        self._nccl.join(self.size, every[0][1], self.rank)

    def gather(self, mine: Any, counts: Counts) -> Any:
        if not isinstance(mine, self._gpu.xp.ndarray):
            return super().gather(mine, counts)
        return self._exchange(mine, np.zeros(self.size, np.int64), np.full(self.size, mine.size), counts)

    def scatter(self, mine: Any, sent: Counts, received: Counts) -> Any:
        if not isinstance(mine, self._gpu.xp.ndarray):
            return super().scatter(mine, sent, received)
        return self._exchange(mine, np.cumsum(sent) - sent, sent, received)

    def shift(self, mine: Any, count: int) -> Any:
        if not isinstance(mine, self._gpu.xp.ndarray):
            return super().shift(mine, count)
        sent, received = np.zeros((2, self.size), np.int64)
        sent[(self.rank - 1) % self.size], received[(self.rank + 1) % self.size] = mine.size, count
        return self._exchange(mine, np.zeros(self.size, np.int64), sent, received)

    def _exchange(self, mine: Any, starts: Counts, sent: Counts, received: Counts) -> Any:
        """Send ``sent[r]`` elements from ``starts[r]`` on to rank r; return ``received[r]`` elements of each."""
        gpu, size = self._gpu, mine.dtype.itemsize
        mine = gpu.xp.ascontiguousarray(mine)
        out = gpu.xp.empty(int(received.sum()), mine.dtype)
        self._nccl.exchange(
            _parts(gpu.pointer(mine), starts * size, sent * size),
            _parts(gpu.pointer(out), (np.cumsum(received) - received) * size, received * size),
        )
        self.calls += 1
        self.received += (int(received.sum()) - int(received[self.rank])) * size
        limit = monotonic() + self.deadline
        while not self._nccl.has_ended():
            if monotonic() > limit:
                self.abort(f"NCCL: another rank did not arrive within {self.deadline:g} s; all ranks end")
        return out


def _parts(address: int, starts: Counts, nbytes: Counts) -> list[Part]:
    return [
        (address + start, n, rank)
        for rank, (start, n) in enumerate(zip(starts.tolist(), nbytes.tolist(), strict=True))
        if n
    ]
