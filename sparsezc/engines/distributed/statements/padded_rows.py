"""This rank's rows of a matrix at their places in the whole: a local matrix whose other rows have no entries.

Statements that number rows, or read vectors by rows, run on it unchanged; their results for other ranks' rows are
empty, or partial sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.engines.distributed.parts.partition import COLUMNS
from sparsezc.engines.distributed.parts.row_exchange import on_host
from sparsezc.engines.distributed.parts.stores import Built, Store
from sparsezc.memory import wrap
from sparsezc.memory.csr import Csr

if TYPE_CHECKING:
    from sparsezc.engines.distributed.store_methods import Keeper
    from sparsezc.expr.mask import Mask

__all__ = ["operand", "widened", "widened_mask", "widened_vector"]


def widened(engine: Keeper, store: Store) -> Any:
    """Return this rank's entries of a matrix as a local matrix of the whole's shape, kept until the matrix changes.

    The parts of all ranks add up to the whole: of a matrix that every rank has, rank 0 alone returns the entries.
    """
    if engine.size == 1:
        return store.local
    return store.forms[Wide].get_or_build(engine, store)


class Wide(Built[Any]):
    """Form: this rank's part of a matrix at its place in the whole."""

    def get_or_build(self, engine: Keeper, store: Store) -> Any:
        if self.built is None:
            self.built = _widened(engine, store)
        return self.built


def _widened(engine: Keeper, store: Store) -> Any:
    partition, shape = store.partition, store.shape
    if partition.is_whole:
        return store.local if engine.rank == 0 else engine.local.matrix(store.dtype, shape)
    csr = store.local._to_csr()
    if partition.along is COLUMNS:
        ids = on_host(csr.indices.read()).astype(np.uint64) + np.uint64(partition.lo)
        made = Csr(shape[0], shape[1], csr.indptr, wrap(ids), csr.values, csr.dtype, csr.iso)
        return engine.local.matrix_of(made)
    indptr = np.empty(shape[0] + 1, np.int64)
    indptr[: partition.lo], indptr[partition.hi :] = 0, csr.nvals
    indptr[partition.lo : partition.hi + 1] = csr.indptr
    return engine.local.matrix_of(Csr(shape[0], shape[1], indptr, csr.indices, csr.values, csr.dtype, csr.iso))


def operand(engine: Keeper, x: Any) -> Any:
    """Return a matrix operand with this rank's entries at their places in the whole."""
    made = widened(engine, x._store)
    return made.T if x._transposed else made


def widened_mask(engine: Keeper, mask: Mask | None) -> Mask | None:
    """Return a vector's mask with this rank's entries at their places in the whole."""
    if mask is None:
        return None
    return type(mask)(widened_vector(engine, mask.parent._store), mask.structure, mask.complement)


def widened_vector(engine: Keeper, store: Store) -> Any:
    """Return this rank's entries of a vector at their places in the whole."""
    if store.partition.is_whole or engine.size == 1:
        return store.local
    size, local = store.shape[0], engine.local
    if store.is_empty_range:
        return local.vector(store.dtype, size)
    ids, values = local.engine.vector_to_coo(store.local._need()[1])
    made = local.engine.vector_from_coo(ids + np.uint64(store.partition.lo), values, store.dtype, size)
    return local.vector(store.dtype, size, made)
