"""Counts of what an algorithm's statements would exchange, and of what they read, for ``sparsezc scale``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Counts"]

_ID = 4  # bytes of a vertex's number on the way
_PRODUCTS = ("mxv", "vxm", "mxm", "best_label")


class Counts:
    """Counts of products, of their vectors' bytes as these would travel between ranks, and of entries read."""

    def __init__(self) -> None:
        self.steps = self.statements = 0
        self.nbytes = self.entries = 0.0

    def look(self, x: Any) -> None:
        """Count one statement: ids or presence bits of a sparse operand, and the values that the product reads."""
        self.statements += 1
        if x.operation not in _PRODUCTS:
            return
        self.steps += 1
        left = x.operation == "vxm" or (x.operation == "mxm" and x.operands[0].shape[0] < x.operands[0].shape[1])
        v = x.operands[0 if left else 1]
        there, size = v.nvals, v.size if v.ndim == 1 else v.shape[0] * v.shape[1]
        reads = x.op is None or ("x" if left else "y") in getattr(x.op, "reads", "xy")
        self.nbytes += 0 if there == size else min(_ID * there, -(-size // 8))
        self.nbytes += there * v.dtype.np_type.itemsize * reads
        matrix = x.operands[1 if left else 0]
        self.entries += matrix.nvals * there / max(size, 1)

    @contextmanager
    def watching(self, engine: Any) -> Iterator[Counts]:
        """Count every statement that an engine runs meanwhile; loops run step by step."""
        from sparsezc.expr import engines

        run = engine.run

        def look_and_run(expression: Any, out: Any, write: Any) -> None:
            self.look(expression)
            run(expression, out, write)

        engine.run = look_and_run
        try:
            with engines.stepping(engine):
                yield self
        finally:
            del engine.run
