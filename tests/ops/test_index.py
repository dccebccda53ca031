"""Assign and extract: every form of index, with masks of the whole and of the assigned region."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graphblas
import numpy as np
import pytest

import sparsezc
from tests.ops.judge import Engine, judge, operands, target, ways

N = 7

#: Forms of an index of one dimension, and the number of its positions among N (None: a single position).
INDICES: dict[str, tuple[Any, int | None]] = {
    "one": (3, None),
    "one from the end": (-2, None),
    "a NumPy integer": (np.uint8(5), None),
    "all": (slice(None), N),
    "a slice": (slice(2, 6), 4),
    "a slice with a step": (slice(1, None, 3), 2),
    "a slice backwards": (slice(None, None, -1), N),
    "a slice backwards with a step": (slice(6, 0, -2), 3),
    "an empty slice": (slice(4, 2), 0),
    "an empty slice backwards": (slice(0, 4, -1), 0),
    "a list": ([5, 0, 2], 3),
    "a list from the end": ([-1, 0], 2),
    "an empty array": (np.empty(0, np.int64), 0),  # the judge refuses an empty list, which NumPy makes float
    "a sorted array": (np.array([1, 4, 6]), 3),
    "an unsigned array": (np.array([6, 1], np.uint32), 2),
}
BY_LIST = ("all", "a slice", "a slice backwards", "a list", "an empty slice", "a sorted array")


def vector(g: Any, size: int, dtype: str = "INT64") -> Any:
    """Return a vector without an entry at some positions."""
    at = [i for i in range(size) if i % 3 != 1]
    return g.Vector.from_coo(at, [10 + i for i in at], dtype, size=size)


def matrix(g: Any, nrows: int, ncols: int) -> Any:
    """Return a matrix without an entry at some positions."""
    at = [(i, j) for i in range(nrows) for j in range(ncols) if (i + 2 * j) % 3 != 1]
    rows, columns = [i for i, _ in at], [j for _, j in at]
    return g.Matrix.from_coo(rows, columns, [10 + i + j for i, j in at], "INT64", nrows=nrows, ncols=ncols)


@pytest.mark.parametrize("name", INDICES)
def test_extract_from_a_vector(name: str, engine: Engine) -> None:
    key, _ = INDICES[name]
    for seed in range(3):
        judge(lambda g, o: o.u[key].new(), operands(seed), engine, name)
        judge(lambda g, o: o.u[key].new("FP32"), operands(seed), engine, name)


@pytest.mark.parametrize("row", INDICES)
def test_extract_from_a_matrix(row: str, engine: Engine) -> None:
    for column in INDICES:
        i, j = INDICES[row][0], INDICES[column][0]
        judge(lambda g, o, i=i, j=j: o.A[i, j].new(), operands(1), engine, (row, column))
        judge(lambda g, o, i=i, j=j: o.A.T[i, j].new(), operands(2), engine, (row, column, "of the transpose"))


@pytest.mark.parametrize("name", INDICES)
def test_indices_in_pythons_terms(name: str) -> None:
    """``resolved_indexes.py_indices`` equals python-graphblas's, and selects the same positions in NumPy."""
    key, size = INDICES[name]
    ours, theirs = (g.Vector(int, N)[key].resolved_indexes.py_indices for g in (sparsezc, graphblas))
    assert type(ours) is type(theirs)
    assert np.array_equal(np.arange(N)[ours], np.arange(N)[key])
    if size:
        assert np.array_equal(ours, theirs)
        assert sparsezc.Matrix(int, 2, N)[1, key].resolved_indexes.py_indices[0] == 1


@pytest.mark.parametrize("name", INDICES)
def test_assign_to_a_vector(name: str, engine: Engine) -> None:
    """``w(mask)[I] << x``: the mask has w's size, and replace deletes outside the region, too."""
    key, size = INDICES[name]

    def statement(g: Any, o: Any, way: tuple[str, str, bool], scalar: bool) -> Any:
        value = 3 if scalar or size is None else vector(g, size)
        target(g, o.w, o.m, *way)[key] << value
        return o.w

    for seed, way in enumerate(ways()):
        for scalar in (True, False):
            judge(lambda g, o, w=way, s=scalar: statement(g, o, w, s), operands(seed), engine, (name, way, scalar))


@pytest.mark.parametrize("name", [name for name, (_, size) in INDICES.items() if size is not None])
def test_assign_with_a_mask_of_the_region(name: str, engine: Engine) -> None:
    """``w[I](mask) << x``: the mask has the region's size, and nothing outside changes."""
    key, size = INDICES[name]
    assert size is not None

    def statement(g: Any, o: Any, way: tuple[str, str, bool], scalar: bool) -> Any:
        part = g.Vector.from_coo(range(0, size, 2), [k % 4 for k in range(0, size, 2)], "INT8", size=size)
        value = 3 if scalar else vector(g, size)
        target(g, o.w[key], part, *way) << value
        return o.w

    for seed, way in enumerate(ways()):
        if way[0] != "none":
            for scalar in (True, False):
                judge(lambda g, o, w=way, s=scalar: statement(g, o, w, s), operands(seed), engine, (name, way, scalar))


