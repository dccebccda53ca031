"""Applications: what takes features, places, labels or two graphs besides the adjacency matrix, one file each."""

from sparsezc.applications.application_classification import application_classification
from sparsezc.applications.collaborative_filtering import collaborative_filtering
from sparsezc.applications.fused_lasso import fused_lasso
from sparsezc.applications.geolocation import geolocation
from sparsezc.applications.graphsage import graphsage
from sparsezc.applications.linear_assignment import linear_assignment
from sparsezc.applications.local_clustering import local_clustering
from sparsezc.applications.projection import projection
from sparsezc.applications.seeded_graph_matching import seeded_graph_matching
from sparsezc.applications.vertex_nomination import vertex_nomination

__all__ = [
    "application_classification",
    "collaborative_filtering",
    "fused_lasso",
    "geolocation",
    "graphsage",
    "linear_assignment",
    "local_clustering",
    "projection",
    "seeded_graph_matching",
    "vertex_nomination",
]


def __dir__() -> list[str]:
    return sorted(__all__)
