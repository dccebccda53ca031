"""Batches of a graph and features larger than the card, for PyTorch Geometric: a loader, and the stores it knows.

PyTorch and PyTorch Geometric are imported at first use: ``pip install "sparsezc[torch]"``.
"""

from typing import Any

from sparsezc.loader.neighbor_loader import NeighborLoader

__all__ = ["FeatureStore", "GraphStore", "NeighborLoader", "NeighborSampler"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'sparsezc.loader' has no attribute {name!r}")
    from sparsezc.loader import interfaces  # its classes derive from PyG's

    return getattr(interfaces, name)


def __dir__() -> list[str]:
    return sorted(__all__)
