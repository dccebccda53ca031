"""Degree assortativity: the correlation of the degrees at both ends of the edges."""

from __future__ import annotations

import math

from sparsezc.algorithms import _check
from sparsezc.algorithms._degree import in_degree, out_degree
from sparsezc.algorithms._pattern import has_loops
from sparsezc.algorithms.loops.connectivity import degree_sums
from sparsezc.core import engine_loops
from sparsezc.core.access import facts
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import InvalidValue
from sparsezc.semirings import binary, monoid, select, semiring
from sparsezc.semirings.types import datatypes


def degree_assortativity(A: Matrix, x: str = "out", y: str = "in") -> float:
    """Compute the correlation of the degrees at both ends of the edges.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, is an edge from i to j. An undirected graph must have
        each edge in both directions; if `A` is symmetric, a loop counts twice in its vertex's degree.
    x, y : str
        The kind of degree at the edges' starts and ends: ``out`` or ``in``. For undirected graphs they are equal.

    Returns
    -------
    float
        The correlation, in -1..1; NaN if the degrees at one side are the same for all edges.

    Raises
    ------
    InvalidValue
        `x` or `y` is neither ``out`` nor ``in``.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With m edges, and a and b the degrees by vertex, the sums over edges (i, j) are products with the matrix::

        s_a = out'a    s_b = in'b    s_ab = a'A b    over (plus, times) and (plus, second)
        (m s_ab - s_a s_b) / sqrt((m s_aa - s_a^2) (m s_bb - s_b^2))

    The sums are whole numbers, so that equal degrees at one side give a variance of exactly 0.

    Source: M. Newman, Mixing patterns in networks, 2003, doi:10.1103/PhysRevE.67.026126.

    Examples
    --------
    >>> import sparsezc as gb
    >>> round(gb.algorithms.degree_assortativity(gb.io.read("star:4")), 4)
    -1.0
    """
    _check.adjacency(A)
    for name, kind in (("x", x), ("y", y)):
        if kind not in ("out", "in"):
            raise InvalidValue(f"{name} is {kind!r}; 'out' or 'in' is needed")
    twice = (lambda: has_loops(A)) if facts.is_symmetric(A) else False
    found = engine_loops.run_loop(degree_sums, A, x == "out", y == "out", facts.is_symmetric(A), twice)
    m, s_a, s_aa, s_b, s_bb, s_ab = _sums(A, x, y) if found is None else found
    spread = (m * s_aa - s_a**2) * (m * s_bb - s_b**2)
    return (m * s_ab - s_a * s_b) / math.sqrt(spread) if spread > 0 else math.nan


def _sums(A: Matrix, x: str, y: str) -> tuple[int, int, int, int, int, int]:
    """Return the number of edges (i, j), and sums over them of a(i), its square, b(j), its square, and a(i) b(j)."""
    out, back = (_whole(degree, A.nrows) for degree in (out_degree(A), in_degree(A)))
    a, b = (_with_loops(A, {"out": out, "in": back}[kind]) for kind in (x, y))
    near = A.mxv(b, semiring.plus_second[datatypes.INT64]).new()
    aa, bb = (v.ewise_mult(v, binary.times).new() for v in (a, b))
    return int(A.nvals), _dot(out, a), _dot(out, aa), _dot(back, b), _dot(back, bb), _dot(a, near)


def _whole(degree: Vector, n: int) -> Vector:
    made = Vector.from_scalar(0, n, datatypes.INT64)
    made(binary.plus) << degree
    return made


def _with_loops(A: Matrix, degree: Vector) -> Vector:
    """Add 1 to the degrees of vertices with a loop, if the graph is undirected."""
    if not facts.is_symmetric(A):
        return degree
    made = degree.dup()
    made(binary.plus) << A.select(select.diag).new().diag().apply(binary.pair[datatypes.INT64], right=1)
    return made


def _dot(u: Vector, v: Vector) -> int:
    return int(u.ewise_mult(v, binary.times[datatypes.INT64]).new().reduce(monoid.plus).new().get(0))
