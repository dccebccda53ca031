"""Conversion of matrices and vectors to the parts of a checkpoint and back, distributed or in one process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.config import config
from sparsezc.exceptions import DomainMismatch
from sparsezc.expr import engines
from sparsezc.io.build.limits import need_numbers
from sparsezc.io.build.optional import need
from sparsezc.io.ranks import checkpoint
from sparsezc.io.ranks.agreement import Communicator
from sparsezc.io.ranks.checkpoint import Part
from sparsezc.io.ranks.row_bounds import ALIGN
from sparsezc.io.ranks.shards import VectorPart
from sparsezc.memory.csr import Csr

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix
    from sparsezc.core.vector import Vector

_ENGINE = "sparsezc.engines.distributed"  # imported when a communicator is given: it needs MPI


class _Alone:
    """Communicator of a single process, without MPI."""

    rank, size = 0, 1

    def numbers(self, *mine: int) -> Any:
        return np.array([mine], np.int64)

    def objects(self, mine: Any) -> list[Any]:
        return [mine]

    def scatter(self, array: Any, sent: Any, received: Any) -> Any:
        return array


def save(
    folder: str | os.PathLike[str], objects: Mapping[str, Matrix | Vector], state: Mapping[str, Any] | None
) -> None:
    """Save as :func:`sparsezc.io.save_checkpoint` does."""
    need("h5py", "hdf5")
    kept = (each._engine for each in objects.values() if each._engine is not None)
    found = (engines.capability(engine, "communicator")() for engine in kept)
    comm: Communicator = next((transport for transport in found if transport is not None), _Alone())
    checkpoint.save(folder, {name: _part(name, each, comm) for name, each in objects.items()}, comm, state)


def _part(name: str, x: Any, comm: Communicator) -> Part:
    """Return this rank's part of an object; one that is whole on every rank, or cut by columns, is rank 0's part."""
    if getattr(x, "ndim", 0) not in (1, 2):
        raise DomainMismatch(f"save_checkpoint: {name} is a {type(x).__name__}; a Matrix or a Vector is needed")
    need_numbers(x, "save_checkpoint")
    rows = x.shape[0]
    partition = getattr(x._store, "partition", None)
    if partition is not None and partition.along == 0:
        local, bounds = x._store.local, np.asarray(partition.bounds, np.int64)
        csr = local._to_csr().known_symmetric(x._symmetric) if x.ndim == 2 else None
        return Part(VectorPart(*local.to_coo()) if csr is None else csr.place("host"), bounds)
    bounds = np.array([0] + [rows] * comm.size, np.int64)
    whole = x._to_csr().place("host") if x.ndim == 2 else VectorPart(*x.to_coo())
    if comm.rank:
        whole = _empty(whole)
    return Part(whole, bounds)


def _empty(x: Csr | VectorPart) -> Csr | VectorPart:
    if isinstance(x, VectorPart):
        return VectorPart(x.positions[:0], x.values[:0])
    none, values = np.empty(0, np.uint64), np.empty(0, x.dtype.np_type)
    return Csr.from_arrays([0], none, values, x.ncols, dtype=x.dtype, symmetric=x.symmetric)


def restore(folder: str | os.PathLike[str], comm: Any, placement: str | None) -> tuple[dict[str, Matrix | Vector], Any]:
    """Restore as :func:`sparsezc.io.restore_checkpoint` does."""
    from sparsezc.core.matrix import Matrix
    from sparsezc.core.vector import Vector

    made: dict[str, Matrix | Vector] = {}
    if comm is None:
        parts, state = checkpoint.restore(folder, _Alone(), placement)
        for name, (data, bounds) in parts.items():
            alone = isinstance(data, Csr)
            made[name] = Matrix._from_csr(data) if alone else Vector.from_coo(*data, size=int(bounds[-1]))  # type: ignore[arg-type,misc]
        return made, state
    distributed = import_module(_ENGINE)
    engine = distributed.engine_of(comm)
    with config.set(engine=engine.local.engine.name):
        parts, state = checkpoint.restore(
            folder, engine.transport, placement, lambda size: engine.partitions.of((size,)).bounds
        )
    for name, (data, bounds) in parts.items():
        made[name] = _distributed(distributed, engine, data, bounds, comm)
    return made, state


def _distributed(distributed: Any, engine: Any, data: Csr | VectorPart, bounds: Any, comm: Any) -> Any:
    """Return the Matrix or Vector of which `data` is this rank's part."""
    from sparsezc.core.matrix import Matrix
    from sparsezc.core.vector import Vector

    size = int(bounds[-1])
    small = size <= ALIGN or (engine.size == 1 and not engine.forced)
    if isinstance(data, Csr):
        if not small:
            return distributed.from_rows(data, bounds, size, comm=comm)
        plain = Matrix._from_csr(data)
        return plain.distribute() if engine.forced or engine.size > 1 else plain
    if small:
        vector = Vector.from_coo(*data, size=size)
        return vector.to(engine.name) if engine.forced or engine.size > 1 else vector
    engine.partitions.cut(bounds)
    partition = engine.partitions.of((size,))
    local = engine.local.settled(Vector.from_coo(*data, size=partition.hi - partition.lo))
    store = import_module(f"{_ENGINE}.parts.stores").Store(local, partition, (size,))
    return Vector._from_store(engine, store, local.dtype, size)
