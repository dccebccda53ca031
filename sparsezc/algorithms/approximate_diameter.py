"""A lower bound of the diameter, from a few searches."""

from __future__ import annotations

from typing import Any

from sparsezc.algorithms import _check
from sparsezc.algorithms._degree import out_degree
from sparsezc.algorithms._pattern import transposed
from sparsezc.algorithms.bfs import bfs
from sparsezc.algorithms.loops.eccentricities import farthest
from sparsezc.core import engine_loops
from sparsezc.core.access import facts
from sparsezc.core.matrix import Matrix
from sparsezc.exceptions import InvalidValue
from sparsezc.semirings import monoid, select
from sparsezc.terminal.progress import steps


def approximate_diameter(A: Matrix, source: Any = None, sweeps: Any = 4) -> int:
    """Estimate the diameter from below: by a distance that is often the greatest between two vertices.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix of a graph of at least one vertex: an entry (i, j), whatever its value, is an edge from i to
        j. Distances are hops; pairs of vertices without a path do not count.
    source : int, optional
        Where the first search starts; by default a vertex with the most out-edges.
    sweeps : int
        Number of searches, at least 1; two are the double sweep, which NetworkX's ``approximation.diameter`` does.

    Returns
    -------
    int
        The greatest distance found.

    Raises
    ------
    InvalidValue
        `sweeps` is less than 1, or there is no vertex.
    IndexOutOfBound
        `source` is not a vertex of the graph.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    Each search starts at the end of the one before it, alternately along the edges and against them::

        t = argmax_v d(s, v);  s = argmax_v d(v, t)

    Source: C. Magnien, M. Latapy, M. Habib, Fast computation of empirically tight bounds for the diameter of massive
    graphs, JEA 13, 2009, doi:10.1145/1412228.1455266; P. Crescenzi et al., On computing the diameter of real-world
    directed (weighted) graphs, SEA 2012, doi:10.1007/978-3-642-30850-5_10.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 1)], nrows=3, ncols=3)
    >>> gb.algorithms.approximate_diameter(A, source=1)
    2
    """
    n = _check.adjacency(A)
    if n == 0:
        raise InvalidValue("A is 0 x 0; a graph without vertices has no diameter")
    sweeps = _check.count(sweeps, "sweeps", 1)
    if source is not None:
        source = _check.vertex(source, n)
    if facts.is_symmetric(A):
        start = -1 if source is None else source
        if (found := engine_loops.run_loop(farthest, A, start, sweeps)) is not None:
            return int(found)
    if source is None:
        degree = out_degree(A)
        most = degree.reduce(monoid.max).new().get(0)
        source = degree.select(select.valueeq, most).new().to_coo()[0][0] if most else 0
    v = int(source)
    B = transposed(A) if sweeps > 1 else A
    longest, begun = 0, set()
    for sweep in steps(range(sweeps), "sweeps", at_most=True):
        if (v, sweep % 2) in begun:  # further sweeps would repeat earlier ones
            break
        begun.add((v, sweep % 2))
        distance = bfs(B if sweep % 2 else A, v)
        e = int(distance.reduce(monoid.max).new().get())
        longest = max(longest, e)
        v = int(distance.select(select.valueeq, e).new().to_coo()[0][0])
    return longest
