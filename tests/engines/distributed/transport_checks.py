"""Checks of transports, run by all ranks: ``python -m mpi4py -m tests.engines.distributed.transport_checks ipc gpu``.

Each rank computes every rank's array from a seed, and compares the results of the collectives with these.
"""

from __future__ import annotations

import ctypes
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from mpi4py import MPI

from sparsezc.device import cuda
from sparsezc.engines.distributed.transports import choice
from sparsezc.engines.distributed.transports.ipc import Ipc
from sparsezc.engines.distributed.transports.mpi import Mpi
from sparsezc.engines.distributed.transports.nccl import Binding, Nccl
from sparsezc.exceptions import DeviceUnavailable, InvalidValue, OutOfMemory
from tests.emulator.device import HostDevice


class OverMpi(Binding):
    """A binding that performs NCCL's calls by MPI on the emulated device's memory."""

    def __init__(self, card: str) -> None:
        self.its_card, self.requests = card, []

    def card(self) -> str:
        return self.its_card

    def name(self) -> Any:
        return "a name"

    def join(self, size: int, name: Any, rank: int) -> None:
        assert (size, name, rank) == (MPI.COMM_WORLD.size, "a name", MPI.COMM_WORLD.rank)

    def exchange(self, sent: Any, received: Any) -> None:
        def memory(address: int, nbytes: int) -> Any:
            return (ctypes.c_uint8 * nbytes).from_address(address)

        self.requests = [MPI.COMM_WORLD.Irecv(memory(at, n), r) for at, n, r in received]
        self.requests += [MPI.COMM_WORLD.Isend(memory(at, n), r) for at, n, r in sent]

    def has_ended(self) -> bool:
        return MPI.Request.Testall(self.requests)


def say(line: str) -> None:
    """Print a line by one write, as the lines of ranks would mix."""
    os.write(1, f"{line}\n".encode())


def numbered(rank: int, count: int, dtype: Any, turn: int) -> np.ndarray:
    return np.random.default_rng([rank, count, turn]).integers(0, 100, count).astype(dtype)


