"""A card that refuses memory although some is free: caches are dropped, buffers shrink, or there is one error."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.device import cuda, protocol
from sparsezc.device.protocol import giving
from sparsezc.engines.gpu import matrix_conversions, placements
from sparsezc.engines.gpu.layouts import column_blocks, head_cache
from sparsezc.engines.gpu.layouts.column_blocks import ColumnBlocks
from sparsezc.engines.gpu.placements import Wanted, double_buffer, segment_cache, segments, transfer_cost
from sparsezc.engines.gpu.placements.baselines import cached
from sparsezc.engines.gpu.placements.segment_cache import SegmentCache
from sparsezc.memory import budget
from tests.emulator.device import why_unavailable
from tests.gpu.placements.serving import N, matrix, space_for

ROOT = Path(__file__).parents[3]


class Shortage(MemoryError):
    """The error that the pool below raises, as CuPy's pool has an error of its own."""


class Pool:
    """NumPy whose new arrays count towards a limit; at the limit caches are dropped before an allocation fails."""

    def __init__(self) -> None:
        self.used, self.limit = 0, math.inf
        self.grants = math.inf  # number of allocations before the refused one
        self.stays_short = False  # later allocations are refused too, even after caches were dropped
        self._take = giving(self._from_pool)

    def _from_pool(self, nbytes: int) -> np.ndarray:
        self.grants -= 1
        if self.used + nbytes > self.limit or self.grants == -1 or (self.stays_short and self.grants < 0):
            raise Shortage(f"Out of memory allocating {nbytes:,} bytes")
        array = np.empty(nbytes, np.uint8)
        self.used += nbytes
        weakref.finalize(array, self._give, nbytes)
        return array

    def _give(self, nbytes: int) -> None:
        self.used -= nbytes

    def empty(self, shape: Any, dtype: Any = np.float64) -> np.ndarray:
        count = int(np.prod(shape))
        return self._take(count * np.dtype(dtype).itemsize).view(dtype).reshape(shape)

    def full(self, shape: Any, value: Any, dtype: Any = None) -> np.ndarray:
        array = self.empty(shape, np.asarray(value).dtype if dtype is None else dtype)
        array.fill(value)
        return array

    def zeros(self, shape: Any, dtype: Any = np.float64) -> np.ndarray:
        return self.full(shape, 0, dtype)

    def ones(self, shape: Any, dtype: Any = np.float64) -> np.ndarray:
        return self.full(shape, 1, dtype)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


