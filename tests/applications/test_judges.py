"""Tests of the judges: each refuses a right answer that is changed in one place."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

import sparsezc as gb
from tests.algorithms import test_communities as louvain
from tests.algorithms import test_leiden as leiden
from tests.algorithms import test_random_walks as walks
from tests.algorithms import test_sampling as sampling
from tests.algorithms.graphs import both_ways, kronecker
from tests.applications import test_application_classification as classification
from tests.applications import test_collaborative_filtering as filtering
from tests.applications import test_fused_lasso as lasso
from tests.applications import test_geolocation as geolocation
from tests.applications import test_graphsage as graphsage
from tests.applications import test_linear_assignment as assignment
from tests.applications import test_local_clustering as clustering
from tests.applications import test_maximum_flow as flow
from tests.applications import test_projection as projection
from tests.applications import test_scan_statistics as scan
from tests.applications import test_seeded_graph_matching as matching
from tests.applications import test_vertex_nomination as nomination
from tests.engines import test_hops as hops

GRAPH = both_ways(kronecker(4, 3))
VALUES = np.random.default_rng(1).normal(size=16)
PLACES = geolocation.places_of(16, 2)


def shifted(v: Any, by: Any) -> Any:
    """Return a copy of a Vector or Matrix whose first entry is larger by `by`."""
    made = v.dup()
    at = [int(each[0]) for each in v.to_coo()[: v.ndim]]
    made[tuple(at) if v.ndim == 2 else at[0]] = v[tuple(at) if v.ndim == 2 else at[0]].get() + by
    return made


def swapped(match: Any) -> Any:
    """Return a match in which two vertices have each other's partners."""
    order = match.to_dense()
    order[[-1, -2]] = order[[-2, -1]]
    return gb.Vector.from_dense(order)


def without(side: Any) -> Any:
    """Return a Vector without its last entry."""
    made = side.dup()
    del made[int(side.to_coo()[0][-1])]
    return made


def drawn_again(column: int, vertex: int, other: int) -> Callable[[Any], Any]:
    """Return a function that replaces a vertex by another in one column of walks."""

    def made(found: Any) -> Any:
        table = found.to_dense(fill_value=-1)
        table[table[:, column] == vertex, column] = other
        i, j = np.nonzero(table >= 0)
        return gb.Matrix.from_coo(i, j, table[i, j], nrows=found.nrows, ncols=found.ncols)

    return made


def first_two(ranked: Any) -> Any:
    """Return a Vector whose first two values are swapped."""
    order = ranked.to_dense()
    order[[0, 1]] = order[[1, 0]]
    return gb.Vector.from_dense(order)


def apart(label: Any) -> Any:
    """Return communities of one vertex each."""
    return gb.Vector.from_dense(np.arange(label.size))


def once_more(found: Any) -> Any:
    """Return a sample whose last edge repeats the edge before it."""
    edge = found.edge.copy()
    edge[-1] = edge[-2]
    return found._replace(edge=edge)


def inner(test: Any, *given: Any) -> Callable[[], Any]:
    """Return a function that runs a property test with these arguments."""
    return lambda: test.hypothesis.inner_test(*given)


class Wrong(NamedTuple):
    """A test module, the function's name in it, a call of its judge, and the change to the function's answer."""

    module: ModuleType
    function: str
    judged: Callable[[], Any]
    made: Callable[[Any], Any]


