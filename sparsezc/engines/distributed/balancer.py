"""Load balancing: ranks measure the times of their products, and rows move from slow ranks to others.

Each rank times its products with a large matrix, and sends the time with the next collective of numbers. So all ranks
have the same times and decide alike (model/rebalance.py): rows move after three consecutive iterations of an imbalance
above 1.10, if the iterations to come gain more than the move costs. New bounds apply from the next statement on: the
matrix moves then, and every other object of its length when a statement uses it.
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
from sparsezc.engines.distributed.parts.partition import ALIGN, ROW, ROWS

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine
    from sparsezc.engines.distributed.parts.stores import Store

__all__ = ["Balancer"]

_MATTERS = 1 << 20  # entries of a rank: for smaller products measuring costs more than balancing gains
_WARM = 2  # first iterations, whose times are ignored: kernels are compiled and caches built in them
_EVEN = 3  # consecutive balanced iterations, after which products are not measured for a while
_REST = 8, 128  # products that are then not measured, at first and at most: doubled while ranks stay balanced
_POSITIONS = 4096  # rows at which the cumulative work is collected: enough to place bounds
_RATE = 2.5e8  # bytes a second at which rows move, assumed until a move is measured
_FIXED = 5e-3  # seconds that a move takes whatever its size
_REBUILT = 2.0  # products whose time a move also costs, as caches of the matrix are built again
# Sent in place of a time: config.rebalance is False on this rank; this rank measured no product.
_OFF, _NONE = -1, -2

_T = TypeVar("_T")


@dataclass
class _Watched:
    """A matrix whose products are measured."""

    store: weakref.ref[Store]
    iterations: int = 0
    balance: Balance | None = None
    even: int = 0  # consecutive balanced iterations
    rest: int = 0  # products that are still not to be measured
    next_rest: int = _REST[0]


class Balancer:
    """The load balancer of an engine: measures this rank's products, exchanges the times and moves rows.

    Attributes
    ----------
    moves : int
        Moves of rows so far.
    """

    def __init__(self, engine: DistributedEngine) -> None:
        self._engine = engine
        self._watched: dict[int, _Watched] = {}  # by the number of rows: all objects of a length have the same bounds
        self._latest: _Watched | None = None
        self._seconds, self._products = 0.0, 0  # of the latest matrix, since they were last sent
        self._pending: tuple[_Watched, NDArray[np.int64]] | None = None
        self.moves = 0

    @property
    def is_pending(self) -> bool:
        """Return whether rows move before the next statement."""
        return self._pending is not None

    # Every rank measures the same products, even if its range is empty. Where ranks differ (config.rebalance, a matrix
    # that one rank has freed later), the exchanged numbers show it on all: no decision may depend on one rank alone.

    def timed(self, store: Store, call: Callable[[], _T]) -> _T:
        """Run `call`, this rank's part of a product, timed if its matrix is balanced; return its result."""
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
        if self._engine.size == 1 or store.partition.along is not ROWS or store.counts is None or not config.rebalance:
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
        """Return the integers of every rank, as ``Transport.numbers`` does; the time of products travels with them."""
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
        """Decide by the times of all ranks; all start over if ranks have counted different iterations."""
        if (iterations != watched.iterations).any():
            watched.iterations, watched.balance, watched.even, watched.rest = 0, None, 0, 0
            return
        watched.iterations += 1
        if watched.iterations <= _WARM or self._pending is not None:
            return
        if watched.balance is None or not np.array_equal(watched.balance.bounds, store.partition.bounds):
            watched.balance = self._balance(store)
        seconds = times.astype(np.float64) * 1e-6
        watched.balance.measure_move(fixed_seconds=_FIXED + _REBUILT * float(seconds.mean()))
        new = watched.balance.after(seconds, watched.iterations)
        if new is not None:
            self._pending = watched, new
        self._rest(watched, even=not watched.balance.over)

    def _rest(self, watched: _Watched, *, even: bool) -> None:
        """Stop measuring for some products once ranks are balanced: on a GPU each measurement waits for the device."""
        watched.even = watched.even + 1 if even else 0
        if not even:
            watched.next_rest = _REST[0]
        elif watched.even >= _EVEN:
            watched.even, watched.rest = 0, watched.next_rest
            watched.next_rest = min(2 * watched.next_rest, _REST[1])

    def _balance(self, store: Store) -> Balance:
        """Return the balance of a matrix, with the work of all ranks' rows; collective."""
        engine, partition, n = self._engine, store.partition, store.shape[0]
        step = -(-n // _POSITIONS // ALIGN) * ALIGN or ALIGN
        at = np.union1d(np.arange(0, n, step), partition.bounds)
        here = at[(at >= partition.lo) & (at <= partition.hi)] - partition.lo
        work = np.zeros(here.size)
        if not store.is_empty_range:
            work = matrix_exchange.offsets(store.local)[here] + float(ROW) * here
        steps = np.concatenate(engine.transport.objects(np.diff(work)))
        assert store.counts is not None
        nbytes = 8 + store.dtype.np_type.itemsize
        row_seconds = float(store.counts.sum()) / n * nbytes / _RATE
        return Balance(np.concatenate([[0.0], np.cumsum(steps)]), at, partition.bounds, row_seconds)

    def apply(self) -> None:
        """Apply pending bounds, and move the rows of their matrix; called before a statement."""
        if self._pending is None:
            return
        (watched, new), self._pending = self._pending, None
        store, balance = watched.store(), watched.balance
        if store is None or balance is None or not np.array_equal(store.partition.bounds[-1:], new[-1:]):
            return
        rows = float(moved(store.partition.bounds, new).max())
        began = perf_counter()
        self._engine.partitions.cut(new)
        self._engine.move(store)
        took = int(self._engine.transport.numbers(round((perf_counter() - began) * 1e6)).max()) * 1e-6
        balance.measure_move(row_seconds=max(took - _FIXED, 0.0) / max(rows, 1.0))
        self.moves += 1
