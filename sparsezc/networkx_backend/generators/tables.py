"""Graphs from tables, arrays and lists, with NetworkX's names: a Matrix and node names, without a NetworkX graph."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import chain
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc.networkx_backend.graphs.claims import makes
from sparsezc.networkx_backend.graphs.edges import edge_matrix
from sparsezc.networkx_backend.graphs.graph import DiGraph, Graph
from sparsezc.process import first_use

_coo_array = first_use.function("scipy.sparse", "coo_array")


def plain(given: dict[str, Any]) -> str | None:
    """Return the reason to decline a kind of graph that is not a matrix, or None."""
    kind = given.get("create_using")
    if kind not in (None, nx.Graph, nx.DiGraph, Graph, DiGraph):
        return "create_using must be None or a class: Graph or DiGraph"
    if given.get("edge_key") is not None or given.get("parallel_edges"):
        return "sparsezc makes no graphs with parallel edges"
    return None


def no_none(labels: Sequence[Any]) -> Sequence[Any]:
    """Return labels; raise NetworkX's error for None, which cannot be a node."""
    if not isinstance(labels, range) and any(label is None for label in labels):
        raise ValueError("None cannot be a node")
    return labels


def from_edges(
    kind: Any, labels: Sequence[Any], i: NDArray[np.int64], j: NDArray[np.int64], data: dict[str, NDArray[Any]]
) -> Graph:
    """Make a graph from edges with numeric attributes; of equal edges the last counts, as in NetworkX."""
    directed = kind in (nx.DiGraph, DiGraph)
    for name, values in data.items():
        if values.dtype.kind not in "iufb" or (values.dtype.kind == "f" and not np.isfinite(values).all()):
            raise NotImplementedError(f"sparsezc: edge attribute {name!r} has values that are not finite numbers")
    n = len(labels)
    one, other = (i, j) if directed else (np.minimum(i, j), np.maximum(i, j))
    _, last = np.unique((one * n + other)[::-1], return_index=True)
    kept = i.size - 1 - last
    i, j = one[kept], other[kept]
    back = np.flatnonzero(i != j) if not directed else np.empty(0, np.int64)
    rows, columns = np.r_[i, j[back]], np.r_[j, i[back]]
    G = (DiGraph if directed else Graph)._of_edges(labels, rows, columns)
    for name, values in data.items():
        G._add_values(name, edge_matrix(G, rows, columns, np.r_[values[kept], values[kept][back]]))
    return G


def _columns(df: Any, edge_attr: Any, reserved: list[Any]) -> list[Any]:
    if edge_attr is None:
        return []
    if edge_attr is True:
        names = [name for name in df.columns if name not in reserved]
    else:
        names = list(edge_attr) if isinstance(edge_attr, list | tuple) else [edge_attr]
    if not names:
        raise nx.NetworkXError(f"Invalid edge_attr argument: No columns found with name: {names}")
    try:
        missing = [name for name in names if name not in df.columns]
    except TypeError as error:
        raise nx.NetworkXError(f"Invalid edge_attr argument: {edge_attr}") from error
    if missing:
        raise nx.NetworkXError(f"Invalid edge_attr argument: {edge_attr}")
    return names


@makes(plain)
def from_pandas_edgelist(
    df: Any, source: Any = "source", target: Any = "target", edge_attr: Any = None, create_using: Any = None,
    edge_key: Any = None,
) -> Graph:  # fmt: skip
    """Return the graph of a DataFrame with one edge for each row; numeric columns become edge attributes."""
    names = _columns(df, edge_attr, [source, target])
    ends = np.empty(2 * len(df), object)
    ends[::2], ends[1::2] = df[source].tolist(), df[target].tolist()
    codes, labels = import_module("pandas").factorize(ends)
    if (codes < 0).any():
        raise NotImplementedError("sparsezc: the source or target of an edge is missing")
    codes = codes.astype(np.int64)
    return from_edges(
        create_using, list(labels), codes[::2], codes[1::2], {name: df[name].to_numpy() for name in names}
    )


