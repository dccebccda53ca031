"""Helpers of the tests of files: the folder of real graphs, and comparison of a CSR with SciPy's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from sparsezc.io._read import read_csr
from sparsezc.memory.csr import Csr

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the folder of real graphs is not beside the checkout")


def load(path: Any, **options: Any) -> Csr:
    """Read a file as a CSR in host memory."""
    csr, _ = read_csr(path, placement="host", **options)
    return csr


def scipy_of(csr: Csr) -> sp.csr_array:
    """Return the matrix as SciPy's, after checking the invariants of a CSR."""
    ids = csr.indices.read().astype(np.int64)
    values = np.repeat(csr.values.read(), csr.nvals) if csr.iso else csr.values.read()
    assert csr.indptr.dtype == np.int64
    assert csr.indptr.size == csr.nrows + 1
    assert csr.indptr[0] == 0
    assert ids.size == csr.nvals == values.size
    assert values.dtype == csr.dtype.np_type
    if ids.size:
        assert ids.min() >= 0
        assert ids.max() < csr.ncols
    heads = np.zeros(ids.size, bool)
    heads[csr.indptr[:-1][csr.indptr[:-1] < ids.size]] = True
    assert ((np.diff(ids) > 0) | heads[1:]).all(), "ids must ascend in each row"
    return sp.csr_array((values, ids, csr.indptr), shape=(csr.nrows, csr.ncols))


def same(csr: Csr, expected: Any) -> None:
    """Check that positions and values equal those of SciPy's matrix."""
    found, wanted = scipy_of(csr), sp.csr_array(expected)
    wanted.sort_indices()
    assert found.shape == wanted.shape
    np.testing.assert_array_equal(found.indptr, wanted.indptr)
    np.testing.assert_array_equal(found.indices, wanted.indices)
    np.testing.assert_array_equal(found.data, wanted.data)


def is_symmetric(csr: Csr) -> bool:
    """Return True if the matrix equals its transpose, by SciPy."""
    found = scipy_of(csr).astype(np.float64)
    difference = found - found.T
    return difference.nnz == 0 or not difference.data.any()
