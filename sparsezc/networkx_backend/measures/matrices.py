"""Matrices of graphs and their spectra, with NetworkX's names, arguments and errors; SciPy computes spectra."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc.networkx_backend.graphs.claims import claims
from sparsezc.networkx_backend.graphs.graph import Graph
from sparsezc.process import first_use

# SciPy loads when it is needed: half of what the backend would take to load
_csr_array, _dia_array, _eye_array = (
    first_use.function("scipy.sparse", name) for name in ("csr_array", "dia_array", "eye_array")
)
_eigvals, _eigvalsh = (first_use.function("scipy.linalg", name) for name in ("eigvals", "eigvalsh"))
_Nodes = Any  # a list of nodes, or None for all


def _chosen(G: Graph, nodelist: _Nodes) -> NDArray[np.int64] | None:
    """Return the numbers of the nodes in a list; None for all nodes in the graph's order."""
    if len(G) == 0:
        raise nx.NetworkXError("Graph has no nodes or edges")
    if nodelist is None:
        return None
    nodes = list(nodelist)
    if not nodes:
        raise nx.NetworkXError("nodelist has no nodes")
    for node in nodes:
        if node not in G:
            raise nx.NetworkXError(f"Node {node} in nodelist is not in G")
    if len(set(nodes)) < len(nodes):
        raise nx.NetworkXError("nodelist contains duplicates.")
    return G.numbers(nodes)


def _sparse(G: Graph, nodelist: _Nodes, weight: str | None, dtype: Any = None) -> Any:
    """Return the adjacency matrix of some nodes as a SciPy sparse array."""
    at = _chosen(G, nodelist)
    indptr, indices, values = (G.values(weight) if weight is not None or G.multi else G.A).to_csr()
    if (weight is None and not G.multi) or values.dtype == bool:
        values = np.ones(indices.size, np.int64)
    elif values.dtype.kind == "f":
        values = values.astype(np.float64, copy=False)
    elif values.dtype.kind in "iu" and values.max(initial=0) <= np.iinfo(np.int64).max:
        values = values.astype(np.int64, copy=False)  # NumPy's type of a list of integers; others wrap around
    n = len(G)
    A = _csr_array((values, indices.astype(np.int32), indptr.astype(np.int32)), shape=(n, n))
    A = A if at is None else A[at, :][:, at]
    if A.nnz == 0 and dtype is None:
        return A.astype(np.float64)  # NumPy's type of an empty list
    return A if dtype is None else A.astype(dtype)


@claims(multigraph=True)
def to_scipy_sparse_array(
    G: Graph, nodelist: _Nodes = None, dtype: Any = None, weight: str | None = "weight", format: str = "csr"
) -> Any:
    """Return the adjacency matrix as SciPy's; parallel edges are added."""
    A = _sparse(G, nodelist, weight, dtype)
    try:
        return A.asformat(format)
    except ValueError as error:
        raise nx.NetworkXError(f"Unknown sparse matrix format: {format}") from error


@claims(multigraph=True)
def adjacency_matrix(
    G: Graph, nodelist: _Nodes = None, dtype: Any = None, weight: str | None = "weight", *, format: str = "csr"
) -> Any:
    """Return the adjacency matrix as SciPy's; parallel edges are added."""
    return to_scipy_sparse_array(G, nodelist, dtype, weight, format)


def _plain(given: dict[str, Any]) -> str | None:
    if given["dtype"] is not None and np.dtype(given["dtype"]).names:
        return "sparsezc has no arrays of records"
    if given["multigraph_weight"] not in (sum, min):
        return "sparsezc adds parallel edges or takes the least"
    return None


