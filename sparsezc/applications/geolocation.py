"""Geolocation: where vertices are, by where their neighbours are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check as graphs
from sparsezc.applications import _check
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.errors import ConvergenceFailure, InvalidValue
from sparsezc.semirings import binary, monoid, select, semiring, unary
from sparsezc.semirings.types import datatypes

EARTH = 6371.0088  # km, the mean radius of the earth (IUGG)
_SAME = 1e-7  # radians, 0.6 m: an arc of that length has a cosine next to 1, beyond which FP64 tells no distances


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

        C<S> = P P'                          cosines of the distances
        D = arccos C
        V = (1 / sin D) P - ((1 / sin D) .* C) 1 P        sums of unit vectors towards the neighbours
        v = V / (1 / D) 1                    the step
        x = cos |v| x + sin |v| v / |v|

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
    given = _check.table(places, "places", n, 2)
    P, known = _vectors(given)
    unknown = Vector(datatypes.BOOL, n)
    unknown(~known.S) << True
    # S = the rows of vertices whose place is not known
    S = unknown.diag().mxm(A, semiring.any_pair[datatypes.BOOL]).new()
    S << S.select(select.offdiag)
    for _ in range(rounds):
        moved = _round(S, P)
        if tol is not None and moved * EARTH <= tol:
            break
    else:
        if tol is not None:
            raise ConvergenceFailure(
                f"after rounds = {rounds} rounds a vertex still moves by {moved * EARTH:.3g} km; "
                f"at most tol = {tol:g} km is needed"
            )
    return _degrees(P, given)


def _round(S: Matrix, P: Matrix) -> float:
    """Move the vertices of S that have a place, place those that can be; return the farthest move in radians."""
    x, V, size, step = _step(S, P)
    # for those without a place: the direction of the sum of their neighbours' vectors
    new = S.mxm(P, semiring.plus_second[datatypes.FP64]).new(mask=~P.S)
    length = _lengths(new).select(select.valuegt, _SAME).new()
    new << length.apply(unary.minv).new().ewise_mult(new, binary.times)
    # x = cos |v| x + sin |v| v / |v|
    turned = size.ewise_mult(step.apply(unary.sin).new(), binary.rtruediv).new()
    x << step.apply(unary.cos).new().ewise_mult(x, binary.times)
    x(binary.plus) << turned.ewise_mult(V, binary.times)
    x << _lengths(x).apply(unary.minv).new().ewise_mult(x, binary.times)
    P(x.S) << x
    P(new.S) << new
    return np.inf if new.nvals else float(step.reduce(monoid.max).new().get(0.0))


def _step(S: Matrix, P: Matrix) -> tuple[Matrix, Matrix, Vector, Vector]:
    """Find the steps of the vertices of S that are drawn somewhere.

    Returns
    -------
    x, V : Matrix, shape (n, 3)
        Where they are, and the force on each.
    size, step : Vector
        The length of V, and of the step in radians.
    """
    # C<S> = P P', D = arccos C
    C = P.mxm(P.T, semiring.plus_times[datatypes.FP64]).new(mask=S.S)
    C << C.apply(binary.min, right=1.0).new().apply(binary.max, right=-1.0)
    D = C.apply(unary.acos).new()
    apart = D.select(select.valuegt, _SAME).new().select(select.valuelt, np.pi - _SAME).new()
    same = D.select(select.valuele, _SAME).new()
    # V = (1 / sin D) P - ((1 / sin D) .* C) 1 P
    W = apart.apply(unary.sin).new().apply(unary.minv).new()
    V = W.mxm(P, semiring.plus_times[datatypes.FP64]).new()
    inward = W.ewise_mult(C, binary.times).new().reduce_rowwise(monoid.plus).new()
    x = P.dup(mask=V.S)
    V(binary.minus) << inward.ewise_mult(x, binary.times)
    # v = V / (1 / D) 1, less what the neighbours at the same place hold
    size = _lengths(V).select(select.valuegt, 0).new()
    held = same.apply(unary.one).new().reduce_rowwise(monoid.plus).new()
    size(held.S) << size.ewise_mult(held, binary.minus)
    size << size.select(select.valuegt, 0)
    rate = apart.apply(unary.minv).new().reduce_rowwise(monoid.plus).new()
    step = size.ewise_mult(rate, binary.truediv).new()
    V << step.apply(unary.one).new().ewise_mult(V, binary.times)
    x << x.dup(mask=V.S)
    return x, V, _lengths(V), step


def _lengths(V: Matrix) -> Vector:
    """Return |v| of each row."""
    squares: Vector = V.ewise_mult(V, binary.times).new().reduce_rowwise(monoid.plus).new()
    squares << squares.apply(unary.sqrt)
    return squares


def _vectors(table: NDArray[np.float64]) -> tuple[Matrix, Vector]:
    """Check places and return their unit vectors, and which vertices have one."""
    n = table.shape[0]
    absent = np.isnan(table)
    half = np.flatnonzero(absent.any(axis=1) & ~absent.all(axis=1))
    if half.size:
        raise InvalidValue(f"places has one number in row {half[0]}; latitude and longitude, or neither, are needed")
    known = np.flatnonzero(~absent[:, 0])
    wrong = known[~np.isfinite(table[known]).all(axis=1) | (np.abs(table[known, 0]) > 90)]
    if wrong.size:
        latitude, longitude = table[wrong[0]]
        raise InvalidValue(
            f"places has latitude {latitude:g} and longitude {longitude:g} in row {wrong[0]}; a latitude in -90..90 "
            "and a finite longitude are needed"
        )
    P = Matrix.from_coo(
        np.repeat(known, 3), np.tile([0, 1, 2], known.size), unit_vectors(table[known]).ravel(), datatypes.FP64,
        nrows=n, ncols=3,
    )  # fmt: skip
    return P, Vector.from_coo(known, True, datatypes.BOOL, size=n)


def unit_vectors(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the unit vectors of latitudes and longitudes, a row each."""
    latitude, longitude = np.radians(degrees).T
    return np.stack(
        [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)], axis=1
    )


def _degrees(P: Matrix, given: NDArray[np.float64]) -> Matrix:
    """Return the latitudes and longitudes of unit vectors, except where they are given."""
    i, _, values = P.to_coo()
    x, y, z = values.reshape(-1, 3).T
    found = np.degrees(np.stack([np.arctan2(z, np.hypot(x, y)), np.arctan2(y, x)], axis=1))
    at = i[::3].astype(np.int64)
    found = np.where(np.isnan(given[at]), found, given[at])
    made: Matrix = Matrix.from_coo(
        np.repeat(at, 2), np.tile([0, 1], at.size), found.ravel(), datatypes.FP64, nrows=P.nrows, ncols=2
    )
    return made
