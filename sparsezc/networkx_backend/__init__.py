"""The backend that NetworkX finds through its entry points: ``nx.pagerank(G, backend="sparsezc")``.

NetworkX reads :mod:`info` whenever it is imported, so this package imports all other modules on first use.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from sparsezc.process import first_use

if TYPE_CHECKING:
    from sparsezc.networkx_backend.graphs.claims import register as register
    from sparsezc.networkx_backend.graphs.graph import DiGraph as DiGraph
    from sparsezc.networkx_backend.graphs.graph import Graph as Graph
    from sparsezc.networkx_backend.log import log_calls as log_calls
else:
    __all__, _load, __dir__ = first_use.names(
        __name__, {"graphs.claims": "register", "graphs.graph": "DiGraph Graph", "log": "log_calls"}
    )

    def __getattr__(name: str) -> Any:
        try:
            return _load(name)
        except AttributeError as error:
            from networkx.utils.backends import _registered_algorithms as functions

            from sparsezc.exceptions import no_attribute
            from sparsezc.networkx_backend.info import functions as ours

            if name in ours():
                raise AttributeError(f"{error}: NetworkX calls it, as nx.{name}(G, backend='sparsezc')") from None
            if name in functions:
                raise AttributeError(f"{error}: sparsezc has no {name}; NetworkX itself computes it") from None
            raise no_attribute(f"module {__name__!r}", name, (*__all__, *ours()), sys.modules[__name__]) from None
