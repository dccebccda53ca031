"""Generated graphs: the same on all machines, undirected, without loops, with the degrees of their formula."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from sparsezc.io.build import generate
from sparsezc.memory import machine
from sparsezc.memory.csr import Csr
from tests.io.graphs import is_symmetric, load, same, scipy_of


def digest(csr: Csr) -> str:
    return hashlib.sha256(csr.indptr.tobytes() + csr.indices.read().astype("<u8").tobytes()).hexdigest()[:16]


@pytest.mark.parametrize("name", ["kron:10", "urand:10", "kron:7:40", "urand:7:1", "kron:1", "urand:2"])
def test_symmetric_without_loops_or_duplicates(name: str) -> None:
    csr = load(name)
    A = scipy_of(csr)  # checks the order of ids, and that none is twice in a row
    assert csr.symmetric
    assert is_symmetric(csr)
    assert not A.diagonal().any()


@pytest.mark.parametrize("name", ["kron:9", "urand:9", "kron:9?seed=1&weights=1-255"])
def test_chunks_of_any_size_make_the_same_graph(name: str) -> None:
    whole = generate.make(name, placement="host", xp=np, chunk=1 << 20)
    for chunk in (1, 1000, 8192, 8191):
        if chunk == 1 and "kron" in name:
            continue
        part = generate.make(name, placement="host", xp=np, chunk=chunk)
        assert digest(part) == digest(whole)
        np.testing.assert_array_equal(part.values.read(), whole.values.read())


@pytest.mark.parametrize("passes", [2, 3, 17])
def test_graphs_made_in_several_passes_are_the_same(passes: int) -> None:
    name = "kron:9?weights=1-255"
    whole, parts = (generate.make(name, placement="host", xp=np, passes=k) for k in (1, passes))
    assert digest(whole) == digest(parts)
    np.testing.assert_array_equal(whole.values.read(), parts.values.read())


def test_rows_end_at_the_largest_scale_too() -> None:
    keys = np.array([(2**32 - 3) << 32, (2**32 - 3) << 32 | 7, (2**32 - 1) << 32, 2**64 - 1], np.uint64)
    assert generate._ends(keys, 2**32 - 3, 2**32, np).tolist() == [2, 2, 4]


@pytest.mark.parametrize(("available", "passes"), [(8 * 10**9, 1), (400 * 10**6, 8), (0, 20)])
def test_little_memory_means_several_passes(monkeypatch: pytest.MonkeyPatch, available: int, passes: int) -> None:
    """Sorting takes 1.3 GB: one pass with 3.6 GB, 8 with 0.18 GB, and 20 with 0.067 GB, the least that is assumed."""
    monkeypatch.setattr(machine, "available", lambda: available)
    assert generate._passes(generate.parse("kron:20"), np) == passes


def test_the_graphs_are_the_same_in_every_release() -> None:
    """The digests never change: published figures depend on these graphs."""
    assert [digest(load(name)) for name in ("kron:12", "urand:12", "kron:12?seed=1")] == DIGESTS


DIGESTS = ["457f85d1c6b7ec1f", "4aba330eb2e5319a", "b4e21ba1da61a689"]


def test_another_seed_is_another_graph() -> None:
    assert len({digest(load(f"kron:8?seed={seed}")) for seed in range(5)}) == 5


def test_uniform_degrees_are_binomial() -> None:
    degrees = np.diff(load("urand:14").indptr)
    assert abs(degrees.mean() - 32) < 0.3
    assert abs(degrees.var() - 32) < 2.5


def test_kronecker_matches_the_reference_generator() -> None:
    """Edges, isolated vertices and the largest degree are near those of a plain R-MAT by NumPy's generator."""
    scale, rng = 14, np.random.default_rng(8)
    rows, cols = np.zeros((2, 16 << scale), np.int64)
    for _ in range(scale):
        quadrant = rng.choice(4, rows.size, p=[0.57, 0.19, 0.19, 0.05])
        rows, cols = 2 * rows + quadrant // 2, 2 * cols + quadrant % 2
    keep = rows != cols
    key = np.unique(np.r_[rows[keep] << scale | cols[keep], cols[keep] << scale | rows[keep]])
    degrees = np.bincount(key >> scale, minlength=1 << scale)
    csr = load(f"kron:{scale}")
    mine = np.diff(csr.indptr)
    assert abs(csr.nvals / key.size - 1) < 0.005
    assert abs((mine == 0).mean() - (degrees == 0).mean()) < 0.01
    assert abs(mine.max() / degrees.max() - 1) < 0.05


def test_ids_are_shuffled() -> None:
    """Hubs have evenly spread ids; without a shuffle theirs would be small, with few bits set."""
    degrees = np.diff(load("kron:14").indptr)
    halves = degrees.reshape(2, -1).sum(axis=1)
    assert 0.8 < halves[0] / halves[1] < 1.25
    hubs = np.argsort(-degrees)[:200]
    assert abs(hubs.mean() / (1 << 14) - 0.5) < 0.08
    assert abs(np.bitwise_count(hubs.astype(np.uint32)).mean() - 7) < 0.5


@pytest.mark.parametrize("scale", range(33))
def test_the_shuffle_is_a_bijection(scale: int) -> None:
    ids = np.arange(min(1 << scale, 1 << 16), dtype=np.uint32)
    found = generate._shuffle(ids, scale, 5, np)
    assert np.unique(found).size == ids.size
    assert int(found.max()) < 1 << scale


def test_regular_graphs() -> None:
    import networkx as nx

    same(load("path:5"), nx.to_scipy_sparse_array(nx.path_graph(5)).astype(bool))
    same(load("star:5"), nx.to_scipy_sparse_array(nx.star_graph(4)).astype(bool))
    grid = nx.grid_2d_graph(3, 4)
    same(load("grid:3x4"), nx.to_scipy_sparse_array(grid, nodelist=sorted(grid)).astype(bool))
    assert load("grid:1x1").nvals == load("star:1").nvals == load("path:1").nvals == 0


def test_weights_of_a_name_and_of_an_argument() -> None:
    by_name = load("kron:6?weights=1-9").values.read()
    np.testing.assert_array_equal(by_name, load("kron:6", weights="hash:1-9").values.read())
    assert load("kron:6?weights=1-9", weights=False).iso
    assert load("grid:3x3?weights=5-5").values.read().tolist() == [5] * 24


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["kron:16", "urand:16", "kron:12:3?seed=4&weights=1-255"])
def test_cupy_makes_the_same_graph_as_numpy(name: str) -> None:
    import cupy

    here, there = (generate.make(name, placement="host", xp=xp) for xp in (np, cupy))
    assert digest(here) == digest(there)
    np.testing.assert_array_equal(here.values.read(), there.values.read())
