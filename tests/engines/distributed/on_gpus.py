"""All algorithms, and statements that the GPU engine runs otherwise, with every rank's part on an emulated GPU."""

from __future__ import annotations

import numpy as np

import sparsezc as gb
from sparsezc.engines import distributed
from tests.engines.distributed.algorithms import CALLS, compare
from tests.engines.distributed.on_cards import (
    check_matrices_travel_as_device_arrays,
    check_parents_of_several_searches,
    check_row_heads_of_hubs,
)
from tests.engines.distributed.statements import compare_statements

__all__ = ["check_matrices_travel_as_device_arrays", "check_parents_of_several_searches", "check_row_heads_of_hubs"]


def check_algorithms() -> None:
    compare(CALLS)


def check_statements_of_rows_at_their_places() -> None:
    compare_statements(["best_label", "selectk", "walk", "with_values", "diag", "subassign"])


def check_parts_stay_in_the_placement_of_the_matrix() -> None:
    for placement in ("device", "zerocopy", "hybrid"):
        A = gb.io.read("path:200", placement=placement).distribute()
        assert A._store.local._to_csr().indices.placement == placement
        assert gb.algorithms.bfs(A, 0).nvals == 200


def check_rows_that_move_stay_in_their_placement() -> None:
    engine = distributed.engine()
    for placement in ("device", "zerocopy"):
        A = gb.io.read("path:200", placement=placement).distribute()
        for cut in (64, 192, 0, 128):
            engine.layouts.cut(np.r_[0, np.full(engine.size - 1, cut), 200])
            assert gb.algorithms.bfs(A, 0).nvals == 200
        assert A._store.layout.bounds.tolist() == [0, 128, 200]
        assert A._store.local._to_csr().indices.placement == placement
