"""Walks and samples: the owner of a vertex chooses from its row, at the request of any rank.

Random numbers are indexed by the walk or the result's row, and by the step, so they are the same for any number of
ranks. The local engine reads the rows where they are stored; requests and answers are arrays in host memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu import walk as walking
from sparsezc.engines.cpu.selectk import hop, sampled
from sparsezc.engines.cpu.suitesparse.row_arrays import RowArrays, borrowed
from sparsezc.engines.distributed.parts import long_rows, matrix_exchange
from sparsezc.engines.distributed.parts.local_objects import put
from sparsezc.engines.distributed.parts.partition import ROWS
from sparsezc.engines.distributed.parts.row_exchange import on_host
from sparsezc.engines.distributed.statements import entries, padded_rows, rowwise
from sparsezc.exceptions import DimensionMismatch
from sparsezc.expr import engines
from sparsezc.expr.sampling import Pick
from sparsezc.memory.budget import require_host

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine
    from sparsezc.engines.distributed.parts.stores import Store
    from sparsezc.engines.distributed.store_methods import Keeper
    from sparsezc.expr.sampling import Hops, Subgraph, Trail

__all__ = ["lent", "sample_hops", "walk"]

Ints = NDArray[np.int64]
_TOGETHER = 1 << 16  # walks of a rank that take a step together: some MiB of requests
_PLACE = 40  # bytes of a vertex of a walk, with those of its transfer to the owner of the result's row


@contextmanager
def lent(engine: Keeper, store: Store) -> Iterator[RowArrays]:
    """Lend this rank's rows of a matrix, by their numbers in the whole, as arrays in host memory."""
    place = engine.local.settled(padded_rows.widened(engine, store))
    if engine.local.engine.name == "cpu":
        with borrowed(place._store) as arrays:
            yield arrays
        return
    csr = place._to_csr()
    ids, values = on_host(csr.indices.read()), on_host(csr.values.read())
    yield RowArrays(csr.indptr, ids.astype(np.int64), values, csr.iso)


def _cut_by_rows(engine: Keeper, x: Any) -> Any:
    """Return the store of a matrix operand, as the statement reads it, if it is cut by rows, else None."""
    store = x._store
    if x._transposed and not (x.T._symmetric or store.symmetric):
        store = matrix_exchange.turned(engine, store)
    return store if store.partition.along is ROWS else None


