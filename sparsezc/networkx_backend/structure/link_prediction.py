"""Link prediction, with NetworkX's names, arguments and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc import algorithms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.networkx_backend.graphs.claims import claims
from sparsezc.networkx_backend.graphs.copies import original
from sparsezc.networkx_backend.graphs.graph import Graph
from sparsezc.semirings.types import datatypes

#: Pairs of nodes that are computed together.
PAIRS = 2**20
#: The most neighbours of pairs that are sorted in less time than the statements of a product take, 1 ms.
FEW = 10_000

Pairs = list[tuple[Any, Any]]
Links = Iterator[tuple[Any, Any, Any]]
_Measure = Callable[[NDArray[np.int64], NDArray[np.int64]], Any]


def _predicted(G: Graph, ebunch: Iterable[tuple[Any, Any]] | None, measure: _Measure) -> Links:
    """Return an iterator over pairs of nodes with a measure, computed in batches; by default pairs without an edge."""
    pairs = nx.non_edges(original(G)) if ebunch is None else list(ebunch)
    if ebunch is not None:
        for node in chain.from_iterable(pairs):
            if node not in G:
                raise nx.NodeNotFound(f"Node {node} not in G.")

    def some(part: Pairs) -> Links:
        found = measure(G.numbers(u for u, _ in part), G.numbers(v for _, v in part))
        return ((u, v, value) for (u, v), value in zip(part, found, strict=True))

    return chain.from_iterable(map(some, _parts(pairs)))


def _parts(pairs: Iterable[Any]) -> Iterator[Pairs]:
    """Yield pairs in batches, as the results for all pairs may exceed memory."""
    rest = iter(pairs)
    while some := list(islice(rest, PAIRS)):
        yield some


def _no_loops(G: Graph) -> None:
    if G.number_of_loops():
        raise NotImplementedError("sparsezc: the graph has loops; NetworkX counts no node of a pair as common")


def _shared(
    G: Graph, i: NDArray[np.int64], j: NDArray[np.int64], share: NDArray[Any] | None = None,
    label: NDArray[np.int64] | None = None,
) -> NDArray[Any]:  # fmt: skip
    """Count the common neighbours of pairs, or sum their `share`; with `label`, only those of the first node's."""
    total = np.float64 if share is not None else np.int64
    if int(G.degrees()[i].sum() + G.degrees()[j].sum()) <= FEW:
        pair, node = _common(G, i, j)
        if label is not None:
            inside = label[node] == label[i[pair]]
            pair, node = pair[inside], node[inside]
        return np.bincount(pair, None if share is None else share[node], i.size).astype(total)
    A = G.A if label is None else _within(G, label)
    d = None if share is None else Vector.from_dense(share)
    n = len(G)
    cells, inverse = np.unique(i * n + j, return_inverse=True)
    mask = Matrix.from_coo(cells // n, cells % n, True, datatypes.BOOL, nrows=n, ncols=n)
    rows, columns, values = algorithms.common_neighbors(A, mask, d).to_coo()
    found = np.zeros(cells.size, total)
    found[np.searchsorted(cells, rows * n + columns)] = values
    return found[inverse]


def _common(G: Graph, i: NDArray[np.int64], j: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each common neighbour of a pair, the number of the pair and the neighbour."""
    indptr, indices = G.rows()
    ends = np.concatenate([i, j])
    degree = indptr[ends + 1] - indptr[ends]
    pair = np.repeat(np.tile(np.arange(i.size), 2), degree)
    first = np.cumsum(degree) - degree
    near = np.arange(pair.size) + np.repeat(indptr[ends] - first, degree)
    key = np.sort(pair * len(G) + indices[near])
    key = key[1:][key[1:] == key[:-1]]
    return key // len(G), key % len(G)


@claims()
def jaccard_coefficient(G: Graph, ebunch: Iterable[tuple[Any, Any]] | None = None) -> Links:
    """Yield each pair's number of common neighbours over the number of neighbours of either node."""
    _no_loops(G)
    degree = G.degrees()

    def measure(i: NDArray[np.int64], j: NDArray[np.int64]) -> Any:
        common = _shared(G, i, j)
        every = degree[i] + degree[j] - common
        shares = np.divide(common, every, where=every > 0, out=np.zeros(i.size)).tolist()
        # without neighbours the result is 0, as in NetworkX, not 0.0
        return [share if some else 0 for share, some in zip(shares, every.tolist(), strict=True)]

    return _predicted(G, ebunch, measure)


def _whole_zeros(values: NDArray[Any]) -> list[Any]:
    """Return Python numbers; a sum over no common neighbours is 0, as in NetworkX, not 0.0."""
    return [value or 0 for value in values.tolist()]


def _over(degree: NDArray[Any]) -> NDArray[np.float64]:
    """Return one over each degree or logarithm; infinity for 0."""
    with np.errstate(divide="ignore"):
        found: NDArray[np.float64] = 1 / degree
    return found


@claims()
def resource_allocation_index(G: Graph, ebunch: Iterable[tuple[Any, Any]] | None = None) -> Links:
    """Yield each pair's sum of one over the degrees of common neighbours."""
    _no_loops(G)
    share = _over(G.degrees())
    return _predicted(G, ebunch, lambda i, j: _whole_zeros(_shared(G, i, j, share)))


@claims()
def adamic_adar_index(G: Graph, ebunch: Iterable[tuple[Any, Any]] | None = None) -> Links:
    """Yield each pair's sum of one over the logarithms of the degrees of common neighbours."""
    _no_loops(G)
    share = _over(np.log(np.maximum(G.degrees(), 1)))

    def measure(i: NDArray[np.int64], j: NDArray[np.int64]) -> Any:
        found = _shared(G, i, j, share)
        if np.isinf(found).any():
            raise ZeroDivisionError("a node and itself have a common neighbour of degree 1, whose logarithm is 0")
        return _whole_zeros(found)

    return _predicted(G, ebunch, measure)


@claims()
def preferential_attachment(G: Graph, ebunch: Iterable[tuple[Any, Any]] | None = None) -> Links:
    """Yield the product of each pair's degrees."""
    degree = G.degrees()
    return _predicted(G, ebunch, lambda i, j: (degree[i] * degree[j]).tolist())


@claims()
def common_neighbor_centrality(G: Graph, ebunch: Iterable[tuple[Any, Any]] | None = None, alpha: float = 0.8) -> Links:
    """Yield each pair's weighted sum of its number of common neighbours and its closeness."""
    _no_loops(G)
    n = len(G)

    def measure(i: NDArray[np.int64], j: NDArray[np.int64]) -> Any:
        if (i == j).any():
            raise nx.NetworkXAlgorithmError("Self loops are not supported")
        common = _shared(G, i, j)
        if alpha == 1:
            return common.tolist()
        starts, row = np.unique(i, return_inverse=True)
        hops = np.full((starts.size, n), np.inf)
        at, to, level = algorithms.bfs(G.A, starts.tolist()).to_coo()
        hops[at, to] = level
        return (alpha * common + (1 - alpha) * n / hops[row, j]).tolist()

    return _predicted(G, ebunch, measure)


def _communities(G: Graph, community: Any) -> NDArray[np.int64]:
    """Return the number of each node's community; decline graphs with a node without community."""
    data = original(G).nodes
    try:
        labels = [data[node][community] for node in G]
        known: dict[Any, int] = {}
        return np.array([known.setdefault(label, len(known)) for label in labels], np.int64)
    except (KeyError, TypeError) as error:
        raise NotImplementedError(f"sparsezc: a node has no {community!r} that is hashable") from error


def _within(G: Graph, label: NDArray[np.int64]) -> Matrix:
    """Return the matrix of the edges within communities."""
    i, j, _ = G.A.to_coo()
    inside = label[i] == label[j]
    n = len(G)
    made: Matrix = Matrix.from_coo(i[inside], j[inside], True, datatypes.BOOL, nrows=n, ncols=n)
    return made._known_symmetric()


@claims()
def cn_soundarajan_hopcroft(
    G: Graph, ebunch: Iterable[tuple[Any, Any]] | None = None, community: Any = "community"
) -> Links:
    """Yield each pair's number of common neighbours; those in the pair's community count twice."""
    _no_loops(G)
    label = _communities(G, community)

    def measure(i: NDArray[np.int64], j: NDArray[np.int64]) -> Any:
        common = _shared(G, i, j)
        inside = _shared(G, i, j, label=label)
        return (common + np.where(label[i] == label[j], inside, 0)).tolist()

    return _predicted(G, ebunch, measure)


@claims()
def ra_index_soundarajan_hopcroft(
    G: Graph, ebunch: Iterable[tuple[Any, Any]] | None = None, community: Any = "community"
) -> Links:
    """Yield each pair's sum of one over the degrees of common neighbours in the pair's community."""
    _no_loops(G)
    label, share = _communities(G, community), _over(G.degrees())

    def measure(i: NDArray[np.int64], j: NDArray[np.int64]) -> Any:
        found = _shared(G, i, j, share, label)
        return _whole_zeros(np.where(label[i] == label[j], found, 0))

    return _predicted(G, ebunch, measure)


@claims()
def within_inter_cluster(
    G: Graph, ebunch: Iterable[tuple[Any, Any]] | None = None, delta: float = 0.001, community: Any = "community"
) -> Links:
    """Yield each pair's number of common neighbours in its community over the number outside it."""
    if delta <= 0:
        raise nx.NetworkXAlgorithmError("Delta must be greater than zero")
    _no_loops(G)
    label = _communities(G, community)

    def measure(i: NDArray[np.int64], j: NDArray[np.int64]) -> Any:
        common = _shared(G, i, j)
        inside = _shared(G, i, j, label=label)
        same = (label[i] == label[j]).tolist()
        return [x if one else 0 for x, one in zip((inside / (common - inside + delta)).tolist(), same, strict=True)]

    return _predicted(G, ebunch, measure)
