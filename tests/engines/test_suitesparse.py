"""Faults of SuiteSparse:GraphBLAS that the CPU engine avoids."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import sparsezc as gb

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
import numpy as np
import sparsezc as gb

n, rng, plus = 67, np.random.default_rng(0), gb.binary.plus

def accumulated(w, at, y):
    found = w.to_dict()
    for i in at.tolist():
        found[i] = found.get(i, 0) + int(y[i])
    return found

for turn in range(300):
    at, was = (np.flatnonzero(rng.random(n) < 0.05) for _ in range(2))
    y, p = rng.integers(1, 4, n), rng.permutation(n)
    u, m = gb.Vector.from_dense(y), gb.Vector.from_coo(at, 1, size=n)
    for name, write, z in (
        ("all", lambda w: w(m.S, plus) << u, y),
        ("by values", lambda w: w(m.V, plus) << u, y),
        ("one value", lambda w: w(m.S, plus) << gb.Vector.from_scalar(3, n), np.full(n, 3)),
        ("list", lambda w: w(m.S, plus)[p] << u, y[np.argsort(p)]),
        ("slice", lambda w: w(m.S, plus)[::-1] << u, y[::-1]),
    ):
        print(name, turn, flush=True)
        w = gb.Vector.from_coo(was, 7, "INT64", size=n)
        expected = accumulated(w, at, z)
        write(w)
        assert w.to_dict() == expected
    print("region and row", turn, flush=True)
    w = gb.Vector.from_coo(was, 7, "INT64", size=n)
    w[p](m.S, plus) << u
    C = w.diag()
    C(m.S, plus)[n - 1, :] << u
    C(C.S, plus) << gb.Matrix.from_scalar(1, n, n)
"""


FULL_AND_FEW = """
import numpy as np
import sparsezc as gb

n, rng, plus = 67, np.random.default_rng(0), gb.binary.plus

for turn in range(150):
    at = np.flatnonzero(rng.random(n) < 0.05)
    y, was = rng.integers(1, 4, n), np.arange(n) if turn % 2 else np.flatnonzero(rng.random(n) < 0.4)
    few, all, lets = gb.Vector.from_coo(at, y[at], size=n), gb.Vector.from_dense(y), gb.Vector.from_dense(y > 1)
    for name, mask, value in (
        ("few, mask of all", all.S, few),
        ("few, values of all", lets.V, few),
        ("few, made", all.S, few.apply(gb.unary.identity)),
        ("few, met", lets.V, few.ewise_add(few, gb.binary.first)),
        ("few, parts", all.S, few[:]),
        ("all, made", few.S, all.apply(gb.unary.identity)),
        ("all, met", few.S, all.ewise_mult(all, gb.binary.first)),
        ("all, chosen", few.S, all.select(">", 0)),
    ):
        for replace in (False, True):
            print(name, replace, turn, flush=True)
            w = gb.Vector.from_coo(was, 7, "INT64", size=n)
            inside = set(at.tolist() if mask.parent is few else np.flatnonzero(y > (mask.parent is lets)).tolist())
            expected = {i: 7 for i in was.tolist() if i in inside or not replace}
            for i in at.tolist():
                if i in inside:
                    expected[i] = expected.get(i, 0) + int(y[i])
            w(mask, plus, replace=replace) << value
            assert w.to_dict() == expected
"""


@pytest.mark.parametrize("program", [PROGRAM, FULL_AND_FEW], ids=["a mask of few", "one full and the other few"])
def test_accumulating_through_a_mask_ends_no_process(program: str) -> None:
    """In python-graphblas itself (SuiteSparse 9.4.5) the first program ends the process after a few turns."""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, f"at {done.stdout.splitlines()[-1:]}: {done.stderr}"


@pytest.mark.parametrize("monoid", ["plus", "min", "max"])
@pytest.mark.parametrize("multiply", ["times", "plus", "first", "second"])
def test_converted_operands_are_accumulated(monoid, multiply) -> None:
    """In python-graphblas itself (SuiteSparse 9.4.5) a full output receives the operands' bits where types differ."""
    semiring, accum = getattr(gb.semiring, f"{monoid}_{multiply}"), getattr(gb.binary, monoid)
    fold = {"plus": np.add, "min": np.minimum, "max": np.maximum}[monoid]
    by = {"times": np.multiply, "plus": np.add, "first": lambda x, y: x, "second": lambda x, y: y}[multiply]
    rng = np.random.default_rng(3)
    dense, x, y = rng.integers(1, 5, (6, 6)), rng.integers(1, 5, 6), rng.integers(1, 5, 6)
    i, j = np.indices((6, 6)).reshape(2, -1)
    for of_matrix, of_vector, of_output in product(("INT32", "INT64", "FP32", "FP64"), repeat=3):
        A = gb.Matrix.from_coo(i, j, dense.ravel(), dtype=of_matrix)
        v, said = gb.Vector.from_dense(x, dtype=of_vector), (of_matrix, of_vector, of_output)
        for multiplied, expected in (
            (A.mxv(v, semiring), fold(y, fold.reduce(by(dense, x[None, :]), axis=1))),
            (A.T.mxv(v, semiring), fold(y, fold.reduce(by(dense, x[:, None]), axis=0))),
            (v.vxm(A, semiring), fold(y, fold.reduce(by(x[:, None], dense), axis=0))),
            (v.vxm(A.T, semiring), fold(y, fold.reduce(by(x[None, :], dense), axis=1))),
        ):
            w = gb.Vector.from_dense(y, dtype=of_output)
            w(accum) << multiplied
            assert w.to_dense().tolist() == expected.tolist(), said
            w = gb.Vector.from_dense(y, dtype=of_output)
            w(w.S, accum) << multiplied
            assert w.to_dense().tolist() == expected.tolist(), said


@pytest.mark.parametrize("of_b", ["INT32", "FP32", "FP64"])
@pytest.mark.parametrize("of_a", ["INT64", "FP32", "FP64"])
def test_converted_matrices_are_accumulated(of_a, of_b) -> None:
    """Products of matrices with converted operands are accumulated, too."""
    rng = np.random.default_rng(4)
    a, b, c = rng.integers(1, 5, (3, 6, 6))
    i, j = np.indices((6, 6)).reshape(2, -1)
    A, B = (gb.Matrix.from_coo(i, j, x.ravel(), dtype=kind) for x, kind in ((a, of_a), (b, of_b)))
    for of_output in ("INT64", "FP32", "FP64"):
        for left, right, expected in ((A, B, a @ b), (A, B.T, a @ b.T), (A.T, B, a.T @ b)):
            C = gb.Matrix.from_coo(i, j, c.ravel(), dtype=of_output)
            C(gb.binary.plus) << left.mxm(right, gb.semiring.plus_times)
            assert C.to_dense().tolist() == (c + expected).tolist()
            C(A.S, gb.binary.plus) << left.mxm(right, gb.semiring.plus_times)
            assert C.to_dense().tolist() == (c + 2 * expected).tolist()
