"""A graph in the forms in which sparsezc, networkit, igraph and SciPy take it, each made once and never timed."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

import sparsezc as gb
from benchmarks.harness.frame import SEED, pick_sources
from benchmarks.hive.row import HOST, Input

MOST_LENGTH = 255


class Graph:
    """One graph.

    Forms: "A" as it is in its file; "S" the undirected simple graph; "W" the same with lengths, those of a file that
    has integers, else a hash of both ends in 1..255; "D" each edge of S from its smaller to its larger vertex.
    """

    def __init__(self, name: str, data: Path) -> None:
        given = Input(name, HOST, data=data)
        try:
            read = gb.io.read(name) if ":" in name or Path(name).exists() else given.reference(name)
        except FileNotFoundError as error:
            raise SystemExit(f"{name}: {error}") from None
        self.name = name
        self._made: dict[tuple[str, str], Any] = {}
        self._weighted = read
        self.directed = not read._symmetric
        self._ours: dict[str, Any] = {"A": read.apply(gb.unary.one).new(bool)._known_symmetric(read._symmetric)}

    def ours(self, form: str) -> gb.Matrix:
        """The matrix of a form."""
        if form not in self._ours:
            S = self.scipy("S")
            i, j = S.nonzero()
            values: Any = True
            if form == "D":
                i, j = i[i < j], j[i < j]
            elif form == "W":
                values = self._lengths(i, j)
            made = gb.Matrix.from_coo(i, j, values, nrows=self.n, ncols=self.n)
            self._ours[form] = made._known_symmetric(form != "D")
        return self._ours[form]

    def _lengths(self, i: NDArray[Any], j: NDArray[Any]) -> NDArray[np.int64]:
        if not self.directed and self._weighted.dtype.is_integer and not self._weighted.ss.is_iso:
            indptr, ids, values = self._weighted.to_csr()
            W = csr_array((values, ids.astype(np.int64), indptr.astype(np.int64)), shape=(self.n, self.n))
            return np.asarray(W[i, j]).ravel().astype(np.int64)
        low, high = np.minimum(i, j).astype(np.uint64), np.maximum(i, j).astype(np.uint64)
        mixed = (low * np.uint64(0x9E3779B97F4A7C15)) ^ (high * np.uint64(0xC2B2AE3D27D4EB4F))
        return 1 + ((mixed >> np.uint64(32)) % np.uint64(MOST_LENGTH)).astype(np.int64)

    @property
    def n(self) -> int:
        return int(self._ours["A"].nrows)

    @cached_property
    def source(self) -> int:
        """The vertex of most out-edges."""
        return int(np.argmax(np.diff(self.scipy("A").indptr)))

    @cached_property
    def sources(self) -> list[int]:
        """16 vertices with edges."""
        return pick_sources(np.diff(self.scipy("S").indptr), 16, SEED)

    @cached_property
    def is_connected(self) -> bool:
        from scipy.sparse.csgraph import connected_components

        return int(connected_components(self.scipy("S"), return_labels=False)) == 1

    def scipy(self, form: str) -> Any:
        """SciPy's CSR array, in the types that its functions take without conversions: int32 and float64."""
        key = "scipy", form
        if key not in self._made:
            if form == "S":
                A = self.scipy("A").copy()
                A.setdiag(0)
                A.eliminate_zeros()
                S = (A + A.T).tocsr()
                S.data[:] = 1.0
                S.sort_indices()
                self._made[key] = S
            else:
                indptr, ids, values = self.ours(form).to_csr()
                values = np.broadcast_to(np.asarray(values, np.float64), ids.size).copy()
                self._made[key] = csr_array((values, ids.astype(np.int32), indptr.astype(np.int32)), (self.n, self.n))
        return self._made[key]

    def _edges(self, form: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], bool]:
        C = self.scipy(form).tocoo()
        directed = form == "D" or (form == "A" and self.directed)
        kept = slice(None) if directed else C.row <= C.col
        return C.row[kept], C.col[kept], C.data[kept], directed

    def networkit(self, form: str) -> Any:
        key = "networkit", form
        if key not in self._made:
            import networkit as nk

            i, j, w, directed = self._edges(form)
            given = (w, (i, j)) if form == "W" else (i, j)
            self._made[key] = nk.GraphFromCoo(given, n=self.n, directed=directed, weighted=form == "W")
            self._made[key].indexEdges()
        return self._made[key]

    def igraph(self, form: str) -> Any:
        key = "igraph", form
        if key not in self._made:
            import igraph

            i, j, w, directed = self._edges(form)
            G = igraph.Graph(n=self.n, edges=np.c_[i, j], directed=directed)
            if form == "W":
                G.es["w"] = w.tolist()
            self._made[key] = G
        return self._made[key]
