"""Batches, for PyTorch Geometric, of a graph and features larger than device memory: a loader, a sampler, stores.

PyTorch and PyTorch Geometric are imported at first use: ``pip install "sparsezc[torch]"``.
"""

from typing import TYPE_CHECKING

from sparsezc.process import first_use

if TYPE_CHECKING:
    from sparsezc.loader.interfaces import FeatureStore as FeatureStore
    from sparsezc.loader.interfaces import GraphStore as GraphStore
    from sparsezc.loader.interfaces import NeighborSampler as NeighborSampler
    from sparsezc.loader.neighbor_loader import NeighborLoader as NeighborLoader
else:  # the classes of interfaces.py derive from PyTorch Geometric's
    __all__, __getattr__, __dir__ = first_use.names(
        __name__,
        {"interfaces": "FeatureStore GraphStore NeighborSampler", "neighbor_loader": "NeighborLoader"},
    )
