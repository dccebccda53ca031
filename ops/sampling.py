"""Random walks along the rows of a matrix, and samples of neighbours hop by hop."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from sparsezc.expr import engines
from sparsezc.expr.expression import Expression, says, stored
from sparsezc.ops import arrays
from sparsezc.ops.select import random_seed
from sparsezc.process.locks import hold_locks
from sparsezc.semirings import monoid, semiring, unary
from sparsezc.semirings.types.datatypes import FP64, INT64

if TYPE_CHECKING:
    from sparsezc.expr.sampling import Subgraph

__all__ = ["fanouts_of", "sample_hops", "walk"]

_MOST_BIAS = 2.0**20  # p, q and their inverses are at most this, so that 64-bit integers hold the shares of all edges
_MOST_DRAWS = 2**31  # draws of a row: two share a block, whose number has 32 bits


def walk(
    A: Any, starts: Any, length: int, weights: Any = None, *, p: float = 1.0, q: float = 1.0, seed: int | None = None
) -> Expression:
    """Follow `length` random edges from each start.

    Parameters
    ----------
    A : Matrix, n x n
    starts : array of int
    length : int, at least 0
    weights : None, "values" or a Vector of size n
        The probability of a row's edges: equal; in proportion to their values; in proportion to the vector's entry at
        their column, 0 where it has none. Weights are checked by the caller: finite, at least 0.
    p, q : float
        node2vec: an edge back to the vertex before counts 1/p of its weight, one to a vertex to which that vertex has
        no edge 1/q.
    seed : int, optional
        The same seed gives the same walks on every engine, in every placement. By default a random one.

    Returns
    -------
    Expression
        Makes a Matrix of INT64, a row a walk, of `length` + 1 columns: the vertices in their order. A row ends early
        at a vertex without an edge of positive weight.

    Raises
    ------
    DimensionMismatch
        A is not square, or `weights` is of another size.
    InvalidValue, IndexOutOfBound
        A start is no vertex; `p`, `q` or `seed` is out of bounds.
    TypeError
        `p` or `q` is no number.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 3)], nrows=4, ncols=4)
    >>> ops.walk(A, [1, 0], 2).new().to_dense(fill_value=-1)
    array([[1, 2, 3],
           [0, 1, 2]])
    """
    A = stored(A, "walk: the matrix", 2)
    if A.nrows != A.ncols:
        raise DimensionMismatch(f"walk: {says(A)} is not square")
    at = np.ascontiguousarray(arrays.checked_ids(starts, "walk: starts", A.nrows), np.int64)
    steps = arrays.size(length, "walk: length")
    top = by = None
    if isinstance(weights, str):
        if weights != "values":
            raise InvalidValue(f"walk: weights is {weights!r}; None, 'values' or a Vector is needed")
        if A.dtype.is_complex or A.dtype.is_udt:
            raise DomainMismatch(f"walk: values of type {A.dtype} are no weights")
        kind, top = "values", _largest(A)
    elif weights is not None:
        by = stored(weights, "walk: weights", 1).dup(FP64)
        if by.size != A.ncols:
            raise DimensionMismatch(f"walk: weights, {says(by)}, must have an entry for each of {A.ncols} columns")
        kind, top = "columns", A.mxv(by, semiring.max_second).new()
    else:
        kind = ""
    from sparsezc.expr.sampling import Trail

    trail = Trail(at, steps, A.nrows, kind, _shares(p, q), random_seed(seed, "walk"))
    operands = tuple(x for x in (A, trail, top, by) if x is not None)
    return Expression("walk", operands, None, INT64, (at.size, steps + 1))


def _largest(A: Any) -> Any:
    """Return the largest value of each row, as FP64."""
    most = monoid.lor if A.dtype.is_bool else monoid.max
    return A.reduce_rowwise(most).new().apply(unary.identity).new(FP64)


def _shares(p: Any, q: Any) -> tuple[int, int, int] | None:
    """Return the shares of its weight that an edge counts with, as whole numbers; None where all count alike.

    Raises
    ------
    TypeError
        p or q is no number.
    InvalidValue
        p or q is not from 2**-20 to 2**20.
    """
    for name, given in (("p", p), ("q", q)):
        if not isinstance(given, int | float | np.integer | np.floating):
            raise TypeError(f"walk: {name} is {given!r} of type {type(given).__name__}; a number is needed")
        if not 1 / _MOST_BIAS <= given <= _MOST_BIAS:
            raise InvalidValue(f"walk: {name} is {given}; from 2**-20 to 2**20 is possible")
    if p == q == 1:
        return None
    from fractions import Fraction  # imports decimal, which few programs need

    counts = Fraction(1) / Fraction(float(p)), Fraction(1), Fraction(1) / Fraction(float(q))
    back, near, far = (min(2**64 - 1, int(count / max(counts) * 2**64)) for count in counts)
    return back, near, far


def sample_hops(
    A: Any,
    seeds: Any,
    fanouts: Iterable[int],
    *,
    replace: bool = False,
    weighted: bool = False,
    values: bool = False,
    seed: int | None = None,
) -> Subgraph:
    """Sample neighbours of vertices, of these neighbours, and so on, and number the vertices that are met.

    Parameters
    ----------
    A : Matrix or TransposedMatrix, n x n
        Row i has the neighbours of vertex i. Of a matrix whose entry (i, j) is an edge from i to j, ``A.T`` samples
        in-edges, which PyTorch Geometric does; that is formed at each call unless the matrix has it
        (``A.to(with_transpose=True)``, symmetric matrices).
    seeds : array of int
        The vertices to start from. One that is listed twice is sampled for twice.
    fanouts : iterable of int
        The number of neighbours of each vertex, one a hop; -1: all. Hop h samples for the vertices that hop h - 1 met
        first.
    replace : bool
        Draw each neighbour from all; one that is drawn again is listed again.
    weighted : bool
        Neighbours are drawn in proportion to the values, which must be >= 0; else all with equal probability.
    values : bool
        Return the values of the edges, too.
    seed : int, optional
        Of draws, from 0 to 2**64 - 1. The same seed gives the same answer on every engine, in every placement. By
        default a random one.

    Returns
    -------
    Subgraph
        `node`, `row`, `col`, `edge` (int64) and `values`, on A's engine, and the numbers of nodes and edges of each
        hop. Edge e leads from vertex ``node[row[e]]`` to ``node[col[e]]``, is entry ``edge[e]`` of A (by row, then
        column), and `node` begins with the seeds.

    Raises
    ------
    DimensionMismatch
        A is not square.
    InvalidValue
        `seeds` or `fanouts` are no integers, a fanout is below -1, or `seed` is out of bounds. When it runs: a weight
        is negative, NaN or infinite.
    IndexOutOfBound
        A seed is no vertex.
    DomainMismatch
        Weights are complex or of a user-defined type.
    OutOfMemory
        Local numbers, or the edges of a hop, do not fit.

    Notes
    -----
    Hop h draws as ``selectk(A, "random", fanouts[h], vertices, seed=seed + h)`` does, which is :class:`Hops`' rule. On
    the GPU vertices are numbered in a hash table, and the host waits only at the end (once a hop with `weighted`, -1 or
    more than 256 neighbours). Of a row k ids are read, and all weights with `weighted`. Source: W. Hamilton, R. Ying,
    J. Leskovec, Inductive representation learning on large graphs, NIPS 2017, arXiv:1706.02216.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> A = gb.Matrix.from_edgelist([(0, 3), (3, 1), (1, 2), (1, 0)], nrows=4, ncols=4)
    >>> found = ops.sample_hops(A, [0], [-1, -1, -1])
    >>> found.node.tolist(), found.row.tolist(), found.col.tolist(), found.edge.tolist()
    ([0, 3, 1, 2], [1, 2, 0, 3], [0, 1, 2, 2], [0, 3, 1, 2])
    >>> found.num_sampled_nodes, found.num_sampled_edges
    ([1, 1, 1, 1], [1, 1, 2])
    """
    A = stored(A, "sample_hops: the matrix", 2)
    if A.nrows != A.ncols:
        raise DimensionMismatch(f"sample_hops: {says(A)} is not square")
    if weighted and (A.dtype.is_complex or A.dtype.is_udt):
        raise DomainMismatch(f"sample_hops: weighted needs weights; {A.name} is of type {A.dtype}")
    at = arrays.ids(seeds, "sample_hops: seeds", A.nrows).astype(np.int64)
    from sparsezc.expr.sampling import Hops

    hops = Hops(fanouts_of(fanouts), bool(replace), bool(weighted), bool(values), random_seed(seed, "sample_hops"))
    if A._engine is None:
        A._settle(engines.get("cpu"))
    with hold_locks(A):
        engines.capability(A._engine, "load")(A)
        engine = A._engine
        found: Subgraph | None = engines.capability(engine, "sample_hops")(A._store, A._transposed, at, hops)
    if found is None:
        raise InvalidValue(f"sample_hops: engine {engine.name!r} cannot sample hops; A.to('cpu') can")
    return found


def fanouts_of(fanouts: Any, where: str = "sample_hops") -> tuple[int, ...]:
    """Check the numbers of neighbours of each hop.

    Raises
    ------
    InvalidValue
        They are no integers, or one is below -1 or above 2**31.
    """
    try:
        checked = tuple(map(operator.index, fanouts))
    except TypeError:
        raise InvalidValue(f"{where}: fanouts is {fanouts!r}; an integer for each hop is needed") from None
    for k in checked:
        if not -1 <= k <= _MOST_DRAWS:
            raise InvalidValue(f"{where}: fanouts has {k}; from 0 to {_MOST_DRAWS}, or -1 for all, is possible")
    return checked
