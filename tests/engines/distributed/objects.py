"""Objects on which statements of every kind run, and writes to copies of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import sparsezc as gb
from sparsezc import ops

N, M = 150, 90


def objects() -> dict[str, Any]:
    """Return matrices and vectors by name; `S` is symmetric, `R` wide, `X` and `Y` full tables."""
    rng = np.random.default_rng(7)
    i, j = rng.integers(0, N, (2, 700))
    A = gb.Matrix.from_coo(i, j, rng.integers(1, 9, 700), nrows=N, ncols=N, dup_op="min")
    S = A.ewise_add(A.T, "min").new()._known_symmetric()
    at = rng.choice(N, 60, replace=False)
    G = rng.random((N, 4))
    square = np.stack([np.outer(row, row)[np.triu_indices(4)] for row in G]) + np.eye(4)[np.triu_indices(4)]
    return {
        "A": A, "S": S, "B": A.select("tril").new(), "F": A.dup("FP64"),
        "R": gb.Matrix.from_coo(i % 40, j % N, i, nrows=40, ncols=N, dup_op="min"),
        "K": gb.Matrix.from_coo([0, 1, 2], [1, 0, 2], [1, 2, 3], nrows=3, ncols=3),
        "X": gb.Matrix.from_dense(G), "Y": gb.Matrix.from_dense(rng.random((M, 4))),
        "Z": gb.Matrix.from_dense(G[:, :1]),
        "XY": gb.Matrix.from_dense(rng.random((2 * N, 4))), "G": gb.Matrix.from_dense(square),
        "E": gb.Matrix.from_dense(rng.integers(0, 9, (A.nvals, 2))),
        "P": gb.Matrix.from_dense(rng.integers(0, 9, (N, 4))),
        "v": gb.Vector.from_coo(np.sort(at), rng.integers(0, 9, 60), size=N),
        "u": gb.Vector.from_coo(np.sort(at)[::2], rng.integers(0, 9, 30), size=N),
        "full": gb.Vector.from_dense(rng.integers(0, 9, N)), "label": gb.Vector.from_dense(rng.integers(0, N, N)),
        "k": gb.Vector.from_dense(S.reduce_rowwise(gb.monoid.plus).new("FP64").to_dense(0.0)),
        "w": gb.Vector.from_dense(rng.random(N)), "x": gb.Vector.from_coo([1, 50, 80], [7, 8, 9], size=M),
        "edges": gb.Vector.from_dense(rng.integers(0, 9, A.nvals)),
    }  # fmt: skip


def groups(o: Any) -> Any:
    """Return a vector of groups of 50 labels."""
    return o.label.apply(gb.binary.floordiv, 50).new()


def flow_of(R: Any, s: int, t: int) -> tuple[float, bool, bool, float]:
    """Return a maximum flow's value, which is unique, and whether capacities, conservation and antisymmetry hold."""
    N = ops.net_flow(R, s, t).new()
    over = N.ewise_mult(R, gb.binary.gt).new().reduce_scalar(gb.monoid.lor).new().get()
    kept = N.reduce_rowwise(gb.monoid.plus).new().to_dense(0)
    opposite = N.ewise_add(N.T, gb.binary.plus).new().apply("abs").new().reduce_scalar(gb.monoid.max).new().get()
    value = -float(kept[t])
    kept[[s, t]] = 0
    return round(value, 9), bool(over), bool(np.abs(kept).max() < 1e-12), round(float(opposite), 12)


def without_opposites(A: Any) -> str:
    """Return the error that all ranks raise for a matrix whose pattern is not symmetric, without the matrix's name."""
    try:
        return repr(ops.net_flow(A, 1, 2).new())
    except gb.exceptions.InvalidValue as error:
        return str(error).partition(": ")[2].partition(" ")[2]


def written(name: str, write: Callable[[Any, Any], None]) -> Callable[[Any], Any]:
    """Return a call that writes to a copy of an object, and returns it."""

    def call(o: Any) -> Any:
        out = getattr(o, name).dup()
        write(out, o)
        return out

    return call


def put(keys: Any, value: Callable[[Any], Any], mask: Any = None, where: str = "", **options: Any) -> Any:
    """Return a write to a part of an object; the mask has the part's shape if `where` is "part", else the object's."""

    def write(out: Any, o: Any) -> None:
        if where == "part":
            out[keys](mask(o), **options) << value(o)
        elif mask is None:
            out(**options)[keys] << value(o)
        else:
            out(mask(o), **options)[keys] << value(o)

    return write


def parted(x: Any) -> Any:
    """Return a distributed copy of an object."""
    return x.distribute() if x.ndim == 2 else x.to("distributed")
