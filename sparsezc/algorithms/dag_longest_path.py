"""Longest paths in directed graphs without cycles."""

from __future__ import annotations

import numpy as np

from sparsezc.algorithms.topological_sort import topological_generations
from sparsezc.core.access import forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import DomainMismatch
from sparsezc.semirings import binary, select, semiring
from sparsezc.semirings.types import datatypes


def dag_longest_path(A: Matrix, *, weighted: bool = False) -> Vector:
    """Find a longest path of a graph without cycles.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix of a graph without cycles: an entry (i, j) is an edge from i to j.
    weighted : bool
        The values are the lengths of the edges, which may be negative; by default each edge counts 1.

    Returns
    -------
    Vector of INT64, size n
        Entry k is the k-th vertex of the path; positions beyond the path have no entry.

    Raises
    ------
    InvalidValue
        The graph has a cycle; a loop is one.
    DomainMismatch
        With `weighted`, values are complex or of a user-defined type.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    Generations are visited in their order, so that each longest distance d(v) is computed once, from final ones. With g
    the vertices of a generation::

        d<g> = max(0, d'A)      over (max, plus)

    Source: R. Sedgewick, K. Wayne, Algorithms, 4th edition, 2011, section 4.4.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (0, 2), (2, 3)], nrows=4, ncols=4)
    >>> gb.algorithms.dag_longest_path(A).to_dense().tolist()
    [0, 1, 2, 3]
    """
    d = longest_distances(A, weighted=weighted)
    n, length = A.nrows, d.to_dense(0)
    if n == 0:
        return Vector(datatypes.INT64, 0)
    i, j, w = forms.whole(A, "dag_longest_path").to_coo()
    w = w if weighted else np.ones(i.size, np.int64)
    tight = np.flatnonzero((length[i] + w == length[j]) & (length[j] > 0))
    before = np.full(n, -1, np.int64)
    before[j[tight][::-1]] = i[tight][::-1]
    path = [int(np.argmax(length))]
    while before[path[-1]] >= 0:
        path.append(int(before[path[-1]]))
    return Vector.from_coo(np.arange(len(path)), path[::-1], datatypes.INT64, size=n)


def longest_distances(A: Matrix, *, weighted: bool = False) -> Vector:
    """Return the length of a longest path to each vertex, at least 0; errors are those of :func:`dag_longest_path`."""
    if weighted and (A.dtype.is_complex or A.dtype.is_udt):
        raise DomainMismatch(f"A has values of type {A.dtype}, which are no lengths; real numbers are needed")
    generation = topological_generations(A)
    real = weighted and A.dtype.np_type.kind == "f"
    dtype = datatypes.FP64 if real else datatypes.INT64
    rule = (semiring.max_plus if weighted else semiring.max_first)[dtype]
    d = Vector.from_scalar(0, A.nrows, dtype)
    last = int(generation.to_dense(0).max(initial=0))
    if not weighted:
        return generation
    W = A.dup(dtype)
    for g in range(1, last + 1):
        now = generation.select(select.valueeq, g).new()
        # d<g> = max(0, d'A)
        d(mask=now.S, accum=binary.max) << d.vxm(W, rule)
    return d
