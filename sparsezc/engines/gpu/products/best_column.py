"""The column of each row's entries at which a vector is largest: one product over ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.elementwise.value_order import order_of
from sparsezc.engines.gpu.products import spmv
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore
from sparsezc.engines.gpu.storage.vector_store import ALL, VectorStore
from sparsezc.semirings import semiring
from sparsezc.semirings.types.datatypes import INT64, UINT32


def best_column(matrix: MatrixStore, transposed: bool, vector: VectorStore) -> VectorStore:
    """Return the columns as INT64; of equal entries of the vector the first counts."""
    size = matrix.ncols if transposed else matrix.nrows
    best = VectorStore(INT64, size)
    at, values = vector.entries()
    if at.size == 0:
        return best
    kind = UINT32 if at.size < 2**32 else INT64  # of ranks, which products look up at random: half the bytes
    order, ranks = _ranked(values, kind.np_type), VectorStore(kind, vector.size)
    ranks.put(at, order[1])
    least = VectorStore(kind, size)
    spmv.spmv(matrix, transposed, ranks, semiring.min_second[kind], least, ALL, vector_left=False)
    rows, rank = least.entries()
    best.put(rows, at[order[0]][rank.astype(np.int64)])
    return best


def _ranked(values: Any, kind: Any) -> tuple[Any, Any]:
    """Return the order of values from the largest on, of equal ones the first, and the place of each in it."""
    xp = cuda.current().xp
    order = order_of(values, descending=True)
    places = xp.empty(values.size, kind)
    places[order] = xp.arange(values.size, dtype=kind)
    return order, places
