"""Answers that docs/networkx.md allows to differ from NetworkX's, and the conditions that they must still meet."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np

from sparsezc.networkx_backend.graphs import networkx_versions
from tests.networkx_backend.judging import difference, pythons_own, weighs

Check = Callable[[Any, dict[str, Any], Any, Any], str | None]

_SET = "neighbours come in the graph's order; NetworkX adds them as a set or a search yields them"
#: Functions whose dictionaries, or new graphs' neighbours, have another order, with the reason.
ORDER: dict[str, str] = {
    **dict.fromkeys(("all_pairs_bellman_ford_path", "johnson", "dijkstra_predecessor_and_distance"), "nearest first"),
    **dict.fromkeys(("color", "generalized_degree"), "nodes, or numbers, come in their order"),
    "condensation": "NetworkX's `mapping` has the nodes of a component in the order of a set",
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
    """Check that the components are NetworkX's, in an order in which no edge leads to a later one."""
    place = {node: k for k, part in enumerate(ours[1:]) for node in part}
    sinks_first = all(place[u] >= place[v] for u, v, *_ in G.edges)
    same = _said(set(map(frozenset, ours[1:])) == set(map(frozenset, theirs[1:])), f"{ours!r:.80}; not {theirs!r:.80}")
    return same or _said(sinks_first and len(ours) == len(theirs), "an edge leads to a later component")


