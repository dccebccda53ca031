"""Picked entries, walks and best columns are equal on both engines to the bit in every placement, by few requests."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc import ops
from sparsezc.core import engine_loops
from sparsezc.core.placement import feature_rows
from sparsezc.engines.gpu.sampling import selectk, walks
from sparsezc.expr.engines import stepping
from sparsezc.memory import budget
from sparsezc.semirings.types.datatypes import lookup
from tests.gpu.placements.test_placement_grid import KINDS, PLACEMENTS, placed
from tests.ops.judge import Arrays, make

N = 90
HOW = ["random", "random_weighted", "first", "last", "largest", "smallest"]


def entries(seed: int = 0, dtype: str = "FP64", iso: bool = False) -> Arrays:
    """Return a square matrix with a full row, an empty row, and weights from 1 to 1e6, some of them 0."""
    rng = np.random.default_rng(seed)
    present = rng.random((N, N)) < 0.2 * rng.random((N, 1))
    present[7], present[9] = True, False
    i, j = np.nonzero(present)
    values = np.exp((4 if dtype == "INT8" else 13) * rng.random(i.size) ** 3) * (rng.random(i.size) < 0.9)
    return Arrays(i, j, np.asarray(2) if iso else values.astype(lookup(dtype).np_type), (N, N), dtype)


@pytest.fixture
def lay(gpu: Any, small_pieces: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that places a matrix; pieces and blocks are so small that a test's rows take several."""
    monkeypatch.setattr(selectk, "_PIECE", 64)
    return lambda placement, kind, x: placed(placement, tmp_path, KINDS[kind]).put(x)


Lay = Callable[[str, str, Any], Any]


@pytest.mark.parametrize("kind", ["plain", "wide ids", "iso"])
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_picks_are_equal_everywhere(placement: str, kind: str, lay: Lay, gpu: Any) -> None:
    A = make(gb, entries(iso=kind == "iso"))
    B, rows = lay(placement, kind, A), np.random.default_rng(1).integers(0, N, 120)
    for how in HOW:
        for replace in (False, True) if how.startswith("random") else (False,):
            for k in (0, 1, 6, 40, 64, 300) if (placement, kind) == ("zerocopy", "plain") else (6,):
                for listed in (None, rows):
                    expected = ops.selectk(A, how, k, listed, replace=replace, seed=5).new()
                    made = ops.selectk(B, how, k, listed, replace=replace, seed=5).new()
                    assert made.isequal(expected, check_dtype=True), (how, replace, k, listed is None)


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "UINT64", "INT64", "FP32"])
def test_picks_of_every_sort_of_value(dtype: str, lay: Lay) -> None:
    A = make(gb, entries(dtype=dtype))
    B = lay("zerocopy", "plain", A)
    for how in ("largest", "smallest", "random_weighted"):
        for k in (3, 200):
            assert ops.selectk(B, how, k, seed=1).new().isequal(ops.selectk(A, how, k, seed=1).new())
    for M in (A, B):
        assert ops.selectk(M.T, "largest", 2).new().isequal(ops.selectk(A.T.new(), "largest", 2).new())


