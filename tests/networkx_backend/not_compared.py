"""Calls that are not compared: those that the backend may decline by docs/networkx.md, and faults of NetworkX."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter
from typing import Any

import networkx as nx
import numpy as np

from sparsezc.networkx_backend import interface
from sparsezc.networkx_backend.graphs import networkx_versions
from sparsezc.networkx_backend.info import functions
from tests.networkx_backend.judging import Outcome, outcome


def may_decline(name: str, G: Any, given: dict[str, Any]) -> bool:
    """Return True if the backend may decline a call by docs/networkx.md, which has the lines of ``info.FUNCTIONS``."""
    limits = functions()[name]
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
        # NetworkX 3.7 converts all attributes, and does not retry after one fails
        if networkx_versions.SINCE_3_7 and not all(_finite(x) for *_, d in G.edges(data=True) for x in d.values()):
            return True
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


def _finite(x: Any) -> bool:
    return isinstance(x, (int, float, np.number)) and abs(x) < _MOST


def _lists(given: dict[str, Any]) -> list[Any]:
    """Return all elements of the arguments that are lists."""
    return [node for value in given.values() if isinstance(value, list) for node in value]


def _is_side(G: Any, nodes: Any) -> bool:
    """Return True if the nodes are distinct and one side of a bipartite graph: every edge has one end among them."""
    side = set(nodes)
    once = len(side) == len(list(nodes)) and side <= set(G)
    return once and all((u in side) != (v in side) for u, v in G.edges)


def _two_values(G: Any, weight: Any) -> bool:
    """Return True if an undirected view has an edge whose two directions differ in the attribute."""

    def value(u: Any, v: Any) -> tuple[bool, Any]:
        found = G[u][v].get(weight, 1)
        return isinstance(found, float), found

    return not G.is_directed() and any(value(u, v) != value(v, u) for u in G for v in G[u])


#: Weights below this bound have sums that fit 64 bits.
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
    """Return the edge attribute that a call reads."""
    function = interface.CLAIMS[name].defaults
    read = next((p for p in ("weight", "distance") if p in function and name != "descendants_at_distance"), None)
    return "weight" if name in _OF_WEIGHT else None if read is None else given.get(read, function[read])


#: Calls whose outcome is a fault of NetworkX, with the reason.
NETWORKX_S_OWN: dict[str, Callable[[Any, dict[str, Any], Outcome], bool]] = {
    # NetworkX adds a node to the graph temporarily, which frozen graphs and views refuse
    "negative_edge_cycle": lambda G, given, theirs: theirs == ("raised", nx.NetworkXError),
    # scipy.stats fails to import in some versions of SciPy
    "degree_pearson_correlation_coefficient": lambda G, given, theirs: theirs == ("raised", NameError),
    # NetworkX needs at least one edge in multigraphs
    **dict.fromkeys(
        ("to_numpy_array", "to_pandas_adjacency"),
        lambda G, given, theirs: theirs == ("raised", ValueError) and not G.subgraph(given["nodelist"] or G).size(),
    ),
    # NetworkX needs at least one edge from the rows' nodes
    "biadjacency_matrix": lambda G, given, theirs: theirs == ("raised", ValueError),
    # SciPy's solver refuses matrices of one row or without entries; the power method (3.7) may not converge
    "hits": lambda G, given, theirs: (
        theirs[0] == "raised"
        and (
            theirs[1].__module__ != "networkx.exception"
            or (networkx_versions.SINCE_3_7 and theirs[1] is nx.PowerIterationFailedConvergence)
        )
    ),
    # NetworkX compares the labels of unions of equal gain
    "greedy_modularity_communities": lambda G, given, theirs: theirs == ("raised", TypeError),
    # NetworkX subtracts Boolean matrices, which NumPy takes for "exclusive or"
    "tournament_matrix": lambda G, given, theirs: {bool} == {type(d.get("weight", 1)) for *_, d in G.edges(data=True)},
    # NetworkX squares sums of weights, which may overflow
    "modularity": lambda G, given, theirs: theirs == ("raised", OverflowError),
    "hyper_wiener_index": lambda G, given, theirs: theirs == ("raised", OverflowError),
    "louvain_communities": lambda G, given, theirs: theirs == ("raised", OverflowError),
}


def with_numbers(name: str, G: Any, given: dict[str, Any], theirs: Outcome) -> Outcome:
    """Return NetworkX's outcome, or that for numbered nodes if NetworkX fails at the labels.

    `stoer_wagner` copies the graph from a generator that compares the ends of each edge, ``u != v``. For one of NumPy's
    numbers and a tuple of several elements the result is an array, which has no truth value. ``nx.Graph`` drops this
    ValueError and reads the generator again as another kind of data; the generator has ended, so the copy is empty and
    its first node raises StopIteration. When nodes are merged, the same comparison raises ValueError.
    """
    at_an_edge = theirs == ("raised", StopIteration) and any(_incomparable(u, v) for u, v, *_ in G.edges)
    if name == "stoer_wagner" and (at_an_edge or (theirs == ("raised", ValueError) and clash(G))):
        numbered = nx.convert_node_labels_to_integers(G)
        return outcome(lambda: nx.stoer_wagner(numbered, **given, backend="networkx"))
    return theirs


#: Functions for which NetworkX sums parallel edges by SciPy, which takes the "or" of Booleans.
_OF_SUMS = {
    "adjacency_matrix", "adjacency_spectrum", "bethe_hessian_matrix", "bethe_hessian_spectrum", "biadjacency_matrix",
    "constraint", "effective_size", "laplacian_matrix", "laplacian_spectrum", "normalized_laplacian_matrix",
    "normalized_laplacian_spectrum", "pagerank", "to_scipy_sparse_array",
}  # fmt: skip


def ors(name: str, G: Any) -> bool:
    """Return True if NetworkX may take the "or" of Boolean parallel edges in place of their sum."""
    return (
        name in _OF_SUMS
        and G.is_multigraph()
        and any(isinstance(d.get("weight"), bool) for *_, d in G.edges(data=True))
    )


def _incomparable(u: Any, v: Any) -> bool:
    try:
        bool(u != v)
    except ValueError:
        return True
    return False


def clash(G: Any) -> bool:
    """Return True if labels are both NumPy's numbers and tuples, whose comparison is an array and fails NetworkX."""
    return any(isinstance(u, np.generic) for u in G) and any(isinstance(u, tuple) for u in G)
