"""The renumbering of vertices of square matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import gather_scatter
from sparsezc.engines.gpu.storage import compressed_ids, row_blocks
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.engines.gpu.storage.permute_arrays import ENTRY_BYTES, renumbered
from sparsezc.engines.gpu.storage.vertex_order import Order

_PLACES, _ENTRIES = 64, 1 << 14  # positions of a sample of ids, and entries read at each


def permuted(rows: Rows, take: Any, numbers: Any, order: Order | None) -> Rows:
    """Return rows in `order`: row p is row take[p], and id is numbers[id], sorted by id."""
    return Rows(rows.nrows, rows.ncols, rows.nvals, *renumbered(rows, take, numbers), rows.iso, order)


def both(rows: Rows, columns: Rows | None, order: Order) -> tuple[Rows, Rows | None]:
    """Return a matrix's rows and, if it has them, its columns in another vertex order."""
    made = permuted(rows, order.vertices, order.places, order)
    if columns is None or columns is rows:
        return made, None if columns is None else made
    return made, permuted(columns, order.vertices, order.places, order)


def can_be(rows: Rows) -> bool:
    """Return whether rows can be renumbered: the matrix is square, in the users' order and not compressed."""
    return rows.nrows == rows.ncols <= 2**32 and rows.order is None and not rows.compressed


def better(rows: Rows, columns: Rows | None) -> Order | None:
    """Return the degree order if a sample of ids takes fewer bytes in it than in the natural order, else None."""
    xp = cuda.current().xp
    if not can_be(rows):
        return None
    by = by_degree(rows, columns)
    picked = xp.arange(_PLACES, dtype=np.int64) * (rows.nvals // _PLACES)
    first = xp.searchsorted(rows.indptr, picked, side="right") - 1
    before, after = 0, 0
    for begin in xp.unique(first).tolist():
        start = int(rows.indptr[begin])
        end = int(xp.searchsorted(rows.indptr, xp.asarray([start + _ENTRIES]), side="left")[0])
        local = rows.indptr[begin : end + 1] - start
        ids = rows.indices.load(start, start + int(local[-1]))
        row = xp.searchsorted(local, xp.arange(ids.size, dtype=np.int64), side="right") - 1
        keys = row.astype(np.uint64) << np.uint64(32) | by.places[ids.astype(np.int64)]
        keys.sort()
        before += compressed_ids.words(ids)
        after += compressed_ids.words((keys & np.uint64(0xFFFFFFFF)).astype(np.uint32))
    return by if after < before else None


def by_degree(rows: Rows, columns: Rows | None) -> Order:
    """Return the vertex order by descending degree: the entries in row and column."""
    xp = cuda.current().xp
    degrees = rows.indptr[1:] - rows.indptr[:-1]
    if columns is None:
        pieces = row_blocks.pieces(rows.nvals, ENTRY_BYTES)
        degrees = degrees + gather_scatter.counts(rows.indices, rows.ncols, pieces)
    elif columns is not rows:
        degrees = degrees + columns.indptr[1:] - columns.indptr[:-1]
    return Order.of(xp.argsort(-degrees, kind="stable"))
