"""Operations on a matrix whose columns have labels: the best label of each row, and what a row has within its own."""

from __future__ import annotations

from typing import Any

from sparsezc.errors import DimensionMismatch, DomainMismatch
from sparsezc.expr.expression import Expression, Operand, says, stored
from sparsezc.expr.resolve import resolve
from sparsezc.semirings.types.datatypes import BOOL, FP64, INT64

__all__ = ["best_label", "label_weight"]


def best_label(
    A: Any,
    label: Any,
    op: Any,
    *,
    within: Any = None,
    penalty: tuple[Any, Any, float] | None = None,
    stays: bool = True,
) -> Expression:
    """Choose for each row the label that scores most among those of its entries' columns and its own.

    With e(i, c) the sum of ``A(i, j)`` over the j other than i with ``label(j) = c``, the score of label c in row i is
    ``e(i, c)``; with a penalty (k, s, t) it is ``e(i, c) - t k(i) s(c)``, where s counts without the row itself for
    its own label: ``e(i, c) - t k(i) (s(c) - k(i))``. Equal scores go to the smallest label.

    Parameters
    ----------
    A : Matrix, n x n
    label : Vector of INT64, size n
        A label in 0..n-1 for every vertex.
    op : semiring or its name
        ``plus_first``: entries count by their values, in FP64; ``plus_pair``: each as one.
    within : Vector of INT64, size n, optional
        Entries (i, j) count only where ``within(i) = within(j)``.
    penalty : (Vector of FP64, Vector of FP64, float), optional
        Both vectors have size n and are full.
    stays : bool
        Whether a row's own label wins where others score as much.

    Returns
    -------
    Expression
        Makes a Vector of INT64: an entry for each row whose best label is not its own. Rows that a mask does not let
        through are not looked at.

    Raises
    ------
    DimensionMismatch
        A is not square, or a vector has another size.
    DomainMismatch
        A's values are complex or of a user-defined type, and `op` reads them.
    TypeError
        An operand is of another kind or type.

    Notes
    -----
    ``A.mxm(S, op)`` with the indicator S(j, label(j)) = 1 has the sums e; a row is read once and they are never
    stored. Where weights are integers, with sums below 2^53, sums are exact, and every engine gives the same labels.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> A = gb.Matrix.from_edgelist([(0, 1), (0, 2), (0, 3), (1, 0)], nrows=4, ncols=4)
    >>> ops.best_label(A, gb.Vector.from_dense([0, 1, 3, 3]), "plus_pair").new().to_dict()
    {0: 3, 1: 0}
    """
    A, label, typed = labelled(A, label, op, "best_label")
    n = A._shape[0]
    groups = absent(INT64) if within is None else full(within, n, INT64, "best_label: within")
    if penalty is None:
        shares = sums = absent(FP64)
        scale = 0.0
    else:
        shares, sums = (full(v, n, FP64, f"best_label: penalty[{k}]") for k, v in enumerate(penalty[:2]))
        scale = float(penalty[2])
    scalar: Any = Operand._kinds[0]
    extra = scalar.from_value(scale, FP64), scalar.from_value(bool(stays), BOOL)
    return Expression("best_label", (A, label, groups, shares, sums, *extra), typed, INT64, (n,))


def label_weight(A: Any, label: Any, op: Any, *, own: Any = None) -> Expression:
    """Sum what each row has within one label: ``A(i, j)`` over the j other than i with ``label(j) = own(i)``.

    Parameters
    ----------
    A : Matrix, n x n
    label : Vector of INT64, size n
        A label in 0..n-1 for every vertex.
    op : semiring or its name
        As in :func:`best_label`.
    own : Vector of INT64, size n, optional
        The labels of rows; by default `label`.

    Returns
    -------
    Expression
        Makes a Vector of FP64, an entry for every row.

    Raises
    ------
    DimensionMismatch
        A is not square, or a vector has another size.
    DomainMismatch
        A's values are complex or of a user-defined type, and `op` reads them.
    TypeError
        An operand is of another kind or type.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> A = gb.Matrix.from_edgelist([(0, 1), (0, 2), (1, 0)], nrows=3, ncols=3)
    >>> ops.label_weight(A, gb.Vector.from_dense([0, 0, 2]), "plus_pair").new().to_dict()
    {0: 1.0, 1: 1.0, 2: 0.0}
    """
    A, label, typed = labelled(A, label, op, "label_weight")
    own = label if own is None else full(own, A._shape[0], INT64, "label_weight: own")
    return Expression("label_weight", (A, label, own), typed, FP64, A._shape[:1])


def labelled(A: Any, label: Any, op: Any, where: str) -> tuple[Any, Any, Any]:
    """Check the operands that both operations have."""
    A = stored(A, f"{where}: the matrix", 2)
    if A._transposed:
        raise TypeError(f"Bad type for argument: {where}: the matrix must be a Matrix; {A.name}.new() makes one")
    nrows, ncols = A._shape
    if nrows != ncols:
        raise DimensionMismatch(f"{where}: {says(A)} is {nrows} x {ncols}; as many rows as columns are needed")
    typed = resolve("semiring", op, f"{where}: op", FP64, FP64)
    if typed.op.name not in ("plus_first", "plus_pair"):
        raise TypeError(f"{where}: op is {typed!r}; plus_first or plus_pair is needed")
    if typed.op.name == "plus_first" and (A.dtype.is_complex or A.dtype.is_udt):
        raise DomainMismatch(f"{where}: values of type {A.dtype} are no weights; plus_pair counts each entry as one")
    return A, full(label, nrows, INT64, f"{where}: label"), typed


def full(v: Any, n: int, dtype: Any, where: str) -> Any:
    """Return `v` as a Vector of this size and type with an entry everywhere."""
    v = stored(v, where, 1)
    if v.dtype is not dtype:
        raise TypeError(f"{where} is {says(v)} of {v.dtype}; {dtype} is needed")
    if v._shape[0] != n:
        raise DimensionMismatch(f"{where} is {says(v)}; a size of {n} is needed")
    return v


def absent(dtype: Any) -> Any:
    """Make an empty Scalar, which stands for a vector that is not given."""
    scalar: Any = Operand._kinds[0]
    return scalar(dtype)
