"""Maximum flows by parts: each rank pushes within its rows, then ranks settle the flow that crosses between them.

A rank has the residual capacities of its entries, copies of those of the opposite entries on other ranks, and the
heights of all vertices. In a sweep every rank discharges its vertices, with the heights of others fixed. Then ranks
exchange the heights that rose. Flow that crossed from u to v counts if v is at most one above u, which both owners
compute alike; otherwise it returns to u. So heights remain lower bounds of the hops to the target, as in one process.
Searches from the target recompute them. The loops run over rows in host memory, whatever the local engine.

Source: A. Shekhovtsov, V. Hlaváč, A distributed mincut/maxflow algorithm combining path augmentation and push-relabel,
IJCV 104, 2013, section 4 (parallel region discharge), doi:10.1007/s11263-012-0571-2; for recomputed heights see
sparsezc/engines/cpu/flow.py.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu.suitesparse.machine_code import compiled
from sparsezc.engines.distributed.parts import matrix_exchange
from sparsezc.engines.distributed.parts.local_objects import put
from sparsezc.engines.distributed.parts.partition import ROWS
from sparsezc.exceptions import DimensionMismatch, InvalidValue
from sparsezc.memory import wrap
from sparsezc.memory.csr import Csr

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine

__all__ = ["net_flow"]

Ints = NDArray[np.int64]
_FEWER = 1 << 11  # entries that Python processes in less time than machine code takes to load
_ENTRY, _VERTEX = 72, 40  # bytes of the arrays for each entry of a rank, and for each vertex
_SWEEPS = 8  # sweeps between two searches, or as many as the last search took exchanges, if these are more
_RAISE = 12  # work units of a relabel besides one for each entry, as Cherkassky and Goldberg count


def net_flow(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Compute a maximum flow; see ops/mxm.py."""
    A, s, t = e.operands
    store, result = A._store, out._store
    if A.shape != e.shape:
        raise DimensionMismatch(f"net_flow: {A.name} was resized since the expression was made")
    if engine.size == 1 or store.partition.along is not ROWS:
        return False
    counts = engine.counts(store)
    nbytes = _ENTRY * int(counts.max()) + _VERTEX * A.nrows
    matrix_exchange.require_on_all(engine, nbytes, f"net_flow: the flow state of {int(counts.sum()):,} entries")
    flow = _Flow(engine, store, A.name)
    capacity = flow.residual.copy()
    flow.leave(s.value)
    flow.drain(t.value, s.value)
    flow.drain(s.value, t.value)
    if not result.is_empty_range:
        csr = store.local._to_csr()
        made = Csr(csr.nrows, csr.ncols, csr.indptr, csr.indices, wrap(capacity - flow.residual), e.dtype)
        put(result, engine.local.matrix_of(matrix_exchange.placed(made, csr.indices.placement)), write)
    result.changed()
    return None


class _Rows(NamedTuple):
    """This rank's rows.

    Attributes
    ----------
    indptr, ids : ndarray of int64
        Offsets, and columns in the whole.
    back : ndarray of int64
        The index of the opposite entry, or ``~k`` of the k-th crossing entry: its column is another rank's row.
    residual : ndarray
        The residual capacity of each entry.
    first : int
        The number of the first row in the whole.
    """

    indptr: Ints
    ids: Ints
    back: Ints
    residual: NDArray[Any]
    first: int


