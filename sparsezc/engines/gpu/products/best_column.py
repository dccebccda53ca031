"""The column of each row's entries at which a vector is largest: one product over the ranks of the vector's entries.

Ranks are integers of 4 bytes without ties, so that the product reads half of what scores would take. Sorting 16 million
scores takes a twentieth of a pass over edges in host memory.
"""

from __future__ import annotations

from sparsezc.device import cuda
from sparsezc.engines.gpu.elementwise import value_order
from sparsezc.engines.gpu.products import spmv
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore
from sparsezc.engines.gpu.storage.vector_store import ALL, VectorStore
from sparsezc.semirings import semiring
from sparsezc.semirings.types.datatypes import INT64, UINT32, UINT64


def best_column(matrix: MatrixStore, transposed: bool, vector: VectorStore) -> VectorStore:
    """Return the columns as INT64; of equal entries of the vector the first counts."""
    xp, made = cuda.current().xp, VectorStore(INT64, matrix.ncols if transposed else matrix.nrows)
    at, values = vector.entries()
    if at.size == 0:
        return made
    best_first = at[value_order.order_of(values, descending=True)]
    dtype = UINT32 if vector.size <= 2**32 else UINT64
    ranks, least = VectorStore(dtype, vector.size), VectorStore(dtype, made.size)
    full = xp.empty(vector.size, dtype.np_type)
    full[best_first] = xp.arange(at.size, dtype=dtype.np_type)
    ranks.set(full, vector.bits, int(at.size))
    spmv.spmv(matrix, transposed, ranks, semiring.min_second[dtype], least, ALL, vector_left=False)
    if least.bits is not None:  # values of rows without a column are any numbers
        made.set(best_first[xp.minimum(least.values, dtype.np_type.type(at.size - 1))], least.bits, least.count)
    return made
