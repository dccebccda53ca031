"""The times of ranks' products, which travel with the counts, and the rows that move because of them.

Each rank measures its products with a large matrix, and sends the time with the next collective of numbers. So all
ranks have the same times, and decide alike (model/rebalance.py): beyond 1.10 imbalance in three iterations that follow
each other, where the iterations to come gain more than the move costs. New bounds hold from the next statement on. The
matrix moves then, and every other object of its length when a statement meets it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from sparsezc.config import config
from sparsezc.device import cuda
from sparsezc.engines.distributed.model.rebalance import Balance, moved
from sparsezc.engines.distributed.parts import matrix_exchange
from sparsezc.engines.distributed.parts.layout import ALIGN, ROW, ROWS

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine
    from sparsezc.engines.distributed.parts.stores import Store

__all__ = ["Balancer"]

_MATTERS = 1 << 20  # entries of a rank: products with fewer take less than is lost by measuring them
_WARM = 2  # iterations that are not looked at: in the first ones kernels are compiled, and caches built
_EVEN = 3  # iterations in which ranks take as long as each other before the next ones are not measured
_REST = 8, 128  # products that are not measured then, at first and at most: it doubles as ranks stay even
_POSITIONS = 4096  # at which the work is known
_RATE = 2.5e8  # bytes a second of rows that move, until a move was measured
_FIXED = 5e-3  # seconds of a move besides
_REBUILT = 2.0  # products that a move costs, as caches of the matrix are built again
# Told instead of a time: this rank's config.rebalance is False; it measured no product.
_OFF, _NONE = -1, -2

_T = TypeVar("_T")


@dataclass
class _Watched:
    """A matrix whose products are measured."""

    store: weakref.ref[Store]
    iterations: int = 0
    balance: Balance | None = None
    even: int = 0  # iterations that followed each other
    rest: int = 0  # products that are not measured
    next_rest: int = _REST[0]


class Balancer:
    """Measures this rank's products, hears of those of others, and moves rows.

    Attributes
    ----------
    moves : int
        How often rows have moved.
    """

    def __init__(self, engine: DistributedEngine) -> None:
        self._engine = engine
        self._watched: dict[int, _Watched] = {}  # by the number of rows: all objects of a length have one cut
        self._latest: _Watched | None = None
        self._seconds, self._products = 0.0, 0  # of the latest, since they were told
        self._pending: tuple[_Watched, NDArray[np.int64]] | None = None
        self.moves = 0

    @property
    def is_pending(self) -> bool:
        """Return whether rows move before the next statement."""
        return self._pending is not None

    # Every rank measures the same products, those of an empty range too. Where ranks differ (config.rebalance, a matrix
    # that one rank has freed later), what they tell each other shows it on all: nothing may depend on one rank alone.

    def timed(self, store: Store, call: Callable[[], _T]) -> _T:
        """Run this rank's part of a product with a matrix, and measure it where that matters."""
        watched = self._watch(store)
        if watched is None:
            return call()
        if watched.rest:
            watched.rest -= 1
            return call()
        if watched is not self._latest:
            self._latest, self._seconds, self._products = watched, 0.0, 0
        self._wait()
        began = perf_counter()
        found = call()
        self._wait()
        self._seconds += perf_counter() - began
        self._products += 1
        return found

    def _wait(self) -> None:
        if self._engine.on_device:
            cuda.current().synchronize()

    def _watch(self, store: Store) -> _Watched | None:
        if self._engine.size == 1 or store.layout.along is not ROWS or store.counts is None or not config.rebalance:
            return None
        if int(store.counts.sum()) < _MATTERS * self._engine.size:
            return None
        found = self._watched.get(store.shape[0])
        held = None if found is None else found.store()
        if found is None or held is None:
            found = self._watched[store.shape[0]] = _Watched(weakref.ref(store))
        elif held is not store and held.forms[matrix_exchange.Transpose].built is not store:
            return None
        return found

    def numbers(self, *mine: int) -> NDArray[np.int64]:
        """Return some integers of every rank, as the transport does; the time of products travels with them."""
        watched = self._latest if self._products else None
        store = None if watched is None else watched.store()
        if not config.rebalance:
            told = (_OFF, _OFF)
        elif watched is None or store is None:
            told = (_NONE, _NONE)
        else:
            told = (round(self._seconds * 1e6), watched.iterations)
        self._seconds, self._products = 0.0, 0
        found = self._engine.transport.numbers(*mine, *told)
        if watched is not None and store is not None and not (found[:, -2:] == _OFF).any():
            self._hear(watched, store, found[:, -2], found[:, -1])
        return found[:, :-2]

    def _hear(self, watched: _Watched, store: Store, times: NDArray[np.int64], iterations: NDArray[np.int64]) -> None:
        """Take the times of all ranks, and decide; a rank that measured otherwise has all begin again."""
        if (iterations != watched.iterations).any():
            watched.iterations, watched.balance, watched.even, watched.rest = 0, None, 0, 0
            return
        watched.iterations += 1
        if watched.iterations <= _WARM or self._pending is not None:
            return
        if watched.balance is None or not np.array_equal(watched.balance.bounds, store.layout.bounds):
            watched.balance = self._balance(store)
        seconds = times.astype(np.float64) * 1e-6
        watched.balance.measure_move(fixed_seconds=_FIXED + _REBUILT * float(seconds.mean()))
        new = watched.balance.after(seconds, watched.iterations)
        if new is not None:
            self._pending = watched, new
        self._rest(watched, even=not watched.balance.over)

    def _rest(self, watched: _Watched, *, even: bool) -> None:
        """Measure no products for a while once ranks are even: on GPUs each waits for the device."""
        watched.even = watched.even + 1 if even else 0
        if not even:
            watched.next_rest = _REST[0]
        elif watched.even >= _EVEN:
            watched.even, watched.rest = 0, watched.next_rest
            watched.next_rest = min(2 * watched.next_rest, _REST[1])

    def _balance(self, store: Store) -> Balance:
        """Collect the work of all ranks' rows; collective."""
        engine, layout, n = self._engine, store.layout, store.shape[0]
        step = -(-n // _POSITIONS // ALIGN) * ALIGN or ALIGN
        at = np.union1d(np.arange(0, n, step), layout.bounds)
        here = at[(at >= layout.lo) & (at <= layout.hi)] - layout.lo
        work = np.zeros(here.size)
        if not store.is_empty_range:
            work = matrix_exchange.offsets(store.local)[here] + float(ROW) * here
        steps = np.concatenate(engine.transport.objects(np.diff(work)))
        assert store.counts is not None
        nbytes = 8 + store.dtype.np_type.itemsize
        row_seconds = float(store.counts.sum()) / n * nbytes / _RATE
        return Balance(np.concatenate([[0.0], np.cumsum(steps)]), at, layout.bounds, row_seconds)

    def apply(self) -> None:
        """Let new bounds hold, if there are some, and move the rows of their matrix; before a statement."""
        if self._pending is None:
            return
        (watched, new), self._pending = self._pending, None
        store, balance = watched.store(), watched.balance
        if store is None or balance is None or not np.array_equal(store.layout.bounds[-1:], new[-1:]):
            return
        rows = float(moved(store.layout.bounds, new).max())
        began = perf_counter()
        self._engine.layouts.cut(new)
        self._engine.move(store)
        took = int(self._engine.transport.numbers(round((perf_counter() - began) * 1e6)).max()) * 1e-6
        balance.measure_move(row_seconds=max(took - _FIXED, 0.0) / max(rows, 1.0))
        self.moves += 1
