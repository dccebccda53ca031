"""NetworkX's methods that read a graph, for graphs that are matrices; NetworkX's views read their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import networkx as nx
import numpy as np
from networkx.classes import coreviews, reportviews

from sparsezc.networkx_backend.graphs.copies import among, changeable, original


def refuse(*_: Any, **__: Any) -> Any:
    """Raise NetworkX's error for a change of the graph."""
    raise nx.NetworkXError(
        "the graph is a Matrix and cannot be changed, nor its attributes;"
        " nx.Graph(G), or nx.DiGraph(G) if it is directed, makes a copy that can be changed"
    )


class Fixed(dict[Any, Any]):
    """A dict of attributes or neighbours that refuses changes, which would have no effect; copies are plain dicts."""

    __setitem__ = __delitem__ = update = setdefault = pop = popitem = clear = __ior__ = refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


def fix(source: nx.Graph) -> None:
    """Make the dictionaries of a NetworkX graph refuse changes."""
    source._node.update({node: Fixed(data) for node, data in source._node.items()})
    for rows in (source._adj, source._pred) if source.is_directed() else (source._adj,):
        rows.update({u: Fixed({v: Fixed(data) for v, data in row.items()}) for u, row in rows.items()})


#: The most nodes of a graph whose rows are printed.
_PRINTED = 100


class Rows(Mapping[Any, Any]):
    """The neighbours of each node with the edges' attributes, read from the matrix one row at a time."""

    def __init__(self, G: Any, against: bool = False) -> None:
        self._graph, self._against = G, against

    def __getitem__(self, node: Any) -> Fixed:
        G = self._graph
        if node not in G:
            raise KeyError(node)
        indptr, indices = G.rows(self._against)
        row = slice(indptr[G.index[node]], indptr[G.index[node] + 1])
        data: list[dict[str, Any]] = [{} for _ in range(row.stop - row.start)]
        for weight, values in G.attributes(self._against).items():
            for one, value in zip(data, values[row].tolist(), strict=True):
                one[weight] = value
        return Fixed(zip(G.names(indices[row]), map(Fixed, data), strict=True))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._graph)

    def __len__(self) -> int:
        return len(self._graph)

    def __repr__(self) -> str:
        return repr(dict(self)) if len(self) <= _PRINTED else f"the neighbours of {len(self)} nodes"


class Nodes(Mapping[Any, Any]):
    """The attributes of each node of a graph that is a matrix."""

    def __init__(self, G: Any) -> None:
        self._graph = G

    def __getitem__(self, node: Any) -> Fixed:
        k = self._graph.index[node]
        return Fixed((name, values[k : k + 1].tolist()[0]) for name, values in self._graph.node_values.items())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._graph)

    def __len__(self) -> int:
        return len(self._graph)


