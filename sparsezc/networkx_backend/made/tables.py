"""Graphs of tables and arrays, and of other graphs, by NetworkX's names: a Matrix with names, and no NetworkX graph."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparsezc.algorithms._pattern import transposed
from sparsezc.core.matrix import Matrix
from sparsezc.networkx_backend.graphs.claims import claims
from sparsezc.networkx_backend.graphs.edges import edge_matrix
from sparsezc.networkx_backend.graphs.graph import DiGraph, Graph
from sparsezc.semirings.types import datatypes


def _plain(given: dict[str, Any]) -> str | None:
    """Refuse kinds of graphs that are no matrices."""
    kind = given["create_using"]
    if kind not in (None, nx.Graph, nx.DiGraph, Graph, DiGraph):
        return "create_using must be None or a class: Graph or DiGraph"
    if given.get("edge_key") is not None or given.get("parallel_edges"):
        return "sparsezc makes no graphs with parallel edges"
    return None


def _made(
    kind: Any, labels: Sequence[Any], i: NDArray[np.int64], j: NDArray[np.int64], data: dict[str, NDArray[Any]]
) -> Graph:
    """Make a graph of edges with numbers; of the rows for one edge the last counts, as in NetworkX."""
    directed = kind in (nx.DiGraph, DiGraph)
    for name, values in data.items():
        if values.dtype.kind not in "iufb" or (values.dtype.kind == "f" and not np.isfinite(values).all()):
            raise NotImplementedError(f"sparsezc: edge attribute {name!r} has values that are no finite numbers")
    n = len(labels)
    one, other = (i, j) if directed else (np.minimum(i, j), np.maximum(i, j))
    _, last = np.unique((one * n + other)[::-1], return_index=True)
    kept = i.size - 1 - last
    i, j = one[kept], other[kept]
    back = np.flatnonzero(i != j) if not directed else np.empty(0, np.int64)
    rows, columns = np.r_[i, j[back]], np.r_[j, i[back]]
    G = (DiGraph if directed else Graph)._made(Matrix(datatypes.BOOL, 0, 0), labels)
    G.A = edge_matrix(G, rows, columns, True)
    for name, values in data.items():
        G._values[name] = edge_matrix(G, rows, columns, np.r_[values[kept], values[kept][back]])
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


@claims(reason=_plain)
def from_pandas_edgelist(
    df: Any, source: Any = "source", target: Any = "target", edge_attr: Any = None, create_using: Any = None,
    edge_key: Any = None,
) -> Graph:  # fmt: skip
    """Return the graph of a DataFrame of edges, whose numbers are edge attributes."""
    names = _columns(df, edge_attr, [source, target])
    ends = np.empty(2 * len(df), object)
    ends[::2], ends[1::2] = df[source].tolist(), df[target].tolist()
    codes, labels = import_module("pandas").factorize(ends)
    if (codes < 0).any():
        raise NotImplementedError("sparsezc: an end of an edge is missing")
    codes = codes.astype(np.int64)
    return _made(create_using, list(labels), codes[::2], codes[1::2], {name: df[name].to_numpy() for name in names})


@claims(reason=_plain)
def from_scipy_sparse_array(
    A: Any, parallel_edges: bool = False, create_using: Any = None, edge_attribute: Any = "weight"
) -> Graph:
    """Return the graph of SciPy's adjacency matrix."""
    if A.shape[0] != A.shape[1]:
        raise nx.NetworkXError(f"Adjacency matrix not square: nx,ny={A.shape}")
    C = sp.coo_array(A)
    if A.format not in ("csr", "csc", "coo"):
        C = sp.coo_array(A.tocsr())
    i, j = C.row.astype(np.int64), C.col.astype(np.int64)
    return _made(create_using, range(A.shape[0]), i, j, {edge_attribute: C.data})


@claims(reason=_plain)
def from_numpy_array(
    A: Any, parallel_edges: bool = False, create_using: Any = None, edge_attr: Any = "weight", *, nodelist: Any = None
) -> Graph:
    """Return the graph of NumPy's adjacency matrix; zeros are no edges."""
    if A.ndim != 2:
        raise nx.NetworkXError(f"Input array must be 2D, not {A.ndim}")
    if A.shape[0] != A.shape[1]:
        raise nx.NetworkXError(f"Adjacency matrix not square: nx,ny={A.shape}")
    if nodelist is not None and len(nodelist) != A.shape[0]:
        raise ValueError("nodelist must have the same length as A.shape[0]")
    if A.dtype.kind not in "iufb":
        raise NotImplementedError(f"sparsezc has no edges of type {A.dtype}")
    labels = range(A.shape[0]) if nodelist is None else list(nodelist)
    if len(set(labels)) < len(labels):
        raise NotImplementedError("sparsezc: nodes come twice")
    i, j = np.asarray(A).nonzero()
    data = {} if edge_attr in (False, None) else {edge_attr: np.asarray(A)[i, j]}
    return _made(create_using, labels, i.astype(np.int64), j.astype(np.int64), data)


@claims(reason=_plain)
def from_pandas_adjacency(df: Any, create_using: Any = None) -> Graph:
    """Return the graph of a DataFrame that is an adjacency matrix."""
    try:
        df = df[df.index]
    except Exception as error:
        missing = list(set(df.index).difference(set(df.columns)))
        raise nx.NetworkXError("Columns must match Indices.", f"{missing} not in columns") from error
    return from_numpy_array(df.values, create_using=create_using, nodelist=df.columns)


def _a_matrix(given: dict[str, Any]) -> str | None:
    """Leave to NetworkX the graphs that it holds itself."""
    return None if isinstance(given["G"], Graph) else "NetworkX is faster with its own graphs"


@claims(reason=_a_matrix)
def reverse(G: Graph, copy: bool = True) -> Graph:
    """Return the graph with every edge in the opposite direction."""
    if not G.directed:
        raise nx.NetworkXError("Cannot reverse an undirected graph.")
    if G.source is not None:
        raise NotImplementedError("sparsezc: the graph has attributes that NetworkX holds")
    made = DiGraph._made(transposed(G.A), G.labels)
    made._values = {name: transposed(A) for name, A in G._values.items()}
    return made


@claims(reason=_a_matrix)
def complement(G: Graph) -> Graph:
    """Return the graph of the pairs without an edge."""
    n = len(G)
    missing = ~np.eye(n, dtype=bool)
    i, j, _ = G.A.to_coo()
    missing[i, j] = False
    at, to = missing.nonzero()
    made = type(G)._made(Matrix(datatypes.BOOL, 0, 0), G.labels)
    made.A = edge_matrix(made, at, to, True)
    return made
