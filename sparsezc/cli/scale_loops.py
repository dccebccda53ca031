"""Loops that ranks run over their rows, run by one process over all rows: for ``sparsezc scale``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparsezc.cli.scale_counts import Counts

__all__ = ["Loops", "load"]


def load() -> None:
    """Have loops pay from now on, as in a process that has run for some seconds."""
    import numpy as np

    from sparsezc.engines.cpu import loops
    from sparsezc.engines.distributed.loops import components

    none = np.empty(0, np.int64)
    loops.run_arrays(components.link, (np.zeros(1, np.int64), none, none, 0, 1, -1), np.inf)


class Loops:
    """The capabilities of ranks on processors, on an engine whose own loops are off; what would travel is counted.

    Parameters
    ----------
    A : Matrix
        Square, on the CPU engine.
    counts : Counts or None
        None: nothing is counted.
    ranks : int
    """

    def __init__(self, A: Any, counts: Counts | None, ranks: int) -> None:
        self._A, self._counts, self._ranks, self._engine = A, counts, ranks, A._engine
        self._run, self._lend = self._engine.run_arrays, self._engine.lend_rows
        self._hub: int | None = None

    def put(self) -> None:
        """Have the engine use them until its own loops are on again."""
        self._engine.components, self._engine.part = self._components, self._part

    def _components(self, store: Any) -> Any:
        import numpy as np

        from sparsezc.engines.cpu import loops
        from sparsezc.engines.distributed.loops import components
        from sparsezc.semirings.types.datatypes import INT64

        n, entries = self._A.nrows, self._A.nvals
        if not loops.pays(components.COST * (n + entries)) or not entries:
            return None
        if self._counts is not None:
            self._counts.exchange(components.received(n, self._ranks), (self._ranks - 1).bit_length())
        if self._hub is None:
            self._hub = int(np.diff(self._A._to_csr().indptr).argmax()) if self._A._symmetric else -1
        local = _Local(self._run, self._lend)
        return self._engine.dense_vector(components.trees(local, store, 0, n, self._hub), INT64)

    def _part(self, store: Any, cost: float, values: Any) -> Any:
        from sparsezc.engines.cpu import loops

        if not loops.pays(cost * (self._A.nrows + self._A.nvals)):
            return None
        return _Part(self, store, values)


class _Local:
    """The engine's own capabilities while they are off."""

    def __init__(self, run: Callable[..., Any], lend: Callable[..., Any]) -> None:
        self.run_arrays, self.lend_rows = run, lend


class _Part:
    """All rows: see :func:`sparsezc.core.replay.part`."""

    def __init__(self, loops: Loops, store: Any, values: Any) -> None:
        self._loops, self._store, self._values = loops, store, values
        self._arrays: tuple[Any, ...] = ()
        self.lo, self.hi = 0, loops._A.nrows

    @contextmanager
    def lent(self) -> Iterator[None]:
        from sparsezc.engines.cpu import loops

        with self._loops._lend(self._store) if self._store.nvals else nullcontext() as parts:
            self._arrays = tuple(loops.arrays(parts, self.hi, self._values))
            yield

    def run(self, loop: Callable[..., Any], *given: Any, over: range) -> None:
        self._loops._run(loop, (*self._arrays, *given, over.start, over.stop), float("inf"))

    def total(self, mine: Any) -> Any:
        return mine

    def gather(self, mine: Any) -> Any:
        if self._loops._counts is not None:
            self._loops._counts.exchange_values(mine.dtype.itemsize)
        return mine

    def has_moves(self) -> bool:
        return False

    def vector(self, mine: Any, dtype: Any) -> Any:
        return self._loops._engine.dense_vector(mine, dtype)
