"""Every kernel's text matches its launches: its parameters have the names that the launches use.

Statements run with kernels that do nothing, so that no compiler is needed. Launches that the engine makes only for many
entries, or between recorded rounds, are made directly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc import ops
from sparsezc.core import engine_loops
from sparsezc.device import cuda
from sparsezc.device.launcher import Launcher
from sparsezc.device.signature import Shape, Signature, kernels
from sparsezc.engines.gpu import graph_replay, matrix_conversions
from sparsezc.engines.gpu.elementwise import panel
from sparsezc.engines.gpu.elementwise.panel import Panel
from sparsezc.engines.gpu.graphs import flow, local_pagerank
from sparsezc.engines.gpu.layouts import column_blocks, row_groups
from sparsezc.engines.gpu.layouts.head_cache import NO_HEADS
from sparsezc.engines.gpu.layouts.row_groups import RowGroups
from sparsezc.engines.gpu.placements import Wanted, row_runs, segments
from sparsezc.engines.gpu.products import bit_dots, multi_source_bfs, spgemm_dense, spgemm_heavy_rows, spgemm_rows, spmv
from sparsezc.engines.gpu.runtime import codegen, presence_words
from sparsezc.engines.gpu.runtime.array_pool import ArrayPool
from sparsezc.engines.gpu.several_processes import peer_searches
from sparsezc.engines.gpu.several_processes.search_levels import SharedSearches
from sparsezc.engines.gpu.several_processes.search_step import Setting, SharedStep
from sparsezc.engines.gpu.storage.layout import Demand
from sparsezc.engines.gpu.storage.vector_store import MaskBits, VectorStore
from sparsezc.expr import engines
from sparsezc.semirings import semiring
from sparsezc.semirings.types.datatypes import BOOL, FP64, INT64
from tests.emulator import cases
from tests.emulator.rehearsal import Rehearsal, rehearse

N = 96
Launches = dict[str, set[Shape]]


def texts() -> Iterator[tuple[str, str, str]]:
    """Yield every kernel of the engine: its file, its name in the text, and the text."""
    for path in sorted(codegen._KERNELS.rglob("*.cu")):
        for name in kernels(path.read_text()):
            yield path.name, name, path.read_text()


def matrix(**given: Any) -> gb.Matrix:
    rng = np.random.default_rng(2)
    at = np.flatnonzero(rng.random(N * N) < 0.5)
    return gb.Matrix.from_coo(at // N, at % N, rng.integers(1, 9, at.size), "FP64", nrows=N, ncols=N).to("gpu", **given)


def statements() -> None:
    """Run products with head caches, packed values and placements of every kind."""
    full, few = gb.Vector.from_dense(np.ones(N)), gb.Vector.from_coo([3, 5], [1.0, 2.0], size=N)
    times, stops = gb.semiring.plus_times, gb.semiring.any_first
    with gb.config.set(packing="on", head_cache="on"):
        for placement in ("device", "zerocopy", "stream", "gather", "cached", "hybrid"):
            A = matrix(placement=placement)
            A.mxv(full, times).new()
            A.mxv(few, stops).new(mask=~full.S)
            few.vxm(A, times).new()


def column_blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run products with a vector that is larger than the cache."""
    A, full = matrix(placement="device"), gb.Vector.from_dense(np.ones(N))
    matrix_conversions.keep_transpose(A._store)
    monkeypatch.setattr(cuda.current(), "cache_bytes", N * 8 / 3 / column_blocks._PART)
    monkeypatch.setattr(column_blocks, "_PAYS", 0)
    monkeypatch.setattr(column_blocks, "_HUB", N)
    for _ in range(4):
        A.mxv(full, gb.semiring.plus_times).new()


