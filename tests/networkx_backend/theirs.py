"""Faults of NetworkX: calls whose outcomes are not compared, with the reasons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

from tests.networkx_backend.judging import Outcome, outcome

#: Calls whose outcome is a fault of NetworkX, with the reason.
NETWORKX_S_OWN: dict[str, Callable[[Any, dict[str, Any], Outcome], bool]] = {
    # it adds a node to the graph for a while, which frozen graphs and views refuse
    "negative_edge_cycle": lambda G, given, theirs: theirs == ("raised", nx.NetworkXError),
    # SciPy's solver refuses matrices of one row and those without entries, with errors of its own
    # SciPy's statistics fail to import in some of its versions
    "degree_pearson_correlation_coefficient": lambda G, given, theirs: theirs == ("raised", NameError),
    # it wants at least one edge, if there may be parallel ones
    **dict.fromkeys(
        ("to_numpy_array", "to_pandas_adjacency"),
        lambda G, given, theirs: theirs == ("raised", ValueError) and not G.subgraph(given["nodelist"] or G).size(),
    ),
    # it wants at least one edge from the rows
    "biadjacency_matrix": lambda G, given, theirs: theirs == ("raised", ValueError),
    "hits": lambda G, given, theirs: theirs[0] == "raised" and theirs[1].__module__ != "networkx.exception",
    # it compares labels of unions that gain as much
    "greedy_modularity_communities": lambda G, given, theirs: theirs == ("raised", TypeError),
    # it subtracts matrices of booleans, which is "exclusive or"
    "tournament_matrix": lambda G, given, theirs: {bool} == {type(d.get("weight", 1)) for *_, d in G.edges(data=True)},
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


#: Functions whose sums of parallel edges NetworkX computes by SciPy, of booleans as "or".
_OF_SUMS = {
    "adjacency_matrix", "adjacency_spectrum", "bethe_hessian_matrix", "bethe_hessian_spectrum", "biadjacency_matrix",
    "constraint", "effective_size", "laplacian_matrix", "laplacian_spectrum", "normalized_laplacian_matrix",
    "normalized_laplacian_spectrum", "pagerank", "to_scipy_sparse_array",
}  # fmt: skip


def ors(name: str, G: Any) -> bool:
    """Return whether NetworkX may have the "or" of parallel edges where their sum is needed."""
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
    """Return whether labels cannot be compared: NumPy compares its numbers with a tuple's parts, and NetworkX fails."""
    return any(isinstance(u, np.generic) for u in G) and any(isinstance(u, tuple) for u in G)
