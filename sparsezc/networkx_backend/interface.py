"""The object behind the entry point ``networkx.backends``: every claimed function, conversions and conditions."""

from __future__ import annotations

import networkx as nx

from sparsezc.networkx_backend.dispatch import should_run
from sparsezc.networkx_backend.expected_failures import on_start_tests

# These modules claim their functions when they are imported.
from sparsezc.networkx_backend.generators import classic, operators, small, tables  # noqa: F401
from sparsezc.networkx_backend.graphs.claims import (
    BACKEND,
    CLAIMS,
    can_run,
    can_run_or_say,
)
from sparsezc.networkx_backend.graphs.convert import convert_from_nx, convert_to_nx
from sparsezc.networkx_backend.graphs.networkx_versions import require_networkx
from sparsezc.networkx_backend.measures import betweenness, centrality, distances, hop_sums, layouts, matrices  # noqa: F401
from sparsezc.networkx_backend.paths import astar, breadth_first, depth_first, shortest_paths, trees, weighted_paths  # noqa: F401
from sparsezc.networkx_backend.structure import (  # noqa: F401
    assortativity,
    bipartite_projection,
    bipartite_sets,
    clusters,
    communities,
    components,
    cut_points,
    dags,
    degrees,
    directed,
    greedy_choices,
    link_prediction,
    partitions,
    predicates,
    structural_holes,
)

require_networkx(nx.__version__)


BACKEND._offer(
    can_run=can_run_or_say, should_run=should_run, convert_from_nx=convert_from_nx, convert_to_nx=convert_to_nx,
    on_start_tests=on_start_tests,
)  # fmt: skip

__all__ = ["BACKEND", "CLAIMS", "can_run", "convert_from_nx", "convert_to_nx", "on_start_tests", "should_run"]
