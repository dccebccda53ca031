"""Rounds of a loop that do not wait for the host: recorded once as a CUDA graph, then replayed in batches.

A search of a road network has thousands of rounds of little work, and most of a round's time is spent on the host: in
Python, in launches, in waits for the frontier's size. Once a frontier has stayed small, the loops of
``sparsezc/algorithms/_frontier_loops.py`` therefore use :class:`Replay`: the loop's body runs twice as usual and twice
while the device records its kernels; the recording is then replayed in batches, with one wait for the frontier's size
after each. Once the frontier grows, the host launches each round again and chooses between push and pull.

The number that changes from round to round is computed on the device: the depth of a search (:class:`Depth`) or the
limit of a bucket of delta-stepping (:class:`Limit`). The rows of such graphs are short: if a search reads ids only, its
pushes read them from the row-head cache, which is built once its cost is repaid by the reads that it saves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.engines.gpu.layouts.head_cache import HeadCache
from sparsezc.engines.gpu.layouts.packed_values import PackedValues
from sparsezc.engines.gpu.products import push_pull
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.runtime.array_pool import ArrayPool, DeviceScalar
from sparsezc.engines.gpu.runtime.engine_state import ENGINE_STATE
from sparsezc.engines.gpu.storage.vector_store import VectorStore
from sparsezc.semirings import monoid
from sparsezc.semirings.types.datatypes import FP64, INT64

_LEAST, _MOST = 4, 32  # recorded pairs of rounds between two waits for the frontier's size
_TRIFLE = 1 << 14  # entries: a frontier whose rows have fewer is pushed, whatever share of all entries they are
_FEW = 64  # a frontier of less than a 64th of the vertices is pushed


class Depth:
    """The clock of a search: `number` is the round's number on the device, counted from `depth`."""

    def __init__(self, depth: int) -> None:
        self.number = DeviceScalar(cuda.current().xp.full(1, depth, np.int64), INT64)

    def arrays(self) -> tuple[Any, ...]:
        """Return the arrays of vectors whose addresses a recorded round contains."""
        return ()

    def turn(self, frontier: VectorStore, pool: ArrayPool) -> None:
        """Advance by one round."""
        pool.next_round(self.number)


class _Bucket(NamedTuple):
    """The state of the current bucket (buckets.cu)."""

    round: Any
    busy: Any
    found: Any
    never: Any


class Limit:
    """The clock of delta-stepping: `number` is the limit of the bucket on the device (buckets.cu).

    Parameters
    ----------
    distance : VectorStore
        The distance of every vertex.
    limit, step, last : number
        The limit of the current bucket, the increase of a limit over the least distance in the bucket, the last limit.
    """

    def __init__(self, distance: VectorStore, limit: float, step: float, last: float) -> None:
        xp = cuda.current().xp
        self.distance, dtype = distance, distance.dtype
        kind = INT64 if dtype.is_integer else FP64
        self.number = DeviceScalar(xp.full(1, limit, kind.np_type), kind)
        self._step, self._last = kind.np_type.type(step), kind.np_type.type(last)
        self._never = dtype.np_type.type(np.iinfo(dtype.np_type).max if dtype.is_integer else np.inf)
        self._round = DeviceScalar(xp.zeros(1, np.int64), INT64)
        self._busy, self._found = xp.full(1, -1, np.int64), xp.zeros(1, dtype.np_type)
        self._prelude = f"{codegen.typedefs(Z=dtype, S=kind)}\n{codegen.monoid(monoid.min[dtype])}"

    def arrays(self) -> tuple[Any, ...]:
        """Return the arrays of vectors whose addresses a recorded round contains."""
        return (self.distance.values,)

    def turn(self, frontier: VectorStore, pool: ArrayPool) -> None:
        """Advance by one round, and to the next bucket if the frontier is empty."""
        pool.next_round(self._round)
        self.distance.arrange(frontier.order)
        near, bits, nwords, size = frontier.values, frontier.bits, frontier.nwords, frontier.size
        state = _Bucket(self._round.array, self._busy, self._found, self._never)
        vertices = {"size": size, "distance": self.distance.values, "limit": self.number.array}
        self._launch("bucket_is_empty", nwords, state, nwords=nwords, near=bits)
        self._launch("bucket_starts", size, state, **vertices)
        self._launch(
            "bucket_fills", size, state, **vertices, step=self._step, last=self._last, near=near, near_bits=bits
        )

    def _launch(self, name: str, threads: int, state: _Bucket, **arguments: Any) -> None:
        gpu = cuda.current()
        kernel = codegen.kernel(gpu, "buckets.cu", self._prelude, name)
        kernel.launch(launch.blocks(gpu, threads), state, **arguments)


