"""Matrix times matrix over a semiring, and counts of triangles' corners.

Under a mask of few entries each result entry is computed as one dot product of a row of A and a column of B, and no
other entry is computed (spgemm_masked_dot.py). Otherwise the product is computed row by row (spgemm_rows.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.elementwise.matrix_merge import MaskRows
from sparsezc.engines.gpu.elementwise.transpose import transposed
from sparsezc.engines.gpu.products.spgemm_masked_dot import corners, dots
from sparsezc.engines.gpu.products.spgemm_rows import product, products
from sparsezc.engines.gpu.storage import vector_store
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore
from sparsezc.engines.gpu.storage.vector_store import VectorStore
from sparsezc.semirings.types.datatypes import INT64

_SORTING = 8  # cost of transposing B, in products for each entry of B


def mxm(
    semiring: Any, a: MatrixStore, b: MatrixStore, b_transposed: bool, mask: MaskRows | None
) -> tuple[MatrixStore, bool]:
    """Return the product A (+).(x) B, and whether the mask allows all of its entries.

    A mask may be ignored: then entries that it does not allow remain, which the write rule removes.

    `b_transposed`: B is the transpose of b.
    """
    if a.rows is None or b.rows is None:
        return MatrixStore(semiring.return_type, a.nrows, b.nrows if b_transposed else b.ncols, None), True
    rows, columns = (b.columns, b.rows) if b_transposed else (b.rows, b.columns)
    few = mask is not None and not mask.complement and mask.rows.nvals <= a.nvals + b.nvals
    found = None
    if few and rows is not None and columns is None:
        found = products(a, rows)
        if _SORTING * b.nvals < int(found.sum()):
            columns = transposed(rows)
    if mask is not None and few and columns is not None:
        return dots(semiring, a, b.dtype, columns, mask), True
    return product(semiring, a, b.dtype, rows or transposed(b.rows), found), False


def count_corners(a: MatrixStore, b: MatrixStore, b_transposed: bool, mask: MatrixStore) -> VectorStore:
    """Count, for each vertex, the products A(i, k) B(k, j) at entries (i, j) of the mask in which it is i, j or k.

    `b_transposed`: B is the transpose of b.
    """
    if a.rows is None or b.rows is None or mask.rows is None:
        return vector_store.from_dense(cuda.current().xp.zeros(a.nrows, np.int64), INT64, copy=False)
    rows, columns = (b.columns, b.rows) if b_transposed else (b.rows, b.columns)
    if columns is None:
        assert rows is not None
        columns = transposed(rows)
    return vector_store.from_dense(corners(a, b.dtype, columns, mask.rows), INT64, copy=False)
