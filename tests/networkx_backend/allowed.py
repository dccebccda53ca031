"""Answers that may differ from NetworkX's by docs/networkx.md, and their remaining conditions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

from sparsezc.networkx_backend import interface
from sparsezc.networkx_backend.info import FUNCTIONS
from tests.networkx_backend.judging import Outcome, difference, outcome, weighs

Check = Callable[[Any, dict[str, Any], Any, Any], str | None]

_SET = "neighbours come in the graph's order; NetworkX adds them as a set or a search yields them"
#: Functions whose dictionaries, or neighbours of new graphs, come in another order.
ORDER: dict[str, str] = {
    "ego_graph": "with `undirected` the nodes found are put into NetworkX's set in another order",
    "transitive_closure": _SET,
    "transitive_closure_dag": _SET,
    "transitive_reduction": _SET,
    "projected_graph": _SET,
    "weighted_projected_graph": _SET,
    "collaboration_weighted_projected_graph": _SET,
    "overlap_weighted_projected_graph": _SET,
}


def _said(right: Any, what: str) -> str | None:
    return None if right else what


def _components(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """The same sets, and no edge to a later one."""
    place = {node: k for k, part in enumerate(ours[1:]) for node in part}
    sinks_first = all(place[u] >= place[v] for u, v in G.edges)
    same = _said(set(map(frozenset, ours[1:])) == set(map(frozenset, theirs[1:])), f"{ours!r:.80}; not {theirs!r:.80}")
    return same or _said(sinks_first and len(ours) == len(theirs), "an edge leads to a later component")


def _path(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """Paths between the same nodes, of the same lengths."""
    weight = given.get("weight")
    if isinstance(theirs, dict):
        if ours.keys() != theirs.keys():
            return f"paths to {list(ours)!r:.80}; NetworkX has paths to {list(theirs)!r:.80}"
        return next((x for k in theirs if (x := _path(G, given, ours[k], theirs[k]))), None)
    if theirs[:1] == ["iterator"]:
        pairs = zip(ours[1:], theirs[1:], strict=True)
        return next((x for (u, a), (v, b) in pairs if (x := difference(u, v, 0) or _path(G, given, a, b))), None)
    right = type(ours) is list and nx.is_path(G, ours) and (ours[0], ours[-1]) == (theirs[0], theirs[-1])
    same = right and np.isclose(float(weighs(G, ours, weight)), float(weighs(G, theirs, weight)))
    return _said(same, f"{ours!r:.80}; NetworkX has {theirs!r:.80}")


def _weighted(check: Check) -> Check:
    """The same of functions whose `weight` is the attribute of that name by default."""
    return lambda G, given, ours, theirs: check(G, {"weight": "weight"} | given, ours, theirs)


def _lengths_and_paths(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    lengths = _mixed(G, given, ours[0], theirs[0])
    return lengths or _path(G, given, ours[1], theirs[1])


def _cut(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """The same value, and two parts with that much between them."""
    weight, (one, other) = given.get("weight", "weight"), ours[1]
    inside = set(one)
    between = sum(d.get(weight, 1) for u, v, d in G.edges(data=True) if (u in inside) != (v in inside))
    parts = inside.isdisjoint(other) and inside | set(other) == set(G) and one and other
    right = parts and np.isclose(float(between), float(theirs[0]))
    return _mixed(G, given, ours[0], theirs[0]) or _said(right, f"{ours!r:.80} is no least cut")


def _least_cut(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """Capacities that are fractions may sum to the same value in another order: two sides of that much between them."""
    value, (near, far) = ours
    capacity = given.get("capacity", "capacity")
    between = [
        d.get(capacity, np.inf)
        for u, v, d in G.edges(data=True)
        if (u in near and v in far) or (not G.is_directed() and u in far and v in near)
    ]
    sides = near.isdisjoint(far) and near | far == set(G) and given["_s"] in near and given["_t"] in far
    right = sides and np.isclose(float(sum(between)), float(theirs[0])) and np.isclose(float(value), float(theirs[0]))
    return _said(right, f"{ours!r:.80} is no minimum cut")


def _flow(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """The value; 2.0 may stand for 2 where integers and fractions mix."""
    return difference(_floats(ours), _floats(theirs), 1e-6)


def _matching(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    return _said(type(ours) is set and nx.is_maximal_matching(G, ours), f"{ours!r:.80} is no maximal matching")


def _independent(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    members = set(ours)
    if type(ours) is not list or len(members) < len(ours) or not set(given.get("nodes") or []) <= members:
        return f"{ours!r:.80} is no list of members with those asked for"
    # a node with a loop is its own neighbour: NetworkX may take it, though it stands in no independent set
    apart = all(u not in G[v] for u in members for v in members if u is not v)
    near = members.union(*(G[v] for v in members))
    full = all(v in near or v in G[v] or members & set(G[v]) for v in G)
    return _said(apart and full, f"{ours!r:.80} is not independent, or not maximal")


def _colours(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    if given.get("strategy") != "random_sequential":
        return difference(ours, theirs, 0)
    right = ours.keys() == set(G) and all(ours[u] != ours[v] for u, v in G.edges)
    return _said(right and {type(x) for x in ours.values()} <= {int}, f"{ours!r:.80} is no colouring")


def _partition(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    parts = [set(part) for part in ours]
    whole = sum(map(len, parts)) == len(G) and set().union(*parts) == set(G)
    return _said(type(ours) is type(theirs) and whole, f"{ours!r:.80} is no partition")


def _bound(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    exact = nx.diameter(G)
    return _said(type(ours) is int and (exact <= 2 * ours or G.is_directed()) and ours <= exact, f"{ours} for {exact}")


def _cycle(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    right = ours[0] is ours[-1] and nx.is_path(G, ours) and weighs(G, ours, given.get("weight", "weight")) < 0
    return _said(right, f"{ours!r:.80} is no negative cycle")


def _vectors(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """Leading singular vectors, positive and with a sum of 1."""
    if len(G) == 0:
        return difference(ours, theirs, 0)
    A = nx.to_numpy_array(G, dtype=float)
    for scores, B in zip(ours, (A @ A.T, A.T @ A), strict=True):
        if list(scores) != list(G) or {type(x) for x in scores.values()} > {float}:
            return f"{scores!r:.80} has other nodes or types"
        x = np.array(list(scores.values()))
        largest = np.linalg.norm(A, 2) ** 2
        if x.min() < 0 or not np.isclose(x.sum(), 1) or np.linalg.norm(B @ x - largest * x) > 1e-5 * largest:
            return f"{scores!r:.80} is no leading vector"
    return None


def _all_lengths(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """A missing length is 1.0: where some are integers, NetworkX has 2 or 2.0 by the path that it found."""
    if not _mixes(G, given, 1.0):
        return difference(ours, theirs, 1e-6)
    return difference(*map(_floats, (ours, theirs)), 1e-6)


def _by_bounds(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """NetworkX adds and subtracts bounds, of which some are integers."""
    if given.get("usebounds") and given.get("weight") and _mixes(G, given, 1):
        ours, theirs = _floats(ours), _floats(theirs)
    return difference(ours, theirs, 1e-6)


def _mixes(G: Any, given: dict[str, Any], default: Any) -> bool:
    """Return whether the lengths are integers and fractions both."""
    kinds = {isinstance(d.get(given.get("weight", "weight"), default), float) for _, _, d in G.edges(data=True)}
    return len(kinds) > 1


def _floats(found: Any) -> Any:
    if isinstance(found, dict):
        return {k: _floats(v) for k, v in found.items()}
    if isinstance(found, (list, tuple)):  # of nodes and what was found for them
        return [(x[0], _floats(x[1])) if isinstance(x, tuple) and isinstance(x[-1], dict) else x for x in found]
    return float(found)


def _mixed(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """Distances, the nearest first: NetworkX has the order in which its queue of vertices to relax first met them."""
    if _mixes(G, given, 1):
        ours, theirs = _floats(ours), _floats(theirs)
    return difference(ours, theirs, 1e-6, order=False)


#: Functions with several right answers.
CHOICES: dict[str, Check] = {
    "strongly_connected_components": _components,
    "kosaraju_strongly_connected_components": _components,
    "all_pairs_bellman_ford_path_length": _mixed,
    "single_source_bellman_ford_path_length": _mixed,
    "bellman_ford_path_length": _mixed,
    "shortest_path_length": lambda G, given, ours, theirs: (
        _mixed(G, given, ours, theirs)
        if given.get("method") == "bellman-ford" and given.get("weight")
        else difference(ours, theirs, 1e-6)
    ),
    "shortest_path": _path,
    "bellman_ford_path": _weighted(_path),
    "dijkstra_path": _weighted(_path),
    "single_source_bellman_ford": _weighted(_lengths_and_paths),
    "single_source_bellman_ford_path": _weighted(_path),
    "stoer_wagner": _cut,
    "minimum_cut": _least_cut,
    "minimum_cut_value": _flow,
    "maximum_flow_value": _flow,
    "maximal_matching": _matching,
    "maximal_independent_set": _independent,
    "greedy_color": _colours,
    "louvain_communities": _partition,
    "approximate_diameter": _bound,
    "find_negative_cycle": _cycle,
    "hits": _vectors,
    "floyd_warshall": _all_lengths,
    "diameter": _by_bounds,
    "radius": _by_bounds,
}

#: Calls whose outcome is a fault of NetworkX, with the reason.
NETWORKX_S_OWN: dict[str, Callable[[Any, dict[str, Any], Outcome], bool]] = {
    # it adds a node to the graph for a while, which frozen graphs and views refuse
    "negative_edge_cycle": lambda G, given, theirs: theirs == ("raised", nx.NetworkXError),
    # SciPy's solver refuses matrices of one row and those without entries, with errors of its own
    "hits": lambda G, given, theirs: theirs[0] == "raised" and theirs[1].__module__ != "networkx.exception",
    # they square the sum of the weights, which may be too large for that
    "modularity": lambda G, given, theirs: theirs == ("raised", OverflowError),
    "louvain_communities": lambda G, given, theirs: theirs == ("raised", OverflowError),
}


def with_numbers(name: str, G: Any, given: dict[str, Any], theirs: Outcome) -> Outcome:
    """NetworkX's outcome; where it fails at labels and not at the graph, that of the graph with numbers for labels.

    `stoer_wagner` copies the graph from a generator that compares the ends of each edge, ``u != v``. For one of NumPy's
    numbers and a tuple of several that is an array and has no truth value. ``nx.Graph`` drops this ValueError and tries
    the generator again as another kind of data; it has ended, the copy is empty, and to take a first node of it is a
    StopIteration. The same comparison of neighbours that no edge joins, when nodes are merged, is a ValueError.
    """
    at_an_edge = theirs == ("raised", StopIteration) and any(_incomparable(u, v) for u, v, *_ in G.edges)
    if name == "stoer_wagner" and (at_an_edge or (theirs == ("raised", ValueError) and clash(G))):
        numbered = nx.convert_node_labels_to_integers(G)
        return outcome(lambda: nx.stoer_wagner(numbered, **given, backend="networkx"))
    return theirs


def _incomparable(u: Any, v: Any) -> bool:
    try:
        bool(u != v)
    except ValueError:
        return True
    return False


def clash(G: Any) -> bool:
    """Return whether labels cannot be compared: NumPy compares its numbers with a tuple's parts, and NetworkX fails."""
    return any(isinstance(u, np.generic) for u in G) and any(isinstance(u, tuple) for u in G)


def may_decline(name: str, G: Any, given: dict[str, Any]) -> bool:
    """Return whether docs/networkx.md, which has the lines of ``info.FUNCTIONS``, says that a call is declined."""
    limits = FUNCTIONS[name]
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


def _attribute(name: str, given: dict[str, Any]) -> Any:
    """The edge attribute that a call reads."""
    function = interface.CLAIMS[name].defaults
    read = next((p for p in ("weight", "distance") if p in function and name != "descendants_at_distance"), None)
    return "weight" if name == "hits" else None if read is None else given.get(read, function[read])
