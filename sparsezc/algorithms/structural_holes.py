"""Structural holes: measures of the missing ties among a vertex's neighbours."""

from __future__ import annotations

from typing import Any

from sparsezc.algorithms import _check
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import binary, monoid, select, semiring, unary
from sparsezc.semirings.types import datatypes


def constraint(A: Matrix, *, weighted: bool = False, zero_ties: bool = False) -> Vector:
    """Compute Burt's constraint: the concentration of a vertex's ties, direct and indirect, on the same neighbours.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j; both directions count.
    weighted : bool
        The values are the weights of the ties, >= 0; by default each edge counts 1.
    zero_ties : bool
        Edges of weight 0 make neighbours, too; by default they are left out.

    Returns
    -------
    Vector of FP64, size n
        The constraints; vertices without neighbours other than themselves have no entry.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        With `weighted`, a value is negative, NaN or infinite.

    Notes
    -----
    With M = A + A', and P the rows of M divided by their sums::

        L<M> = P + P P       over (plus, times)
        c(i) = sum over j of L(i, j)^2

    Source: R. Burt, Structural holes and good ideas, 2004, doi:10.1086/421787. Loops count as in NetworkX.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.io.read("star:4")  # vertex 0 is the centre
    >>> [round(c, 4) for c in gb.algorithms.constraint(A).to_dense().tolist()]
    [0.3333, 1.0, 1.0, 1.0]
    """
    M = _ties(A, weighted, zero_ties)
    P = _shares(M, monoid.plus)
    # L<M> = P + P P
    L = P.dup()
    L(mask=M.S, accum=binary.plus) << P.mxm(P, semiring.plus_times)
    L << L.apply(binary.pow, right=2)
    return _of_those_with_neighbours(M, L.reduce_rowwise(monoid.plus))


def effective_size(A: Matrix, *, weighted: bool = False, zero_ties: bool = False) -> Vector:
    """Compute the effective size of each vertex's neighbourhood: its number of neighbours less their redundancy.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j; both directions count.
    weighted : bool
        The values are the weights of the ties, >= 0; by default each edge counts 1.
    zero_ties : bool
        Edges of weight 0 make neighbours, too; by default they are left out.

    Returns
    -------
    Vector of FP64, size n
        The sizes; vertices without neighbours other than themselves have no entry.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        With `weighted`, a value is negative, NaN or infinite.

    Notes
    -----
    With M = A + A', P the rows of M divided by their sums, and Q the rows divided by their largest values::

        R<M> = P Q'          over (plus, times)
        s(i) = sum over neighbours j of 1 - R(i, j)

    Source: R. Burt, Structural holes: the social structure of competition, 1992. Loops count as in NetworkX.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.algorithms.effective_size(gb.io.read("star:4")).to_dense().tolist()
    [3.0, 1.0, 1.0, 1.0]
    """
    M = _ties(A, weighted, zero_ties)
    P, Q = _shares(M, monoid.plus), _shares(M, monoid.max)
    # R<M> = P Q'
    R = P.mxm(Q.T, semiring.plus_times).new(mask=M.S)
    s = M.apply(binary.pair[datatypes.FP64], right=1.0).new().reduce_rowwise(monoid.plus).new()
    s(accum=binary.minus) << R.reduce_rowwise(monoid.plus)
    return _of_those_with_neighbours(M, s)


def _ties(A: Matrix, weighted: bool, zero_ties: bool) -> Matrix:
    """Check the arguments; return M = A + A', without entries of 0 unless `zero_ties`."""
    _check.adjacency(A)
    if weighted:
        _check.weights(A)
        W = A.dup(datatypes.FP64)
    else:
        W = A.apply(binary.pair[datatypes.FP64], right=1.0).new()
    M: Matrix = W.ewise_add(W.T, binary.plus).new()
    if not zero_ties:
        M << M.select(select.valuegt, 0)
    return M


def _shares(M: Matrix, of: Any) -> Matrix:
    """Return the rows of M divided by their reductions by the monoid `of`; rows of zeros are left out."""
    scale = M.reduce_rowwise(of).new().select(select.valuegt, 0).new().apply(unary.minv[datatypes.FP64]).new()
    made: Matrix = scale.diag().mxm(M, semiring.any_times[datatypes.FP64]).new()
    return made


def _of_those_with_neighbours(M: Matrix, found: Any) -> Vector:
    kept: Vector = M.select(select.offdiag).new().reduce_rowwise(monoid.any).new()
    kept << kept.apply(binary.second, right=0.0)
    kept(mask=kept.S, accum=binary.plus) << found
    return kept
