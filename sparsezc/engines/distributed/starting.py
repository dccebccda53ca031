"""The start of the distributed engine, and distributed matrices made of each rank's rows."""

from __future__ import annotations

import atexit
import os
import secrets
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.config import config
from sparsezc.engines.distributed.distributed_engine import DistributedEngine
from sparsezc.engines.distributed.single_rank import started
from sparsezc.engines.distributed.transports.agreement import refuse_difference
from sparsezc.engines.distributed.transports.protocol import DEADLINE, Alone, Transport, check_options
from sparsezc.exceptions import DeviceUnavailable, GraphblasException, InvalidValue
from sparsezc.expr import engines
from sparsezc.expr.expression import Operand
from sparsezc.expr.sampling import draw_seeds_by
from sparsezc.memory.csr import Csr

if TYPE_CHECKING:
    from sparsezc.engines.distributed.transports.mpi import Mpi

__all__ = ["engine", "engine_of", "from_rows", "init", "transport_of"]

_engine: DistributedEngine | None = None
_engines: dict[int, tuple[Any, DistributedEngine]] = {}  # by the id of the transport, which is kept alive
_transports: dict[int, tuple[Any, Alone | Mpi]] = {}  # by the handle of the communicator, which is kept alive
_process = os.getpid()


def _communicator(comm: Any) -> Any:
    """Return `comm`, or for None the communicator of all ranks; None if there is one process and no MPI."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        told = _told_by_mpiexec()
        if comm is None and told == 1:
            return None
        several = f"mpiexec started {told} processes, and " if told > 1 else ""
        raise DeviceUnavailable(
            f"distributed: {several}mpi4py cannot be used: {error}; pip install 'sparsezc[mpi]' brings it and an MPI"
        ) from None
    comm = MPI.COMM_WORLD if comm is None else comm
    if comm == MPI.COMM_NULL:
        raise InvalidValue("comm is MPI.COMM_NULL: this process is none of its ranks, which alone may call")
    if not isinstance(comm, MPI.Intracomm):
        raise TypeError(f"Bad type for argument: comm is a {type(comm).__name__}; an mpi4py.MPI.Intracomm is needed")
    _refuse_another_mpi(MPI.COMM_WORLD)
    return comm


def transport_of(comm: Any, deadline: float = DEADLINE) -> Transport:
    """Return the transport of an mpi4py communicator, made at first use; of all ranks if `comm` is None.

    Raises
    ------
    DeviceUnavailable
        mpi4py is not installed or finds no MPI.
    """
    comm = _communicator(comm)
    handle = 0 if comm is None else comm.handle
    if handle not in _transports:
        _transports[handle] = (comm, _made(comm, "cpu", "auto", deadline))
    return _transports[handle][1]


def _made(comm: Any, engine: str, kind: str, deadline: float) -> Alone | Mpi:
    if comm is None:
        check_options(engine, kind, deadline)
        return Alone()
    from sparsezc.engines.distributed.transports import choice

    made = choice.transport(comm, engine, kind, deadline)
    if made.size > 1:
        atexit.unregister(_end)
        atexit.register(_end)  # atexit runs it before the handlers that the transport's libraries registered
    return made


def init(
    comm: Any = None,
    engine: str = "cpu",
    *,
    transport: str = "auto",
    deadline: float = DEADLINE,
    force: bool = False,
) -> DistributedEngine:
    """Start the distributed engine.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, optional
        The ranks that take part; by default all.
    engine : {"cpu", "gpu"}
        The engine of each rank's part. Ranks of one machine take its GPUs in turn.
    transport : {"auto", "mpi", "ipc", "nccl"}
        How vectors travel between GPUs: through pinned host memory and MPI, through CUDA IPC between ranks of one
        machine, which may share a card, or through NCCL between ranks with a card each. "auto" takes IPC inside a
        machine, NCCL between machines, and MPI where neither can be used.
    deadline : float
        Seconds that a rank waits for the others before it ends all of them. At the end of the program it only prints
        which ranks it waits for: these may still work alone, for example write results.
    force : bool
        Distribute objects with a single rank, too, where plain ones would do: for tests.

    Raises
    ------
    DeviceUnavailable
        mpi4py is missing, or `engine` is "gpu" and there is no GPU, or the transport cannot be used.
    InvalidValue
        `engine` or `transport` is unknown, or `deadline` is no number of seconds above 0; ranks give different options;
        `comm` is ``MPI.COMM_NULL``.
    TypeError
        `comm` is no mpi4py communicator.
    """
    global _engine
    comm = _communicator(comm)
    used = _made(comm, engine, transport, deadline)
    told = (force, config.check, config.fallback)
    refuse_difference(used, "distributed.init", told, ("force", "config.check", "config.fallback"))
    _transports[0 if comm is None else comm.handle] = (comm, used)
    _engine = started(used, _local_engine(used, engine), force=force)
    _engines[id(used)] = (used, _engine)
    if used.size > 1:
        draw_seeds_by(partial(_shared_seed, used))
    return _engine


def _end() -> None:
    """End the engine that was started last (the program may have freed other communicators), then wait for all."""
    if os.getpid() != _process:  # a forked child is no rank
        return
    if _engine is not None:
        _engine.end()
    for _, transport in _transports.values():
        if not isinstance(transport, Alone):
            transport.end()


def _local_engine(transport: Transport, name: str) -> engines.Engine:
    """Return the engine of each rank's part; if a rank cannot use it, all raise that rank's error."""
    found, failed = None, None
    try:
        found = engines.get(name, f"distributed.init: engine={name!r}")
    except GraphblasException as error:
        failed = type(error), str(error)
    for rank, each in enumerate(transport.objects(failed)):
        if each is not None:
            kind, said = each
            raise kind(said if transport.size == 1 else f"rank {rank}: {said}")
    assert found is not None
    return found


def _told_by_mpiexec() -> int:
    """Return how many processes mpiexec started, by its environment variables; 1 without them."""
    return max(int(os.environ.get(name) or 1) for name in ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE"))


def _refuse_another_mpi(world: Any) -> None:
    """Raise DeviceUnavailable if mpiexec started several ranks and mpi4py sees one: then their MPIs differ."""
    told = _told_by_mpiexec()
    if told > 1 and world.Get_size() == 1:
        raise DeviceUnavailable(
            f"distributed: mpiexec started {told} processes, and mpi4py sees one: their MPIs are different;"
            " `sparsezc mpirun` finds the right one"
        )


def _shared_seed(transport: Transport) -> int:
    """Return a random seed drawn by rank 0, the same on all ranks; collective."""
    high, low = transport.numbers(secrets.randbits(32), secrets.randbits(32))[0].tolist()
    return int(high) << 32 | int(low)


def engine() -> DistributedEngine:
    """Return the engine in use, started on the CPU if none is."""
    return init() if _engine is None else _engine


def engine_of(comm: Any) -> DistributedEngine:
    """Return a communicator's engine, started on the CPU if it has none; the first one is in use."""
    global _engine
    found = _engines.get(id(transport_of(comm)))
    if found is not None:
        return found[1]
    before = _engine
    made = init(comm)
    _engine = made if before is None else before
    return made


