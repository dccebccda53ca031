"""Matrices whose vertices lie in another order: users never see it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsezc as gb

N = 300


def graph(*, symmetric: bool) -> gb.Matrix:
    rng = np.random.default_rng(5)
    present = rng.random((N, N)) < 0.03
    if symmetric:
        present |= present.T
    rows, columns = np.nonzero(present)
    values = (rows + 1) * (columns + 1) % 251 + 1
    return gb.Matrix.from_coo(rows, columns, values, "INT32", nrows=N, ncols=N)


@pytest.mark.parametrize("symmetric", [True, False], ids=["symmetric", "directed"])
@pytest.mark.parametrize("placement", ["device", "hybrid"])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "compressed"])
def test_answers_are_in_the_users_numbers(packed: bool, placement: str, symmetric: bool, gpu: Any) -> None:
    A = graph(symmetric=symmetric)
    B = A.to("gpu", placement=placement, with_transpose=True).reorder(np.random.default_rng(1).permutation(N))
    B = B.compress() if packed else B
    u = gb.Vector.from_coo(np.arange(0, N, 3), np.arange(0, N, 3), "INT32", size=N)
    mask = gb.Vector.from_coo(np.arange(0, N, 2), True, size=N)
    for name in ("plus_times", "min_plus", "any_secondi"):
        for got, wanted in (
            (B.mxv(u, name).new(mask=mask.S), A.mxv(u, name).new(mask=mask.S)),
            (u.vxm(B, name).new(mask=~mask.S), u.vxm(A, name).new(mask=~mask.S)),
        ):
            if name == "any_secondi":  # any of them: the pattern, and that it is one of the row's
                assert got.to("cpu").apply("one").new().isequal(wanted.apply("one").new())
            else:
                assert got.to("cpu").isequal(wanted)
    assert gb.algorithms.bfs(B, 7).to("cpu").isequal(gb.algorithms.bfs(A, 7))
    assert gb.algorithms.pagerank(B).to("cpu").isclose(gb.algorithms.pagerank(A), abs_tol=1e-9)
    assert gb.algorithms.sssp(B, 7).to("cpu").isequal(gb.algorithms.sssp(A, 7))
    assert B.reduce_rowwise("plus").new().to("cpu").isequal(A.reduce_rowwise("plus").new())
    assert B.to("cpu").isequal(A)
    assert B.T.new().to("cpu").isequal(A.T.new())


@pytest.mark.parametrize("name", ["degree", "reverse_cuthill_mckee", "communities"])
def test_orders_and_matrices_go_together(name: str, gpu: Any) -> None:
    A = graph(symmetric=True)
    B = A.to("gpu").reorder(getattr(gb.orders, name)(A))
    assert gb.algorithms.connected_components(B).to("cpu").isequal(gb.algorithms.connected_components(A))
    again = B.reorder(np.arange(N)[::-1])
    assert gb.algorithms.bfs(again, 3).to("cpu").isequal(gb.algorithms.bfs(A, 3))
