"""Geolocation: where vertices are, by where their neighbours are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc import ops
from sparsezc.algorithms import _check as graphs
from sparsezc.applications import _check
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.errors import ConvergenceFailure, InvalidValue
from sparsezc.semirings import binary, monoid, select, semiring, unary
from sparsezc.semirings.types import datatypes

EARTH = 6371.0088  # km, the mean radius of the earth (IUGG)
_SAME = 1e-7  # radians, 0.6 m: an arc of that length has a cosine next to 1, beyond which FP64 tells no distances
_SUM = semiring.plus_times[datatypes.FP64]
_ARC = [(binary.min, 1.0), (binary.max, -1.0), unary.acos, (select.offdiag, 0)]
_APART = [*_ARC, (select.valuelt, np.pi - _SAME)]
#: What a neighbour's cosine weighs: its unit vector, by 1 / sin; and 1, by 1 / D.
_WEIGHTS = [
    (3, [*_APART, (select.valuegt, _SAME), unary.sin, unary.minv]),
    (4, [*_APART, (binary.max, _SAME), unary.minv]),
]
_HELD = [*_ARC, (select.valuele, _SAME), unary.one]


def geolocation(A: Matrix, places: Any, rounds: Any = 10, tol: float | None = None) -> Matrix:
    """Place vertices at the median of their neighbours' places, on the sphere.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: row i has the neighbours of i. Loops do not count.
    places : Matrix or array, shape (n, 2)
        Latitude (-90..90) and longitude of each vertex, in degrees; no entries, or NaN, where it is not known. A
        longitude may be any number of turns away.
    rounds : int
        Rounds to run, at least 1: as many passes over the rows of vertices without a place.
    tol : float, optional
        Kilometres. Stop when a round moves no vertex by more than this, and fail if `rounds` rounds do not come to
        it. By default all rounds run.

    Returns
    -------
    Matrix of FP64, shape (n, 2)
        Known places as they are in `places`, bit for bit; of others latitudes, and longitudes in -180..180. A vertex
        that no path joins to a known place in `rounds` hops has no entries; nor has one whose neighbours' places
        cancel, as those of two antipodes.

    Raises
    ------
    ConvergenceFailure
        A vertex still moved by more than `tol` in the last round, or got its first place there.
    InvalidValue
        A latitude beyond 90, a place of which one number is missing or infinite, `rounds` below 1, `tol` below 0.
    DimensionMismatch
        `A` is not square, or `places` has another shape.

    Notes
    -----
    The median of places p_j minimises the sum of the great-circle distances d_j. With P the unit vectors of all
    places, an n x 3 panel, and S the rows of A of vertices whose place is not known, a round is one step of
    Weiszfeld's iteration for all of them at once, on the sphere::

        D<S> = arccos P P'                   distances
        T = (1 / sin D) P
        V = T - (T .* P) 1 .* P              sums of unit vectors towards the neighbours
        v = V / (1 / D) 1                    the step
        x = cos |v| x + sin |v| V / |V|

    D is never stored: one pass over the ids of S makes T and (1 / D) 1.

    A vertex at the place of m of its neighbours stays if the others draw it with a force ``|V|`` of at most m, and goes
    ``1 - m / |V|`` of the step else. A vertex without a place gets the direction of the sum of its neighbours' vectors.

    Averages of degrees are wrong: over a continent they miss the median by 100 km and more, and across the
    180th meridian they lie on the other side of the earth.

    Source: R. Compton, D. Jurgens, D. Allen, Geotagging one hundred million Twitter accounts with total variation
    minimization, IEEE Big Data 2014, section III, doi:10.1109/BigData.2014.7004256; the iteration on a sphere:
    P. Fletcher, S. Venkatasubramanian, S. Joshi, The geometric median on Riemannian manifolds, NeuroImage 45, 2009,
    section 3.2, doi:10.1016/j.neuroimage.2008.10.052; at a neighbour's place: Y. Vardi, C.-H. Zhang, The multivariate
    L1-median and associated data depth, PNAS 97, 2000, doi:10.1073/pnas.97.4.1423.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(3, 0), (3, 1), (3, 2)], nrows=5, ncols=5)
    >>> unknown = [float("nan")] * 2
    >>> places = [[50.0, -130.0], [50.0, -60.0], [50.0, -95.0], unknown, unknown]
    >>> found = gb.applications.geolocation(A, places, rounds=100, tol=0.1)
    >>> found[3, :].new().to_dense().round(1).tolist(), found[4, :].new().nvals
    ([50.0, -95.0], 0)
    """
    n = graphs.adjacency(A)
    rounds = graphs.count(rounds, "rounds", 1)
    if tol is not None:
        tol = _check.between(tol, "tol", 0)
    if n == 0:
        _check.table(places, "places", n, 2)
        return Matrix(datatypes.FP64, 0, 2)
    given = _given(A, places)
    vertices = _Vertices(A, given)
    for _ in range(rounds):
        moved = vertices.move(tol is not None)
        if tol is not None and moved * EARTH <= tol:
            break
    else:
        if tol is not None:
            raise ConvergenceFailure(
                f"after rounds = {rounds} rounds a vertex still moves by {moved * EARTH:.3g} km; "
                f"at most tol = {tol:g} km is needed"
            )
    found = vertices.degrees()
    found(given.S) << given
    return found


def _given(A: Matrix, places: Any) -> Matrix:
    """Check places; return those that are known."""
    given = _check.beside(A, places, "places", A.nrows, 2)
    given = given.apply(unary.identity).new(mask=~given.apply(unary.isnan).new().V)
    sizes = given.apply(unary.abs).new().reduce_columnwise(monoid.max).new().to_dense(0.0)
    alike = given[:, 0].new().nvals == given[:, 1].new().nvals == given.reduce_rowwise(monoid.any).new().nvals
    if not alike or sizes[0] > 90 or not np.isfinite(sizes).all():
        raise _refused(_check.table(places, "places", A.nrows, 2))
    return given


def _refused(table: NDArray[np.float64]) -> InvalidValue:
    """Return the error for places of which some are none."""
    absent = np.isnan(table)
    half = np.flatnonzero(absent.any(axis=1) & ~absent.all(axis=1))
    if half.size:
        return InvalidValue(f"places has one number in row {half[0]}; latitude and longitude, or neither, are needed")
    known = np.flatnonzero(~absent[:, 0])
    wrong = known[~np.isfinite(table[known]).all(axis=1) | (np.abs(table[known, 0]) > 90)]
    latitude, longitude = table[wrong[0]]
    return InvalidValue(
        f"places has latitude {latitude:g} and longitude {longitude:g} in row {wrong[0]}; a latitude in -90..90 "
        "and a finite longitude are needed"
    )


class _Vertices:
    """Where vertices are: X has their unit vectors and a column of 0, P the same and 1; rows of 0 for those nowhere.

    `placed` has an entry for each vertex with a place; `ones` has 1 there, and 0 elsewhere. `known` has the rows of
    known places, `axes` them and the last column: its complement are the coordinates that are to be found.
    """

    def __init__(self, A: Matrix, given: Matrix) -> None:
        self.A, n = A, A.nrows
        self.zeros = A._vector(datatypes.FP64)
        self.zeros << 0.0
        latitude, longitude = (given[:, k].new().apply(binary.times, right=np.pi / 180).new() for k in range(2))
        flat = latitude.apply(unary.cos).new()
        self.X = Matrix(datatypes.FP64, n, 4)
        for k, column in enumerate((
            flat.ewise_mult(longitude.apply(unary.cos).new(), binary.times).new(),
            flat.ewise_mult(longitude.apply(unary.sin).new(), binary.times).new(),
            latitude.apply(unary.sin).new(),
            latitude.apply(binary.times, right=0.0).new(),
        )):  # fmt: skip
            self.X[:, k] << column
        self.known = self.X.dup(datatypes.BOOL)
        self.X(~self.X.S) << 0.0
        self.axes = self.known.dup()
        self.axes[:, 3] << self.zeros.dup(datatypes.BOOL)
        self.placed = latitude.apply(unary.one).new()
        self.ones = self.zeros.dup()
        self.ones(self.placed.S) << 1.0
        self.P = self.X.dup()
        self.P[:, 3] << self.ones

    def move(self, measured: bool) -> float:
        """Run a round; where it is `measured`, return the farthest move in radians."""
        X = self.X
        # T<~K> = ((1 / sin D) P, (1 / D) 1) for D<A> = arccos X P'
        T = ops.sampled_mxm(self.A, X, self.P, self.P, _SUM, _SUM, _WEIGHTS).new(mask=~self.known.S)
        rate = T[:, 3].new()
        # V = T - (T .* X) 1 X
        inward = T.ewise_mult(X, binary.times).new().reduce_rowwise(monoid.plus).new()
        V = T.ewise_mult(inward.ewise_mult(X, binary.times).new(), binary.minus).new(mask=~self.axes.S)
        length = V.ewise_mult(V, binary.times).new().reduce_rowwise(monoid.plus).new().apply(unary.sqrt).new()
        size = length.dup()
        self._hold(size, rate)
        size << size.select(select.valuegt, 0)
        # v = |V| / (1 / D) 1; a quarter of a turn for those that get their first place
        step = size.ewise_mult(rate, binary.truediv).new(mask=self.placed.S)
        moved = float(step.reduce(monoid.max).new().get(0.0)) if measured else 0.0
        fresh = size.select(select.valuegt, _SAME).new(mask=~self.placed.S)
        step(fresh.S) << np.pi / 2
        # x = cos |v| x + sin |v| V / |V|
        turned = step.apply(unary.sin).new().ewise_mult(length, binary.truediv).new()
        new = step.apply(unary.cos).new().ewise_mult(X, binary.times).new(mask=~self.axes.S)
        new(binary.plus) << turned.ewise_mult(V, binary.times)
        X(new.S) << new
        self.P(new.S) << new
        if fresh.nvals:
            self.placed(fresh.S) << 1.0
            self.ones(fresh.S) << 1.0
            self.P[:, 3] << self.ones
        return np.inf if measured and fresh.nvals else moved

    def _hold(self, size: Vector, rate: Vector) -> None:
        """Take what neighbours at the same place hold off the forces, and off the rates."""
        near = rate.select(select.valuege, 1 / _SAME).new()  # a neighbour at the same place adds as much
        if near.nvals == 0:
            return
        mask = Matrix(datatypes.FP64, near.size, 1)
        mask[:, 0] << near
        ones = self.P[:, 3:4].new()
        H = ops.sampled_mxm(self.A, self.X, self.P, ones, _SUM, _SUM, [(1, _HELD)]).new(mask=mask.S)
        held = H[:, 0].new()
        size(held.S) << size.ewise_mult(held, binary.minus)
        rate(held.S) << rate.ewise_mult(held.apply(binary.truediv, right=_SAME).new(), binary.minus)

    def degrees(self) -> Matrix:
        """Return latitudes and longitudes."""
        x, y, z = (self.X[:, k].new(mask=self.placed.S) for k in range(3))
        found = Matrix(datatypes.FP64, self.X.nrows, 2)
        flat = x.ewise_mult(y, binary.hypot).new()
        for k, angle in enumerate((z.ewise_mult(flat, binary.atan2).new(), y.ewise_mult(x, binary.atan2).new())):
            found[:, k] << angle.apply(binary.times, right=180 / np.pi)
        return found


def unit_vectors(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the unit vectors of latitudes and longitudes, a row each."""
    latitude, longitude = np.radians(degrees).T
    return np.stack(
        [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)], axis=1
    )
