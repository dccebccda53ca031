"""The choice of the transport, and of each rank's card."""

from __future__ import annotations

from typing import Any

from mpi4py import MPI

from sparsezc.device import cuda
from sparsezc.engines.distributed.transports.agreement import refuse_difference
from sparsezc.engines.distributed.transports.mpi import Mpi
from sparsezc.errors import DeviceUnavailable, InvalidValue, warn_slow

__all__ = ["KINDS", "transport"]

KINDS = ("auto", "mpi", "ipc", "nccl")


def transport(comm: Any, engine: str, kind: str, deadline: float) -> Mpi:
    """Return the transport of a kind; for "auto" the fastest that these ranks can use.

    Ranks of one machine take its cards in turn. On the GPU engine they exchange device arrays through CUDA IPC, ranks
    of several machines through NCCL; what neither can reach goes through pinned host memory and MPI.

    Raises
    ------
    InvalidValue
        The kind is unknown, or needs the GPU engine; ranks name different ones.
    DeviceUnavailable
        "ipc" or "nccl" was asked for and a rank cannot use it.
    """
    if kind not in KINDS:
        raise InvalidValue(f"distributed.init: transport={kind!r} is unknown; there are {', '.join(KINDS)}")
    plain = Mpi(comm, deadline, on_device=engine == "gpu")
    refuse_difference(plain, "distributed.init", (engine, kind), ("engine", "transport"))
    if engine != "gpu":
        if kind in ("ipc", "nccl"):
            raise InvalidValue(f"distributed.init: transport={kind!r} moves device arrays; engine={engine!r} has none")
        return plain
    here = comm.Split_type(MPI.COMM_TYPE_SHARED)
    turn = here.Get_rank()
    if not cuda.take(turn):
        warn_slow(f"rank {plain.rank} used a GPU before distributed.init, which would have given it number {turn}")
    together = bool(plain.numbers(here.Get_size() == plain.size)[:, 0].all())
    here.Free()
    if kind == "mpi":
        return plain
    if kind == "ipc" and not together:
        raise DeviceUnavailable("transport 'ipc' needs all ranks on one machine; transport 'nccl' serves several")
    try:
        return _between_cards("ipc" if together and kind == "auto" else kind, comm, deadline)
    except DeviceUnavailable:  # on all ranks
        if kind == "auto":
            return plain
        raise


def _between_cards(kind: str, comm: Any, deadline: float) -> Mpi:
    if kind == "ipc":
        from sparsezc.engines.distributed.transports.ipc import Ipc

        return Ipc(comm, deadline)
    from sparsezc.engines.distributed.transports.nccl import Nccl

    return Nccl(comm, deadline)
