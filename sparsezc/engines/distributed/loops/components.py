"""Weak components on processors: each rank builds trees from its rows' entries, then ranks merge their trees.

A tree's root is its smallest vertex. If the matrix is symmetric, the first entries of each row are read first, then the
other entries of rows outside the tree of one vertex, the hub, which all ranks agree on: a skipped entry is also in the
row of its other end. Ranks send trees as the parent of each vertex: in round k a rank merges its trees with those of
the rank 2^k after it, until all have the same. Source: M. Sutton, T. Ben-Nun, A. Barak, Optimizing parallel graph
connectivity computation via subgraph sampling, IPDPS 2018, doi:10.1109/IPDPS.2018.00012 (Afforest).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu import compiled_loops
from sparsezc.engines.distributed.loops import rows
from sparsezc.engines.distributed.parts.stores import Store
from sparsezc.expr import engines
from sparsezc.semirings.types.datatypes import INT64

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine

__all__ = ["COST", "components", "received", "trees"]

#: Nanoseconds that statements take for each row and entry, at least.
COST = 20.0
_SAMPLED = 2  # entries of each row that are read first


def components(engine: DistributedEngine, matrix: Store) -> Store | None:
    """Return the smallest vertex of each vertex's component, INT64; None, on all ranks, where statements compute it."""
    n = matrix.nrows
    if not rows.can_run(engine, matrix, COST * (n + engine.nvals(matrix)), 3 * n * _parent_type(n).itemsize):
        return None
    partition, local = engine.partitions.of((n,)), engine.local.engine
    store, hub = engine.local.settled(matrix.local)._store, -1
    if matrix.symmetric:
        longest, lengths = engine.transport.numbers(*_longest_row(local, store, partition.lo)).T
        hub = int(longest[lengths.argmax()])
    parent = trees(local, store, partition.lo, n, hub)
    step = 1
    while step < engine.size:
        sent, coming = np.zeros((2, engine.size), np.int64)
        sent[(engine.rank - step) % engine.size] = coming[(engine.rank + step) % engine.size] = n
        engines.capability(local, "run_arrays")(unite, (parent, engine.transport.scatter(parent, sent, coming)), np.inf)
        step *= 2
    label = parent[partition.lo : partition.hi].astype(np.int64)
    local = engine.local.from_arrays("full", (label,), INT64, label.size)
    return Store(local, partition, (n,), counts=partition.sizes.copy())


def received(n: int, ranks: int) -> int:
    """Return the bytes of trees that a rank receives."""
    return n * _parent_type(n).itemsize * (ranks - 1).bit_length()


def trees(local: Any, store: Any, first: int, n: int, hub: int) -> NDArray[Any]:
    """Return the parent of each of n vertices in trees built from some rows, by a loop of the local engine.

    `first`: the vertex of the first row. `hub`: the vertex in whose tree rows are read in part; -1: none.
    """
    parent = np.arange(n, dtype=_parent_type(n))
    with _lent(local, store) as given:
        engines.capability(local, "run_arrays")(link, (*given, parent, first, _SAMPLED, hub), np.inf)
    return parent


def _longest_row(local: Any, store: Any, first: int) -> tuple[int, int]:
    """Return the vertex of the longest row, and its length; -1 and 0 without entries."""
    with _lent(local, store) as (indptr, _):
        lengths = np.diff(indptr.view(np.int64))
    return (first + int(lengths.argmax()), int(lengths.max())) if lengths.any() else (-1, 0)


@contextmanager
def _lent(local: Any, store: Any) -> Iterator[list[NDArray[Any]]]:
    """Lend the offsets and ids of a store of the local engine."""
    with engines.capability(local, "lend_rows")(store) if store.nvals else nullcontext() as parts:
        yield compiled_loops.arrays(parts, store.nrows, None)


def _parent_type(n: int) -> np.dtype[Any]:
    return np.dtype(np.uint32 if n <= 1 << 32 else np.uint64)


def link(indptr: Any, indices: Any, parent: Any, first: int, sampled: int, hub: int) -> int:
    """Merge the trees of the two ends of each entry; return how many entries were read.

    Parameters
    ----------
    parent : array
        The parent of each vertex; at first the vertex itself.
    first : int
        The vertex of the first row.
    sampled, hub : int
        The first `sampled` entries of each row are read, then the rest of rows outside the hub's tree; `hub` < 0: all.
    """
    starts, one = indptr.view(np.uint64), np.uint64(1)
    few = np.uint64(sampled)
    read = 0
    giant = np.uint64(0)
    for turn in range(2 if hub >= 0 else 1):
        if turn:
            giant = np.uint64(hub)
            while parent[giant] != giant:
                giant = np.uint64(parent[giant])
        row = np.uint64(0)
        for v in range(first, first + indptr.size - 1):
            at, end = starts[row], starts[row + one]
            row += one
            if turn:
                at += few
            elif hub >= 0 and at + few < end:
                end = at + few
            if at >= end:
                continue
            root = np.uint64(v)
            while parent[root] != root:
                parent[root] = parent[np.uint64(parent[root])]
                root = np.uint64(parent[root])
            while at < end and not (turn and root == giant):
                u = np.uint64(indices[at])
                at += one
                read += 1
                while parent[u] != u:
                    parent[u] = parent[np.uint64(parent[u])]
                    u = np.uint64(parent[u])
                if u == root:
                    continue
                low, high = min(u, root), max(u, root)
                parent[high] = low
                if high == giant:
                    giant = low
                root = low
    for v in range(parent.size):  # a parent has a smaller number, so its own parent is final
        parent[v] = parent[np.uint64(parent[v])]
    return read


def unite(parent: Any, other: Any) -> Any:
    """Merge another rank's trees into `parent`, with paths of one step; return the number of vertices."""
    for v in range(parent.size):
        u, root = np.uint64(other[v]), np.uint64(v)
        if u == root or parent[v] == u:
            continue
        while parent[root] != root:
            parent[root] = parent[np.uint64(parent[root])]
            root = np.uint64(parent[root])
        while parent[u] != u:
            parent[u] = parent[np.uint64(parent[u])]
            u = np.uint64(parent[u])
        if u < root:
            parent[root] = u
        elif root < u:
            parent[u] = root
    for v in range(parent.size):
        parent[v] = parent[np.uint64(parent[v])]
    return parent.size
