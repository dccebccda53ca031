"""Operations on a matrix whose columns have labels: the best label of each row, moves to it, and sums by labels."""

from __future__ import annotations

from typing import Any

from sparsezc.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from sparsezc.expr.expression import Expression, Operand, says, stored
from sparsezc.expr.resolve import resolve
from sparsezc.semirings.types.datatypes import BOOL, FP64, INT64, UINT32, UINT64, lookup

__all__ = ["best_label", "join_labels", "label_weight", "move_labels", "sum_by_labels"]


def best_label(A: Any, label: Any, op: Any, *, stays: bool = True) -> Expression:
    """Choose for each row the label of highest score among those of its entries' columns and its own.

    The score of label c in row i is the sum of ``A(i, j)`` over the j other than i with ``label(j) = c``. Equal scores
    go to the smallest label.

    Parameters
    ----------
    A : Matrix, n x n
    label : Vector of INT64, size n
        A label in 0..n-1 for every vertex.
    op : semiring or its name
        ``plus_first``: entries count by their values, in FP64; ``plus_pair``: each as one.
    stays : bool
        Whether a row's own label wins where others score as much.

    Returns
    -------
    Expression
        Makes a Vector of INT64: an entry for each row whose best label is not its own. Rows that a mask does not let
        through are not read.

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
    The scores are ``A.mxm(S, op)`` with the indicator S(j, label(j)) = 1; they are never stored, and each row is read
    once. Where weights are integers, with sums below 2^53, sums are exact, and every engine gives the same labels.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> A = gb.Matrix.from_edgelist([(0, 1), (0, 2), (0, 3), (1, 0)], nrows=4, ncols=4)
    >>> ops.best_label(A, gb.Vector.from_dense([0, 1, 3, 3]), "plus_pair").new().to_dict()
    {0: 3, 1: 0}
    """
    A, label, typed = _labelled(A, label, op, "best_label")
    return Expression("best_label", (A, label, _scalar(bool(stays), BOOL)), typed, INT64, A._shape[:1])


def label_weight(A: Any, label: Any, op: Any) -> Expression:
    """Sum each row's entries within its label: ``A(i, j)`` over the j other than i with ``label(j) = label(i)``.

    Parameters
    ----------
    A, label, op
        As in :func:`best_label`.

    Returns
    -------
    Expression
        Makes a Vector of FP64, an entry for every row.

    Raises
    ------
    DimensionMismatch, DomainMismatch, TypeError
        As in :func:`best_label`.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> A = gb.Matrix.from_edgelist([(0, 1), (0, 2), (1, 0)], nrows=3, ncols=3)
    >>> ops.label_weight(A, gb.Vector.from_dense([0, 0, 2]), "plus_pair").new().to_dict()
    {0: 1.0, 1: 1.0, 2: 0.0}
    """
    A, label, typed = _labelled(A, label, op, "label_weight")
    return Expression("label_weight", (A, label), typed, FP64, A._shape[:1])


def move_labels(
    A: Any, label: Any, op: Any, k: Any = None, scale: float = 0.0, *, seed: int = 0, turn: Any = None,
    least: float = 0.01,
) -> Expression:  # fmt: skip
    """Move rows to the labels of highest score, round by round, until few move.

    The score of label c in row i is ``e(i, c) - scale k(i) s(c)``, as in :func:`best_label`, with e the sums of row i
    within each label and s those of k; neither counts row i itself. Each round consists of turns: the rows of a turn
    choose at once, and then s is updated. A row chooses in the first round, and later if a neighbour has moved since;
    after a turn in which more than one row of 32 has moved, all rows do.

    Parameters
    ----------
    A : Matrix, n x n
        Symmetric.
    label : Vector of INT64, size n
        A label in 0..n-1 for every row.
    op : semiring or its name
        As in :func:`best_label`.
    k : Vector of FP64, size n, optional
        The sums of rows. Rows where it is 0 stay and do not count. Without it a label scores e(i, c).
    scale : float
    seed : int
        From 0 to 2**64 - 1. It gives each row a random one of eight turns in each round. The last round is one in
        which at most `least` of the rows move, or the 64th.
    turn : Vector of INT64, size n, optional
        The turn of each row, in 0..n-1, instead of random ones. The last round is one in which no row moves. There
        must be one, which is certain if no two rows of a turn are neighbours.
    least : float
        A share, 0 to 1, of the rows where k is more than 0.

    Returns
    -------
    Expression
        Makes a Vector of INT64: a label for every row.

    Raises
    ------
    DimensionMismatch, DomainMismatch, TypeError
        As in :func:`best_label`.

    Notes
    -----
    Every engine gives the same labels where weights are whole numbers of a sum below 2^53.

    Source: V. Blondel et al., Fast unfolding of communities in large networks, 2008,
    doi:10.1088/1742-5468/2008/10/P10008; rows that choose again: S. Sahu, GVE-Louvain, 2023,
    doi:10.48550/arXiv.2312.04876; turns by colours: G. Cordasco, L. Gargano, Community detection via semi-synchronous
    label propagation algorithms, 2010, doi:10.1109/BASNA.2010.5730298.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 0), (2, 3), (3, 2)], nrows=4, ncols=4)
    >>> k = gb.Vector.from_dense([1.0, 1.0, 1.0, 1.0])
    >>> label = ops.move_labels(A, gb.Vector.from_dense([0, 1, 2, 3]), "plus_pair", k, 0.25).new().to_dense()
    >>> bool(label[0] == label[1] != label[2] == label[3])
    True
    """
    A, label, typed = _labelled(A, label, op, "move_labels")
    n = A._shape[0]
    k = _absent(FP64) if k is None else _full(k, n, FP64, "move_labels: k")
    turn = _absent(INT64) if turn is None else _full(turn, n, INT64, "move_labels: turn")
    return Expression(
        "move_labels",
        (A, label, k, turn, _scalar(float(scale), FP64), _scalar(seed, UINT64), _scalar(float(least), FP64)),
        typed,
        INT64,
        A._shape[:1],
    )


