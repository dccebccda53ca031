"""Engines: their protocol, their optional capabilities, their registry, and wrappers of them.

``protocol.py`` lists the operations with their operands.
"""

from sparsezc.expr.engines.capabilities import Capabilities
from sparsezc.expr.engines.protocol import Engine
from sparsezc.expr.engines.registry import (
    WRAPPERS,
    can,
    capability,
    get,
    has_placements,
    in_use,
    needs_device,
    register,
)
from sparsezc.expr.engines.wrapper import EngineWrapper, Stepping, stepping, through

__all__ = [
    "WRAPPERS", "Capabilities", "Engine", "EngineWrapper", "Stepping", "can", "capability", "get", "has_placements",
    "in_use", "needs_device", "register", "stepping", "through",
]  # fmt: skip
