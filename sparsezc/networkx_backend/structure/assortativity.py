"""Assortativity of degrees and attributes, with NetworkX's names, arguments and errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc import algorithms
from sparsezc.networkx_backend.graphs import networkx_versions
from sparsezc.networkx_backend.graphs.claims import claims
from sparsezc.networkx_backend.graphs.copies import original
from sparsezc.networkx_backend.graphs.edges import NUMBERS
from sparsezc.networkx_backend.graphs.graph import Graph


def _pairs(G: Graph, nodes: Any, both: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ends of the edges from some nodes, in their set's order; with `both`, to such nodes only."""
    start = G.numbers(set(G) if nodes is None else [node for node in set(nodes) if node in G])
    indptr, indices = _parallel(G)
    degree = np.diff(indptr)[start]
    i = np.repeat(start, degree)
    j = indices[np.repeat(indptr[start] - np.cumsum(degree) + degree, degree) + np.arange(i.size)]
    if nodes is None or not both:
        return i, j
    inside = np.zeros(len(G), bool)
    inside[start] = True
    return i[inside[j]], j[inside[j]]


def _parallel(G: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return row offsets and neighbours in the graph's order, a neighbour for each of parallel edges."""
    indptr, indices = G.rows()
    if not G.multi:
        return indptr, indices
    at = np.repeat(np.arange(len(G)), np.diff(indptr))
    i, j, count = G.values(None).to_coo()
    found = np.searchsorted(i * len(G) + j, at * len(G) + indices)
    times = count[found].astype(np.int64)
    return np.r_[0, np.cumsum(times)][indptr], np.repeat(indices, times)


def _degree_pairs(G: Graph, x: str, y: str, weight: str | None, nodes: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    if G.directed:
        kinds = {kind: G.degrees(kind, weight) for kind in ("in", "out")}
        of_x, of_y = kinds[x], kinds[y]
    else:
        of_x = of_y = G.degrees("in+out", weight)
    i, j = _pairs(G, nodes, True)
    return of_x[i], of_y[j]


def _listed_pairs(G: Graph, x: str, y: str, weight: str | None, nodes: Any) -> tuple[list[Any], list[Any]]:
    """Return the degrees at both ends of each edge as Python numbers."""
    kinds = {kind: kind for kind in ("in", "out")} if G.directed else {x: "in+out", y: "in+out"}
    i, j = _pairs(G, nodes, True)
    return G.sums(i, kinds[x], weight), G.sums(j, kinds[y], weight)


def _mixing(x: list[Any], y: list[Any], normalized: bool) -> dict[Any, dict[Any, Any]]:
    """Count equal pairs, in the order of their first occurrence."""
    found: dict[Any, dict[Any, Any]] = {}
    for a, b in zip(x, y, strict=True):
        row = found.setdefault(a, {})
        found.setdefault(b, {})
        row[b] = row.get(b, 0) + 1
    if normalized:
        for row in found.values():
            for b in row:
                row[b] /= float(len(x))
    return found


def _degree_mixing(G: Graph, x: str, y: str, weight: str | None, nodes: Any, normalized: bool) -> Any:
    a, b = _degree_pairs(G, x, y, weight, nodes)
    if a.dtype.kind == "f":
        return _mixing(*_listed_pairs(G, x, y, weight, nodes), normalized)
    (levels_a, at_a), (levels_b, at_b) = (np.unique(values, return_inverse=True) for values in (a, b))
    cells, first, count = np.unique(at_a * levels_b.size + at_b, return_index=True, return_counts=True)
    order = np.argsort(first)
    rows, columns = levels_a[cells // max(levels_b.size, 1)], levels_b[cells % max(levels_b.size, 1)]
    found: dict[Any, dict[Any, Any]] = {}
    for u, v, times in zip(rows[order].tolist(), columns[order].tolist(), count[order].tolist(), strict=True):
        found.setdefault(u, {})
        found.setdefault(v, {})
        found[u][v] = times / float(a.size) if normalized else times
    return found


def _as_matrix(found: Any, mapping: Any, normalized: bool) -> NDArray[Any]:
    counts: NDArray[Any] = nx.utils.dict_to_numpy_array(found, mapping=mapping)
    return counts / counts.sum() if normalized else counts


@claims(multigraph=True)
def node_degree_xy(
    G: Graph, x: str = "out", y: str = "in", weight: str | None = None, nodes: Any = None
) -> Iterator[tuple[Any, Any]]:
    """Return the degrees of both ends of each edge."""
    yield from zip(*_listed_pairs(G, x, y, weight, nodes), strict=True)


@claims(multigraph=True)
def degree_mixing_dict(
    G: Graph, x: str = "out", y: str = "in", weight: str | None = None, nodes: Any = None, normalized: bool = False
) -> dict[Any, dict[Any, Any]]:
    """Return the number or share of edges by the degrees of both ends, as nested dicts."""
    return _degree_mixing(G, x, y, weight, nodes, normalized)  # type: ignore[no-any-return]


@claims(multigraph=True)
def degree_mixing_matrix(
    G: Graph, x: str = "out", y: str = "in", weight: str | None = None, nodes: Any = None, normalized: bool = True,
    mapping: Any = None,
) -> NDArray[Any]:  # fmt: skip
    """Return the number or share of edges by the degrees of both ends, as an array."""
    return _as_matrix(_degree_mixing(G, x, y, weight, nodes, False), mapping, normalized)


@claims(multigraph=True)
def degree_assortativity_coefficient(
    G: Graph, x: str = "out", y: str = "in", weight: str | None = None, nodes: Any = None
) -> float:
    """Return the correlation of degrees at both ends of edges: see :func:`sparsezc.algorithms.degree_assortativity`."""
    if nodes is not None and nodes in G:
        raise TypeError(f"nodes is {nodes!r}, one node; several are needed")
    if nodes is not None:
        G.bunch(nodes)
    if nodes is None and weight is None and not G.multi and {x, y} <= {"in", "out"}:
        return algorithms.degree_assortativity(G.A, x, y)
    return _correlation(*_degree_pairs(G, x, y, weight, nodes))


@claims(multigraph=True)
def degree_pearson_correlation_coefficient(
    G: Graph, x: str = "out", y: str = "in", weight: str | None = None, nodes: Any = None
) -> float:
    """Return the correlation of degrees at both ends of edges; raise an error for fewer than two edges."""
    a, b = _degree_pairs(G, x, y, weight, nodes)
    if a.size < 2:
        if networkx_versions.SINCE_3_7:
            return float("nan")
        raise ValueError("`x` and `y` must have length at least 2.")
    return _correlation(a, b)


def _correlation(x: NDArray[Any], y: NDArray[Any]) -> float:
    """Compute Pearson's correlation; NaN if one side is constant."""
    if x.size == 0 or (x == x[0]).all() or (y == y[0]).all():
        return float("nan")
    x, y = (side / np.abs(side).max() for side in (x, y))  # squares of the largest may be infinite
    x, y = x - x.mean(), y - y.mean()
    return float((x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()))


def _attributes(G: Graph, attribute: Any) -> list[Any]:
    """Return the values of a node attribute, None for nodes without it."""
    data = original(G).nodes
    return [data[node].get(attribute) for node in G]


def _attribute_pairs(G: Graph, attribute: Any, nodes: Any) -> tuple[list[Any], list[Any]]:
    """Return the attributes of both ends of each edge from some nodes, in the graph's order."""
    values = _attributes(G, attribute)
    indptr, indices = _parallel(G)
    i = np.repeat(np.arange(len(G)), np.diff(indptr))
    if nodes is not None:
        inside = np.zeros(len(G), bool)
        inside[G.numbers(node for node in set(nodes) if node in G)] = True
        i, indices = i[inside[i]], indices[inside[i]]
    return [values[k] for k in i.tolist()], [values[k] for k in indices.tolist()]


@claims(multigraph=True)
def node_attribute_xy(G: Graph, attribute: Any, nodes: Any = None) -> Iterator[tuple[Any, Any]]:
    """Return the attributes of both ends of each edge."""
    yield from zip(*_attribute_pairs(G, attribute, nodes), strict=True)


@claims(multigraph=True)
def attribute_mixing_dict(
    G: Graph, attribute: Any, nodes: Any = None, normalized: bool = False
) -> dict[Any, dict[Any, Any]]:
    """Return the number or share of edges by the attributes of both ends, as nested dicts."""
    return _mixing(*_attribute_pairs(G, attribute, nodes), normalized)


@claims(multigraph=True)
def attribute_mixing_matrix(
    G: Graph, attribute: Any, nodes: Any = None, mapping: Any = None, normalized: bool = True
) -> NDArray[Any]:
    """Return the number or share of edges by the attributes of both ends, as an array."""
    return _as_matrix(_mixing(*_attribute_pairs(G, attribute, nodes), False), mapping, normalized)


@claims(multigraph=True)
def attribute_assortativity_coefficient(G: Graph, attribute: Any, nodes: Any = None) -> float:
    """Return Newman's assortativity of an attribute: the excess of edges between equal values over chance."""
    M = attribute_mixing_matrix(G, attribute, nodes)
    chance = (M @ M).sum()
    return float((M.trace() - chance) / (1 - chance))


@claims(multigraph=True)
def numeric_assortativity_coefficient(G: Graph, attribute: Any, nodes: Any = None) -> float:
    """Return the correlation of a numeric attribute at both ends of edges."""
    data = original(G).nodes
    known = {data[node][attribute] for node in (G if nodes is None else nodes)}
    if wrong := [value for value in known if not isinstance(value, NUMBERS)]:
        raise TypeError(f"attribute {attribute!r} has the value {wrong[0]!r}; numbers are needed")
    x, y = _attribute_pairs(G, attribute, nodes)
    pairs = np.array([(a, b) for a, b in zip(x, y, strict=True) if b in known], float).reshape(-1, 2)
    return _correlation(pairs[:, 0], pairs[:, 1])


_KINDS = ("in", "out", "in+out")


def _kinds(G: Graph, source: str, target: str, plain: str) -> None:
    """Check the requested kinds of degrees; an undirected graph has one kind."""
    if G.directed:
        for name, kind in (("source", source), ("target", target)):
            if kind not in _KINDS:
                raise nx.NetworkXError(f"{name} argument {kind} must be 'in', 'out' or 'in+out'")
    elif source != plain or target != plain:
        raise nx.NetworkXError("source and target arguments are only supported for directed graphs")


def _sums(G: Graph, weight: str | None, numbers: NDArray[Any], back: bool) -> NDArray[Any]:
    """Return each vertex's sum of numbers of its neighbours, times the weights of the edges."""
    i, j, w = (G.A if weight is None else G.values(weight)).to_coo()
    if back and G.directed:
        i, j = j, i
    given = numbers[j] if weight is None else numbers[j] * w
    sums = np.bincount(i.astype(np.int64), given, minlength=len(G))
    return sums.astype(np.int64) if given.dtype.kind in "iub" else sums


@claims()
def average_neighbor_degree(
    G: Graph, source: str = "out", target: str = "out", nodes: Any = None, weight: str | None = None
) -> dict[Any, float]:
    """Return ``{node: mean degree of its neighbours}``."""
    _kinds(G, source, target, "out")
    t, s = G.degrees(target), G.degrees(source, weight)
    total = np.zeros(len(G), np.int64)
    if "out" in source or not G.directed:
        total = total + _sums(G, weight, t, False)
    if "in" in source and G.directed:
        total = total + _sums(G, weight, t, True)
    mean = np.divide(total, s, out=np.zeros(len(G)), where=s != 0)
    if nodes is None:
        return G.by_node(mean)
    if nodes in G:
        raise TypeError(f"{type(nodes).__name__!r} object is not iterable")
    asked = G.bunch(nodes)
    return dict(zip(asked, mean[G.numbers(asked)].tolist(), strict=True))


@claims()
def average_degree_connectivity(
    G: Graph, source: str = "in+out", target: str = "in+out", nodes: Any = None, weight: str | None = None
) -> dict[Any, float]:
    """Return ``{k: mean degree of the neighbours of nodes of degree k}``."""
    _kinds(G, source, target, "in+out")
    k, norm = G.degrees(source), G.degrees(source, weight)
    total = _sums(G, weight, G.degrees(target), source == "in")
    at = np.arange(len(G)) if nodes is None else G.numbers(G.bunch(nodes))
    degrees, first, group = np.unique(k[at], return_index=True, return_inverse=True)
    sums, norms = (
        np.bincount(group, values[at], minlength=degrees.size).astype(np.float64) for values in (total, norm)
    )
    mean = np.divide(sums, norms, out=sums.copy(), where=norms != 0)
    order = np.argsort(first)
    found = zip(degrees[order].tolist(), mean[order].tolist(), (norms == 0)[order].tolist(), strict=True)
    return {degree: (value or 0) if none else value for degree, value, none in found}
