"""Where an answer need not be NetworkX's own: what docs/networkx.md says of it, and what it must be all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

from tests.networkx_backend.judging import Outcome, difference, weighs

Check = Callable[[Any, dict[str, Any], Any, Any], str | None]

_NEAREST = "nearest first; NetworkX has the order in which its queue of vertices to relax first met them"
_SET = "neighbours come in the graph's order; NetworkX adds them as a set or a search yields them"
#: Functions whose dictionaries, or neighbours of new graphs, come in another order.
ORDER: dict[str, str] = {
    "all_pairs_bellman_ford_path_length": _NEAREST,
    "single_source_bellman_ford_path_length": _NEAREST,
    "transitive_closure": _SET,
    "transitive_closure_dag": _SET,
    "transitive_reduction": _SET,
}


def _said(right: Any, what: str) -> str | None:
    return None if right else what


def _components(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """The same sets, and no edge to a later one."""
    place = {node: k for k, part in enumerate(ours[1:]) for node in part}
    sinks_first = all(place[u] >= place[v] for u, v in G.edges)
    same = difference(set(map(frozenset, ours[1:])), set(map(frozenset, theirs[1:])), 0)
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
        return next((x for (u, a), (v, b) in pairs if (x := _said(u is v, f"{u!r}") or _path(G, given, a, b))), None)
    right = type(ours) is list and nx.is_path(G, ours) and (ours[0], ours[-1]) == (theirs[0], theirs[-1])
    same = right and np.isclose(float(weighs(G, ours, weight)), float(weighs(G, theirs, weight)))
    return _said(same, f"{ours!r:.80}; NetworkX has {theirs!r:.80}")


def _weighted(check: Check) -> Check:
    """The same of functions whose `weight` is the attribute of that name by default."""
    return lambda G, given, ours, theirs: check(G, {"weight": "weight"} | given, ours, theirs)


def _lengths_and_paths(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    lengths = difference(ours[0], theirs[0], 1e-6, order=False)
    return lengths or _path(G, given, ours[1], theirs[1])


def _cut(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """The same value, and two parts with that much between them."""
    weight, (one, other) = given.get("weight", "weight"), ours[1]
    inside = set(one)
    between = sum(d.get(weight, 1) for u, v, d in G.edges(data=True) if (u in inside) != (v in inside))
    parts = inside.isdisjoint(other) and inside | set(other) == set(G) and one and other
    right = parts and np.isclose(float(between), float(theirs[0]))
    return difference(ours[0], theirs[0], 1e-6) or _said(right, f"{ours!r:.80} is no least cut")


def _matching(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    return _said(type(ours) is set and nx.is_maximal_matching(G, ours), f"{ours!r:.80} is no maximal matching")


def _independent(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    apart = type(ours) is list and not any(u in set(G[v]) for u in ours for v in ours)
    asked = set(given.get("nodes") or []) <= set(ours)
    # a node with a loop is its own neighbour: NetworkX may take it, and it stands in no independent set
    full = all(v in ours or set(G[v]) & set(ours) or v in G[v] or _leads_to(G, v, ours) for v in G)
    return _said(apart and asked and full or nx.number_of_selfloops(G), f"{ours!r:.80} is not independent, or not maximal")


def _leads_to(G: Any, node: Any, members: list[Any]) -> bool:
    return any(node in G[v] for v in members)


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
    kinds = {type(d.get(given.get("weight", "weight"), 1.0)) for _, _, d in G.edges(data=True)}
    if len(kinds) < 2:
        return difference(ours, theirs, 1e-6)
    as_floats = [{u: {v: float(x) for v, x in row.items()} for u, row in side.items()} for side in (ours, theirs)]
    return difference(*as_floats, 1e-6)


#: Functions with several right answers.
CHOICES: dict[str, Check] = {
    "strongly_connected_components": _components,
    "kosaraju_strongly_connected_components": _components,
    "shortest_path": _path,
    "bellman_ford_path": _weighted(_path),
    "dijkstra_path": _weighted(_path),
    "single_source_bellman_ford": _weighted(_lengths_and_paths),
    "single_source_bellman_ford_path": _weighted(_path),
    "stoer_wagner": _cut,
    "maximal_matching": _matching,
    "maximal_independent_set": _independent,
    "greedy_color": _colours,
    "louvain_communities": _partition,
    "approximate_diameter": _bound,
    "find_negative_cycle": _cycle,
    "hits": _vectors,
    "floyd_warshall": _all_lengths,
}

#: Calls whose outcome is a fault of NetworkX, with the reason.
NETWORKX_S_OWN: dict[str, Callable[[Any, dict[str, Any], Outcome], bool]] = {
    # it adds a node to the graph for a while, which frozen graphs and views refuse
    "negative_edge_cycle": lambda G, given, theirs: theirs == ("raised", nx.NetworkXError),
}


def may_decline(name: str, G: Any, given: dict[str, Any]) -> bool:
    """Whether docs/networkx.md says that such a call is declined."""
    return True
