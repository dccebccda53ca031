"""gb.applications.geolocation: rounds against loops, medians against SciPy's minimiser and against averages."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

import sparsezc as gb
from sparsezc.exceptions import ConvergenceFailure, DimensionMismatch, DomainMismatch, InvalidValue
from tests.algorithms.graphs import SMALL, csr, graphs, kronecker, matrix

geolocation = gb.applications.geolocation
EARTH = 6371.0088
AMERICA = [(40.7, -74.0), (37.8, -122.4), (61.2, -149.9), (53.5, -113.5), (44.6, -63.6)]
PACIFIC = [(-36.8, 174.8), (-18.1, 178.4), (21.3, -157.9), (-13.8, -171.8)]


def distance(a, b):
    """Return the great-circle distance in km, by the haversine formula."""
    (f, g), (x, y) = np.radians(a), np.radians(b)
    h = np.sin((x - f) / 2) ** 2 + np.cos(f) * np.cos(x) * np.sin((y - g) / 2) ** 2
    return 2 * EARTH * np.arcsin(np.sqrt(np.clip(h, 0, 1)))


def vector(place):
    f, g = np.radians(place)
    return np.array([np.cos(f) * np.cos(g), np.cos(f) * np.sin(g), np.sin(f)])


def rounds_by_loops(graph, places, rounds):
    """Return the vertices' places after some rounds, computed one vertex at a time; None for an unknown place."""
    n = graph.shape[0]
    at = [None if np.isnan(p[0]) else vector(p) for p in places]
    known = [x is not None for x in at]
    for _ in range(rounds):
        new = list(at)
        for i in range(n):
            around = [at[j] for j in graph.indices[graph.indptr[i] : graph.indptr[i + 1]] if j != i]
            around = [p for p in around if p is not None]
            if known[i] or not around:
                continue
            x = at[i]
            if x is None:
                total = np.sum(around, axis=0)
                new[i] = total / np.linalg.norm(total) if np.linalg.norm(total) > 1e-7 else None
                continue
            force, rate, held = np.zeros(3), 0.0, 0
            for p in around:
                angle = np.arccos(np.clip(x @ p, -1, 1))
                if angle <= 1e-7:
                    held += 1
                elif angle < np.pi - 1e-7:
                    force += (p - (x @ p) * x) / np.sin(angle)
                    rate += 1 / angle
            size = np.linalg.norm(force)
            if size > held:
                step = (size - held) / rate
                new[i] = np.cos(step) * x + np.sin(step) * force / size
        at = new
    return at


def places_of(n, seed, share=0.5, spread=20.0):
    """Return places around (48, 10) for a share of the vertices, NaN for the others."""
    rng = np.random.default_rng(seed)
    places = np.c_[rng.normal(48, spread / 2, n).clip(-89, 89), rng.normal(10, spread, n)]
    places[rng.random(n) > share] = np.nan
    return places


def check(graph, places, rounds):
    found = geolocation(matrix(graph), places, rounds).to_dense(np.nan)
    for here, expected in zip(found, rounds_by_loops(graph, places, rounds), strict=True):
        assert np.isnan(here).all() == (expected is None)
        if expected is not None:
            assert np.linalg.norm(vector(here) - expected) < 1e-6


@given(graphs(), st.integers(0, 99), st.integers(1, 4))
def test_any_graph(graph, seed, rounds):
    check(graph, places_of(graph.shape[0], seed), rounds)


@pytest.mark.parametrize("name", ["no edges", "loops", "two cliques", "diamonds", "star"])
def test_small_graphs(name):
    check(SMALL[name], places_of(SMALL[name].shape[0], 1), 5)


def test_places_that_are_the_same():
    """Neighbours at one place, where a step of the iteration would divide by 0, give that place."""
    graph = csr(5, [(4, k) for k in range(4)])
    places = np.array([[10.0, 10.0]] * 3 + [[20.0, 20.0], [np.nan] * 2])
    check(graph, places, 7)
    assert geolocation(matrix(graph), places, 200, 0.01)[4, :].new().to_dense() == pytest.approx([10, 10], abs=1e-3)


@pytest.mark.parametrize("around", [AMERICA, PACIFIC, AMERICA[:4] + PACIFIC])
def test_the_median_is_the_minimum(around):
    k = len(around)
    graph = csr(k + 1, [(k, j) for j in range(k)])
    found = geolocation(matrix(graph), [*around, [np.nan] * 2], 600, 0.005)[k, :].new().to_dense()

    def total(x):
        return sum(distance(x, p) for p in around)

    best = min(
        (minimize(total, p, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-7}) for p in around),
        key=lambda one: one.fun,
    )
    assert total(found) <= best.fun + 0.02  # km: near a neighbour's place the iteration converges slowly
    assert distance(found, best.x) < 5
    # the mean of the degrees, Gunrock's rule, is not the minimum
    average = np.mean(around, axis=0)
    assert distance(average, best.x) > 100
    assert total(average) > best.fun + 10


