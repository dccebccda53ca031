"""All algorithms, and the statements that the GPU engine runs differently, with each rank's part on an emulated GPU."""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

import numpy as np
from mpi4py import MPI

import sparsezc as gb
from benchmarks.model import exchanged_bytes
from sparsezc.engines import distributed
from sparsezc.engines.distributed.parts import vector_exchange
from sparsezc.engines.distributed.statements import labels, search_batches, walks
from sparsezc.engines.gpu.products import multi_source_bfs
from sparsezc.memory.placement import BEYOND
from tests.engines.distributed.algorithms import CALLS, compare
from tests.engines.distributed.on_cards import (
    check_levels_of_many_searches,
    check_matrices_travel_as_device_arrays,
    check_parents_of_several_searches,
    check_row_heads_of_hubs,
)
from tests.engines.distributed.statements import check_hops as compare_hops
from tests.engines.distributed.statements import compare_statements

__all__ = [
    "check_levels_of_many_searches", "check_matrices_travel_as_device_arrays", "check_parents_of_several_searches",
    "check_row_heads_of_hubs",
]  # fmt: skip


def check_algorithms() -> None:
    """Leave out two of the three graphs that each rank has whole; the path and the one of one vertex remain."""
    compare(CALLS, ("three vertices", "fewer than three ranks"))


def check_statements_of_rows_at_their_places() -> None:
    compare_statements(["best_label", "selectk", "with_values", "diag", "subassign"])


def check_rows_are_read_where_they_are() -> None:
    copied = AssertionError("rows are copied to the host")
    with patch.object(walks, "lent", side_effect=copied), patch.object(labels, "lent", side_effect=copied):
        compare_statements(["walk", "move_labels", "join_labels", "color_rows"])
        compare_hops()


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
            engine.partitions.cut(np.r_[0, np.full(engine.size - 1, cut), 200])
            assert gb.algorithms.bfs(A, 0).nvals == 200
        assert A._store.partition.bounds.tolist() == [0, 128, 200]
        assert A._store.local._to_csr().indices.placement == placement


def check_rows_of_a_mapped_file_move_by_offsets() -> None:
    """Only lengths of rows travel, however many entries they have: a rank maps other pages of the file."""
    engine = distributed.engine()
    for spec in ("kron:9", "kron:9?weights=1-9"):
        path = Path(engine.transport.objects(tempfile.mkdtemp())[0]) / "graph.h5"
        if engine.rank == 0:
            gb.io.convert(spec, path)
        engine.transport.numbers(0)
        A, whole = gb.io.read(path, comm=MPI.COMM_WORLD, placement="mapped"), gb.io.read(path, placement="host")
        n = A.nrows
        for cut in (64, n - 64, 0, 256):
            engine.partitions.cut(np.r_[0, np.full(engine.size - 1, cut), n])
            before = engine.transport.received
            engine.move(A._store)
            received = max(engine.transport.objects(engine.transport.received - before))
            assert (received <= 2 * 8 * n) == (cut != 256)  # after 0: a rank without rows has no part of the file
            part = A._store.local._to_csr()
            placements = engine.transport.objects(part.indices.placement if part.nvals else "mapped")
            assert set(placements) == {"mapped" if cut != 256 else BEYOND}
            assert gb.algorithms.sssp(A, 1).to("cpu").isequal(gb.algorithms.sssp(whole, 1))


def check_bytes_of_many_searches() -> None:
    """Received bytes equal the model's, by lists and in windows, and are below 8 bytes a level and remote vertex."""
    engine = distributed.engine()
    A = gb.io.read("kron:10", placement="zerocopy")
    D, whole = A.distribute(), gb.io.read("kron:10")
    sources = np.random.default_rng(3).choice(np.flatnonzero(np.diff(A._to_csr().indptr)), 64, replace=False)
    levels = gb.algorithms.bfs(whole, sources.tolist()).to_dense(-1)
    partition = D._store.partition
    setting = exchanged_bytes.Setting(partition.bounds, multi_source_bfs.push_cost("zerocopy"), 0, 0, windows=True)
    lists = patch.object(type(engine.transport), "shared", return_value=None)
    by_vertices = patch.object(search_batches, "saved", return_value=-1.0)
    for windows, how in ((True, nullcontext()), (False, lists)):
        before = engine.transport.received
        with how, patch.object(vector_exchange, "LISTING", 0), by_vertices, gb.config.set(head_cache="off"):
            found = gb.algorithms.bfs(D, sources.tolist())
        received = engine.transport.received - before
        np.testing.assert_array_equal(found.to_dense(-1), levels)
        assert received == exchanged_bytes.many_searches(whole, levels, engine.rank, setting._replace(windows=windows))
        assert received < 0.9 * (levels.max() + 1) * 8 * (A.nrows - partition.hi + partition.lo)
