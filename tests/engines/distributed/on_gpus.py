"""The algorithms of each kind of statement, with every rank's part on an emulated GPU."""

from __future__ import annotations

import sparsezc as gb
from tests.engines.distributed.algorithms import compare
from tests.engines.distributed.on_cards import (
    check_matrices_travel_as_device_arrays,
    check_parents_of_several_searches,
    check_row_heads_of_hubs,
)

__all__ = ["check_matrices_travel_as_device_arrays", "check_parents_of_several_searches", "check_row_heads_of_hubs"]


def check_searches() -> None:
    compare(["bfs", "bfs several", "sssp", "bfs_parents"], ["directed", "path"])


def check_sums() -> None:
    compare(["pagerank", "connected_components", "core_number"], ["directed"])


def check_products_of_matrices() -> None:
    compare(["triangles", "k_truss"], ["directed"])


def check_parts_stay_in_the_placement_of_the_matrix() -> None:
    for placement in ("device", "zerocopy", "hybrid"):
        A = gb.io.read("path:200", placement=placement).distribute()
        assert A._store.local._to_csr().indices.placement == placement
        assert gb.algorithms.bfs(A, 0).nvals == 200