@claims(multigraph=True, reason=_plain)
def to_numpy_array(
    G: Graph, nodelist: _Nodes = None, dtype: Any = None, order: Any = None, multigraph_weight: Any = sum,
    weight: str | None = "weight", nonedge: Any = 0.0,
) -> NDArray[Any]:  # fmt: skip
    """Return the adjacency matrix as a NumPy array."""
    nodes = list(G) if nodelist is None else list(nodelist)
    if missing := [node for node in nodes if node not in G]:
        raise nx.NetworkXError(f"Nodes {set(missing)} in nodelist is not in G")
    if len(set(nodes)) < len(nodes):
        raise nx.NetworkXError("nodelist contains duplicates.")
    made = np.full((len(nodes), len(nodes)), nonedge, dtype=dtype, order=order)
    A = G.values(weight) if multigraph_weight is sum or not G.multi else G.least(weight)
    i, j, values = A.to_coo()
    place = np.full(len(G), -1)
    place[G.numbers(nodes)] = np.arange(len(nodes))
    kept = (place[i] >= 0) & (place[j] >= 0)
    made[place[i[kept]], place[j[kept]]] = values[kept]
    return made


@claims(multigraph=True, reason=_plain)
def to_pandas_adjacency(
    G: Graph, nodelist: _Nodes = None, dtype: Any = None, order: Any = None, multigraph_weight: Any = sum,
    weight: str | None = "weight", nonedge: Any = 0.0,
) -> Any:  # fmt: skip
    """Return the adjacency matrix as a DataFrame."""
    nodes = list(G) if nodelist is None else nodelist
    made = to_numpy_array(G, nodelist, dtype, order, multigraph_weight, weight, nonedge)
    return import_module("pandas").DataFrame(data=made, index=nodes, columns=nodes)


def _diagonal(values: NDArray[Any]) -> Any:
    return _dia_array((values, 0), shape=(values.size, values.size)).tocsr()


@claims(multigraph=True)
def laplacian_matrix(G: Graph, nodelist: _Nodes = None, weight: str | None = "weight") -> Any:
    """Return the Laplacian matrix D - A."""
    A = _sparse(G, nodelist, weight)
    return _diagonal(A.sum(axis=1)) - A


@claims(multigraph=True)
def normalized_laplacian_matrix(G: Graph, nodelist: _Nodes = None, weight: str | None = "weight") -> Any:
    """Return the normalised Laplacian matrix D^-1/2 (D - A) D^-1/2."""
    A = _sparse(G, nodelist, weight)
    degree = A.sum(axis=1)
    with np.errstate(divide="ignore"):
        root = 1.0 / np.sqrt(degree)
    root[np.isinf(root)] = 0
    return _diagonal(root) @ ((_diagonal(degree) - A) @ _diagonal(root))


@claims()
def modularity_matrix(G: Graph, nodelist: _Nodes = None, weight: str | None = None) -> NDArray[Any]:
    """Return the modularity matrix: the adjacency matrix less the number of edges that degrees predict."""
    A = _sparse(G, nodelist, weight)
    degree = A.sum(axis=1)
    return A - np.outer(degree, degree) / degree.sum()  # type: ignore[no-any-return]


@claims()
def directed_modularity_matrix(G: Graph, nodelist: _Nodes = None, weight: str | None = None) -> NDArray[Any]:
    """Return the directed modularity matrix: adjacency less the edges that out- and in-degrees predict."""
    A = _sparse(G, nodelist, weight)
    back, out = A.sum(axis=0), A.sum(axis=1)
    return A - np.outer(out, back) / back.sum()  # type: ignore[no-any-return]


@claims()
def bethe_hessian_matrix(G: Graph, r: float | None = None, nodelist: _Nodes = None) -> Any:
    """Return the Bethe Hessian matrix (r^2 - 1) I - r A + D."""
    if r is None:
        degree = G.degrees()
        r = int((degree**2).sum()) / int(degree.sum()) - 1
    A = _sparse(G, nodelist, "weight")
    n = A.shape[0]
    return (r**2 - 1) * _eye_array(n, n, format="csr") - r * A + _diagonal(A.sum(axis=1))


@claims(multigraph=True)
def laplacian_spectrum(G: Graph, weight: str | None = "weight") -> NDArray[Any]:
    """Return the eigenvalues of the Laplacian matrix."""
    return _eigvalsh(laplacian_matrix(G, weight=weight).todense())  # type: ignore[no-any-return]


@claims(multigraph=True)
def normalized_laplacian_spectrum(G: Graph, weight: str | None = "weight") -> NDArray[Any]:
    """Return the eigenvalues of the normalised Laplacian matrix."""
    return _eigvalsh(normalized_laplacian_matrix(G, weight=weight).todense())  # type: ignore[no-any-return]


