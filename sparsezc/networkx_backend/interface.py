"""The names behind NetworkX's entry point ``networkx.backends``: every claimed function, conversions and conditions."""

from __future__ import annotations

from typing import Any

import networkx as nx

# These modules claim their functions when they are imported.
from sparsezc.networkx_backend import (  # noqa: F401
    centrality,
    choices,
    clusters,
    components,
    dags,
    distances,
    hops,
    lengths,
    paths,
    trees,
)
from sparsezc.networkx_backend.claims import CLAIMS, can_run, require_networkx, should_run
from sparsezc.networkx_backend.convert import convert_from_nx, convert_to_nx
from sparsezc.networkx_backend.expected import on_start_tests

require_networkx(nx.__version__)


def __getattr__(name: str) -> Any:
    """Return the function of a name to NetworkX, including those that programs registered."""
    try:
        return CLAIMS[name].function
    except KeyError:
        raise AttributeError(f"sparsezc's backend has no {name}") from None


__all__ = ["can_run", "convert_from_nx", "convert_to_nx", "on_start_tests", "should_run", *CLAIMS]
