"""Calls that docs/networkx.md says are declined."""

from __future__ import annotations

from inspect import Parameter
from typing import Any

import networkx as nx
import numpy as np

from sparsezc.networkx_backend import interface
from sparsezc.networkx_backend.info import FUNCTIONS


def may_decline(name: str, G: Any, given: dict[str, Any]) -> bool:
    """Return whether docs/networkx.md, which has the lines of ``info.FUNCTIONS``, says that a call is declined."""
    limits = FUNCTIONS[name]
    given = {k: v for k, v in interface.CLAIMS[name].defaults.items() if v is not Parameter.empty} | given
    if "that are matrices" in limits or (
        "partitions" in limits and not nx.community.is_partition(G, given["partition"])
    ):
        return True
    if "must be in the graph" in limits and any(node not in G for node in _lists(given)):
        return True
    if "with a weight" in limits and given["weight"] is not None and given["method"] == "bellman-ford":
        return True
    if (
        "Not where integers" in limits
        and len({isinstance(d.get(given["weight"], 1), int) for *_, d in G.edges(data=True)}) > 1
    ):
        return True
    if G.is_multigraph() or ("Only for directed" in limits and not G.is_directed()):
        return True
    if ("nly for undirected" in limits and G.is_directed()) or ("loops" in limits and nx.number_of_selfloops(G)):
        return True
    if any(_restricted(argument, value, limits) for argument, value in given.items()):
        return True
    if "must name every node" in limits and given.get("nstart") is not None and set(given["nstart"]) != set(G):
        return True
    if "whole side" in limits and not _is_side(G, given["nodes"]):
        return True
    if "finite capacity" in limits:
        known = [d.get(given.get("capacity", "capacity")) for _, _, d in G.edges(data=True)]
        return not all(isinstance(x, (int, float, np.number)) and 0 <= x < _MOST for x in known) or _two_values(
            G, given.get("capacity", "capacity")
        )
    weights = [d.get(_attribute(name, given), 1) for _, _, d in G.edges(data=True)]
    if not all(isinstance(x, (int, float, np.number)) and abs(x) < _MOST for x in weights):
        return True
    least, bound = min(weights, default=1), ">= 0" in limits or "> 0" in limits or "negative cycles" in limits
    if "not all 0" in limits and weights and not any(weights):
        return True
    return bool((bound and least < 0) or ("> 0" in limits and least <= 0) or _two_values(G, _attribute(name, given)))


def _lists(given: dict[str, Any]) -> list[Any]:
    """Return all nodes in lists among the arguments."""
    return [node for value in given.values() if isinstance(value, list) for node in value]


def _is_side(G: Any, nodes: Any) -> bool:
    """Return whether these are one whole side of a bipartite graph: every edge has one end among them."""
    side = set(nodes)
    once = len(side) == len(list(nodes)) and side <= set(G)
    return once and all((u in side) != (v in side) for u, v in G.edges)


def _two_values(G: Any, weight: Any) -> bool:
    """Return whether an undirected view has edges whose directions differ in an attribute."""

    def value(u: Any, v: Any) -> tuple[bool, Any]:
        found = G[u][v].get(weight, 1)
        return isinstance(found, float), found

    return not G.is_directed() and any(value(u, v) != value(v, u) for u in G for v in G[u])


#: Where sums of weights may leave 64 bits.
_MOST = 2**50


def _restricted(argument: str, value: Any, limits: str) -> bool:
    return (
        (f"`{argument}` must be None" in limits and value is not None)
        or (f"`{argument}` must be False" in limits and value)
        or (f"Only `{argument}`" in limits and not value)
        or (argument in ("strategy", "interchange") and value not in ("largest_first", "random_sequential", False))
        or (
            argument in ("nstart", "personalization", "dangling")
            and value is not None
            and (min(value.values(), default=0) < 0 or sum(value.values()) == 0)
        )
    )


#: Functions that read the attribute ``weight`` without an argument for its name.
_OF_WEIGHT = {"hits", "tournament_matrix", "bethe_hessian_matrix", "bethe_hessian_spectrum"}


def _attribute(name: str, given: dict[str, Any]) -> Any:
    """The edge attribute that a call reads."""
    function = interface.CLAIMS[name].defaults
    read = next((p for p in ("weight", "distance") if p in function and name != "descendants_at_distance"), None)
    return "weight" if name in _OF_WEIGHT else None if read is None else given.get(read, function[read])
