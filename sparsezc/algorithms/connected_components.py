"""Connected components."""

from __future__ import annotations

from sparsezc.algorithms import _check
from sparsezc.algorithms._degree import out_degree
from sparsezc.algorithms.loops.connectivity import components
from sparsezc.core import engine_loops
from sparsezc.core.access import facts, forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import binary, indexunary, monoid, select, semiring
from sparsezc.semirings.types import datatypes

#: Most levels of breadth-first search before hooking takes over: more than any social or web graph has.
SWEEPS = 32
#: A search whose frontier has more than one in MANY vertices continues among the sampled edges.
MANY = 256
#: The sampled search ends with a round that finds less than one vertex for each ENOUGH that were found before.
ENOUGH = 2
#: Most rounds in which labels move from neighbour to neighbour before trees are hooked.
SPREADS = 6


def connected_components(A: Matrix) -> Vector:
    """Label every vertex with the smallest vertex of its connected component.

    In a directed graph these are the weakly connected components: the direction of edges is ignored.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, joins i and j.

    Returns
    -------
    Vector of INT64, size n
        The labels, an entry for every vertex: the smallest vertex number in its component.

    Raises
    ------
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    An engine may run the whole algorithm itself (the GPU engine: a search, then trees for the vertices not reached). In
    statements, a few levels of breadth-first search from a vertex of largest degree find the giant component if there
    is one. If the engine has a sample of the edges, H, in faster memory, the search runs on H first, and only vertices
    not reached through H read all of their edges (the sampling of Sutton, Ben-Nun and Barak, by a search instead of
    linking). The remaining components mostly have a few vertices, which take the smallest label of their neighbours in
    one or two rounds. Finally, trees of parents, f, are hooked into each other until nothing changes. With q the
    parents that fell in the round before::

        t = q'A  min  A q    over (min, first), (min, second): the smallest parent across an edge
        f(f) = min(f(f), t)  hook the parent's tree
        f = min(f, t)        hook the vertex itself
        f = f(f)             shorten the paths

    Source: G. Slota, S. Rajamanickam, K. Madduri, BFS and coloring-based parallel algorithms for strongly connected
    components and related problems, IPDPS 2014, doi:10.1109/IPDPS.2014.64 (Multistep);
    M. Sutton, T. Ben-Nun, A. Barak, Optimizing parallel graph connectivity computation via subgraph sampling, IPDPS
    2018, doi:10.1109/IPDPS.2018.00012 (Afforest);
    Y. Zhang, A. Azad, A. Buluc, Parallel algorithms for finding connected components using linear algebra, JPDC 144,
    2020, doi:10.1016/j.jpdc.2020.04.009 (FastSV); J. Jaiganesh, M. Burtscher, A high-performance connected components
    implementation for GPUs, HPDC 2018, doi:10.1145/3208040.3208041 (the GPU engine's trees).

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(3, 1), (1, 4), (2, 0)], nrows=5, ncols=5)
    >>> gb.algorithms.connected_components(A).to_dense().tolist()
    [0, 1, 0, 1, 1]
    """
    n = _check.adjacency(A)
    if (label := engine_loops.run_loop(components, A)) is not None:
        return engine_loops.vector(label)
    if (labels := engine_loops.components(A)) is not None:
        return labels
    parent = Vector.from_scalar(0, n, datatypes.INT32 if n < 2**31 else datatypes.INT64)
    if A.nvals == 0:
        alone: Vector = parent.apply(indexunary.rowindex).new(datatypes.INT64)
        return alone
    directed = not facts.is_symmetric(A)
    inside, border = _sweep(A, directed)
    # f = 0, 1, ..., n-1, but one label for all vertices found; the neighbours of inside vertices have it already
    found = inside.ewise_add(border, monoid.lor).new() if border.nvals else inside
    parent(~found.S) << parent.apply(indexunary.rowindex)
    parent(found.S) << found.apply(indexunary.rowindex).new().reduce(monoid.min).new().value
    changed = parent.dup(mask=~inside.S)
    if border.nvals == 0:
        _spread(A, parent, changed, directed)
    _hook(A, parent, changed, directed)
    return parent.dup(datatypes.INT64)


def _smallest(A: Matrix, q: Vector, directed: bool) -> Vector:
    """Return each vertex's smallest value of q across an edge: t = q'A  min  A q."""
    t: Vector = q.vxm(A, semiring.min_first).new()
    if directed:
        t(binary.min) << A.mxv(q, semiring.min_second)
    return t


def _spread(A: Matrix, parent: Vector, changed: Vector, directed: bool) -> None:
    """Run at most `SPREADS` rounds in which labels move to neighbours; `changed` holds those that fell in the last."""
    for _ in range(SPREADS):
        # q = t where t < f
        t = _smallest(A, changed, directed)
        fell = t.ewise_mult(parent, binary.lt).new()
        changed(fell.V, replace=True) << t
        if not changed.nvals:
            return
        # f<q> = q
        parent(changed.S) << changed


def _hook(A: Matrix, parent: Vector, changed: Vector, directed: bool) -> None:
    """Join trees by hooking and shortening until nothing changes; products with P, entries (i, f(i)), follow f."""
    while changed.nvals:
        before = parent.dup()
        t = _smallest(A, changed, directed)
        # f(f) = min(f(f), t)
        parent(binary.min) << t.vxm(forms.pointers(parent), semiring.min_first)
        # f = min(f, t)
        parent(binary.min) << t
        # f = f(f)
        parent << forms.pointers(parent).mxv(parent, semiring.min_second)
        # q = f at the entries that fell
        fell = parent.ewise_mult(before, binary.lt).new()
        changed(fell.V, replace=True) << parent


def _sweep(A: Matrix, directed: bool) -> tuple[Vector, Vector]:
    """Search from a vertex of largest degree; return the vertices expanded, and the last frontier, not yet expanded."""
    n, near = A.nrows, forms.sampled(A)
    degree = out_degree(A)
    largest = degree.reduce(monoid.max).new().value
    start = int(degree.select(select.valueeq, largest).new().to_coo()[0][0])
    inside, border = forms.vector_beside(A, datatypes.BOOL), forms.vector_beside(A, datatypes.BOOL)
    border[start] = True
    for _ in range(SWEEPS):
        # p<q> = true
        inside(border.S) << True
        if near is not None and border.nvals > n // MANY:
            _spread_on_sample(near, inside, border)
            near, border = None, inside
        # q<!p> = q'A  or  A q
        met = border.vxm(A, semiring.any_pair[datatypes.BOOL]).new(mask=~inside.S)
        if directed:
            met(~inside.S, binary.lor) << A.mxv(border, semiring.any_pair[datatypes.BOOL])
        border = met
        if border.nvals == 0:
            break
    return inside, border


def _spread_on_sample(near: Matrix, inside: Vector, border: Vector) -> None:
    """Continue the search from `border` on the sampled edges as long as rounds find many vertices.

    The sample may lack some edges of any vertex, so all of `inside` must be expanded once more, along all edges.
    """
    before, found = 0, inside.nvals
    while ENOUGH * found >= before:
        # q<!p> = H q
        border = near.mxv(border, semiring.any_pair[datatypes.BOOL]).new(mask=~inside.S)
        # p<q> = true
        inside(border.S) << True
        before, found = before + found, border.nvals