def panels() -> None:
    """Run products with matrices of few columns."""
    times = gb.semiring.plus_times
    tall = gb.Matrix.from_coo(range(4 * N), range(4 * N), 1.0, nrows=4 * N, ncols=4 * N)
    panel = gb.Matrix.from_dense(np.ones((4 * N, 3))).to("gpu")
    for B in (tall.to("gpu"), tall.to("gpu", placement="stream")):
        for op in (times, gb.semiring.any_pair):
            mask = panel.dup()
            B.mxm(panel, op).new(mask=mask.S)
            panel.T.new().mxm(B, op).new()
    tall.to("gpu").mxm(gb.Matrix.from_dense(np.ones((4 * N, 6))), times).new()


def parts_of_panels() -> None:
    """Run parts and sums of panels, distances of their rows, and products with a transpose that is not built."""
    A, X = matrix(), gb.Matrix.from_dense(np.ones((N, 3))).to("gpu")
    X._store.hold(panel.get_or_build(X._store, 3, False))
    X[:, 1].new()
    X.reduce_columnwise("plus").new()
    X[:, 1] << gb.Vector.from_dense(np.ones(N))
    ops.distances(X, X).new()
    ops.map_rows(ops.row_function(lambda x, y, z: (z, x)), X).new()
    ops.sampled_mxm(A.T, X, X, X, "plus_times", "plus_times").new()
    ops.two_way_sampled_mxm(A, gb.Matrix.from_dense(np.ones((2 * N, 3))).to("gpu"), "plus_times", "plus_times").new()


def hops() -> None:
    """Sample vertices hop by hop, and read their features from host memory."""
    A = matrix()
    ops.sample_hops(A, [1, 2], [2, 2], seed=1)
    hold = engines.capability(A._engine, "row_reader")(np.ones((N, 24), np.uint8), "zerocopy")
    hold(np.arange(3))