class Replay:
    """The rounds of a loop while `frontier` is small but not empty and `condition` holds.

    Iteration runs the loop's body four times, each time with the clock's `number`, and then replays the recording. The
    body must change nothing if the frontier is empty.

    Attributes
    ----------
    rounds : int
        The number of rounds run so far.
    """

    def __init__(
        self, frontier: VectorStore, clock: Depth | Limit, condition: Callable[[], bool] = lambda: True
    ) -> None:
        self.frontier, self.clock, self.rounds = frontier, clock, 0
        self._condition = condition

    def number(self) -> Any:
        """Return the clock's number as a Python number. Waits for the device."""
        return cuda.current().asnumpy(self.clock.number.array)[0].item()

    def __iter__(self) -> Iterator[Any]:
        with launch.lock:  # other threads launch nothing that would be recorded or run between rounds
            yield from self._rounds()

    def _rounds(self) -> Iterator[Any]:
        if not self._continues():
            return
        near = self._caches(0)
        if stats.collecting is not None:  # counters are read from the device after each launch
            return
        gpu = cuda.current()
        pool = ArrayPool()  # kept until the last replay has ended
        with ENGINE_STATE.served_by(pool):
            for _ in range(2):  # not recorded, as these rounds compile kernels and fill caches
                yield from self._round(pool)
            before = self._arrays()
            with gpu.record() as recording:
                for _ in range(2):  # arrays swap roles in each round, so a recording of two can be repeated
                    yield from self._round(pool)
        recording.replay()
        self.rounds += 4
        pairs = _LEAST
        # The condition may read a vector, which moves its entries to other arrays if it has a vertex order.
        while self._continues() and self._arrays() == before and self._caches(2 * pairs) is near:
            for _ in range(pairs):
                recording.replay()
            self.rounds += 2 * pairs
            pairs = min(2 * pairs, _MOST)
        gpu.synchronize()  # the recording and its arrays are freed next

    def _round(self, pool: ArrayPool) -> Iterator[Any]:
        yield self.clock.number
        self.clock.turn(self.frontier, pool)

    def _arrays(self) -> tuple[int, ...]:
        arrays = self.frontier.values, self.frontier.bits, *self.clock.arrays()
        return tuple(map(cuda.current().pointer, arrays))

    def _caches(self, rounds: int) -> Any:
        """Return the layout that saves pushes reads over the link: row heads or, if values are read, packed values.

        The recording does not use a layout that was built after it.
        """
        rows = self.frontier.next_rows
        if rows is None:
            return None
        if isinstance(self.clock, Limit) and not rows.iso:
            packing = rows.layouts[PackedValues]
            packing.count(rounds * (self.frontier.row_entries or 0))
            return packing.is_due(rows)
        return rows.layouts[HeadCache].to_push(rows, rows, rounds * (self.frontier.count or 0))

    def _continues(self) -> bool:
        """Return whether the frontier has entries, but so few that it is pushed in any case. Waits for the device."""
        store = self.frontier
        store.written(neutral=store.neutral)
        if not 0 < store.nvals() < store.size // _FEW or not self._condition():
            return False
        rows = store.next_rows
        if rows is None:
            return True
        store.arrange(rows.order)
        entries = store.count_rows(rows)
        return entries < _TRIFLE or push_pull.is_small(store.nvals(), entries, rows.nvals)