def check(transport: Any, xp: Any, host: bool) -> None:
    """Compare messages of many sizes and types, and empty ones; sizes differ by rank, so some windows grow."""
    rank, size = transport.rank, transport.size
    put = np.asarray if host else xp.asarray
    owners: list[Owner] = []
    for turn, (base, dtype) in enumerate(
        [(5, np.float64), (0, np.int8), (300_000, np.int64), (7, np.uint8), (40_000, np.float32), (900_000, np.int16)]
    ):
        counts = np.array([base * (r + 1) // size for r in range(size)])
        before = transport.received
        got = transport.gather(put(numbered(rank, counts[rank], dtype, turn)), counts)
        np.testing.assert_array_equal(
            np.asarray(got if host else cuda.current().asnumpy(got)),
            np.concatenate([numbered(r, counts[r], dtype, turn) for r in range(size)]),
        )
        others = int(counts.sum() - counts[rank]) * np.dtype(dtype).itemsize
        assert transport.received - before == others

        table = np.array([[(base + 3 * r + s) % (base + 1) for s in range(size)] for r in range(size)])  # from r to s
        whole = [numbered(r, int(table[r].sum()), dtype, turn) for r in range(size)]
        got = transport.scatter(put(whole[rank]), table[rank], table[:, rank])
        starts = np.cumsum(table, 1) - table
        expected = [whole[r][starts[r, rank] : starts[r, rank] + table[r, rank]] for r in range(size)]
        np.testing.assert_array_equal(
            np.asarray(got if host else cuda.current().asnumpy(got)), np.concatenate(expected)
        )

        after = (rank + 1) % size
        got = transport.shift(put(numbered(rank, counts[rank], dtype, turn)), int(counts[after]))
        np.testing.assert_array_equal(
            np.asarray(got if host else cuda.current().asnumpy(got)), numbered(after, counts[after], dtype, turn)
        )
        owners.append(Owner())
        check_shared(transport, 8 * (base + size), owners[-1])
    if isinstance(transport, Ipc):
        for first in (-1, 1):  # drop the last owner, which needs most, then all others
            owners[:] = owners[first:]
            transport.gather(xp.zeros(1, np.int8), np.ones(size, np.int64))
            assert (transport._shared.nbytes > 0) == bool(owners)
    assert transport.objects({"rank": rank}) == [{"rank": r} for r in range(size)]


class Owner:
    """An object that needs shared windows; the transport may free them once no owner exists."""


def check_shared(transport: Any, nbytes: int, owner: Owner) -> None:
    """Check that shared windows start as zeros, that all ranks write to them, and that the same key finds them."""
    shared = transport.shared(nbytes, 24, ("key", nbytes), owner)
    assert (shared is None) == (not isinstance(transport, Ipc))
    if shared is None:
        return
    gpu, rank, size, before = cuda.current(), transport.rank, transport.size, transport.received
    assert min(array.size for array in shared.arrays) >= nbytes
    assert not gpu.asnumpy(shared.arrays[rank]).any()
    assert shared.left is None
    transport.numbers(0)
    for array in shared.arrays:
        array[8 * rank : 8 * rank + 8] = rank + 1
    gpu.synchronize()
    transport.numbers(0)
    want = np.repeat(np.arange(1, size + 1), 8)
    shared.leave("written")
    again = transport.shared(nbytes, 24, ("key", nbytes), owner)
    assert again.left == "written"
    np.testing.assert_array_equal(gpu.asnumpy(again.arrays[rank])[: 8 * size], want)
    assert shared.told.shape == (24,)
    shared.wait(partial(bool, 1))
    shared.count_received(5)
    assert transport.received == before + 5


def main(kind: str, where: str) -> None:
    comm = MPI.COMM_WORLD
    if where == "emulated":
        cuda.use(Reluctant(kind == "ipc unreachable" and comm.rank == 1))
    match kind:
        case "mpi":
            transport: Any = Mpi(comm)
        case "ipc":
            transport = Ipc(comm)
        case "nccl":
            transport = Nccl(comm, binding=OverMpi(f"card {comm.rank}") if where == "emulated" else None)
        case "choice":
            choices(comm)
            return
        case "searches":
            searches()
            return
        case _:
            errors(kind, comm)
            return
    xp = cuda.current().xp
    for _ in range(2):
        check(transport, xp, host=False)
    if where != "emulated":
        check(transport, xp, host=True)
    say(f"{kind}, rank {transport.rank} of {transport.size}: {transport.calls} collectives agree")


def errors(kind: str, comm: Any) -> None:
    match kind:
        case "nccl on one card":
            with refused(DeviceUnavailable):
                Nccl(comm, binding=OverMpi("the card"))
        case "ipc unreachable":
            with refused(DeviceUnavailable):
                Ipc(comm)
        case "ipc short of memory":
            transport, nbytes = Ipc(comm), 1 << 25
            if comm.rank == 1:
                cuda.current().most = nbytes  # type: ignore[attr-defined]
            with refused(OutOfMemory):
                transport.gather(numbered(comm.rank, nbytes, np.uint8, 0), np.full(comm.size, nbytes))
            check(transport, np, host=False)  # smaller messages still pass


def choices(comm: Any) -> None:
    cuda.current().turns = 2  # type: ignore[attr-defined]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        choice.transport(comm, "gpu", "mpi", 20)
    say(f"card: {[str(each.message) for each in said]}")
    cuda.current().turns = 1  # type: ignore[attr-defined]
    for engine, kind in (("cpu", "auto"), ("gpu", "auto"), ("gpu", "mpi"), ("gpu", "ipc")):
        say(f"{engine} {kind}: {type(choice.transport(comm, engine, kind, 20)).__name__}")
    for engine, kind in (("cpu", "pigeon"), ("cpu", "ipc"), ("gpu", ("mpi", "ipc")[comm.rank])):
        with refused(InvalidValue):
            choice.transport(comm, engine, kind, 20)


def searches() -> None:
    """Compare searches whose kernels write into :meth:`Ipc.shared`'s windows, on all ranks."""
    from sparsezc.engines import distributed
    from tests.emulator.device import EmulatedDevice
    from tests.engines.distributed import shared_windows

    cuda.use(EmulatedDevice())
    distributed.init(engine="gpu", transport="ipc", deadline=60, force=True)
    shared_windows.compare_answers()
    say(f"searches, rank {distributed.engine().rank} of {distributed.engine().size}: agree")


class Reluctant(HostDevice):
    """A device that opens no window of another rank, or makes none above a size."""

    most = 1 << 40
    turns = 1  # number of cards in the machine; this is the first

    def has_turn(self, turn: int) -> bool:
        return turn % self.turns == 0

    def __init__(self, refuses: bool) -> None:
        self.refuses = refuses

    def window(self, nbytes: int) -> Any:
        if nbytes > self.most:
            raise OutOfMemory(f"{nbytes:,} bytes are more than {self.most:,}")
        refuses, self.refuses = self.refuses, False
        try:
            return super().window(nbytes)
        finally:
            self.refuses = refuses

    def open_window(self, name: bytes, nbytes: int) -> Any:
        if self.refuses:
            raise DeviceUnavailable("no way between the cards")
        return super().open_window(name, nbytes)


@contextmanager
def refused(kind: type[Exception]) -> Iterator[None]:
    try:
        yield
    except kind as error:
        say(f"refused: {error}")
    else:
        raise AssertionError("nothing was refused")


if __name__ == "__main__":
    for each in sys.argv[1].split(","):
        main(each, sys.argv[2])
