"""Biconnected components, articulation points and bridges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check
from sparsezc.algorithms._pattern import simple
from sparsezc.algorithms.connected_components import connected_components
from sparsezc.algorithms.loops.cuts import blocks, single_cuts
from sparsezc.core import engine_loops
from sparsezc.core.access import facts, forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import binary, monoid, select, semiring
from sparsezc.semirings.types import datatypes


def biconnected_components(A: Matrix) -> Matrix:
    """Label the edges by biconnected component: two edges have the same label if they are on a common cycle.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) or (j, i), whatever its value, is an edge. Loops are ignored.

    Returns
    -------
    Matrix of INT64, shape (n, n)
        For each edge, in both directions, the label of its component: a vertex number, unique to the component.

    Raises
    ------
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    In a breadth-first forest with parents p, preorder numbers x and subtree sizes s, let N be the edges outside the
    forest. With l and h the smallest and the largest x in the subtree of v and at the other ends of its edges of N::

        l = min(x, N x)      over (min, second), then level by level from the children, over (min, first)
        h = max(x, N x)      likewise

    the edge from v to its parent u, and the edge from u to its own parent, are on a common cycle if l(v) < x(u) or
    h(v) >= x(u) + s(u). The connected components of the graph of these pairs (v, u) and of N are the labels. Each level
    of the forest takes a few statements.

    Source: R. Tarjan, U. Vishkin, An efficient parallel biconnectivity algorithm, 1985, doi:10.1137/0214061.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)], nrows=4, ncols=4)
    >>> L = gb.algorithms.biconnected_components(A)
    >>> L.get(0, 1) == L.get(2, 0), L.get(2, 3) == L.get(0, 1)
    (True, False)
    """
    n = _check.adjacency(A)
    S = simple(A)
    if (found := _by_loop(S)) and (labelled := engine_loops.run_loop(blocks, S, found[2])):
        indptr, indices, labels = labelled
        return engine_loops.matrix(indptr, indices, labels, n, symmetric=True)
    forest = _forest(S)
    tree = forest.to_parents
    both = tree.ewise_add(tree.T, binary.pair).new()
    N = S.dup(mask=~both.S)
    # l and h: over edges outside the forest, then over subtrees
    size, x = _preorder(forest)
    low, high = x.dup(), x.dup()
    low(binary.min) << N.mxv(x, semiring.min_second[datatypes.INT64])
    high(binary.max) << N.mxv(x, semiring.max_second[datatypes.INT64])
    for level in reversed(forest.levels[1:]):
        low(binary.min) << low.dup(mask=level.S).vxm(tree, semiring.min_first[datatypes.INT64])
        high(binary.max) << high.dup(mask=level.S).vxm(tree, semiring.max_first[datatypes.INT64])
    v, u, _ = tree.to_coo()
    first, count, least, most = (w.to_dense(0) for w in (x, size, low, high))
    inner = np.zeros(n, bool)
    inner[v] = True  # vertices that are not roots
    on_cycle = inner[u] & ((least[v] < first[u]) | (most[v] >= first[u] + count[u]))
    joined = Matrix.from_coo(v[on_cycle], u[on_cycle], True, datatypes.BOOL, nrows=n, ncols=n)
    pairs = joined.ewise_add(N, binary.pair).new()
    label = connected_components(pairs)
    # an edge of the forest has the label of its child
    D = label.diag()
    L: Matrix = D.mxm(tree, semiring.any_first[datatypes.INT64]).new()
    L << L.ewise_add(L.T, binary.any)
    L << L.ewise_add(D.mxm(N, semiring.any_first[datatypes.INT64]).new(), binary.any)
    return facts.known_symmetric(L)


def articulation_points(A: Matrix) -> Vector:
    """Find the vertices whose removal disconnects their connected component.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix, as :func:`biconnected_components` takes it.

    Returns
    -------
    Vector of BOOL, size n
        True for articulation points; other vertices have no entry.

    Raises
    ------
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With L the labels of :func:`biconnected_components`, an articulation point has edges of two labels::

        min over j of L(i, j) < max over j of L(i, j)

    Source: R. Tarjan, U. Vishkin, An efficient parallel biconnectivity algorithm, 1985, doi:10.1137/0214061.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.algorithms.articulation_points(gb.io.read("path:4")).to_dict()
    {1: True, 2: True}
    """
    if (found := _by_loop(A)) is not None:
        at = np.flatnonzero(found[0])
        return engine_loops.vector(np.ones(at.size, np.bool_), at=at, size=A.nrows)
    L = biconnected_components(A)
    least, most = L.reduce_rowwise(monoid.min).new(), L.reduce_rowwise(monoid.max).new()
    apart: Vector = least.ewise_mult(most, binary.lt).new().select(select.valueeq, True).new()
    return apart


def bridges(A: Matrix) -> Matrix:
    """Find the edges whose removal disconnects their connected component.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix, as :func:`biconnected_components` takes it.

    Returns
    -------
    Matrix of BOOL, shape (n, n)
        True for bridges, in both directions; other edges have no entry.

    Raises
    ------
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    A bridge is the only edge of its label in :func:`biconnected_components`.

    Source: R. Tarjan, U. Vishkin, An efficient parallel biconnectivity algorithm, 1985, doi:10.1137/0214061.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)], nrows=4, ncols=4)
    >>> gb.algorithms.bridges(A).select(gb.select.triu).new().to_coo()[:2]
    (array([2], dtype=uint64), array([3], dtype=uint64))
    """
    n = _check.adjacency(A)
    if (found := _by_loop(A)) is not None:
        below = np.flatnonzero(found[1] >= 0)
        above = found[1][below]
        i, j = np.r_[below, above], np.r_[above, below]
    else:
        L = biconnected_components(A)
        i, j, label = forms.whole(L, "bridges").to_coo()
        alone = np.bincount(label, minlength=n)[label] == 2
        i, j = i[alone], j[alone]
    cut: Matrix = Matrix.from_coo(i, j, True, datatypes.BOOL, nrows=n, ncols=n)
    return facts.known_symmetric(cut)


def _by_loop(A: Matrix) -> tuple[NDArray[np.bool_], NDArray[np.int64], Any] | None:
    """Run :func:`~sparsezc.algorithms.loops.cuts.single_cuts` on `A`; return None if the engine runs no loop."""
    _check.adjacency(A)
    if not engine_loops.runs_loops(A):
        return None
    found: tuple[NDArray[np.bool_], NDArray[np.int64], Any] | None
    found = engine_loops.run_loop(single_cuts, simple(A))
    return found


class _Forest(NamedTuple):
    """A breadth-first forest: a matrix of entries (child, parent), and the vertices of each level."""

    to_parents: Matrix
    levels: list[Vector]


def _forest(S: Matrix) -> _Forest:
    """Build the breadth-first forest whose roots are the smallest vertices of the components."""
    n = S.nrows
    component = connected_components(S).to_dense(0) if n else np.zeros(0, np.int64)
    roots = np.flatnonzero(component == np.arange(n))
    q = Vector.from_coo(roots, roots, datatypes.INT64, size=n)
    parent, levels = q.dup(), []
    while q.nvals:
        levels.append(q.apply(binary.pair[datatypes.BOOL], right=True).new())
        # q<!p> = q'S          over (min, first), where values of q are the vertices' own numbers
        i, _ = q.to_coo()
        q = Vector.from_coo(i, i.astype(np.int64), datatypes.INT64, size=n)
        q << q.vxm(S, semiring.min_first[datatypes.INT64]).new(mask=~parent.S)
        parent(q.S) << q
    child, above = parent.to_coo()
    below = child != above
    tree = Matrix.from_coo(child[below], above[below], True, datatypes.BOOL, nrows=n, ncols=n)
    return _Forest(tree, levels)


def _preorder(forest: _Forest) -> tuple[Vector, Vector]:
    """Return the sizes of subtrees and the preorder numbers, which are consecutive in each subtree."""
    tree, n = forest.to_parents, forest.to_parents.nrows
    size = Vector.from_scalar(1, n, datatypes.INT64)
    for level in reversed(forest.levels[1:]):
        # s = s + tree' s, level by level from the deepest
        size(binary.plus) << size.dup(mask=level.S).vxm(tree, semiring.plus_first[datatypes.INT64])
    count, parent = size.to_dense(0), np.full(n, -1, np.int64)
    i, j, _ = tree.to_coo()
    parent[i] = j
    x = np.zeros(n, np.int64)
    for level in forest.levels:
        v = level.to_coo()[0].astype(np.int64)
        v = v[np.argsort(parent[v], kind="stable")]
        before = np.cumsum(count[v]) - count[v]  # total size of the subtrees before each in the level
        first = np.r_[True, np.diff(parent[v]) != 0]
        siblings = np.maximum.accumulate(np.where(first, np.arange(v.size), 0))
        root = parent[v] < 0
        x[v] = np.where(root, before, x[parent[v]] + 1 + before - before[siblings])
    return size, Vector.from_dense(x)
