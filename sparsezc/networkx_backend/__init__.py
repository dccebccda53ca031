"""The backend that NetworkX finds through its entry points: ``nx.pagerank(G, backend="sparsezc")``.

NetworkX reads :mod:`info` whenever it is imported, so this package imports all other modules on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparsezc.networkx_backend.graph import DiGraph as DiGraph
    from sparsezc.networkx_backend.graph import Graph as Graph

__all__ = ["DiGraph", "Graph"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("sparsezc.networkx_backend.graph"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
