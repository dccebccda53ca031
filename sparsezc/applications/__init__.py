"""Applications: what takes features, places, labels or two graphs besides the adjacency matrix, one file each."""

from sparsezc.applications.application_classification import application_classification
from sparsezc.applications.collaborative_filtering import collaborative_filtering
from sparsezc.applications.fused_lasso import fused_lasso
from sparsezc.applications.geolocation import geolocation
from sparsezc.applications.local_clustering import local_clustering
from sparsezc.applications.projection import projection
from sparsezc.applications.vertex_nomination import vertex_nomination

__all__ = [
    "application_classification",
    "collaborative_filtering",
    "fused_lasso",
    "geolocation",
    "local_clustering",
    "projection",
    "vertex_nomination",
]


def __dir__() -> list[str]:
    return sorted(__all__)
