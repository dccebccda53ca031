"""Components: a search finds the largest and trees the others; labels are right, and statements run where needed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph

import sparsezc as gb
from sparsezc.device import cuda
from sparsezc.engines.gpu.graphs import components
from sparsezc.memory import budget

Edges = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]
_OURS = ["hub", "search", "components"]


@pytest.fixture(autouse=True)
def long_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut rows of more than 64 entries into chunks."""
    monkeypatch.setattr(budget, "_SHORT", 64)


def edges(seed: int, n: int, *, directed: bool) -> Edges:
    """Return the edges of a component with hubs, another as large, a shuffled path, pairs, and isolated vertices."""
    rng = np.random.default_rng(seed)
    third = n // 3
    one, two = (third * rng.random((2, n)) ** 3).astype(int)
    number = rng.permutation(n)
    row = np.r_[one, third + two, np.arange(2 * third, n - 90), np.arange(n - 80, n - 40, 2)]
    column = np.r_[two, third + one, np.arange(2 * third, n - 90) + 1, np.arange(n - 80, n - 40, 2) + 1]
    row, column = number[row], number[column]
    return (row, column) if directed else (np.r_[row, column], np.r_[column, row])


def put(some: Edges, n: int, placement: str, *, directed: bool, transpose: bool = True) -> gb.Matrix:
    made = gb.Matrix.from_coo(*some, 1, nrows=n, ncols=n)
    if not directed:
        indptr, indices, values = made.to_csr()
        made = gb.Matrix.from_csr(indptr, indices, values, nrows=n, ncols=n, symmetric=True)
    return made.to("gpu", placement=placement, with_transpose=transpose)


def wanted(some: Edges, n: int) -> np.ndarray[Any, Any]:
    """Return the smallest vertex of each vertex's component, by SciPy."""
    number, label = csgraph.connected_components(sp.coo_array((np.ones(some[0].size), some), shape=(n, n)), False)
    smallest = np.full(number, n)
    np.minimum.at(smallest, label, np.arange(n))
    return smallest[label]


@pytest.mark.parametrize("levels", [0, 2, 32])
@pytest.mark.parametrize(
    ("placement", "heads", "rows_per_warp"),
    [
        ("device", "off", 32),
        ("device", "off", 1),
        ("zerocopy", "off", 32),
        ("zerocopy", "on", 32),
        ("zerocopy", "on", 1),
    ],
)
def test_labels(
    placement: str, heads: str, rows_per_warp: int, levels: int, gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels are right however early the search stops, and whichever way edges point."""
    monkeypatch.setattr(components, "LEVELS", levels)
    monkeypatch.setattr(budget, "LONG", 64)
    n = 700
    for directed, transpose in ((False, True), (True, True), (True, False)):
        some = edges(levels, n, directed=directed)
        getattr(gpu, "reset", bool)()  # an emulated device records its launches
        with gb.config.set(head_cache=heads, head_budget=8 * n, rows_per_warp=rows_per_warp):
            label = gb.algorithms.connected_components(put(some, n, placement, directed=directed, transpose=transpose))
        assert (str(label.dtype), label.nvals) == ("INT64", n)
        np.testing.assert_array_equal(label.to_dense(), wanted(some, n))
        if not (directed and transpose and placement == "zerocopy"):
            assert set(_OURS) <= set(getattr(gpu, "launches", _OURS))


@pytest.mark.parametrize("n", [1, 31, 33])
def test_few_vertices(n: int, gpu: Any) -> None:
    some = np.array([n - 1, n // 2]), np.array([n // 2, n - 1])
    label = gb.algorithms.connected_components(put(some, n, "device", directed=False)).to_dense()
    np.testing.assert_array_equal(label, wanted(some, n))


def test_three_launches_without_a_wait(emulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Edges in device memory or row heads take three launches; reordered, compressed or partly resident rows do not."""
    some, n = edges(5, 700, directed=False), 700
    before, waits = cuda.use(emulated), []
    asnumpy = type(emulated).asnumpy
    try:
        with gb.config.set(head_cache="on"):
            near, far = (put(some, n, where, directed=False) for where in ("device", "zerocopy"))
            for A in (near, far):
                gb.algorithms.connected_components(A)  # a search builds the heads
            monkeypatch.setattr(type(emulated), "asnumpy", lambda self, array: waits.append(1) or asnumpy(self, array))
            for A in (near, far):
                emulated.reset()
                gb.algorithms.connected_components(A)
                assert emulated.launches == _OURS
        assert waits == []
        order = np.random.default_rng(2).permutation(n)
        for A in (near.reorder(order), far.compress(), put(some, n, "hybrid", directed=False)):
            emulated.reset()
            np.testing.assert_array_equal(gb.algorithms.connected_components(A).to_dense(), wanted(some, n))
            assert not set(_OURS) & set(emulated.launches)
    finally:
        cuda.use(before)
