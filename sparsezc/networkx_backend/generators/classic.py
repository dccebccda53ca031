"""Graphs defined by sizes, with NetworkX's names, arguments and errors: a Matrix, and no Python object for each edge.

These calls are declined if ``nx.config.backend_priority.generators`` names this backend: NetworkX's own generators
begin with such a graph and add edges to it, which a Matrix does not allow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc.core.matrix import Matrix
from sparsezc.networkx_backend.generators.tables import from_edges, no_none, plain
from sparsezc.networkx_backend.graphs import networkx_versions
from sparsezc.networkx_backend.graphs.claims import makes, under_test
from sparsezc.networkx_backend.graphs.edges import placed
from sparsezc.networkx_backend.graphs.graph import DiGraph, Graph
from sparsezc.semirings import semiring
from sparsezc.semirings.types import datatypes


def asked_by_name(given: dict[str, Any]) -> str | None:
    """Return the reason to decline a call that NetworkX's own generators may have made, or other arguments; or None."""
    if "sparsezc" in nx.config.backend_priority.generators and not under_test():
        return "NetworkX's generators add edges to such a graph, which a Matrix does not allow"
    return plain(given)


def _counted(n: Any) -> bool:
    try:
        range(n)
    except TypeError:
        return False
    return True


def _named(n: Any, first: int = 0) -> list[Any]:
    """Return n numbers from `first` on; if `n` is a list of nodes, return these."""
    if not _counted(n):
        return list(n)
    if n < 0:
        raise nx.NetworkXError(f"Negative number of nodes not valid: {n}")
    return list(range(first, first + n))


class _Nodes:
    """Names of nodes: the different ones in `labels`, and the place of each given name among these in `at`."""

    def __init__(self, names: Sequence[Any]) -> None:
        index = {node: k for k, node in enumerate(dict.fromkeys(names))}
        self.labels: Sequence[Any] = no_none(list(index))
        self.at = np.fromiter(map(index.__getitem__, names), np.int64, len(names))
        if self.labels == list(range(len(index))) and {type(node) for node in self.labels} <= {int}:
            self.labels = range(len(index))


def _undirected(kind: Any) -> None:
    if kind in (nx.DiGraph, DiGraph):
        raise nx.NetworkXError("Directed Graph not supported")


_Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]


def _along(at: NDArray[np.int64]) -> _Pairs:
    return at[:-1], at[1:]


def _around(at: NDArray[np.int64]) -> _Pairs:
    return at, np.roll(at, -1)


def _from_hub(at: NDArray[np.int64]) -> _Pairs:
    return np.repeat(at[:1], max(at.size - 1, 0)), at[1:]


def _all_pairs(at: NDArray[np.int64]) -> _Pairs:
    i, j = np.triu_indices(at.size, 1)
    return at[i], at[j]


def _graph(kind: Any, nodes: _Nodes, *parts: _Pairs) -> Graph:
    i, j = (np.concatenate([part[side] for part in parts] or [nodes.at[:0]]) for side in (0, 1))
    return from_edges(kind, nodes.labels, i, j, {})


def _between_parts(kind: Any, labels: Sequence[Any], part: NDArray[np.int64]) -> Graph:
    """Return the graph with every edge between nodes of different parts.

    With C the matrix with C(i, part(i)) = 1::

        A<!C C'> = 1
    """
    n = part.size
    A = Matrix(datatypes.BOOL, n, n)
    if n:
        C = Matrix.from_coo(np.arange(n), part, True, nrows=n, ncols=int(part.max()) + 1)
        same = C.mxm(C.T, semiring.any_pair[datatypes.BOOL]).new()
        A(~same.S) << True
    return (DiGraph if kind in (nx.DiGraph, DiGraph) else Graph)._made(placed(A._known_symmetric()), labels)


@makes(asked_by_name)
def empty_graph(n: Any = 0, create_using: Any = None, default: Any = nx.Graph) -> Graph:
    """Return the graph of n nodes without edges."""
    kind = default if create_using is None else create_using
    if kind not in (nx.Graph, nx.DiGraph, Graph, DiGraph):
        raise NotImplementedError("sparsezc: default must be Graph or DiGraph")
    return _graph(kind, _Nodes(_named(n)))


