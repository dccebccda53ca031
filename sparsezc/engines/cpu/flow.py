"""Maximum flows on the CPU engine (ops.net_flow): loops for numba, or SciPy's for small capacities until loops run.

SciPy's method searches for one path after another, which takes minutes where many short paths meet.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu.compiled_loops import run_arrays
from sparsezc.engines.cpu.suitesparse import native
from sparsezc.engines.cpu.suitesparse.expressions import acyclic
from sparsezc.engines.cpu.suitesparse.row_arrays import borrowed
from sparsezc.exceptions import DimensionMismatch, InvalidValue
from sparsezc.expr.expression import Expression
from sparsezc.memory.budget import require_host

__all__ = ["net_flow"]

_COST = 3000.0  # nanoseconds that SciPy takes for an entry, at most on common graphs
_FEWER = 1 << 10  # entries that Python processes in less time than machine code takes to load
_SCIPYS = 1 << 30  # limit of capacities for SciPy, which adds the two of an edge in 32 bits
_SEARCH = 1  # work units between two searches: so many for each vertex, and one for each entry
_RAISE = 12  # work units of a relabel besides one for each entry, as Cherkassky and Goldberg count


def net_flow(x: Expression) -> Any:
    """Make python-graphblas's Matrix of the flow at each entry."""
    A, s, t = x.operands
    if A.shape != x.shape:
        raise DimensionMismatch(f"net_flow: {A.name} was resized since the expression was made")
    nvals, n = A._store.nvals, A.nrows
    require_host(48 * nvals + 64 * n, f"net_flow: the flow state of {nvals:,} entries")
    with borrowed(A._store) as parts:
        indptr, ids, capacity = parts.every_row(n), parts.indices, np.broadcast_to(parts.values, nvals)
        carried = _carried(indptr, ids, capacity, s.value, t.value)
        made = {"indptr": indptr.astype(np.uint64), "col_indices": ids.astype(np.uint64)}  # copies
    if carried is None:
        raise InvalidValue(f"net_flow: {A.name} has an entry (i, j) without (j, i)")
    return acyclic(native.gb.Matrix.ss.import_csr(
        nrows=n, ncols=n, values=carried, **made,
        sorted_cols=True, take_ownership=True, dtype=native.type_of(x.dtype),
    ))  # fmt: skip


def _carried(indptr: Any, ids: Any, capacity: Any, source: int, target: int) -> Any:
    """Return the flow at each entry; None if an entry has no opposite."""
    fits = _fits_scipy(capacity, indptr.size - 1)
    cost = _COST * ids.size if fits or ids.size <= _FEWER else np.inf
    back = run_arrays(_opposite, (indptr, ids), cost)
    if back is None and fits:
        return _scipys(capacity, ids, indptr, source, target)
    drain: Callable[..., Any] = partial(_in_machine_code, _drain)
    if back is None:
        back, drain = _opposite(indptr, ids), _drain
    return None if back.size < ids.size else capacity - _left(drain, indptr, ids, back, capacity, source, target)


def _in_machine_code(loop: Callable[..., Any], *given: Any) -> Any:
    """Run a loop that returns a value: in machine code, or in Python without numba."""
    found = run_arrays(loop, given, np.inf)
    return loop(*given) if found is None else found


def _fits_scipy(capacity: NDArray[Any], n: int) -> bool:
    whole = capacity.dtype == np.int64 and max(n, capacity.size) < 2**31
    return bool(whole and (not capacity.size or capacity.max() < _SCIPYS))


