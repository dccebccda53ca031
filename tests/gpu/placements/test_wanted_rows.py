"""Transfers of products by placement: unwanted rows are not moved, and few wanted rows cost little."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.device import cuda
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.elementwise import panel
from sparsezc.engines.gpu.placements import Wanted, host_gather, segments
from sparsezc.engines.gpu.placements.segment_cache import SegmentCache
from sparsezc.memory import budget
from tests.gpu.placements.serving import N, link_bytes, matrix, space_for
from tests.gpu.placements.test_serving import MOVING


@pytest.mark.usefixtures("small_pieces", "counting")
@pytest.mark.parametrize("width", [1, 5, 32, 33])
def test_a_masked_product_with_a_panel_asks_for_the_rows_that_the_mask_allows(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panel, "_LONG", 1)
    monkeypatch.setattr(host_gather, "_SHARE", 1.0)
    A, X = matrix("FP64"), gb.Matrix.from_dense(np.arange(N * width).reshape(N, width) % 7 + 1.0)
    at = np.array([3, 64, 65, 400, N - 1])  # a few rows, each in one of the columns
    M = gb.Matrix.from_coo(at, at % width, True, nrows=N, ncols=width)
    nbytes = 12 * sum(A[int(i), :].new().nvals for i in at)  # of ids and values
    with space_for(2_000_000), gb.config.set(packing="off"):
        for placement in MOVING:
            B = A.to("gpu", placement=placement)
            made: list[gb.Matrix] = []
            product = B.mxm(X.to("gpu"), "plus_times")
            read, copied, _ = link_bytes(lambda product=product, made=made: made.append(product.new(mask=M.S)))
            assert made[0]._store.is_panel
            assert made[0].isclose(A.mxm(X, "plus_times").new(mask=M.S))
            assert B.mxm(X.to("gpu"), "plus_times").new(mask=~M.S).isclose(A.mxm(X, "plus_times").new(mask=~M.S))
            if placement == "gather":
                assert (read, copied) == (0, nbytes)
            elif placement == "stream":
                assert read == 0
                assert nbytes <= copied < 12 * A.nvals
            elif placement == "hybrid":  # no segment was wanted whole
                assert nbytes <= read <= 3 * nbytes
                assert copied == 0


@pytest.mark.usefixtures("small_pieces")
def test_a_product_that_reads_almost_nothing_is_served_as_by_zerocopy(emulated: Any) -> None:
    """The product launches zerocopy's kernels alone, without a count, a wait or a table of segments."""
    A = gb.io.read("kron:11", placement="host")
    full, few = gb.Vector.from_dense(np.ones(A.nrows)), gb.Vector.from_coo([5], [1.0], size=A.nrows)
    before = cuda.use(emulated)
    try:
        launched: dict[str, list[str]] = {}
        for placement in ("zerocopy", "hybrid"):
            with gb.config.set(budget=budget.working_bytes(A.nrows) + 40_000, packing="off", head_cache="off"):
                B = A.to("gpu", placement=placement)
                v = few.to("gpu")
                for _ in range(3):  # makes some segments resident
                    B.mxv(full, "plus_second").new()
                v.vxm(B, "any_pair").new()
                emulated.reset()
                got = v.vxm(B, "any_pair").new()
                launched[placement] = list(emulated.launches)
                assert got.to("cpu").isequal(few.vxm(A, "any_pair").new())
        rows, region = B._store.rows, B._store.rows.layouts[SegmentCache].built
        assert 0 < region.filled < region.count
        assert launched["hybrid"] == launched["zerocopy"]
        for share, bits in ((0, 0), (1 / 5000, 0), (1 / 1000, segments.BITS), (1, segments.BITS)):
            entries = share * rows.nvals
            (part,) = placements.parts(rows, None, Wanted(v._store.bits, 0, entries), ids=True, values=False)
            assert part.bits == bits
    finally:
        cuda.use(before)


@pytest.mark.usefixtures("small_pieces", "counting")
def test_a_push_that_was_not_counted_is_estimated() -> None:
    """With one orientation push and pull need no choice, so the frontier's rows are not counted."""
    A = matrix("FP64")
    few = gb.Vector.from_coo([5], [1.0], size=N)
    with space_for(40_000), gb.config.set(packing="off"):
        B, v = A.to("gpu", placement="hybrid"), few.to("gpu")
        assert v.nvals == 1
        emulated = cuda.current()
        emulated.reset()
        assert v.vxm(B, "any_pair").new().to("cpu").isequal(few.vxm(A, "any_pair").new())
    assert "wanted" not in emulated.launches


@pytest.mark.usefixtures("small_pieces")
def test_products_that_read_all_are_counted_without_the_device(emulated: Any) -> None:
    A, u = matrix("FP64"), gb.Vector.from_dense(np.ones(N))
    before = cuda.use(emulated)
    try:
        launched: dict[str, list[str]] = {}
        for placement in ("zerocopy", "hybrid"):
            with space_for(30_000), gb.config.set(packing="off"):
                B, v = A.to("gpu", placement=placement), u.to("gpu")
                B.mxv(v, "plus_second").new()
                emulated.reset()
                B.mxv(v, "plus_second").new()
                launched[placement] = list(emulated.launches)
        region = B._store.rows.layouts[SegmentCache].built
        assert launched["hybrid"] == launched["zerocopy"]
        assert region.filled == region.slots < region.count
        region._add_passes(B._store.rows)
        assert int(region._reads.sum()) == 2 * A.nvals
    finally:
        cuda.use(before)


@pytest.mark.usefixtures("small_pieces")
def test_numbers_of_reads_are_halved_before_they_end(gpu: Any) -> None:
    A, u = matrix("FP64"), gb.Vector.from_dense(np.ones(N))
    with space_for(200_000), gb.config.set(packing="off"):
        B = A.to("gpu", placement="hybrid")
        B.mxv(u, "plus_second").new()
        region = B._store.rows.layouts[SegmentCache].built
        region.filled, region._counted = 0, (1 << (30 - segments.BITS)) - 1
        before = int(region._reads.max())
        B.mxv(u, "plus_second").new()
        assert int(region._reads.max()) == before
        assert region._counted == 1 << (29 - segments.BITS)
