"""The transport over MPI, through mpi4py. MPI sees host memory only: device arrays pass through pinned buffers.

A rank that waits polls at first, then sleeps between polls, so that ranks which share a processor make progress. MPI
moves a piece of a message at each poll, so a rank polls as long as its message should take before it sleeps. A wait
that exceeds the deadline ends all ranks: MPI does not notice a rank that hangs.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic, process_time, sleep
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from sparsezc.device import cuda
from sparsezc.engines.distributed.transports.mailbox import open_mailbox
from sparsezc.engines.distributed.transports.protocol import DEADLINE, Counts, Shared

__all__ = ["Mpi"]

_POLLS = 200  # about 50 us of polls: in shorter waits a rank keeps its processor
_YIELDS = 200  # about 200 us more of polls, each of which yields the processor: in longer waits a rank sleeps
_MOVING = 5e-9  # seconds a byte that ranks poll before they sleep: 0.2 GB/s, less than machines reach
_NAP, _LONGEST_NAP = 5e-5, 1e-3  # seconds: the shortest and longest sleep; between them a tenth of the wait so far
_TAG, _END = 1, 2  # tags of messages: of shifts, and of a rank whose program ends
_PACKS_BELOW = 0.75  # packing is several times faster than networks, and than copies through host memory


class Mpi:
    """A communicator as a :class:`~sparsezc.engines.distributed.transports.protocol.Transport`.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        It is duplicated, so that messages of the program do not mix with the engine's.
    deadline : float
        Seconds after which a wait ends all ranks.
    on_device : bool
        Device arrays are exchanged, through host memory.
    """

    def __init__(self, comm: Any, deadline: float = DEADLINE, *, on_device: bool = False) -> None:
        self.comm = comm.Dup()
        self.rank, self.size = self.comm.Get_rank(), self.comm.Get_size()
        self.deadline = deadline
        self.calls, self.received, self.waited = 0, 0, 0.0
        self._pinned: dict[str, NDArray[np.uint8]] = {}
        self._mail = open_mailbox(self.comm, partial(self._poll, what="numbers"))
        self.packs_below = _PACKS_BELOW if self._mail is None or on_device else 0.0

    def numbers(self, *mine: int) -> NDArray[np.int64]:
        if self._mail is not None and self._mail.holds(len(mine)):
            self.calls += 1
            return self._mail.tell(mine)
        given = np.array(mine, np.int64)
        out = np.empty((self.size, given.size), np.int64)
        self._wait(self.comm.Iallgather(given, out), "numbers")
        return out

    def objects(self, mine: Any) -> list[Any]:
        given = np.frombuffer(pickle.dumps(mine), np.uint8)
        counts = self.numbers(given.size)[:, 0]
        out = np.empty(int(counts.sum()), np.uint8)
        self._wait(self.comm.Iallgatherv(given, [out, counts]), "objects", out.nbytes)
        ends = np.cumsum(counts).tolist()
        return [pickle.loads(out[end - n : end].data) for n, end in zip(counts.tolist(), ends, strict=True)]

    def gather(self, mine: Any, counts: Counts) -> Any:
        size = mine.dtype.itemsize
        out = self._receive_buffer("in", mine, int(counts.sum()))
        given = self._host("out", mine)
        self._wait(self.comm.Iallgatherv(given, [_bytes(out), counts * size]), "gather", out.nbytes)
        self.received += (int(counts.sum()) - int(counts[self.rank])) * size
        return self._back(out, mine)

    def scatter(self, mine: Any, sent: Counts, received: Counts) -> Any:
        size = mine.dtype.itemsize
        out = self._receive_buffer("in", mine, int(received.sum()))
        given = [self._host("out", mine), sent * size]
        self._wait(self.comm.Ialltoallv(given, [_bytes(out), received * size]), "scatter", max(mine.nbytes, out.nbytes))
        self.received += (int(received.sum()) - int(received[self.rank])) * size
        return self._back(out, mine)

    # A message of two arrays has the first, then the second.

    def gather_both(self, one: Any, two: Any, ones: Counts, twos: Counts) -> tuple[Any, Any]:
        sizes = one.dtype.itemsize, two.dtype.itemsize
        arrived = self.gather(_joined([one, two]), ones * sizes[0] + twos * sizes[1])
        return _parted(arrived, (ones, twos), (one.dtype, two.dtype))

    def scatter_both(self, one: Any, two: Any, sent: Sequence[Counts], received: Sequence[Counts]) -> tuple[Any, Any]:
        sizes = one.dtype.itemsize, two.dtype.itemsize
        parts, ends = [], [np.cumsum(each).tolist() for each in sent]
        for rank in range(self.size):
            for array, end, count in zip((one, two), ends, sent, strict=True):
                parts.append(array[end[rank] - int(count[rank]) : end[rank]])
        giving, coming = (each[0] * sizes[0] + each[1] * sizes[1] for each in (sent, received))
        arrived = self.scatter(_joined(parts), giving, coming)
        return _parted(arrived, received, (one.dtype, two.dtype))

    def shift(self, mine: Any, count: int) -> Any:
        before, after = (self.rank - 1) % self.size, (self.rank + 1) % self.size
        out = self._receive_buffer("in", mine, count)
        receiving = self.comm.Irecv(_bytes(out), source=after, tag=_TAG)
        sending = self.comm.Isend(self._host("out", mine), dest=before, tag=_TAG)
        self._wait(receiving, "shift", out.nbytes)
        self._wait(sending, "shift", mine.nbytes, counted=False)
        self.received += count * mine.dtype.itemsize
        return self._back(out, mine)

    def shared(self, nbytes: int, told: int, key: Any, owner: Any) -> Shared | None:
        return None

    def abort(self, said: str) -> None:
        self._say(said)
        self.comm.Abort(1)

    def _say(self, said: str) -> None:
        print(f"rank {self.rank} of {self.size}: {said}", file=sys.stderr, flush=True)  # noqa: T201

    def end(self) -> None:
        """Wait for all ranks at the end of the program, and print at the deadline which are missing; not a collective.

        Missing ranks may still work alone, for example write results, so they are not ended; MPI would wait silently.
        """
        if MPI.Is_finalized():  # the program finalized MPI
            return
        others, nothing = [rank for rank in range(self.size) if rank != self.rank], np.empty(0, np.uint8)
        told = [self.comm.Isend(nothing, dest=rank, tag=_END) for rank in others]
        left = {rank: self.comm.Irecv(nothing, source=rank, tag=_END) for rank in others}
        late = monotonic() + self.deadline
        while left := {rank: message for rank, message in left.items() if not message.Test()}:
            sleep(_LONGEST_NAP)
            if monotonic() > late:
                names = ", ".join(f"rank {rank}" for rank in left)
                self._say(f"its program has ended, and it waits for {names} for more than {self.deadline:g} s")
                late = float("inf")
        for message in told:
            message.Wait()

    def _wait(self, request: Any, what: str, nbytes: int = 0, *, counted: bool = True) -> None:
        self.calls += counted
        self._poll(request.Test, what, _MOVING * nbytes)

    def _poll(self, test: Callable[[], bool], what: str, moving: float = 0.0) -> None:
        """Wait until a function returns true, at most until the deadline."""
        began = process_time()
        if not any(test() for _ in range(_POLLS)):
            self._wait_long(test, what, moving)
        self.waited += process_time() - began

    def _wait_long(self, test: Callable[[], bool], what: str, moving: float) -> None:
        began = now = monotonic()
        yields = 0
        while not test():
            if yields < _YIELDS or (moving and monotonic() < began + moving):
                yields += 1
                os.sched_yield()
                continue
            sleep(min(max(_NAP, (now - began) / 10), _LONGEST_NAP))
            now = monotonic()
            if now > began + self.deadline:
                self.abort(
                    f"{what}: another rank did not arrive within {self.deadline:g} s (collective {self.calls} of this"
                    " rank); all ranks end"
                )

    # Device arrays pass through buffers of pinned memory, one for each direction.

    def _host(self, way: str, array: Any) -> NDArray[np.uint8]:
        """Return the bytes of an array in host memory."""
        if isinstance(array, np.ndarray):
            return _bytes(np.ascontiguousarray(array))
        staged = self._buffer(way, array.nbytes)
        if array.nbytes:
            cuda.current().copy_out(array, staged)
        return staged

    def _receive_buffer(self, way: str, like: Any, count: int) -> NDArray[Any]:
        """Return a host array for `count` elements that arrive."""
        if isinstance(like, np.ndarray):
            return np.empty(count, like.dtype)
        return self._buffer(way, count * like.dtype.itemsize).view(like.dtype)

    def _buffer(self, way: str, nbytes: int) -> NDArray[np.uint8]:
        held = self._pinned.get(way)
        if held is None or held.size < nbytes:
            held = self._pinned[way] = cuda.current().pages(max(nbytes, 1 << 20), "pinned").array
        return held[:nbytes]

    def _back(self, out: NDArray[Any], like: Any) -> Any:
        if isinstance(like, np.ndarray):
            return out
        gpu = cuda.current()
        made = gpu.xp.empty(out.size, out.dtype)
        if out.size:
            gpu.copy_in(made, out.view(np.uint8))
        return made


def _module(array: Any) -> Any:
    """Return the module of an array's functions: NumPy, or the device's."""
    return np if isinstance(array, np.ndarray) else cuda.current().xp


def _joined(arrays: Sequence[Any]) -> Any:
    xp = _module(arrays[0])
    return xp.concatenate([xp.ascontiguousarray(array).view(np.uint8) for array in arrays])


def _parted(arrived: Any, counts: Sequence[Counts], dtypes: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return the two arrays from messages, each of which has a part of the first, then one of the second."""
    xp, end = _module(arrived), 0
    made = [xp.empty(int(each.sum()), dtype) for each, dtype in zip(counts, dtypes, strict=True)]
    into, at = [array.view(np.uint8) for array in made], [0, 0]
    for both in zip(*(each.tolist() for each in counts), strict=True):
        for k, (count, dtype) in enumerate(zip(both, dtypes, strict=True)):
            begin, end = end, end + count * dtype.itemsize
            into[k][at[k] : at[k] + end - begin] = arrived[begin:end]
            at[k] += end - begin
    return made[0], made[1]


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    return array.reshape(-1).view(np.uint8)