@claims(multigraph=True)
def adjacency_spectrum(G: Graph, weight: str | None = "weight") -> NDArray[Any]:
    """Return the eigenvalues of the adjacency matrix."""
    return _eigvals(_sparse(G, None, weight).todense())  # type: ignore[no-any-return]


@claims()
def modularity_spectrum(G: Graph) -> NDArray[Any]:
    """Return the eigenvalues of the modularity matrix."""
    matrix = directed_modularity_matrix(G) if G.directed else modularity_matrix(G)
    return _eigvals(matrix)  # type: ignore[no-any-return]


@claims(undirected=True)
def bethe_hessian_spectrum(G: Graph, r: float | None = None) -> NDArray[Any]:
    """Return the eigenvalues of the Bethe Hessian matrix."""
    return _eigvalsh(bethe_hessian_matrix(G, r).todense())  # type: ignore[no-any-return]


@claims()
def tournament_matrix(G: Graph) -> Any:
    """Return the tournament matrix A - A'."""
    A = _sparse(G, None, "weight")
    return A - A.T


@claims(multigraph=True)
def google_matrix(
    G: Graph, alpha: float = 0.85, personalization: dict[Any, Any] | None = None, nodelist: _Nodes = None,
    weight: str | None = "weight", dangling: dict[Any, Any] | None = None,
) -> NDArray[Any]:  # fmt: skip
    """Return the transition probabilities of PageRank's random walk as a matrix."""
    nodes = list(G) if nodelist is None else list(nodelist)
    A = to_numpy_array(G, nodes, weight=weight)
    n = len(G)
    if n == 0:
        return A
    share = _shares(nodes, personalization, n, "Personalization")
    missing = share if dangling is None else _shares(nodes, dangling, n, "Dangling")
    A[A.sum(axis=1) == 0] = missing
    A /= A.sum(axis=1)[:, np.newaxis]
    return alpha * A + (1 - alpha) * share


def _shares(nodes: list[Any], given: dict[Any, Any] | None, n: int, name: str) -> NDArray[np.float64]:
    if given is None:
        return np.repeat(1.0 / n, n)
    numbers = np.array([given.get(node, 0) for node in nodes], dtype=float)
    if name == "Personalization" and numbers.sum() == 0:
        raise ZeroDivisionError
    return numbers / numbers.sum()  # type: ignore[no-any-return]


@claims(multigraph=True)
def biadjacency_matrix(
    G: Graph, row_order: Any, column_order: Any = None, dtype: Any = None, weight: str | None = "weight",
    format: str = "csr",
) -> Any:  # fmt: skip
    """Return the matrix of the edges from one list of nodes to another."""
    rows = list(row_order)
    if not rows:
        raise nx.NetworkXError("row_order is empty list")
    columns = list(set(G) - set(rows)) if column_order is None else list(column_order)
    for name, nodes in (("row_order", rows), ("column_order", columns)):
        if len(set(nodes)) < len(nodes):
            raise nx.NetworkXError(f"Ambiguous ordering: `{name}` contained duplicates.")
    if any(node not in G for node in (*rows, *columns)):
        raise NotImplementedError("sparsezc: nodes are not in the graph")
    A = _sparse(G, None, weight, dtype)[G.numbers(rows), :][:, G.numbers(columns)]
    try:
        return A.asformat(format)
    except ValueError as error:
        raise nx.NetworkXError(f"Unknown sparse array format: {format}") from error


@claims(multigraph=True)
def to_dict_of_lists(G: Graph, nodelist: _Nodes = None) -> dict[Any, list[Any]]:
    """Return the neighbours of each node; with a list of nodes, only nodes and neighbours in it."""
    indptr, indices = G.rows()
    names, ends = G.names(indices), indptr.tolist()
    if nodelist is None:
        return {node: names[ends[k] : ends[k + 1]] for k, node in enumerate(G)}
    found = {}
    for node in nodelist:
        if node not in G:
            raise G.missing(node)
        k = G.index[node]
        found[node] = [near for near in names[ends[k] : ends[k + 1]] if near in nodelist]
    return found
