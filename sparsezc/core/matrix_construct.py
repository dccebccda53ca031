"""Matrices made from a user's arrays: the ``from_...`` methods of :class:`~sparsezc.core.matrix.Matrix`.

The CPU engine builds the matrix; if ``config.engine`` names another engine, the matrix then moves there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sparsezc import ops
from sparsezc.config import config
from sparsezc.core.compressed_construct import FromCompressed
from sparsezc.engines import cpu
from sparsezc.exceptions import InvalidObject, InvalidValue
from sparsezc.expr import engines
from sparsezc.ops import arrays, checks

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix

__all__ = ["FromArrays"]


def _length(n: int | None, ids: Any, where: str, name: str) -> int:
    """Return the number of rows or columns: the given one, or the largest id plus one."""
    if n is not None:
        return arrays.size(n, f"{where}: n{name}")
    if not ids.size:
        what = "row" if name == "rows" else "column"
        raise InvalidValue(f"{where}: No {what} indices provided. Unable to infer n{name}. Give n{name}=")
    return arrays.size(int(ids.max()) + 1, f"{where}: n{name}")


class FromArrays(FromCompressed):
    """The constructors of a Matrix from arrays."""

    __slots__ = ()

    @classmethod
    def from_coo(
        cls,
        rows: ArrayLike,
        columns: ArrayLike,
        values: Any = 1.0,
        dtype: Any = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        dup_op: Any = None,
        name: str | None = None,
    ) -> Self:
        """Make a matrix from row ids, column ids and values.

        Parameters
        ----------
        rows, columns : array_like of integers, shape (n,)
            The positions, in any order.
        values : array_like, shape (n,), or a number
            A number is the value of every entry.
        dtype : optional
            The type of the matrix; by default the type of the values.
        nrows, ncols : int, optional
            By default the largest id plus one.
        dup_op : binary operator or its name, optional
            The operator that combines the values of a position that occurs more than once.
        name : str, optional

        Raises
        ------
        InvalidValue
            A position occurs twice without `dup_op`, or a size is neither given nor implied by an id.
        IndexOutOfBound
            An id is negative, or at least `nrows` or `ncols`.
        DimensionMismatch
            The arrays have different lengths.

        Examples
        --------
        >>> import sparsezc as gb
        >>> gb.Matrix.from_coo([0, 0, 1], [1, 1, 0], [1, 2, 3], dup_op="+").to_dense(fill_value=0)
        array([[0, 3],
               [3, 0]])
        """
        where = "Matrix.from_coo"
        i = arrays.ids(rows, f"{where}: rows", None if nrows is None else arrays.size(nrows, f"{where}: nrows"))
        j = arrays.ids(columns, f"{where}: columns", None if ncols is None else arrays.size(ncols, f"{where}: ncols"))
        vals, kind = arrays.values(values, dtype, f"{where}: values", 0, 1)
        shape = _length(nrows, i, where, "rows"), _length(ncols, j, where, "cols")
        arrays.lengths(where, rows=i, columns=j, values=vals)
        merge = cpu.merger(dup_op, kind, vals.ndim == 0, where)
        return cls._made(cpu.engine().build_matrix(i, j, vals, kind, shape, merge), kind, shape, name)

    @classmethod
    def from_edgelist(
        cls,
        edgelist: ArrayLike | Iterable[Sequence[Any]],
        values: Any = None,
        dtype: Any = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        dup_op: Any = None,
        name: str | None = None,
    ) -> Self:
        """Make a matrix from pairs ``(row, column)`` or triples ``(row, column, value)``; see :meth:`from_coo`.

        Parameters
        ----------
        edgelist : ndarray of integers, shape (n, 2), or an iterable of pairs or triples
        values : array_like or a number, optional
            The values of pairs; 1.0 by default.
        dtype : optional

        Raises
        ------
        InvalidValue
            Items are neither pairs nor triples, or some are pairs and others triples.
        TypeError
            `values` is given for triples.
        """
        if isinstance(edgelist, np.ndarray):
            if edgelist.ndim != 2:
                raise InvalidValue(
                    f"Matrix.from_edgelist: edgelist array must have 2 dimensions, shape (n, 2); got {edgelist.shape}"
                )
            if edgelist.shape[1] == 3:
                raise InvalidValue(
                    f"Matrix.from_edgelist: edgelist array must have shape (n, 2); got {edgelist.shape}. For an array,"
                    " values must be passed separately"
                )
            if edgelist.shape[1] != 2:
                raise InvalidValue(
                    "Matrix.from_edgelist: edgelist array must be length 2 in its second dimension, shape (n, 2); got"
                    f" {edgelist.shape}"
                )
            i, j = edgelist[:, 0], edgelist[:, 1]
            values = 1.0 if values is None else values
            return cls.from_coo(i, j, values, dtype, nrows=nrows, ncols=ncols, dup_op=dup_op, name=name)
        edges = [tuple(edge) for edge in edgelist]  # type: ignore[arg-type, union-attr]
        width = len(edges[0]) if edges else 2
        if width not in (2, 3) or any(len(edge) != width for edge in edges):
            raise InvalidValue(
                "Matrix.from_edgelist: each item of edgelist must have two or three elements: all of them pairs (row,"
                " column), or all triples with a value"
            )
        if width == 3:
            if values is not None:
                raise TypeError("Matrix.from_edgelist: Too many sources of values: the triples, and values=")
            values = [edge[2] for edge in edges]
        elif values is None:
            values = 1.0
        rows, columns = [edge[0] for edge in edges], [edge[1] for edge in edges]
        return cls.from_coo(rows, columns, values, dtype, nrows=nrows, ncols=ncols, dup_op=dup_op, name=name)

    @classmethod
    def from_scalar(cls, value: Any, nrows: int, ncols: int, dtype: Any = None, *, name: str | None = None) -> Self:
        """Make a full matrix, with `value` at every position."""
        given, made_of = checks.everywhere(value, dtype, "Matrix.from_scalar: value")
        kind: Any = cls
        made: Matrix = kind(made_of, nrows, ncols, name=name)
        if config.engine != "auto":
            made._settle(engines.get(config.engine))
        made << given
        return made  # type: ignore[return-value]

    @classmethod
    def from_dense(
        cls, values: ArrayLike, missing_value: Any = None, *, dtype: Any = None, name: str | None = None
    ) -> Self:
        """Make a matrix with an entry for each element of an array, except those equal to `missing_value`.

        Parameters
        ----------
        values : array_like, shape (nrows, ncols)
        missing_value : number, optional
        dtype : optional
        name : str, optional

        Raises
        ------
        InvalidValue
            The array does not have two dimensions.
        """
        vals, kind = arrays.dense(values, dtype, "Matrix", 2)
        shape = vals.shape[0], vals.shape[1]
        made: Any = cls._made(cpu.engine().dense_matrix(vals, kind), kind, shape, name)
        if missing_value is not None:
            made << ops.select(made, "valuene", missing_value)
        return made  # type: ignore[no-any-return]

    @classmethod
    def from_dicts(
        cls,
        nested_dicts: Mapping[int, Mapping[int, Any]] | Sequence[Mapping[int, Any]],
        dtype: Any = None,
        *,
        order: str = "rowwise",
        nrows: int | None = None,
        ncols: int | None = None,
        name: str | None = None,
    ) -> Self:
        """Make a matrix from ``{row: {column: value}}``, or from a list with one dict for each row.

        With ``order="columnwise"`` it is ``{column: {row: value}}``, or one dict for each column.

        Raises
        ------
        InvalidValue
            `order` is neither "rowwise" nor "columnwise".
        """
        order = arrays.order(order, "Matrix.from_dicts")
        outer = nested_dicts.items() if isinstance(nested_dicts, Mapping) else enumerate(nested_dicts)
        entries = [(i, j, value) for i, inner in outer for j, value in inner.items()]
        i, j, vals = (list(part) for part in zip(*entries, strict=True)) if entries else ([], [], [])
        if order == "columnwise":
            i, j = j, i
        if not isinstance(nested_dicts, Mapping):
            size, given = len(nested_dicts), nrows if order == "rowwise" else ncols
            if given is not None and given != size:
                which = "nrows" if order == "rowwise" else "ncols"
                raise InvalidValue(f"Matrix.from_dicts: {which} must be {size}, the number of dicts; got {given}")
            nrows, ncols = (size, ncols) if order == "rowwise" else (nrows, size)
        elif order == "rowwise" and nrows is None:
            nrows = max(nested_dicts, default=-1) + 1
        elif order == "columnwise" and ncols is None:
            ncols = max(nested_dicts, default=-1) + 1
        nrows = max(i, default=-1) + 1 if nrows is None else nrows
        ncols = max(j, default=-1) + 1 if ncols is None else ncols
        if max(i, default=-1) >= nrows or max(j, default=-1) >= ncols:
            raise InvalidObject(f"Matrix.from_dicts: an id is outside the shape, {nrows} x {ncols}")
        return cls.from_coo(i, j, vals, dtype, nrows=nrows, ncols=ncols, name=name)
