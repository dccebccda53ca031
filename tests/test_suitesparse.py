"""Where SuiteSparse:GraphBLAS itself goes wrong: the CPU engine goes around it, and stays right."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import sparsezc as gb

ROOT = Path(__file__).resolve().parent.parent

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


def test_a_full_operand_is_accumulated_through_a_mask_of_few_entries() -> None:
    """In bare python-graphblas (SuiteSparse 9.4.5) the first of these ends the process after a few turns."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, f"at {done.stdout.splitlines()[-1:]}: {done.stderr}"


@pytest.mark.parametrize("monoid", ["plus", "min", "max"])
@pytest.mark.parametrize("multiply", ["times", "plus", "first", "second"])
def test_converted_operands_are_accumulated(monoid, multiply) -> None:
    """In bare python-graphblas (SuiteSparse 9.4.5) a full output gets the operands' bits where types differ."""
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
