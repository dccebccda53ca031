"""Vector."""

from sparsezc.vector import Vector

__all__ = ["Vector"]
