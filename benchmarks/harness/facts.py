"""Figures of earlier measurements, for comparison.

All on one NVIDIA H200 (PCIe 5 x16, driver 580.159, CUDA 13.0) in November 2026. Absolute figures drift between
machines, so a ratio across runs is only a guide; claims rest on ratios within one run.
"""

from __future__ import annotations

from typing import NamedTuple

MACHINE = "one H200, PCIe 5 x16, November 2026"

#: GB/s by the case names of benchmarks.micro.link.
LINK_GBS = {
    "cudaMemcpy, pinned": 55.3,
    "stream, 4 B a lane": 51.3,
    "stream, 8 B a lane": 51.3,
    "stream, 16 B a lane": 51.3,
    "stream, every warp off by 32 B": 33.7,
    "scan, one thread 128 B": 18.2,
    "first touch, managed ReadMostly": 12.7,
    "EMOGI strided": 18.2,
    "EMOGI merged": 33.7,
    "EMOGI merged + aligned": 51.3,
}

#: Random 128-byte requests, millions a second, by kind of pages and working set in MiB.
RANDOM_128 = {
    "pinned": {256: 396, 1024: 114, 4096: 48, 16384: 41, 65536: 31},
    "managed": {256: 398, 1024: 397, 4096: 392, 16384: 335, 65536: 350},
}
#: Smaller random requests over 256 MiB, millions a second, by bytes of a request.
RANDOM_256_MIB = {32: 670, 64: 640, 128: 400}


class Peer(NamedTuple):
    """Another program's time in milliseconds: the fastest and the slowest figure."""

    name: str
    low: float
    high: float


_EMOGI, _HBM, _GAP = "EMOGI zero-copy", "EMOGI in HBM", "GAP, 16 cores"
_PEERS = {
    ("kron:24", "bfs", "zerocopy"): Peer(_EMOGI, 73, 78),
    ("kron:24", "sssp", "zerocopy"): Peer(_EMOGI, 174, 174),
    ("kron:24", "cc", "zerocopy"): Peer(_EMOGI, 127, 127),
    ("kron:24", "pagerank", "zerocopy"): Peer(_EMOGI, 57, 57),
    ("urand:24", "bfs", "zerocopy"): Peer(_EMOGI, 56, 61),
    ("urand:24", "sssp", "zerocopy"): Peer(_EMOGI, 345, 345),
    ("urand:24", "cc", "zerocopy"): Peer(_EMOGI, 104, 104),
    ("urand:24", "pagerank", "zerocopy"): Peer(_EMOGI, 49, 49),
    ("kron:24", "bfs", "device"): Peer(_HBM, 39, 39),
    ("kron:24", "sssp", "device"): Peer(_HBM, 50, 50),
    ("kron:24", "cc", "device"): Peer(_HBM, 51, 51),
    ("urand:24", "bfs", "device"): Peer(_HBM, 24, 24),
    ("urand:24", "sssp", "device"): Peer(_HBM, 62, 62),
    ("urand:24", "cc", "device"): Peer(_HBM, 30, 30),
    ("kron:24", "bfs", "host"): Peer(_GAP, 63, 63),
    ("kron:24", "cc", "host"): Peer(_GAP, 116, 116),
    ("urand:24", "bfs", "host"): Peer(_GAP, 110, 135),
    ("urand:24", "cc", "host"): Peer(_GAP, 182, 182),
}


def peer(graph: str, kernel: str, placement: str) -> Peer | None:
    """Return the figure for a graph (edge factor 16), a kernel and a placement; None if there is none.

    >>> peer("kron:24", "bfs", "device").low
    39
    """
    body = graph.partition("?")[0].removesuffix(":16")
    return _PEERS.get((body, kernel, placement))


class Goal(NamedTuple):
    """A goal: at most `ms`, or at least `share` of the copy rate."""

    ms: float | None = None
    share: float | None = None


def goal(graph: str, kernel: str, placement: str) -> Goal | None:
    """Return the project's goal for a case, if it has one.

    Goals are a streaming mxv over the link at 0.85 of the copy rate, bfs and cc over the link no slower than EMOGI, and
    bfs on kron:24 in device memory three times faster than EMOGI.
    """
    found = peer(graph, "bfs" if kernel.startswith("spmv") else kernel, placement)
    if found is None:
        return None
    if kernel == "spmv plus_times" and placement == "zerocopy":
        return Goal(share=0.85)
    if kernel in ("bfs", "cc") and placement == "zerocopy":
        return Goal(ms=found.low)
    if kernel == "bfs" and placement == "device" and graph.startswith("kron"):
        return Goal(ms=found.low / 3)
    return None