def from_rows(csr: Csr, bounds: NDArray[np.int64], nrows: int, comm: Any = None, name: str | None = None) -> Any:
    """Make a distributed matrix of blocks of rows, one on each rank; a plain matrix if there is one rank.

    Parameters
    ----------
    csr : Csr
        This rank's rows; ids are columns of the whole matrix, and `symmetric` is true if that is symmetric.
    bounds : array of int64, shape (ranks + 1,)
        Rank r has rows ``bounds[r]:bounds[r + 1]``; all but the last are multiples of 64, or `nrows`.
    nrows : int
        Rows of the whole matrix.
    comm : mpi4py.MPI.Comm, optional
    name : str, optional

    Raises
    ------
    InvalidValue
        Ranks give different arguments, or the bounds do not match the shape and the ranks, or a rank's rows the bounds.
    """
    engine = engine_of(comm)
    bounds = np.asarray(bounds, np.int64)
    told = (bounds.tolist(), nrows, csr.ncols, csr.dtype.name, csr.symmetric)
    refuse_difference(engine.transport, "from_rows", told, ("bounds", "nrows", "ncols", "dtype", "symmetric"))
    shape, matrix = (nrows, csr.ncols), Operand._kinds[2]
    good = (
        bounds.size == engine.size + 1 and bounds[0] == 0 and bounds[-1] == nrows and bool((np.diff(bounds) >= 0).all())
    )
    if not good or any(b % 64 and b != nrows for b in bounds.tolist()):
        raise InvalidValue(f"from_rows: bounds {bounds.tolist()} do not cut {nrows} rows at multiples of 64")
    if engine.size == 1 and not engine.forced:
        return matrix._from_csr(csr, name=name)
    engine.partitions.cut(bounds)
    partition = engine.partitions.of(shape)
    if partition.along != 0:
        raise InvalidValue(f"from_rows: a matrix of {nrows} x {csr.ncols} is too small for {engine.size} ranks")
    for rank, held in enumerate(engine.transport.numbers(csr.nrows)[:, 0].tolist()):
        if held != bounds[rank + 1] - bounds[rank]:
            raise InvalidValue(
                f"from_rows: rank {rank} gives {held} rows; by the bounds it has {bounds[rank + 1] - bounds[rank]}"
            )
    symmetric, degrees = csr.symmetric, None
    if symmetric and engine.on_device:
        degrees = engine.transport.gather(np.diff(csr.indptr), partition.sizes)
    counts = engine.transport.numbers(csr.nvals)[:, 0].copy()
    store = engine.of_rows(csr, partition, shape, symmetric, counts=counts)
    if degrees is not None:
        engine.set_column_degrees(store, degrees)
    return matrix._from_store(engine, store, csr.dtype, shape, name)._known_symmetric(symmetric)
