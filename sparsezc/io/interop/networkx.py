"""Conversion to and from NetworkX graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.exceptions import DimensionMismatch
from sparsezc.io.build.limits import wrong_type
from sparsezc.io.build.optional import need
from sparsezc.io.interop.scipy_sparse import from_scipy_sparse
from sparsezc.memory.csr import Csr
from sparsezc.semirings.types import datatypes

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix


def from_networkx(
    G: Any, nodelist: Any = None, dtype: Any = None, weight: str | None = "weight", name: str | None = None
) -> Matrix:
    """Make the adjacency Matrix of a NetworkX graph, in one copy of the SciPy arrays that NetworkX returns.

    Parameters
    ----------
    G : networkx graph
        Each edge of an undirected graph becomes two entries; the weights of parallel edges are summed.
    nodelist : list, optional
        The nodes to include, in order; by default all, in the graph's order.
    dtype : dtype-like, optional
    weight : str or None
        The edge attribute that holds the values; edges without it get 1.
    name : str, optional

    Raises
    ------
    DomainMismatch
        `G` is no graph.

    Examples
    --------
    >>> import networkx as nx
    >>> import sparsezc as gb
    >>> gb.io.from_networkx(nx.path_graph(3)).nvals
    4
    """
    from sparsezc.core.matrix import Matrix

    nx = need("networkx")
    if not hasattr(G, "adj"):
        raise wrong_type("from_networkx", "G", G, "a NetworkX graph")
    kind = None if dtype is None else datatypes.lookup(dtype).np_type
    array = nx.to_scipy_sparse_array(G, nodelist=nodelist, dtype=kind, weight=weight, format="csr")
    if array.nnz and array.has_canonical_format and (array.data == array.data[0]).all():
        # One value for all, as in a graph without weights, is stored once.
        csr = Csr.from_arrays(array.indptr, array.indices.astype(np.uint64), array.data[:1].copy(), array.shape[1])
        return Matrix._from_csr(csr, name=name)
    made: Any = from_scipy_sparse(array, name=name)
    return made  # type: ignore[no-any-return]


def to_networkx(m: Any, edge_attribute: str | None = "weight") -> Any:
    """Return a square adjacency Matrix as a NetworkX DiGraph, a copy in Python objects.

    Parameters
    ----------
    m : Matrix, shape (n, n)
    edge_attribute : str or None
        The edge attribute for the values; None omits the values.

    Returns
    -------
    networkx.DiGraph
        A graph with the nodes 0..n-1, including those without edges.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.io.to_networkx(gb.io.read("star:4"), None).number_of_edges()
    6
    """
    nx = need("networkx")
    if m.nrows != m.ncols:
        raise DimensionMismatch(f"m is {m.nrows} x {m.ncols}; an adjacency matrix is square")
    rows, cols, values = m.to_coo()
    graph = nx.DiGraph()
    graph.add_nodes_from(range(m.nrows))
    if edge_attribute is None:
        graph.add_edges_from(zip(rows.tolist(), cols.tolist(), strict=True))
    else:
        edges = zip(rows.tolist(), cols.tolist(), values.tolist(), strict=True)
        graph.add_weighted_edges_from(edges, weight=edge_attribute)
    return graph
