"""Greedy colouring of vertices."""

from __future__ import annotations

from sparsezc import ops
from sparsezc.algorithms import _check
from sparsezc.algorithms._degree import out_degree
from sparsezc.algorithms._pattern import simple
from sparsezc.algorithms.maximal_independent_set import random_order
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import InvalidValue
from sparsezc.semirings import binary
from sparsezc.semirings.types import datatypes


def greedy_color(A: Matrix, seed: int | None = None, *, strategy: str = "random_sequential") -> Vector:
    """Give each vertex a colour that none of its neighbours has.

    The direction of edges is ignored; loops do not count.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, joins i and j.
    seed : int, optional
        Chooses among the many colourings; the same seed gives the same colouring on every engine. Random by default.
    strategy : {"random_sequential", "largest_first"}
        The order in which vertices choose a colour: random, or by descending number of neighbours, ties by ascending
        vertex. "largest_first" uses no seed.

    Returns
    -------
    Vector of INT64, size n
        The colours 0, 1, ..., an entry for every vertex; at most one more than the largest degree. A vertex of colour
        c has neighbours of all colours below c.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        `strategy` is unknown, or `seed` is not from 0 to 2**64 - 1.

    Notes
    -----
    With q the order, from the highest vertex down, and N(v) the neighbours of v::

        colour(v) = min {c >= 0 : no u in N(v) with q(u) > q(v) has colour c}

    The smallest free number is no monoid, so this is an operation of its own (``ops.color_rows``). On a GPU a vertex
    chooses as soon as all neighbours before it have chosen.

    Source: M. Jones, P. Plassmann, A parallel graph coloring heuristic, 1993, doi:10.1137/0914041; D. Welsh, M. Powell,
    An upper bound for the chromatic number of a graph, 1967, doi:10.1093/comjnl/10.1.85; M. Osama et al., Graph
    coloring on the GPU, IPDPSW 2019, doi:10.1109/IPDPSW.2019.00052.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0)], nrows=3, ncols=3)
    >>> sorted(gb.algorithms.greedy_color(A).to_dense().tolist())
    [0, 1, 2]
    """
    n = _check.adjacency(A)
    if strategy not in ("random_sequential", "largest_first"):
        raise InvalidValue(f"strategy is {strategy!r}; 'random_sequential' or 'largest_first' is needed")
    _check.seed(seed, "greedy_color")
    S = simple(A)
    if strategy == "random_sequential":
        order = random_order(n, seed, "greedy_color")
    else:
        order = Vector.from_scalar(0, n, datatypes.INT64)
        order(binary.plus) << out_degree(S)
    color: Vector = ops.color_rows(S, order).new()
    return color
