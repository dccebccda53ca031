"""Rounds of a loop on processors, each rank over its own rows: in machine code, with an exchange after each round."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.device.processors import usable
from sparsezc.engines.cpu import compiled_loops
from sparsezc.engines.cpu.labels.weights import in_threads
from sparsezc.engines.distributed.parts.partition import ROWS
from sparsezc.engines.distributed.parts.stores import Store
from sparsezc.expr import engines
from sparsezc.memory.budget import has_host
from sparsezc.semirings.types.datatypes import DataType

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine
    from sparsezc.engines.distributed.parts.partition import Partition

__all__ = ["Part", "can_run", "part"]

_BYTES = 64  # bytes of a loop's own arrays for each row of the whole, at most
_ALONE = 1 << 16  # entries that one thread reads in the time in which other threads start
_EMPTY = 16  # rows an entry: with more, arrays of all rows take more memory than statements do


def can_run(engine: DistributedEngine, matrix: Store, cost: float, nbytes: int) -> bool:
    """Return whether all ranks run loops over their rows, with arrays of `nbytes` each; a collective.

    `cost`: nanoseconds that the statements take at least. If loops pay on one rank, all ranks run them.
    """
    if engine.size == 1 or engine.on_device or matrix.partition.is_whole:
        return False
    engine.balancer.apply()
    if matrix.partition is not engine.partitions.of(matrix.shape):
        engine.move(matrix)
    if matrix.long is not None or matrix.partition.along is not ROWS or matrix.nrows > _EMPTY * engine.nvals(matrix):
        return False
    able = engines.can(engine.local.engine, "run_arrays") and has_host(nbytes)
    told = engine.transport.numbers(compiled_loops.pays(cost), able)
    if not (told[:, 0].any() and told[:, 1].all()):
        return False
    # Checked last, as it may import numba.
    return bool(engine.transport.numbers(compiled_loops.can_compile()).all())


class Part:
    """This rank's rows, over which loops run while they are :meth:`lent`.

    Attributes
    ----------
    lo, hi : int
        The range of the rows in the whole.
    """

    def __init__(self, engine: DistributedEngine, matrix: Store, values: Any) -> None:
        self._engine, self._matrix, self._values = engine, matrix, values
        self._partition: Partition = engine.partitions.of(matrix.shape[:1])
        self._arrays: tuple[Any, ...] = ()
        self._threads = _threads(engine)
        self.lo, self.hi = self._partition.lo, self._partition.hi

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Lend the rows' arrays; no statement may read the matrix meanwhile."""
        store, local = self._engine.local.settled(self._matrix.local)._store, self._engine.local.engine
        with engines.capability(local, "lend_rows")(store) if store.nvals else nullcontext() as parts:
            self._arrays = tuple(compiled_loops.arrays(parts, store.nrows, self._values))
            try:
                yield
            finally:
                self._arrays = ()

    def run(self, loop: Callable[..., Any], *given: Any, over: range) -> None:
        """Run a loop over the rows, divided among threads; see :func:`sparsezc.core.engine_loops.run_loop`."""
        run, arrays = engines.capability(self._engine.local.engine, "run_arrays"), (*self._arrays, *given)
        threads = 1 if arrays[1].size < _ALONE else max(1, min(self._threads, len(over)))
        cuts = [over[0] + len(over) * k // threads for k in range(threads + 1)]
        shares = partial(in_threads, lambda first, last: run(loop, (*arrays, first, last), np.inf), cuts)
        self._engine.balancer.timed(self._matrix, shares)

    def total(self, mine: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums of all ranks' arrays, added in rank order."""
        told = self._engine.balancer.numbers(*mine.view(np.int64).ravel().tolist())
        found = np.zeros(mine.shape)
        for each in told:
            found += each.copy().view(np.float64).reshape(mine.shape)
        return found

    def gather(self, mine: NDArray[Any]) -> NDArray[Any]:
        """Return the values of all ranks' rows; a collective."""
        found: NDArray[Any] = self._engine.transport.gather(np.ascontiguousarray(mine), self._partition.sizes)
        return found

    def has_moves(self) -> bool:
        """Return whether rows are to move to other ranks: all ranks must then lend their rows anew."""
        return self._engine.balancer.is_pending

    def vector(self, mine: NDArray[Any], dtype: DataType) -> Store:
        """Return a vector with this rank's values at its rows; the array must not be used afterwards."""
        values = mine.astype(dtype.np_type)
        local = self._engine.local.from_arrays("full", (values,), dtype, values.size)
        return Store(local, self._partition, self._matrix.shape[:1], counts=self._partition.sizes.copy())


def _threads(engine: DistributedEngine) -> int:
    """Return how many threads a rank may have: OMP_NUM_THREADS, or its share of its processors; a collective.

    Ranks of one machine that may run on the same processors share them; a rank bound to its own has all of these.
    """
    mine = platform.node(), usable()
    sharing = engine.transport.objects(mine).count(mine)
    said = os.environ.get("OMP_NUM_THREADS", "")
    return int(said) if said.isdigit() else len(mine[1]) // sharing


def part(engine: DistributedEngine, matrix: Store, cost: float, values: Any) -> Part | None:
    """Return this rank's rows for loops, with values of a type or without; None, on all ranks, where statements run.

    `cost`: nanoseconds that the statements take for each row and entry at least. A collective.
    """
    n, entries = matrix.nrows, engine.nvals(matrix)
    nbytes = _BYTES * n + (0 if values is None else 8 * entries)
    return Part(engine, matrix, values) if can_run(engine, matrix, cost * (n + entries), nbytes) else None
