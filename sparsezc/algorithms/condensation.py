"""Condensation: the graph of the strongly connected components."""

from __future__ import annotations

import numpy as np

from sparsezc.algorithms.strongly_connected_components import strongly_connected_components
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import select, semiring
from sparsezc.semirings.types import datatypes


def condensation(A: Matrix) -> tuple[Matrix, Vector]:
    """Contract each strongly connected component to a vertex; the resulting graph has no cycle.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, is an edge from i to j.

    Returns
    -------
    C : Matrix of INT64, shape (k, k)
        The number of edges from one component to another; the diagonal has no entries.
    component : Vector of INT64, size n
        The component of each vertex; components are numbered 0, 1, ..., k - 1 in the order of their smallest vertices.

    Raises
    ------
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With P(i, c) = 1 where vertex i is in component c::

        C = P'A P           over (plus, pair) and (plus, first), without the diagonal

    Source: F. Harary, R. Norman, D. Cartwright, Structural models, 1965.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 0), (1, 2)], nrows=3, ncols=3)
    >>> C, component = gb.algorithms.condensation(A)
    >>> C.to_edgelist()[0].tolist(), component.to_dense().tolist()
    ([[0, 1]], [0, 0, 1])
    """
    label = strongly_connected_components(A).to_dense(0)
    names, component = np.unique(label, return_inverse=True)
    n, k = label.size, names.size
    P = Matrix.from_coo(np.arange(n), component, 1, datatypes.INT64, nrows=n, ncols=k)
    C: Matrix = A.mxm(P, semiring.plus_second[datatypes.INT64]).new()
    C = P.T.mxm(C, semiring.plus_second[datatypes.INT64]).new()
    C << C.select(select.offdiag)
    return C, Vector.from_dense(component.astype(np.int64))
