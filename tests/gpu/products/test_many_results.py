"""Results of more than 2^31 entries: each operation that builds matrices in its own way, on a known product.

Row i of the product is one of twelve kinds, so its content is known from SciPy's product of twelve rows. The same
statements run on a small product wherever kernels run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsezc as gb
from sparsezc.device import cuda
from sparsezc.memory import budget

KINDS = 12  # i % 4 and i % 3 select the two rows of B that row i combines
SHAPES = {"few": (300, 70), "beyond 2^31": (80_004, 1 << 15)}
NEEDED = 60_000_000_000  # bytes: three results of 5 bytes an entry, and working space


@dataclass
class Known:
    """A matrix on the device and its content: row i is row i % 12 of `kinds`."""

    matrix: gb.Matrix
    kinds: Any  # a SciPy matrix
    left: gb.Matrix
    right: gb.Matrix


@pytest.fixture(scope="module", params=["few", pytest.param("beyond 2^31", marks=[pytest.mark.gpu, pytest.mark.slow])])
def known(request: pytest.FixtureRequest) -> Iterator[Known]:
    """Yield C = A B over UINT8: each row of A has two entries, each row of B two thirds of all columns."""
    nrows, ncols = SHAPES[request.param]
    before = cuda.use(request.getfixturevalue("emulated")) if request.param == "few" else None
    try:
        if request.param != "few" and budget.available() < NEEDED:
            pytest.skip(f"needs {NEEDED:,} bytes of device memory, and {budget.available():,} may be used")
        k, j = (x.ravel() for x in np.indices((7, ncols)))
        there = (j + k) % 3 > 0
        B = sp.coo_array(((1 + (5 * k + j) % 11)[there], (k[there], j[there])), shape=(7, ncols)).tocsr()
        i = np.arange(nrows)
        ends, values = np.stack([i % 4, 4 + i % 3], 1).ravel(), np.stack([1 + i % 2, 1 + i % 3], 1).ravel()
        A = sp.csr_array((values, ends, 2 * np.arange(nrows + 1)), shape=(nrows, 7))
        left, right = (
            gb.Matrix.from_csr(x.indptr, x.indices, x.data, "UINT8", ncols=x.shape[1]).to("gpu", placement="device")
            for x in (A, B)
        )
        with gb.config.set(fallback="error"):
            yield Known(left.mxm(right, "plus_times").new(), (A[:KINDS] @ B).tocsr(), left, right)
    finally:
        if request.param == "few":
            cuda.use(before)


def holds(found: gb.Matrix, kinds: Any) -> None:
    """Check that row i is row i % 12 of `kinds`: lengths, weighted sums of all rows, and some rows entry by entry."""
    kinds.sort_indices()
    nrows = found.nrows
    kind = np.arange(nrows) % KINDS
    lengths = np.diff(kinds.indptr)[kind]
    assert found.nvals == lengths.sum()
    weights = 1 + np.arange(found.ncols) % 1009
    sums = found.mxv(gb.Vector.from_dense(weights), gb.semiring.plus_times["INT64"]).new().to_dense()
    np.testing.assert_array_equal(sums, (kinds.astype(np.int64) @ weights)[kind])
    ends = np.cumsum(lengths)
    middle = np.searchsorted(ends, 2**31) if ends[-1] > 2**31 else nrows // 2
    for row in (0, 13, middle - 1, middle, middle + 1, nrows - 1):
        columns, values = found[int(row), :].new().to_coo()
        part = slice(*kinds.indptr[row % KINDS : row % KINDS + 2])
        np.testing.assert_array_equal(columns, kinds.indices[part])
        np.testing.assert_array_equal(values, kinds.data[part])


def test_products(known: Known) -> None:
    assert known.matrix.nrows < 1000 or known.matrix.nvals > 2**31
    holds(known.matrix, known.kinds)


def test_elementwise(known: Known) -> None:
    C, half = known.matrix, known.matrix.ncols // 2
    holds(C.ewise_mult(C, "plus").new(), 2 * known.kinds)
    left, right = C.select("colle", half).new(), C.select("colgt", half - 5).new()
    kinds = known.kinds.tolil()
    kinds[:, half - 4 : half + 1] *= 2
    holds(left.ewise_add(right, "plus").new(), kinds.tocsr())


def test_selections_and_new_values(known: Known) -> None:
    C, kinds = known.matrix, known.kinds.tocoo()
    last = known.matrix.ncols - 2
    kept = kinds.col <= last
    wanted = sp.coo_array((kinds.data[kept], (kinds.row[kept], kinds.col[kept])), shape=kinds.shape).tocsr()
    holds(C.select("colle", last).new(), wanted)
    holds(C.apply("plus", right=3).new(), known.kinds._with_data(known.kinds.data + 3))


def test_masks_and_accumulators(known: Known) -> None:
    C = gb.Matrix("UINT8", *known.matrix.shape).to("gpu")
    C(known.matrix.S) << known.matrix
    C(gb.binary.plus) << known.matrix
    holds(C, 2 * known.kinds)


def test_transposes(known: Known) -> None:
    T = known.matrix.T.new()
    nrows, ncols = known.matrix.shape
    assert T.shape == (ncols, nrows)
    assert T.nvals == known.matrix.nvals
    kind = np.arange(nrows) % KINDS
    weights = 1 + np.arange(nrows) % 1009
    sums = T.mxv(gb.Vector.from_dense(weights), gb.semiring.plus_times["INT64"]).new().to_dense()
    of_kinds = np.bincount(kind, weights, KINDS).astype(np.int64)
    np.testing.assert_array_equal(sums, known.kinds.T.astype(np.int64) @ of_kinds)
    dense = known.kinds.todense()
    for column in (0, 1, ncols - 1):
        rows, values = T[column, :].new().to_coo()
        np.testing.assert_array_equal(rows, np.flatnonzero(dense[kind, column]))
        np.testing.assert_array_equal(values, dense[kind, column][rows.astype(np.int64)])


def test_kronecker_products_and_comparisons(known: Known) -> None:
    """The Kronecker product repeats the kinds once for every twelve rows."""
    nrows, ncols = known.matrix.shape
    K = gb.Matrix.from_csr(known.kinds.indptr, known.kinds.indices, known.kinds.data, "UINT8", ncols=ncols)
    ones = gb.Matrix.from_scalar(1, nrows // KINDS, 1, "UINT8")
    made = ones.to("gpu").kronecker(K.to("gpu"), "times").new()
    holds(made, known.kinds)
    assert made.isequal(known.matrix, check_dtype=True)
