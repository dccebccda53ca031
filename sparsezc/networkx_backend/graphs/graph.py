"""The graphs of the backend's functions: a Matrix and the names of its vertices."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.errors import DimensionMismatch, InvalidValue
from sparsezc.networkx_backend.graphs.edges import numbered, weighted
from sparsezc.semirings import binary, select
from sparsezc.semirings.types import datatypes


class Graph:
    """An undirected graph that NetworkX's functions dispatch to this backend.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix; an undirected graph has each edge in both directions.
    nodes : sequence of hashable, optional
        The names of the vertices, all different; by default 0, 1, ..., n-1.
    weight : str
        The edge attribute whose values the entries are.

    Raises
    ------
    DimensionMismatch
        `A` is not square, or the numbers of nodes and of rows differ.
    InvalidValue
        The graph is undirected and `A` is not symmetric, or two nodes have the same name.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc.networkx_backend import Graph
    >>> G = Graph(gb.io.read("star:4"), nodes="abcd")
    >>> G.number_of_edges(), "d" in G, G.is_directed()
    (3, True, False)
    """

    __networkx_backend__ = "sparsezc"
    directed = False

    def __init__(self, A: Matrix, nodes: Sequence[Hashable] | None = None, weight: str = "weight"):
        n = _check.adjacency(A)
        if not (self.directed or A._symmetric or A.isequal(A.T)):
            raise InvalidValue(
                "A is not symmetric; an undirected graph has each edge in both directions, with one value"
            )
        if not self.directed:
            A._known_symmetric()
        self._set(A, range(n) if nodes is None else list(nodes))
        if len(self.nodes) != n or len(self.index) != n:
            wrong = InvalidValue if len(self.nodes) == n else DimensionMismatch
            raise wrong(f"nodes has {len(self.index)} different names; A has {n} rows")
        self._values[weight] = A

    def _set(self, A: Matrix, nodes: Sequence[Hashable], source: Any = None) -> None:
        self.A = A  # its values are ignored
        self.nodes = nodes
        self.index = {node: i for i, node in enumerate(nodes)}
        self.source = source  # the original NetworkX graph, for its attributes and the order of its edges
        self._values: dict[str, Matrix] = {}
        self._ones: Matrix | None = None
        self._places: dict[bool, Matrix] = {}
        #: By edge attributes that mix integers and fractions: the positions of the fractions.
        self._fractions: dict[str, Matrix] = {}

    @classmethod
    def _made(cls, A: Matrix, nodes: Sequence[Hashable], source: Any = None) -> Graph:
        """Make a graph of parts without checks."""
        G = cls.__new__(cls)
        G._set(A, nodes, source)
        return G

    def places(self, against: bool = False) -> Matrix:
        """Return the matrix of the edges' numbers in the graph's order, or, `against` them, of the opposite edges'."""
        against = against and self.directed
        if against not in self._places:
            self._places[against] = numbered(self, against)
        return self._places[against]

    def lacks(self, weight: str | None) -> bool:
        """Return whether an edge has no such attribute."""
        if self.source is None:
            return weight not in self._values
        return any(weight not in data for _, _, data in self.source.edges(data=True))

    def fractions(self, weight: str | None) -> Matrix | None:
        """Return the positions of fractions in an edge attribute that mixes them with integers, else None."""
        if weight is not None:
            self.values(weight)
        return None if weight is None else self._fractions.get(weight)

    def values(self, weight: str | None) -> Matrix:
        """Return the matrix whose values are an edge attribute; 1 for edges without it."""
        if weight is not None and weight not in self._values and self.source is not None:
            weighted(self.source, self, weight, 1)
        if weight is not None and weight in self._values:
            return self._values[weight]
        if self._ones is None:
            ones: Matrix = self.A.apply(binary.pair[datatypes.BOOL], right=True).new()
            self._ones = ones._known_symmetric(not self.directed)
        return self._ones

    def lengths(self, weight: str | None) -> tuple[Matrix, bool]:
        """Return the matrix of an edge attribute and whether its values count: without `weight`, the pattern does."""
        return (self.A, False) if weight is None else (self.values(weight), True)

    def is_directed(self) -> bool:
        """Return whether edges have a direction."""
        return self.directed

    def is_multigraph(self) -> bool:
        """Return False: two nodes have one edge at most."""
        return False

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.index
        except TypeError:  # a list of nodes is no node
            return False

    def number_of_nodes(self) -> int:
        """Return the number of nodes."""
        return len(self.nodes)

    order = number_of_nodes

    def number_of_loops(self) -> int:
        """Return the number of edges from a node to itself."""
        return int(self.A.select(select.diag).new().nvals)

    def number_of_edges(self) -> int:
        """Return the number of edges; an undirected one counts once."""
        nvals = int(self.A.nvals)
        return nvals if self.directed else (nvals + self.number_of_loops()) // 2

    def named(self, vector: Vector, *, whole_zeros: bool = False) -> dict[Any, Any]:
        """Return the entries of a Vector by nodes, as Python's own numbers; zeros as 0 and not 0.0 if requested."""
        i, values = vector.to_coo()
        numbers = values.tolist()
        return dict(zip(self.names(i), [x or 0 for x in numbers] if whole_zeros else numbers, strict=True))

    def edges(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the ends of the edges in the graph's order, undirected ones once, and the position of each.

        Positions count entries of the matrix; in an undirected graph, those on and above the diagonal.
        """
        P = self.places()
        i, j, place = (P if self.directed else P.select(select.triu).new()).to_coo()
        order = np.argsort(place)
        return i[order].astype(np.int64), j[order].astype(np.int64), order

    def names(self, vertices: NDArray[Any]) -> list[Any]:
        """Return the nodes with these numbers."""
        nodes = self.nodes
        return vertices.tolist() if isinstance(nodes, range) else [nodes[i] for i in vertices.tolist()]

    def numbers(self, nodes: Iterable[Any]) -> NDArray[np.int64]:
        """Return the numbers of these nodes."""
        return np.array([self.index[node] for node in nodes], np.int64)

    def bunch(self, nodes: Any) -> list[Any]:
        """Return those of some nodes that are in the graph, or the only one, by NetworkX's rules for an ``nbunch``."""
        if nodes in self:
            return [nodes]
        try:
            return [node for node in nodes if node in self.index]
        except TypeError as error:
            raise nx.NetworkXError(f"{nodes!r} is neither a node of the graph nor a sequence of nodes") from error


class DiGraph(Graph):
    """A directed graph; an entry (i, j) is an edge from i to j. Parameters and errors are those of :class:`Graph`."""

    directed = True
