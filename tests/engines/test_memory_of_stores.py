"""A store of the CPU engine is freed with its last reference, without Python's garbage collector."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import graphblas
import numpy as np
import pytest

import sparsezc as gb
from sparsezc import ops

N = 5_003  # the size of these tests' vectors, and of no others


@pytest.fixture(autouse=True)
def _without_the_collector() -> Iterator[None]:
    gc.collect()
    gc.freeze()  # objects that are left need not be scanned again
    gc.disable()
    yield
    gc.enable()


def living() -> int:
    """Return the number of objects of python-graphblas of this size that have content, including unreachable ones."""
    stores = (x for x in gc.get_objects() if type(x) in (graphblas.Vector, graphblas.Matrix) and x.shape[0] == N)
    return sum(x.gb_obj[0] != graphblas.core.ffi.NULL for x in stores)


def dense() -> gb.Vector:
    return gb.Vector.from_dense(np.arange(N) % 7 + 1.0)


def path() -> gb.Matrix:
    return gb.Matrix.from_coo([0, 1], [1, 0], 1.0, nrows=N, ncols=N)


def pairs() -> gb.Matrix:
    return gb.Matrix.from_dense(np.ones((2, 2)))


def panel(nrows: int = N) -> gb.Matrix:
    return gb.Matrix.from_dense(np.ones((nrows, 4)))


MADE: dict[str, Callable[[], Any]] = {
    "dense": dense,
    "dup": lambda: dense().dup("FP32"),
    "entries": lambda: gb.Vector.from_coo([1, 2], [3, 4], size=N),
    "one value": lambda: gb.Vector.from_coo([1, 2], 3, size=N),
    "statement": lambda: dense().apply("abs").new(),
    "iso": lambda: _over(gb.Vector.from_scalar(1.0, N), dense()),
    "under a mask": lambda: _under(dense(), dense()),
    "select": lambda: gb.Vector.from_coo([1, 2], [3, 4], "INT8", size=N).select("valuegt", 3).new(),
    "product": lambda: gb.Matrix.from_coo([0, 1], [1, 0], 1.0, nrows=N, ncols=N).mxv(dense()).new(),
    "no entries": lambda: gb.Matrix("FP64", N, N).mxv(dense()).new(),
    "matrix": lambda: gb.Matrix.from_dense(np.ones((N, 2))).T.new(),
    "picked": lambda: ops.selectk(path(), "first", 1).new(),
    "picked of the transpose": lambda: ops.selectk(path().T, "first", 1).new(),
    "sampled": lambda: ops.sampled_mxm(path(), panel(), panel(), panel(), "plus_times", "plus_times").new(),
    "two ways": lambda: ops.two_way_sampled_mxm(path(), panel(2 * N), "plus_times", "plus_times").new(),
    "two ways by values": lambda: ops.two_way_mxm(
        path(), gb.Matrix.from_dense(np.ones((2, 2))), panel(), "max_plus"
    ).new(),
    "dense product": lambda: panel().mxm(gb.Matrix.from_dense(np.ones((4, 4)))).new(),
    "best column": lambda: ops.best_column(path(), dense()).new(),
    "order of values": lambda: ops.argsort(dense()).new(),
    "corners": lambda: ops.count_corners(path(), path().T, path()).new(),
    "corners of a matrix to turn": lambda: ops.count_corners(path().T, path(), path().T).new(),
    "walks": lambda: gb.algorithms.random_walks(path(), np.arange(N), 3),
    "numbers": lambda: dense().to_dense(0.0),
}


def _over(w: gb.Vector, v: gb.Vector) -> gb.Vector:
    w << v.ewise_add(v, "plus")
    return w


def _under(w: gb.Vector, v: gb.Vector) -> gb.Vector:
    w(v.S, accum="plus") << v.ewise_mult(v, "times")
    return w


@pytest.mark.parametrize("how", MADE)
def test_nothing_is_left(how: str) -> None:
    MADE[how]()  # the engine keeps an empty vector of each recent size as a template
    before = living()
    made = MADE[how]()
    del made
    assert living() == before


def test_what_is_given_out_is_an_ordinary_object() -> None:
    """The ``ss`` of a returned object keeps the object alive, as in python-graphblas."""
    v = dense()
    for copy in (False, True):
        assert gb.to_graphblas(v, copy=copy).ss.nbytes > 8 * N
        home = gb.to_graphblas(v, copy=copy).ss
        assert home.export()["values"].size == N
    A = gb.Matrix.from_coo([0], [1], 5, nrows=2, ncols=2)
    for copy in (False, True):
        home = gb.to_graphblas(A, copy=copy).ss
        assert home.export("coor")["values"].tolist() == [5]


def test_an_iterator_and_a_config_outlive_their_names() -> None:
    assert list(dense().ss.itervalues())[:2] == [1.0, 2.0]
    assert dense().ss.config["bitmap_switch"] is not None
    gc.collect()
