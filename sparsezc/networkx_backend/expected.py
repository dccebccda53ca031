"""The tests of NetworkX that require more than it documents, with the reason for each."""

from __future__ import annotations

from typing import Any

_RANDOM = "other random numbers choose among answers that are all right"
_ORDER = "a list of communities has no order"

#: By file and name.
EXPECTED_FAILURES: dict[tuple[str, str], str] = {
    ("test_dag", "test_topological_sort6"): "the iteration is over the graph as it was when it began",
    (
        "test_dominating_set",
        "test_min_edge_dominating_set",
    ): "it looks at one end of an edge that is not in the matching",
    ("test_louvain", "test_karate_club_partition"): _ORDER,
    ("test_louvain", "test_multigraph"): _RANDOM,
    ("test_louvain", "test_none_weight_param"): _ORDER,
    ("test_louvain", "test_undirected_selfloops"): _ORDER,
    ("test_mis", "test_random_seed"): _RANDOM,
    ("test_weighted", "test_find_negative_cycle_longer_cycle"): "a cycle may begin at any of its nodes",
}


def on_start_tests(items: list[Any]) -> None:
    """Mark them as expected failures; NetworkX calls this when its tests run with this backend."""
    import pytest

    for item in items:
        if reason := EXPECTED_FAILURES.get((item.path.stem, item.originalname)):
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