class _Flow:
    """The state of a flow on this rank.

    Attributes
    ----------
    own : _Rows
    mirror, sent : ndarray
        Of each crossing entry the residual capacity of its opposite, and the flow pushed over it in this sweep.
    giving, taking : ndarray of int64
        Crossing entries in the order in which flow is sent to the owners of their columns, and in which flow over
        their opposites arrives.
    excess : ndarray
        The flow that each vertex of this rank has received and not sent on.
    height : ndarray of int64
        The heights of all vertices; the number of vertices means that the target is not reached.
    """

    def __init__(self, engine: DistributedEngine, store: Any, name: str) -> None:
        self.engine, self.partition = engine, store.partition
        self.lo, self.hi, n = store.partition.lo, store.partition.hi, store.nrows
        self.indptr, columns, values = matrix_exchange.host_csr(store.local)
        self.ids, self.residual = columns.astype(np.int64), np.array(values)
        rows = np.repeat(np.arange(self.lo, self.hi), np.diff(self.indptr))
        self.outside = np.flatnonzero((self.ids < self.lo) | (self.ids >= self.hi))
        column, self.row = self.ids[self.outside], rows[self.outside]
        owner = np.searchsorted(store.partition.bounds, column, side="right") - 1
        self.giving, self.taking = np.lexsort((self.row, column)), np.argsort(owner, kind="stable")
        self.ends = np.searchsorted(owner[self.taking], np.arange(engine.size + 1))
        self.back = self._opposite(rows, column, name)
        self.own = _Rows(self.indptr, self.ids, self.back, self.residual, self.lo)
        self.mirror = self._crossed(self.residual[self.outside])
        self.sent = np.zeros_like(self.mirror)
        self.excess, self.height = np.zeros(self.hi - self.lo, self.residual.dtype), np.empty(n, np.int64)
        few = int(engine.counts(store).sum()) <= _FEWER and not _loops.cache_info().currsize
        loops: tuple[Any, Any] = (_reach, _discharge) if few else _loops()
        self.reach, self.discharge = loops

    def _crossed(self, values: NDArray[Any]) -> NDArray[Any]:
        """Exchange a value of each crossing entry for that of its opposite."""
        sent = np.diff(self.ends)
        arrived = self.engine.transport.scatter(np.ascontiguousarray(values[self.giving]), sent, sent)
        found: NDArray[Any] = np.empty_like(values)
        found[self.taking] = arrived
        return found

    def _opposite(self, rows: Ints, column: Ints, name: str) -> Ints:
        """Return `back`; all ranks raise InvalidValue if an entry has no opposite."""
        back = np.empty(self.ids.size, np.int64)
        back[self.outside] = ~np.arange(self.outside.size)
        inside = np.flatnonzero((self.ids >= self.lo) & (self.ids < self.hi))
        i, j = rows[inside], self.ids[inside]
        turned = np.lexsort((i, j))
        back[inside[turned]] = inside
        wrong = not (np.array_equal(i, j[turned]) and np.array_equal(j, i[turned]))
        table = self.engine.transport.numbers(wrong, *np.diff(self.ends).tolist())
        alike = np.array_equal(table[:, 1:], table[:, 1:].T)
        if alike:
            alike = np.array_equal(self._crossed(self.row), column) and np.array_equal(self._crossed(column), self.row)
            wrong = wrong or not alike
            table = self.engine.transport.numbers(wrong)
        if not alike or table[:, 0].any():
            raise InvalidValue(f"net_flow: {name} has an entry (i, j) without (j, i)")
        return back

    def leave(self, source: int) -> None:
        """Push the whole capacity of the source's entries to its neighbours."""
        if self.lo <= source < self.hi:
            at = np.arange(*self.indptr[source - self.lo : source - self.lo + 2])
            back = self.back[at]
            near, far = at[back >= 0], at[back < 0]
            self.sent[~self.back[far]] = self.residual[far]
            self.excess[self.ids[near] - self.lo] = self.residual[near]
            self.residual[self.back[near]] += self.residual[near]
            self.residual[near] = 0
        self._settle(np.flatnonzero(self.sent), -1)

    def drain(self, target: int, wall: int) -> None:
        """Push excess to the target, on paths without `wall`, until no excess that is left reaches it."""
        numbers, heights = self.engine.transport.numbers, self.height[self.lo : self.hi]
        for end in (target, wall):
            if self.lo <= end < self.hi:
                self.excess[end - self.lo] = 0
        most = self.height.size + int(numbers(self.ids.size).sum())
        while True:
            sweeps = max(self._search(target, wall), _SWEEPS)
            work = 0
            while work < most and sweeps:
                sweeps -= 1
                before = heights.copy()
                active, worked = self.discharge(self.own, self.sent, self.excess, self.height, target)
                raised = np.flatnonzero(heights != before)
                told = numbers(raised.size, active, worked).sum(axis=0)
                if not told[1]:
                    return  # heights are lower bounds: no vertex with excess reaches the target
                work += int(told[2])
                at, height = self._gathered(raised + self.lo, heights[raised])
                self.height[at] = height
                crossed = np.flatnonzero(self.sent)
                counts = self.height[self.ids[self.outside[crossed]]] <= self.height[self.row[crossed]] + 1
                refused = crossed[~counts]
                np.add.at(self.excess, self.row[refused] - self.lo, self.sent[refused])
                self.sent[refused] = 0
                self._settle(crossed[counts], target)

    def _gathered(self, *mine: Ints) -> list[Ints]:
        counts = self.engine.transport.numbers(mine[0].size)[:, 0].copy()
        return [self.engine.transport.gather(np.ascontiguousarray(x), counts) for x in mine]

    def _settle(self, crossed: Ints, target: int) -> None:
        """Send crossing flow to its owners; on both ranks an entry's outgoing flow counts before its incoming flow."""
        transport, rank = self.engine.transport, self.engine.rank
        left = self.outside[crossed]
        self.residual[left] -= self.sent[crossed]
        chosen = np.zeros(self.sent.size, np.bool_)
        chosen[crossed] = True
        at = np.flatnonzero(chosen[self.giving])  # indices in a message of all crossing entries
        sent = np.diff(np.searchsorted(at, self.ends))
        received = transport.numbers(*sent.tolist())[:, rank].copy()
        places = at - np.repeat(self.ends[:-1], sent)
        amounts = self.sent[self.giving[at]]
        places, amounts = (transport.scatter(np.ascontiguousarray(x), sent, received) for x in (places, amounts))
        arrived = self.taking[places + np.repeat(self.ends[:-1], received)]
        self.mirror[arrived] -= amounts
        self.mirror[crossed] += self.sent[crossed]
        self.sent[crossed] = 0
        self.residual[self.outside[arrived]] += amounts
        to = self.row[arrived]
        np.add.at(self.excess, to[to != target] - self.lo, amounts[to != target])

    def _search(self, target: int, wall: int) -> int:
        """Set heights to the hops to the target; of `wall` and vertices that do not reach it, to the vertices' number.

        Returns the number of levels, each of which took an exchange.
        """
        n = self.height.size
        self.height[:] = n
        self.height[target] = 0
        listed, found, level = np.array([target]), np.empty(n, np.int64), 0
        while listed.size:
            level += 1
            mine = listed[(listed >= self.lo) & (listed < self.hi)]
            count = self.reach(self.own, self.mirror, self.height, mine, level, wall, found)
            listed = np.unique(self._gathered(found[:count])[0])
            self.height[listed] = level
        return level


