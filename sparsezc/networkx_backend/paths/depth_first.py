"""Depth-first searches, with NetworkX's names, arguments and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu.suitesparse.machine_code import compiled
from sparsezc.networkx_backend.graphs.claims import claims
from sparsezc.networkx_backend.graphs.graph import Graph
from sparsezc.networkx_backend.paths.breadth_first import known

_FORWARD, _REVERSE, _NONTREE, _LIMIT = range(4)
_LABELS = ("forward", "reverse", "nontree", "reverse-depth_limit")

_Steps = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int8]]


def _depth_first(
    indptr: NDArray[np.int64], indices: NDArray[np.int64], starts: NDArray[np.int64], limit: int
) -> _Steps:
    """Search from each start not seen before; return both ends of each step's edge, and the kind of the step."""
    n = indptr.size - 1
    u, v = np.empty(2 * n + indices.size, np.int64), np.empty(2 * n + indices.size, np.int64)
    kind = np.empty(u.size, np.int8)
    seen, at, stack = np.zeros(n, np.bool_), indptr[:-1].copy(), np.empty(n, np.int64)
    steps = 0
    for s in starts:
        if seen[s]:
            continue
        seen[s] = True
        u[steps], v[steps], kind[steps] = s, s, 0
        steps += 1
        stack[0], depth = s, 1
        while depth > 0:
            parent = stack[depth - 1]
            if at[parent] < indptr[parent + 1]:
                child = indices[at[parent]]
                at[parent] += 1
                u[steps], v[steps], kind[steps] = parent, child, 2 if seen[child] else 0
                steps += 1
                if not seen[child]:
                    seen[child] = True
                    if depth < limit:
                        stack[depth] = child
                        depth += 1
                    else:
                        u[steps], v[steps], kind[steps] = parent, child, 3
                        steps += 1
            else:
                depth -= 1
                u[steps], v[steps], kind[steps] = stack[depth - 1] if depth else s, parent, 1
                steps += 1
    return u[:steps], v[:steps], kind[:steps]


@cache
def _loop() -> Callable[..., _Steps]:
    """Return the compiled loop; without numba, the Python function."""
    try:
        return compiled(import_module("numba"), _depth_first)  # type: ignore[no-any-return]
    except ImportError:
        return _depth_first


def depth_first(G: Graph, starts: NDArray[np.int64], limit: int | None = None, against: bool = False) -> _Steps:
    """Search in the graph's order of edges; with a limit below 1 a search runs one step, as NetworkX's does."""
    indptr, indices = G.rows(against)
    return _loop()(indptr, indices, starts, len(G) if limit is None else int(limit))


def _search(G: Graph, source: Any, limit: int | None) -> _Steps:
    starts = np.arange(len(G)) if source is None else np.array([known(G, source)], np.int64)
    return depth_first(G, starts, limit)


def _tree(G: Graph, source: Any, limit: int | None) -> list[tuple[Any, Any]]:
    u, v, kind = _search(G, source, limit)
    kept = (kind == _FORWARD) & (u != v)
    return list(zip(G.names(u[kept]), G.names(v[kept]), strict=True))


@claims("sort_neighbors", multigraph=True)
def dfs_edges(
    G: Graph, source: Any = None, depth_limit: int | None = None, *, sort_neighbors: Any = None
) -> Iterator[tuple[Any, Any]]:
    """Return the edges of a depth-first tree in the order of the search."""
    yield from _tree(G, source, depth_limit)


@claims("sort_neighbors", multigraph=True)
def dfs_tree(G: Graph, source: Any = None, depth_limit: int | None = None, *, sort_neighbors: Any = None) -> Any:
    """Return a depth-first tree as a directed graph."""
    tree = nx.DiGraph()
    tree.add_nodes_from(G if source is None else [source])
    tree.add_edges_from(_tree(G, source, depth_limit))
    return tree


@claims("sort_neighbors", multigraph=True)
def dfs_predecessors(
    G: Graph, source: Any = None, depth_limit: int | None = None, *, sort_neighbors: Any = None
) -> dict[Any, Any]:
    """Return ``{node: its parent}`` in a depth-first tree."""
    return {child: parent for parent, child in _tree(G, source, depth_limit)}


@claims("sort_neighbors", multigraph=True)
def dfs_successors(
    G: Graph, source: Any = None, depth_limit: int | None = None, *, sort_neighbors: Any = None
) -> dict[Any, list[Any]]:
    """Return ``{node: its children}`` in a depth-first tree."""
    found: dict[Any, list[Any]] = {}
    for parent, child in _tree(G, source, depth_limit):
        found.setdefault(parent, []).append(child)
    return found


def _of_kind(G: Graph, source: Any, limit: int | None, wanted: int) -> list[Any]:
    _, v, kind = _search(G, source, limit)
    return G.names(v[kind == wanted])


@claims("sort_neighbors", multigraph=True)
def dfs_preorder_nodes(
    G: Graph, source: Any = None, depth_limit: int | None = None, *, sort_neighbors: Any = None
) -> Iterator[Any]:
    """Return the nodes in the order in which a search finds them."""
    yield from _of_kind(G, source, depth_limit, _FORWARD)


@claims("sort_neighbors", multigraph=True)
def dfs_postorder_nodes(
    G: Graph, source: Any = None, depth_limit: int | None = None, *, sort_neighbors: Any = None
) -> Iterator[Any]:
    """Return the nodes in the order in which a search leaves them."""
    yield from _of_kind(G, source, depth_limit, _REVERSE)


@claims("sort_neighbors", multigraph=True)
def dfs_labeled_edges(
    G: Graph, source: Any = None, depth_limit: int | None = None, *, sort_neighbors: Any = None
) -> Iterator[tuple[Any, Any, str]]:
    """Return the steps of a search: each edge, labelled forward, nontree or reverse."""
    u, v, kind = _search(G, source, depth_limit)
    yield from zip(G.names(u), G.names(v), (_LABELS[k] for k in kind.tolist()), strict=True)


def in_tarjans_order(G: Graph, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rank of each vertex's strong component in the order in which Tarjan's search leaves components.

    The search leaves a component when it leaves the component's first vertex.
    """
    _, v, kind = depth_first(G, np.arange(len(G)))
    preorder, postorder = v[kind == _FORWARD], v[kind == _REVERSE]
    _, component = np.unique(labels, return_inverse=True)
    left = np.empty(len(G), np.int64)
    left[postorder] = np.arange(postorder.size)
    _, first = np.unique(component[preorder], return_index=True)
    place = np.argsort(np.argsort(left[preorder[first]]))
    return place[component]
