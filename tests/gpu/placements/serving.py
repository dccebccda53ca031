"""A matrix, vectors and a budget for tests of the placements, and counts of the bytes that products move."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import sparsezc as gb
from sparsezc.memory import budget

N = 700


def matrix(dtype: str = "FP64", *, iso: bool = False) -> gb.Matrix:
    """Return a matrix with rows of 0 to 30 entries, one row of 500, and a range of empty rows."""
    rng = np.random.default_rng(7)
    present = rng.random((N, N)) < 0.02
    present[77, :500] = True
    present[200:290] = False
    rows, columns = np.nonzero(present)
    values: Any = 1 if iso else rng.integers(1, 2 if dtype == "BOOL" else 90, rows.size)
    return gb.Matrix.from_coo(rows, columns, values, dtype, nrows=N, ncols=N)


def vectors(dtype: str) -> Iterator[gb.Vector]:
    rng = np.random.default_rng(3)
    at = np.flatnonzero(rng.random(N) < 0.05)
    yield gb.Vector.from_coo(at, np.arange(at.size) % 7 + 1, dtype, size=N)
    yield gb.Vector.from_dense(np.arange(N) % 5 + 1).dup(dtype)


def statements(A: gb.Matrix, u: gb.Vector, m: gb.Vector, name: str) -> Iterator[gb.Vector]:
    """Yield results of products with and without a mask, written to new outputs and to one that masks itself."""
    op, kind = name, gb.semiring.from_string(name)[A.dtype].return_type
    for product in (lambda: A.mxv(u, op), lambda: u.vxm(A, op)):
        for mask in (None, m.S, ~m.S):
            w = gb.Vector(kind, N)
            w(mask=mask) << product()
            yield w
    w = gb.Vector.from_coo([1, 77, 300], [1, 1, 1], kind, size=N)
    w(~w.S, gb.binary.plus if name != "lor_land" else gb.binary.lor) << A.mxv(u, op)  # the output is its own mask
    yield w


def space_for(nbytes: int) -> Any:
    return gb.config.set(budget=budget.working_bytes(N) + nbytes)


def link_bytes(product: Any) -> tuple[int, int, int]:
    """Return the bytes that one product reads over the link, copies, and reads in device memory."""
    with gb.stats.collect() as moved:
        product()
    return moved.link_bytes - moved.copied_bytes, moved.copied_bytes, moved.device_bytes