@makes(asked_by_name)
def null_graph(create_using: Any = None) -> Graph:
    """Return the graph without nodes."""
    return _graph(create_using, _Nodes([]))


@makes(asked_by_name)
def trivial_graph(create_using: Any = None) -> Graph:
    """Return the graph of one node without edges."""
    return _graph(create_using, _Nodes([0]))


@makes(asked_by_name)
def path_graph(n: Any, create_using: Any = None) -> Graph:
    """Return the path of n nodes."""
    nodes = _Nodes(_named(n))
    return _graph(create_using, nodes, _along(nodes.at))


@makes(asked_by_name)
def cycle_graph(n: Any, create_using: Any = None) -> Graph:
    """Return the cycle of n nodes."""
    nodes = _Nodes(_named(n))
    return _graph(create_using, nodes, _around(nodes.at))


@makes(asked_by_name)
def star_graph(n: Any, create_using: Any = None) -> Graph:
    """Return the graph of a node joined to n others."""
    nodes = _Nodes(_named(n + 1 if _counted(n) and n >= 0 else n))
    return _graph(create_using, nodes, _from_hub(nodes.at))


@makes(asked_by_name)
def wheel_graph(n: Any, create_using: Any = None) -> Graph:
    """Return a node joined to the n - 1 nodes of a cycle."""
    nodes = _Nodes(_named(n))
    _undirected(create_using)
    rim = nodes.at[1:]
    return _graph(create_using, nodes, _from_hub(nodes.at), *([_around(rim)] if rim.size > 1 else []))


@makes(asked_by_name)
def complete_graph(n: Any, create_using: Any = None) -> Graph:
    """Return the graph of all edges between n nodes."""
    nodes = _Nodes(_named(n))
    if len(nodes.labels) == nodes.at.size:
        return _between_parts(create_using, nodes.labels, nodes.at)
    i, j = _all_pairs(nodes.at)
    return _graph(create_using, nodes, (np.r_[i, j], np.r_[j, i]))


@makes(asked_by_name)
def complete_multipartite_graph(*subset_sizes: Any) -> Graph:
    """Return the graph of all edges between nodes of different parts."""
    if len({_counted(part) for part in subset_sizes}) > 1:
        raise nx.NetworkXError("Arguments must be all ints or all iterables")
    if subset_sizes and _counted(subset_sizes[0]):
        if min(subset_sizes) < 0:
            raise nx.NetworkXError(f"Negative number of nodes not valid: {subset_sizes}")
        names: list[Any] = list(range(sum(subset_sizes)))
        sizes = list(subset_sizes)
    else:
        parts = [list(part) for part in subset_sizes]
        names, sizes = [node for part in parts for node in part], list(map(len, parts))
    nodes = _Nodes(names)
    if len(nodes.labels) < len(names):
        raise NotImplementedError("sparsezc: a node occurs twice")
    part = np.repeat(np.arange(len(sizes)), sizes)
    made = _between_parts(None, nodes.labels, part)
    if sizes:
        made.node_values["subset"] = part
    return made