@cache
def _loops() -> tuple[Any, Any]:
    """Return the loops below in machine code, or as they are without numba."""
    try:
        numba = import_module("numba")
    except ImportError:
        return _reach, _discharge
    return compiled(numba, _reach), compiled(numba, _discharge)


def _reach(own: Any, mirror: Any, height: Any, listed: Any, level: int, wall: int, found: Any) -> int:
    """List in `found` the unreached vertices one hop from those listed, with this level; return their number."""
    n, count = height.size, 0
    for v in listed:
        for at in range(own.indptr[v - own.first], own.indptr[v - own.first + 1]):
            u, k = own.ids[at], own.back[at]
            if height[u] == n and u != wall and (own.residual[k] if k >= 0 else mirror[~k]) > 0:
                height[u] = level
                found[count] = u
                count += 1
    return count


def _discharge(rows: Any, sent: Any, excess: Any, height: Any, target: int) -> tuple[int, int]:
    """Push excess until none of these rows' vertices has any that reaches the target, or for the work of a search.

    Returns the number of vertices with excess at first, and the work. Vertices wait in a circular queue.
    """
    indptr, ids, back, residual, lo = rows.indptr, rows.ids, rows.back, rows.residual, rows.first
    here, n = indptr.size - 1, height.size
    queue, waits, next = np.empty(here, np.int64), np.zeros(here, np.bool_), indptr[:-1].copy()
    count = first = work = 0
    for v in range(here):
        if excess[v] > 0 and height[lo + v] < n:
            waits[v] = True
            queue[count] = v
            count += 1
    active = count
    while count and work < here + ids.size:
        v = queue[first]
        first = first + 1 if first + 1 < here else 0
        count -= 1
        waits[v] = False
        left, own = excess[v], height[lo + v]
        while left > 0 and own < n:
            at = next[v]
            while at < indptr[v + 1]:
                u, k = ids[at], back[at]
                free = residual[at] if k >= 0 else residual[at] - sent[~k]
                if free > 0 and height[u] + 1 == own:
                    if k >= 0:
                        given = min(left, free)
                        residual[at] -= given
                        residual[k] += given
                        if u != target:
                            excess[u - lo] += given
                            if not waits[u - lo]:
                                waits[u - lo] = True
                                end = first + count
                                queue[end if end < here else end - here] = u - lo
                                count += 1
                    elif left < free:
                        given = left
                        sent[~k] += given
                    else:  # the entry is saturated, exactly: a sum may differ in its last bits
                        given = free
                        sent[~k] = residual[at]
                    left -= given
                    if left == 0:
                        break
                at += 1
            next[v] = at
            if left > 0:
                own = n
                for at in range(indptr[v], indptr[v + 1]):
                    free = residual[at] if back[at] >= 0 else residual[at] - sent[~back[at]]
                    if free > 0 and height[ids[at]] + 1 < own:
                        own = height[ids[at]] + 1
                height[lo + v] = own
                next[v] = indptr[v]
                work += _RAISE + indptr[v + 1] - indptr[v]
        excess[v] = left
    return active, work
