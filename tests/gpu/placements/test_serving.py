"""Products in the placements that move entries have the CPU engine's results."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast
from weakref import WeakSet

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.device import cuda
from sparsezc.engines.gpu.placements import Entries, double_buffer, gather_rows, hybrid, segments, transfer_cost
from sparsezc.engines.gpu.placements.baselines import cached
from sparsezc.engines.gpu.placements.segment_cache import SegmentCache
from sparsezc.memory import budget
from tests.gpu.placements.serving import N, link_bytes, matrix, space_for, statements, vectors

MOVING = ("stream", "gather", "cached", "hybrid")
PLACEMENTS = (*MOVING, "uvm")


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize(
    ("dtype", "name"),
    [("FP64", "plus_times"), ("INT32", "min_plus"), ("BOOL", "any_pair")],
)
def test_products_are_the_cpu_engine_s(dtype: str, name: str, placement: str, gpu: Any) -> None:
    A = matrix(dtype)
    m = gb.Vector.from_coo(np.arange(0, N, 3), True, size=N)
    with space_for(40_000), gb.config.set(packing="off"):
        B = A.to("gpu", placement=placement)
        for u in vectors(dtype):
            wanted = list(statements(A, u, m, name))
            for _ in range(2 if placement in ("cached", "hybrid") else 1):  # later products use resident segments
                got = statements(B, u.to("gpu"), m.to("gpu"), name)
                for w, v in zip(got, wanted, strict=True):
                    assert w.to("cpu").isclose(v, rel_tol=1e-5, check_dtype=True)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("variant", ["iso", "wide ids", "packed", "directed both ways", "folded"])
def test_every_kind_of_entries(variant: str, placement: str, gpu: Any) -> None:
    A = matrix("UINT8", iso=variant == "iso")
    with space_for(60_000), gb.config.set(packing="on" if variant == "packed" else "off"):
        if variant == "wide ids":
            B = gb.Matrix._from_csr(A._to_csr().place(placement, ids=np.uint64), "gpu")
        else:
            B = A.to("gpu", placement=placement, with_transpose=variant == "directed both ways")
        for u in vectors("UINT8"):
            for _ in range(3 if placement in ("cached", "hybrid") else 1):  # later products use resident segments
                if variant == "folded":
                    assert B.reduce_rowwise("plus").new().to("cpu").isequal(A.reduce_rowwise("plus").new())
                    assert B.reduce_columnwise("plus").new().to("cpu").isequal(A.reduce_columnwise("plus").new())
                    assert u.to("gpu").vxm(B, "plus_second").new().to("cpu").isequal(u.vxm(A, "plus_second").new())
                for op in ("min_plus", "any_pair"):
                    assert B.mxv(u, op).new().to("cpu").isequal(A.mxv(u, op).new())
                    assert u.to("gpu").vxm(B, op).new().to("cpu").isequal(u.vxm(A, op).new())


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_matrices_of_few_columns(placement: str, gpu: Any) -> None:
    A = matrix("FP64")
    rng = np.random.default_rng(1)
    X = gb.Matrix.from_dense(rng.integers(1, 9, (N, 5)).astype(float))
    with space_for(40_000):
        B = A.to("gpu", placement=placement)
        for _ in range(2):
            for op in ("plus_times", "plus_first"):
                got = B.mxm(X.to("gpu"), op).new()
                assert got.to("cpu").isclose(A.mxm(X, op).new())


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("packing", ["on", "off"])
@pytest.mark.parametrize("placement", MOVING)
def test_a_last_row_that_no_buffer_holds(placement: str, packing: str, gpu: Any) -> None:
    n = 1000  # not a multiple of 32
    rows, columns = np.append(np.arange(60), np.full(n, n - 1)), np.append(np.arange(60), np.arange(n))
    A = gb.Matrix.from_coo(rows, columns, columns % 7 + 1, "UINT8", nrows=n, ncols=n)
    u = gb.Vector.from_dense((np.arange(n) % 3).astype(np.uint8))
    with gb.config.set(budget=budget.working_bytes(n) + 4000, packing=packing):
        B = A.to("gpu", placement=placement)
        for _ in range(3):
            got = B.mxv(u, "min_plus").new()
            assert got.nvals == 61
            assert got.to("cpu").isequal(A.mxv(u, "min_plus").new())


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_algorithms_know_nothing_of_it(placement: str, gpu: Any) -> None:
    with gb.config.set(engine="cpu"):
        A = gb.io.read("kron:9", weights="hash:1-255")
    with gb.config.set(budget=budget.working_bytes(A.nrows) + (1 << 20)):
        B = A.to("gpu", placement=placement)
        for _ in range(2):
            assert gb.algorithms.bfs(B, 1).to("cpu").isequal(gb.algorithms.bfs(A, 1))
            assert gb.algorithms.sssp(B, 1).to("cpu").isclose(gb.algorithms.sssp(A, 1))
            assert gb.algorithms.connected_components(B).to("cpu").isequal(gb.algorithms.connected_components(A))
            assert gb.algorithms.pagerank(B).to("cpu").isclose(gb.algorithms.pagerank(A), abs_tol=1e-9)


@pytest.mark.usefixtures("small_pieces", "counting")
def test_what_each_placement_moves() -> None:
    """A full product needs every id once, and each placement moves the bytes that its rule implies."""
    A, full = matrix("FP64"), gb.Vector.from_dense(np.ones(N))
    nbytes = 4 * A.nvals
    with space_for(40_000), gb.config.set(packing="off", head_cache="off"):
        for placement in ("zerocopy", *MOVING):
            B = A.to("gpu", placement=placement)
            read, copied, inside = link_bytes(lambda B=B: B.mxv(full, "plus_second").new())
            if placement == "zerocopy":
                assert nbytes <= read <= 1.05 * nbytes
                assert (copied, inside) == (0, 0)
            elif placement == "stream":  # each copied range begins a little before its entries
                assert (read, inside > nbytes - 1) == (0, True)
                assert nbytes <= copied <= 1.4 * nbytes
            elif placement == "gather":  # the row that half a buffer cannot hold is read in place
                longest = 4 * A[77, :].new().nvals
                assert copied == nbytes - longest
                assert longest <= read <= 1.2 * longest
            elif placement == "hybrid":  # the first product fills device memory and reads the rest in place
                assert nbytes <= read + copied <= 1.05 * nbytes
                again = link_bytes(lambda B=B: B.mxv(full, "plus_second").new())
                assert again[1] <= 4 << segments.BITS  # the shorter last segment gave up its slot
                assert again[0] + again[1] <= 1.05 * nbytes - copied + (8 << segments.BITS)
                assert again[2] >= copied - (8 << segments.BITS)


@pytest.mark.usefixtures("small_pieces", "counting")
def test_the_most_read_segments_stay() -> None:
    """Rows that are read again and again replace rows that were read once."""
    A = matrix("FP64")
    hot = gb.Vector.from_coo(np.arange(600, 640), 1.0, size=N)
    full = gb.Vector.from_dense(np.ones(N))
    with space_for(4_000), gb.config.set(packing="off"):
        B = A.to("gpu", placement="hybrid")
        B.mxv(full, "plus_second").new()
        region = B._store.rows.layouts[SegmentCache].built
        assert region.filled == region.slots < region.count
        reads = [link_bytes(lambda: hot.to("gpu").vxm(B, "any_pair").new())[:2] for _ in range(150)]
    assert reads[0][0] > 0
    assert sum(reads[-1]) == 0


def partly_kept(A: gb.Matrix, placement: str) -> gb.Matrix:
    """Return a matrix of which device memory holds some ids, and cannot hold all."""
    B = A.to("gpu", placement=placement)
    for _ in range(3):
        B.mxv(gb.Vector.from_dense(np.ones(N)), "plus_second").new()
    region = B._store.rows.layouts[SegmentCache].built
    assert 0 < region.filled == region.slots < region.count
    return B


@pytest.mark.usefixtures("small_pieces", "counting")
def test_other_arrays_take_the_card_once_they_are_read_as_much_as_it_holds() -> None:
    """Counts of reads of the ids also order segments of ids and values, so the most read ones are resident at once."""
    A, full = matrix("FP64"), gb.Vector.from_dense(np.ones(N))
    with space_for(10_000), gb.config.set(packing="off"):
        B = partly_kept(A, "hybrid")
        held = B._store.rows.layouts[SegmentCache].built.filled
        first, again = (link_bytes(lambda: B.mxv(full, "plus_times").new()) for _ in range(2))
        both = B._store.rows.layouts[SegmentCache].built
        assert 0 < both.filled == both.slots < held
        assert first[1] > 0
        assert again[0] + again[1] < 12 * A.nvals - (10 * both.filled << segments.BITS)
        assert B.mxv(full, "plus_times").new().to("cpu").isclose(A.mxv(full, "plus_times").new())


def test_a_push_goes_by_the_entries_of_its_own_rows(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    n, seen = 400, []
    few = gb.Matrix.from_coo([0, 1, 2], [1, 2, 3], [1.0, 2.0, 3.0], nrows=n, ncols=n).to("gpu", placement="zerocopy")
    many = gb.Matrix.from_coo(np.repeat(np.arange(5), n), np.tile(np.arange(n), 5), 1.0).to("gpu", placement="hybrid")
    v = gb.Vector.from_coo([0, 1, 2], 1.0, size=5).to("gpu")
    u = gb.Vector.from_coo([0, 1, 2], 1.0, size=n).to("gpu")
    parts = hybrid.parts
    monkeypatch.setattr(hybrid, "parts", lambda *given: seen.append(given[2].entries) or parts(*given))
    u.vxm(few, "plus_times").new()
    u._store.count = u._store.row_entries = None
    assert u.nvals == 3
    square = gb.Matrix.from_coo(np.repeat(np.arange(5), n), np.tile(np.arange(n), 5), 1.0, nrows=n, ncols=n)
    u.vxm(square.to("gpu", placement="hybrid"), "any_pair").new()
    v.vxm(many, "any_pair").new()
    assert seen[0] == pytest.approx(3 * 5 * n / n)  # the mean row length, as the rows' entries were not counted
    assert seen[1] == pytest.approx(3 * n)


def test_at_half_of_the_edges_cached_keeps_what_its_goal_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """PageRank on kron:22 may move 0.4 of the ids: buffers for gathering come out of the share for the rest."""
    ids = SimpleNamespace(dtype=np.dtype(np.uint32), placement="cached")
    rows: Any = SimpleNamespace(nrows=1 << 22, nvals=128_311_436, indices=ids, longest_read=2048)
    monkeypatch.setattr(double_buffer, "bytes_for_entries", lambda _: int(0.5 * 5 * rows.nvals))
    space = cached._space(rows, Entries(cast("Any", ids), None))
    assert space >= 0.605 * 4 * rows.nvals
    fetching = double_buffer.bytes_for_entries(rows) - space
    size = fetching // 16
    assert 2 * 4 * size + gather_rows._ROW_BYTES * gather_rows._most(rows, 4, size) <= fetching
    assert size > 100_000


@pytest.mark.parametrize("graph", ["kron:8", "kron:8?weights=1-255", "kron:8?weights=1-70000"])
@pytest.mark.parametrize("placement", ["stream", "gather"])
def test_placing_names_the_least_with_which_algorithms_run(emulated: Any, placement: str, graph: str) -> None:
    A = gb.io.read(graph, placement="host")
    before = cuda.use(emulated)
    try:
        with (
            gb.config.set(budget=1000),
            pytest.raises(gb.exceptions.OutOfMemory, match=rf"placement '{placement}' needs [\d,]+ bytes of d") as said,
        ):
            gb.io.read(graph, placement=placement)
        least = int(str(said.value).split(" needs ")[1].split(" bytes")[0].replace(",", ""))
        with gb.config.set(budget=least - 1), pytest.raises(gb.exceptions.OutOfMemory, match=f"needs {least:,} bytes"):
            gb.io.read(graph, placement=placement)
        with gb.config.set(budget=least):
            B = gb.io.read(graph, placement=placement)
            assert gb.algorithms.bfs(B, 1).to("cpu").isequal(gb.algorithms.bfs(A, 1))
            assert gb.algorithms.sssp(B, 1).to("cpu").isequal(gb.algorithms.sssp(A, 1))
            assert gb.algorithms.connected_components(B).to("cpu").isequal(gb.algorithms.connected_components(A))
            for weighted in (False, True):
                ranks = [gb.algorithms.pagerank(M, weighted=weighted) for M in (A, B)]
                np.testing.assert_allclose(ranks[1].to_dense(0), ranks[0].to_dense(0), rtol=1e-9)
    finally:
        cuda.use(before)


def test_a_budget_below_the_vectors_says_the_least_that_works(emulated: Any) -> None:
    A, u = matrix("FP64"), gb.Vector.from_dense(np.ones(N))
    before = cuda.use(emulated)
    try:
        for placement in ("stream", "gather"):
            B = A.to("gpu", placement=placement)
            with (
                gb.config.set(budget=budget.working_bytes(N) + 100),
                pytest.raises(
                    gb.exceptions.OutOfMemory, match=r"[\d,]+ are the least that works \(gb.config.budget\)"
                ) as said,
            ):
                B.mxv(u, "plus_times").new()
            least = int(str(said.value).split(": ")[-1].split(" are")[0].replace(",", ""))
            with gb.config.set(budget=least):
                assert B.mxv(u, "plus_times").new().to("cpu").isclose(A.mxv(u, "plus_times").new())
        for placement in ("cached", "hybrid"):  # these work without space: everything is read in place
            B = A.to("gpu", placement=placement)
            with gb.config.set(budget=budget.working_bytes(N) + 100):
                assert B.mxv(u, "plus_times").new().to("cpu").isclose(A.mxv(u, "plus_times").new())
            assert B._store.rows.layouts[SegmentCache].built is None
    finally:
        cuda.use(before)


@pytest.mark.usefixtures("small_pieces")
def test_caches_count_to_the_budget_and_go_where_the_room_is_needed(
    emulated: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    A, u = matrix("FP64"), gb.Vector.from_dense(np.ones(N))
    before = cuda.use(emulated)
    try:
        with space_for(200_000):
            free = budget.available()
            B, C = (A.to("gpu", placement="hybrid") for _ in range(2))
            assert B.mxv(u, "plus_times").new().to("cpu").isclose(A.mxv(u, "plus_times").new())
            region = B._store.rows.layouts[SegmentCache].built
            assert budget.available() == free - region.nbytes
            C.mxv(u, "plus_times").new()
            other = C._store.rows.layouts[SegmentCache].built
            assert region.nbytes + (0 if other is None else other.nbytes) <= free - budget.working_bytes(N)
            monkeypatch.setattr(emulated, "free_memory", 1000)
            with pytest.raises(gb.exceptions.OutOfMemory, match="device"):
                A.to("gpu", placement="device")
            assert B._store.rows.layouts[SegmentCache].built is None  # dropped in vain, but the allocation needed it
        monkeypatch.undo()
        B = A.to("gpu", placement="cached")  # without a budget, free memory is the device's, less by the caches
        for _ in range(4):
            assert B.mxv(u, "plus_times").new().to("cpu").isclose(A.mxv(u, "plus_times").new())
    finally:
        cuda.use(before)


def test_recorded_rounds_do_not_count(gpu: Any) -> None:
    path = gb.io.read("grid:2x200", placement="hybrid")
    wanted = gb.algorithms.bfs(path.to("cpu"), 0)
    with gb.stats.collect() as moved:
        assert gb.algorithms.bfs(path, 0).to("cpu").isequal(wanted)
    assert moved.compute_seconds > 0


def test_pages_that_migrate_stay_below_the_card_s_free_memory(emulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from sparsezc import memory
    from sparsezc.memory import zerocopy

    monkeypatch.setattr(emulated, "free_memory", 1_000_000)
    monkeypatch.setattr(zerocopy, "_managed", WeakSet())
    before = cuda.use(emulated)
    try:
        with pytest.raises(
            gb.exceptions.OutOfMemory, match=r"'uvm' needs 2,000,000 .* allows 1,000,000; more can hang"
        ):
            memory.allocate("uvm", 2_000_000, "uint8")
        assert memory.allocate("uvm", 900_000, "uint8").pages == "migrating"
        with gb.config.set(oversubscribe=True):
            assert memory.allocate("uvm", 2_000_000, "uint8").count == 2_000_000
    finally:
        cuda.use(before)


@pytest.mark.usefixtures("small_pieces")
def test_what_is_measured_decides_how_cached_fetches(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    A, u = matrix("FP64"), gb.Vector.from_dense(np.ones(N))
    with space_for(40_000), gb.config.set(packing="off"):
        B = A.to("gpu", placement="cached")
        for _ in range(4):
            B.mxv(u, "plus_times").new()
        region = B._store.rows.layouts[SegmentCache].built
        assert {way: len(costs) for way, costs in region.costs.items()} == {"gathered": 2, "in place": 2}
        seen: list[str] = []
        monkeypatch.setattr(
            gather_rows, "plan", lambda *a, original=gather_rows.plan: seen.append("gathered") or original(*a)
        )
        for faster in ("in place", "gathered"):
            region.costs = {"gathered": [9, 1.0], "in place": [9, 1.0], faster: [9, 0.5]}
            seen.clear()
            assert B.mxv(u, "plus_times").new().to("cpu").isclose(A.mxv(u, "plus_times").new())
            assert bool(seen) == (faster == "gathered")
            assert region.costs[faster][0] == 0.5 != region.costs[faster][1]  # the faster way was measured again


@pytest.mark.usefixtures("small_pieces", "counting")
def test_where_the_rest_is_gathered_rows_stay_as_wholes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ascetic as published: a product that reads all moves no rows that are resident."""
    monkeypatch.setattr(cached, "WAYS", (transfer_cost.GATHERED,))
    A, full = matrix("FP64"), gb.Vector.from_dense(np.ones(N))
    with space_for(22_000), gb.config.set(packing="off"):
        B = partly_kept(A, "cached")
        region = B._store.rows.layouts[SegmentCache].built
        slots = cuda.current().asnumpy(region._slot_of)
        assert (slots[: region.filled] >= 0).all()  # rows from the first on are resident
        read, copied, inside = link_bytes(lambda: B.mxv(full, "plus_second").new())
        kept = 4 * region.filled << segments.BITS
        assert inside >= kept / 2
        assert read + copied < 4 * A.nvals - kept / 2
        assert B.mxv(full, "plus_second").new().to("cpu").isclose(A.mxv(full, "plus_second").new())


def test_ascetic_s_share() -> None:
    assert cached.resident_share(0.1, 4.0, 1.0) == pytest.approx(0.6 / 0.9)


@pytest.mark.usefixtures("small_pieces")
def test_what_needs_the_caches_room_gets_it(emulated: Any) -> None:
    A, full = matrix("FP64"), gb.Vector.from_dense(np.ones(N))
    before = cuda.use(emulated)
    try:
        B, C = (A.to("gpu", placement=placement) for placement in ("hybrid", "stream"))
        for product, wanted in (
            (lambda: B.mxm(B, "plus_times").new(), A.mxm(A, "plus_times").new()),
            (lambda: C.mxv(full, "plus_times").new(), A.mxv(full, "plus_times").new()),
        ):
            with space_for(200_000), gb.config.set(packing="off"):
                B.mxv(full, "plus_times").new()
                held = B._store.rows.layouts[SegmentCache].built.nbytes
            with gb.config.set(budget=held):  # the cache has all memory that may be used
                assert budget.available() == 0
                assert product().to("cpu").isclose(wanted)
                assert B._store.rows.layouts[SegmentCache].built is None
    finally:
        cuda.use(before)
