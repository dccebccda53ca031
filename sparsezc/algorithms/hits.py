"""Hubs and authorities (HITS)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check, _iterate
from sparsezc.core import engine_loops
from sparsezc.core.access import forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import ConvergenceFailure
from sparsezc.memory.budget import require_host
from sparsezc.semirings import monoid
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import steps

#: Vectors of the search space, and vectors that a restart keeps: as many as ARPACK takes for one eigenvalue.
_BASIS, _KEPT = 20, 10


def hits(
    A: Matrix,
    max_iter: int = 100,
    tol: float = 1e-8,
    nstart: Vector | None = None,
    *,
    weighted: bool = False,
) -> tuple[Vector, Vector]:
    """Score each vertex as a hub, by its edges to authorities, and as an authority, by its edges from hubs.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j.
    max_iter : int
        Most restarts of the search, at least 1; each takes at most 20 products with `A` and its transpose.
    tol : float
        Stop when the residual of the hubs' scores as an eigenvector of A A' (2-norm) is at most `tol` times the largest
        eigenvalue; 0 requests the precision of FP64.
    nstart : Vector of size n, optional
        The hubs' initial scores: entries >= 0 with a sum > 0; by default all equal.
    weighted : bool
        Edges count by their values, which must be >= 0; else equally.

    Returns
    -------
    hubs, authorities : Vector of FP64, size n
        An entry for every vertex; each sums to 1. Without edges all scores are equal.

    Raises
    ------
    ConvergenceFailure
        The residual was still above the bound after `max_iter` restarts.
    InvalidValue
        `tol`, `max_iter`, an entry of `nstart` or a weight is outside its range.
    DimensionMismatch
        `A` is not square, or `nstart` has another size.
    OutOfMemory
        Host memory, or ``gb.config.host_budget``, is too small for the dense vectors.

    Notes
    -----
    The hubs' scores are the eigenvector of A A', for its largest eigenvalue, that the power method
    (``a = A' h; h = A a``) finds from the start. That method needs many steps if the two largest eigenvalues are close;
    the Lanczos method with restarts finds the same vector in about the square root of that number, with up to 31 dense
    vectors of FP64 in host memory.

    Source: J. Kleinberg, Authoritative sources in a hyperlinked environment, JACM 46, 1999,
    doi:10.1145/324133.324140; K. Wu, H. Simon, Thick-restart Lanczos method for large symmetric eigenvalue problems,
    SIAM J. Matrix Anal. Appl. 22, 2000, doi:10.1137/S0895479898334605.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 2), (1, 2)], nrows=3, ncols=3)
    >>> hubs, authorities = gb.algorithms.hits(A)
    >>> hubs.to_dense().round(6).tolist(), authorities.to_dense().round(6).tolist()
    ([0.5, 0.5, 0.0], [0.0, 0.0, 1.0])
    """
    n = _check.adjacency(A)
    tol, max_iter = _iterate.options(tol, max_iter)
    if weighted:
        _check.weights(A)
    if n == 0:
        return Vector(datatypes.FP64, 0), Vector(datatypes.FP64, 0)
    # the basis, and the vectors that a restart computes before it overwrites the basis
    require_host(8 * n * (_BASIS + 1 + _KEPT), f"the search space of hits for {n:,} vertices")
    uniform = Vector.from_scalar(1.0 / n, n, datatypes.FP64)
    hubs = uniform if nstart is None else _check.distribution(nstart, n, "nstart")
    turned, multiply = forms.turned(A), _iterate.multiply(weighted)
    most = float(A.reduce_scalar(monoid.max).new().get(0)) if weighted else 1.0

    def times(x: NDArray[np.float64], back: bool) -> NDArray[np.float64]:
        """Return A x / most, or A' x / most if `back`; scaled, as squares of large weights would overflow."""
        x = x / (most or 1.0)
        y: NDArray[np.float64] | None = _iterate.product_by_loop(A, x, weighted, back)
        if y is None:
            y = (turned if back else A).mxv(Vector.from_dense(x), multiply).new().to_dense(0.0)
        return y

    h = _leading(A, lambda x: times(times(x, True), False), hubs.to_dense(0.0), max_iter, tol)
    (h,) = engine_loops.agreed(A, np.abs(h))
    a = times(h, True)
    if a.sum() == 0:
        return uniform.dup(), uniform.dup()
    return Vector.from_dense(h / h.sum()), Vector.from_dense(a / a.sum())


def _leading(A: Matrix, product: Any, start: NDArray[np.float64], max_iter: int, tol: float) -> NDArray[np.float64]:
    """Find the eigenvector, of length 1, for the largest eigenvalue of a symmetric product B, beginning with `start`.

    With Q the orthonormal basis of the search space, T = Q' B Q and s the leading eigenvector of T, the result is Q s.
    The part of B q outside the space, with q the last column of Q, bounds its residual.
    """
    Q = np.zeros((_BASIS + 1, start.size)).T
    T = np.zeros((_BASIS, _BASIS))
    Q[:, 0], k, bound = start / np.linalg.norm(start), 0, max(tol, 4 * np.finfo(float).eps)
    for _ in steps(range(max_iter), "rounds", at_most=True):
        while True:
            rest, known = product(Q[:, k]), Q[:, : k + 1]
            for _ in range(2):  # twice, to remove rounding errors
                # einsum uses one thread; BLAS uses several, whose synchronisation takes longer than the product
                parts = np.einsum("ik,i->k", known, rest)
                rest = rest - np.einsum("ik,k->i", known, parts)
                T[: k + 1, k] += parts
            T[k, : k + 1] = T[: k + 1, k]
            k, (outside, most) = k + 1, engine_loops.agreed(A, np.linalg.norm(rest), T[: k + 1, : k + 1].max())
            if k == _BASIS or outside <= bound * most:
                break
            Q[:, k] = rest / outside
        values, vectors = engine_loops.agreed(A, *np.linalg.eigh(T[:k, :k]))
        change = outside * abs(vectors[-1, -1])
        if change <= bound * values[-1]:
            leading: NDArray[np.float64] = Q[:, :k] @ vectors[:, -1]
            return leading
        Q[:, :_KEPT] = Q[:, :k] @ vectors[:, -_KEPT:]
        Q[:, _KEPT] = rest / outside
        T[:], k = 0.0, _KEPT
        T[range(k), range(k)] = values[-_KEPT:]
    raise ConvergenceFailure(
        f"after max_iter = {max_iter} iterations the hubs' scores are still {change / values[-1]:.3g} from an"
        f" eigenvector, relative to its eigenvalue; at most {bound:.3g} is needed"
    )
