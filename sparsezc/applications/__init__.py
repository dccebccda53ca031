"""Applications: algorithms that take features, places, labels or a second graph beside the adjacency matrix."""

from typing import TYPE_CHECKING

from sparsezc.process import first_use

if TYPE_CHECKING:
    from sparsezc.applications.application_classification import (
        application_classification as application_classification,
    )
    from sparsezc.applications.collaborative_filtering import collaborative_filtering as collaborative_filtering
    from sparsezc.applications.fused_lasso import fused_lasso as fused_lasso
    from sparsezc.applications.geolocation import geolocation as geolocation
    from sparsezc.applications.graphsage import graphsage as graphsage
    from sparsezc.applications.linear_assignment import linear_assignment as linear_assignment
    from sparsezc.applications.local_clustering import local_clustering as local_clustering
    from sparsezc.applications.projection import projection as projection
    from sparsezc.applications.seeded_graph_matching import seeded_graph_matching as seeded_graph_matching
    from sparsezc.applications.vertex_nomination import vertex_nomination as vertex_nomination
else:
    __all__, __getattr__, __dir__ = first_use.names(
        __name__,
        {
            "application_classification": "application_classification",
            "collaborative_filtering": "collaborative_filtering",
            "fused_lasso": "fused_lasso",
            "geolocation": "geolocation",
            "graphsage": "graphsage",
            "linear_assignment": "linear_assignment",
            "local_clustering": "local_clustering",
            "projection": "projection",
            "seeded_graph_matching": "seeded_graph_matching",
            "vertex_nomination": "vertex_nomination",
        },
    )
