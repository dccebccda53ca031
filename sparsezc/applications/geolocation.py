"""Geolocation: places of vertices, estimated from the places of their neighbours."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc import ops
from sparsezc.algorithms import _check as graphs
from sparsezc.applications import _check
from sparsezc.core.matrix import Matrix
from sparsezc.exceptions import ConvergenceFailure, InvalidValue
from sparsezc.semirings import binary, monoid, select, semiring, unary
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import steps

if TYPE_CHECKING:
    from sparsezc.semirings.udf.rows import RowFunction

EARTH = 6371.0088  # km, the mean radius of the earth (IUGG)
_SAME = 1e-7  # radians, 0.6 m: cosines of shorter arcs are too close to 1 for FP64 to give distances
_DEGREE = math.pi / 180
_SUM = semiring.plus_times[datatypes.FP64]
_ARC = [(binary.min, 1.0), (binary.max, -1.0), unary.acos, (select.offdiag, 0)]
_APART = [*_ARC, (select.valuelt, np.pi - _SAME)]
#: Weights by a neighbour's cosine: 1 / sin D for its unit vector, columns 0 to 2, and 1 / D for a 1, column 3.
_WEIGHTS = [
    (3, [*_APART, (select.valuegt, _SAME), unary.sin, unary.minv]),
    (4, [*_APART, (binary.max, _SAME), unary.minv]),
]
_HELD = [*_ARC, (select.valuele, _SAME), unary.one]
_Row = tuple[float, ...]


def geolocation(A: Matrix, places: Any, rounds: Any = 10, tol: float | None = None) -> Matrix:
    """Place vertices at the geometric median of their neighbours' places, on the sphere.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: row i has the neighbours of i. Loops do not count.
    places : Matrix or array, shape (n, 2)
        Latitude (-90..90) and longitude of each vertex, in degrees; no entries, or NaN, if the place is not known.
        Longitudes may be any finite numbers; they count modulo 360.
    rounds : int
        Rounds to run, at least 1; each is one pass over the rows of vertices whose place is not known.
    tol : float, optional
        In kilometres. Stop when a round moves no vertex by more than this; raise an error if none of `rounds` rounds
        does. By default all rounds run.

    Returns
    -------
    Matrix of FP64, shape (n, 2)
        Latitude and longitude of each vertex: known places as they are in `places`, bit for bit, others with longitudes
        in -180..180. A vertex has no entries if no path of at most `rounds` edges leads to a known place, or if its
        neighbours' unit vectors cancel, as those of two antipodes do.

    Raises
    ------
    ConvergenceFailure
        A vertex moved by more than `tol` in the last round, or got its first place in it.
    InvalidValue
        A latitude is outside -90..90, one number of a place is missing or infinite, `rounds` is below 1, or `tol` is
        below 0.
    DimensionMismatch
        `A` is not square, or `places` has another shape.

    Notes
    -----
    The median of places p_j minimises the sum of the great-circle distances d_j. With P the unit vectors of all
    places, an n x 3 panel, and S the rows of A of vertices whose place is not known, a round is one step of
    Weiszfeld's iteration on the sphere, for all these vertices at once::

        D<S> = arccos P P'                   distances
        T = (1 / sin D) P
        V = T - (T .* P) 1 .* P              sums of unit vectors towards the neighbours
        v = V / (1 / D) 1                    the step
        x = cos |v| x + sin |v| V / |V|

    D is never stored: one pass over the ids of S computes T and (1 / D) 1.

    A vertex at the place of m of its neighbours stays there if the others draw it with a force ``|V|`` of at most m;
    else it moves ``1 - m / |V|`` of the step. A vertex without a place gets the direction of the sum of its neighbours'
    unit vectors.

    Averages of latitudes and longitudes are wrong: on a continent they miss the median by 100 km and more, and across
    the 180th meridian they are on the other side of the earth.

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
    full, given = _given(A, places)
    vertices = _Vertices(A, full)
    for _ in steps(range(rounds), "rounds", at_most=True):
        moved = vertices.move(tol is not None)
        if tol is not None and moved * EARTH <= tol:
            break
    else:
        if tol is not None:
            last = f"moves by {moved * EARTH:.3g} km" if moved < math.inf else "gets its first place"
            raise ConvergenceFailure(
                f"after rounds = {rounds} rounds a vertex still {last}; at most tol = {tol:g} km is needed"
            )
    found = vertices.degrees()
    found(given.S) << given
    return found


def _given(A: Matrix, places: Any) -> tuple[Matrix, Matrix]:
    """Check places; return the full panel, NaN where a place is not known, and the panel of known places."""
    full = _check.beside(A, places, "places", A.nrows, 2)
    given = full.apply(unary.identity).new(mask=~full.apply(unary.isnan).new().V)
    sizes = given.apply(unary.abs).new().reduce_columnwise(monoid.max).new().to_dense(0.0)
    alike = given[:, 0].new().nvals == given[:, 1].new().nvals == given.reduce_rowwise(monoid.any).new().nvals
    if not alike or sizes[0] > 90 or not np.isfinite(sizes).all():
        raise _refused(_check.table(places, "places", A.nrows, 2))
    return full, given