def _path(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """Check that paths have the ends and lengths of NetworkX's; of parallel edges the shortest counts."""
    weight = given.get("weight")
    G = _least(G, weight) if G.is_multigraph() else G
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
    """Return a check for functions whose `weight` is the attribute "weight" by default."""
    return lambda G, given, ours, theirs: check(G, {"weight": "weight"} | given, ours, theirs)


def _any_path(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """Check paths as `_path` does, with the function's default of `weight`, also in dictionaries by both ends."""
    if isinstance(theirs, dict) and theirs and isinstance(next(iter(theirs.values())), dict):  # by source, then target
        return next((x for k in theirs if (x := _any_path(G, given, ours[k], theirs[k]))), None)
    weight = given.get("weight", "weight") if "source" not in given or "weight" in given else given.get("weight")
    return _path(G, {"weight": weight}, ours, theirs)


def _least(G: Any, weight: str | None) -> Any:
    """Return a multigraph as a graph with the least weight of parallel edges."""
    made = nx.DiGraph() if G.is_directed() else nx.Graph()
    for u, v, data in G.edges(data=True):
        value = data.get(weight, 1)
        made.add_edge(u, v, **{str(weight): min(value, made[u][v][str(weight)]) if made.has_edge(u, v) else value})
    made.add_nodes_from(G)
    return made


def _lengths_and_paths(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    lengths = _mixed(G, given, ours[0], theirs[0])
    return lengths or _path(G, given, ours[1], theirs[1])


def _cut(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """Check that the value is NetworkX's, and the edges between the two parts have this sum."""
    weight, (one, other) = given.get("weight", "weight"), ours[1]
    inside = set(one)
    between = sum(d.get(weight, 1) for u, v, d in G.edges(data=True) if (u in inside) != (v in inside))
    parts = inside.isdisjoint(other) and inside | set(other) == set(G) and one and other
    right = parts and np.isclose(float(between), float(theirs[0]))
    return _mixed(G, given, ours[0], theirs[0]) or _said(right, f"{ours!r:.80} is no least cut")


def _least_cut(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """Check that the value is NetworkX's up to rounding, and the capacities from s's side to t's have this sum."""
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
    """Check the value; with integers and floats mixed 2.0 may replace 2."""
    return difference(_floats(ours), _floats(theirs), 1e-6)


def _independent(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    members = set(ours)
    if type(ours) is not type(theirs) or len(members) < len(ours) or not set(given.get("nodes") or []) <= members:
        return f"{ours!r:.80} is no {type(theirs).__name__} of members with those asked for"
    # NetworkX may choose a node with a loop, though it is its own neighbour
    apart = all(u not in G[v] for u in members for v in members if u is not v)
    near = members.union(*(G[v] for v in members))
    full = all(v in near or v in G[v] or members & set(G[v]) for v in G)
    return _said(apart and full, f"{ours!r:.80} is not independent, or not maximal")


def _colours(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    if given.get("strategy") != "random_sequential":
        return difference(ours, theirs, 0)
    right = ours.keys() == set(G) and all(ours[u] != ours[v] for u, v, *_ in G.edges)
    return _said(right and {type(x) for x in ours.values()} <= {int}, f"{ours!r:.80} is no colouring")


def _partition(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    parts = [set(part) for part in ours]
    whole = sum(map(len, parts)) == len(G) and set().union(*parts) == set(G)
    return _said(type(ours) is type(theirs) and whole, f"{ours!r:.80} is no partition")


def _as_modular(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """Check for NetworkX's communities, or others of equal modularity: rounding decides among equal gains."""
    if difference(ours, theirs, 0) is None:
        return None
    options = {k: v for k, v in given.items() if k in ("weight", "resolution")}
    plain = _summed(G, options.get("weight")) if G.is_multigraph() else G
    here, there = (nx.community.modularity(plain, parts, **{"weight": None} | options) for parts in (ours, theirs))
    return _partition(G, given, ours, theirs) or difference(here, there, 1e-9)


def _summed(G: Any, weight: str | None) -> Any:
    """Return a multigraph as a graph with the sums of parallel edges."""
    made = nx.DiGraph() if G.is_directed() else nx.Graph()
    made.add_nodes_from(G)
    for u, v, data in G.edges(data=True):
        before = made[u][v][str(weight)] if made.has_edge(u, v) else 0
        made.add_edge(u, v, **{str(weight): before + (1 if weight is None else data.get(weight, 1))})
    return made


def _bound(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    exact = nx.diameter(G)
    return _said(type(ours) is int and (exact <= 2 * ours or G.is_directed()) and ours <= exact, f"{ours} for {exact}")


def _cycle(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    weight = given.get("weight", "weight")
    plain = _least(G, weight) if G.is_multigraph() else G
    right = ours[0] is ours[-1] and nx.is_path(G, ours) and weighs(plain, ours, weight) < 0
    return _said(right, f"{ours!r:.80} is no negative cycle")


def _vectors(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """Check for leading singular vectors, non-negative and with a sum of 1."""
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
    """Check lengths; a missing one is 1.0, or 1 since NetworkX 3.7. If types mix, 2 and 2.0 depend on the path."""
    if not _mixes(G, given, 1 if networkx_versions.SINCE_3_7 else 1.0):
        return difference(ours, theirs, 1e-6)
    return difference(*map(_floats, (ours, theirs)), 1e-6)


def _by_bounds(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """Check as floats where `usebounds` may give another type: NetworkX adds and subtracts bounds of both types."""
    if given.get("usebounds") and given.get("weight") and _mixes(G, given, 1):
        ours, theirs = _floats(ours), _floats(theirs)
    return difference(ours, theirs, 1e-6)


def _mixes(G: Any, given: dict[str, Any], default: Any) -> bool:
    """Return True if some lengths are integers and some floats."""
    kinds = {isinstance(d.get(given.get("weight", "weight"), default), float) for _, _, d in G.edges(data=True)}
    return len(kinds) > 1


def _floats(found: Any) -> Any:
    if isinstance(found, dict):
        return {k: _floats(v) for k, v in found.items()}
    if isinstance(found, (list, tuple)):  # pairs of a node and its dictionary
        return [(x[0], _floats(x[1])) if isinstance(x, tuple) and isinstance(x[-1], dict) else x for x in found]
    return float(found)


def _mixed(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """Check distances in any order: ours is the nearest first, NetworkX's that in which its queue met the nodes."""
    if _mixes(G, given, 1):
        ours, theirs = _floats(ours), _floats(theirs)
    return difference(ours, theirs, 1e-6, order=False)


def _as_sets(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """Check that the nodes, or sets of them, are the same in any order."""
    return _said(_sorted(ours) == _sorted(theirs), f"{ours!r:.80}; NetworkX has {theirs!r:.80}")


def _sorted(found: Any) -> Any:
    """Return a result without order: edges and lists as frozen sets."""
    if isinstance(found, tuple):
        return frozenset(found)
    return frozenset(map(_sorted, found)) if isinstance(found, (list, set)) else found


def _every_path(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """Check that the paths are NetworkX's in any order, each once; it repeats those with a cycle of length 0."""
    if isinstance(theirs, dict):
        same = ours.keys() == theirs.keys()
        return next((x for k in theirs if (x := _every_path(G, given, ours[k], theirs[k]))), None) if same else "nodes"
    if theirs and isinstance(theirs[-1], tuple):
        return _every_path(G, given, dict(ours[1:]), dict(theirs[1:]))
    here, there = sorted(map(repr, ours)), sorted(map(repr, theirs))
    if given.get("weight") is not None and not all(data.get(given["weight"], 1) for *_, data in G.edges(data=True)):
        there = sorted(set(there))
    return _said(here == there, f"{ours!r:.80}; NetworkX has {theirs!r:.80}")


def _elected(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """Check the first node, and that none is twice; rounding of equal votes may choose other nodes after it."""
    return _said(ours[:1] == theirs[:1] and len(set(ours)) == len(ours), f"{ours!r:.80}; NetworkX has {theirs!r:.80}")


def _ancestor(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    pair = (given["node1"], given["node2"])
    common = set.intersection(*(nx.ancestors(G, node) | {node} for node in pair))
    right = ours is None if not common else ours in common and common.isdisjoint(nx.descendants(G, ours))
    return _said(right, f"{ours!r:.80}; NetworkX has {theirs!r:.80}")


def _sizes(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """Check for NetworkX's values of given nodes; for all nodes, for its formula's value or NetworkX's own.

    If all nodes are requested, NetworkX divides by the largest ties of other nodes.
    """
    if given.get("nodes") is not None:
        return difference(ours, theirs, 1e-6)
    number = {v: k for k, v in enumerate(G)}
    ties = nx.Graph()
    ties.add_nodes_from(range(len(G)))
    for a, b, data in G.edges(data=True):
        u, v = number[a], number[b]
        more = ties[u][v]["tie"] if ties.has_edge(u, v) else 0
        weight = 1 if given.get("weight") is None else data.get(given["weight"], 1)
        ties.add_edge(u, v, tie=more + (2 * weight if u == v and G.is_directed() else weight))
    ties.remove_edges_from([(u, v) for u, v, tie in ties.edges(data="tie") if not tie])
    each = nx.effective_size(ties, list(ties), "tie", backend="networkx")
    close = (
        difference(float(x), float(each[number[v]]), 1e-6) is None or difference(x, theirs[v], 1e-6) is None
        for v, x in ours.items()
    )
    return _said(list(ours) == list(theirs) and all(close), f"{ours!r:.80}; NetworkX has {theirs!r:.80}")


def _before(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """Check that predecessors are NetworkX's in any order, and check floyd_warshall's distances by their rule."""
    return difference(ours[0], theirs[0], 0, order=False) or _all_lengths(G, given, ours[1], theirs[1])


def _places(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """Check positions after up to 20 rounds, and only their nodes after more, when rounding decides the positions."""
    close = given.get("max_iter", 100) > 20 or all(
        np.allclose(ours[v], theirs[v], rtol=1e-3, atol=1e-3, equal_nan=True) for v in theirs
    )
    return _said(list(ours) == list(theirs) and close, f"{ours!r:.80}; NetworkX has {theirs!r:.80}")


def _in_floats(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """Check as floats if integers and floats mix or weights are Boolean: NetworkX's type then depends on the order."""
    booleans = any(isinstance(x, (bool, np.bool_)) for *_, data in G.edges(data=True) for x in data.values())
    if booleans or _mixes(G, given, 1):
        ours, theirs = _as_floats(ours), _as_floats(theirs)
    return difference(ours, theirs, 1e-6)


def _spectrum(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """Check eigenvalues; those of Boolean matrices to 1e-3, as SciPy computes them in single precision."""
    weights = {type(data.get(given.get("weight", "weight"), 1)) for *_, data in G.edges(data=True)}
    if weights == {bool}:
        return _said(np.allclose(np.sort(ours), np.sort(theirs), atol=1e-3), f"{ours!r:.80}; not {theirs!r:.80}")
    return _in_floats(G, given, ours, theirs)


def _as_floats(found: Any) -> Any:
    if hasattr(found, "astype") and not isinstance(found, str):
        return found.astype(complex) if found.dtype.kind == "c" else found.astype(float)
    if isinstance(found, dict):
        return {_as_floats(k): _as_floats(v) for k, v in found.items()}
    if isinstance(found, (list, tuple)):
        return type(found)(map(_as_floats, found))
    return float(found) if isinstance(found, (int, float)) else found


def _correlated(pairs: Callable[[Any, dict[str, Any]], Any]) -> Check:
    """Return a check against the exact correlation of pairs, as NetworkX's sums may round or wrap around."""

    def check(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
        if difference(ours, theirs, 1e-6) is None:
            return None
        known = list(pairs(G, given))
        x, y = (
            [Fraction(pair[side].item() if hasattr(pair[side], "item") else pair[side]) for pair in known]
            for side in (0, 1)
        )
        m = len(known)
        spread = [m * sum(a * a for a in side) - sum(side) ** 2 for side in (x, y)]
        if not all(spread):
            return difference(ours, float("nan"), 0)
        both = m * sum(a * b for a, b in zip(x, y, strict=True)) - sum(x) * sum(y)
        exact = math.sqrt(both * both / (spread[0] * spread[1]))
        return difference(ours, exact if both > 0 else -exact, 1e-6)

    return check


def _degrees_of(G: Any, given: dict[str, Any]) -> Any:
    return nx.node_degree_xy(G, **given, backend="networkx")


def _known_values(G: Any, given: dict[str, Any]) -> Any:
    """Return the pairs that NetworkX counts: those whose second value is that of a node in `nodes`."""
    name, nodes = given["attribute"], given.get("nodes")
    known = {G.nodes[node][name] for node in (G if nodes is None else nodes)}
    return [pair for pair in nx.node_attribute_xy(G, name, nodes, backend="networkx") if pair[1] in known]


def _by_degrees(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """Check dictionaries with numbers as keys, in Python's types; keys that are float sums to nine digits."""
    here, there = (_near_keys(found) for found in (pythons_own(ours), pythons_own(theirs)))
    return difference(here, there, 1e-6)


def _near_keys(found: dict[Any, Any]) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for key, value in found.items():
        key = key.item() if isinstance(key, np.generic) else key
        key = float(f"{key:.9g}") if isinstance(key, float) else key
        value = _near_keys(value) if isinstance(value, dict) else value
        if isinstance(value, dict):
            row = made.setdefault(key, {})
            for b, count in value.items():
                row[b] = row.get(b, 0) + count
        else:
            made[key] = made.get(key, 0) + value
    return made


def _a_flow(G: Any, given: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """Check that the value is NetworkX's, no edge exceeds its capacity, and every other node conserves the flow."""
    capacity, flow = given.get("capacity", "capacity"), ours[1]
    net = dict.fromkeys(G, 0.0)
    for u, row in flow.items():
        for v, x in row.items():
            net[u] -= x
            net[v] += x
            if x < 0 or x > G[u][v][capacity] + 1e-9:
                return f"{u!r} to {v!r} carries {x}"
    near = 1e-6 * max([1.0, *(x for row in flow.values() for x in row.values())])
    kept = all(abs(x) < near for v, x in net.items() if v not in {given["_s"], given["_t"]})
    value = abs(net[given["_t"]] - float(theirs[0])) < near
    return _said(kept and value, f"{ours!r:.80} is no maximum flow") or difference(
        *map(_floats, (ours[0], theirs[0])), 1e-6
    )


#: Functions with several right answers.
CHOICES: dict[str, Check] = {
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
    "maximal_independent_set": _independent,
    "greedy_color": _colours,
    "louvain_communities": _partition,
    "greedy_modularity_communities": _as_modular,
    "bridges": lambda G, given, ours, theirs: (
        _as_sets(G, given, ours, theirs) if given.get("root") is not None else difference(ours, theirs, 0)
    ),
    "approximate_diameter": _bound,
    "find_negative_cycle": _cycle,
    "hits": _vectors,
    "floyd_warshall": _all_lengths,
    "diameter": _by_bounds,
    "radius": _by_bounds,
    **dict.fromkeys(("biconnected_components", "biconnected_component_edges", "articulation_points"), _as_sets),
    **dict.fromkeys(
        ("all_shortest_paths", "single_source_all_shortest_paths", "all_pairs_all_shortest_paths"), _every_path
    ),
    **dict.fromkeys(("bidirectional_shortest_path", "all_pairs_bellman_ford_path", "johnson"), _any_path),
    "bidirectional_dijkstra": lambda G, given, ours, theirs: (
        _mixed(G, given, ours[0], theirs[0]) or _path(G, {"weight": "weight"} | given, ours[1], theirs[1])
    ),
    "effective_size": _sizes,
    "floyd_warshall_predecessor_and_distance": _before,
    "forceatlas2_layout": _places,
    **dict.fromkeys(
        (
            "biadjacency_matrix",
            "adjacency_matrix",
            "to_scipy_sparse_array",
            "laplacian_matrix",
            "bethe_hessian_matrix",
            "tournament_matrix",
            "average_degree_connectivity",
            "average_neighbor_degree",
        ),
        _in_floats,
    ),
    "voterank": _elected,
    "adjacency_spectrum": _spectrum,
    "degree_mixing_dict": _by_degrees,
    "degree_assortativity_coefficient": _correlated(_degrees_of),
    "degree_pearson_correlation_coefficient": _correlated(_degrees_of),
    "numeric_assortativity_coefficient": _correlated(_known_values),
    "lowest_common_ancestor": _ancestor,
    "maximum_flow": _a_flow,
}
