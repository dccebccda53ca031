"""Applications: what takes features, places, labels or two graphs besides the adjacency matrix, one file each."""

from sparsezc.applications.geolocation import geolocation

__all__ = [
    "geolocation",
]


def __dir__() -> list[str]:
    return sorted(__all__)
