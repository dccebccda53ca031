"""Degrees of vertices: numbers of edges, and sums of edge attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms._degree import in_degree, out_degree
from sparsezc.algorithms._lengths import lengths_of
from sparsezc.core.matrix import Matrix
from sparsezc.semirings import monoid
from sparsezc.semirings.types import datatypes

if TYPE_CHECKING:
    from sparsezc.networkx_backend.graphs.graph import Graph


def counted(G: Graph, kind: str) -> NDArray[Any]:
    """Return the number of edges at each vertex of a graph without parallel edges; undirected loops count twice."""
    n = len(G)
    if G.source is not None:
        i, j = G.ends()
        out, back = (np.bincount(at, minlength=n) for at in (i, j))
        loops: NDArray[Any] = np.bincount(i[i == j], minlength=n)
    else:
        out = out_degree(G.A).to_dense(0)
        back = in_degree(G.A).to_dense(0) if G.directed and kind != "out" else out
        loops = np.zeros(n, np.int64)
        loops[G.A.diag().to_coo()[0]] = 1
    both: NDArray[Any] = out + (back if G.directed else loops)
    return {"out": out, "in": back}.get(kind, both) if G.directed else both


def with_fractions(G: Graph, kind: str, weight: str | None) -> NDArray[np.bool_]:
    """Return a mask of vertices with an edge whose attribute is a float: sums at others are integers, as NetworkX's."""
    F, A = G.fractions(weight), G.values(weight)
    i, j, some = (A if F is None else F).to_coo()
    if F is None:
        some = np.full(i.size, A.dtype.is_float)
    found = np.zeros(len(G), bool)
    for at in {"out": (i,), "in": (j,)}.get(kind, (i, j)):
        found[at[some]] = True
    return found


def _fits(W: Matrix) -> bool:
    """Return whether the absolute values of a matrix's integers have a sum that fits in 64 bits."""
    found = lengths_of(W)
    if max(-found.least, found.most) * W.nvals < 2**62:
        return True
    return float(np.abs(W.to_coo()[2].astype(np.float64)).sum()) < 2**63


def summed(G: Graph, kind: str, weight: str | None) -> NDArray[Any]:
    """Return the sum of an edge attribute at each vertex; without `weight`, the number of edges, parallel ones too."""
    W = G.values(weight)
    if W.dtype.is_integer and W.nvals and not _fits(W):
        raise NotImplementedError(f"sums of edge attribute {weight!r} do not fit 64 bits")
    if W.dtype.np_type.kind in "iub" and W.dtype != datatypes.UINT64:
        W = W.dup(datatypes.INT64)  # sums in narrower types wrap around
    elif W.dtype == datatypes.FP32:
        W = W.dup(datatypes.FP64)
    out: NDArray[Any] = W.reduce_rowwise(monoid.plus).new().to_dense(0)
    if not G.directed:
        at, values = W.diag().to_coo()
        out[at] += values
        return out
    if kind == "out":
        return out
    back: NDArray[Any] = W.reduce_columnwise(monoid.plus).new().to_dense(0)
    return back if kind == "in" else out + back
