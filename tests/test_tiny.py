"""The smallest end-to-end tests: debug these first."""

from __future__ import annotations

import numpy as np

import sparsezc as gb


def path() -> gb.Matrix:
    """Return a path 0 -> 1 -> 2 with weights 5 and 7, and an edge 0 -> 2 of weight 20."""
    return gb.Matrix.from_coo([0, 1, 0], [1, 2, 2], [5, 7, 20], nrows=3, ncols=3)


def test_a_matrix_keeps_what_it_was_given() -> None:
    A = path()
    rows, columns, values = A.to_coo()
    assert (A.nrows, A.ncols, A.nvals, A.dtype) == (3, 3, 3, "INT64")
    assert (rows.tolist(), columns.tolist(), values.tolist()) == ([0, 0, 1], [1, 2, 2], [5, 20, 7])


def test_one_step_of_shortest_paths() -> None:
    v = gb.Vector.from_coo([0], [0], size=3)
    w = gb.Vector(int, 3)
    w << v.vxm(path(), gb.semiring.min_plus)
    assert w.to_dict() == {1: 5, 2: 20}


def test_pull_is_push_on_the_transpose() -> None:
    v = gb.Vector.from_coo([0, 1], [1, 2], size=3)
    assert path().T.mxv(v).new().isequal(v.vxm(path()).new())


def test_a_mask_an_accumulator_and_replace() -> None:
    w = gb.Vector.from_coo([0, 1, 2], [100, 100, 100], size=3)
    m = gb.Vector.from_coo([1], [True], size=3)
    w(m.S, gb.binary.min) << gb.Vector.from_coo([0, 1], [1, 2], size=3)
    assert w.to_dict() == {0: 100, 1: 2, 2: 100}
    w(~m.S, replace=True) << 7
    assert w.to_dict() == {0: 7, 2: 7}


def test_a_whole_search() -> None:
    A, level = path(), gb.Vector("INT32", 3)
    frontier = gb.Vector(bool, 3)
    frontier[0] = True
    depth = 0
    while frontier.nvals:
        level(frontier.S) << depth
        frontier(~level.S, replace=True) << frontier.vxm(A, gb.semiring.any_pair)
        depth += 1
    assert level.to_dict() == {0: 0, 1: 1, 2: 1}


def test_elements_slices_and_reductions() -> None:
    v = gb.Vector(float, 4)
    v[:] = 1
    v[1] = 4
    v[[2, 3]] << 2.5
    del v[0]
    assert v.to_dense(fill_value=np.nan).tolist()[1:] == [4, 2.5, 2.5]
    assert v[1].value == 4
    assert v[2:4].new().nvals == 2
    assert 0 not in v
    assert v.reduce(gb.monoid.plus).new() == 9