def walk(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Run walks: each rank has some, and requests their next vertices from the owners of their current ones."""
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
    with _steps(engine, store, trail, *(*weights, None, None)[:2]) as step:
        for start in range(0, int(np.diff(cuts).max()), _TOGETHER):  # equally often on every rank
            _follow(engine, store, trail, step, met[start : start + _TOGETHER], first + start)
    row, column = np.nonzero(met >= 0)
    made = entries.matrix_of(engine, row + first, column, met[row, column], e.shape, e.dtype)
    put(out._store, made, write)
    out._store.changed()
    return None


#: Returns the next vertices of walks. Takes the number of the step, the walks' numbers, their current and previous
#: vertices, and the rows of the previous vertices: a local matrix, and the numbers of its rows.
_Step = Callable[[int, Any, Ints, Ints | None, tuple[Any, Ints] | None], Ints]


@contextmanager
def _steps(engine: DistributedEngine, store: Store, trail: Trail, top: Any, by: Any) -> Iterator[_Step]:
    """Lend the function that takes steps of walks from this rank's vertices."""
    weights = [
        None if top is None else padded_rows.widened_vector(engine, top._store),
        None if by is None else rowwise.whole(engine, by),
    ]
    place, local = engine.local.settled(padded_rows.widened(engine, store)), engine.local
    given = [None if v is None else local.settled(v)._store for v in weights]
    found = engines.capability(local.engine, "walk_steps")(place._store, trail, *given)
    if found is not None:
        yield lambda number, walks, at, before, older: found.step(
            number, walks, at, before, None if older is None else (local.settled(older[0])._store, older[1])
        )
        return
    of_rows, of_columns = (
        None if v is None else walking.Entries.of_arrays(*local.engine.vector_to_coo(store), v.size)
        for v, store in zip(weights, given, strict=True)
    )
    with lent(engine, store) as rows:

        def step(number: int, walks: Any, at: Ints, before: Ints | None, older: tuple[Any, Ints] | None) -> Ints:
            known = None if older is None else _plain(*older)
            return walking.Walks(rows, trail, of_rows, of_columns, known).step(number, walks, at, before)

        yield step


def _follow(engine: DistributedEngine, store: Store, trail: Trail, step: _Step, met: Ints, first: int) -> None:
    """Fill in the walks numbered from `first` on, in collectives in which other ranks fill in theirs."""
    walks = np.arange(first, first + met.shape[0], dtype=np.uint64)
    here = np.arange(walks.size)
    for number in range(trail.length):
        remembers = number > 0 and trail.shares is not None
        before = met[here, number - 1] if remembers else np.full(here.size, -1)

        def chosen(asked: Ints, walks: Any, before: Ints, number: int = number, remembers: bool = remembers) -> Ints:
            at = asked + store.partition.lo
            if not remembers:
                return step(number, walks, at, None, None)
            vertices = np.unique(before)
            return step(number, walks, at, before, (entries.asked_rows(engine, store, vertices), vertices))

        found = entries.answered(engine, met[here, number], store.partition, chosen, walks[here], before)
        here = here[found >= 0]
        met[here, number + 1] = found[found >= 0]


def _plain(rows: Any, numbers: Ints) -> RowArrays:
    """Return the rows of a local matrix, whose numbers in the whole are `numbers`, as arrays."""
    indptr, ids, values = matrix_exchange.host_csr(rows)
    return RowArrays(indptr, ids.astype(np.int64), values, False, numbers)


def sample_hops(engine: Keeper, store: Store, transposed: bool, seeds: Ints, hops: Hops) -> Subgraph | None:
    """Return a sampled subgraph on all ranks: the owner of each vertex picks its neighbours."""
    long_rows.join(engine, store)
    if transposed and not store.symmetric:
        store = matrix_exchange.turned(engine, store)
    if engine.size == 1 or store.partition.along is not ROWS:
        whole = engine.local.settled(matrix_exchange.whole_matrix(engine, store))
        alone: Subgraph | None = engines.capability(engine.local.engine, "sample_hops")(
            whole._store, False, seeds, hops
        )
        return alone
    before = int(engine.counts(store)[: engine.rank].sum())
    with _picks(engine, store, values=hops.values) as pick_from:

        def picked(pick: Pick, listed: Ints) -> tuple[Any, ...]:
            row, at, met, values = pick_from(pick, listed)
            counts = engine.transport.numbers(row.size)[:, 0].copy()
            mine = (row, at + before, met, values) if hops.values else (row, at + before, met)
            every = [engine.transport.gather(np.ascontiguousarray(x), counts) for x in mine]
            order = np.argsort(every[0], kind="stable")
            return (*(x[order] for x in every), *([] if hops.values else [None]))

        found = sampled(picked, seeds, hops, store.ncols, np.empty(0, store.dtype.np_type))
    return found._replace(
        **{name: engine.as_local(getattr(found, name)) for name in ("node", "row", "col", "edge")},
        values=None if found.values is None else engine.as_local(found.values),
    )


@contextmanager
def _picks(engine: Keeper, store: Store, *, values: bool) -> Iterator[Callable[[Pick, Ints], tuple[Any, ...]]]:
    """Lend the function that picks entries of this rank's rows among listed ones, with their places in the list."""
    pick_entries = engines.capability(engine.local.engine, "pick_entries")
    place = engine.local.settled(padded_rows.widened(engine, store))  # rows of other ranks are empty
    if pick_entries(place._store, np.empty(0, np.int64), Pick("first", 1), False) is not None:
        yield lambda pick, listed: pick_entries(place._store, listed, pick, values)
        return
    with lent(engine, store) as rows:

        def picked(pick: Pick, listed: Ints) -> tuple[Any, ...]:
            mine = np.flatnonzero((listed >= store.partition.lo) & (listed < store.partition.hi))
            return hop(rows, pick, listed[mine], mine)

        yield picked