def _scipys(capacity: Any, ids: Any, indptr: Any, s: int, t: int) -> NDArray[np.int64] | None:
    """Return SciPy's flow; None if an entry has no opposite: SciPy adds those."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    n = indptr.size - 1
    graph = csr_array((capacity.astype(np.int32), ids.astype(np.int32), indptr.astype(np.int32)), shape=(n, n))
    flow = maximum_flow(graph, s, t).flow
    return flow.data.astype(np.int64) if flow.nnz == ids.size else None


def _left(drain: Any, indptr: Any, ids: Any, back: Any, capacity: Any, source: int, target: int) -> Any:
    """Return the residual capacities of a maximum flow; excess that does not reach the target returns to the source."""
    residual, excess = capacity.copy(), np.zeros(indptr.size - 1, capacity.dtype)
    edges = slice(indptr[source], indptr[source + 1])
    excess[ids[edges]] = whole = residual[edges].copy()
    residual[edges] = 0
    residual[back[edges]] += whole
    drain(indptr, ids, back, residual, excess, target, source)
    drain(indptr, ids, back, residual, excess, source, target)
    return residual


def _opposite(indptr: Any, ids: Any) -> Any:
    """Return the index of (j, i) for each entry (i, j); an empty array if one has none. Ids ascend in each row."""
    starts, columns, one = indptr.view(np.uint64), ids.view(np.uint64), np.uint64(1)  # unsigned: numba checks no sign
    back, filled = np.empty(ids.size, np.int64), starts[:-1].copy()
    for v in range(filled.size):
        for at in range(starts[v], starts[v + 1]):
            u = columns[at]
            place = filled[u]  # rows in order meet the entries of row u in order
            if place == starts[u + one] or columns[place] != np.uint64(v):
                return back[:0]
            back[at] = place
            filled[u] = place + one
    return back


def _drain(indptr: Any, ids: Any, back: Any, residual: Any, excess: Any, target: int, wall: int) -> int:
    """Push excess to the target, on paths without `wall`, until no other excess reaches it; return the search count.

    Vertices with excess wait in a queue; each is discharged until it has none or no longer reaches the target. A search
    recomputes the heights after as much work as a search takes.

    Source: B. Cherkassky, A. Goldberg, On implementing the push-relabel method for the maximum flow problem,
    Algorithmica 19, 1997, doi:10.1007/PL00009180.
    """
    n, none, one = excess.size, np.uint64(0), np.uint64(1)  # unsigned numbers, for which numba checks no sign
    starts, columns, opposite, sink, start = (
        indptr.view(np.uint64), ids.view(np.uint64), back.view(np.uint64), np.uint64(target), np.uint64(wall)
    )  # fmt: skip
    height, queue, waits, next = (
        np.empty(n, np.int64),
        np.empty(n, np.uint64),
        np.zeros(n, np.bool_),
        starts[:-1].copy(),
    )
    queue_capacity = np.uint64(n)
    excess[sink] = 0
    excess[start] = 0
    searches = 0
    while True:
        searches += 1
        height[:] = n
        height[sink] = 0
        queue[0] = sink
        first, last = none, one
        while first < last:
            v = queue[first]
            first += one
            for at in range(starts[v], starts[v + one]):
                u = columns[at]
                if height[u] == n and u != start and residual[opposite[at]] > 0:
                    height[u] = height[v] + 1
                    queue[last] = u
                    last += one
        # a circular queue
        count = first = none
        for v in range(np.uint64(n)):
            next[v] = starts[v]
            waits[v] = excess[v] > 0 and height[v] < n
            if waits[v]:
                queue[count] = v
                count += one
        if count == none:
            return searches
        work = 0
        while count and work < _SEARCH * n + ids.size:
            v = queue[first]
            first = first + one if first + one < queue_capacity else none
            count -= one
            waits[v] = False
            left, own = excess[v], height[v]
            begin, end = starts[v], starts[v + one]
            while left > 0 and own < n:
                at = next[v]
                while at < end:
                    u = columns[at]
                    if residual[at] > 0 and height[u] + 1 == own:
                        given = min(left, residual[at])
                        residual[at] -= given
                        residual[opposite[at]] += given
                        left -= given
                        if u != sink:
                            excess[u] += given
                            if not waits[u]:
                                waits[u] = True
                                place = first + count
                                queue[place if place < queue_capacity else place - queue_capacity] = u
                                count += one
                        if left == 0:
                            break
                    at += one
                next[v] = at
                if left > 0:
                    own = n
                    for at in range(begin, end):
                        if residual[at] > 0 and height[columns[at]] + 1 < own:
                            own = height[columns[at]] + 1
                    height[v] = own
                    next[v] = begin
                    work += _RAISE + int(end - begin)
            excess[v] = left
