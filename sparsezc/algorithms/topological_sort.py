"""Directed acyclic graphs: a test for cycles, and orders that follow the edges."""

from __future__ import annotations

import numpy as np

from sparsezc.algorithms import _check
from sparsezc.algorithms._degree import in_degree
from sparsezc.algorithms._searches import vector
from sparsezc.algorithms.loops.orders import acyclic, generations
from sparsezc.core import engine_loops
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import InvalidValue
from sparsezc.semirings import binary, select, semiring
from sparsezc.semirings.types import datatypes


def topological_generations(A: Matrix) -> Vector:
    """Compute each vertex's generation: the number of edges of a longest path that ends there.

    Every edge leads from a generation to a later one, and each vertex of generation g > 0 has an edge from a vertex of
    generation g - 1.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix of a graph without cycles: an entry (i, j), whatever its value, is an edge from i to j.

    Returns
    -------
    Vector of INT64, size n
        The generations, an entry for every vertex; 0 for vertices without in-edges.

    Raises
    ------
    InvalidValue
        The graph has a cycle; a loop is one.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With d the number of edges from vertices without a generation, and q the vertices whose d fell to 0::

        generation<q> = g
        t = q'A              over (plus, pair)
        d = d - t
        q = t where d == 0

    Source: A. Kahn, Topological sorting of large networks, CACM 5, 1962, doi:10.1145/368996.369025.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(2, 0), (0, 1), (2, 1)], nrows=4, ncols=4)
    >>> gb.algorithms.topological_generations(A).to_dense().tolist()
    [1, 2, 0, 0]
    """
    generation = _generations(A)
    _no_cycle(generation)
    return generation


def topological_sort(A: Matrix) -> Vector:
    """Order the vertices so that every edge leads forward.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix of a graph without cycles, as :func:`topological_generations` takes it.

    Returns
    -------
    Vector of INT64, size n
        Entry k is the k-th vertex: vertices are in the order of generations, and of numbers within each.

    Raises
    ------
    InvalidValue
        The graph has a cycle; a loop is one.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With g the generations, u is before v if::

        (g(u), u) < (g(v), v)

    Source: A. Kahn, Topological sorting of large networks, CACM 5, 1962, doi:10.1145/368996.369025.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(2, 0), (0, 1), (2, 1)], nrows=4, ncols=4)
    >>> gb.algorithms.topological_sort(A).to_dense().tolist()
    [2, 3, 0, 1]
    """
    n = _check.adjacency(A)
    if (found := engine_loops.run_loop(generations, A)) is not None:
        if found[3] < n:
            _no_cycle(vector(*found))
        return engine_loops.vector(found[2])
    generation = topological_generations(A).to_coo()[1]
    return Vector.from_dense(np.argsort(generation, kind="stable").astype(np.int64))


def is_directed_acyclic_graph(A: Matrix) -> bool:
    """Return whether a directed graph has no cycle.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, is an edge from i to j. A loop is a cycle.

    Returns
    -------
    bool

    Raises
    ------
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    The graph has no cycle if every vertex has a generation, as found by :func:`topological_generations`.

    Source: A. Kahn, Topological sorting of large networks, CACM 5, 1962, doi:10.1145/368996.369025.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.algorithms.is_directed_acyclic_graph(gb.Matrix.from_edgelist([(0, 1), (1, 0)]))
    False
    """
    n = _check.adjacency(A)
    if (found := engine_loops.run_loop(acyclic, A)) is not None:
        return bool(found)
    return bool(_generations(A).nvals == n)


def _no_cycle(generation: Vector) -> None:
    """Raise InvalidValue if the graph has a cycle, as then a vertex has no generation."""
    if generation.nvals < generation.size:
        rest = Vector.from_scalar(True, generation.size, datatypes.BOOL).dup(mask=~generation.S)
        raise InvalidValue(
            f"A has a cycle: {rest.nvals} vertices, the first {rest.to_coo()[0][0]}, are on a cycle or reached from one"
        )


def _generations(A: Matrix) -> Vector:
    """Return the generations of the vertices that are neither on a cycle nor reached from one."""
    n = _check.adjacency(A)
    if (found := engine_loops.run_loop(generations, A)) is not None:
        return vector(*found)
    generation = Vector(datatypes.INT64, n)
    # d = A' 1
    left = Vector.from_scalar(0, n, datatypes.INT64)
    left(binary.plus) << in_degree(A)
    q = left.select(select.valueeq, 0).new()
    t = Vector(datatypes.INT64, n)
    g = 0
    while q.nvals:
        # generation<q> = g
        generation(q.S) << g
        # t = q'A;  d -= t
        t << q.vxm(A, semiring.plus_pair[datatypes.INT64])
        left(binary.minus) << t
        # q = t where d == 0
        t << t.ewise_mult(left, binary.second)
        q << t.select(select.valueeq, 0)
        g += 1
    return generation