def test_what_does_not_fit_is_made_in_blocks(lay: Lay, gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    A = make(gb, entries())
    B = lay("zerocopy", "plain", A)
    with gb.config.set(budget=budget.working_bytes(N) + 3000):
        for how, k, replace in (
            ("random", 6, False),
            ("largest", 6, False),
            ("random", 5, True),
            ("largest", 300, False),
        ):
            expected = ops.selectk(A, how, k, seed=5, replace=replace).new()
            assert ops.selectk(B, how, k, seed=5, replace=replace).new().isequal(expected)
        starts = np.arange(N)
        assert ops.walk(B, starts, 9, seed=2).new().isequal(ops.walk(A, starts, 9, seed=2).new())


#: Options of walks, by name.
WALKS: dict[str, dict[str, Any]] = {
    "alike": {},
    "by value": {"weights": "values"},
    "node2vec": {"p": 0.25, "q": 4.0},
    "node2vec that turns back": {"p": 2.0**-20, "q": 2.0**20},
    "node2vec that hardly moves": {"p": 2.0**15, "q": 2.0**20},
    "node2vec by value": {"weights": "values", "p": 3.0, "q": 0.5},
    "by column": {"weights": "scores"},
    "node2vec by column": {"weights": "scores", "p": 3.0, "q": 0.5},
}


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_walks_are_equal_everywhere(placement: str, name: str, lay: Lay) -> None:
    given, rng = dict(WALKS[name]), np.random.default_rng(3)
    A, starts = make(gb, entries()), rng.integers(0, N, 100)
    scores = gb.Vector.from_coo(np.arange(0, N, 2), rng.random(N // 2) ** 9, size=N)
    kinds = ["plain"] if placement not in ("device", "zerocopy") else ["plain", "wide ids"]
    for kind in kinds:
        B = lay(placement, kind, A)
        made = []
        for M, s in ((A, scores), (B, scores.to("gpu"))):
            options = given | ({"weights": s} if given.get("weights") == "scores" else {})
            made.append(ops.walk(M, starts, 8, seed=4, **options).new())
        assert made[0].nvals > 150
        assert made[1].isequal(made[0], check_dtype=True)


@pytest.mark.parametrize("order", ["degree", "natural"])
def test_of_vertices_in_another_order(order: str, lay: Lay) -> None:
    A = make(gb, entries())
    B = A.to("gpu").compress(order)
    assert ops.walk(B, np.arange(N), 8, seed=4).new().isequal(ops.walk(A, np.arange(N), 8, seed=4).new())
    assert ops.selectk(B, "random", 4, seed=4).new().isequal(ops.selectk(A, "random", 4, seed=4).new())
    scores = gb.Vector.from_dense(np.random.default_rng(2).integers(0, 5, N))
    assert ops.best_column(B, scores.to("gpu")).new().isequal(ops.best_column(A, scores).new())


@pytest.mark.parametrize("dtype", ["INT8", "UINT64", "FP64", "BOOL"])
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_best_columns_are_equal_everywhere(placement: str, dtype: str, lay: Lay) -> None:
    A, rng = make(gb, entries()), np.random.default_rng(3)
    v = gb.Vector.from_coo(np.arange(0, N, 2), rng.integers(-4, 5, N // 2) if dtype[0] in "IF" else
                           rng.integers(0, 5, N // 2), dtype, size=N)  # fmt: skip
    expected, B = ops.best_column(A, v).new(), lay(placement, "plain", A)
    assert ops.best_column(B, v.to("gpu")).new().isequal(expected, check_dtype=True)
    assert ops.best_column(B.T, v.to("gpu")).new().isequal(ops.best_column(A.T, v).new())
    dense, scores = A.apply("one").new("BOOL").to_dense(fill_value=False), v.to_dict()
    for i in range(N):
        met = [j for j in np.flatnonzero(dense[i]).tolist() if j in scores]
        best = min(met, key=lambda j: (-int(scores[j]), j)) if met else None
        assert expected.get(i) == best


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("accum", [None, gb.binary.plus])
def test_results_are_written_as_any_are(accum: Any, replace: bool, lay: Lay) -> None:
    """Results are written by mask, accumulator and replace, into other types and into operands."""
    A, old = make(gb, entries()), make(gb, entries(1))
    M, v = make(gb, entries(2)), gb.Vector.from_dense(np.random.default_rng(0).integers(0, 9, N))
    made = []
    for put in (lambda x: x.dup(), lambda x: lay("zerocopy", "plain", x)):
        B, C, mask, u = map(put, (A, old, M, v))
        picked, best = C.dup("INT32"), put(gb.Vector.from_dense(np.arange(N)))
        walks = put(gb.Matrix("FP64", N, 4))
        C(mask.V, accum=accum or gb.binary.second, replace=replace) << ops.selectk(B, "largest", 4)
        picked(~mask.S, replace=replace) << ops.selectk(B, "random", 4, seed=1)
        walks << ops.walk(B, np.arange(N), 3, seed=1)
        B << ops.selectk(B, "smallest", 4)
        best(u.V, replace=replace) << ops.best_column(B, u)
        made.append([C, picked, walks, B, best])
    for here, there in zip(*made, strict=True):
        assert here.nvals > 0
        assert there.isequal(here, check_dtype=True)


def test_nothing_falls_back(lay: Lay) -> None:
    B = lay("zerocopy", "plain", make(gb, entries()))
    with warnings.catch_warnings():
        warnings.simplefilter("error", gb.exceptions.PerformanceWarning)
        gb.algorithms.sample_neighbors(B, [1, 7], 3, seed=1)
        gb.algorithms.random_walks(B, [1, 7], 3, weighted=True, p=2, q=2, seed=1)
        gb.algorithms.graph_search(B, [1, 7], gb.Vector.from_dense(np.arange(N)).to("gpu"), 3, "greedy")


def followed(v: Any, starts: list[int], length: int) -> list[list[int]]:
    """Return walks along a vector of positions, computed by the rule's definition; -1 after their ends."""
    known = v.to_dict()
    walks = []
    for at in starts:
        walk = [at]
        while len(walk) <= length:
            walk.append(known.get(walk[-1], -1))
        walks.append(walk)
    return walks


@pytest.mark.parametrize("share", [1.0, 0.8, 0.0])
@pytest.mark.parametrize("length", [0, 1, 7])
def test_walks_along_a_vector(length: int, share: float, gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    some = np.flatnonzero(rng.random(N) < share)
    v = gb.Vector.from_coo(some, rng.integers(0, N, some.size), size=N).to("gpu")
    for starts in (rng.integers(0, N, 150), np.empty(0, np.int64)):
        for most in (10**6, 7):  # walks a launch
            monkeypatch.setattr(walks, "_ranges", lambda count, _, most=most: [
                (at, min(at + most, count)) for at in range(0, count, most)] or [(0, 0)])  # fmt: skip
            called: list[int] = []
            made = engine_loops.follow(v, starts, length, lambda: called.append(1))  # noqa: B023
            assert called == [1]
            assert made.to_dense(fill_value=-1).tolist() == followed(v, starts.tolist(), length)
            assert made.nvals == sum(at >= 0 for walk in followed(v, starts.tolist(), length) for at in walk)


def test_greedy_search_by_the_vector_and_by_its_pointers(gpu: Any) -> None:
    A, scores = make(gb, entries()), gb.Vector.from_dense(np.random.default_rng(1).random(N))
    del scores[7]
    B = A.to("gpu", placement="zerocopy")
    expected = gb.algorithms.graph_search(A, np.arange(N), scores, 5, "greedy")
    assert gb.algorithms.graph_search(B, np.arange(N), scores.to("gpu"), 5, "greedy").isequal(expected)
    with stepping(B._engine):
        assert gb.algorithms.graph_search(B, np.arange(N), scores.to("gpu"), 5, "greedy").isequal(expected)
        scores[9] = np.nan
    with pytest.raises(gb.exceptions.InvalidValue, match="scores has NaN"):
        gb.algorithms.graph_search(B, [3], scores.to("gpu"), 5, "greedy")


@pytest.mark.parametrize("replace", [False, True])
def test_bad_weights_are_refused(replace: bool, lay: Lay) -> None:
    for value in (-1.0, np.nan, np.inf):
        A = gb.Matrix.from_coo([0, 0], [1, 2], [1.0, value], nrows=4, ncols=4)
        for M in (A, lay("zerocopy", "plain", A)):
            with pytest.raises(gb.exceptions.InvalidValue, match="negative, NaN or infinite"):
                ops.selectk(M, "random_weighted", 1, replace=replace).new()


# Requests to host memory


def asked(counting: Any, call: Callable[[], Any]) -> tuple[Any, Any]:
    counting.reset()
    call()
    return counting.total(0), counting.total(1)


def rows_of(d: int, count: int, values: Any) -> gb.Matrix:
    """Return a zero-copy matrix of `count` rows of `d` entries."""
    columns = np.sort(np.random.default_rng(0).random((count, 4 * d)).argsort(axis=1)[:, :d], axis=1)
    A = gb.Matrix.from_coo(np.repeat(np.arange(count), d), columns.ravel(), values, ncols=4 * d)
    return A.to("gpu", placement="zerocopy")


def test_picks_read_what_they_pick(counting: Any) -> None:
    """A pick takes no more requests than entries, nor than lines of short rows; values are read only to compare them.

    Entries that are copied by their size count as values.
    """
    for d, k in ((1000, 5), (20, 10), (20, 20)):
        B = rows_of(d, 64, 1)
        ids, picked = asked(counting, lambda B=B, k=k: ops.selectk(B, "random", k, seed=1).new())
        lines = 64 * 4 * d / 128
        assert ids.loads == 0
        assert picked.useful_bytes == 4 * 64 * k
        assert picked.count <= min(64 * k, 2 * lines + 64 * k / 32)
    B = rows_of(1000, 32, np.random.default_rng(1).random(32_000))
    streamed = asked(counting, lambda: ops.selectk(B, "largest", 5).new())[1]
    assert streamed.useful_bytes == 8 * 32 * 1000 + (8 + 4) * 32 * 5
    assert streamed.count <= 1.1 * 8 * 32 * 1000 / 128 + 2 * 32 * 5


def test_a_step_is_a_request(counting: Any) -> None:
    A = gb.io.read("kron:9").select("offdiag").new().to("gpu", placement="zerocopy")
    starts = np.flatnonzero(np.diff(A.to_csr()[0].astype(int)))
    made: list[Any] = []
    ids, values = asked(counting, lambda: made.append(ops.walk(A, starts, 6, seed=1).new()))
    steps = made[0].nvals - starts.size
    assert ids.useful_bytes == 4 * steps
    assert ids.count <= steps
    assert values.loads == 0
    with gb.stats.collect() as moved:
        ops.walk(A, starts, 6, seed=1).new()
    assert 0 < moved.requests <= steps


def test_greedy_search_reads_the_edges_once(counting: Any) -> None:
    A = gb.io.read("kron:9").to("gpu", placement="zerocopy")
    scores = gb.Vector.from_dense(np.random.default_rng(0).random(A.nrows)).to("gpu")
    starts = np.arange(A.nrows)
    with gb.config.set(head_cache="off"):
        few, _ = asked(counting, lambda: gb.algorithms.graph_search(A, starts, scores, 1, "greedy"))
        many, _ = asked(counting, lambda: gb.algorithms.graph_search(A, starts, scores, 50, "greedy"))
    assert few.useful_bytes <= 1.2 * 4 * A.nvals
    assert many.useful_bytes == few.useful_bytes


@pytest.mark.parametrize("nbytes", [1, 6, 512])
@pytest.mark.parametrize("placement", ["device", "zerocopy"])
def test_rows_of_features_are_read_where_they_are(gpu: Any, placement: str, nbytes: int) -> None:
    rng = np.random.default_rng(nbytes)
    A, X = gb.io.read("kron:6").to("gpu", placement="device"), rng.integers(0, 256, (64, nbytes), np.uint8)
    at = rng.integers(0, 64, 100)  # unsorted, with repetitions
    read = feature_rows(A, X, placement)
    assert read is not None
    np.testing.assert_array_equal(gpu.asnumpy(read(gpu.xp.asarray(at))), X[at])
