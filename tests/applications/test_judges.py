"""The judges judged: each refuses a right answer that is changed in one place."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

import sparsezc as gb
from tests.algorithms.graphs import both_ways, kronecker
from tests.applications import test_fused_lasso as lasso
from tests.applications import test_geolocation as geolocation
from tests.applications import test_linear_assignment as assignment
from tests.applications import test_local_clustering as clustering
from tests.applications import test_maximum_flow as flow
from tests.applications import test_scan_statistics as scan
from tests.applications import test_seeded_graph_matching as matching

GRAPH = both_ways(kronecker(4, 3))
VALUES = np.random.default_rng(1).normal(size=16)
PLACES = geolocation.places_of(16, 2)


def shifted(v: Any, by: Any) -> Any:
    """Return a Vector or Matrix whose first entry is larger."""
    made = v.dup()
    at = [int(each[0]) for each in v.to_coo()[: v.ndim]]
    made[tuple(at) if v.ndim == 2 else at[0]] = v[tuple(at) if v.ndim == 2 else at[0]].get() + by
    return made


def swapped(match: Any) -> Any:
    """Return a match in which two vertices have each other's partners."""
    order = match.to_dense()
    order[[-1, -2]] = order[[-2, -1]]
    return gb.Vector.from_dense(order)


class Wrong(NamedTuple):
    """A test file, its name of the function, a call of its judge, and what is made of the function's answer."""

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
