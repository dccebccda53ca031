"""Transfers of hybrid's non-resident entries: read in place, copied or gathered, whichever costs least."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.device import cuda
from sparsezc.engines.gpu.placements import (
    Entries,
    Wanted,
    copy_ranges,
    double_buffer,
    gather_rows,
    segment_cache,
    transfer_cost,
)
from sparsezc.engines.gpu.placements.segment_cache import SegmentCache
from sparsezc.engines.gpu.placements.transfer_cost import COPIED, GATHERED, IN_PLACE, Rates
from sparsezc.engines.gpu.products import spmv
from sparsezc.memory import budget
from tests.gpu.placements.serving import N, link_bytes, matrix, space_for, statements, vectors

FAST_COPIES = Rates(1.0, 1.0, 99.0, 1.0)
FAST_THREADS = Rates(1.0, 1.0, 50.0, 99.0)
FAST_KERNELS = Rates(50.0, 50.0, 50.0, 10.0)
RATES = {COPIED: FAST_COPIES, GATHERED: FAST_THREADS, IN_PLACE: FAST_KERNELS}


@pytest.fixture
def small(small_pieces: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make transfers of small matrices and buffers worth a choice; ignore memory that other tests left allocated."""
    budget.reclaim()
    monkeypatch.setattr(transfer_cost, "_MATTERS", 0)
    monkeypatch.setattr(transfer_cost, "_SAMPLE", 1 << 12)
    monkeypatch.setattr(transfer_cost, "_TURN", 0.0)


def at_rates(monkeypatch: pytest.MonkeyPatch, rates: Rates) -> None:
    monkeypatch.setattr(transfer_cost, "measured", lambda _entries, _space: rates)


def nothing_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep no segment in device memory."""
    monkeypatch.setattr(segment_cache, "noted", lambda *_: None)


def pinned(A: gb.Matrix, **given: Any) -> gb.Matrix:
    """Return a hybrid matrix in pinned pages, as hybrid has where a matrix exceeds the device's free memory."""
    csr = A._to_csr().place("gather", **given)
    for buffer in (csr.indices, csr.values):
        buffer.placement = "hybrid"
    return gb.Matrix._from_csr(csr, "gpu")


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that collects the transfers that are used, other than reading in place."""
    seen: list[str] = []
    for way, module, name in ((COPIED, copy_ranges, "parts"), (GATHERED, gather_rows, "plan")):
        original = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, way=way, f=original: seen.append(way) or f(*a))
    return seen


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kept", [False, True], ids=["nothing on the card", "some on the card"])
@pytest.mark.parametrize("way", RATES)
@pytest.mark.parametrize(("dtype", "name"), [("FP64", "plus_times"), ("INT32", "min_plus"), ("BOOL", "any_pair")])
def test_products_are_the_cpu_engine_s(
    dtype: str, name: str, way: str, kept: bool, gpu: Any, monkeypatch: pytest.MonkeyPatch, taken: list[str]
) -> None:
    at_rates(monkeypatch, RATES[way])
    if not kept:
        nothing_stays(monkeypatch)
    A, m = matrix(dtype), gb.Vector.from_coo(np.arange(0, N, 3), True, size=N)
    with space_for(50_000), gb.config.set(packing="off"):
        B = pinned(A)
        for u in vectors(dtype):
            wanted = list(statements(A, u, m, name))
            for _ in range(2):
                for w, v in zip(statements(B, u.to("gpu"), m.to("gpu"), name), wanted, strict=True):
                    assert w.to("cpu").isclose(v, rel_tol=1e-5, check_dtype=True)
        assert (B._store.rows.layouts[SegmentCache].built is not None) == kept
    assert bool(taken) == (way != IN_PLACE)
    if name != "any_pair":  # any_pair leaves rows early
        whole = {COPIED} if way == GATHERED and not kept else set()  # entries that are wanted whole are not gathered
        assert set(taken) == {way} - {IN_PLACE} | whole


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("way", RATES)
@pytest.mark.parametrize("variant", ["iso", "wide ids", "packed"])
def test_every_kind_of_entries(
    variant: str, way: str, gpu: Any, monkeypatch: pytest.MonkeyPatch, taken: list[str]
) -> None:
    at_rates(monkeypatch, RATES[way])
    A = matrix("UINT8", iso=variant == "iso")
    with space_for(20_000), gb.config.set(packing="on" if variant == "packed" else "off"):
        B = pinned(A, ids=np.uint64) if variant == "wide ids" else pinned(A)
        for u in vectors("UINT8"):
            for _ in range(3):
                assert B.reduce_rowwise("plus").new().to("cpu").isequal(A.reduce_rowwise("plus").new())
                assert B.reduce_columnwise("plus").new().to("cpu").isequal(A.reduce_columnwise("plus").new())
                for op in ("min_plus", "any_pair"):
                    assert B.mxv(u, op).new().to("cpu").isequal(A.mxv(u, op).new())
                    assert u.to("gpu").vxm(B, op).new().to("cpu").isequal(u.vxm(A, op).new())
    assert bool(taken) == (way != IN_PLACE)


@pytest.mark.usefixtures("small", "counting")
def test_each_way_moves_what_the_model_says(monkeypatch: pytest.MonkeyPatch, taken: list[str]) -> None:
    A = matrix("FP64")
    full, few = gb.Vector.from_dense(np.ones(N)), gb.Vector.from_coo(np.arange(0, N, 5), True, size=N)
    degrees = A.reduce_rowwise("count").new().to_dense(fill_value=0)
    nbytes, some = 4 * A.nvals, 4 * int(degrees[::5].sum())
    nothing_stays(monkeypatch)
    with space_for(20_000), gb.config.set(packing="off", head_cache="off"):
        B = pinned(A)
        at_rates(monkeypatch, FAST_KERNELS)
        read, copied, _ = link_bytes(lambda: B.mxv(full, "plus_second").new())
        assert (copied, nbytes <= read <= 1.05 * nbytes, taken) == (0, True, [])
        at_rates(monkeypatch, FAST_COPIES)
        read, copied, _ = link_bytes(lambda: B.mxv(full, "plus_second").new())
        assert (read, nbytes <= copied <= 1.4 * nbytes, taken.pop()) == (0, True, COPIED)
        at_rates(monkeypatch, FAST_THREADS)
        read, copied, _ = link_bytes(lambda: B.mxv(full, "plus_second").new(mask=few.S))
        assert (read, some <= copied <= 1.5 * some) == (0, True)
        assert taken == [GATHERED]


def choice(rates: Rates, monkeypatch: pytest.MonkeyPatch, share: float = 1.0, kept: float = 0.0, **more: Any) -> str:
    """Return the transfer that is chosen for a share of a matrix's rows."""
    at_rates(monkeypatch, rates)
    rows = pinned(matrix("FP64"))._store.rows
    wanted = Wanted(None if share == 1 else object(), **more)
    return transfer_cost.cheapest(rows, Entries(rows.indices, None), wanted, share * rows.nvals, kept)