def join_labels(A: Any, groups: Any, op: Any, k: Any, scale: float, *, seed: int = 0) -> Expression:
    """Join the rows of each group to connected labels inside it, each row at most once.

    First each row i is alone, with label i. Rows have turns as in :func:`move_labels`, one each. A row v that is still
    alone at its turn, and well connected to the rest of its group S, joins the label C of highest score among those
    inside S that are well connected to the rest of S, if that exceeds the score of staying alone::

        e(C, S - C) >= scale s(C) (s(S) - s(C)),   likewise for v

    A label whose only row has the same turn is not joined, so a label never loses a row and stays connected.

    Parameters
    ----------
    A, op, k, scale, seed
        As in :func:`move_labels`.
    groups : Vector of INT64, size n
        A group in 0..n-1 for every row.

    Returns
    -------
    Expression
        Makes a Vector of INT64: a label for every row, which is the row that the others joined.

    Raises
    ------
    DimensionMismatch, DomainMismatch, TypeError
        As in :func:`best_label`.

    Notes
    -----
    Source: V. Traag, L. Waltman, N. van Eck, From Louvain to Leiden: guaranteeing well-connected communities, 2019,
    doi:10.1038/s41598-019-41695-z.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 0), (2, 3), (3, 2)], nrows=4, ncols=4)
    >>> k = gb.Vector.from_dense([1.0, 1.0, 1.0, 1.0])
    >>> label = ops.join_labels(A, gb.Vector.from_dense([0, 0, 2, 3]), "plus_pair", k, 0.25).new().to_dense()
    >>> bool(label[0] == label[1]), label[2:].tolist()
    (True, [2, 3])
    """
    A, groups, typed = _labelled(A, groups, op, "join_labels")
    k = _full(k, A._shape[0], FP64, "join_labels: k")
    return Expression(
        "join_labels", (A, groups, k, _scalar(float(scale), FP64), _scalar(seed, UINT64)), typed, INT64, A._shape[:1]
    )


def sum_by_labels(A: Any, label: Any, op: Any, count: int, dtype: Any = FP64) -> Expression:
    """Sum the entries of a matrix by the labels of their rows and columns: the network of communities.

    Parameters
    ----------
    A : Matrix, n x n
    label : Vector of INT64, size n
        A label in 0..n-1 for every row; entries of rows or columns with a label of `count` or more do not count.
    op : semiring or its name
        As in :func:`best_label`.
    count : int
        The number of labels.
    dtype : DataType or its name
        FP64, or UINT32 for whole numbers whose sum is below 2^32.

    Returns
    -------
    Expression
        Makes a Matrix, count x count: entry (c, d) is the sum of ``A(i, j)`` with ``label(i) = c``, ``label(j) = d``.

    Raises
    ------
    DimensionMismatch, DomainMismatch, TypeError
        As in :func:`best_label`.
    InvalidValue
        `count` is less than 0 or more than n, or `dtype` is neither of these or too small for the sums.

    Notes
    -----
    With the indicator P(i, label(i)) = 1 this is P' A P, but neither P nor A P is stored.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 1)], nrows=3, ncols=3)
    >>> ops.sum_by_labels(A, gb.Vector.from_dense([0, 0, 1]), "plus_pair", 2).new().to_dense(fill_value=0)
    array([[2., 1.],
           [1., 0.]])
    """
    A, label, typed = _labelled(A, label, op, "sum_by_labels")
    n, dtype = A._shape[0], lookup(dtype)
    if not 0 <= count <= n:
        raise InvalidValue(f"sum_by_labels: count is {count}; 0 .. {n} are needed")
    if dtype not in (FP64, UINT32):
        raise InvalidValue(f"sum_by_labels: dtype is {dtype}; FP64 or UINT32 is needed")
    return Expression("sum_by_labels", (A, label), typed, dtype, (count, count))


def _labelled(A: Any, label: Any, op: Any, where: str) -> tuple[Any, Any, Any]:
    """Check the operands that all operations have."""
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
    return A, _full(label, nrows, INT64, f"{where}: label"), typed


def _full(v: Any, n: int, dtype: Any, where: str) -> Any:
    """Return `v` as a Vector of this size and type with an entry everywhere."""
    v = stored(v, where, 1)
    if v.dtype is not dtype:
        raise TypeError(f"{where} is {says(v)} of {v.dtype}; {dtype} is needed")
    if v._shape[0] != n:
        raise DimensionMismatch(f"{where} is {says(v)}; a size of {n} is needed")
    return v


def _absent(dtype: Any) -> Any:
    """Make an empty Scalar, which stands for a vector that is not given."""
    scalar: Any = Operand._kinds[0]
    return scalar(dtype)


def _scalar(value: Any, dtype: Any) -> Any:
    scalar: Any = Operand._kinds[0]
    return scalar.from_value(value, dtype)
