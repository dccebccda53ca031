"""A CSR matrix as plain arrays: the result of readers and the input of engines.

This module runs no operations. The arrays are :class:`~sparsezc.memory.Buffer` objects, so a reader that has the sizes
fills the placement's memory directly, without a second copy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from sparsezc.exceptions import DimensionMismatch, InvalidValue
from sparsezc.memory.budget import require_host
from sparsezc.memory.buffer import Buffer, copied, index_dtype
from sparsezc.memory.host import wrap
from sparsezc.memory.placement import HOSTS, RECORDS
from sparsezc.semirings.types.datatypes import DataType, lookup
from sparsezc.terminal.progress import bar, task


@dataclass(eq=False)
class Csr:
    """A matrix as compressed sparse rows, with ascending ids in each row and no duplicates.

    Attributes
    ----------
    nrows, ncols : int
    indptr : ndarray of int64, shape (nrows + 1,)
    indices : Buffer of unsigned ids, `nvals` entries
    values : Buffer of `dtype`, `nvals` entries, or 1 entry if all values are equal (iso)
    dtype : DataType
    symmetric : bool
        The matrix is known to equal its transpose, pattern and values.
    merged : int
        The number of edges that were merged into others of the same position when this matrix was made.
    """

    nrows: int
    ncols: int
    indptr: NDArray[np.int64]
    indices: Buffer
    values: Buffer
    dtype: DataType
    iso: bool = False
    symmetric: bool = False
    merged: int = 0

    @property
    def nvals(self) -> int:
        """Return the number of entries."""
        return int(self.indptr[-1])

    @property
    def nbytes(self) -> int:
        """Return the total bytes of the three arrays."""
        return self.indptr.nbytes + self.indices.nbytes + self.values.nbytes

    @property
    def placed_nbytes(self) -> int:
        """Return the bytes of ids and values in a placement that kernels read; compressed ids stay compressed."""
        from sparsezc.memory.id_blocks import BlocksBuffer

        packed = isinstance(self.indices, BlocksBuffer)
        ids = self.indices.nbytes if packed else self.nvals * index_dtype(self.ncols, "device").itemsize
        return ids + self.values.nbytes

    def known_symmetric(self, symmetric: bool) -> Csr:
        """Return this matrix, marked as known to equal its transpose or not."""
        self.symmetric = symmetric
        return self

    def add_merged(self, count: int) -> Csr:
        """Return this matrix with `merged` increased by `count`."""
        self.merged += count
        return self

    def with_values(self, values: Buffer, dtype: DataType, iso: bool) -> Csr:
        """Return a matrix of the same pattern with other values."""
        return replace(self, values=values, dtype=dtype, iso=iso)

    @classmethod
    def from_arrays(
        cls,
        indptr: ArrayLike,
        indices: ArrayLike,
        values: ArrayLike,
        ncols: int,
        *,
        dtype: Any = None,
        symmetric: bool = False,
    ) -> Csr:
        """Return a Csr of arrays in this form; a single value with several ids means an iso-valued matrix."""
        offsets = np.asarray(indptr, np.int64)
        ids = np.asarray(indices)
        vals = np.atleast_1d(np.asarray(values))
        kind = lookup(vals.dtype if dtype is None else dtype)
        nvals = int(offsets[-1])
        if ids.size != nvals:
            raise DimensionMismatch(f"indices has {ids.size} entries; indptr ends at {nvals}, so {nvals} are needed")
        iso = vals.size == 1 and nvals != 1
        if not iso and vals.size != nvals:
            raise DimensionMismatch(f"values has {vals.size} entries; {nvals} (or 1: iso-valued) are needed")
        if ids.dtype.kind == "i":  # a view of the same bits, as ids are never negative
            ids = ids.view(ids.dtype.str.replace("i", "u"))
        elif ids.dtype.kind != "u":
            raise InvalidValue(f"indices has dtype {ids.dtype}; integers are needed")
        vals = vals.astype(kind.np_type, copy=False)
        return cls(offsets.size - 1, int(ncols), offsets, wrap(ids), wrap(vals), kind, iso, symmetric)

    def place(self, placement: str, *, ids: DTypeLike | None = None, chunk: int = 1 << 24) -> Csr:
        """Return the matrix with its arrays in another placement, copied `chunk` entries at a time, or this matrix."""
        ids = np.dtype(ids if ids is not None else index_dtype(self.ncols, placement))
        if self.indices.placement == placement and self.indices.dtype == ids:
            return self
        if not RECORDS[placement].resident:
            require_host(self.indices.count * ids.itemsize + self.values.nbytes, f"placement {placement!r}")
        with task():
            return self._placed(placement, ids, chunk)

    def _placed(self, placement: str, ids: np.dtype[Any], chunk: int) -> Csr:
        from sparsezc.memory.id_blocks import BlocksBuffer

        packed = self.indices if isinstance(self.indices, BlocksBuffer) and placement not in HOSTS else None
        total = self.values.count + (0 if packed is not None else self.indices.count)
        progress = bar(total, f"placing in {placement}", " numbers")
        indices: Buffer
        if packed is not None:
            indices = packed.placed(placement)
        else:
            indices = copied(self.indices, placement, ids, chunk, progress.update)
        values = copied(self.values, placement, self.dtype.np_type, chunk, progress.update)
        progress.close()
        return Csr(self.nrows, self.ncols, self.indptr, indices, values, self.dtype, self.iso, self.symmetric)