@makes(asked_by_name)
def turan_graph(n: int, r: int) -> Graph:
    """Return the graph of all edges between the r parts of n nodes, of sizes as equal as possible."""
    if not 1 <= r <= n:
        raise nx.NetworkXError("Must satisfy 1 <= r <= n")
    return complete_multipartite_graph(*[n // r] * (r - n % r), *[n // r + 1] * (n % r))


@makes(asked_by_name)
def complete_bipartite_graph(n1: Any, n2: Any, create_using: Any = None) -> Graph:
    """Return the graph of all edges between n1 nodes and n2 others."""
    _undirected(create_using)
    top = _named(n1)
    bottom = _named(n2, n1 if _counted(n1) and _counted(n2) else 0)
    nodes = _Nodes([*top, *bottom])
    if len(nodes.labels) < len(top) + len(bottom):
        raise nx.NetworkXError("Inputs n1 and n2 must contain distinct nodes")
    side = np.repeat([0, 1], [len(top), len(bottom)])
    made = _between_parts(create_using, nodes.labels, side)
    made.node_values["bipartite"] = side
    made.info["name"] = f"complete_bipartite_graph({len(top)}, {len(bottom)})"
    return made


@makes(asked_by_name)
def caveman_graph(l: int, k: int) -> Graph:  # noqa: E741 - NetworkX's name
    """Return the graph of l complete graphs of k nodes each, without edges between these."""
    nodes = _Nodes(_named(l * k))
    starts = np.arange(0, l * k, k) if k > 1 else np.empty(0, np.int64)
    i, j = np.triu_indices(max(k, 0), 1)
    return _graph(None, nodes, ((starts[:, None] + i).ravel(), (starts[:, None] + j).ravel()))


@makes(asked_by_name)
def ladder_graph(n: int, create_using: Any = None) -> Graph:
    """Return two paths of n nodes whose nodes are joined in pairs."""
    return _ladder(n, create_using, _along)


@makes(asked_by_name)
def circular_ladder_graph(n: int, create_using: Any = None) -> Graph:
    """Return two cycles of n nodes whose nodes are joined in pairs."""
    if networkx_versions.SINCE_3_7 and n < 2:
        raise ValueError("n must be at least 2 for circular_ladder_graph")
    if n < 1:
        raise NotImplementedError("sparsezc: n must be at least 1")
    return _ladder(n, create_using, _around)


def _ladder(n: int, kind: Any, side: Callable[[NDArray[np.int64]], _Pairs]) -> Graph:
    nodes = _Nodes(_named(2 * n))
    _undirected(kind)
    one, other = nodes.at[:n], nodes.at[n:]
    return _graph(kind, nodes, side(one), side(other), (one, other))


@makes(asked_by_name)
def barbell_graph(m1: int, m2: int, create_using: Any = None) -> Graph:
    """Return two complete graphs of m1 nodes, joined by a path of m2 nodes."""
    if m1 < 2:
        raise nx.NetworkXError("Invalid graph description, m1 should be >=2")
    if m2 < 0:
        raise nx.NetworkXError("Invalid graph description, m2 should be >=0")
    _undirected(create_using)
    nodes = _Nodes(_named(2 * m1 + m2))
    left, right = nodes.at[:m1], nodes.at[m1 + m2 :]
    return _graph(create_using, nodes, _all_pairs(left), _all_pairs(right), _along(nodes.at[m1 - 1 : m1 + m2 + 1]))


def _with_tail(m: Any, n: Any, kind: Any, head: Callable[[NDArray[np.int64]], _Pairs], alike: bool) -> Graph:
    """Return a graph of m nodes, made by `head`, and a path of n nodes that begins at the last of them.

    `alike`: a node may be named in both, and then counts once.
    """
    first = _named(m)
    if len(first) < 2:
        raise nx.NetworkXError("Invalid description: m should indicate at least 2 nodes")
    tail = _named(n, len(first) if _counted(m) and _counted(n) else 0)
    _undirected(kind)
    nodes = _Nodes([*first, *tail])
    if not alike and len(nodes.labels) < nodes.at.size:
        raise nx.NetworkXError("Nodes must be distinct in containers m and n")
    return _graph(kind, nodes, head(nodes.at[: len(first)]), _along(nodes.at[len(first) - 1 :]))


@makes(asked_by_name)
def lollipop_graph(m: Any, n: Any, create_using: Any = None) -> Graph:
    """Return a complete graph of m nodes, and a path of n nodes that begins at the last of them."""
    return _with_tail(m, n, create_using, _all_pairs, False)


@makes(asked_by_name)
def tadpole_graph(m: Any, n: Any, create_using: Any = None) -> Graph:
    """Return a cycle of m nodes, and a path of n nodes that begins at the last of them."""
    return _with_tail(m, n, create_using, _around, True)
