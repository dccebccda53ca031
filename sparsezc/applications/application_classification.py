"""Application classification: matches of a small pattern in a graph, by features of vertices and edges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc import ops
from sparsezc.algorithms import _check as graphs
from sparsezc.applications import _check
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import DimensionMismatch, InvalidValue
from sparsezc.semirings import binary, monoid, semiring, unary
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import steps

_SUM = semiring.plus_times[datatypes.FP64]
_FARTHER = semiring.max_rminus[datatypes.FP64]
_ROUNDING = 2.0**-46  # change relative to the largest value that is rounding: 64 units of its last place
_FARTHEST = 1e150  # largest distance of features: sums of the messages of all rounds then fit FP64


class _Edges(NamedTuple):
    """Features of the graph's edges, whose copy to the device may be running, and of the pattern's; both names."""

    features: Matrix
    wanted: NDArray[np.float64]
    names: tuple[str, str]


class _Pattern(NamedTuple):
    """The edges of the pattern: their ends, the distances of G's edges from each, and the costs of an absent edge.

    Panels of messages have a column for the message against each edge of the pattern, then one for the message along
    each.

    Attributes
    ----------
    ends : Matrix, shape (m, 2 edges)
        1 at the source of each edge, then at the target of each, else 0.
    costs : Matrix, shape (G.nvals, edges)
        The distance of each edge of G from each edge of the pattern.
    null : Vector of 2 edges
        The cost of the absence of each edge, twice.
    """

    ends: Matrix
    costs: Matrix
    null: Vector

    def least(self, X: Matrix) -> Vector:
        """Return the least messages: the largest value in the other end's column, less the cost of an absent edge."""
        return self.crossed(X.reduce_columnwise(monoid.max).new()).ewise_mult(self.null, binary.minus).new()

    def crossed(self, v: Vector) -> Vector:
        """Return the values of `v` at the columns of the edges' other ends."""
        other: Vector = v[np.roll(np.arange(v.size), v.size // 2)].new()
        return other


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
        Adjacency matrices of the graph and of the pattern, which has at least one edge: an entry (i, j) is an edge from
        i to j.
    features, pattern_features : Matrix or array, shapes (n, F) and (m, F)
        The features of vertices, a row for each vertex.
    edge_features, pattern_edge_features : array, shapes (G.nvals, K) and (P.nvals, K), optional
        The features of edges, a row for each entry, in the order of rows and columns. By default the values of the
        entries, as one feature.
    rule : {"corrected", "published"}
        The rule of messages; see Notes.
    rounds : int, optional
        Most rounds of messages, at least 1; by default m. With the corrected rule, a round that changes only last bits
        is the last one.

    Returns
    -------
    Matrix of FP64, shape (n, m)
        Entry (i, j) is the logarithm of the probability that vertex j of the pattern is vertex i of the graph.

    Raises
    ------
    InvalidValue
        The pattern or the graph has no edges, features have NaN or infinite values or are more than 1e150 apart, `rule`
        is neither of the two, or `rounds` is less than 1.
    DomainMismatch
        Values or features are complex, or features are not numbers.
    DimensionMismatch
        `G` or `P` is not square, or features have another number of rows than vertices or edges, or different numbers
        of columns.
    OutOfMemory
        The distances of edges need more memory than may be used; the message has the size.

    Notes
    -----
    With D(v, j) the distance of the features of vertices v and j, C_e(u, v) that of the edge (u, v) from the pattern's
    edge e = (a, b), N_e the cost of the absence of an edge, and lse the logarithm of the sum of exponentials::

        mu = -D - lse(-D)                       columns that sum to 1
        f_e = mu(b) - F_e                       the belief at b without the message of e
        r_e = mu(a) - R_e
        F_e = max(r_e' C_e, max(r_e) - N_e)     over (max, minus): along edges of G
        R_e = max(C_e f_e, max(f_e) - N_e)      over (max, rminus): against them
        mu(j) = -D(j) + sum of F_e of e into j + sum of R_e of e out of j, less lse of it

    N_e is the maximum of the C_e and of the norm of the features of e, and F and R are 0 at first. A number added to a
    whole column of F or R changes no later mu, so a round that leaves mu unchanged, and F and R up to such numbers, is
    the last one.

    ``"published"`` follows the published programs: D and C_e are converted to logarithms of probabilities, as if large
    distances were likely, before they are subtracted; R_e uses f_e at the edge's source instead of its target; messages
    along edges are normalised over all edges, but N_e is not: it is 0.

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
    named = ("features", "pattern_features")
    X = _check.beside(G, features, named[0], n, as_it_is=True)
    wanted = _check.table(pattern_features, named[1], m, X.ncols)
    edges = _edges(G, P, edge_features, pattern_edge_features)
    D, _ = _distances(X, wanted, named)
    mu = _normal(D.apply(unary.ainv).new())
    pattern = _pattern(P, edges)
    published = None
    if rule == "published":
        D = _normal(D)
        published = _Published(G, pattern, mu)
        pattern = published.pattern
        M = published.first
    else:
        M = mu.mxm(pattern.ends, _SUM).new().apply(binary.times, right=0.0).new()
    for number in steps(range(passes), "rounds", at_most=True):
        mu_before, M_before = mu, M
        # r = mu(a) - R, beside f = mu(b) - F
        X = mu.mxm(pattern.ends, _SUM).new()
        X << X.ewise_mult(M, binary.minus)
        # R = C f, beside F = r'C: both from one pass over the edges and their distances
        M = ops.two_way_mxm(G, pattern.costs, X, _FARTHER).new()
        if published is not None:
            M << published.messages(M, X)
        # messages are at least max(f) - N, and max(r) - N
        M << M.ewise_add(pattern.least(X), binary.max)
        # mu(j) = -D(j) + the messages to j
        mu = M.mxm(pattern.ends.T, _SUM).new()
        mu << mu.ewise_mult(D, binary.minus)
        mu << _normal(mu)
        # a round depends on mu and M alone; mu is normalised, so numbers added to whole columns of M change nothing
        looks = published is None and number > 0  # the first round changes messages from 0
        if looks and _is_settled(mu_before, mu) and _is_settled(_from_most(M_before), _from_most(M)):
            break
    return mu


class _Published:
    """The differences of the published rule: both messages begin at the source of an edge, and are normalised.

    Attributes
    ----------
    pattern : _Pattern
        The pattern with logarithms of probabilities as distances, and with costs of 0 for absent edges.
    first : Matrix
        The first messages: the most likely edge at each vertex.
    low : Matrix
        The least distance C(u, v) over v, for each u.
    """

    def __init__(self, G: Matrix, pattern: _Pattern, mu: Matrix) -> None:
        C, k = _normal(pattern.costs), pattern.costs.ncols
        self.pattern = pattern._replace(costs=C, null=pattern.null.apply(binary.times, right=0.0).new())
        likely, X = C.apply(unary.ainv).new(), mu.mxm(pattern.ends, _SUM).new()
        largest = ops.two_way_mxm(G, likely, X, semiring.max_first[datatypes.FP64]).new()
        self.low = largest[:, :k].new().apply(unary.ainv).new()
        # log of the sum of exp(-C(u, v)) for each u, relative to its own largest term, as exp would vanish otherwise
        self.sums: Matrix = Matrix(datatypes.FP64, mu.nrows, 2 * k)
        for e in range(k):
            least, C_e = self.low[:, e].new(), ops.with_values(G, C[:, e].new()).new()
            terms = least.ewise_mult(C_e, binary.minus).new().apply(unary.exp).new()
            sums = terms.reduce_rowwise(monoid.plus).new().apply(unary.log).new()
            self.sums[:, e] << sums.ewise_mult(least, binary.minus)
            self.sums[:, k + e] << self.sums[:, e].new()
        # C is log softmax(c): log softmax(-c) = -C - lse(-C)
        total = Vector.from_dense(np.tile(_log_sum(likely).to_dense(), 2))
        first: Matrix = largest.ewise_mult(total, binary.minus).new()
        self.first = first.ewise_add(self.pattern.least(X), binary.max).new()

    def messages(self, M: Matrix, X: Matrix) -> Matrix:
        """Return both messages, normalised over all edges; the messages along edges are given in M."""
        k = X.ncols // 2
        M[:, :k] << X[:, k:].new().ewise_mult(self.low, binary.minus)
        total = self.pattern.crossed(_log_sum(X.ewise_mult(self.sums, binary.plus).new()))
        made: Matrix = M.ewise_mult(total, binary.minus).new()
        return made


def _from_most(X: Matrix) -> Matrix:
    """Return X minus the largest value of each column."""
    made: Matrix = X.ewise_mult(_most(X), binary.minus).new()
    return made


def _is_settled(before: Matrix, X: Matrix) -> bool:
    """Return whether two matrices differ by no more than rounding errors of their largest values."""
    change = X.ewise_mult(before, binary.minus).new().apply(unary.abs).new().reduce_scalar(monoid.max).new().get(0.0)
    largest = X.apply(unary.abs).new().reduce_scalar(monoid.max).new().get(0.0)
    return bool(change <= _ROUNDING * largest)


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


def _distances(X: Matrix, y: NDArray[np.float64], names: tuple[str, str]) -> tuple[Matrix, NDArray[np.float64]]:
    """Return the distance of each row of X from each row of `y`, and the largest distance for each row of `y`."""
    D: Matrix = ops.distances(X, Matrix.from_dense(_check.finite(y, names[1]))).new()
    # a sum is NaN or infinite if a distance is; a maximum ignores NaN
    sums, largest = D.reduce_columnwise(monoid.plus).new(), _most(D)
    if not np.isfinite(sums.to_dense()).all():
        _check.finite(X.to_dense(), names[0])
    most: NDArray[np.float64] = largest.to_dense()
    farthest = most.max()
    if not farthest <= _FARTHEST:
        raise InvalidValue(
            f"{names[0]} and {names[1]} are {farthest:g} apart; at most {_FARTHEST:g} is possible, so divide both"
        )
    return D, most


def _edges(G: Matrix, P: Matrix, edge_features: Any, pattern_features: Any) -> _Edges:
    """Check the features of edges, and start the copy of an array of them to the device."""
    if (edge_features is None) != (pattern_features is None):
        raise DimensionMismatch(
            "edge_features and pattern_edge_features are given one without the other; both are needed"
        )
    names = ("edge_features", "pattern_edge_features")
    if edge_features is None:
        names = ("the edge feature of G", "the edge feature of P")
        edge_features = Matrix(datatypes.FP64, G.nvals, 1)
        edge_features[:, 0] << ops.values_of(G)
    X = _check.beside(G, edge_features, names[0], G.nvals, as_it_is=True)
    y = P.to_coo(rows=False, columns=False)[2] if pattern_features is None else pattern_features
    return _Edges(X, _check.table(y, names[1], P.nvals, X.ncols), names)


def _pattern(P: Matrix, edges: _Edges) -> _Pattern:
    """Return the edges of the pattern with the distances of all edges of the graph from each."""
    a, b, _ = P.to_coo(values=False)
    C, most = _distances(edges.features, edges.wanted, edges.names)
    null = np.maximum(most, np.linalg.norm(edges.wanted, axis=1))
    ends = np.zeros((P.nrows, 2 * a.size))
    ends[np.r_[a, b], np.arange(2 * a.size)] = 1
    return _Pattern(Matrix.from_dense(ends), C, Vector.from_dense(np.tile(null, 2)))