def picks() -> None:
    """Run picks of entries, walks, sampled products and labels."""
    A, label = matrix(), gb.Vector.from_dense(np.arange(N) // 3)
    for how, replace in (("random", False), ("random", True), ("random_weighted", True), ("random_weighted", False)):
        ops.selectk(A, how, 2, range(N), replace=replace, seed=1).new()
    for k in (2, 1000):
        ops.selectk(A, "smallest", k).new()
    X = gb.Matrix.from_dense(np.ones((N, 1))).to("gpu")
    X.mxm(X.T, gb.semiring.plus_times).new(mask=A.S)
    ops.best_label(A, label, "plus_first").new()
    k = gb.Vector.from_dense(np.ones(N))
    for moves in (ops.move_labels, ops.join_labels):
        moves(A, label, "plus_first", k, 0.1).new()
    for dtype in ("FP64", "UINT32"):
        ops.sum_by_labels(A, label, "plus_pair", N, dtype).new()
    L = A.select("tril", -1).new()
    L.ewise_add(L.T, "first").new()
    ops.color_rows(A, label).new()
    ops.walk(A, [1, 2], 3, seed=1).new()
    engine_loops.follow(gb.Vector.from_dense([1, 2, 0]).to("gpu"), np.array([1, 2]), 3, lambda: None)


def compressed() -> None:
    """Run products of a matrix with compressed ids and its vertices in another order."""
    tall = gb.Matrix.from_coo(np.arange(2000) % 40, range(2000), 1.0, nrows=2000, ncols=2000)
    B = tall.to("gpu").compress("degree")
    w = B.mxv(gb.Vector.from_dense(np.ones(2000)), gb.semiring.plus_times).new()
    w.to_coo()
    B.to_coo()


def by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Launch kernels that the engine launches only for more entries or rounds than these matrices have."""
    rows = matrix()._store.rows
    few = np.zeros(-(-N // 32), np.uint32)
    counts = np.zeros(segments.count(rows.nvals), np.uint32)
    segments.touch(rows, Wanted(few), counts)
    segments.resident(rows, counts.astype(np.uint64))
    segments.copy(np.zeros(1, np.uint64), np.zeros(1, np.uint64), rows.indices, np.zeros(1 << 12, np.uint32))
    scan = row_runs.Scan(rows, Wanted(few))
    scan.before(np.arange(3))
    scan.offsets(row_runs.Stretch((0, 32), 0, 0, 0, 0), 0)
    typed = semiring.plus_times["FP64"]
    monkeypatch.setattr(presence_words, "positions", lambda *_: np.zeros(8, np.int64))
    case = typed, FP64, FP64, (rows.wide, rows.wide), (False, False), True
    for ordered in (False, True):
        row = spgemm_heavy_rows.HeavyRow(rows, rows, 0, spgemm_rows._count_prelude(rows.wide, rows.wide))
        row.fill(typed, spgemm_rows._fill_prelude(*case, 0), ordered, 0, np.zeros(8, np.uint32), np.zeros(8))
    sums = spgemm_dense.Sums.of(typed, True, rows)
    counting = spgemm_rows._count_prelude(rows.wide, rows.wide)
    dense = spgemm_dense.DenseRows.counted(rows, rows, sums, np.ones(N, np.bool_), np.ones(N, np.int64), counting)
    adding = spgemm_rows._fill_prelude(*case, 0)
    dense.fill(0, N, np.zeros(N + 1, np.int64), 0, adding, np.zeros(8, np.uint32), np.zeros(8))
    presence_words.count_frontier(few, N, rows.indptr)
    presence_words.count_wanted(rows.indptr, N, few, 0)
    made = Panel(3, False, VectorStore(BOOL, 3 * N))
    made.vector.make()
    searches = multi_source_bfs.Case(made, MaskBits(), np.zeros(3 * N, np.uint32))
    searches.launch("push", rows, np.ones(3, np.bool_))
    searches.launch("pull", rows, np.ones(3, np.bool_), NO_HEADS)
    shared = SharedStep(True, BOOL, rows, rows, made, MaskBits())
    shared.counted(few, N, np.zeros(2, np.int64), 1)
    searches.launch("both", rows, np.ones(3, np.bool_))
    whole = SharedSearches(rows, rows, made)
    whole.begin()
    whole.levels()
    bounds = np.array([0, N], np.int64)
    window, told = (np.zeros(nbytes // 8, np.uint64) for nbytes in peer_searches.memory(bounds))
    wide = Panel(64, False, VectorStore(BOOL, 64 * N))
    wide.vector.make()
    cards = peer_searches.Cards([window], 0, bounds, told, print, None)
    steps = peer_searches._Steps(SharedSearches(rows, rows, wide), cards, Setting(rows.nvals, 1.0, 0, True))
    for _ in range(2):
        steps.add()
    shared.put(*shared.listed(few, N, np.ones(1, np.int64), (np.zeros(2, np.int64), 1), False), 0, few)
    frontier, distance = (gb.Vector.from_dense(np.zeros(N)).to("gpu")._store for _ in range(2))
    pool = ArrayPool()
    for neutral in (None, gb.monoid.min["FP64"]):
        pool.give(np.zeros(N), few.copy(), neutral)
    graph_replay.Limit(distance, 1.0, 1.0, 9.0).turn(frontier, pool)
    graph_replay.Depth(0).turn(frontier, pool)
    monkeypatch.setattr(flow, "_opposite", lambda *_: np.zeros(rows.nvals, np.uint32))
    monkeypatch.setattr(flow._Batch, "run", lambda batch, _: batch._body())
    flows, tally = flow._Flow(None, rows, FP64), np.zeros((4, 2), np.uint64)
    flows.run("leave", N, source=0)
    flows.drain(0, 1)
    flows.push(tally, {"target": 0, "wall": 1})
    monkeypatch.setattr(bit_dots, "FEWEST", 1)
    counts_of_ids = {"allowed": 0, "sums": np.zeros(rows.nvals, np.int64), "bits": np.zeros(rows.nvals, np.uint32)}
    same = bit_dots.BitDots(rows, rows, INT64)
    same.launch((rows.indptr, rows.indices.read()), rows.wide, 0, np.ones(N, np.bool_), base=0, **counts_of_ids)
    monkeypatch.setattr(row_groups, "_ITEM", 32)  # so that row groups have several items
    rows.layouts[RowGroups].build(rows, Demand(rows.nvals, FP64))
    vector = VectorStore(FP64, N)
    case = spmv.Case(semiring.plus_second["FP64"], False, FP64, FP64, rows.form, None, FP64)
    kernels = tuple(spmv._kernel(rows.device, name, False, case) for name in ("row_groups", "row_sums"))
    rows.layouts[RowGroups].built.product(kernels, vector, 0, FP64, VectorStore(FP64, N))
    around = local_pagerank.local_pagerank(matrix()._store, np.zeros(1, np.int64), (0.1, 5e-6, 1e-10, 9, 3))
    assert around is not None
    around.ends(np.zeros(0, np.int64))


def loops() -> list[Callable[[], object]]:
    """Return algorithms whose rounds run in one launch."""
    path = gb.Matrix.from_coo([0, 1], [1, 2], 1, nrows=N, ncols=N)
    near = partial(path.to, "gpu", placement="device")
    return [
        lambda: gb.algorithms.bfs(near(), 0),
        lambda: gb.algorithms.sssp(near(), 0),
        lambda: gb.algorithms.connected_components(near()),
    ]


@pytest.fixture(scope="module")
def launches() -> Launches:
    """Return the names of the arguments of every kernel's launches."""
    found: Launches = {}
    wrong: list[str] = []
    ordered = Launcher._ordered

    def noted(self: Launcher, groups: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        try:
            arguments = ordered(self, groups, named)
        except TypeError as error:  # a rehearsal would ignore it
            wrong.append(str(error))
            raise
        found.setdefault(self.signature.kernel, set()).add((*map(type, groups), *named))
        return arguments

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Launcher, "_ordered", noted)
        some = [cases._statements, statements, panels, parts_of_panels, picks, hops, compressed, *loops()]
        rehearse([*some, lambda: column_blocked(patch)], to_the_end=True)
        before = cuda.use(Rehearsal())
        try:
            by_themselves(patch)
        finally:
            cuda.use(before)
    assert wrong == []
    return found


@pytest.mark.parametrize(("file", "name", "text"), list(texts()), ids=lambda x: x if len(x) < 40 else "")
def test_a_renamed_parameter_is_named(file: str, name: str, text: str, launches: Launches) -> None:
    launched = [(kernel, shapes) for kernel, shapes in launches.items() if kernel.endswith(f" ({file})")]
    mine = [pair for pair in launched if name == "KERNEL" or pair[0] == f"{name} ({file})"]
    assert mine, f"{name} of {file} was not launched"
    for kernel, shapes in mine:
        given = kernel.split(" ")[0]
        for shape in shapes:
            signature = Signature.parse(text, given, file)
            signature.order(shape)
            declared = re.search(rf"\b{name}\s*\(([^)]*)\)", text)
            assert declared is not None
            for parameter in signature.parameters:
                renamed = re.sub(rf"\b{parameter.name}\b(?=\s*(,|$))", "renamed", declared[1])
                other = text.replace(declared[1], renamed)
                with pytest.raises(TypeError, match=rf"{re.escape(kernel)} has no parameter '{parameter.name}'"):
                    Signature.parse(other, given, file).order(shape)


def comments(file: str, seen: set[str]) -> str:
    """Return the comments of a text and of the headers that it includes."""
    if file in seen:
        return ""
    seen.add(file)
    text = codegen.file_text(file)
    own = [line.split("//", 1)[1] for line in text.splitlines() if "//" in line]
    return "\n".join(own + [comments(name, seen) for name in re.findall(r'#include "([\w.]+)"', text)])


@pytest.mark.parametrize(("file", "name", "text"), list(texts()), ids=lambda x: x if len(x) < 40 else "")
def test_every_parameter_is_described(file: str, name: str, text: str) -> None:
    told = set(re.findall(r"\w+", comments(file, set()) + comments("portability.cuh", set())))
    assert [p.name for p in Signature.parse(text, name, file).parameters if p.name not in told] == []


def test_no_kernel_is_launched_that_has_no_text(launches: Launches) -> None:
    assert {kernel.split("(")[1] for kernel in launches} == {f"{file})" for file, _, _ in texts()}
