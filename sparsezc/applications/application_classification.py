"""Application classification: where in a graph a small pattern lies, by features of vertices and edges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check as graphs
from sparsezc.applications import _check
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.errors import DimensionMismatch, InvalidValue
from sparsezc.semirings import binary, monoid, semiring, unary
from sparsezc.semirings.types import datatypes

_FARTHEST = 1e150  # that features may lie apart: sums of the messages of all rounds then fit FP64


class _Edge(NamedTuple):
    """An edge of the pattern: its ends, the distances of G's edges from it, and what no edge at all costs."""

    source: int
    target: int
    C: Matrix
    null: float


def application_classification(
    G: Matrix,
    P: Matrix,
    features: Any,
    pattern_features: Any,
    edge_features: Any = None,
    pattern_edge_features: Any = None,
    rule: str = "corrected",
    rounds: Any = None,
) -> Matrix:
    """Match the vertices of a small pattern to those of a graph, by belief propagation.

    Parameters
    ----------
    G, P : Matrix, shapes (n, n) and (m, m), any real dtype
        Adjacency matrices of the graph and of the pattern, which has an edge at least: an entry (i, j) is an edge from
        i to j.
    features, pattern_features : Matrix or array, shapes (n, F) and (m, F)
        A row for each vertex.
    edge_features, pattern_edge_features : array, shapes (G.nvals, K) and (P.nvals, K), optional
        A row for each entry, in the order of rows and columns. By default the values, as one feature.
    rule : {"corrected", "published"}
        How messages are formed; see below.
    rounds : int, optional
        Rounds of messages, at least 1; by default m.

    Returns
    -------
    Matrix of FP64, shape (n, m)
        Column j has the logarithms of the probabilities that vertex j of the pattern is each vertex of the graph.

    Raises
    ------
    InvalidValue
        The pattern or the graph is empty, features have NaN or infinite values or lie more than 1e150 apart, `rule` is
        none of the two, or `rounds` is less than 1.
    DomainMismatch
        Values or features are complex, or features are no numbers.
    DimensionMismatch
        `G` or `P` is not square, or features have not a row for each vertex or edge, or not the same columns.

    Notes
    -----
    With D(v, j) the distance of the features of vertices v and j, C_e(u, v) that of the edge (u, v) from the pattern's
    edge e = (a, b), N_e what it costs that there is no edge, and lse the logarithm of the sum of exponentials::

        mu = -D - lse(-D)                       columns that sum to 1
        f_e = mu(b) - F_e                       what b believes but for e
        r_e = mu(a) - R_e
        F_e = max(r_e' C_e, max(r_e) - N_e)     over (max, minus): along edges of G
        R_e = max(C_e f_e, max(f_e) - N_e)      over (max, rminus): against them
        mu(j) = -D(j) + sum of F_e of e into j + sum of R_e of e out of j, less lse of it

    N_e is the largest of the C_e and of the length of the features of e, and F and R are 0 at first. ``"published"``
    does what the published programs do: D and C_e are turned into logarithms of probabilities, as if large distances
    were likely, before they are subtracted; R_e takes f_e at the edge's source where its target is meant; messages
    along edges are normalised over all edges, and N_e, which is not, is 0.

    Source: Gunrock, HIVE workflow report "Application Classification" (whose notes on the published program name the
    first two), 2018, https://gunrock.github.io/docs/; G. Levchuk, J. Roberts, J. Freeman, Learning and detecting
    patterns in multi-attributed network data, AAAI Fall Symposium 2012, "Network pattern matching".

    Examples
    --------
    >>> import sparsezc as gb
    >>> G = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 3)], [1.0, 5.0, 1.0], nrows=4, ncols=4)
    >>> P = gb.Matrix.from_edgelist([(0, 1)], [5.0], nrows=2, ncols=2)
    >>> match = gb.applications.application_classification(G, P, [[0.0]] * 4, [[0.0]] * 2)
    >>> match.to_dense().argmax(axis=0).tolist()
    [1, 2]
    """
    n, m = graphs.adjacency(G, "G"), graphs.adjacency(P, "P")
    _check.real(G, "G")
    _check.real(P, "P")
    _check.one_of(rule, "rule", ("corrected", "published"))
    if m == 0 or P.nvals == 0:
        raise InvalidValue(f"P has {m} vertices and {P.nvals} edges; a pattern with an edge at least is needed")
    if G.nvals == 0:
        raise InvalidValue(f"G has {n} vertices and no edges; a graph with an edge at least is needed")
    passes = m if rounds is None else graphs.count(rounds, "rounds", 1)
    D = _vertex_distances(features, pattern_features, n, m)
    edges = _edges(G, P, edge_features, pattern_edge_features, rule)
    start = [_normal(d.apply(unary.ainv).new()) for d in D]
    if rule == "published":
        D = [_normal(d) for d in D]
    mu = _propagated(start, D, edges, passes, rule)
    made: Matrix = Matrix.from_dense(np.stack([each.to_dense() for each in mu], axis=1))
    return made


def _propagated(mu: list[Vector], D: list[Vector], edges: list[_Edge], rounds: int, rule: str) -> list[Vector]:
    """Pass messages for some rounds; return the beliefs."""
    step = _published if rule == "published" else _corrected
    if rule == "published":
        F, R = map(list, zip(*(_first_messages(mu, edge) for edge in edges), strict=True))
    else:
        F, R = ([Vector.from_scalar(0.0, D[0].size, datatypes.FP64) for _ in edges] for _ in range(2))
    for _ in range(rounds):
        for k, edge in enumerate(edges):
            # f = mu(b) - F, r = mu(a) - R
            f = mu[edge.target].ewise_mult(F[k], binary.minus).new()
            r = mu[edge.source].ewise_mult(R[k], binary.minus).new()
            F[k], R[k] = step(edge, f, r)
        # mu(j) = -D(j) + the messages that come to j
        mu = [d.apply(unary.ainv).new() for d in D]
        for k, edge in enumerate(edges):
            mu[edge.target](binary.plus) << F[k]
            mu[edge.source](binary.plus) << R[k]
        mu = [_normal(each) for each in mu]
    return mu


