"""Matrix times matrix over a semiring.

Under a mask of few entries each result entry is one dot product of a row of A and a column of B, and no other entry is
formed (spgemm_masked_dot.py). Otherwise the product is made row by row (spgemm_rows.py).
"""

from __future__ import annotations

from typing import Any

from sparsezc.engines.gpu.elementwise.matrix_merge import MaskRows
from sparsezc.engines.gpu.elementwise.transpose import transposed
from sparsezc.engines.gpu.products.spgemm_masked_dot import dots
from sparsezc.engines.gpu.products.spgemm_rows import product, products
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore

_SORTING = 8  # the cost of transposing B, in products for each entry of B


def mxm(
    semiring: Any, a: MatrixStore, b: MatrixStore, b_transposed: bool, mask: MaskRows | None
) -> tuple[MatrixStore, bool]:
    """Return A (+).(x) B, with a mask at least where it allows, and whether all entries are where the mask allows them.

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
