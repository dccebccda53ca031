"""Sampling hop by hop (hops.cu); with equal probabilities the host waits for the device only at the end.

If a hop draws by weight, or all or very many entries, its positions are found as by ops.selectk (selectk.py), which
reads sizes from the device. Vertices are numbered by a hash table in device memory, so the memory needed grows with the
sample and not with the graph.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.runtime import codegen, gather_scatter, launch
from sparsezc.engines.gpu.sampling import selectk
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.exceptions import OutOfMemory
from sparsezc.expr.sampling import MOST_FLOYD, Hops, Pick, Subgraph
from sparsezc.memory import budget
from sparsezc.semirings.types.datatypes import DataType

_SLOT_BYTES = 160  # bytes of device memory for a slot: 8 words, 4 more while arrays grow, and up to four table entries
_MOST_SLOTS = 2**31  # slots of a hop: its sums have 32 bits for edges
_EMPTY = np.uint64(2**64 - 1)


class _Drawn(NamedTuple):
    """The slots of a hop: their positions `at`, and `k` slots a row, or the row `owner` of each and k = 0."""

    at: Any
    k: int
    owner: Any = 0


def sample_hops(store: MatrixStore, seeds: Any, hops: Hops) -> Subgraph:
    """Return the sampled subgraph; `seeds`: int64 on the device."""
    rows, xp = store.rows, cuda.current().xp
    if rows is None:
        empty, none = xp.empty(0, np.int64), [0] * len(hops.fanouts)
        values = xp.empty(0, store.dtype.np_type) if hops.values else None
        return Subgraph(seeds, empty, empty, empty, values, [seeds.size, *none], none)
    state = _State(rows, store.dtype, seeds, hops)
    for _ in hops.fanouts:
        state.run()
    counts = cuda.current().asnumpy(state.counts)  # the host waits for the device
    ends, edges = counts[: state.edges_from].tolist(), counts[state.edges_from :].tolist()
    node = state.node[: ends[-1]]
    row, col, edge = (part[: edges[-1]] for part in (state.row, state.col, state.edge))
    sizes = [[after - before for before, after in pairwise(x)] for x in (ends, edges)]
    return Subgraph(node, row, col, edge, _values(rows, edge) if hops.values else None, *sizes)


def _values(rows: Rows, edge: Any) -> Any:
    if rows.iso:
        return cuda.current().xp.repeat(rows.values.load(), edge.size)
    return gather_scatter.gather(rows.values, edge, near=placements.in_device_memory(rows))


class _State:
    """The vertices and edges of the hops so far; their numbers are on the device, and the host has upper bounds.

    Arrays are allocated once, for all hops up to the first that takes all entries of rows; from that hop on they grow.
    """

    def __init__(self, rows: Rows, dtype: DataType, seeds: Any, hops: Hops) -> None:
        self.rows, self.dtype, self.hops = rows, dtype, hops
        self.gpu = cuda.current()
        xp = self.gpu.xp
        self.hop = self.capacity = 0  # the next hop, and the vertices for which the table has space
        self.edges_from = len(hops.fanouts) + 2
        self.counts = xp.zeros(self.edges_from + len(hops.fanouts) + 1, np.int64)  # ends of vertices, then of edges
        self.counts[1] = seeds.size
        self.node, self.row, self.col, self.edge = seeds, *(xp.empty(0, np.int64) for _ in range(3))
        self.seeds = self.most = self.nodes = int(seeds.size)  # bounds: `most` rows of the next hop, `nodes` vertices
        self.listed = 0  # bound of the number of edges
        nodes, edges, most = self.nodes, 0, self.most
        for k in hops.fanouts:
            if k < 0:
                break
            edges, most = edges + most * k, min(most * k, rows.ncols)
            nodes += most
        _need(edges)
        self._grow(nodes, edges)

    def _launch(self, name: str, threads: int, **given: Any) -> None:
        kernel = codegen.kernel(self.gpu, "hops.cu", f"typedef {'u64' if self.rows.wide else 'u32'} Id;", name)
        run = stats.counted(kernel, placements.in_device_memory(self.rows)) if name == "meet" else kernel.launch
        run(launch.blocks(self.gpu, threads), **given)

    def _grow(self, nodes: int, edges: int) -> None:
        """Enlarge arrays and table to hold so many vertices and edges; a larger table is filled again."""
        nodes = min(nodes, self.seeds + self.rows.ncols)
        self.node = self._longer(self.node, nodes)
        self.row, self.col, self.edge = (self._longer(x, edges) for x in (self.row, self.col, self.edge))
        if nodes <= self.capacity:
            return
        self.capacity, self.bits = nodes, max(6, (2 * nodes).bit_length())  # at most half full
        self.table = self.gpu.xp.full(2 << self.bits, _EMPTY, np.uint64)
        for hop in range(self.hop + 1):
            given = {"range": self.counts[hop:], "node": self.node, "table": self.table, "bits": self.bits}
            self._launch("know", self.nodes, **given)

    def _longer(self, array: Any, count: int) -> Any:
        if count <= array.size:
            return array
        made = self.gpu.xp.empty(count, np.int64)
        made[: array.size] = array
        return made

    def run(self) -> None:
        """Draw from the rows of the vertices that the last hop met, and number the vertices met by the drawn edges."""
        ends, edges = self.counts[self.hop :], self.counts[self.edges_from + self.hop :]
        drawn = self._drawn(self.hops.pick(self.hop, self.rows.ncols), ends)
        count = int(drawn.at.size)
        self.most = min(count, self.rows.ncols)
        self._grow(self.nodes + self.most, self.listed + count)
        self.nodes, self.listed = self.nodes + self.most, self.listed + count
        self.hop += 1
        if count:
            self._number(drawn, ends, edges)
        else:
            ends[2], edges[1] = ends[1], edges[0]

    def _drawn(self, pick: Pick, ends: Any) -> _Drawn:
        """Return the positions drawn from the rows of the vertices that the last hop met."""
        xp, most = self.gpu.xp, self.most
        alike = pick.how == "random" and (pick.replace or pick.k <= MOST_FLOYD)
        if alike and pick.k * most:
            _need(most * pick.k)
            at = xp.empty(most * pick.k, np.uint64)
            kernel = codegen.kernel(self.gpu, "draws.cu", "", "with_replacement" if pick.replace else "floyd")
            kernel.launch(
                launch.blocks(self.gpu, at.size if pick.replace else most), count=most, range=ends, k=pick.k, first=0,
                listed=self.node, indptr=self.rows.indptr, seed=np.uint64(pick.seed), at=at,
            )  # fmt: skip
            return _Drawn(_sorted(at, pick.k) if pick.replace else at, pick.k)
        first, self.nodes = self.gpu.asnumpy(ends[:2]).tolist()
        listed = self.node[first : self.nodes]
        lengths = self.rows.indptr[listed + 1] - self.rows.indptr[listed]
        _need(listed.size * pick.k if pick.replace else int(lengths.clip(0, pick.k).sum()))
        found = selectk.Finder(self.rows, self.dtype, pick)
        if pick.replace and pick.k:
            return _Drawn(_sorted(found.drawn(listed, 0), pick.k), pick.k)
        at, lengths, _ = found.find(listed, 0, listed.size)
        return _Drawn(at, 0, xp.searchsorted(xp.cumsum(lengths), xp.arange(at.size), side="right"))

    def _number(self, drawn: _Drawn, ends: Any, edges: Any) -> None:
        """Give local numbers to the vertices at the drawn positions, and list the edges."""
        xp, count = self.gpu.xp, int(drawn.at.size)
        entry, counts = xp.empty(count, np.uint64), xp.empty(count, np.int64)
        slots = {"count": count, "k": drawn.k, "range": ends, "table": self.table, "entry": entry}
        self._launch("meet", count, **slots, at=drawn.at, indices=self.rows.indices.pointer, bits=self.bits)
        self._launch("count_fresh", count, **slots, counts=counts)
        self._launch(
            "number", count, **slots, at=drawn.at, owner=drawn.owner, sums=xp.cumsum(counts), edges=edges,
            node=self.node, row=self.row, col=self.col, edge=self.edge,
        )  # fmt: skip
        self._launch("locate", count, edges=edges, table=self.table, row=self.row)


def _sorted(at: Any, k: int) -> Any:
    """Return positions sorted within each row of `k`."""
    return cuda.current().xp.sort(at.reshape(-1, k), axis=1).ravel()


def _need(slots: int) -> None:
    """Raise OutOfMemory if memory is too small for so many slots."""
    nbytes = slots * _SLOT_BYTES
    if nbytes > (space := budget.make_available(nbytes)) or slots >= _MOST_SLOTS:
        raise OutOfMemory(
            f"sample_hops: up to {slots:,} edges need {nbytes:,} bytes of device memory and {space:,} may be used;"
            " fewer seeds or neighbours need less"
        )
