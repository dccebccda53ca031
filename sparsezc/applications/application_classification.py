"""Application classification: where in a graph a small pattern lies, by features of vertices and edges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc import ops
from sparsezc.algorithms import _check as graphs
from sparsezc.applications import _check
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.errors import DimensionMismatch, InvalidValue
from sparsezc.semirings import binary, monoid, semiring, unary
from sparsezc.semirings.types import datatypes

_SUM = semiring.plus_times[datatypes.FP64]
_FARTHER = semiring.max_rminus[datatypes.FP64]
_FARTHEST = 1e150  # that features may lie apart: sums of the messages of all rounds then fit FP64


class _Pattern(NamedTuple):
    """The edges of the pattern: their ends, the distances of G's edges from each, and what no edge at all costs.

    Attributes
    ----------
    sources, targets : Matrix, shape (m, edges)
        1 at the end of each edge, else 0.
    edges, turned : list of Matrix, shape (n, n)
        Distances of G's edges from each, and their transposes.
    null : Vector
        What no edge costs.
    total : Vector, optional
        Of the published rule: log sum exp of the distances.
    """

    sources: Matrix
    targets: Matrix
    edges: list[Matrix]
    turned: list[Matrix]
    null: Vector
    total: Any


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
    X = _check.table_beside(G, features, "features", n)
    D = _distances(X, _check.table(pattern_features, "pattern_features", m, X.ncols), "features")
    pattern = _pattern(G, P, edge_features, pattern_edge_features, rule)
    mu = _normal(D.apply(unary.ainv).new())
    if rule == "published":
        D = _normal(D)
        F, R = _first_messages(mu, pattern)
        likely = _likely(pattern)
    else:
        F = mu.mxm(pattern.targets, _SUM).new().apply(binary.times, right=0.0).new()
        R, likely = F.dup(), None
    for _ in range(passes):
        # f = mu(b) - F, r = mu(a) - R
        f = mu.mxm(pattern.targets, _SUM).new().ewise_mult(F, binary.minus).new()
        r = mu.mxm(pattern.sources, _SUM).new().ewise_mult(R, binary.minus).new()
        F, R = _corrected(pattern, f, r) if likely is None else _published(pattern, f, r, likely)
        # mu(j) = -D(j) + the messages that come to j
        mu << D.apply(unary.ainv)
        mu(binary.plus) << F.mxm(pattern.targets.T, _SUM)
        mu(binary.plus) << R.mxm(pattern.sources.T, _SUM)
        mu << _normal(mu)
    return mu


def _corrected(pattern: _Pattern, f: Matrix, r: Matrix) -> tuple[Matrix, Matrix]:
    """Return the messages along and against the edges of G."""
    # F = max(r'C, max(r) - N)
    F = _columns(r, [C.mxv(r[:, e].new(), _FARTHER) for e, C in enumerate(pattern.turned)])
    # R = max(C f, max(f) - N)
    R = _columns(f, [C.mxv(f[:, e].new(), _FARTHER) for e, C in enumerate(pattern.edges)])
    return _at_least(F, _most(r), pattern.null), _at_least(R, _most(f), pattern.null)


def _published(pattern: _Pattern, f: Matrix, r: Matrix, likely: tuple[Matrix, Matrix]) -> tuple[Matrix, Matrix]:
    """Return the messages by the published rule: both begin at the source of an edge."""
    sums, least = likely
    F = _columns(r, [C.mxv(r[:, e].new(), _FARTHER) for e, C in enumerate(pattern.turned)])
    F << F.ewise_mult(_log_sum(r.ewise_mult(sums, binary.plus).new()), binary.minus)
    R = f.ewise_mult(least, binary.minus).new()
    R << R.ewise_mult(_log_sum(f.ewise_mult(sums, binary.plus).new()), binary.minus)
    return _at_least(F, _most(r), pattern.null), _at_least(R, _most(f), pattern.null)


def _likely(pattern: _Pattern) -> tuple[Matrix, Matrix]:
    """Return log of the sum of exp(-C(u, v)) over the edges of u, and the least C(u, v), for each of the pattern's."""
    sums, least = [], []
    for C in pattern.edges:
        # each row from its own largest term: others would be 0
        low = C.reduce_rowwise(monoid.min).new()
        terms = low.ewise_mult(C, binary.minus).new().apply(unary.exp).new()
        sums.append(terms.reduce_rowwise(monoid.plus).new().apply(unary.log).new().ewise_mult(low, binary.minus))
        least.append(low)
    return _columns(pattern.edges[0], sums), _columns(pattern.edges[0], least)