@pytest.mark.parametrize("row", BY_LIST)
def test_assign_to_a_matrix(row: str, engine: Engine) -> None:
    """``C(mask)[I, J] << x`` and ``C[I, J](mask) << x`` with a matrix, its transpose or a number."""
    values: dict[str, Callable[[Any, int, int], Any]] = {
        "number": lambda g, m, n: 3,
        "matrix": matrix,
        "transpose": lambda g, m, n: matrix(g, n, m).T,
    }

    def statement(g: Any, o: Any, keys: Any, way: tuple[str, str, bool], value: str, of_region: bool) -> Any:
        (i, m), (j, n) = keys
        if of_region:
            target(g, o.C[i, j], matrix(g, m, n), *way) << values[value](g, m, n)
        else:
            target(g, o.C, o.M, *way)[i, j] << values[value](g, m, n)
        return o.C

    seed = 0
    for column in engine.sample(BY_LIST, row):
        keys = INDICES[row], INDICES[column]
        for way in (
            ("none", "none", False),
            ("none", "plus", False),
            ("structure", "none", True),
            ("not values", "min", False),
        ):
            for value in values:
                for of_region in (False, True) if way[0] != "none" else (False,):
                    seed += 1
                    judge(
                        lambda g, o, k=keys, w=way, v=value, r=of_region: statement(g, o, k, w, v, r),
                        operands(seed),
                        engine,
                        (row, column, way, value, of_region),
                    )


@pytest.mark.parametrize("name", [*BY_LIST, "one"])
def test_assign_to_one_row_or_column(name: str, engine: Engine) -> None:
    """A mask vector applies to that row or column alone, a mask matrix to the whole."""
    key, size = INDICES[name]

    def statement(g: Any, o: Any, way: tuple[str, str, bool], row: bool, mask: str, scalar: bool) -> Any:
        place = (2, key) if row else (key, 2)
        value = 3 if scalar or size is None else vector(g, size)
        if mask == "region":
            part = g.Vector.from_coo(range(0, size or 1, 2), 1, "INT8", size=size or 1)
            target(g, o.C[place], part, *way) << value
        else:
            target(g, o.C, o.m if mask == "vector" else o.M, *way)[place] << value
        return o.C

    for seed, way in engine.sample(enumerate(ways()), name):
        for row in (True, False):
            for mask in ("vector", "matrix", "region") if way[0] != "none" else ("vector",):
                for scalar in (True, False):
                    judge(
                        lambda g, o, a=(way, row, mask, scalar): statement(g, o, *a),
                        operands(seed),
                        engine,
                        (name, way, row, mask, scalar),
                    )


def test_delete(engine: Engine) -> None:
    def one(g: Any, o: Any) -> Any:
        del o.w[3]
        del o.C[2, 2]
        return o.w

    def some(g: Any, o: Any) -> Any:
        del o.w[[0, 4]]
        del o.w[5:]
        return o.w

    def empty(g: Any, o: Any) -> Any:
        o.w(o.m.S)[:] << g.Scalar("INT64")
        return o.w

    def of_a_matrix(g: Any, o: Any) -> Any:
        del o.C[1, :]
        del o.C[:, [0, 2]]
        return o.C

    for statement in (one, some, empty, of_a_matrix):
        for seed in range(4):
            judge(statement, operands(seed), engine, statement.__name__)


def test_arrays_are_assigned_like_vectors(engine: Engine) -> None:
    def to_vector(g: Any, o: Any) -> Any:
        o.w[1:4] << [7, 8, 9]
        o.w(o.m.S)[[0, 6]] = np.array([1, 2])
        return o.w

    def to_matrix(g: Any, o: Any) -> Any:
        o.C[0, :3] << [1, 2, 3]
        o.C[[1, 2], [3, 4]] = [[5, 6], [7, 8]]
        return o.C

    judge(to_vector, operands(1), engine)
    judge(to_matrix, operands(1), engine)


@pytest.mark.parametrize("dtype", ["FP32", "FP64", "FC64"])
def test_a_zero_with_a_sign_as_a_mask(dtype: str, engine: Engine) -> None:
    """SuiteSparse reads a mask's values as bits, so -0.0 is true; the GPU engine compares with zero, so it is false."""
    values = np.array([-0.0, 0.0, 1.0, np.nan])
    u = engine.put(sparsezc.Vector.from_coo([0, 1, 2, 4], values, dtype, size=6))
    w = engine.put(sparsezc.Vector(int, 6))
    w(u.V) << 7
    assert w.to_dict() == {**({0: 7} if engine.name == "cpu" else {}), 2: 7, 4: 7}
    w(u.dup("BOOL").V, replace=True) << 5  # a BOOL mask is the same on every engine
    assert w.to_dict() == {2: 5, 4: 5}


def test_masks_of_dup_new_and_diag(engine: Engine) -> None:
    statements: dict[str, Any] = {
        "dup": lambda g, o: o.u.dup(mask=o.m.S),
        "dup of another type": lambda g, o: o.u.dup("FP32", mask=~o.m.V),
        "dup of a matrix": lambda g, o: o.A.dup("INT8", mask=o.M.V),
        "dup, clear": lambda g, o: o.A.dup(clear=True),
        "new": lambda g, o: o.u.ewise_add(o.v).new("FP64", mask=o.m.V),
        "new of an index": lambda g, o: o.u[::-1].new(mask=~o.m.S),
        "new of the transpose": lambda g, o: o.A.T.new("FP64", mask=o.M.S),
        "diag above": lambda g, o: o.R.diag(1),
        "diag below": lambda g, o: o.R.diag(-3),
        "diag of the transpose": lambda g, o: o.R.T.diag(2, "FP64"),
        "diag outside": lambda g, o: o.A.diag(9),
        "diag of a vector": lambda g, o: o.u.diag(),
        "diag of a vector below": lambda g, o: o.u.diag(-2),
    }
    for name, statement in statements.items():
        for seed in range(3):
            judge(statement, operands(seed), engine, name)