def test_known_places_stay_and_what_cannot_be_known_has_none():
    graph = csr(5, [(0, 1), (1, 0), (1, 2), (2, 1), (3, 4), (4, 3)])
    places = gb.Matrix.from_coo([0, 0], [0, 1], [-33.9, 151.2], nrows=5, ncols=2)
    found = geolocation(matrix(graph), places, 1)
    assert found.to_coo()[0].tolist() == [0, 0, 1, 1]
    assert found[0, :].new().to_dense() == pytest.approx([-33.9, 151.2])
    assert geolocation(matrix(graph), places, 2).nvals == 6


def test_known_places_keep_every_bit():
    places = np.array([[0.1, 540.0], [-33.9, 151.2], [90.0, 77.0], [np.nan] * 2])
    found = geolocation(matrix(csr(4, [(3, 1)])), places, 2).to_dense()
    assert np.array_equal(found[:3], places[:3])
    assert found[3] == pytest.approx(places[1])


def test_antipodes_give_no_place():
    graph = csr(3, [(2, 0), (2, 1)])
    assert geolocation(matrix(graph), [[30.0, 20.0], [-30.0, -160.0], [np.nan] * 2]).nvals == 4


def test_a_planted_geometry_is_found():
    """On a random geometric graph most hidden places are found within half its radius."""
    rng = np.random.default_rng(3)
    n = 400
    truth = np.c_[rng.uniform(40, 55, n), rng.uniform(0, 20, n)]
    apart = np.array([[distance(a, b) for b in truth] for a in truth])
    graph = csr(n, np.argwhere((apart < 180) & (apart > 0)))
    places = truth.copy()
    places[rng.random(n) < 0.5] = np.nan
    found = geolocation(matrix(graph), places, 50).to_dense(np.nan)
    hidden = np.isnan(places[:, 0]) & ~np.isnan(found[:, 0])
    assert np.median([distance(a, b) for a, b in zip(found[hidden], truth[hidden], strict=True)]) < 90


def test_what_does_not_settle_says_how_far_it_came():
    graph = csr(4, [(3, 0), (3, 1), (3, 2)])
    with pytest.raises(ConvergenceFailure, match=r"rounds = 3 rounds a vertex still moves by [\d.]+ km"):
        geolocation(matrix(graph), [(10.0, 0.0), (-20.0, 30.0), (50.0, 60.0), [np.nan] * 2], 3, 1e-9)
    with pytest.raises(ConvergenceFailure, match="rounds = 1 rounds a vertex still gets its first place; at most tol"):
        geolocation(matrix(graph), [(10.0, 0.0), (-20.0, 30.0), (50.0, 60.0), [np.nan] * 2], 1, 1e-9)


def test_engines_agree(gpu):
    graph = kronecker(5, 3)
    A, places = matrix(graph), places_of(32, 4)
    expected = geolocation(A, places, 4)
    with gb.config.set(placement="zerocopy"), warnings.catch_warnings():
        warnings.simplefilter("error", gb.exceptions.PerformanceWarning)
        found = geolocation(A.to("gpu"), places, 4)
    assert found.isclose(expected, rel_tol=1e-9, abs_tol=1e-6)


@pytest.mark.parametrize(
    ("places", "error", "message"),
    [
        ([[91, 0], [0, 0]], InvalidValue, "latitude 91 and longitude 0 in row 0"),
        ([[0, 0], [np.nan, 1]], InvalidValue, "one number in row 1"),
        ([[0, 0], [0, np.inf]], InvalidValue, "in row 1"),
        ([[0, 0]], DimensionMismatch, r"shape \(1, 2\); \(2, 2\)"),
        ([["a", "b"]] * 2, DomainMismatch, "an array of numbers"),
        ([(1, 0), ("a", 1)], DomainMismatch, r"places has \('a', 1\) in row 1; an array of numbers"),
        ([(1, 0), None], DimensionMismatch, r"places has None, of shape \(\), in row 1; shape \(2,\) is needed"),
        ([(1, 0), (1, 0, 0)], DimensionMismatch, r"places has \(1, 0, 0\), of shape \(3,\), in row 1"),
        ({"a": 1}, DomainMismatch, "places is a dict; an array of numbers"),
        (np.ones((2, 2), complex), DomainMismatch, "places has complex values"),
        (gb.Matrix(complex, 2, 2), DomainMismatch, "places is of FC64; real values"),
    ],
)
def test_bad_places(places, error, message):
    with pytest.raises(error, match=message):
        geolocation(gb.Matrix(bool, 2, 2), places)


def test_bad_options():
    good = [[0, 0], [0, 0]]
    for options, message in (({"rounds": 0}, "rounds is 0"), ({"tol": -1}, "tol is -1"), ({"tol": "x"}, "tol is 'x'")):
        with pytest.raises((InvalidValue, DomainMismatch), match=message):
            geolocation(gb.Matrix(bool, 2, 2), good, **options)
