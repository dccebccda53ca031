"""Walks along the rows of a matrix."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from sparsezc.errors import DimensionMismatch, DomainMismatch, InvalidValue
from sparsezc.expr.draws import Trail
from sparsezc.expr.expression import Expression, says, stored
from sparsezc.ops import arrays
from sparsezc.ops.select import random_seed
from sparsezc.semirings import monoid, semiring, unary
from sparsezc.semirings.types.datatypes import FP64, INT64

__all__ = ["walk"]

_MOST_BIAS = 2.0**20  # of p and q, and one over the least: integers of 64 bits hold the shares of all edges


def walk(
    A: Any, starts: Any, length: int, weights: Any = None, *, p: float = 1.0, q: float = 1.0, seed: int | None = None
) -> Expression:
    """Follow `length` edges by chance from each start.

    Parameters
    ----------
    A : Matrix, n x n
    starts : array of int
    length : int, at least 0
    weights : None, "values" or a Vector of size n
        Follow all edges of a row alike; in proportion to their values; in proportion to the vector's entry at their
        column, 0 where it has none. Weights are checked by the caller: finite, at least 0.
    p, q : float
        node2vec: an edge back to where the walk was before counts 1/p of its weight, one to a vertex that has no edge
        from there 1/q.
    seed : int, optional
        The same seed gives the same walks on every engine, in every placement. By default a random one.

    Returns
    -------
    Expression
        Makes a Matrix of INT64, a row a walk, of `length` + 1 columns: the vertices in their order. A row ends early
        where no edge of weight leads on.

    Raises
    ------
    DimensionMismatch
        A is not square, or `weights` is of another size.
    InvalidValue, IndexOutOfBound
        A start is no vertex; `p`, `q` or `seed` is out of bounds.
    TypeError
        `p` or `q` is no number.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 3)], nrows=4, ncols=4)
    >>> ops.walk(A, [1, 0], 2).new().to_dense(fill_value=-1)
    array([[1, 2, 3],
           [0, 1, 2]])
    """
    A = stored(A, "walk: the matrix", 2)
    if A.nrows != A.ncols:
        raise DimensionMismatch(f"walk: {says(A)} is not square")
    at = arrays.ids(starts, "walk: starts", A.nrows).view(np.int64)
    steps = arrays.size(length, "walk: length")
    top = by = None
    if isinstance(weights, str):
        if weights != "values":
            raise InvalidValue(f"walk: weights is {weights!r}; None, 'values' or a Vector is needed")
        if A.dtype.is_complex or A.dtype.is_udt:
            raise DomainMismatch(f"walk: values of type {A.dtype} are no weights")
        kind, top = "values", _largest(A)
    elif weights is not None:
        by = stored(weights, "walk: weights", 1).dup(FP64)
        if by.size != A.ncols:
            raise DimensionMismatch(f"walk: weights, {says(by)}, must have an entry for each of {A.ncols} columns")
        kind, top = "columns", A.mxv(by, semiring.max_second).new()
    else:
        kind = ""
    trail = Trail(at, steps, A.nrows, kind, _shares(p, q), random_seed(seed, "walk"))
    operands = tuple(x for x in (A, trail, top, by) if x is not None)
    return Expression("walk", operands, None, INT64, (at.size, steps + 1))


def _largest(A: Any) -> Any:
    """Return the largest value of each row, as FP64."""
    most = monoid.lor if A.dtype.is_bool else monoid.max
    return A.reduce_rowwise(most).new().apply(unary.identity).new(FP64)


def _shares(p: Any, q: Any) -> tuple[int, int, int] | None:
    """Return what of its weight an edge counts with, as whole numbers; None where all count alike.

    Raises
    ------
    TypeError
        p or q is no number.
    InvalidValue
        p or q is not from 2**-20 to 2**20.
    """
    for name, given in (("p", p), ("q", q)):
        if not isinstance(given, int | float | np.integer | np.floating):
            raise TypeError(f"walk: {name} is {given!r} of type {type(given).__name__}; a number is needed")
        if not 1 / _MOST_BIAS <= given <= _MOST_BIAS:
            raise InvalidValue(f"walk: {name} is {given}; from 2**-20 to 2**20 is possible")
    if p == q == 1:
        return None
    counts = Fraction(1) / Fraction(float(p)), Fraction(1), Fraction(1) / Fraction(float(q))
    back, near, far = (min(2**64 - 1, int(count / max(counts) * 2**64)) for count in counts)
    return back, near, far
