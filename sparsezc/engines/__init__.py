"""Engines, which run statements: the protocol, and functions by which programs add an engine by name (docs/engines.md).

>>> import sparsezc as gb
>>> gb.engines.get("cpu").name
'cpu'
"""

from __future__ import annotations

from sparsezc.expr.engines import Capabilities as Capabilities
from sparsezc.expr.engines import Engine as Engine
from sparsezc.expr.engines import get as get
from sparsezc.expr.engines import register as register

__all__ = ["Capabilities", "Engine", "get", "register"]


def __dir__() -> list[str]:
    return __all__
