"""Walks and samples: the owner of a vertex chooses from its row, whichever rank asks.

Random numbers are named by the walk or the result's row, and by the step, so they are the same at every rank count. The
rows are read in host memory, whatever the local engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu import walk as walking
from sparsezc.engines.cpu.selectk import hop, sampled
from sparsezc.engines.cpu.suitesparse.row_arrays import RowArrays, borrowed
from sparsezc.engines.distributed.parts import long_rows, moves
from sparsezc.engines.distributed.parts.layout import ROWS
from sparsezc.engines.distributed.parts.local_objects import put
from sparsezc.engines.distributed.parts.row_pieces import on_host
from sparsezc.engines.distributed.statements import entries, rowwise, wide
from sparsezc.errors import DimensionMismatch
from sparsezc.memory.budget import require_host

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine
    from sparsezc.engines.distributed.parts.stores import Store
    from sparsezc.engines.distributed.store_methods import Keeper
    from sparsezc.expr.draws import Hops, Pick, Subgraph

__all__ = ["lent", "sample_hops", "walk"]

Ints = NDArray[np.int64]
_TOGETHER = 1 << 16  # walks of a rank that take a step at a time: some MiB of requests
_PLACE = 40  # bytes of a vertex of a walk, on its way to the rank that has the result's row, too


@contextmanager
def lent(engine: Keeper, store: Store) -> Iterator[RowArrays]:
    """Lend this rank's rows of a matrix, by their numbers in the whole, as arrays in host memory."""
    place = engine.local.settled(wide.widened(engine, store))
    if engine.local.engine.name == "cpu":
        with borrowed(place._store) as arrays:
            yield arrays
        return
    csr = place._to_csr()
    ids, values = on_host(csr.indices.read()), on_host(csr.values.read())
    yield RowArrays(csr.indptr, ids.astype(np.int64), values, csr.iso)


def _cut_by_rows(engine: Keeper, x: Any) -> Any:
    """Return the store of a matrix operand whose rows ranks have; None: each rank has all."""
    store = x._store
    if x._transposed and not (x.T._symmetric or store.symmetric):
        store = moves.turned(engine, store)
    return store if store.layout.along is ROWS else None


def walk(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Follow walks: each rank has some, and asks the owners of the vertices where they are for the next ones."""
    A, trail, *weights = e.operands
    store = None if engine.size == 1 else _cut_by_rows(engine, A)
    if store is None:
        return False
    if not trail.fits(A, *weights):
        raise DimensionMismatch(f"walk: {A.name} was resized since the expression was made")
    count, length = trail.starts.size, trail.length
    cuts = count * np.arange(engine.size + 1) // engine.size
    first, last = cuts[engine.rank : engine.rank + 2].tolist()
    require_host(_PLACE * (last - first) * (length + 1), f"walk: {last - first:,} walks of {length:,} steps")
    met = np.full((last - first, length + 1), -1, np.int64)
    met[:, 0] = trail.starts[first:last]
    top, by = (*weights, None, None)[:2]
    of_rows = None if top is None else _entries(engine, top, whole=False)
    of_columns = None if by is None else _entries(engine, by, whole=True)
    with lent(engine, store) as rows:
        one = walking.Walks(rows, trail, of_rows, of_columns)
        for start in range(0, int(np.diff(cuts).max()), _TOGETHER):  # as often on every rank
            _follow(engine, store, one, met[start : start + _TOGETHER], first + start)
    row, column = np.nonzero(met >= 0)
    made = entries.matrix_of(engine, row + first, column, met[row, column], e.shape, e.dtype)
    put(out._store, made, write)
    out._store.changed()
    return None


def _entries(engine: DistributedEngine, v: Any, *, whole: bool) -> walking.Entries:
    """Return a vector's entries, all or those of this rank, by their positions in the whole."""
    local = rowwise.whole(engine, v) if whole else wide.widened_vector(engine, v._store)
    return walking.Entries.of_arrays(*engine.local.engine.vector_to_coo(local._need()[1]), v.size)


def _follow(engine: DistributedEngine, store: Store, one: walking.Walks, met: Ints, first: int) -> None:
    """Fill in some walks, of which the first has this number; other ranks fill in theirs meanwhile."""
    walks = np.arange(first, first + met.shape[0], dtype=np.uint64)
    here = np.arange(walks.size)
    remembers = one.trail.shares is not None
    for number in range(one.trail.length):
        before = met[here, number - 1] if number and remembers else np.full(here.size, -1)

        def chosen(asked: Ints, walks: Any, before: Ints, number: int = number) -> Ints:
            known = None if not (number and remembers) else before
            at = asked + store.layout.lo
            if known is None:
                return one.step(number, walks, at, None)
            vertices = np.unique(known)
            older = _plain(entries.asked_rows(engine, store, vertices), vertices)
            return walking.Walks(one.rows, one.trail, one.top, one.by, older).step(number, walks, at, known)

        found = entries.answered(engine, met[here, number], store.layout, chosen, walks[here], before)
        here = here[found >= 0]
        met[here, number + 1] = found[found >= 0]


def _plain(rows: Any, numbers: Ints) -> RowArrays:
    """Return a local matrix's rows, which have these numbers, as arrays."""
    indptr, ids, values = moves.host_csr(rows)
    return RowArrays(indptr, ids.astype(np.int64), values, False, numbers)


def sample_hops(engine: Keeper, store: Store, transposed: bool, seeds: Ints, hops: Hops) -> Subgraph | None:
    """Return a sampled subgraph, which all ranks get: of each vertex its owner picks the neighbours."""
    long_rows.join(engine, store)
    if transposed and not store.symmetric:
        store = moves.turned(engine, store)
    is_cut = engine.size > 1 and store.layout.along is ROWS
    before = int(engine.counts(store)[: engine.rank].sum()) if is_cut else 0
    with lent(engine, store) if is_cut or engine.size == 1 else _whole(engine, store) as rows:

        def picked(pick: Pick, listed: Ints) -> tuple[Any, ...]:
            if not is_cut:
                return hop(rows, pick, listed, np.arange(listed.size))
            mine = np.flatnonzero((listed >= store.layout.lo) & (listed < store.layout.hi))
            row, at, met, values = hop(rows, pick, listed[mine], mine)
            counts = engine.transport.numbers(row.size)[:, 0].copy()
            row, at, met, values = (
                engine.transport.gather(np.ascontiguousarray(x), counts) for x in (row, at + before, met, values)
            )
            order = np.argsort(row, kind="stable")
            return row[order], at[order], met[order], values[order]

        found = sampled(picked, seeds, hops, store.ncols, rows.values[:0])
    return found._replace(
        **{name: engine.as_local(getattr(found, name)) for name in ("node", "row", "col", "edge")},
        values=None if found.values is None else engine.as_local(found.values),
    )


@contextmanager
def _whole(engine: Keeper, store: Store) -> Iterator[RowArrays]:
    """Lend all of a small matrix."""
    indptr, ids, values = moves.host_csr(moves.whole_matrix(engine, store))
    yield RowArrays(indptr, ids.astype(np.int64), values, False)