@pytest.mark.usefixtures("small")
def test_the_cheapest_way_by_this_machine_s_rates(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rates are those measured on an H200 with PCIe 5, then those of machines with a slower part."""
    with space_for(40_000):
        h200 = Rates(50.5e9, 49e9, 53.4e9, 12e9)
        assert choice(h200, monkeypatch) == COPIED
        assert choice(h200, monkeypatch, kept=0.01) == COPIED
        assert choice(h200, monkeypatch, kept=0.03) == IN_PLACE
        assert [choice(h200, monkeypatch, share) for share in (0.1, 0.3, 0.6)] == [IN_PLACE] * 3
        assert choice(h200._replace(copied=52e9), monkeypatch) == IN_PLACE  # within the error of measurement
        slow_reads = Rates(12e9, 6e9, 25e9, 20e9)
        assert choice(slow_reads, monkeypatch) == COPIED
        assert choice(slow_reads, monkeypatch, kept=0.6) == GATHERED
        assert choice(slow_reads, monkeypatch, 0.1) == GATHERED
        assert choice(slow_reads, monkeypatch, 1.2) == COPIED  # an estimate may exceed 1
        assert choice(slow_reads, monkeypatch, 0.01) == IN_PLACE  # too little to repay the set-up
        assert choice(slow_reads, monkeypatch, 0.1, most=32) == IN_PLACE  # the kernel leaves rows early
        with monkeypatch.context() as turns:
            turns.setattr(transfer_cost, "_TURN", 25e-6)  # exchanging such small buffers takes longer than filling them
            assert choice(slow_reads, monkeypatch) == IN_PLACE
        monkeypatch.setattr(transfer_cost, "_MATTERS", 1 << 28)
        assert choice(slow_reads, monkeypatch) == IN_PLACE
    with gb.config.set(budget=budget.working_bytes(N) + 100):  # no space for buffers
        monkeypatch.setattr(transfer_cost, "_MATTERS", 0)
        assert choice(slow_reads, monkeypatch) == IN_PLACE


@pytest.mark.usefixtures("small")
def test_pages_that_copies_are_slow_from_are_read_in_place(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer_cost, "measured", None)
    A, u = matrix("FP64"), gb.Vector.from_dense(np.ones(N))
    with space_for(40_000):
        B = A.to("gpu", placement="hybrid")
        if B._store.rows.indices.pages == "pinned":
            pytest.skip("this machine takes pinned pages for small arrays")
        assert B.mxv(u, "plus_times").new().to("cpu").isclose(A.mxv(u, "plus_times").new())


@pytest.mark.usefixtures("small")
def test_rates_are_measured_once_and_leave_room_for_buffers(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer_cost, "_measured", type(transfer_cost._measured)())
    A, u = matrix("FP64"), gb.Vector.from_dense(np.ones(N))
    with space_for(40_000), gb.config.set(packing="off"):
        B = pinned(A)
        for _ in range(3):
            assert B.mxv(u, "plus_times").new().to("cpu").isclose(A.mxv(u, "plus_times").new())
        rates = transfer_cost._measured[cuda.current()]
        assert min(rates) > 0
        assert transfer_cost.measured(Entries(None, None), 0) is rates
        rows, entries = B._store.rows, Entries(B._store.rows.indices, None)
        for given, space, left in (
            (FAST_COPIES, 16_000, 2_000),
            (FAST_KERNELS, 16_000, 0),
            (FAST_COPIES._replace(copied=1.5), 16_000, 0),  # more than half of the entries would be resident
            (FAST_THREADS, 100_000, 0),  # all entries would be resident
        ):
            at_rates(monkeypatch, given)
            assert transfer_cost.buffers(rows, entries, space) == left


@pytest.mark.usefixtures("small")
def test_rates_are_not_measured_beyond_the_budget(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer_cost, "_measured", type(transfer_cost._measured)())
    monkeypatch.setattr(transfer_cost, "_SAMPLE", 1 << 16)
    nothing_stays(monkeypatch)
    A, u = matrix("FP64"), gb.Vector.from_dense(np.ones(N))
    with space_for(40_000), gb.config.set(packing="off"):
        assert pinned(A).mxv(u, "plus_times").new().to("cpu").isclose(A.mxv(u, "plus_times").new())
    assert not transfer_cost._measured


@pytest.mark.usefixtures("small")
def test_a_mapped_matrix_is_read_in_place(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mapped matrix is not copied: the host would read the file, of which kernels may have a pinned copy."""
    rows = pinned(matrix("FP64"))._store.rows
    at_rates(monkeypatch, FAST_COPIES)
    with space_for(40_000):
        assert transfer_cost.cheapest(rows, Entries(rows.indices, None), Wanted(None), rows.nvals, 0.0) == COPIED
        rows.indices.placement = "mapped"
        assert transfer_cost.cheapest(rows, Entries(rows.indices, None), Wanted(None), rows.nvals, 0.0) == IN_PLACE


@pytest.mark.usefixtures("small")
def test_what_a_mask_lets_through_is_counted_where_there_is_a_choice(
    gpu: Any, monkeypatch: pytest.MonkeyPatch, taken: list[str]
) -> None:
    """With a full vector, rows that a mask allows are counted only where a transfer must be chosen."""
    at_rates(monkeypatch, Rates(50.0, 50.0, 60.0, 1.0))  # copies win where nearly all entries are wanted
    nothing_stays(monkeypatch)
    A, u = matrix("FP64"), gb.Vector.from_dense(np.ones(N))
    with space_for(40_000), gb.config.set(packing="off", head_cache="off"):
        B = pinned(A)
        for every, way in ((1, [COPIED]), (3, [])):
            mask = gb.Vector.from_coo(np.arange(0, N, every), True, size=N)
            wanted = A.mxv(u, "plus_second").new(mask=mask.S)
            assert B.mxv(u.to("gpu"), "plus_second").new(mask=mask.to("gpu").S).to("cpu").isclose(wanted)
            assert taken == way
            taken.clear()
            B.mxv(u.to("gpu"), "any_pair").new(mask=mask.to("gpu").S)  # any_pair leaves rows early
            assert taken == []


@pytest.mark.usefixtures("small")
def test_copies_begin_before_what_is_on_the_card_is_read(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Buffers wait for kernels launched before them, so copies begin before the launch that reads device memory."""
    at_rates(monkeypatch, FAST_THREADS)
    A, u, seen = matrix("FP64"), gb.Vector.from_dense(np.ones(N)), list[str]()
    made, launcher = double_buffer.Staging, spmv._launcher
    monkeypatch.setattr(double_buffer, "Staging", lambda *given: seen.append("buffers") or made(*given))
    monkeypatch.setattr(spmv, "_launcher", lambda *given: seen.append("launch") or launcher(*given))
    with space_for(40_000), gb.config.set(packing="off"):
        B = pinned(A)
        for _ in range(2):
            seen.clear()
            assert B.mxv(u, "plus_times").new().to("cpu").isclose(A.mxv(u, "plus_times").new())
        assert B._store.rows.layouts[SegmentCache].built.filled
    assert seen.count("launch") > 1
    assert seen[:2] == ["buffers", "launch"]
