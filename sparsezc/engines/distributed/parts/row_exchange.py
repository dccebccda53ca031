"""Exchanges of rows of matrices: offsets, ids and values, in the local engine's memory.

On the GPU engine rows travel as device arrays if all ranks have the memory for these, else through the host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.device import cuda
from sparsezc.engines.distributed.parts.local_objects import array_module, assignment
from sparsezc.expr.dispatch import Write, update
from sparsezc.memory import budget, wrap
from sparsezc.memory.buffer import index_dtype
from sparsezc.memory.csr import Csr
from sparsezc.memory.device import DeviceBuffer

if TYPE_CHECKING:
    from sparsezc.engines.distributed.parts.partition import Partition
    from sparsezc.engines.distributed.store_methods import Keeper
    from sparsezc.semirings.types.datatypes import DataType

__all__ = ["Rows", "are_on_device", "folded", "matrix_of", "on_host", "rows_of", "sent_to_owners"]

_COPIES = 4  # copies of a rank's entries in device memory, while some are sent and others arrive


class Rows(NamedTuple):
    """Rows of a matrix.

    Attributes
    ----------
    indptr : ndarray of int64, shape (nrows + 1,)
        In host memory.
    ids, values : array, shape (nvals,)
    on_device : bool
        `ids` and `values` are in device memory.
    """

    indptr: NDArray[np.int64]
    ids: Any
    values: Any
    on_device: bool


def are_on_device(engine: Keeper, *matrices: Any) -> bool:
    """Return whether the entries of all ranks' matrices travel as device arrays; a collective on the GPU engine."""
    if not engine.on_device:
        return False
    nbytes = sum(x.nvals * (8 + x.dtype.np_type.itemsize) for x in matrices if x is not None)
    return bool(engine.transport.numbers(_COPIES * nbytes <= budget.available())[:, 0].all())


def rows_of(matrix: Any, on_device: bool) -> Rows:
    """Return the rows of a local matrix in device or in host memory."""
    csr = matrix._to_csr()
    ids, values = (x.load() if on_device else x.read() for x in (csr.indices, csr.values))
    ids = ids.astype(index_dtype(csr.ncols, "device" if on_device else "host"), copy=False)
    if csr.iso:
        values = array_module(values).repeat(values[:1], csr.nvals)
    return Rows(csr.indptr, ids, values, on_device)


def matrix_of(engine: Keeper, rows: Rows, ncols: int, dtype: DataType) -> Any:
    """Make a local matrix of rows, whose arrays it takes over."""
    indptr, ids, values, on_device = rows
    buffer: Any = DeviceBuffer if on_device else wrap
    return engine.local.matrix_of(Csr(indptr.size - 1, ncols, indptr, buffer(ids), buffer(values), dtype))


def sent_to_owners(
    engine: Keeper, rows: Rows, partition: Partition, ncols: int, dtype: DataType, *, reads: bool
) -> list[Any]:
    """Send rows of the whole to their owners; return this rank's rows from each rank: a local matrix, or None.

    Unless `reads`, all values are 1 and none travel.
    """
    transport, here, size = engine.transport, partition.hi - partition.lo, engine.size
    xp = array_module(rows.ids)
    sent = np.diff(rows.indptr[partition.bounds])
    received = transport.numbers(*sent.tolist())[:, engine.rank].copy()
    degrees = np.diff(rows.indptr)
    degrees = engine.as_local(degrees) if rows.on_device else degrees
    degrees = on_host(transport.scatter(degrees, partition.sizes, np.full(size, here)))
    if reads:
        ids, values = transport.scatter_both(rows.ids, rows.values, (sent, sent), (received, received))
    else:
        ids = transport.scatter(rows.ids, sent, received)
        values = xp.ones(ids.size, dtype.np_type)
    made: list[Any] = []
    end = 0
    for rank, count in enumerate(received.tolist()):
        begin, end = end, end + count
        if not count or not here:
            made.append(None)
            continue
        indptr = np.concatenate([[0], np.cumsum(degrees[rank * here : (rank + 1) * here])]).astype(np.int64)
        piece = Rows(indptr, ids[begin:end].copy(), values[begin:end].copy(), rows.on_device)
        made.append(matrix_of(engine, piece, ncols, dtype))
    return made


def on_host(array: Any) -> NDArray[Any]:
    """Return an array in host memory."""
    return array if isinstance(array, np.ndarray) else cuda.current().asnumpy(array)


def folded(engine: Keeper, parts: list[Any], op: Any, dtype: DataType, shape: tuple[int, ...]) -> Any:
    """Fold local matrices of one shape in their order; None stands for one without entries."""
    merged = None
    for part in parts:
        if part is None:
            continue
        if merged is None:
            merged = part
        else:
            update(merged, assignment(part, merged), Write(None, op, False))
    return engine.local.matrix(dtype, shape) if merged is None else merged
