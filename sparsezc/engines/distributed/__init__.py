"""The distributed engine: the same program on several processes, each of which has a part of every object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparsezc.engines.distributed.layout import cut_rows as cut_rows
from sparsezc.engines.distributed.starting import engine as engine
from sparsezc.engines.distributed.starting import engine_of as engine_of
from sparsezc.engines.distributed.starting import from_rows as from_rows
from sparsezc.engines.distributed.starting import start as start
from sparsezc.engines.distributed.starting import transport_of as transport_of

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine as DistributedEngine

__all__ = ["cut_rows", "engine", "engine_of", "from_rows", "start", "transport_of"]


def __dir__() -> list[Any]:
    return sorted(__all__)
