"""Conversion of NetworkX's graphs to the backend's, and back."""

from __future__ import annotations

from itertools import chain
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc.core.matrix import Matrix
from sparsezc.networkx_backend.graph import DiGraph, Graph
from sparsezc.semirings.types import datatypes

#: The types of values that are accepted; a Fraction or a Decimal would not be returned as one.
WHOLE = (int, np.integer, np.bool_)
NUMBERS = (*WHOLE, float, np.floating)
#: Integers up to here are exact in FP64 too.
EXACT = 2**53


def convert_from_nx(
    graph: Any,
    *,
    edge_attrs: dict[str, Any] | None = None,
    node_attrs: dict[str, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    preserve_graph_attrs: bool = False,
    name: str | None = None,
    graph_name: str | None = None,
) -> Graph:
    """Make the backend's graph; NetworkX calls this, and caches the result with the graph.

    Parameters
    ----------
    graph : networkx.Graph or networkx.DiGraph
    edge_attrs : dict, optional
        The edge attributes that are needed, with the values of missing ones: finite numbers.
    preserve_edge_attrs : bool
        All are needed: they are read from `graph` itself, as is any attribute requested later.
    node_attrs, preserve_node_attrs, preserve_graph_attrs, name, graph_name
        As NetworkX passes them; the backend's functions read attributes of nodes from `graph` only.

    Raises
    ------
    NotImplementedError
        A multigraph, or an attribute that is not a finite number, has no finite sum, or has two values for one
        undirected edge: NetworkX may then try another backend.
    """
    if isinstance(graph, Graph):
        return graph
    if graph.is_multigraph():
        raise NotImplementedError("sparsezc has no multigraphs; nx.Graph(G) or nx.DiGraph(G) merges parallel edges")
    kind = DiGraph if graph.is_directed() else Graph
    nodes = list(graph)
    if set(map(type, nodes)) <= {int} and nodes == list(range(len(nodes))):  # 0.0 and False equal 0 but are other nodes
        nodes = range(len(nodes))  # type: ignore[assignment]
    made = kind._made(Matrix(datatypes.BOOL, 0, 0), nodes, graph)
    made.A = _matrix(made, *_edges(graph, made), True)
    for weight, default in (edge_attrs or {}).items():
        weighted(graph, made, weight, default)
    return made


def weighted(source: Any, G: Graph, weight: str, default: Any) -> None:
    """Give a graph the values of an edge attribute: INT64 if all are integers, else FP64."""
    every = [data.get(weight, default) for row in _rows(source) for data in row.values()]
    i, j = _edges(source, G)
    values = _numbers(every, weight)
    fractions = None
    if values.dtype == np.float64:
        fractions = np.fromiter((not isinstance(value, WHOLE) for value in every), bool, len(every))
    if not G.directed and type(getattr(source, "_adj", None)) is not dict:
        _refuse_two_values(i, j, values if fractions is None else np.c_[values, fractions], weight)
    G._values[weight] = _matrix(G, i, j, values)
    if fractions is not None and not fractions.all():
        n = len(G)
        G._fractions[weight] = Matrix.from_coo(i, j, fractions, nrows=n, ncols=n)


def _refuse_two_values(i: NDArray[np.int64], j: NDArray[np.int64], values: NDArray[Any], weight: str) -> None:
    """Decline an undirected view of a directed graph whose opposite edges have different values."""
    if not np.array_equal(values[np.lexsort((j, i))], values[np.lexsort((i, j))]):
        raise NotImplementedError(
            f"edge attribute {weight!r} has another value on the way back in this view; nx.Graph(G) has one an edge"
        )


def numbered(G: Graph, against: bool) -> Matrix:
    """Return the numbers of the edges in the graph's order, node by node; those of its transpose if `against`."""
    n = len(G)
    if G.source is None:
        i, j, _ = (G.A.T.new() if against else G.A).to_coo()
    else:
        i, j = _edges(G.source, G, against)
    made: Matrix = Matrix.from_coo(i, j, np.arange(len(i), dtype=np.int64), nrows=n, ncols=n)
    return made


def _rows(source: Any, against: bool = False) -> list[Any]:
    """Return the neighbours of each node: ``_adj``, as ``adj`` is slow, unless the class has its own ``adj``."""
    if against:
        return list(source.pred.values())
    plain = type(source).adj in (nx.Graph.adj, nx.DiGraph.adj)
    return list((source._adj if plain else source.adj).values())


def _edges(source: Any, G: Graph, against: bool = False) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ends of all edges, in the graph's order; undirected ones in both directions."""
    rows = _rows(source, against)
    degrees = np.fromiter(map(len, rows), np.int64, len(rows))
    ends = map(G.index.__getitem__, chain.from_iterable(rows))
    return np.repeat(np.arange(len(rows)), degrees), np.fromiter(ends, np.int64, int(degrees.sum()))


def _numbers(every: list[Any], weight: str) -> NDArray[Any]:
    """Return values as an array; raise NotImplementedError for values that are no finite numbers or would change."""
    kinds = set(map(type, every))
    if wrong := [kind.__name__ for kind in kinds if not issubclass(kind, NUMBERS)]:
        raise NotImplementedError(f"edge attribute {weight!r} has a value of type {wrong[0]}; sparsezc needs numbers")
    whole = all(issubclass(kind, WHOLE) for kind in kinds)
    most = max((abs(int(value)) for value in every if isinstance(value, WHOLE)), default=0)
    if most >= (2**63 if whole else EXACT):
        raise NotImplementedError(f"edge attribute {weight!r} has an integer of size {most}; sparsezc has 64 bits")
    array = np.array(every, np.int64 if whole else np.float64)
    if not np.isfinite(array).all():
        raise NotImplementedError(f"edge attribute {weight!r} has infinite values or NaN; sparsezc needs finite ones")
    with np.errstate(over="ignore"):
        if not np.isfinite(np.abs(array).sum(dtype=np.float64)):
            raise NotImplementedError(f"edge attribute {weight!r} has an infinite sum; sparsezc needs a finite one")
    return array


def _matrix(G: Graph, rows: NDArray[Any], columns: NDArray[Any], values: Any) -> Matrix:
    n = len(G)
    A: Matrix = Matrix.from_coo(rows, columns, values, nrows=n, ncols=n)._known_symmetric(not G.directed)
    placement = getattr(getattr(nx.config.backends, "sparsezc", None), "placement", None)
    return A if placement is None else A.to(placement=placement)


def convert_to_nx(obj: Any, *, name: str | None = None) -> Any:
    """Make a NetworkX graph of a backend's; return other objects unchanged."""
    return original(obj).copy() if isinstance(obj, Graph) else obj


def original(obj: Graph) -> Any:
    """Return the NetworkX graph of one of the backend's, with its attributes; make it if there is none."""
    if obj.source is not None:
        return obj.source
    made = nx.DiGraph() if obj.directed else nx.Graph()
    made.add_nodes_from(obj.nodes)
    for weight, A in [(None, obj.A), *obj._values.items()]:
        i, j, values = A.to_coo()
        ends = zip(obj.names(i), obj.names(j), values.tolist(), strict=True)
        made.add_edges_from((u, v, {} if weight is None else {weight: value}) for u, v, value in ends)
    return made
