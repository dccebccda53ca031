"""Matrices larger than the device memory that may be used are converted piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsezc as gb
from sparsezc.engines.gpu.storage import row_blocks
from sparsezc.memory import device as device_memory
from sparsezc.memory import zerocopy

BUDGET = 4_000  # bytes: 25 entries of a transpose at a time
SHAPE = 90, 400
OVERFLOW = {"device": "hybrid", "zerocopy": "zerocopy"}  # placements of results that do not fit device memory


@pytest.fixture
def little(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Allow little device memory and no fallback; yield the list of numbers of pieces that were cut."""
    cut: list[int] = []
    real = row_blocks.pieces

    def counting(*arguments: Any, **options: Any) -> Any:
        ranges = real(*arguments, **options)
        cut.append(len(ranges))
        return ranges

    monkeypatch.setattr(row_blocks, "pieces", counting)
    with gb.config.set(budget=BUDGET, fallback="error"):
        yield cut


@contextmanager
def unread() -> Iterator[None]:
    """Fail if the host reads a matrix."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in (device_memory.DeviceBuffer, zerocopy.ZerocopyBuffer):
            patch.setattr(kind, "read", lambda *_: pytest.fail("the host read a matrix"))
        yield


def graph(dtype: str) -> sp.csr_array:
    """Return a matrix of short rows, empty rows, and one row longer than any piece, which has all columns."""
    rng = np.random.default_rng(11)
    made = sp.random_array(SHAPE, density=0.05, rng=rng, format="lil")
    made[40, :] = 1 + rng.random(SHAPE[1])
    made[60:70, :] = 0
    made = made.tocsr()
    made.data = rng.integers(1, 100, made.nnz).astype(dtype)
    return made


def held(A: sp.csr_array, placement: str, ids: Any = np.uint32) -> gb.Matrix:
    csr = gb.Matrix.from_csr(A.indptr, A.indices, A.data, ncols=A.shape[1])._to_csr()
    with gb.config.set(budget=None):
        return gb.Matrix._from_csr(csr.place(placement, ids=ids), "gpu")


def is_same(found: gb.Matrix, wanted: Any) -> bool:
    wanted = wanted.tocsr()
    wanted.sort_indices()
    indptr, ids, values = found.to_csr()
    return (
        found.dtype == wanted.dtype
        and np.array_equal(indptr, wanted.indptr)
        and np.array_equal(ids, wanted.indices)
        and np.array_equal(values, wanted.data)
    )


@pytest.mark.parametrize("ids", [np.uint32, np.uint64])
@pytest.mark.parametrize("dtype", ["float64", "int8"])
@pytest.mark.parametrize("placement", ["device", "zerocopy"])
def test_transposes(placement: str, dtype: str, ids: Any, gpu: Any, little: list[int]) -> None:
    """A transpose is made by a statement or for a product; a result too large for the device moves to host memory."""
    A = graph(dtype)
    X = held(A, placement, ids)
    with unread():
        T = X.T.new()
    assert min(little) > 50
    assert T._store.placement == OVERFLOW[placement]
    assert X._store.placement == placement
    assert is_same(T, A.T)
    assert is_same(T.T.new(), A)
    X._engine.keep_transpose(X._store)
    assert X._store.columns.indices.placement == OVERFLOW[placement]
    v = gb.Vector.from_dense(np.arange(SHAPE[0]).astype(dtype))
    found = v.vxm(X, gb.semiring.plus_times).new().to_dense()
    np.testing.assert_array_equal(found, (A.T @ v.to_dense()).astype(dtype))


def test_a_transpose_takes_no_more_of_the_device_than_it_may(
    gpu: Any, little: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loads stay small whatever the length of a row."""
    loaded: list[int] = []
    real = zerocopy.ZerocopyBuffer.load

    def load(self: Any, *ends: int) -> Any:
        part = real(self, *ends)
        loaded.append(part.nbytes)
        return part

    monkeypatch.setattr(zerocopy.ZerocopyBuffer, "load", load)
    A = graph("float64")
    X = held(A, "zerocopy")
    T = X.T.new()
    assert is_same(T, A.T)
    assert 0 < max(loaded) < BUDGET // 10


def test_one_value_for_all(gpu: Any, little: list[int]) -> None:
    A = graph("float64")
    csr = gb.Matrix.from_csr(A.indptr, A.indices, 2.5, ncols=A.shape[1])._to_csr()
    X = gb.Matrix._from_csr(csr.place("zerocopy"), "gpu")
    T = X.T.new()
    assert T._store.rows.iso
    A.data[:] = 2.5
    assert is_same(T, A.T)
    assert is_same(X.select("valueeq", 2.5).new(), A)


def test_more_columns_than_there_is_memory_for(gpu: Any) -> None:
    X = gb.Matrix.from_coo([0], [7], [1], nrows=2, ncols=2**59).to("gpu")
    with pytest.raises(
        gb.exceptions.OutOfMemory, match=r"transpose of a matrix of 576,460,752,303,423,488 columns needs"
    ):
        X.T.new()


@pytest.mark.parametrize("placement", ["device", "zerocopy"])
def test_select(placement: str, gpu: Any) -> None:
    """Entries are selected by value, row and column: all, some and none."""
    A = graph("int32")
    X = held(A, placement)
    rows = np.repeat(np.arange(SHAPE[0]), np.diff(A.indptr))
    with gb.config.set(budget=400, fallback="error"):
        for op, thunk, kept in (
            ("valuegt", 40, A.data > 40),
            ("rowle", 40, rows <= 40),
            ("colgt", 200, A.indices > 200),
            ("tril", -3, A.indices <= rows - 3),
            ("valuege", 1, A.data > 0),
        ):
            wanted = sp.coo_array((A.data[kept], (rows[kept], A.indices[kept])), shape=SHAPE)
            with unread():
                found = X.select(op, thunk).new()
            assert is_same(found, wanted), op
            assert found._store.placement == OVERFLOW[placement], op
        assert X.select("valuelt", 0).new().nvals == 0


def test_assigning_renumbers_columns_a_piece_at_a_time(gpu: Any, little: list[int]) -> None:
    A = graph("float64")
    with gb.config.set(budget=None):
        C = gb.Matrix("FP64", SHAPE[0], 2 * SHAPE[1]).to("gpu")
    with gb.config.set(budget=32 * 2 * SHAPE[1]):  # bytes for renumbered positions
        C[:, ::2] = held(A, "zerocopy")
    assert max(little) > 2
    wanted = sp.coo_array((A.data, (A.tocoo().coords[0], 2 * A.indices)), shape=(SHAPE[0], 2 * SHAPE[1]))
    assert is_same(C, wanted)
