"""More than 2^32 entries: every kernel that counts entries works with positions beyond 32 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc import memory
from sparsezc.device import cuda
from sparsezc.memory import budget
from sparsezc.memory.csr import Csr

pytestmark = [pytest.mark.gpu, pytest.mark.slow]

NCOLS = 20_000


@pytest.fixture(scope="module", params=["device", "zerocopy"])
def matrix(request: pytest.FixtureRequest) -> Any:
    """Return a matrix and its degrees: row r has the columns 2k + r % 2 for k < degree[r]; all values are 3.

    Rows of the first half have 1,000 entries, those of the second 3,000 (which are cut into chunks).
    """
    degree = np.full(2_200_000, 1_000, np.int64)
    degree[degree.size // 2 :] = 3_000
    indptr = np.zeros(degree.size + 1, np.int64)
    np.cumsum(degree, out=indptr[1:])
    nvals = int(indptr[-1])
    assert nvals > 2**32 + 10**7
    if request.param == "device" and budget.available() < 4 * nvals + 2**32:
        pytest.skip(f"needs {4 * nvals + 2**32:,} bytes of device memory")
    xp = cuda.current().xp
    indices, values = memory.allocate(request.param, nvals, np.uint32), memory.allocate(request.param, 1, np.float64)
    values.write(0, np.array([3.0]))
    for length in (1_000, 3_000):
        pair = xp.arange(length, dtype=np.uint32)[None, :] * 2 + xp.arange(2, dtype=np.uint32)[:, None]
        part = xp.tile(pair.reshape(-1), 10_000)  # 20,000 rows
        rows = np.flatnonzero(degree == length)
        for row in rows[:: 2 * 10_000]:
            start = int(indptr[row])
            indices.write(start, part[: min(part.size, int(indptr[rows[-1] + 1]) - start)])
    csr = Csr(degree.size, NCOLS, indptr, indices, values, gb.dtypes.FP64, iso=True)
    return gb.Matrix._from_csr(csr, "gpu"), degree


def test_mxv_reads_the_entries_of_every_row(matrix: Any) -> None:
    A, degree = matrix
    v = gb.Vector.from_dense(np.arange(NCOLS, dtype=np.float64))
    w = A.mxv(v, gb.semiring.plus_times).new().to_dense()
    odd = np.arange(degree.size) % 2
    np.testing.assert_array_equal(w, 3.0 * (degree * (degree - 1) + odd * degree))


def test_a_row_beyond_2_to_the_32_is_masked_like_any_other(matrix: Any) -> None:
    A, degree = matrix
    last = np.arange(degree.size - 100, degree.size)
    mask = gb.Vector.from_coo(last, True, size=degree.size)
    w = gb.Vector("INT64", degree.size)
    w(mask.S, replace=True) << A.mxv(gb.Vector.from_dense(np.ones(NCOLS, np.int64)), gb.semiring.plus_pair)
    assert w.to_dict() == dict.fromkeys(last.tolist(), 3_000)


def test_vxm_pushes_along_the_last_rows(matrix: Any) -> None:
    A, degree = matrix
    v = gb.Vector.from_coo([5, degree.size - 2, degree.size - 1], [1.0, 10.0, 100.0], size=degree.size)
    found = v.vxm(A, gb.semiring.plus_first).new().to_dense(fill_value=0)
    wanted = np.zeros(NCOLS)
    wanted[1:2000:2] += 1.0
    wanted[0:6000:2] += 10.0
    wanted[1:6000:2] += 100.0
    np.testing.assert_array_equal(found, wanted)


def test_reductions_count_all_entries(matrix: Any) -> None:
    A, degree = matrix
    assert A.nvals == degree.sum()
    np.testing.assert_array_equal(A.reduce_rowwise("plus").new().to_dense(), 3.0 * degree)
    assert A.reduce_scalar("plus").new().value == 3.0 * degree.sum()


def test_select_moves_entries_from_beyond_2_to_the_32(matrix: Any) -> None:
    A, degree = matrix
    B = A.select("colgt", 5_997).new()
    rows, columns, values = B.to_coo()
    half = degree.size // 2
    np.testing.assert_array_equal(rows, np.arange(half, degree.size))
    np.testing.assert_array_equal(columns, 5_998 + rows % 2)
    assert np.all(values == 3.0)
