"""The distributed engine of one rank, which has all of each object: its local engine runs whole loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.distributed.distributed_engine import DistributedEngine
from sparsezc.engines.distributed.parts.stores import Store
from sparsezc.expr import engines
from sparsezc.semirings.types.datatypes import INT32, INT64

if TYPE_CHECKING:
    from sparsezc.engines.distributed.transports.protocol import Transport
    from sparsezc.expr.engines import Engine

__all__ = ["SingleRank", "started"]


class SingleRank(DistributedEngine):
    """The engine of a single rank, with the local engine's capabilities that run whole loops."""

    def run_loop(self, store: Store, *given: Any) -> Any:
        return self._here("run_loop", (store,), *given)

    def run_arrays(self, *given: Any) -> Any:
        return self._here("run_arrays", (), *given)

    def search(self, matrix: Store, start: Store | int, parents: bool) -> Store | None:
        stores, given = ((matrix, start), ()) if isinstance(start, Store) else ((matrix,), (start,))
        found = self._here("search", stores, *given, parents)
        if found is None:
            return None
        size = matrix.shape[:1]
        return Store(self.local.vector(INT64 if parents else INT32, size[0], found), self.partitions.of(size), size)

    def searches(self, matrix: Store, sources: NDArray[np.int64]) -> Store | None:
        found = self._here("searches", (matrix,), sources)
        if found is None:
            return None
        shape = sources.size, matrix.shape[0]
        return Store(self.local.matrix(INT32, shape, found), self.partitions.of(shape), shape)

    def shorten(self, matrix: Store, near: Store, distance: Store, limits: Any) -> bool | None:
        near.changed()
        distance.changed()
        found: bool | None = self._here("shorten", (matrix, near, distance), limits)
        return found

    def components(self, matrix: Store) -> Store | None:
        found = self._here("components", (matrix,))
        if found is None:
            return None
        size = matrix.shape[:1]
        return Store(self.local.vector(INT64, size[0], found), self.partitions.of(size), size)

    def _here(self, name: str, stores: tuple[Store, ...], *given: Any) -> Any:
        """Call a capability of the local engine with the local parts of stores; return its result."""
        local = self.local
        return engines.capability(local.engine, name)(*(local.settled(x.local)._store for x in stores), *given)


def started(transport: Transport, local: Engine, *, force: bool = False) -> DistributedEngine:
    """Return a new engine over the ranks of a transport."""
    return (SingleRank if transport.size == 1 else DistributedEngine)(transport, local, force=force)
