"""Products of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine

__all__ = ["product"]


def product(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Run mxm."""
    return False
