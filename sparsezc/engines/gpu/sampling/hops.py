"""Sampling hop by hop (hops.cu): the host waits for the device at the end only, where entries are drawn alike.

By weight, of all entries or of very many, a hop's positions are found as ops.selectk finds them (picks.py), which asks
the device for sizes. Vertices are numbered through a hash table in device memory, so what is needed grows with the
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
from sparsezc.engines.gpu.sampling import picks
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.errors import OutOfMemory
from sparsezc.expr.draws import MOST_FLOYD, Hops, Pick, Subgraph
from sparsezc.memory import budget
from sparsezc.semirings.types.datatypes import DataType

_SLOT_BYTES = 160  # of device memory for a slot: 8 words, 4 more where arrays are joined, and two table entries
_MOST_SLOTS = 2**31  # of a hop: its sums have 32 bits for edges
_EMPTY = np.uint64(2**64 - 1)


class _Drawn(NamedTuple):
    """The slots of a hop: `at` their positions, `k` a row; or `owner`, the row of each, and k = 0."""

    at: Any
    k: int
    owner: Any = 0


class _Hop(NamedTuple):
    """The arrays of a hop, longer than their content, whose size is still on the device."""

    fresh: Any
    row: Any
    col: Any
    edge: Any


def sample_hops(store: MatrixStore, seeds: Any, hops: Hops) -> Subgraph:
    """Return the sampled subgraph; `seeds`: int64 on the device."""
    rows, xp = store.rows, cuda.current().xp
    empty = xp.empty(0, np.int64)
    if rows is None:
        values = xp.empty(0, store.dtype.np_type) if hops.values else None
        none = [0] * len(hops.fanouts)
        return Subgraph(seeds, empty, empty, empty, values, [seeds.size, *none], none)
    state = _State(rows, store.dtype, seeds, hops)
    made = [state.run(hop) for hop in range(len(hops.fanouts))]
    ends, edges = (cuda.current().asnumpy(x).tolist() for x in (state.ends, state.edges))
    nodes = [after - before for before, after in pairwise(ends)]
    node = xp.concatenate([seeds, *(hop.fresh[:count] for hop, count in zip(made, nodes[1:], strict=True))])
    row, col, edge = (
        xp.concatenate([empty, *(part[:count] for part, count in zip(parts, edges, strict=True))])
        for parts in ([hop[k] for hop in made] for k in (1, 2, 3))
    )
    return Subgraph(node, row, col, edge, _values(rows, edge) if hops.values else None, nodes, edges)


def _values(rows: Rows, edge: Any) -> Any:
    if rows.iso:
        return cuda.current().xp.repeat(rows.values.load(), edge.size)
    return gather_scatter.gather(rows.values, edge, near=placements.lie_near(rows))


class _State:
    """The state between hops: local numbers, and their ends on the device."""

    def __init__(self, rows: Rows, dtype: DataType, seeds: Any, hops: Hops) -> None:
        self.rows, self.dtype, self.hops = rows, dtype, hops
        self.gpu = cuda.current()
        xp = self.gpu.xp
        self.listed = [seeds]  # the vertices that each hop met, the last of which the next hop draws from
        self.ends = xp.zeros(len(hops.fanouts) + 2, np.int64)
        self.ends[1] = seeds.size
        self.edges = xp.zeros(len(hops.fanouts), np.int64)
        self.room = 0  # vertices that the table holds
        self._make_room(self._bound())

    def _launch(self, name: str, threads: int, **given: Any) -> None:
        kernel = codegen.kernel(self.gpu, "hops.cu", f"typedef {'u64' if self.rows.wide else 'u32'} Id;", name)
        run = stats.counted(kernel, placements.lie_near(self.rows)) if name == "meet" else kernel.launch
        run(launch.blocks(self.gpu, threads), **given)

    def _bound(self) -> int:
        """Return the most vertices that are met before a hop of unknown size."""
        bound = rows = int(self.listed[0].size)
        for k in self.hops.fanouts:
            if k < 0:
                break
            rows = min(rows * k, self.rows.ncols)
            bound += rows
        return bound

    def _make_room(self, count: int) -> None:
        """Let the table hold so many vertices; a larger table is filled anew."""
        count = min(count, self.listed[0].size + self.rows.ncols)
        if count <= self.room:
            return
        self.room, self.bits = count, max(6, (2 * count).bit_length())  # at most half full
        self.table = self.gpu.xp.full(2 << self.bits, _EMPTY, np.uint64)
        for hop, listed in enumerate(self.listed):
            if listed.size:
                given = {"range": self.ends[hop:], "listed": listed, "table": self.table, "bits": self.bits}
                self._launch("know", listed.size, **given)

    def run(self, hop: int) -> _Hop:
        """Draw from the rows of the vertices that the hop before met, and number what is met."""
        xp = self.gpu.xp
        drawn = self._drawn(self.hops.pick(hop, self.rows.ncols), self.ends[hop:])
        count = int(drawn.at.size)
        fresh = xp.empty(min(count, self.rows.ncols), np.int64)
        made = _Hop(fresh, *(xp.empty(count, np.int64) for _ in range(3)))
        if count:
            self._make_room(sum(part.size for part in self.listed) + fresh.size)
            self._number(drawn, made, hop)
        else:
            self.ends[hop + 2] = self.ends[hop + 1]
        self.listed.append(fresh)
        return made

    def _drawn(self, pick: Pick, ends: Any) -> _Drawn:
        """Return the positions that are drawn from the rows of the vertices met last."""
        xp, listed = self.gpu.xp, self.listed[-1]
        alike = pick.how == "random" and (pick.replace or pick.k <= MOST_FLOYD)
        if alike and pick.k:
            _need(listed.size * pick.k)
            at = xp.empty(listed.size * pick.k, np.uint64)
            name = "with_replacement" if pick.replace else "floyd"
            kernel = codegen.kernel(self.gpu, "draws.cu", "", name)
            kernel.launch(
                launch.blocks(self.gpu, at.size if pick.replace else listed.size), count=listed.size, range=ends,
                k=pick.k, first=0, listed=listed, indptr=self.rows.indptr, seed=np.uint64(pick.seed), at=at,
            )  # fmt: skip
            return _Drawn(_sorted(at, pick.k) if pick.replace else at, pick.k)
        first, last = self.gpu.asnumpy(ends[:2]).tolist()
        listed = self.listed[-1] = listed[: last - first]
        lengths = self.rows.indptr[listed + 1] - self.rows.indptr[listed]
        _need(listed.size * pick.k if pick.replace else int(lengths.clip(0, pick.k).sum()))
        found = picks.Finder(self.rows, self.dtype, pick)
        if pick.replace and pick.k:
            return _Drawn(_sorted(found.drawn(listed, 0), pick.k), pick.k)
        at, lengths, _ = found.find(listed, 0, listed.size)
        return _Drawn(at, 0, xp.searchsorted(xp.cumsum(lengths), xp.arange(at.size), side="right"))

    def _number(self, drawn: _Drawn, made: _Hop, hop: int) -> None:
        """Give local numbers to the vertices behind the positions, and list the edges."""
        xp, count = self.gpu.xp, int(drawn.at.size)
        entry, counts = xp.empty(count, np.uint64), xp.empty(count, np.int64)
        slots = {"count": count, "k": drawn.k, "range": self.ends[hop:], "table": self.table, "entry": entry}
        edges = self.edges[hop:]
        self._launch("meet", count, **slots, at=drawn.at, indices=self.rows.indices.pointer, bits=self.bits)
        self._launch("count_fresh", count, **slots, counts=counts)
        self._launch(
            "number", count, **slots, at=drawn.at, owner=drawn.owner, sums=xp.cumsum(counts), edges=edges,
            fresh=made.fresh, met=made.row, col=made.col, edge=made.edge,
        )  # fmt: skip
        self._launch("locate", count, edges=edges, table=self.table, row=made.row)


def _sorted(at: Any, k: int) -> Any:
    """Return positions with those of a row in ascending order."""
    return cuda.current().xp.sort(at.reshape(-1, k), axis=1).ravel()


def _need(slots: int) -> None:
    """Raise OutOfMemory if a hop of so many slots cannot be numbered."""
    nbytes = slots * _SLOT_BYTES
    if slots >= _MOST_SLOTS:
        raise OutOfMemory(f"sample_hops: a hop of {slots:,} edges; fewer than {_MOST_SLOTS:,} can be numbered")
    if nbytes > (room := budget.make_room(nbytes)):
        raise OutOfMemory(
            f"sample_hops: a hop of {slots:,} edges needs {nbytes:,} bytes of device memory and {room:,} may be used"
        )
