"""The upper triangle of a symmetric matrix, for steps of many searches that read nearly all entries in any direction.

Where nearly every vertex is in the frontier of one search and not reached by another, a push and a pull both read
nearly all rows. But each edge is in the rows of both its ends: a step that passes the bits of each end to the other
(multi_source_bfs_both.cu) needs one of them. The triangle is packed, as rows that are read in
part take as many requests as whole ones. It takes half of the memory of the ids, in the same placement, and offsets
in device memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsezc.config import config
from sparsezc.device import cuda
from sparsezc.engines.gpu.elementwise import matrix_map
from sparsezc.engines.gpu.storage.compressed_ids import CompressedIds
from sparsezc.engines.gpu.storage.layout import Built, Demand
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.memory import budget
from sparsezc.memory.device import DeviceBuffer
from sparsezc.memory.placement import RECORDS
from sparsezc.semirings import select
from sparsezc.semirings.types.datatypes import BOOL, INT64

_SAVES = 0.25  # of the entries: a step that would save fewer takes as long, as it reads and writes more at random
_COST = 5  # passes over the entries that building takes as long as: 200 ms on urand:24
_PART = 1 / 4  # of the host memory that may be used: no user asked for the triangle


@dataclass(frozen=True, eq=False)
class Triangle:
    """The rows of the upper triangle without the diagonal."""

    rows: Rows

    @property
    def nbytes(self) -> int:
        """Return the device memory that it takes."""
        ids = self.rows.indices
        blocks = ids.headers.nbytes + ids.starts.nbytes if isinstance(ids, CompressedIds) else 0
        return int(self.rows.indptr.nbytes + blocks)


class EdgesOnce(Built[Triangle]):
    """Layout: the upper triangle of a symmetric matrix whose entries are read over the link.

    Attributes
    ----------
    built : Triangle or None
    saved : float
        Entries that steps would have saved; -inf where the host's memory is short.
    """

    def __init__(self) -> None:
        super().__init__()
        self.saved = 0.0

    def get_or_build(self, rows: Rows, entries: float) -> Rows | None:
        """Return the triangle for a step that reads so many entries without it, or None."""
        saved = entries - rows.nvals / 2
        if config.head_cache == "off" or not RECORDS[rows.indices.placement].in_place:
            return None
        if saved < _SAVES * rows.nvals:
            return None
        if self.built is None:
            demand = Demand(saved, BOOL)
            if not self.is_worth(rows, demand):
                return None
            self.build(rows, demand)
        return None if self.built is None else self.built.rows

    def is_worth(self, rows: Rows, demand: Demand) -> bool:
        self.saved += demand.entries
        return self.saved > (0 if config.head_cache == "on" else _COST * rows.nvals)

    def build(self, rows: Rows, demand: Demand) -> None:
        self.saved = -np.inf
        space, ids = budget.host_available(), rows.indices
        # compressed ids are all decoded, and packed again as a triangle
        needed = 1.5 * ids.count * ids.dtype.itemsize if rows.compressed else ids.nbytes / 2
        if space is not None and needed > _PART * space:
            return
        try:
            one = DeviceBuffer(cuda.current().xp.ones(1, np.bool_))
            plain = Rows(rows.nrows, rows.ncols, rows.nvals, rows.indptr, rows.decoded().indices, one, True)
            matrix = MatrixStore(BOOL, rows.nrows, rows.ncols, plain)
            made = matrix_map.select(select.triu[BOOL], matrix, 1, INT64).rows
        except MemoryError:
            return
        if made is not None:
            self.saved = 0.0
            self.built = Triangle(made.compress() if rows.compressed else made)
            budget.register_cache(self)
