"""The backend that NetworkX finds through its entry points: ``nx.pagerank(G, backend="sparsezc")``.

NetworkX reads :mod:`info` whenever it is imported, so this package imports all other modules on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparsezc import first_use

if TYPE_CHECKING:
    from sparsezc.networkx_backend.graphs.graph import DiGraph as DiGraph
    from sparsezc.networkx_backend.graphs.graph import Graph as Graph
else:
    __all__, __getattr__, __dir__ = first_use.names(__name__, {"graphs.graph": "DiGraph Graph"})