@pytest.fixture
def pool(emulated: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    monkeypatch.setattr(budget, "LONG", 64)
    monkeypatch.setattr(segments, "BITS", 6)
    monkeypatch.setattr(segment_cache, "_LARGE", 0)
    made = Pool()
    monkeypatch.setattr(type(emulated), "xp", made)
    before = cuda.use(emulated)
    try:
        yield made
    finally:
        made.limit = math.inf
        cuda.use(before)
        budget.reclaim()


def placed(placement: str) -> tuple[gb.Matrix, gb.Vector, gb.Vector]:
    """Return a matrix, a full vector, and their product by the CPU engine."""
    A, u = matrix("FP64"), gb.Vector.from_dense(np.ones(N))
    return A.to("gpu", placement=placement), u.to("gpu"), A.mxv(u, "plus_second").new()


@pytest.mark.parametrize("left", [13_000, 60_000])
def test_a_region_is_as_large_as_the_card_allows(left: int, pool: Pool) -> None:
    B, u, wanted = placed("hybrid")
    with space_for(200_000), gb.config.set(packing="off", head_cache="off"):
        pool.limit = pool.used + left
        for _ in range(3):
            w = B.mxv(u, "plus_second").new()
        pool.limit = math.inf
        assert w.to("cpu").isequal(wanted)
        region = B._store.rows.layouts[SegmentCache].built
        assert region is None or region.nbytes < left
        assert (region is not None) == (left == 60_000)


@pytest.mark.parametrize("placement", ["stream", "gather", "cached"])
@pytest.mark.parametrize("push", [False, True], ids=["pull", "push"])
def test_buffers_are_as_large_as_the_card_allows(
    placement: str, push: bool, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever memory is left, smaller buffers give the right answer, or one error leaves the output unchanged."""
    monkeypatch.setattr(cached, "WAYS", (transfer_cost.GATHERED,))
    A = matrix("FP64")
    B, u = A.to("gpu", placement=placement), gb.Vector.from_coo(np.arange(0, N, 2), 1.0, size=N)
    v, semiring = u.to("gpu"), gb.semiring.min_plus
    wanted = u.vxm(A, semiring).new() if push else A.mxv(u, semiring).new()
    sizes, made = list[int](), double_buffer.Staging
    monkeypatch.setattr(double_buffer, "Staging", lambda entries, size: sizes.append(size) or made(entries, size))
    served, refused = set[int](), 0
    with space_for(200_000), gb.config.set(packing="off", head_cache="off"):
        for left in (*range(500, 6_000, 500), *range(6_000, 400_000, 3_000)):
            w = gb.Vector.from_dense(np.full(N, 7.0)).to("gpu")
            budget.reclaim()
            sizes.clear()
            pool.limit = pool.used + left
            try:
                w << (v.vxm(B, semiring) if push else B.mxv(v, semiring))
            except gb.exceptions.OutOfMemory as error:
                refused += 1
                wrote, told = False, str(error)
            else:
                wrote, told = True, ""
                served.add(sizes[-1] if sizes else 0)
            pool.limit = math.inf
            assert wrote or re.search(r"Out of memory allocating [\d,]+ bytes", told)
            assert w.to("cpu").isequal(wanted if wrote else gb.Vector.from_dense(np.full(N, 7.0)))
            if wrote and len(sizes) == 1 and len(served) > 2:  # the largest buffers fit
                break
    assert refused or (placement == "cached" and not push)  # it reads in place and writes to its output
    assert len(served) > 2


@pytest.mark.parametrize("placement", ["stream", "gather", "cached", "hybrid"])
def test_whichever_allocation_is_refused_nothing_is_lost(
    placement: str, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cached, "WAYS", (transfer_cost.GATHERED,))
    A, op = matrix("FP64"), gb.semiring.min_plus
    B, u = A.to("gpu", placement=placement), gb.Vector.from_coo(np.arange(0, N, 2), 1.0, size=N)
    v, before = u.to("gpu"), gb.Vector.from_dense(np.full(N, 7.0))
    wanted = before.dup()
    wanted(accum=gb.binary.plus) << A.mxv(u, op)
    outcomes = []
    with space_for(6_000), gb.config.set(packing="off", head_cache="off"):
        for n in range(100):
            w = before.to("gpu")
            pool.grants = n
            try:
                w(accum=gb.binary.plus) << B.mxv(v, op)
                outcomes.append(True)
            except gb.exceptions.OutOfMemory:
                outcomes.append(False)
            used, pool.grants = pool.grants, math.inf
            assert w.to("cpu").isequal(wanted if outcomes[-1] else before)
            if used > 0:  # the refused allocation was never reached
                break
    assert outcomes[-1]
    assert len(outcomes) > 3


def test_caches_go_for_vectors(pool: Pool) -> None:
    B, u, wanted = placed("hybrid")
    with space_for(200_000), gb.config.set(packing="off", head_cache="off"):
        for _ in range(3):
            B.mxv(u, "plus_second").new()
        held = B._store.rows.layouts[SegmentCache].built
        assert held.filled > 0
        del held
        pool.limit = pool.used + 3000  # less than a vector takes
        w = B.mxv(u, "plus_second").new()
        x = gb.Vector.from_dense(np.ones(2000)).to("gpu") + 1
        pool.limit = math.inf
        assert B._store.rows.layouts[SegmentCache].built is None
        assert w.to("cpu").isequal(wanted)
        assert x.new().to("cpu").isclose(gb.Vector.from_dense(np.full(2000, 2.0)))


def test_a_region_stays_while_it_is_read(pool: Pool) -> None:
    """The launch has addresses within the region, even if memory for the arrays beside it runs short."""
    B, u, _ = placed("hybrid")
    with space_for(200_000), gb.config.set(packing="off", head_cache="off"):
        for _ in range(3):
            B.mxv(u, "plus_second").new()
        rows = B._store.rows
        region = weakref.ref(rows.layouts[SegmentCache].built)
        for part in placements.parts(rows, None, Wanted(None), ids=True, values=False):
            assert part.bits == segments.BITS
            assert budget.reclaim()
            assert rows.layouts[SegmentCache].built is None
            assert region() is not None
        assert region() is None


def test_blocks_go_for_the_result_of_the_product_that_would_read_them(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("_PAYS", 0), ("_HUB", N)):
        monkeypatch.setattr(column_blocks, name, value)
    monkeypatch.setattr(cuda.current(), "cache_bytes", 2 * N / column_blocks._PART)
    B, u, wanted = placed("device")
    matrix_conversions.keep_transpose(B._store)
    for _ in range(3):
        B.mxv(u, "plus_second").new()
    assert len(B._store.rows.layouts[ColumnBlocks].built.rows) == 4
    pool.limit = pool.used + 2000  # less than a vector takes
    w = B.mxv(u, "plus_second").new()
    pool.limit = math.inf
    assert B._store.rows.layouts[ColumnBlocks].built is None
    assert w.to("cpu").isequal(wanted)


def test_a_product_with_blocks_is_written_whole_or_not_at_all(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("_PAYS", 0), ("_HUB", N)):
        monkeypatch.setattr(column_blocks, name, value)
    monkeypatch.setattr(cuda.current(), "cache_bytes", 2 * N / column_blocks._PART)
    B, u, wanted = placed("device")
    matrix_conversions.keep_transpose(B._store)
    written = []
    for n in range(60):
        while B._store.rows.layouts[ColumnBlocks].built is None:
            B.mxv(u, "plus_second").new()
        w = gb.Vector.from_dense(np.full(N, 7.0)).to("gpu")
        pool.grants, pool.stays_short = n, True
        try:
            w << B.mxv(u, "plus_second")
            written.append(True)
        except gb.exceptions.OutOfMemory:
            written.append(False)
        used, pool.grants = pool.grants, math.inf
        assert w.to("cpu").isequal(wanted if written[-1] else gb.Vector.from_dense(np.full(N, 7.0)))
        if used > 0:
            break
    assert written[-1]
    assert written.count(False) > 3


def test_ranks_do_without_a_transpose_that_the_card_refuses(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    A = matrix("FP64")
    B = A.to("gpu", placement="device")

    def refused(*_: Any) -> None:
        raise Shortage("Out of memory allocating 1 bytes")

    monkeypatch.setattr(matrix_conversions, "transposed", refused)
    assert gb.algorithms.pagerank(B).to("cpu").isclose(gb.algorithms.pagerank(A), abs_tol=1e-9)


def test_no_heads_where_they_do_not_fit(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    with gb.config.set(engine="cpu"):
        A = gb.io.read("kron:9")
    B = A.to("gpu", placement="zerocopy")

    def refused(*_: Any) -> None:
        raise Shortage("Out of memory allocating 1 bytes")

    monkeypatch.setattr(head_cache, "_make", refused)
    with (
        gb.config.set(head_cache="on"),
        pytest.warns(gb.exceptions.PerformanceWarning, match="no row-head cache.*1 bytes"),
    ):
        assert gb.algorithms.bfs(B, 1).to("cpu").isequal(gb.algorithms.bfs(A, 1))


def test_what_does_not_fit_at_all_is_one_error(pool: Pool) -> None:
    B, u, wanted = placed("zerocopy")
    w = gb.Vector.from_dense(np.full(N, 7.0)).to("gpu")
    pool.limit = pool.used + 100
    with pytest.raises(gb.exceptions.OutOfMemory, match=r"mxv: Out of memory allocating [\d,]+ bytes"):
        B.mxv(u, "plus_second").new()
    with pytest.raises(gb.exceptions.OutOfMemory, match=r"mxv: Out of memory"):
        w(accum=gb.binary.plus) << B.mxv(w, "plus_second")
    pool.limit = math.inf
    assert w.to("cpu").isequal(gb.Vector.from_dense(np.full(N, 7.0)))
    assert B.mxv(u, "plus_second").new().to("cpu").isequal(wanted)


def test_an_allocator_asks_once_and_then_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, has = [], [True]
    monkeypatch.setattr(protocol, "_givers", [lambda: asked.append(1) or has[0]])
    tries: list[int] = []

    def allocate(nbytes: int) -> int:
        tries.append(nbytes)
        if len(tries) == 1 or nbytes > 10:
            raise Shortage("no")
        return nbytes

    careful = giving(allocate)
    assert (careful(5), tries, len(asked)) == (5, [5, 5], 1)
    with pytest.raises(Shortage):
        careful(11)
    assert (tries, len(asked)) == ([5, 5, 11, 11], 2)
    has[0] = False
    with pytest.raises(Shortage):
        careful(12)
    assert tries[4:] == [12]


@pytest.mark.gpu
def test_the_card_s_own_pool() -> None:
    """Row heads and segments use up the limit of CuPy's pool."""
    import cupy

    A = gb.io.read("kron:14").to("gpu", placement="hybrid")
    u = gb.Vector.from_scalar(1.0, A.ncols, "FP64")
    with gb.config.set(packing="off"):
        for _ in range(3):
            wanted = A.mxv(u, "plus_second").new()
        pool, held = cupy.get_default_memory_pool(), []
        assert A._store.rows.layouts[SegmentCache].built is not None
        nbytes = A._store.rows.layouts[SegmentCache].built.nbytes
        try:
            pool.set_limit(size=pool.total_bytes())
            with pytest.raises(MemoryError):  # the pool itself drops no cache: this uses up its free pieces
                held.extend(iter(lambda: pool.malloc(nbytes), None))
            assert A._store.rows.layouts[SegmentCache].built is not None
            large = cupy.empty(nbytes, np.uint8)
            assert A._store.rows.layouts[SegmentCache].built is None
            with pytest.raises(MemoryError):
                cupy.empty(2 * pool.total_bytes(), np.uint8)
            del large
        finally:
            held.clear()
            pool.set_limit(size=0)
        assert A.mxv(u, "plus_second").new().isclose(wanted)


@pytest.mark.gpu
@pytest.mark.parametrize("placement", ["stream", "gather"])
def test_buffers_from_the_card_s_own_pool(placement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two buffers of 64 MiB exceed the limit of CuPy's pool."""
    import cupy

    A = gb.io.read("kron:14").to("gpu", placement=placement)
    u, sizes, made = gb.Vector.from_dense(np.ones(A.ncols)).to("gpu"), list[int](), double_buffer.Staging
    monkeypatch.setattr(double_buffer, "Staging", lambda entries, size: sizes.append(size) or made(entries, size))
    wanted = A.mxv(u, "plus_second").new()
    largest, pool = sizes[-1], cupy.get_default_memory_pool()
    pool.free_all_blocks()
    try:
        pool.set_limit(size=pool.total_bytes() + (20 << 20))
        assert A.mxv(u, "plus_second").new().isequal(wanted)
    finally:
        pool.set_limit(size=0)
    assert sizes[-1] < sizes[-2] <= largest


#: Runs in a process of its own, because all its allocations are traced, and other tests compile kernels in threads.
_PEAK = """
import sys, tracemalloc
import sparsezc as gb
from sparsezc.device import cuda
from sparsezc.engines.gpu.placements import segment_cache, transfer_cost
from sparsezc.engines.gpu.placements.baselines import cached
from sparsezc.memory import budget
from tests.emulator.device import EmulatedDevice

budget._SHORT = budget.LONG  # so that buffers are large, and what Python has for each of their turns is little
segment_cache._LARGE, cached.WAYS = 0, (transfer_cost.GATHERED,)
card = EmulatedDevice()
cuda.use(card)
with gb.config.set(engine="cpu"):
    A = gb.io.read(sys.argv[2], weights="hash:1-255")
with gb.config.set(budget=budget.working_bytes(A.nrows) + 2 * A.nvals, head_cache="off"):
    B = A.to("gpu", placement=sys.argv[1])
    for run in (lambda: gb.algorithms.sssp(B, 1), lambda: gb.algorithms.pagerank(B, tol=1e-1)):
        run()
        budget.reclaim()
        tracemalloc.start()
        run()
        card.reset()  # what it noted of launches is no memory of a card
        tracemalloc.reset_peak()
        run()
        peak = tracemalloc.get_traced_memory()[1] + 8 * A.nrows  # the offsets were there before
        tracemalloc.stop()
        print(peak / gb.config.budget)
"""


@pytest.mark.skipif(bool(why_unavailable()), reason=str(why_unavailable()))
@pytest.mark.parametrize(("placement", "graph"), [("hybrid", "kron:11"), ("cached", "kron:13"), ("gather", "kron:11")])
def test_algorithms_keep_to_the_budget(placement: str, graph: str) -> None:
    """The peak of NumPy's arrays, which are the emulated card's memory, and of Python objects stays near the budget."""
    command = [sys.executable, "-c", _PEAK, placement, graph]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    shares = [float(line) for line in run.stdout.split()]
    assert len(shares) == 2
    assert max(shares) <= 1.05