def _first_messages(mu: Matrix, pattern: _Pattern) -> tuple[Matrix, Matrix]:
    """Return the messages that the published rule begins with: the most likely edge at each vertex."""
    # C is log softmax(c): log softmax(-c) = -C - lse(-C)
    F, R = (
        _columns(mu, [C.apply(unary.ainv).new().reduce_rowwise(monoid.max) for C in some])
        for some in (pattern.turned, pattern.edges)
    )
    F, R = (each.ewise_mult(pattern.total, binary.minus).new() for each in (F, R))
    ends = (mu.mxm(some, _SUM).new() for some in (pattern.sources, pattern.targets))
    (first, last), none = map(_most, ends), pattern.null.apply(binary.times, right=0.0).new()
    return _at_least(F, first, none), _at_least(R, last, none)


def _columns(like: Matrix, columns: Any) -> Matrix:
    """Return a matrix of vectors, with as many rows as another one."""
    made: Matrix = Matrix(datatypes.FP64, like.nrows, len(columns))
    for e, column in enumerate(columns):
        made[:, e] << column
    return made


def _at_least(X: Matrix, most: Vector, null: Vector) -> Matrix:
    """Return max(X, most - null), everywhere."""
    made: Matrix = X.ewise_add(most.ewise_mult(null, binary.minus).new(), binary.max).new()
    return made


def _most(X: Matrix) -> Vector:
    """Return the largest value of each column."""
    made: Vector = X.reduce_columnwise(monoid.max).new()
    return made


def _log_sum(X: Matrix) -> Vector:
    """Return log sum exp of each column."""
    top = _most(X)
    terms = X.ewise_mult(top, binary.minus).new().apply(unary.exp).new()
    sums: Vector = terms.reduce_columnwise(monoid.plus).new().apply(unary.log).new()
    return sums.ewise_mult(top, binary.plus).new()


def _normal(X: Matrix) -> Matrix:
    """Return X - lse(X), by columns."""
    made: Matrix = X.ewise_mult(_log_sum(X), binary.minus).new()
    return made


def _distances(X: Matrix, y: NDArray[np.float64], name: str) -> Matrix:
    """Return how far each row of features lies from each of the pattern's."""
    D: Matrix = ops.distances(X, Matrix.from_dense(_check.finite(y, f"pattern_{name}"))).new()
    farthest = D.reduce_scalar(monoid.max).new().get(0.0)
    if not farthest <= _FARTHEST:
        raise InvalidValue(
            f"{name} and pattern_{name} are {farthest:g} apart; at most {_FARTHEST:g} is possible, so divide both"
        )
    return D


def _pattern(G: Matrix, P: Matrix, edge_features: Any, pattern_features: Any, rule: str) -> _Pattern:
    """Return the edges of the pattern with the distances of all edges of G from each."""
    if (edge_features is None) != (pattern_features is None):
        raise DimensionMismatch(
            "edge_features and pattern_edge_features are given one without the other; both are needed"
        )
    a, b, values = P.to_coo()
    if edge_features is None:
        X = Matrix(datatypes.FP64, G.nvals, 1)
        X[:, 0] << ops.values_of(G)
        X = _check.table_beside(G, X, "edge_features", G.nvals)
    else:
        X = _check.table_beside(G, edge_features, "edge_features", G.nvals)
    y = _check.table(values if pattern_features is None else pattern_features, "pattern_edge_features", a.size, X.ncols)
    C = _distances(X, y, "edge_features")
    null, total = Vector.from_dense(np.maximum(_most(C).to_dense(), np.linalg.norm(y, axis=1))), None
    if rule == "published":
        null, C = Vector.from_scalar(0.0, a.size, datatypes.FP64), _normal(C)
        total = _log_sum(C.apply(unary.ainv).new())
    # the same by rows of G', so that both products read rows
    number = Vector.from_dense(np.arange(G.nvals))
    T = ops.with_values(G, number).new().T.new()
    turned = ops.values_of(T).new()._pointers().mxm(C, semiring.any_second[datatypes.FP64]).new()
    ends = (Matrix.from_coo(at, np.arange(a.size), 1.0, nrows=P.nrows, ncols=a.size) for at in (a, b))
    sources, targets = (Matrix.from_dense(each.to_dense(0.0)) for each in ends)
    edges, backward = (
        [ops.with_values(graph, values[:, e].new()).new() for e in range(a.size)]
        for graph, values in ((G, C), (T, turned))
    )
    return _Pattern(sources, targets, edges, backward, null, total)
