"""Export of a matrix as arrays and dicts: the ``to_...`` methods of Matrix and TransposedMatrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines import cpu
from sparsezc.expr import engines
from sparsezc.memory.placement import HOSTS
from sparsezc.ops import arrays
from sparsezc.process.locks import locked
from sparsezc.semirings.types.datatypes import DataType, cast, lookup
from sparsezc.semirings.types.user_types import plain

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix
    from sparsezc.expr.engines import Engine
    from sparsezc.memory.csr import Csr

__all__ = ["FlippedContents", "MatrixContents"]

Compressed = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
DoublyCompressed = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]


def _lengths(indptr: NDArray[Any]) -> NDArray[np.int64]:
    """Return the number of entries of each row."""
    lengths: NDArray[np.int64] = (indptr[1:] - indptr[:-1]).astype(np.int64)
    return lengths


class MatrixContents:
    """The export methods of a Matrix."""

    __slots__ = ()
    T: Any
    _shape: tuple[int, ...]
    _store: Any
    dtype: DataType

    def _to_csr(self) -> Csr:
        raise NotImplementedError

    def _need(self) -> tuple[Engine, Any]:
        raise NotImplementedError

    def _kept(self) -> tuple[Engine, Any]:
        raise NotImplementedError

    def _full_values(self) -> NDArray[Any] | None:
        """Return the values as an array of the matrix's shape; None unless it is full and stored densely."""
        engine, store = self._kept()
        values: NDArray[Any] | None = engines.capability(engine, "full_values")(store)
        return values

    @locked
    def to_coo(
        self,
        dtype: Any = None,
        *,
        rows: bool = True,
        columns: bool = True,
        values: bool = True,
        sort: bool = True,
    ) -> tuple[Any, Any, Any]:
        """Return row ids, column ids (uint64) and values, sorted by row, then column; None for arrays not requested.

        If the matrix is distributed, this is a collective: all ranks must call it, and each gets all entries.
        """
        engine, store = self._need()
        here, nrows = cpu.engine(), self._shape[0]
        if engine is here and nrows > 4 * here.nvals(store) + 1024:  # offsets would take more memory than entries
            i, j, vals = here.matrix_to_coo(store)
            vals = plain(vals, self.dtype)
            vals = vals if dtype is None else cast(vals, lookup(dtype))
        else:
            indptr, j, vals = self.to_csr(dtype)
            i = np.repeat(np.arange(nrows, dtype=np.uint64), _lengths(indptr)) if rows else j
        return i if rows else None, j if columns else None, vals if values else None

    @locked
    def to_csr(self, dtype: Any = None, *, sort: bool = True) -> Compressed:
        """Return copies of ``indptr``, the column ids (both uint64, ids ascending in each row) and the values."""
        csr = self._to_csr()
        ids, vals = csr.indices.read(), csr.values.read()
        if csr.indices.placement not in HOSTS:  # `read` may return the matrix's own memory
            ids, vals = ids.astype(np.uint64), vals.copy()
        if csr.iso:
            vals = np.full(csr.nvals, vals[0] if vals.size else np.zeros((), vals.dtype))
        vals = plain(vals, self.dtype)
        if dtype is not None:
            vals = cast(vals, lookup(dtype))
        return csr.indptr.view(np.uint64), ids.astype(np.uint64, copy=False), vals

    def to_csc(self, dtype: Any = None, *, sort: bool = True) -> Compressed:
        """Return copies of ``indptr``, the row ids (both uint64, ids ascending in each column) and the values."""
        formed: MatrixContents = self.T.new()
        return formed.to_csr(dtype)

    def to_dcsr(self, dtype: Any = None, *, sort: bool = True) -> DoublyCompressed:
        """Return copies of the ids of the non-empty rows, their ``indptr``, column ids (all uint64) and values."""
        i, j, vals = self.to_coo(dtype)
        first = np.flatnonzero(np.diff(i, prepend=i[:1] + np.uint64(1)))  # the first entry of each row
        return i[first], np.append(first, i.size).astype(np.uint64), j, vals

    def to_dcsc(self, dtype: Any = None, *, sort: bool = True) -> DoublyCompressed:
        """Return copies of the ids of the non-empty columns, their ``indptr``, row ids (all uint64) and values."""
        formed: MatrixContents = self.T.new()
        return formed.to_dcsr(dtype)

    def to_dicts(self, order: str = "rowwise") -> dict[int, dict[int, Any]]:
        """Return ``{row: {column: value}}``; with ``order="columnwise"``, ``{column: {row: value}}``.

        Raises
        ------
        InvalidValue
            `order` is neither "rowwise" nor "columnwise".
        """
        if arrays.order(order, "to_dicts") == "columnwise":
            flipped: dict[int, dict[int, Any]] = self.T.new().to_dicts()
            return flipped
        found: dict[int, dict[int, Any]] = {}
        for i, j, value in zip(*(part.tolist() for part in self.to_coo()), strict=True):
            found.setdefault(i, {})[j] = value
        return found


class FlippedContents:
    """The export methods of a TransposedMatrix: those of its matrix, with rows and columns exchanged."""

    __slots__ = ()
    _matrix: Matrix

    def _full_values(self) -> NDArray[Any] | None:
        values = self._matrix._full_values()
        return None if values is None else values.T

    def to_coo(
        self, dtype: Any = None, *, rows: bool = True, columns: bool = True, values: bool = True, sort: bool = True
    ) -> tuple[Any, Any, Any]:
        """Return row ids, column ids (uint64) and values, sorted by column, then row; None for arrays not requested."""
        i, j, vals = self._matrix.to_coo(dtype, rows=columns, columns=rows, values=values, sort=sort)
        return j, i, vals

    def to_csr(self, dtype: Any = None, *, sort: bool = True) -> Compressed:
        """Return the transpose's rows as arrays, as :meth:`Matrix.to_csr` does."""
        return self._matrix.to_csc(dtype, sort=sort)

    def to_csc(self, dtype: Any = None, *, sort: bool = True) -> Compressed:
        """Return the transpose's columns as arrays, as :meth:`Matrix.to_csc` does."""
        return self._matrix.to_csr(dtype, sort=sort)

    def to_dcsr(self, dtype: Any = None, *, sort: bool = True) -> DoublyCompressed:
        """Return the transpose's non-empty rows as arrays, as :meth:`Matrix.to_dcsr` does."""
        return self._matrix.to_dcsc(dtype, sort=sort)

    def to_dcsc(self, dtype: Any = None, *, sort: bool = True) -> DoublyCompressed:
        """Return the transpose's non-empty columns as arrays, as :meth:`Matrix.to_dcsc` does."""
        return self._matrix.to_dcsr(dtype, sort=sort)

    def to_dicts(self, order: str = "rowwise") -> dict[int, dict[int, Any]]:
        """Return the transpose's entries as dicts, as :meth:`Matrix.to_dicts` does."""
        other = "rowwise" if arrays.order(order, "to_dicts") == "columnwise" else "columnwise"
        return self._matrix.to_dicts(other)