def _corrected(edge: _Edge, f: Vector, r: Vector) -> tuple[Vector, Vector]:
    """Return the messages along and against the edges of G."""
    # F = max(r'C, max(r) - N)
    F = _full(_most(r) - edge.null, r.size)
    F(binary.max) << r.vxm(edge.C, semiring.max_minus[datatypes.FP64])
    # R = max(C f, max(f) - N)
    R = _full(_most(f) - edge.null, f.size)
    R(binary.max) << edge.C.mxv(f, semiring.max_rminus[datatypes.FP64])
    return F, R


def _published(edge: _Edge, f: Vector, r: Vector) -> tuple[Vector, Vector]:
    """Return the messages by the published rule: both begin at the source of an edge."""
    # log of the sum over the edges of u of exp(-C(u, v)), each row from its own largest term: others would be 0
    least = edge.C.reduce_rowwise(monoid.min).new()
    terms = least.ewise_mult(edge.C, binary.minus).new().apply(unary.exp).new()
    likely = terms.reduce_rowwise(monoid.plus).new().apply(unary.log).new().ewise_mult(least, binary.minus).new()
    along = r.vxm(edge.C, semiring.max_minus[datatypes.FP64]).new()
    F = _full(_most(r), r.size)
    F(binary.max) << along.apply(binary.minus, right=_log_sum(r.ewise_mult(likely, binary.plus).new()))
    against = f.ewise_mult(least, binary.minus).new()
    R = _full(_most(f), f.size)
    R(binary.max) << against.apply(binary.minus, right=_log_sum(f.ewise_mult(likely, binary.plus).new()))
    return F, R


def _first_messages(mu: list[Vector], edge: _Edge) -> tuple[Vector, Vector]:
    """Return the messages that the published rule begins with: the most likely edge at each vertex."""
    # its C is log softmax(c): log softmax(-c) = -C - lse(-C)
    X = edge.C.apply(unary.ainv).new()
    top = X.reduce_scalar(monoid.max).new().get()
    total = X.apply(binary.minus, right=top).new().apply(unary.exp).new().reduce_scalar(monoid.plus).new().get()
    X << X.apply(binary.minus, right=top + float(np.log(total)))
    F, R = _full(_most(mu[edge.source]), X.nrows), _full(_most(mu[edge.target]), X.nrows)
    F(binary.max) << X.reduce_columnwise(monoid.max)
    R(binary.max) << X.reduce_rowwise(monoid.max)
    return F, R


def _full(value: float, n: int) -> Vector:
    return Vector.from_scalar(value, n, datatypes.FP64)


def _most(v: Vector) -> float:
    return float(v.reduce(monoid.max).new().get())


def _log_sum(v: Vector) -> float:
    """Return log sum exp(v)."""
    top = _most(v)
    terms = v.apply(binary.minus, right=top).new().apply(unary.exp).new()
    return top + float(np.log(terms.reduce(monoid.plus).new().get()))


def _normal(v: Vector) -> Vector:
    """Return v - lse(v)."""
    made: Vector = v.apply(binary.minus, right=_log_sum(v)).new()
    return made


def _vertex_distances(features: Any, pattern: Any, n: int, m: int) -> list[Vector]:
    """Return the distances of all vertices from each of the pattern's."""
    x = _check.finite(_check.table(features, "features", n), "features")
    y = _check.finite(_check.table(pattern, "pattern_features", m, x.shape[1]), "pattern_features")
    return [Vector.from_dense(_apart(x, row, "features")) for row in y]


def _apart(x: NDArray[np.float64], row: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    from scipy.spatial.distance import cdist  # which takes half a second to import

    found: NDArray[np.float64] = cdist(x, row[None, :])[:, 0]
    if found.size and not found.max() <= _FARTHEST:
        raise InvalidValue(
            f"{name} and pattern_{name} are {found.max():g} apart; at most {_FARTHEST:g} is possible, so divide both"
        )
    return found


def _edges(G: Matrix, P: Matrix, edge_features: Any, pattern_features: Any, rule: str) -> list[_Edge]:
    """Return the edges of the pattern with the distances of all edges of G from each."""
    if (edge_features is None) != (pattern_features is None):
        raise DimensionMismatch(
            "edge_features and pattern_edge_features are given one without the other; both are needed"
        )
    indptr, columns, values = G.to_csr()
    a, b, pattern_values = P.to_coo()
    x = _check.table(values if edge_features is None else edge_features, "edge_features", values.size)
    y = _check.table(
        pattern_values if pattern_features is None else pattern_features, "pattern_edge_features", a.size, x.shape[1]
    )
    x, y = _check.finite(x, "edge_features"), _check.finite(y, "pattern_edge_features")
    found = []
    for source, target, row in zip(a.tolist(), b.tolist(), y, strict=True):
        apart = _apart(x, row, "edge_features")
        null = max(float(apart.max()), float(np.linalg.norm(row)))
        if rule == "published":
            null, apart = 0.0, apart - apart.max() - np.log(np.exp(apart - apart.max()).sum())
        C = Matrix.from_csr(indptr, columns, apart, datatypes.FP64, nrows=G.nrows, ncols=G.ncols)
        found.append(_Edge(source, target, C, null))
    return found
