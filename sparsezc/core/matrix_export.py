"""The content of a matrix as arrays and dicts: the ``to_...`` methods of Matrix and TransposedMatrix."""

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
    """A Matrix as arrays."""

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
        """Return the values as an array of the matrix's shape, if it has every entry and its engine has them so."""
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
        """Return row ids, column ids (uint64) and values, by rows and then columns; None for parts not wanted.

        Of a distributed matrix this is a collective: all ranks call it, and get the whole.
        """
        engine, store = self._need()
        here, nrows = cpu.engine(), self._shape[0]
        if engine is here and nrows > 4 * here.nvals(store) + 1024:  # offsets would be larger than the entries
            i, j, vals = here.matrix_to_coo(store)
            vals = plain(vals, self.dtype)
            vals = vals if dtype is None else cast(vals, lookup(dtype))
        else:
            indptr, j, vals = self.to_csr(dtype)
            i = np.repeat(np.arange(nrows, dtype=np.uint64), _lengths(indptr)) if rows else j
        return i if rows else None, j if columns else None, vals if values else None

    @locked
    def to_csr(self, dtype: Any = None, *, sort: bool = True) -> Compressed:
        """Copy to ``indptr``, column ids (both uint64, ids ascending in each row) and values."""
        csr = self._to_csr()
        ids, vals = csr.indices.read(), csr.values.read()
        if csr.indices.placement not in HOSTS:  # the arrays that were read may be the matrix's own memory
            ids, vals = ids.astype(np.uint64), vals.copy()
        if csr.iso:
            vals = np.full(csr.nvals, vals[0] if vals.size else np.zeros((), vals.dtype))
        vals = plain(vals, self.dtype)
        if dtype is not None:
            vals = cast(vals, lookup(dtype))
        return csr.indptr.view(np.uint64), ids.astype(np.uint64, copy=False), vals

    def to_csc(self, dtype: Any = None, *, sort: bool = True) -> Compressed:
        """Copy to ``indptr``, row ids (both uint64, ids ascending in each column) and values."""
        formed: MatrixContents = self.T.new()
        return formed.to_csr(dtype)

    def to_dcsr(self, dtype: Any = None, *, sort: bool = True) -> DoublyCompressed:
        """Return ids of the rows that have entries, their ``indptr``, column ids (all uint64) and values, copied."""
        i, j, vals = self.to_coo(dtype)
        first = np.flatnonzero(np.diff(i, prepend=i[:1] + np.uint64(1)))  # where another row begins
        return i[first], np.append(first, i.size).astype(np.uint64), j, vals

    def to_dcsc(self, dtype: Any = None, *, sort: bool = True) -> DoublyCompressed:
        """Return ids of the columns that have entries, their ``indptr``, row ids (all uint64) and values, copied."""
        formed: MatrixContents = self.T.new()
        return formed.to_dcsr(dtype)

    def to_dicts(self, order: str = "rowwise") -> dict[int, dict[int, Any]]:
        """Return ``{row: {column: value}}``; with ``order="columnwise"``, ``{column: {row: value}}``.

        Raises
        ------
        InvalidValue
            `order` is neither of them.
        """
        if arrays.order(order, "to_dicts") == "columnwise":
            flipped: dict[int, dict[int, Any]] = self.T.new().to_dicts()
            return flipped
        found: dict[int, dict[int, Any]] = {}
        for i, j, value in zip(*(part.tolist() for part in self.to_coo()), strict=True):
            found.setdefault(i, {})[j] = value
        return found


class FlippedContents:
    """A TransposedMatrix as arrays: the matrix's own, with rows and columns exchanged."""

    __slots__ = ()
    _matrix: Matrix

    def _full_values(self) -> NDArray[Any] | None:
        values = self._matrix._full_values()
        return None if values is None else values.T

    def to_coo(
        self, dtype: Any = None, *, rows: bool = True, columns: bool = True, values: bool = True, sort: bool = True
    ) -> tuple[Any, Any, Any]:
        """Return row ids, column ids (uint64) and values, by columns and then by rows."""
        i, j, vals = self._matrix.to_coo(dtype, rows=columns, columns=rows, values=values, sort=sort)
        return j, i, vals

    def to_csr(self, dtype: Any = None, *, sort: bool = True) -> Compressed:
        """Return :meth:`Matrix.to_csr` of the transpose."""
        return self._matrix.to_csc(dtype, sort=sort)

    def to_csc(self, dtype: Any = None, *, sort: bool = True) -> Compressed:
        """Return :meth:`Matrix.to_csc` of the transpose."""
        return self._matrix.to_csr(dtype, sort=sort)

    def to_dcsr(self, dtype: Any = None, *, sort: bool = True) -> DoublyCompressed:
        """Return :meth:`Matrix.to_dcsr` of the transpose."""
        return self._matrix.to_dcsc(dtype, sort=sort)

    def to_dcsc(self, dtype: Any = None, *, sort: bool = True) -> DoublyCompressed:
        """Return :meth:`Matrix.to_dcsc` of the transpose."""
        return self._matrix.to_dcsr(dtype, sort=sort)

    def to_dicts(self, order: str = "rowwise") -> dict[int, dict[int, Any]]:
        """Return :meth:`Matrix.to_dicts` of the transpose."""
        other = "rowwise" if arrays.order(order, "to_dicts") == "columnwise" else "columnwise"
        return self._matrix.to_dicts(other)
