"""The sum of a triangle and its transpose needs no merge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.engines.gpu import matrix_statements
from sparsezc.engines.gpu.storage import row_blocks


def triangle(n: int, *, upper: bool) -> gb.Matrix:
    """Return a matrix with entries on one side of the diagonal, with empty rows and a nearly full one."""
    rng = np.random.default_rng(n)
    there = np.tril(rng.random((n, n)) < 0.05, -1)
    there[[3, 4, n // 2]] = False
    there[-1, : n - 1] = True
    i, j = np.nonzero(there)
    if upper:
        i, j = j, i
    return gb.Matrix.from_coo(i, j, rng.integers(-9, 9, i.size), nrows=n, ncols=n)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("pieces", [1, 3])
def test_a_triangle_and_its_transpose(gpu: Any, upper: bool, pieces: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    mirrored = matrix_statements.mirrored

    def noted(rows: Any) -> Any:
        made = mirrored(rows)
        asked.append(made is not None)
        return made

    def cut(nvals: int, _: int) -> list[tuple[int, int]]:
        size = -(-nvals // pieces)
        return [(at, min(at + size, nvals)) for at in range(0, nvals, size)]

    monkeypatch.setattr(matrix_statements, "mirrored", noted)
    monkeypatch.setattr(row_blocks, "pieces", cut)
    for n, iso in ((70, False), (300, True)):
        L = triangle(n, upper=upper)
        L = L.apply("one").new() if iso else L
        wanted = L.ewise_add(L.T, "first").new()
        there = L.to("gpu", placement="device")
        for made in (there.ewise_add(there.T, "first"), there.T.ewise_add(there, "plus")):
            assert made.new().isequal(wanted, check_dtype=True)
    assert asked == [True] * 4


def test_other_matrices_are_merged(gpu: Any) -> None:
    """Entries on the diagonal or on both sides, another result type, or little memory need the merge."""
    L = triangle(40, upper=False)
    for extra in ((5, 5), (2, 30)):
        A = L.dup()
        A[extra] = 7
        there = A.to("gpu", placement="device")
        assert there.ewise_add(there.T, "plus").new().isequal(A.ewise_add(A.T, "plus").new())
    there = L.to("gpu", placement="device")
    assert there.ewise_add(there.T, "truediv").new().isequal(L.ewise_add(L.T, "truediv").new(), check_dtype=True)
    with gb.config.set(budget=3000):
        assert there.ewise_add(there.T, "plus").new().isequal(L.ewise_add(L.T, "plus").new())
