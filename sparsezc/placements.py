"""Placements, the memories of a GPU matrix's arrays: the classes and the function that add one (docs/placements.md).

>>> import sparsezc as gb
>>> gb.placements.register.__name__
'register'
"""

from __future__ import annotations

from sparsezc.memory.buffer import Buffer as Buffer
from sparsezc.memory.placement import Placement as Placement
from sparsezc.memory.placement import register as register

__all__ = ["Buffer", "Placement", "register"]


def __dir__() -> list[str]:
    return __all__
