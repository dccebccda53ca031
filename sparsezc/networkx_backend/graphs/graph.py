"""The graphs of the backend's functions: a Matrix and the names of its vertices."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check
from sparsezc.algorithms._pattern import transposed
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import DimensionMismatch, InvalidValue
from sparsezc.networkx_backend.graphs.counts import counted, summed, with_fractions
from sparsezc.networkx_backend.graphs.edges import edge_ends, edge_matrix, numbered, weighted
from sparsezc.networkx_backend.graphs.views import ReadOnly, ReadOnlyDirected
from sparsezc.semirings import binary, select
from sparsezc.semirings.types import datatypes


class Graph(ReadOnly, nx.Graph):  # type: ignore[misc]  # NetworkX has no types
    """An undirected graph that NetworkX's functions dispatch to this backend, with NetworkX's methods to read it.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix; an undirected graph has each edge in both directions.
    nodes : sequence of hashable, optional
        The names of the vertices, all different; by default 0, 1, ..., n-1.
    weight : str
        The name of the edge attribute whose values are the entries.

    Raises
    ------
    DimensionMismatch
        `A` is not square, or the numbers of nodes and of rows differ.
    InvalidValue
        The graph is undirected and `A` is not symmetric, or two nodes have the same name.
    TypeError
        `A` is not a Matrix, or a node has a name that is not hashable.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc.networkx_backend import Graph
    >>> G = Graph(gb.io.read("star:4"), nodes="abcd")
    >>> G.number_of_edges(), "d" in G, G.is_directed()
    (3, True, False)
    >>> G
    Graph with 4 nodes and 3 edges
    >>> G.degree["a"], list(G.neighbors("b")), G.has_edge("a", "c"), list(G.edges)[:2]
    (3, ['a'], True, [('a', 'b'), ('a', 'c')])
    """

    __networkx_backend__ = "sparsezc"
    directed = False
    _empty: Any = nx.Graph

    def __new__(cls, *given: Any, **named: Any) -> Any:
        """Return an empty NetworkX graph if called without arguments, as by functions that fill ``type(G)()``."""
        return object.__new__(cls) if given or named else cls._empty()

    def __getnewargs__(self) -> tuple[Any, ...]:  # for copies and pickles
        return (None,)

    def __init__(self, A: Matrix, nodes: Sequence[Hashable] | None = None, weight: str = "weight"):
        n = _check.adjacency(A)
        if not (self.directed or A._symmetric or A.isequal(A.T)):
            raise InvalidValue(
                "A is not symmetric; an undirected graph has each edge in both directions, with one value"
            )
        if not self.directed:
            A._known_symmetric()
        try:
            self._set(A, range(n) if nodes is None else list(nodes))
        except TypeError as error:
            raise TypeError(f"nodes: {error}; a sequence of hashable names is needed") from None
        if len(self.labels) != n or len(self.index) != n:
            wrong = InvalidValue if len(self.labels) == n else DimensionMismatch
            raise wrong(f"nodes has {len(self.index)} different names; A has {n} rows")
        self._values[weight] = A

    def _set(self, A: Matrix | None, nodes: Sequence[Hashable], source: Any = None) -> None:
        self._A = A
        self.labels = nodes
        self.index = {node: i for i, node in enumerate(nodes)}
        self.source = source  # the original NetworkX graph, for its attributes and the order of its edges
        #: Pairs of nodes may have several edges.
        self.multi = source is not None and source.is_multigraph()
        self._values: dict[str, Matrix] = {}
        self._ones: Matrix | None = None
        self._least: dict[str, Matrix] = {}
        self._data: dict[bool, dict[str, NDArray[Any]]] = {}
        self._places: dict[bool, Matrix] = {}
        self._rows: dict[bool, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        self._row_order: NDArray[np.int64] | None = None
        self._row_lists: dict[bool, tuple[list[int], list[int]]] = {}
        self._ends: dict[bool, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        self._degrees: dict[tuple[str, str | None], NDArray[Any]] = {}
        #: Of graphs without a NetworkX original: attributes of the graph, and of nodes by names.
        self.info: dict[str, Any] = {}
        self.node_values: dict[str, NDArray[Any]] = {}
        #: For each edge attribute that mixes integers and floats, the positions of the floats.
        self._fractions: dict[str, Matrix] = {}

    @classmethod
    def _made(cls, A: Matrix | None, nodes: Sequence[Hashable], source: Any = None) -> Graph:
        """Make a graph from its parts without checks; if `A` is None, it is built from the edges at first use."""
        several = source is not None and source.is_multigraph()
        G: Graph = object.__new__(_CLASSES[cls.directed, several])
        G._set(A, nodes, source)
        return G

    @classmethod
    def _of_edges(cls, nodes: Sequence[Hashable], rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Graph:
        """Make a graph from edges between numbers of nodes; undirected edges must be given in both directions."""
        G = cls._made(None, nodes)
        G._A = edge_matrix(G, rows, columns, True)
        return G

    def _with_attributes(
        self, values: dict[str, Matrix], node_values: dict[str, NDArray[Any]], info: dict[str, Any]
    ) -> Graph:
        """Set this new graph's attributes, of edges as matrices, of nodes, and of the graph, and return the graph."""
        self._values, self.node_values, self.info = values, node_values, info
        return self

    def _add_values(self, weight: str, values: Matrix) -> None:
        """Set an edge attribute of this new graph to the values of a matrix."""
        self._values[weight] = values

    def _add_fractions(self, weight: str, places: Matrix) -> None:
        """Record the positions of the floats in an edge attribute that has integers, too."""
        self._fractions[weight] = places

    @property
    def A(self) -> Matrix:
        """The adjacency matrix, whose values are ignored."""
        if self._A is None:
            self._A = edge_matrix(self, *self.ends(), True)
        return self._A

    def ends(self, against: bool = False) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ends of the NetworkX original's edges in its order, node by node; `against`: of reversed edges."""
        if against not in self._ends:
            self._ends[against] = edge_ends(self.source, self, against)
        return self._ends[against]

    def places(self, against: bool = False) -> Matrix:
        """Return the matrix of the edges' numbers in the graph's order; `against`: of the reversed edges' numbers."""
        against = against and self.directed
        if against not in self._places:
            self._places[against] = numbered(self, against)
        return self._places[against]

    def lacks(self, weight: str | None) -> bool:
        """Return whether some edge lacks the attribute `weight`."""
        if self.source is None:
            return weight not in self._values
        return any(weight not in data for _, _, data in self.source.edges(data=True))

    def fractions(self, weight: str | None) -> Matrix | None:
        """Return the positions of the floats in an edge attribute that mixes them with integers, else None."""
        if weight is not None:
            self.values(weight)
        return None if weight is None else self._fractions.get(weight)

    def values(self, weight: str | None) -> Matrix:
        """Return the matrix of an edge attribute, 1 for edges without it; values of parallel edges are added."""
        if weight is not None and weight not in self._values and self.source is not None:
            self._values[weight] = weighted(self.source, self, weight, 1)
        if weight is not None and weight in self._values:
            return self._values[weight]
        if self._ones is None:
            if self.multi:
                i, j = self.ends()
                self._ones = edge_matrix(self, i, j, np.ones(i.size, np.int64), binary.plus)
            else:
                ones: Matrix = self.A.apply(binary.pair[datatypes.BOOL], right=True).new()
                self._ones = ones._known_symmetric(not self.directed)
        return self._ones

    def least(self, weight: str | None) -> Matrix:
        """Return the matrix of an edge attribute for searches: parallel edges have their least value."""
        if not self.multi:
            return self.values(weight)
        if weight is None:
            return self.A
        if weight not in self._least:
            self._least[weight] = weighted(self.source, self, weight, 1, least=True)
        return self._least[weight]

    def lengths(self, weight: str | None) -> tuple[Matrix, bool]:
        """Return the matrix of an edge attribute and True; without `weight` the adjacency matrix and False."""
        return (self.A, False) if weight is None else (self.least(weight), True)

    def is_directed(self) -> bool:
        """Return whether edges have a direction; for a class, NetworkX passes None as `self`."""
        return False

    def is_multigraph(self) -> bool:
        """Return whether two nodes may have several edges."""
        return self is not None and self.multi

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.labels)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.index
        except TypeError:  # a list of nodes is not a node
            return False

    def number_of_nodes(self) -> int:
        """Return the number of nodes."""
        return len(self.labels)

    order = number_of_nodes

    def number_of_entries(self) -> int:
        """Return the number of the matrix's entries; before it is built, the number of edges, parallel ones too."""
        return int(self.ends()[0].size if self._A is None else self._A.nvals)

    def number_of_loops(self) -> int:
        """Return the number of edges from a node to itself."""
        return int(self.A.select(select.diag).new().nvals)

    def size(self, weight: str | None = None) -> Any:
        """Return the number of edges, or the sum of an edge attribute; an undirected edge counts once."""
        total = self.degrees("out", weight).sum()
        return total.item() if self.directed else total.item() / 2 if weight is not None else total.item() // 2

    def degrees(self, kind: str = "in+out", weight: str | None = None) -> NDArray[Any]:
        """Return the degrees of the vertices, or the sums of an edge attribute, as an array that is cached.

        Parameters
        ----------
        kind : str
            ``out``, ``in`` or ``in+out``; ignored for undirected graphs.
        """
        known = kind if self.directed else "in+out", weight
        if known not in self._degrees:
            found = counted(self, kind) if weight is None and not self.multi else summed(self, kind, weight)
            found.setflags(write=False)
            self._degrees[known] = found
        return self._degrees[known]

    def sums(self, at: NDArray[np.int64], kind: str, weight: str | None) -> list[Any]:
        """Return :meth:`degrees` of some vertices as Python numbers: integers where no edge has a float."""
        every = self.degrees(kind, weight)
        if every.dtype.kind != "f":
            return every[at].tolist()  # type: ignore[no-any-return]
        some = with_fractions(self, kind if self.directed else "in+out", weight)
        return [x if y else int(x) for x, y in zip(every[at].tolist(), some[at].tolist(), strict=True)]

    def rows(self, against: bool = False) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the neighbours of each vertex in the graph's order, as the offsets of rows and the neighbours."""
        against = against and self.directed
        if against not in self._rows:
            if self.source is not None and not self.multi:
                i, j = self.ends(against)
            else:
                i, j, place = self.places(against).to_coo()
                order = np.argsort(place)
                i, j = i[order].astype(np.int64), j[order].astype(np.int64)
            indptr = np.zeros(len(self) + 1, np.int64)
            np.cumsum(np.bincount(i, minlength=len(self)), out=indptr[1:])
            self._rows[against] = indptr, j
        return self._rows[against]

    def row_lists(self, against: bool = False) -> tuple[list[int], list[int]]:
        """Return :meth:`rows` as lists, for searches of small graphs in Python."""
        against = against and self.directed
        if against not in self._row_lists:
            indptr, indices = self.rows(against)
            self._row_lists[against] = indptr.tolist(), indices.tolist()
        return self._row_lists[against]

    def in_rows(self, A: Matrix) -> NDArray[Any]:
        """Return the values of a matrix with the graph's pattern, in the order of :meth:`rows`."""
        if self._row_order is None:
            self._row_order = np.argsort(self.places().to_coo()[2])
        values: NDArray[Any] = A.to_coo()[2][self._row_order]
        return values

    def attributes(self, against: bool = False) -> dict[str, NDArray[Any]]:
        """Return the edge attributes that the graph was made with, in the order of :meth:`rows`."""
        if against not in self._data:
            every = self._values.items()
            turned = against and self.directed
            self._data[against] = {name: (transposed(A) if turned else A).to_coo()[2] for name, A in every}
        return self._data[against]

    def by_node(self, numbers: NDArray[Any]) -> dict[Any, Any]:
        """Return an array of a number for each vertex as ``{node: number}``, with Python numbers."""
        return dict(zip(self.labels, numbers.tolist(), strict=True))

    def named(self, vector: Vector, *, whole_zeros: bool = False) -> dict[Any, Any]:
        """Return the entries of a Vector as ``{node: number}``, with Python numbers; `whole_zeros`: 0 for 0.0."""
        i, values = vector.to_coo()
        numbers = values.tolist()
        return dict(zip(self.names(i), [x or 0 for x in numbers] if whole_zeros else numbers, strict=True))

    def edge_list(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the ends of the edges in the graph's order, undirected edges once, and the position of each edge.

        Positions count entries of the matrix; in an undirected graph, those on and above the diagonal.
        """
        P = self.places()
        i, j, place = (P if self.directed else P.select(select.triu).new()).to_coo()
        order = np.argsort(place)
        return i[order].astype(np.int64), j[order].astype(np.int64), order

    def names(self, vertices: NDArray[Any]) -> list[Any]:
        """Return the nodes with these numbers."""
        labels = self.labels
        return vertices.tolist() if isinstance(labels, range) else [labels[i] for i in vertices.tolist()]

    def numbers(self, nodes: Iterable[Any]) -> NDArray[np.int64]:
        """Return the numbers of these nodes."""
        return np.array([self.index[node] for node in nodes], np.int64)

    def missing(self, node: Any) -> nx.NetworkXError:
        """Return NetworkX's error for a node that is not in the graph."""
        return nx.NetworkXError(f"The node {node} is not in the {'digraph' if self.directed else 'graph'}.")

    def bunch(self, nodes: Any) -> list[Any]:
        """Return the given nodes, or the one node, that are in the graph, by NetworkX's rules for an ``nbunch``."""
        if nodes in self:
            return [nodes]
        try:
            return [node for node in nodes if node in self.index]
        except TypeError as error:
            raise nx.NetworkXError(f"Node {nodes} is not in the graph.") from error


class DiGraph(ReadOnlyDirected, Graph, nx.DiGraph):  # type: ignore[misc]
    """A directed graph; an entry (i, j) is an edge from i to j. Parameters and errors are those of :class:`Graph`."""

    directed = True
    _empty = nx.DiGraph

    def is_directed(self) -> bool:
        """Return whether edges have a direction; for a class, NetworkX passes None as `self`."""
        return True


class _MultiGraph(Graph):
    """A graph of a NetworkX original with parallel edges."""

    _empty = nx.MultiGraph


class _MultiDiGraph(DiGraph):
    """A directed graph of a NetworkX original with parallel edges."""

    _empty = nx.MultiDiGraph


_CLASSES = {(False, False): Graph, (True, False): DiGraph, (False, True): _MultiGraph, (True, True): _MultiDiGraph}
