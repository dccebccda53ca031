"""Edges of NetworkX's graphs as arrays and matrices: their ends, their numbers, the values of their attributes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc.core.matrix import Matrix
from sparsezc.semirings import binary

if TYPE_CHECKING:
    from sparsezc.networkx_backend.graphs.graph import Graph

#: The accepted types of values; a Fraction or a Decimal would be returned as another type.
WHOLE = (int, np.integer, np.bool_)
NUMBERS = (*WHOLE, float, np.floating)
#: Integers up to here are exact in FP64 too.
EXACT = 2**53


_PLAIN = {kind.adj for kind in (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)}


def weighted(source: Any, G: Graph, weight: str, default: Any, least: bool = False) -> Matrix:
    """Return the matrix of an edge attribute: INT64 if all values are integers, else FP64.

    Values of parallel edges are added; with `least` the least is taken.
    """
    every = [data.get(weight, default) for data in _attributes(source)]
    i, j = G.ends()
    values = _numbers(every, weight)
    fractions = None
    if values.dtype == np.float64:
        fractions = np.fromiter((not isinstance(value, WHOLE) for value in every), bool, len(every))
    if not G.directed and type(getattr(source, "_adj", None)) is not dict:
        _refuse_two_values(i, j, values if fractions is None else np.c_[values, fractions], weight)
    if fractions is not None and not fractions.all():
        if G.multi:
            raise NotImplementedError(f"edge attribute {weight!r} mixes integers and floats among parallel edges")
        n = len(G)
        G._add_fractions(weight, Matrix.from_coo(i, j, fractions, nrows=n, ncols=n))
    return edge_matrix(G, i, j, values, binary.min if least else binary.plus)


def _refuse_two_values(i: NDArray[np.int64], j: NDArray[np.int64], values: NDArray[Any], weight: str) -> None:
    """Decline an undirected view of a directed graph whose opposite edges have different values."""
    if not np.array_equal(values[np.lexsort((j, i))], values[np.lexsort((i, j))]):
        raise NotImplementedError(
            f"edge attribute {weight!r} differs between the two directions of an edge in this view; nx.Graph(G) makes a"
            " copy with one value"
        )


def numbered(G: Graph, against: bool) -> Matrix:
    """Return a matrix of the edges' numbers in the graph's order, node by node; of its transpose if `against`."""
    n = len(G)
    if G.source is None:
        i, j, _ = (G.A.T.new() if against else G.A).to_coo()
    else:
        i, j = G.ends(against)
    if G.multi:  # the first of parallel edges counts, so that numbers have no gaps
        first = np.sort(np.unique(i.astype(np.int64) * n + j.astype(np.int64), return_index=True)[1])
        i, j = i[first], j[first]
    made: Matrix = Matrix.from_coo(i, j, np.arange(len(i), dtype=np.int64), nrows=n, ncols=n)
    return made


def _rows(source: Any, against: bool = False) -> list[Any]:
    """Return the row of neighbours of each node: of ``_adj``, as ``adj`` is slow, unless the class has its own."""
    if against:
        return list(source.pred.values())
    plain = type(source).adj in _PLAIN
    return list((source._adj if plain else source.adj).values())


def _attributes(source: Any) -> Iterator[Any]:
    """Yield the attributes of each edge, in the order of :func:`edge_ends`."""
    cells = (data for row in _rows(source) for data in row.values())
    return chain.from_iterable(keys.values() for keys in cells) if source.is_multigraph() else cells


def edge_ends(source: Any, G: Graph, against: bool = False) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ends of all edges in the graph's order; of undirected edges in both directions."""
    rows = _rows(source, against)
    if source.is_multigraph():
        rows = [[v for v, keys in row.items() for _ in keys] for row in rows]
    degrees = np.fromiter(map(len, rows), np.int64, len(rows))
    ends = map(G.index.__getitem__, chain.from_iterable(rows))
    return np.repeat(np.arange(len(rows)), degrees), np.fromiter(ends, np.int64, int(degrees.sum()))


def _numbers(every: list[Any], weight: str) -> NDArray[Any]:
    """Return values as an array; raise NotImplementedError for values that are not finite or would be rounded."""
    kinds = set(map(type, every))
    if wrong := [kind.__name__ for kind in kinds if not issubclass(kind, NUMBERS)]:
        raise NotImplementedError(f"edge attribute {weight!r} has a value of type {wrong[0]}; sparsezc needs numbers")
    whole = all(issubclass(kind, WHOLE) for kind in kinds)
    most = max((abs(int(value)) for value in every if isinstance(value, WHOLE)), default=0)
    if most >= (2**63 if whole else EXACT):
        raise NotImplementedError(
            f"edge attribute {weight!r} has an integer of size {most}; sparsezc needs less than 2^{63 if whole else 53}"
        )
    array = np.array(every, np.int64 if whole else np.float64)
    if not np.isfinite(array).all():
        raise NotImplementedError(f"edge attribute {weight!r} has infinite values or NaN; sparsezc needs finite ones")
    with np.errstate(over="ignore"):
        if not np.isfinite(np.abs(array).sum(dtype=np.float64)):
            raise NotImplementedError(f"edge attribute {weight!r} has an infinite sum; sparsezc needs a finite one")
    return array


def edge_matrix(G: Graph, rows: NDArray[Any], columns: NDArray[Any], values: Any, of_several: Any = None) -> Matrix:
    """Return the matrix of some edges, in the configured placement; `of_several` combines parallel edges."""
    n = len(G)
    made: Matrix = Matrix.from_coo(rows, columns, values, nrows=n, ncols=n, dup_op=of_several if G.multi else None)
    return placed(made._known_symmetric(not G.directed))


def placed(A: Matrix) -> Matrix:
    """Return a matrix in the placement of the backend's configuration."""
    placement = wanted_placement()
    return A if placement is None else A.to(placement=placement)


def wanted_placement() -> str | None:
    """Return the placement in the backend's configuration; None if there is none."""
    placement: str | None = getattr(getattr(nx.config.backends, "sparsezc", None), "placement", None)
    return placement
