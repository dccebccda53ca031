"""The start of the engine, and matrices that it is given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.distributed.agreement import refuse_difference
from sparsezc.engines.distributed.distributed_engine import DistributedEngine
from sparsezc.engines.distributed.transport import Alone, Transport
from sparsezc.errors import DeviceUnavailable, InvalidValue
from sparsezc.expr import engines
from sparsezc.expr.expression import Operand
from sparsezc.memory.csr import Csr

__all__ = ["engine", "engine_of", "from_rows", "start", "transport_of"]

#: Seconds that a rank waits for the others by default: readers may be as much apart.
DEADLINE = 600.0

_engine: DistributedEngine | None = None
_engines: dict[int, tuple[Any, DistributedEngine]] = {}  # by the communicator's handle, which is kept alive
_transports: dict[int, tuple[Any, Transport]] = {}


def transport_of(comm: Any, deadline: float = DEADLINE) -> Transport:
    """Return the transport of an mpi4py communicator, one for each; None: of all ranks.

    Raises
    ------
    DeviceUnavailable
        mpi4py is not installed or finds no MPI.
    """
    try:
        from sparsezc.engines.distributed import mpi
    except (ImportError, RuntimeError) as error:
        if comm is None:
            return _transports.setdefault(0, (None, Alone()))[1]
        raise DeviceUnavailable(
            f"distributed: mpi4py cannot be used: {error}; pip install 'sparsezc[mpi]' brings it and an MPI"
        ) from None
    comm = mpi.world() if comm is None else comm
    found = _transports.get(comm.handle)
    if found is None:
        found = _transports[comm.handle] = (comm, mpi.Mpi(comm, deadline))
    return found[1]


def start(
    comm: Any = None, engine: str = "cpu", *, deadline: float = DEADLINE, force: bool = False
) -> DistributedEngine:
    """Start the engine; see :func:`sparsezc.distributed.init`."""
    global _engine
    transport = transport_of(comm, deadline)
    transport.deadline = deadline  # type: ignore[attr-defined]
    _engine = DistributedEngine(transport, engines.get(engine, f"distributed.init: engine={engine!r}"), force=force)
    _engines[id(transport)] = (transport, _engine)
    return _engine


def engine() -> DistributedEngine:
    """Return the engine in use, started on the CPU if none is."""
    return start() if _engine is None else _engine


def engine_of(comm: Any) -> DistributedEngine:
    """Return the engine of a communicator, started on the CPU if none is."""
    found = _engines.get(id(transport_of(comm)))
    return start(comm) if found is None else found[1]


def from_rows(csr: Csr, bounds: NDArray[np.int64], nrows: int, comm: Any = None, name: str | None = None) -> Any:
    """Make a distributed matrix of blocks of rows, one on each rank; the plain matrix at one rank.

    Parameters
    ----------
    csr : Csr
        This rank's rows; ids are columns of the whole, and `symmetric` speaks of the whole.
    bounds : array of int64, shape (ranks + 1,)
        Rank r has rows ``bounds[r]:bounds[r + 1]``; all but the last are multiples of 64, or `nrows`.
    nrows : int
        Of the whole.
    comm : mpi4py.MPI.Comm, optional
    name : str, optional

    Raises
    ------
    InvalidValue
        Ranks disagree, or the bounds do not fit.
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
    engine.layouts.cut(bounds)
    layout = engine.layouts.of(shape)
    if layout.along != 0:
        raise InvalidValue(f"from_rows: a matrix of {nrows} x {csr.ncols} is too small for {engine.size} ranks")
    store = engine.of_rows(csr, layout, shape, csr.symmetric)
    store.counts = engine.transport.numbers(csr.nvals)[:, 0].copy()
    return matrix._from_store(engine, store, csr.dtype, shape, name)._known_symmetric(csr.symmetric)