def _refused(table: NDArray[np.float64]) -> InvalidValue:
    """Return the error for a table with an invalid place."""
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
    """The places of vertices: P has rows (unit vector, 1), X rows (unit vector, 0), both zeros without a place.

    `known` has entries in the rows of known places, `axes` in these and in the last column: the complement of `axes`
    is the coordinates to compute.
    """

    def __init__(self, A: Matrix, places: Matrix) -> None:
        self.A, self.rows = A, _functions()
        self.P = ops.map_rows(self.rows.place, places).new()
        self.X = ops.map_rows(self.rows.flat, self.P).new()
        self.known, self.axes = (
            ops.map_rows(function, self.P).new().select(select.valuene, 0).new(datatypes.BOOL)
            for function in (self.rows.known, self.rows.axes)
        )

    def move(self, measured: bool) -> float:
        """Run a round; return the largest move in radians, infinity for a first place, or 0 unless `measured`."""
        # T<~K> = ((1 / sin D) P, (1 / D) 1) for D<A> = arccos X P'
        T = ops.sampled_mxm(self.A, self.X, self.P, self.P, _SUM, _SUM, _WEIGHTS).new(mask=~self.known.S)
        before = self.P.dup() if measured else None
        self.P(~self.known.S) << ops.map_rows(self.rows.move, self._let(T), self.P)
        self.X(~self.axes.S) << self.P
        if before is None:
            return 0.0
        return float(ops.map_rows(self.rows.arc, before, self.P).new().reduce_scalar(monoid.max).new().get(0.0))

    def _let(self, T: Matrix) -> Matrix:
        """Return the forces, reduced for vertices at a neighbour's place, which hold a vertex back."""
        if not T.reduce_columnwise(monoid.max).new().get(3, 0.0) >= 1 / _SAME:  # none at its place
            return T
        near = T[:, 3:4].new().select(select.valuege, 1 / _SAME).new()
        ones = self.P[:, 3:4].new()
        held = ops.sampled_mxm(self.A, self.X, self.P, ones, _SUM, _SUM, [(1, _HELD)]).new(mask=near.S)
        force = ops.map_rows(self.rows.force, T, self.P).new()
        left: Matrix = ops.map_rows(self.rows.left, force, held).new()
        return left

    def degrees(self) -> Matrix:
        """Return the latitudes and longitudes of vertices with a place, in degrees."""
        found: Matrix = ops.map_rows(self.rows.degrees, self.P).new().select(select.valuele, 180.0).new()  # drops NaN
        return found


class _Functions(NamedTuple):
    """Compiled functions of rows of P, or of the rows that their parameters name."""

    place: RowFunction
    flat: RowFunction
    known: RowFunction
    axes: RowFunction
    force: RowFunction
    left: RowFunction
    move: RowFunction
    arc: RowFunction
    degrees: RowFunction


@cache
def _functions() -> _Functions:
    return _Functions(
        ops.row_function(_place),
        ops.row_function(lambda x, y, z, placed: (x, y, z, 0.0)),
        ops.row_function(lambda x, y, z, placed: (placed, placed, placed, placed)),
        ops.row_function(lambda x, y, z, placed: (placed, placed, placed, 1.0)),
        ops.row_function(_force),
        ops.row_function(_left),
        ops.row_function(_move),
        ops.row_function(_arc),
        ops.row_function(_degrees),
    )


def _place(latitude: float, longitude: float) -> _Row:
    if math.isnan(latitude):
        return 0.0, 0.0, 0.0, 0.0
    a = latitude * _DEGREE
    b = longitude * _DEGREE
    return math.cos(a) * math.cos(b), math.cos(a) * math.sin(b), math.sin(a), 1.0


def _force(tx: float, ty: float, tz: float, rate: float, x: float, y: float, z: float, _placed: float) -> _Row:
    # V = T - (T .* X) 1 .* X
    inward = tx * x + ty * y + tz * z
    return tx - inward * x, ty - inward * y, tz - inward * z, rate


def _left(vx: float, vy: float, vz: float, rate: float, held: float) -> _Row:
    length = math.sqrt(vx * vx + vy * vy + vz * vz)
    left = 1 - held / length if length > held else 0.0
    return left * vx, left * vy, left * vz, rate - held / _SAME


def _move(tx: float, ty: float, tz: float, rate: float, x: float, y: float, z: float, placed: float) -> _Row:
    inward = tx * x + ty * y + tz * z
    vx = tx - inward * x
    vy = ty - inward * y
    vz = tz - inward * z
    length = math.sqrt(vx * vx + vy * vy + vz * vz)
    if length <= (0.0 if placed else _SAME):
        return x, y, z, placed
    # v = |V| / (1 / D) 1; for a first place, a quarter turn
    step = length / rate if placed else math.pi / 2
    # x = cos |v| x + sin |v| V / |V|
    stays = math.cos(step)
    turned = math.sin(step) / length
    return stays * x + turned * vx, stays * y + turned * vy, stays * z + turned * vz, 1.0


def _arc(ax: float, ay: float, az: float, before: float, bx: float, by: float, bz: float, after: float) -> float:
    dx = ax - bx
    dy = ay - by
    dz = az - bz
    return 2 * math.asin(min(math.sqrt(dx * dx + dy * dy + dz * dz) / 2, 1.0)) if before == after else math.inf


def _degrees(x: float, y: float, z: float, placed: float) -> _Row:
    if placed == 0:
        return math.nan, math.nan
    return math.atan2(z, math.hypot(x, y)) / _DEGREE, math.atan2(y, x) / _DEGREE


def unit_vectors(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the unit vector of each row of latitude and longitude, in degrees."""
    latitude, longitude = np.radians(degrees).T
    return np.stack(
        [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)], axis=1
    )
