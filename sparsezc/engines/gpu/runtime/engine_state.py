"""Flags and the array pool that the statements of the GPU engine share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparsezc.engines.gpu.runtime.array_pool import ArrayPool


class EngineState:
    """Facts that earlier calls leave for the statements of this engine; guarded by the engine's lock (``launch.lock``).

    Attributes
    ----------
    pool : ArrayPool or None
        The pool that serves statements while rounds are recorded. They must then neither wait for the device nor decide
        by values that it computes.
    has_orders : bool
        Whether a vertex order was ever made: if not, no statement has to settle on one.
    has_resized : bool
        Whether an object of the engine was ever resized: if not, the shapes of an expression still hold when it runs.
    """

    __slots__ = ("has_orders", "has_resized", "pool")

    def __init__(self) -> None:
        self.pool: ArrayPool | None = None
        self.has_orders = self.has_resized = False

    @contextmanager
    def served_by(self, pool: ArrayPool) -> Iterator[None]:
        """Have a pool serve the statements within."""
        before, self.pool = self.pool, pool
        try:
            yield
        finally:
            self.pool = before

    def note_order(self) -> None:
        """Note that a vertex order was made."""
        self.has_orders = True

    def note_resized(self) -> None:
        """Note that an object has another shape."""
        self.has_resized = True


ENGINE_STATE = EngineState()