A, COSTS = matching.graph(30, 6, 3), np.random.default_rng(2).random((6, 8))
KNOWN = [(k, k) for k in range(10)]
CASES = {
    "an edge too many": Wrong(
        scan, "scan_statistics", lambda: scan.check(GRAPH, 1), lambda found: (shifted(found[0], 1), found[1])
    ),
    "a vertex of fewer edges": Wrong(
        scan, "scan_statistics", lambda: scan.check(GRAPH, 1), lambda found: (found[0], (found[1] + 1) % 16)
    ),
    "a value beyond the minimum": Wrong(
        lasso, "fused_lasso", lambda: lasso.check(GRAPH, VALUES, 0.3, 0.1),
        lambda found: (shifted(found[0], 0.5), found[1]),
    ),
    "a gap that is too small": Wrong(
        lasso, "fused_lasso", lambda: lasso.check(GRAPH, VALUES, 0.3, 0.1),
        lambda found: (found[0].apply("times", right=0.5).new(), 0.0),
    ),
    "a place a metre off": Wrong(
        geolocation, "geolocation", lambda: geolocation.check(GRAPH, PLACES, 4), lambda found: shifted(found, 1e-3)
    ),
    "a place that is made up": Wrong(
        geolocation, "geolocation", lambda: geolocation.check(GRAPH, PLACES * np.nan, 4),
        lambda found: gb.Matrix.from_dense(np.zeros((16, 2))),
    ),
    "a cluster with one vertex less": Wrong(
        clustering, "local_clustering", lambda: clustering.check(GRAPH, [0], 0.1, 1e-3),
        lambda found: (found[0], found[1].select("colle", int(found[1].to_coo()[1].max()) - 1).new(), found[2]),
    ),
    "a PageRank beyond its bound": Wrong(
        clustering, "local_clustering", lambda: clustering.check(GRAPH, [0], 0.1, 1e-3),
        lambda found: (shifted(found[0], 1e-3), *found[1:]),
    ),
    "a neighbour of another value": Wrong(
        sampling, "sample_neighbors", sampling.test_neighbours_are_of_the_sources, lambda found: shifted(found, 1)
    ),
    "draws that are too few": Wrong(
        sampling, "sample_neighbors", sampling.test_counts_are_sums_over_draws, lambda found: shifted(found, -1)
    ),
    "a sample with an edge twice": Wrong(
        hops.ops, "sample_hops", lambda: hops.test_structure((4, 3, 2), {}), once_more
    ),
    "a step along no edge": Wrong(
        walks, "random_walks", lambda: walks.check(GRAPH, [0] * 9, 4), lambda found: shifted(found.dup(), 1)
    ),
    "steps that p and q do not draw": Wrong(
        sampling, "random_walks", lambda: sampling.test_second_steps_of_node2vec(0.25, 4.0, None), drawn_again(2, 3, 4)
    ),
    "steps that scores do not draw": Wrong(
        sampling, "graph_search", sampling.test_steps_by_score, drawn_again(1, 1, 4)
    ),
    "a step to a lower score": Wrong(
        sampling, "graph_search", lambda: sampling.test_greedy_search_exactly("kronecker", 1.0), lambda f: shifted(f, 1)
    ),
    "communities of no modularity": Wrong(
        louvain, "louvain_communities", lambda: louvain.test_communities_of_small_graphs("kronecker"), apart
    ),
    "a community in two parts": Wrong(
        leiden, "leiden", inner(leiden.test_any_graph, leiden.csr(4, [(0, 1), (2, 3)]), False, 1.0, 0),
        lambda levels: [each.apply("times", right=0).new() for each in levels],
    ),
    "an embedding off by a thousandth": Wrong(
        graphsage, "graphsage", inner(graphsage.test_any_graph, GRAPH, 2, 3), lambda found: shifted(found, 1e-3)
    ),
    "a vertex nominated before a nearer one": Wrong(
        nomination, "vertex_nomination", lambda: nomination.check(GRAPH, [0, 5], 9),
        lambda found: (first_two(found[0]), found[1]),
    ),
    "a distance that is too long": Wrong(
        nomination, "vertex_nomination", lambda: nomination.check(GRAPH, [0, 5], 9),
        lambda found: (found[0], shifted(found[1], 1.0)),
    ),
    "a neighbour in common too many": Wrong(
        projection, "projection", inner(projection.test_any_graph, projection.table(9, 6, 0.4, 1), "rows", "count"),
        lambda found: shifted(found, 1),
    ),
    "a probability off by a millionth": Wrong(
        classification, "classify", inner(classification.test_it_is_what_loops_compute, 3, "corrected", 2),
        lambda found: shifted(found, 1e-6),
    ),
    "a factor off by a thousandth": Wrong(
        filtering, "filtering", filtering.test_each_row_of_least_squares_is_lstsqs,
        lambda found: (found[0], shifted(found[1], 1e-3), found[2]),
    ),
    "a loss that is too small": Wrong(
        filtering, "filtering", inner(filtering.test_descent_is_luxs_update, 1, 2),
        lambda found: (*found[:2], found[2] * 0.999),
    ),
    "a cut with one vertex less": Wrong(
        flow, "minimum_cut", lambda: flow.check(flow.csr(4, [(0, 1), (1, 2), (2, 3)], [5, 1, 5]), 0, 3),
        lambda found: (found[0], without(found[1])),
    ),
    "a cut below the flow": Wrong(
        flow, "minimum_cut", lambda: flow.check(GRAPH, 0, 1), lambda found: (found[0] - 1, found[1])
    ),
    "a flow above a capacity": Wrong(
        flow, "maximum_flow", lambda: flow.check(GRAPH, 0, 1), lambda found: (found[0], shifted(found[1], 1))
    ),
    "a match of other edges": Wrong(
        matching, "matching", lambda: matching.check(A, A, KNOWN), lambda found: (swapped(found[0]), found[1])
    ),
    "an assignment that is not the least": Wrong(
        assignment, "assign", lambda: assignment.check(COSTS, False, "exact"), swapped
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_wrong_answer_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[name]
    right = getattr(case.module, case.function)
    if "made up" not in name:
        case.judged()
    monkeypatch.setattr(case.module, case.function, lambda *given, **options: case.made(right(*given, **options)))
    with pytest.raises(AssertionError):
        case.judged()
