"""Columns of a table (pandas, Arrow) as a matrix and back: what those formats share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.errors import DimensionMismatch, DomainMismatch, InvalidValue
from sparsezc.io.holds import need_numbers

if TYPE_CHECKING:
    from sparsezc.matrix import Matrix

WEIGHT = "weight"  # the one column that may be missing: then the edges have no values


def weight_column(weight: str | None, names: list[Any], where: str) -> str | None:
    """The column of values: None where there is none, or the usual one is not there."""
    if weight == WEIGHT and weight not in names:
        return None
    return weight if weight is None else check_column(weight, names, where)


def check_column(column: Any, names: list[Any], where: str) -> Any:
    """The name of a column that is there.

    Raises
    ------
    InvalidValue
        It is not; the message lists those that are.
    """
    if column not in names:
        raise InvalidValue(f"{where}: there is no column {column!r}; the columns are {', '.join(map(repr, names))}")
    return column


def to_matrix(
    where: str,
    source: NDArray[Any],
    target: NDArray[Any],
    values: NDArray[Any] | None,
    *,
    directed: bool,
    relabel: bool,
    dtype: Any,
    nrows: int | None,
    ncols: int | None,
    dup_op: Any,
    name: str | None,
) -> Matrix | tuple[Matrix, NDArray[Any]]:
    """A matrix of edges; with `relabel` also the labels, ascending: row i stands for ``labels[i]``."""
    from sparsezc.matrix import Matrix

    labels = None
    if relabel:
        labels, source, target = _numbered(where, source, target)
        nrows = labels.size if nrows is None else nrows
        ncols = labels.size if ncols is None else ncols
    for column, ids in (("source", source), ("target", target)):
        if ids.dtype.kind not in "iu":
            raise DomainMismatch(
                f"{where}: the {column} column holds {ids.dtype}, not integers; relabel=True numbers any labels"
            )
    if not directed:
        if nrows != ncols and None not in (nrows, ncols):
            raise DimensionMismatch(f"{where}: directed=False needs a square matrix; got {nrows} x {ncols}")
        nrows = ncols = _square(source, target, nrows if ncols is None else ncols)
        source, target, values = _both(source, target, values)
    if values is None:
        made = Matrix.from_coo(source, target, True, dtype, nrows=nrows, ncols=ncols, name=name)
    else:
        made = Matrix.from_coo(source, target, values, dtype, nrows=nrows, ncols=ncols, dup_op=dup_op, name=name)
    return made if labels is None else (made, labels)


def _square(source: NDArray[Any], target: NDArray[Any], size: int | None) -> int | None:
    if size is not None or source.size == 0:
        return size
    return int(max(source.max(), target.max())) + 1


def _both(
    source: NDArray[Any], target: NDArray[Any], values: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    """The edges and, but for loops, their reverses."""
    off = source != target
    rows, cols = np.concatenate([source, target[off]]), np.concatenate([target, source[off]])
    return rows, cols, None if values is None else np.concatenate([values, values[off]])


def _numbered(where: str, source: Any, target: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The labels that occur, ascending, and both columns as positions among them."""
    try:
        labels, at = np.unique(np.concatenate([source, target]), return_inverse=True)
    except TypeError as error:
        raise DomainMismatch(f"{where}: labels of different kinds cannot be put in order: {error}") from None
    return labels, at[: source.size], at[source.size :]


def to_columns(A: Any, labels: Any, weights: bool, where: str) -> tuple[Any, Any, Any]:
    """Row and column ids (int64, or labels) and values of a matrix, by rows; None for values not asked for."""
    from sparsezc.matrix import Matrix, TransposedMatrix

    if not isinstance(A, Matrix | TransposedMatrix):
        raise DomainMismatch(f"{where}: A is a {type(A).__name__}; a Matrix is needed")
    if weights:
        need_numbers(A, where)
    rows, cols, values = A.to_coo(values=weights)
    if labels is None:
        return rows.view(np.int64), cols.view(np.int64), values
    names = np.asarray(labels)
    if names.ndim != 1 or names.size != A.nrows or names.size != A.ncols:
        raise DimensionMismatch(f"{where}: labels have shape {names.shape}; the matrix is {A.nrows} x {A.ncols}")
    return names[rows.astype(np.int64)], names[cols.astype(np.int64)], values
