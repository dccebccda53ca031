"""ops.move_labels, join_labels and sum_by_labels equal loops over dictionaries, and SciPy."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from scipy.sparse import csr_array

import sparsezc as gb
from sparsezc import ops
from sparsezc.device import cuda
from sparsezc.engines.cpu.labels import moves, weights
from sparsezc.engines.cpu.labels.numpy_loops import Sorting
from sparsezc.engines.gpu.products import labels as gpu_labels


def forget():
    """Drop cached preludes, which contain the size of tables."""
    gpu_labels.types.cache_clear()
    gpu_labels.prelude.cache_clear()


@pytest.fixture(params=["cpu", "without numba", "gpu"])
def put(request, monkeypatch):
    """Return a function that puts a matrix on the engine of this test."""
    if request.param == "gpu":
        before = cuda.use(request.getfixturevalue("emulated"))
        # small tables: rows of a hundred entries count as long, and those of 400 need several parts
        monkeypatch.setattr(gpu_labels, "_TABLE_BYTES", 1024)
        forget()
        yield lambda A: A.to("gpu", placement="zerocopy")
        cuda.use(before)
        forget()
        return
    if request.param == "without numba":
        for module in (weights, moves):
            monkeypatch.setattr(module, "loops", Sorting)
    yield lambda A: A


def network(n, seed, density, heavy=0):
    """Return a symmetric matrix of whole weights with loops, dense and sparse, and the sums of its rows."""
    rng = np.random.default_rng(seed)
    W = np.where(rng.random((n, n)) < density, rng.integers(0, 4, (n, n)), 0)
    W[:heavy] = rng.integers(0, 4, (heavy, n))
    W = np.triu(W) + np.triu(W, 1).T
    i, j = np.nonzero(W)
    A = gb.Matrix.from_coo(i, j, W[i, j].astype(float), nrows=n, ncols=n)
    return W.astype(float), A, W.sum(axis=1).astype(float)


def chance(seed, rounds):
    """Yield for each round a function that returns a vertex's turn, in Python's integers."""
    drawn = np.random.default_rng(seed).integers(2**62, size=(64 if rounds > 1 else 1, 2), dtype=np.uint64).tolist()
    for a, b in drawn:
        a, b = 2 * a + 1, 2 * b + 1
        yield lambda v, a=a, b=b: (((h := int(v) * a % 2**64) ^ h >> 32) * b % 2**64) >> 61


def moved(W, k, scale, label, seed, least=0.01):
    label, n = label.copy(), len(k)
    s = np.bincount(label, k, n)
    active = k > 0
    size = active.sum()
    for turn_of in chance(seed, 64):
        count = 0
        for turn in range(8):
            to = {}
            for i in [i for i in np.flatnonzero(active).tolist() if turn_of(i) == turn]:
                active[i] = False
                e = defaultdict(float, {label[i]: 0.0})
                for j in np.flatnonzero(W[i]):
                    if j != i:
                        e[label[j]] += W[i, j]
                score = {c: x - scale * k[i] * (s[c] - k[i] if c == label[i] else s[c]) for c, x in e.items()}
                best = max(score.values())
                if score[label[i]] < best:
                    to[i] = min(c for c in score if score[c] == best)
            for i, c in to.items():
                s[label[i]] -= k[i]
                s[c] += k[i]
                label[i] = c
            for i in to:
                active[[j for j in np.flatnonzero(W[i]) if j != i]] = True
            if len(to) > size // 32:
                active[:] = True
            count += len(to)
        if count <= least * size:
            return label
    return label


def joined(W, k, scale, group, seed):
    n = len(k)
    label, s, whole = np.arange(n), k.copy(), np.bincount(group, k, n)
    same = (group[:, None] == group) & ~np.eye(n, dtype=bool)
    inside = (W * same).sum(axis=1)
    free = (inside > 0) & (inside - (whole[group] - k) * k * scale >= 0)
    (turn_of,) = chance(seed, 1)
    for turn in range(8):
        to = {}
        for i in [i for i in np.flatnonzero(free).tolist() if turn_of(i) == turn]:
            e = defaultdict(float)
            for j in np.flatnonzero(W[i] * same[i]):
                e[label[j]] += W[i, j]
            best, choice = 0.0, i
            for c in sorted(e):
                members = label == c
                cut = (W * same)[members][:, ~members].sum()
                waits = free[c] and turn_of(c) == turn
                if not waits and cut - (whole[group[i]] - s[c]) * s[c] * scale >= 0:
                    score = e[c] - scale * k[i] * s[c]
                    if score > best:
                        best, choice = score, c
            if choice != i:
                to[i] = choice
        for i, c in to.items():
            s[i] -= k[i]
            s[c] += k[i]
            label[i] = c
            free[[i, c]] = False
    return label


@pytest.mark.parametrize(("n", "density", "heavy"), [(40, 0.15, 0), (400, 0.02, 2)])
def test_moves_and_joins(put, n, density, heavy):
    for seed in (1, 2):
        W, A, k = network(n, seed, density, heavy)
        start = np.arange(n) if seed == 1 else np.random.default_rng(3).integers(0, n, n)
        A, by, scale = put(A), gb.Vector.from_dense(k), 1 / k.sum()
        found = ops.move_labels(A, gb.Vector.from_dense(start), "plus_first", by, scale, seed=seed).new()
        judged = moved(W, k, scale, start, seed)
        assert found.to_dense().tolist() == judged.tolist()
        parts = ops.join_labels(A, found, "plus_first", by, scale / 4, seed=seed).new().to_dense()
        assert parts.tolist() == joined(W, k, scale / 4, judged, seed).tolist()
        assert (judged[parts] == judged).all()


def test_entries_that_count_as_one(put):
    W, A, _ = network(60, 4, 0.1)
    ones = (W > 0).astype(float)
    k = ones.sum(axis=1)
    for dtype in ("BOOL", "UINT32"):
        B = A.apply("one").new(dtype)
        op = "plus_pair" if dtype == "BOOL" else "plus_first"
        given = gb.Vector.from_dense(np.arange(60)), op, gb.Vector.from_dense(k), 0.01
        found = ops.move_labels(put(B), *given, seed=7).new().to_dense()
        assert found.tolist() == moved(ones, k, 0.01, np.arange(60), 7).tolist()


def test_a_round_of_few_moves_is_the_last(put):
    W, A, k = network(120, 4, 0.06)
    start, ends = np.arange(120), []
    for least in (1.0, 0.3, 0.0):
        given = gb.Vector.from_dense(start), "plus_first", gb.Vector.from_dense(k), 1 / k.sum()
        found = ops.move_labels(put(A), *given, seed=3, least=least).new().to_dense()
        assert found.tolist() == moved(W, k, 1 / k.sum(), start, 3, least).tolist()
        ends.append(found.tolist())
    assert ends[0] != ends[1] != ends[2]


def test_given_turns(put):
    """Without a penalty, when no vertex moves any more, each has a label that most of its neighbours have."""
    W, A, _ = network(60, 5, 0.06)
    turn = gb.algorithms.greedy_color(A, seed=1)
    given = gb.Vector.from_dense(np.arange(60)), "plus_first"
    label = ops.move_labels(put(A), *given, turn=turn).new().to_dense()
    np.fill_diagonal(W, 0)
    votes = W @ (label[:, None] == np.arange(60))
    assert (votes[np.arange(60), label] == votes.max(axis=1)).all()
    assert np.unique(label).size < 60


@pytest.mark.parametrize(("n", "density", "heavy", "count"), [(40, 0.2, 0, 3), (400, 0.02, 2, 40), (400, 0.02, 2, 100)])
def test_sums(put, n, density, heavy, count):
    """Few labels have an array for all pairs, many a hash table."""
    W, A, _ = network(n, 6, density, heavy)
    W[0] = 0
    A << A.select("rowgt", 0)  # the matrix need not be symmetric
    label = np.random.default_rng(7).integers(0, count + 2, n).clip(max=n - 1)  # those of count or more are not counted
    P = csr_array((np.ones(n), (np.arange(n), label)), shape=(n, n))
    A = put(A)
    for op, of in (("plus_first", W), ("plus_pair", (W > 0).astype(float))):
        judged = (P.T @ of @ P)[:count, :count]
        for dtype in ("FP64", "UINT32"):
            found = ops.sum_by_labels(A, gb.Vector.from_dense(label), op, count, dtype).new()
            assert found.dtype == dtype
            assert found.nvals == np.count_nonzero(judged)
            assert (found.to_dense(fill_value=0) == judged).all()


def test_sums_a_few_labels_at_a_time(gpu):
    """Where a table of all pairs would not fit, ranges of labels are done one after another."""
    _, A, _ = network(300, 8, 0.05)
    label = gb.Vector.from_dense(np.random.default_rng(9).integers(0, 200, 300))
    whole = ops.sum_by_labels(A, label, "plus_first", 200).new()
    there = A.to("gpu", placement="zerocopy")
    with gb.config.set(budget=100_000):
        assert ops.sum_by_labels(there, label, "plus_first", 200).new().to("cpu").isequal(whole)


def test_nothing_there(put):
    for n in (0, 3):
        A, k = put(gb.Matrix("FP64", n, n)), gb.Vector.from_scalar(0.0, n)
        label = gb.Vector.from_dense(np.arange(n))
        for found in (
            ops.move_labels(A, label, "plus_pair", k, 1.0), ops.move_labels(A, label, "plus_first", turn=label),
            ops.join_labels(A, label, "plus_first", k, 1.0),
        ):  # fmt: skip
            assert found.new().to_dense().tolist() == list(range(n))
        assert ops.sum_by_labels(A, label, "plus_pair", n).new().nvals == 0


def test_bad_operands():
    A, label, k = gb.Matrix("FP64", 2, 2), gb.Vector.from_dense([0, 1]), gb.Vector.from_dense([1.0, 1.0])
    with pytest.raises(gb.exceptions.DimensionMismatch, match="2 x 3"):
        ops.move_labels(gb.Matrix("FP64", 2, 3), label, "plus_pair", k, 1.0)
    with pytest.raises(TypeError, match=r"k is .* FP64 is needed"):
        ops.join_labels(A, label, "plus_pair", label, 1.0)
    with pytest.raises(TypeError, match=r"turn is .* INT64 is needed"):
        ops.move_labels(A, label, "plus_pair", turn=k)
    with pytest.raises(gb.exceptions.InvalidValue, match=r"count is 3; 0 .. 2 are needed"):
        ops.sum_by_labels(A, label, "plus_pair", 3)
    with pytest.raises(gb.exceptions.InvalidValue, match="dtype is INT8; FP64 or UINT32"):
        ops.sum_by_labels(A, label, "plus_pair", 2, "INT8")
    late = ops.sum_by_labels(A, label, "plus_pair", 2)
    A.resize(1, 1)
    with pytest.raises(gb.exceptions.DimensionMismatch, match="resized"):
        late.new()
