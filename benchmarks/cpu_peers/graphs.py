"""A graph in the objects of sparsezc, networkit, igraph and SciPy, each made once and never timed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import sparsezc as gb
from benchmarks.harness.frame import SEED, pick_sources
from benchmarks.hive.row import HOST, Input

MOST_LENGTH = 255


class Graph:
    """One graph.

    Forms: "A" as it is in its file; "S" the undirected simple graph; "W" the same with lengths, those of a file that
    has integers, else a hash of both ends in 1..255; "D" each edge of S from its smaller to its larger vertex; "C" the
    largest component of S, whose vertices are numbered anew.
    """

    def __init__(self, name: str, data: Path) -> None:
        given = Input(name, HOST, data=data)
        try:
            read = gb.io.read(name) if ":" in name or Path(name).exists() else given.reference(name)
        except FileNotFoundError as error:
            raise SystemExit(f"{name}: {error}") from None
        self.name = name
        self._made: dict[tuple[str, str], Any] = {}
        self._kept: dict[str, Any] = {}
        self._weighted = read
        self.directed = not read._symmetric
        self._ours: dict[str, Any] = {"A": read.apply(gb.unary.one).new(bool)._known_symmetric(read._symmetric)}

    def ours(self, form: str) -> gb.Matrix:
        """Return the matrix of a form."""
        if form not in self._ours:
            i, j = self.scipy("C" if form == "C" else "S").nonzero()
            values: Any = True
            if form == "D":
                i, j = i[i < j], j[i < j]
            elif form == "W":
                values = self._lengths(i, j)
            n = self.scipy("C").shape[0] if form == "C" else self.n
            made = gb.Matrix.from_coo(i, j, values, nrows=n, ncols=n)
            self._ours[form] = made._known_symmetric(form != "D")
        return self._ours[form]

    def kept(self, name: str, make: Callable[[Graph], Any]) -> Any:
        """Return the result of `make` for this graph, made once."""
        if name not in self._kept:
            self._kept[name] = make(self)
        return self._kept[name]

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

    def scipy(self, form: str) -> Any:
        """SciPy's CSR array, in the types that its functions take without conversions: int32 and float64."""
        key = "scipy", form
        if key not in self._made:
            if form == "C":
                S = self.scipy("S")
                part = connected_components(S)[1]
                members = np.flatnonzero(part == np.bincount(part).argmax())
                self._made[key] = S[members][:, members]
            elif form == "S":
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
            n = self.scipy(form).shape[0]
            self._made[key] = nk.GraphFromCoo(given, n=n, directed=directed, weighted=form == "W")
            self._made[key].indexEdges()
        return self._made[key]

    def igraph(self, form: str) -> Any:
        key = "igraph", form
        if key not in self._made:
            import igraph

            i, j, w, directed = self._edges(form)
            G = igraph.Graph(n=self.scipy(form).shape[0], edges=np.c_[i, j], directed=directed)
            if form == "W":
                G.es["w"] = w.tolist()
            self._made[key] = G
        return self._made[key]
