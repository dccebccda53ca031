"""Loops that ranks run over their rows, run by one process over all rows: for ``sparsezc scale``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

from sparsezc.expr.engines import Stepping

if TYPE_CHECKING:
    from sparsezc.cli.scale_counts import Counts

__all__ = ["RankLoops", "load"]


def load() -> None:
    """Load the compiled loops, so that loops pay off at once, as in a process that has run for some seconds."""
    import numpy as np

    from sparsezc.engines.cpu import compiled_loops
    from sparsezc.engines.distributed.loops import components

    none = np.empty(0, np.int64)
    compiled_loops.run_arrays(components.link, (np.zeros(1, np.int64), none, none, 0, 1, -1), np.inf)


class RankLoops(Stepping):
    """The CPU engine with the loops of ranks on processors in place of its own; it counts the bytes of their exchanges.

    Parameters
    ----------
    A : Matrix
        If there are ranks, it is square and on the CPU engine.
    counts : Counts or None
        None: nothing is counted.
    ranks : int
        0: statements run in place of all loops.
    """

    def __init__(self, A: Any, counts: Counts | None, ranks: int) -> None:
        super().__init__(A._engine)
        self.counts = counts
        self._A, self._ranks = A, ranks
        self._hub: int | None = None

    def components(self, store: Any) -> Any:
        """Return the components by the ranks' loop, or None if it does not pay off."""
        import numpy as np

        from sparsezc.engines.cpu import compiled_loops
        from sparsezc.engines.distributed.loops import components
        from sparsezc.semirings.types.datatypes import INT64

        n, entries = self._A.nrows, self._A.nvals
        if not self._ranks or not compiled_loops.pays(components.COST * (n + entries)) or not entries:
            return None
        if self.counts is not None:
            self.counts.exchange(components.received(n, self._ranks), (self._ranks - 1).bit_length())
        if self._hub is None:
            self._hub = int(np.diff(self._A._to_csr().indptr).argmax()) if self._A._symmetric else -1
        local = _Local(self.engine.run_arrays, self.engine.lend_rows)
        return self.engine.dense_vector(components.trees(local, store, 0, n, self._hub), INT64)

    def part(self, store: Any, cost: float, values: Any) -> Any:
        """Return all rows as the part of one rank, or None if a loop does not pay off."""
        from sparsezc.engines.cpu import compiled_loops

        if not self._ranks or not compiled_loops.pays(cost * (self._A.nrows + self._A.nvals)):
            return None
        return _Part(self, self._A.nrows, store, values)


class _Local(NamedTuple):
    """The engine's capabilities that a rank's loop needs, called past the engine that counts statements."""

    run_arrays: Callable[..., Any]
    lend_rows: Callable[..., Any]


class _Part:
    """All rows as one rank's part; see :func:`sparsezc.core.engine_loops.part`."""

    def __init__(self, ranks: RankLoops, nrows: int, store: Any, values: Any) -> None:
        self._engine, self._counts, self._store, self._values = ranks.engine, ranks.counts, store, values
        self._arrays: tuple[Any, ...] = ()
        self.lo, self.hi = 0, nrows

    @contextmanager
    def lent(self) -> Iterator[None]:
        from sparsezc.engines.cpu import compiled_loops

        with self._engine.lend_rows(self._store) if self._store.nvals else nullcontext() as parts:
            self._arrays = tuple(compiled_loops.arrays(parts, self.hi, self._values))
            yield

    def run(self, loop: Callable[..., Any], *given: Any, over: range) -> None:
        self._engine.run_arrays(loop, (*self._arrays, *given, over.start, over.stop), float("inf"))

    def total(self, mine: Any) -> Any:
        return mine

    def gather(self, mine: Any) -> Any:
        if self._counts is not None:
            self._counts.exchange_values(mine.dtype.itemsize)
        return mine

    def has_moves(self) -> bool:
        return False

    def vector(self, mine: Any, dtype: Any) -> Any:
        return self._engine.dense_vector(mine, dtype)
