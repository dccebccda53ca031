"""The leading eigenvector of a symmetric matrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

#: Vectors of the search space, and those of them that a restart keeps: as many as ARPACK takes for one eigenvalue.
BASIS, KEPT = 20, 10
#: Bytes of a row: the basis, and the columns that a restart computes before it overwrites the old ones.
ROW_BYTES = 8 * (BASIS + 1 + KEPT)


def leading(
    product: Callable[[NDArray[np.float64]], NDArray[np.float64] | None],
    start: NDArray[np.float64],
    restarts: int,
    tol: float,
) -> tuple[NDArray[np.float64], float] | None:
    """Find the eigenvector, of length 1, of the largest eigenvalue of a symmetric product, beginning with `start`.

    With the orthonormal columns Q of the search space and T = Q' B Q, Q s is the answer for the leading eigenvector s
    of T, and the part of B q outside the space, q the last column, bounds its error: it is returned, too, in parts of
    the eigenvalue. It is at most `tol`, or the precision of FP64, unless the restarts did not suffice. The first
    takes at most 20 products, each other one 10. None: the first product was None.

    Source: K. Wu, H. Simon, Thick-restart Lanczos method for large symmetric eigenvalue problems, SIAM J. Matrix Anal.
    Appl. 22, 2000, doi:10.1137/S0895479898334605.
    """
    Q = np.zeros((BASIS + 1, start.size)).T
    T = np.zeros((BASIS, BASIS))
    Q[:, 0], k, bound = start / np.linalg.norm(start), 0, max(tol, 4 * np.finfo(float).eps)
    error = 0.0
    for _ in range(restarts):
        while True:
            rest, known = product(Q[:, k]), Q[:, : k + 1]
            if rest is None:
                return None
            for _ in range(2):  # twice, to remove rounding errors
                parts = known.T @ rest
                rest -= known @ parts
                T[: k + 1, k] += parts
            T[k, : k + 1] = T[: k + 1, k]
            k, outside = k + 1, float(np.linalg.norm(rest))
            if k == BASIS or outside <= bound * T[:k, :k].max():
                break
            Q[:, k] = rest / outside
        values, vectors = np.linalg.eigh(T[:k, :k])
        change = outside * abs(vectors[-1, -1])
        found: NDArray[np.float64] = Q[:, :k] @ vectors[:, -1]
        error = change / values[-1] if change > bound * values[-1] else 0.0
        if not error:
            break
        Q[:, :KEPT] = Q[:, :k] @ vectors[:, -KEPT:]
        Q[:, KEPT] = rest / outside
        T[:], k = 0.0, KEPT
        T[range(k), range(k)] = values[-KEPT:]
    return found, error
