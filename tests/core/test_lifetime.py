"""Matrices can fill most of memory: they are freed with their last reference, not by the garbage collector."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import sparsezc as gb

USES: dict[str, Callable[[gb.Matrix], Any]] = {
    "transpose": lambda A: A.T.mxv(gb.Vector.from_scalar(1, A.nrows), "plus_times").new(),
    "transpose twice": lambda A: A.T.T is A and A.T.T.nvals,
    "product": lambda A: gb.semiring.plus_times(A @ A.T).new(),
    "mask": lambda A: A.dup(mask=~A.V),
    "update": lambda A: A(A.S, gb.binary.plus).__lshift__(A.T),
    "text": lambda A: (repr(A), A._repr_html_()),
    "statistics": lambda A: (A.ss.format, A.bits_per_id),
    "expression": lambda A: A.reduce_rowwise("plus"),
    "search": lambda A: gb.algorithms.bfs(A, 1),
    "ranks": lambda A: gb.algorithms.pagerank(A),
    "components": lambda A: gb.algorithms.connected_components(A),
    "betweenness": lambda A: gb.algorithms.betweenness_centrality(A, sources=[1, 5]),
    "triangles": lambda A: gb.algorithms.triangles(A),
}


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.freeze()  # objects that are left need not be scanned again
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("use", USES)
def test_a_matrix_goes_with_its_last_name(use: str) -> None:
    with gb.config.set(engine="cpu"):
        A = gb.io.read("kron:6", weights="1-9")
        alive = weakref.ref(A)
        USES[use](A)
        del A
        assert alive() is None


def test_a_transpose_holds_its_matrix() -> None:
    transpose = gb.Matrix.from_coo([0], [1], [5], nrows=2, ncols=3).T
    assert transpose.T.T is transpose
    assert [array.tolist() for array in transpose.new().to_coo()] == [[1], [0], [5]]
    assert transpose.shape == (3, 2)
