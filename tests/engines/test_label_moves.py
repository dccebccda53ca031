"""ops.move_labels, join_labels and sum_by_labels against loops over dictionaries, and SciPy."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from scipy.sparse import csr_array

import sparsezc as gb
from sparsezc import ops
from sparsezc.engines.cpu import label_moves, labels
from sparsezc.engines.cpu.label_sorting import Sorting
from sparsezc.engines.gpu.products import labels as gpu_labels

ENGINES = ["cpu", "sorting", "gpu"]


@pytest.fixture(params=ENGINES)
def put(request, monkeypatch):
    """Return a function that puts a matrix where it is multiplied."""
    if request.param == "sorting":
        for module in (labels, label_moves):
            monkeypatch.setattr(module, "loops", Sorting)
    if request.param == "gpu":
        request.getfixturevalue("gpu_here")
        # small tables, so that rows of some hundred entries are long ones
        monkeypatch.setattr(gpu_labels, "_TABLE_BYTES", 4096)
        return lambda A: A.to("gpu", placement="zerocopy")
    return lambda A: A


@pytest.fixture
def gpu_here(emulated):
    before = gb.device.cuda.use(emulated) if hasattr(gb, "device") else None
    yield
    if hasattr(gb, "device"):
        gb.device.cuda.use(before)


def network(n, seed, density, heavy=0):
    """A symmetric matrix of whole weights with loops, and the sums of its rows."""
    rng = np.random.default_rng(seed)
    W = np.where(rng.random((n, n)) < density, rng.integers(0, 4, (n, n)), 0)
    W[:heavy] = rng.integers(0, 4, (heavy, n))
    W = np.triu(W) + np.triu(W, 1).T
    i, j = np.nonzero(W)
    A = gb.Matrix.from_coo(i, j, W[i, j].astype(float), nrows=n, ncols=n)
    return W.astype(float), A, W.sum(axis=1).astype(float)


def chance(seed, rounds):
    """The turns of vertices in each round, in Python's integers."""
    drawn = np.random.default_rng(seed).integers(2**62, size=(64 if rounds > 1 else 1, 2), dtype=np.uint64).tolist()
    for a, b in drawn:
        a, b = 2 * a + 1, 2 * b + 1
        yield lambda v, a=a, b=b: (((h := v * a % 2**64) ^ h >> 32) * b % 2**64) >> 61


def moved(W, k, scale, label, seed):
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
        if count * 100 <= size:
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


@pytest.mark.parametrize(("n", "density", "heavy"), [(40, 0.15, 0), (150, 0.03, 2)])
def test_moves(put, n, density, heavy):
    for seed in (1, 2):
        W, A, k = network(n, seed, density, heavy)
        start = np.arange(n) if seed == 1 else np.random.default_rng(3).integers(0, n, n)
        found = ops.move_labels(
            put(A), gb.Vector.from_dense(start), "plus_first", gb.Vector.from_dense(k), 1 / k.sum(), seed=seed
        )
        assert found.new().to_dense().tolist() == moved(W, k, 1 / k.sum(), start, seed).tolist()