@makes(plain)
def from_scipy_sparse_array(
    A: Any, parallel_edges: bool = False, create_using: Any = None, edge_attribute: Any = "weight"
) -> Graph:
    """Return the graph of a SciPy sparse adjacency matrix."""
    if A.shape[0] != A.shape[1]:
        raise nx.NetworkXError(f"Adjacency matrix not square: nx,ny={A.shape}")
    C = _coo_array(A)
    if A.format not in ("csr", "csc", "coo"):
        C = _coo_array(A.tocsr())
    i, j = C.row.astype(np.int64), C.col.astype(np.int64)
    return from_edges(create_using, range(A.shape[0]), i, j, {edge_attribute: C.data})


@makes(plain)
def from_numpy_array(
    A: Any,
    parallel_edges: bool = False,
    create_using: Any = None,
    edge_attr: Any = "weight",
    *,
    nodelist: Any = None,
    nonedge: Any = 0,
) -> Graph:
    """Return the graph of a NumPy adjacency matrix; elements equal to `nonedge`, which may be NaN, are not edges."""
    if A.ndim != 2:
        raise nx.NetworkXError(f"Input array must be 2D, not {A.ndim}")
    if A.shape[0] != A.shape[1]:
        raise nx.NetworkXError(f"Adjacency matrix not square: nx,ny={A.shape}")
    if nodelist is not None and len(nodelist) != A.shape[0]:
        raise ValueError("nodelist must have the same length as A.shape[0]")
    A = np.asarray(A)
    if A.dtype.kind not in "iufb":
        raise NotImplementedError(f"sparsezc has no edges of type {A.dtype}")
    labels = range(A.shape[0]) if nodelist is None else no_none(list(nodelist))
    if len(set(labels)) < len(labels):
        raise NotImplementedError("sparsezc: a node occurs twice")
    i, j = (A == A if nonedge != nonedge else nonedge != A).nonzero()
    data = {} if edge_attr in (False, None) else {edge_attr: A[i, j]}
    return from_edges(create_using, labels, i.astype(np.int64), j.astype(np.int64), data)


@makes(plain)
def from_pandas_adjacency(df: Any, create_using: Any = None, *, nonedge: Any = 0) -> Graph:
    """Return the graph of a DataFrame that is an adjacency matrix."""
    try:
        df = df[df.index]
    except Exception as error:
        missing = list(set(df.index).difference(set(df.columns)))
        raise nx.NetworkXError("Columns must match Indices.", f"{missing} not in columns") from error
    return from_numpy_array(df.values, create_using=create_using, nodelist=df.columns, nonedge=nonedge)


@makes(plain)
def from_dict_of_lists(d: dict[Any, Any], create_using: Any = None) -> Graph:
    """Return the graph of a dict that maps each node to a list of its neighbours."""
    rows = [list(row) for row in d.values()]
    index = {node: k for k, node in enumerate(dict.fromkeys(chain(d, chain.from_iterable(rows))))}
    i = np.repeat(np.fromiter(map(index.__getitem__, d), np.int64, len(d)), list(map(len, rows)))
    j = np.fromiter(map(index.__getitem__, chain.from_iterable(rows)), np.int64, i.size)
    return from_edges(create_using, no_none(list(index)), i, j, {})


@makes(plain)
def from_biadjacency_matrix(
    A: Any, create_using: Any = None, edge_attribute: Any = "weight", *, row_order: Any = None, column_order: Any = None
) -> Graph:
    """Return the bipartite graph of a SciPy matrix, with its rows as one side and its columns as the other."""
    n, m = A.shape
    for name, order, count, things in (
        ("row_order", row_order, n, "rows"),
        ("column_order", column_order, m, "columns"),
    ):
        if order is not None and len(order) != count:
            raise ValueError(f"{name} has {len(order)} nodes; A has {count} {things}")
    labels = [
        *(range(n) if row_order is None else row_order),
        *(range(n, n + m) if column_order is None else column_order),
    ]
    if len(set(no_none(labels))) < len(labels):
        raise NotImplementedError("sparsezc: a node occurs twice")
    C = _coo_array(A)
    G = from_edges(create_using, labels, C.row.astype(np.int64), C.col.astype(np.int64) + n, {edge_attribute: C.data})
    G.node_values["bipartite"] = np.repeat([0, 1], [n, m])
    return G
