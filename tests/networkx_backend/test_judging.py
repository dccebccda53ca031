"""The judge of NetworkX calls excuses NetworkX's faults, and no wrong answer with them."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest

from tests.campaigns.networkx_calls import _judge
from tests.networkx_backend.judging import outcome

SIX, PAIR = np.int64(6), ("a", None)


def graph(edges: Any) -> Any:
    G = nx.Graph(name="g")
    G.add_edges_from((u, v, {"weight": 2 + k}) for k, (u, v) in enumerate(edges))
    return G


CUTS = {
    "an edge joins labels that have no comparison": (graph(combinations([SIX, 0, PAIR], 2)), StopIteration),
    "one is merged with the other's neighbour": (graph([(PAIR, 1), (PAIR, 0), (SIX, 0)]), ValueError),
    "no two of them are compared": (graph([(0, SIX), (0, PAIR)]), None),
    "a tuple of one is compared": (graph(combinations([SIX, 0, (4,)], 2)), None),
}  # fmt: skip


@pytest.mark.parametrize("case", CUTS)
def test_a_least_cut_has_its_value_whatever_the_labels(case: str) -> None:
    G, error = CUTS[case]
    theirs = outcome(lambda: nx.stoer_wagner(G, backend="networkx"))
    assert (theirs == ("raised", error)) if error else theirs[0] == "returned"
    right = outcome(lambda: nx.stoer_wagner(G, backend="sparsezc"))
    assert right[0] == "returned"
    assert _judge("stoer_wagner", G, {}, right, theirs)[1] is None
    value, (one, other) = right[1]
    for wrong in (
        ("returned", (value + 1, (one, other))),
        ("returned", (value, (one + other, []))),
        ("raised", StopIteration),
    ):
        assert _judge("stoer_wagner", G, {}, wrong, theirs)[1]
