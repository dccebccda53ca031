"""Conversion of a table's columns to a matrix and back, shared by pandas, Arrow and Polars."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from sparsezc.io.build.limits import need_numbers, unexpected, wrong_type

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix


class TableOptions(TypedDict, total=False):
    """The options of functions that make a Matrix from a table; ``from_pandas_edgelist`` documents them."""

    directed: bool
    relabel: bool
    dtype: Any
    nrows: int | None
    ncols: int | None
    dup_op: Any
    name: str | None


WEIGHT = "weight"  # the default column of values, the only one that may be missing: then edges have no values


def weight_column(weight: str | None, names: list[Any], where: str) -> str | None:
    """Return the name of the column of values; None if none is requested, or the default one does not exist."""
    if weight == WEIGHT and weight not in names:
        return None
    return weight if weight is None else check_column(weight, names, where)


def check_column(column: Any, names: list[Any], where: str) -> Any:
    """Return the name of a column after checking that it exists.

    Raises
    ------
    InvalidValue
        There is no such column; the message lists the columns.
    """
    if column not in names:
        raise InvalidValue(f"{where}: there is no column {column!r}; the columns are {', '.join(map(repr, names))}")
    return column


def from_table(
    where: str,
    names: list[Any],
    read: Callable[[Any, bool], NDArray[Any]],
    columns: tuple[Any, Any, Any],
    **options: Unpack[TableOptions],
) -> Matrix | tuple[Matrix, NDArray[Any]]:
    """Read the columns of an edge table, and return its Matrix as :func:`to_matrix` does.

    Parameters
    ----------
    names : list
        The names of the table's columns.
    read : callable
        ``read(name, ids)`` returns a column as an array; `ids` is True for vertex ids, False for values.
    columns : tuple
        The names of the columns of sources, targets and values.
    options
        Options of :func:`to_matrix`.

    Raises
    ------
    InvalidValue
        A column does not exist.
    """
    source, target, weight = columns
    if source == target:
        raise InvalidValue(f"{where}: source and target are both {source!r}; two columns are needed")
    value = weight_column(weight, names, where)
    rows, cols = (read(check_column(each, names, where), True) for each in (source, target))
    return to_matrix(where, rows, cols, None if value is None else read(value, False), **options)


def to_matrix(
    where: str,
    source: NDArray[Any],
    target: NDArray[Any],
    values: NDArray[Any] | None,
    **options: Unpack[TableOptions],
) -> Matrix | tuple[Matrix, NDArray[Any]]:
    """Return the Matrix of some edges; with `relabel` also the labels, ascending: row i is the vertex ``labels[i]``."""
    from sparsezc.core.matrix import Matrix

    if unknown := options.keys() - TableOptions.__annotations__:
        raise unexpected(where, unknown, TableOptions)
    nrows, ncols = options.get("nrows"), options.get("ncols")
    dtype, dup_op, name = options.get("dtype"), options.get("dup_op"), options.get("name")
    labels = None
    source, target = _of_one_kind(source, target)
    if options.get("relabel"):
        labels, source, target = _numbered(where, source, target)
        nrows = labels.size if nrows is None else nrows
        ncols = labels.size if ncols is None else ncols
    if not source.size and not target.size:  # empty columns may have any type
        source = target = np.empty(0, np.int64)
    if values is not None and values.dtype.kind in "OSUMm" and dtype is None:
        raise DomainMismatch(f"{where}: the weight column holds {values.dtype}; numbers are needed, or weight=None")
    for column, ids in (("source", source), ("target", target)):
        if ids.dtype.kind not in "iu":
            raise DomainMismatch(
                f"{where}: the {column} column holds {ids.dtype}, not integers; relabel=True numbers any labels"
            )
    if not options.get("directed", True):
        if nrows != ncols and None not in (nrows, ncols):
            raise DimensionMismatch(f"{where}: directed=False needs a square matrix; got {nrows} x {ncols}")
        nrows = ncols = _square(source, target, nrows if ncols is None else ncols)
        source, target, values = _both(source, target, values)
    elif nrows is None and ncols is None:
        nrows = ncols = _square(source, target, None)  # algorithms need square matrices
    if values is None:
        made = Matrix.from_coo(source, target, True, dtype, nrows=nrows, ncols=ncols, name=name)
    else:
        made = Matrix.from_coo(source, target, values, dtype, nrows=nrows, ncols=ncols, dup_op=dup_op, name=name)
    return made if labels is None else (made, labels)


def _of_one_kind(source: NDArray[Any], target: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both columns of ids; a uint64 and a signed one in a common type other than NumPy's choice, a float."""
    if source.dtype.kind not in "iu" or target.dtype.kind not in "iu":
        return source, target
    if np.result_type(source, target).kind != "f":
        return source, target
    signed, unsigned = (source, target) if source.dtype.kind == "i" else (target, source)
    if not signed.size or signed.min() >= 0:
        kind: Any = np.uint64
    else:
        kind = np.int64 if not unsigned.size or unsigned.max() < 2**63 else object
    return source.astype(kind), target.astype(kind)


def _square(source: NDArray[Any], target: NDArray[Any], size: int | None) -> int | None:
    if size is not None or source.size == 0:
        return size
    return int(max(source.max(), target.max())) + 1


def _both(
    source: NDArray[Any], target: NDArray[Any], values: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    """Return the edges followed by their reverses, except those of self-loops."""
    off = source != target
    rows, cols = np.concatenate([source, target[off]]), np.concatenate([target, source[off]])
    return rows, cols, None if values is None else np.concatenate([values, values[off]])


def _numbered(where: str, source: Any, target: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the labels that occur, ascending, and both columns as positions in this array."""
    try:
        labels, at = np.unique(np.concatenate([source, target]), return_inverse=True)
    except TypeError as error:
        raise DomainMismatch(f"{where}: labels of different kinds cannot be put in order: {error}") from None
    return labels, at[: source.size], at[source.size :]


def to_columns(A: Any, labels: Any, columns: tuple[Any, Any, Any], where: str) -> dict[Any, NDArray[Any]]:
    """Return the columns of a matrix's entries, by rows: ids (int64, or labels) and, if named, values."""
    from sparsezc.core.matrix import Matrix, TransposedMatrix

    if not isinstance(A, Matrix | TransposedMatrix):
        raise wrong_type(where, "A", A, "a Matrix")
    source, target, weight = columns
    if weight is not None:
        need_numbers(A, where)
    rows, cols, values = A.to_coo(values=weight is not None)
    rows, cols = rows.view(np.int64), cols.view(np.int64)
    if labels is not None:
        names = np.asarray(labels)
        if names.ndim != 1 or names.size != A.nrows or names.size != A.ncols:
            raise DimensionMismatch(f"{where}: labels have shape {names.shape}; the matrix is {A.nrows} x {A.ncols}")
        rows, cols = names[rows], names[cols]
    return {source: rows, target: cols} | ({} if weight is None else {weight: values})