class ReadOnly:
    """The methods of ``networkx.Graph`` and ``networkx.DiGraph`` that change nothing."""

    directed: bool
    source: Any
    labels: Any
    index: dict[Any, int]
    info: dict[str, Any]
    #: NetworkX's ``is_frozen`` reads this.
    frozen = True

    @property
    def graph(self) -> dict[str, Any]:
        """The attributes of the graph."""
        return self.info if self.source is None else self.source.graph

    @property
    def name(self) -> str:
        """The name of the graph."""
        return str(self.graph.get("name", ""))

    @name.setter
    def name(self, name: str) -> None:
        self.graph["name"] = name

    @property
    def _node(self) -> Mapping[Any, dict[str, Any]]:
        return Nodes(self) if self.source is None else self.source._node

    @property
    def _adj(self) -> Any:
        return Rows(self) if self.source is None else self.source._adj

    _succ = _adj

    @property
    def _pred(self) -> Any:
        if self.source is None:
            return Rows(self, against=True)
        return self.source._pred if self.directed else self.source._adj

    @property
    def nodes(self) -> Any:
        """The nodes with their attributes, as ``networkx.Graph.nodes``."""
        return reportviews.NodeView(self)

    @property
    def adj(self) -> Any:
        """The neighbours of each node, as ``networkx.Graph.adj``."""
        return coreviews.AdjacencyView(self._adj) if self.source is None else self.source.adj

    @property
    def edges(self) -> Any:
        """The edges with their attributes, as ``networkx.Graph.edges``."""
        if self.source is not None:
            return self.source.edges
        return (reportviews.OutEdgeView if self.directed else reportviews.EdgeView)(self)

    @property
    def degree(self) -> Any:
        """The degree of each node, or the sum of an edge attribute, as ``networkx.Graph.degree``."""
        if self.source is not None:
            return self.source.degree
        return (reportviews.DiDegreeView if self.directed else reportviews.DegreeView)(self)

    def nbunch_iter(self, nbunch: Any = None) -> Iterator[Any]:
        """Return an iterator over the nodes of `nbunch` that are in the graph."""
        return iter(self) if nbunch is None else iter(self.bunch(nbunch))  # type: ignore[attr-defined]

    def neighbors(self, n: Any) -> Iterator[Any]:
        """Return an iterator over the nodes to which an edge from `n` leads."""
        if n not in self:  # type: ignore[operator]
            raise self.missing(n)  # type: ignore[attr-defined]
        return iter(self[n])

    def adjacency(self) -> Iterator[tuple[Any, Any]]:
        """Return an iterator over nodes and their neighbours."""
        return iter(self._adj.items())

    def has_node(self, n: Any) -> bool:
        """Return whether a node is in the graph."""
        return n in self  # type: ignore[operator]

    def has_edge(self, u: Any, v: Any) -> bool:
        """Return whether an edge leads from u to v."""
        if self.source is not None:
            return bool(self.source.has_edge(u, v))
        return u in self.index and v in self.index and self.A.get(self.index[u], self.index[v]) is not None  # type: ignore[attr-defined]

    def get_edge_data(self, u: Any, v: Any, default: Any = None) -> Any:
        """Return the attributes of an edge, or `default`."""
        return self._adj[u].get(v, default) if self.has_edge(u, v) else default

    def number_of_edges(self, u: Any = None, v: Any = None) -> int:
        """Return the number of edges, or of those from u to v; an undirected edge counts once."""
        if u is None:
            return int(self.size())  # type: ignore[attr-defined]
        return self.source.number_of_edges(u, v) if self.source is not None else int(self.has_edge(u, v))

    def copy(self, as_view: bool = False) -> Any:
        """Return a NetworkX graph that can be changed, or, as a view, the graph itself."""
        return self if as_view else changeable(self)

    def subgraph(self, nodes: Any) -> Any:
        """Return the graph of some nodes and the edges between them, which cannot be changed either."""
        if self.source is not None:
            return self.source.subgraph(nodes)
        return among(self, np.unique(self.numbers(self.nbunch_iter(nodes))))  # type: ignore[attr-defined]

    def edge_subgraph(self, edges: Any) -> Any:
        """Return the graph of some edges and their ends, as a view of a NetworkX graph."""
        return original(self).edge_subgraph(edges)

    def to_undirected(self, as_view: bool = False) -> Any:
        """Return a NetworkX graph without directions; `as_view` has no influence."""
        return original(self).to_undirected()

    def to_directed(self, as_view: bool = False) -> Any:
        """Return a NetworkX graph with each edge in both directions; `as_view` has no influence."""
        return original(self).to_directed()

    def to_undirected_class(self) -> Any:
        """Return the class of :meth:`to_undirected`."""
        return nx.Graph if self.source is None else self.source.to_undirected_class()

    def to_directed_class(self) -> Any:
        """Return the class of :meth:`to_directed`."""
        return nx.DiGraph if self.source is None else self.source.to_directed_class()

    def __getitem__(self, n: Any) -> Any:
        if n not in self:  # type: ignore[operator]
            raise KeyError(n)
        return self._adj[n]

    def __str__(self) -> str:
        kind = type(self).__name__ if self.source is None else type(self.source).__name__
        name = f" named {self.name!r}" if self.name else ""
        return f"{kind}{name} with {len(self.labels)} nodes and {self.number_of_edges()} edges"

    __repr__ = __str__

    add_node = add_nodes_from = add_edge = add_edges_from = add_weighted_edges_from = update = refuse
    remove_node = remove_nodes_from = remove_edge = remove_edges_from = clear = clear_edges = refuse


class ReadOnlyDirected(ReadOnly):
    """The methods that ``networkx.DiGraph`` has in addition."""

    @property
    def succ(self) -> Any:
        """The successors of each node."""
        return self.adj

    @property
    def pred(self) -> Any:
        """The predecessors of each node."""
        return coreviews.AdjacencyView(self._pred)

    @property
    def in_degree(self) -> Any:
        """The number of edges to each node."""
        return reportviews.InDegreeView(self) if self.source is None else self.source.in_degree

    @property
    def out_degree(self) -> Any:
        """The number of edges from each node."""
        return reportviews.OutDegreeView(self) if self.source is None else self.source.out_degree

    @property
    def in_edges(self) -> Any:
        """The edges, ordered by the nodes to which they lead."""
        return reportviews.InEdgeView(self) if self.source is None else self.source.in_edges

    @property
    def out_edges(self) -> Any:
        """The edges, ordered by the nodes from which they lead."""
        return self.edges

    def successors(self, n: Any) -> Iterator[Any]:
        """Return an iterator over the nodes to which an edge from `n` leads."""
        return self.neighbors(n)

    def predecessors(self, n: Any) -> Iterator[Any]:
        """Return an iterator over the nodes from which an edge leads to `n`."""
        if n not in self:  # type: ignore[operator]
            raise self.missing(n)  # type: ignore[attr-defined]
        return iter(self._pred[n])

    def reverse(self, copy: bool = True) -> Any:
        """Return the graph with every edge in the opposite direction, which cannot be changed either."""
        return nx.reverse(self, copy=copy) if self.source is None else self.source.reverse(copy)

    def has_successor(self, u: Any, v: Any) -> bool:
        """Return whether an edge leads from u to v."""
        return self.has_edge(u, v)

    def has_predecessor(self, u: Any, v: Any) -> bool:
        """Return whether an edge leads from v to u."""
        return self.has_edge(v, u)
