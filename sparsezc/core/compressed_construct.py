"""Matrices made from compressed rows or columns: ``from_csr``, ``from_csc``, ``from_dcsr``, ``from_dcsc``."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sparsezc import ops
from sparsezc.config import config
from sparsezc.engines import cpu
from sparsezc.exceptions import InvalidValue
from sparsezc.memory import wrap
from sparsezc.memory.csr import Csr
from sparsezc.ops import arrays
from sparsezc.semirings.types.datatypes import DataType

__all__ = ["FromCompressed"]


class FromCompressed:
    """The constructors of a Matrix from compressed rows or columns."""

    __slots__ = ()

    @classmethod
    def _made(
        cls, store: Any, dtype: DataType, shape: tuple[int, int], name: str | None, symmetric: bool = False
    ) -> Self:
        """Make a matrix of a store on the CPU engine, and move it to ``config.engine``."""
        kind: Any = cls
        made = kind._from_store(cpu.engine(), store, dtype, shape, name)
        made._known_symmetric(symmetric)  # before the move: the GPU engine then stores one orientation only
        if config.engine != "auto":
            made = made.to(config.engine)
        return made  # type: ignore[no-any-return]

    @classmethod
    def from_csr(
        cls,
        indptr: ArrayLike,
        col_indices: ArrayLike,
        values: Any = 1.0,
        dtype: Any = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        name: str | None = None,
        symmetric: bool = False,
    ) -> Self:
        """Make a matrix from compressed rows.

        Parameters
        ----------
        indptr : array_like of integers, shape (nrows + 1,)
        col_indices : array_like of integers, shape (n,)
            Row i has ``col_indices[indptr[i]:indptr[i + 1]]``, in any order.
        values : array_like, shape (n,), or a number
            A number is the value of every entry and takes no memory.
        dtype : optional
        nrows, ncols : int, optional
        name : str, optional
        symmetric : bool
            The caller asserts that the matrix equals its transpose, which saves the GPU engine a second copy.

        Raises
        ------
        InvalidObject
            The arrays are not valid CSR; the message gives the first fault and its position.
        DimensionMismatch
            The numbers of values and of ids differ.

        Examples
        --------
        >>> import sparsezc as gb
        >>> gb.Matrix.from_csr([0, 1, 3], [1, 0, 2], [7, 8, 9]).to_dense(fill_value=0)
        array([[0, 7, 0],
               [8, 0, 9]])
        """
        shape = nrows, ncols
        csr = _compressed("csr", indptr, col_indices, values, dtype, shape, symmetric)
        return cls._from_host(csr, name)

    @classmethod
    def from_csc(
        cls,
        indptr: ArrayLike,
        row_indices: ArrayLike,
        values: Any = 1.0,
        dtype: Any = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        name: str | None = None,
    ) -> Self:
        """Make a matrix from compressed columns; arguments and errors as in :meth:`from_csr`."""
        flipped: Any = cls._from_host(_compressed("csc", indptr, row_indices, values, dtype, (ncols, nrows)), None)
        made: Self = ops.transpose(flipped).new(name=name)
        return made

    @classmethod
    def from_dcsr(
        cls,
        compressed_rows: ArrayLike,
        indptr: ArrayLike,
        col_indices: ArrayLike,
        values: Any = 1.0,
        dtype: Any = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        name: str | None = None,
    ) -> Self:
        """Make a matrix from compressed rows of which only the listed ones have entries.

        Parameters
        ----------
        compressed_rows : array_like of integers, shape (k,)
            The rows that are listed, each once, in any order.
        indptr : array_like of integers, shape (k + 1,)
            Listed row i has ``col_indices[indptr[i]:indptr[i + 1]]``.
        col_indices, values, dtype, nrows, ncols, name
            As in :meth:`from_csr`.

        Raises
        ------
        InvalidValue
            The lengths do not match, the offsets descend or do not start at 0, or a position occurs twice.
        """
        shape = nrows, ncols
        return cls._from_doubly("from_dcsr", compressed_rows, indptr, col_indices, values, dtype, shape, name)

    @classmethod
    def from_dcsc(
        cls,
        compressed_cols: ArrayLike,
        indptr: ArrayLike,
        row_indices: ArrayLike,
        values: Any = 1.0,
        dtype: Any = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        name: str | None = None,
    ) -> Self:
        """Make a matrix from compressed columns of which only the listed ones have entries; see :meth:`from_dcsr`."""
        shape = ncols, nrows
        flipped: Any = cls._from_doubly("from_dcsc", compressed_cols, indptr, row_indices, values, dtype, shape, None)
        made: Self = ops.transpose(flipped).new(name=name)
        return made

    @classmethod
    def _from_doubly(
        cls,
        maker: str,
        listed: Any,
        indptr: Any,
        ids: Any,
        values: Any,
        dtype: Any,
        shape: tuple[int | None, int | None],
        name: str | None,
    ) -> Self:
        (nrows, ncols), where = shape, f"Matrix.{maker}"
        which, offsets = arrays.ids(listed, f"{where}: the ids listed"), arrays.ids(indptr, f"{where}: indptr")
        given = arrays.ids(ids, f"{where}: indices")
        if offsets.size != which.size + 1:
            text = f"{where}: indptr has {offsets.size} entries, and {which.size} ids are listed; one more is needed"
            raise InvalidValue(text)
        if offsets[0] != 0 or np.any(offsets[1:] < offsets[:-1]) or int(offsets[-1]) != given.size:
            raise InvalidValue(
                f"{where}: indptr must start at 0, not descend and end at {given.size}, the number of indices"
            )
        if nrows is None or ncols is None:
            nrows = int(which.max(initial=0)) + bool(which.size) if nrows is None else nrows
            ncols = int(given.max(initial=0)) + bool(given.size) if ncols is None else ncols
        rows = np.repeat(which, (offsets[1:] - offsets[:-1]).astype(np.int64))
        kind: Any = cls
        made: Self = kind.from_coo(rows, given, values, dtype, nrows=nrows, ncols=ncols, name=name)
        return made

    @classmethod
    def _from_host(cls, csr: Csr, name: str | None) -> Self:
        """Make a matrix that takes over arrays in host memory."""
        store = cpu.engine().adopt_csr(csr)
        return cls._made(store, csr.dtype, (csr.nrows, csr.ncols), name, csr.symmetric)


def _compressed(
    form: str,
    indptr: Any,
    ids: Any,
    values: Any,
    dtype: Any,
    shape: tuple[int | None, int | None],
    symmetric: bool = False,
) -> Csr:
    """Check and sort a user's compressed rows; with `form` "csc", compressed columns, as rows of the transpose."""
    (nrows, ncols), where = shape, f"Matrix.from_{form}"
    names = ("indptr", "col_indices" if form == "csr" else "row_indices")
    rows, cols = ("nrows", "ncols") if form == "csr" else ("ncols", "nrows")
    offsets = arrays.ids(indptr, f"{where}: indptr")
    given = arrays.ids(ids, f"{where}: {names[1]}")
    vals, kind = arrays.values(values, dtype, f"{where}: values", 0, 1)
    if ncols is None and symmetric:
        ncols = offsets.size - 1
    elif ncols is None:
        ncols = int(given.max()) + 1 if given.size else 0
    ncols = arrays.size(ncols, f"{where}: {cols}")
    if nrows is not None and nrows != offsets.size - 1:
        raise InvalidValue(
            f"{where}: {rows} must be {offsets.size - 1}, for indptr has {offsets.size} entries; got {rows}={nrows}"
        )
    if symmetric and ncols != offsets.size - 1:
        raise InvalidValue(f"{where}: symmetric=True, and the matrix is {offsets.size - 1} x {ncols}, not square")
    if vals.ndim:
        arrays.lengths(where, indices=given, values=vals)
    if not arrays.check_csr(offsets, given, ncols, names):
        order = np.lexsort(
            (given, np.repeat(np.arange(offsets.size - 1), (offsets[1:] - offsets[:-1]).astype(np.int64)))
        )
        given = given[order]
        vals = vals[order] if vals.ndim else vals
    # the matrix must not share memory with the user's arrays
    given = given.copy() if np.shares_memory(given, ids) else given
    vals = vals.copy() if np.shares_memory(vals, values) else vals
    iso = vals.ndim == 0
    return Csr(
        offsets.size - 1,
        ncols,
        offsets.view(np.int64),
        wrap(given),
        wrap(np.atleast_1d(vals)),
        kind,
        iso,
        symmetric,
    )
