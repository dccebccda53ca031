"""Maximum flows on the CPU engine (ops.net_flow): SciPy's of small capacities in small graphs, else a loop for numba.

SciPy's method searches for one path after another, which takes minutes where many short ones meet.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu.suitesparse import native
from sparsezc.engines.cpu.suitesparse.expressions import acyclic
from sparsezc.engines.cpu.suitesparse.machine_code import compiled
from sparsezc.errors import DimensionMismatch, InvalidValue
from sparsezc.expr.expression import Expression
from sparsezc.memory.budget import require_host

__all__ = ["net_flow"]

_FEW = 1 << 17  # entries: SciPy takes less time for them than the loop takes to load, half a second
_FEWER = 1 << 10  # entries: Python takes less time for them
_SCIPYS = 1 << 30  # capacities, as SciPy adds up the two of an edge in 32 bits
_SEARCH = 1  # steps for each vertex, beside one for each entry, after which heights are searched for anew
_RAISE = 12  # steps of a change of a height, beside one for each entry, as Cherkassky and Goldberg count them


def net_flow(x: Expression) -> Any:
    """Make python-graphblas's Matrix of the flow at each entry."""
    A, s, t = x.operands
    if A.shape != x.shape:
        raise DimensionMismatch(f"net_flow: {A.name} was resized since the expression was made")
    parts = A._store.ss.export("csr", sort=True)
    nvals, n = A._store.nvals, A.nrows
    require_host(48 * nvals + 64 * n, f"net_flow: what {nvals:,} entries carry")
    indptr, ids = parts["indptr"].view(np.int64), parts["col_indices"].view(np.int64)
    capacity = np.broadcast_to(parts["values"], nvals)
    back = _opposite(x, indptr, ids)
    if _fits_scipy(capacity, n) and (nvals < _FEW or _loop() is _drain):
        carried = _scipys(capacity, ids, indptr, s.value, t.value)
    else:
        loop = _loop() if nvals > _FEWER or _loop.cache_info().currsize else _drain  # they compute the same
        carried = capacity - _left(loop, indptr, ids, back, capacity, s.value, t.value)
    made = native.gb.Matrix.ss.import_csr(
        nrows=n, ncols=n, indptr=parts["indptr"], col_indices=parts["col_indices"], values=carried,
        sorted_cols=True, take_ownership=True, dtype=native.type_of(x.dtype),
    )  # fmt: skip
    return acyclic(made)


def _opposite(x: Expression, indptr: NDArray[np.int64], ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of the entry (j, i) of each entry (i, j)."""
    from scipy.sparse import csr_array

    n = indptr.size - 1
    turned = csr_array((np.arange(ids.size), ids, indptr), shape=(n, n)).T.tocsr()
    if not (np.array_equal(turned.indptr, indptr) and np.array_equal(turned.indices, ids)):
        raise InvalidValue(f"net_flow: {x.operands[0].name} has an entry (i, j) without (j, i)")
    places: NDArray[np.int64] = turned.data
    return places


def _fits_scipy(capacity: NDArray[Any], n: int) -> bool:
    whole = capacity.dtype == np.int64 and max(n, capacity.size) < 2**31
    return bool(whole and (not capacity.size or capacity.max() < _SCIPYS))


def _scipys(capacity: Any, ids: Any, indptr: Any, s: int, t: int) -> NDArray[np.int64]:
    """Return SciPy's flow: a matrix that has both entries of each edge keeps its entries."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    n = indptr.size - 1
    graph = csr_array((capacity.astype(np.int32), ids.astype(np.int32), indptr.astype(np.int32)), shape=(n, n))
    found: NDArray[np.int64] = maximum_flow(graph, s, t).flow.data.astype(np.int64)
    return found


def _left(loop: Any, indptr: Any, ids: Any, back: Any, capacity: Any, source: int, target: int) -> Any:
    """Return what is left of capacities when as much as possible has gone to the target, and the rest has come back."""
    room, excess = capacity.copy(), np.zeros(indptr.size - 1, capacity.dtype)
    edges = slice(indptr[source], indptr[source + 1])
    excess[ids[edges]] = whole = room[edges].copy()
    room[edges] = 0
    room[back[edges]] += whole
    loop(indptr, ids, back, room, excess, target, source)
    loop(indptr, ids, back, room, excess, source, target)
    return room


@cache
def _loop() -> Any:
    """Return the loop below in machine code, or as it is without numba."""
    try:
        return compiled(import_module("numba"), _drain)
    except ImportError:
        return _drain


def _drain(indptr: Any, ids: Any, back: Any, room: Any, excess: Any, target: int, wall: int) -> None:
    """Push excess to the target, which takes all, until none that is left reaches it.

    Vertices wait in a queue, and each is done until it has none or does not reach the target any more. Heights are
    searched for anew after as much work as that takes.

    Source: B. Cherkassky, A. Goldberg, On implementing the push-relabel method for the maximum flow problem,
    Algorithmica 19, 1997, doi:10.1007/PL00009180.
    """
    n = excess.size
    height, queue, waits, next = np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(n, np.bool_), indptr[:-1].copy()
    excess[target] = 0
    excess[wall] = 0
    while True:
        height[:] = n
        height[target] = 0
        queue[0], first, last = target, 0, 1
        while first < last:
            v = queue[first]
            first += 1
            for at in range(indptr[v], indptr[v + 1]):
                u = ids[at]
                if height[u] == n and u != wall and room[back[at]] > 0:
                    height[u] = height[v] + 1
                    queue[last] = u
                    last += 1
        # a queue in a circle
        count = first = 0
        for v in range(n):
            next[v] = indptr[v]
            waits[v] = excess[v] > 0 and height[v] < n
            if waits[v]:
                queue[count] = v
                count += 1
        if count == 0:
            return
        work = 0
        while count and work < _SEARCH * n + ids.size:
            v = queue[first]
            first = first + 1 if first + 1 < n else 0
            count -= 1
            waits[v] = False
            left, own = excess[v], height[v]
            while left > 0 and own < n:
                at = next[v]
                while at < indptr[v + 1]:
                    u = ids[at]
                    if room[at] > 0 and height[u] + 1 == own:
                        given = min(left, room[at])
                        room[at] -= given
                        room[back[at]] += given
                        left -= given
                        if u != target:
                            excess[u] += given
                            if not waits[u]:
                                waits[u] = True
                                end = first + count
                                queue[end if end < n else end - n] = u
                                count += 1
                        if left == 0:
                            break
                    at += 1
                next[v] = at
                if left > 0:
                    own = n
                    for at in range(indptr[v], indptr[v + 1]):
                        if room[at] > 0 and height[ids[at]] + 1 < own:
                            own = height[ids[at]] + 1
                    height[v] = own
                    next[v] = indptr[v]
                    work += _RAISE + indptr[v + 1] - indptr[v]
            excess[v] = left
