"""The choice of the transport, and of each rank's card."""

from __future__ import annotations

from typing import Any

from mpi4py import MPI

from sparsezc.device import cuda
from sparsezc.engines.distributed.transports.agreement import refuse_difference
from sparsezc.engines.distributed.transports.mpi import Mpi
from sparsezc.engines.distributed.transports.protocol import check_options
from sparsezc.exceptions import DeviceUnavailable, warn_slow

__all__ = ["transport"]


def transport(comm: Any, engine: str, kind: str, deadline: float) -> Mpi:
    """Return the transport of a kind; for "auto" the fastest that these ranks can use.

    Ranks of one machine take its cards in turn. On the GPU engine they exchange device arrays through CUDA IPC, ranks
    of several machines through NCCL; where neither works, through pinned host memory and MPI.

    Raises
    ------
    InvalidValue
        Ranks give different options; see also :func:`check_options`.
    DeviceUnavailable
        `kind` is "ipc" or "nccl", and a rank cannot use it.
    """
    plain = Mpi(comm, on_device=engine == "gpu")
    told = engine, kind, str(deadline)  # NaN as a text equals itself
    refuse_difference(plain, "distributed.init", told, ("engine", "transport", "deadline"))
    check_options(engine, kind, deadline)
    plain.deadline = deadline
    if engine != "gpu":
        return plain
    here = comm.Split_type(MPI.COMM_TYPE_SHARED)
    turn = here.Get_rank()
    if not cuda.use_gpu(turn):
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
