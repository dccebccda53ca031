"""The algorithms of each kind of statement, with every rank's part on an emulated GPU."""

from __future__ import annotations

from tests.engines.distributed.algorithms import compare


def check_searches() -> None:
    compare(["bfs", "bfs several", "sssp", "bfs_parents"], ["directed", "path"])


def check_sums() -> None:
    compare(["pagerank", "connected_components", "core_number"], ["directed"])


def check_products_of_matrices() -> None:
    compare(["triangles", "k_truss"], ["directed"])
