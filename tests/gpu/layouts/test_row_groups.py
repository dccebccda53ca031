"""Rows in groups whose entries are sorted by column: products are equal but for the rounding of sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.device import cuda
from sparsezc.engines.gpu.layouts import column_blocks, hub_columns, row_groups
from sparsezc.engines.gpu.layouts.hub_columns import HubColumns
from sparsezc.engines.gpu.layouts.row_groups import RowGroups
from sparsezc.memory import budget

from .test_hub_columns import N, full, held, matrix, writes_into_others


@pytest.fixture(autouse=True)
def small(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use items of few entries, so that the first row groups have several items."""
    monkeypatch.setattr(column_blocks, "_PAYS", 0)
    monkeypatch.setattr(cuda.current(), "cache_bytes", 4 * N / 4 / column_blocks._PART)
    monkeypatch.setattr(row_groups, "_PRODUCTS", 1)
    monkeypatch.setattr(row_groups, "_ITEM", 200)
    monkeypatch.setattr(row_groups, "_MOST_WORDS", 32)  # some rows here are longer than all others of their group
    budget.reclaim()


def built(A: gb.Matrix) -> Any:
    return A._store.rows.layouts[RowGroups].built


def after_hubs(product: Any) -> None:
    for _ in range(hub_columns._PRODUCTS + 2):
        product()


_CASES = {"FP64": ["plus", "min"], "FP32": ["plus"], "INT32": ["max"], "INT64": ["times"]}


@pytest.mark.parametrize(("dtype", "name"), [(dtype, f"{name}_second") for dtype in _CASES for name in _CASES[dtype]])
def test_products_are_the_same(dtype: str, name: str, gpu: Any) -> None:
    A, u = matrix(dtype), full(dtype)
    B, v = held(A), u.to("gpu")
    for product in (lambda M, x: M.mxv(x, name), lambda M, x: x.vxm(M.T, name)):
        wanted = product(A, u).new()
        after_hubs(lambda product=product: product(B, v).new())
        assert built(B) is not None
        assert (
            product(B, v).new().to("cpu").isclose(wanted, rel_tol=1e-5 if dtype == "FP32" else 1e-13, check_dtype=True)
        )
    made, several = built(B), built(B).several
    lengths = np.diff(gpu.asnumpy(B._store.rows.indptr))
    assert (
        gpu.asnumpy(made.places).tolist() == np.argsort(-lengths, kind="stable")[: np.count_nonzero(lengths)].tolist()
    )
    assert several[0] > 1
    assert several[1] == gpu.asnumpy(made.first)[several[0]] > several[0]
    assert made.nbytes == B._store.rows.layouts[RowGroups].nbytes > 4 * A.nvals


def test_each_entry_is_in_one_slice_beside_those_of_other_rows(gpu: Any) -> None:
    A = matrix("FP64")
    B, v = held(A), full("FP64").to("gpu")
    after_hubs(lambda: B.mxv(v, "plus_second").new())
    made, hubs = built(B), B._store.rows.layouts[HubColumns].built
    words, begins, group = (gpu.asnumpy(array) for array in (made.words, made.begins, made.group))
    place = (np.repeat(group, np.diff(begins).astype(np.int64))[:, None] << 8 | words & 255).astype(np.int64)
    entry = words != 0xFFFFFFFF
    assert all(np.unique(slots[some]).size == some.sum() for slots, some in zip(place, entry, strict=True))
    rows, columns = gpu.asnumpy(made.places)[place[entry]], gpu.asnumpy(hubs.columns)[words[entry] >> 8]
    i, j, _ = A.to_coo()
    assert sorted(zip(rows.tolist(), columns.tolist(), strict=True)) == list(zip(i.tolist(), j.tolist(), strict=True))


def test_accumulated_narrower_overwritten_and_repeated(gpu: Any) -> None:
    A, u = matrix("FP64"), full("FP64")
    B, v = held(A), u.to("gpu")
    after_hubs(lambda: B.mxv(v, "plus_second").new())
    assert built(B) is not None
    writes_into_others(A, B, u, v)
    assert B.mxv(v, "plus_second").new().isequal(B.mxv(v, "plus_second").new())  # equal to the bit


def test_rows_without_entries_columns_in_order_and_one_value_for_all(gpu: Any) -> None:
    rows, columns, _ = matrix("FP64").to_coo()
    rows, columns = rows[rows % 3 > 0], columns[rows % 3 > 0]
    places = np.argsort(np.argsort(-np.bincount(columns, minlength=N), kind="stable"))
    A = gb.Matrix.from_coo(rows, places[columns], 2.0, nrows=N + 40, ncols=N)
    u = full("FP64")
    B, v = held(A), u.to("gpu")
    first = B.mxv(v, "plus_times").new()
    after_hubs(lambda: B.mxv(v, "plus_times").new())
    assert built(B) is not None
    assert B._store.rows.layouts[HubColumns].built.rows is None
    got = B.mxv(v, "plus_times").new()
    assert got.isclose(first, rel_tol=1e-14)
    assert got.to("cpu").isclose(A.mxv(u, "plus_times").new())


def test_products_and_matrices_that_it_does_not_serve(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    A, u = matrix("INT64"), full("INT64")
    B, v, m = held(A), u.to("gpu"), gb.Vector.from_coo(np.arange(0, N, 3), True, size=N)
    for name in ("plus_times", "min_secondi"):  # times reads values; secondi takes ids as values
        after_hubs(lambda name=name: B.mxv(v, name).new())
        assert B.mxv(v, name).new().to("cpu").isequal(A.mxv(u, name).new())
    assert B._store.rows.layouts[HubColumns].built is not None
    assert built(B) is None
    after_hubs(lambda: B.mxv(v, "plus_second").new())
    assert built(B) is not None
    assert B.mxv(v, "plus_second").new(mask=m.S).to("cpu").isequal(A.mxv(u, "plus_second").new(mask=m.S))
    assert budget.reclaim()
    assert built(B) is None
    with gb.config.set(budget=6 * 2 * 4 * A.nvals - 2):
        after_hubs(lambda: B.mxv(v, "plus_second").new())
        assert built(B) is None
    monkeypatch.setattr(row_groups, "_MOST_COLUMNS", N // 2)
    C = held(A)
    after_hubs(lambda: C.mxv(v, "plus_second").new())
    assert built(C) is None
    assert C._store.rows.layouts[RowGroups].products == -np.inf


def test_rows_that_leave_slices_empty_are_not_grouped(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slice has at most one entry of each row, so the one long row of a group would take up to 32 words an entry."""
    monkeypatch.setattr(row_groups, "_MOST_WORDS", 0)
    B, v = held(matrix("FP64")), full("FP64").to("gpu")
    after_hubs(lambda: B.mxv(v, "plus_second").new())
    layout = B._store.rows.layouts[RowGroups]
    assert layout.built is None
    assert layout.products == -np.inf
