"""A matrix's rows never change; layouts built from them are in one registry, with one protocol."""

from __future__ import annotations

import gc
import weakref
from dataclasses import FrozenInstanceError, fields
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.engines.gpu.layouts.column_blocks import ColumnBlocks
from sparsezc.engines.gpu.layouts.head_cache import HeadCache
from sparsezc.engines.gpu.layouts.hub_columns import HubColumns
from sparsezc.engines.gpu.layouts.packed_values import PackedValues
from sparsezc.engines.gpu.layouts.row_groups import RowGroups
from sparsezc.engines.gpu.placements import Wholes
from sparsezc.engines.gpu.placements.segment_cache import SegmentCache
from sparsezc.engines.gpu.several_processes.upper_triangle import EdgesOnce
from sparsezc.engines.gpu.storage.layout import Demand, Layout
from sparsezc.engines.gpu.storage.matrix_store import PlainCopy, Rows
from sparsezc.memory import budget
from sparsezc.semirings.types.datatypes import UINT8

N = 150
LAYOUTS: tuple[type[Layout], ...] = (
    HeadCache,
    PackedValues,
    ColumnBlocks,
    HubColumns,
    RowGroups,
    EdgesOnce,
)  # protocols that a type checker must find satisfied
BUILT: dict[str, Any] = {"HeadCache": HeadCache, "PackedValues": PackedValues}


def rows_of(gpu: Any) -> Rows:
    rng = np.random.default_rng(3)
    i, j = np.nonzero(rng.random((N, N)) < 0.2)
    A = gb.Matrix.from_coo(i, j, rng.integers(1, 9, i.size), "UINT8", nrows=N, ncols=N)
    rows: Rows = A.to("gpu", placement="zerocopy")._store.rows
    return rows


def test_rows_are_frozen(gpu: Any) -> None:
    rows = rows_of(gpu)
    for each in fields(Rows):
        with pytest.raises(FrozenInstanceError):
            setattr(rows, each.name, None)


@pytest.mark.parametrize("name", BUILT)
def test_a_layout_counts_builds_and_drops(name: str, gpu: Any) -> None:
    rows, kind = rows_of(gpu), BUILT[name]
    layout: Layout = rows.layouts[kind]
    assert rows.layouts[kind] is layout
    assert layout.nbytes == 0
    some, most = Demand(rows.nvals / 2, UINT8, values=True), Demand(2 * rows.nvals, UINT8, values=True)
    assert not layout.is_worth(rows, some)
    assert layout.is_worth(rows, most)
    layout.build(rows, most)
    assert layout.nbytes >= 4 * N
    built = weakref.ref(rows.layouts[kind].built)
    layout.drop()
    assert layout.nbytes == 0
    assert built() is None


def test_words_that_are_dropped_are_not_read_again(gpu: Any) -> None:
    """A dropped layout is not read again, even by a launch prepared before; rebuilt words have another address."""
    rng = np.random.default_rng(3)
    i, j = np.nonzero(rng.random((N, N)) < 0.2)
    A = gb.Matrix.from_coo(i, j, rng.integers(1, 9, i.size), "UINT8", nrows=N, ncols=N)
    u = gb.Vector.from_scalar(2, N, "INT64")
    B, v, want = A.to("gpu", placement="zerocopy"), u.to("gpu"), A.mxv(u, "min_plus").new()
    with gb.config.set(packing="on"):
        assert B.mxv(v, "min_plus").new().to("cpu").isequal(want)
        layout = B._store.rows.layouts[PackedValues]
        layout.built.words.write(0, np.zeros(i.size, np.uint32))  # a stale launch would read these
        kept = layout.built.words
        layout.drop()
        assert B.mxv(v, "min_plus").new().to("cpu").isequal(want)
        assert layout.built.words is not kept


def test_what_takes_device_memory_counts_to_the_budget_until_it_is_dropped(gpu: Any) -> None:
    budget.reclaim()
    rows = rows_of(gpu)
    layout = rows.layouts[HeadCache]
    layout.build(rows, Demand(0, UINT8))
    assert budget._held() == layout.nbytes > 0
    assert budget.reclaim()
    assert layout.nbytes == budget._held() == 0
    assert not budget.reclaim()  # nothing is left to free


def test_layouts_go_with_their_rows(gpu: Any) -> None:
    """Layouts are freed with their rows without the garbage collector, as a matrix and its caches are large."""
    gc.disable()
    try:
        rows = rows_of(gpu)
        kinds: tuple[Any, ...] = *LAYOUTS, SegmentCache, Wholes, PlainCopy
        rows.layouts[HeadCache].build(rows, Demand(0, UINT8))
        alive = [weakref.ref(rows), *(weakref.ref(rows.layouts[kind]) for kind in kinds)]
        del rows
        assert [ref() for ref in alive] == [None] * len(alive)
    finally:
        gc.enable()


def test_all_layouts_are_dropped_at_once(gpu: Any) -> None:
    rows = rows_of(gpu)
    rows.layouts[HeadCache].build(rows, Demand(0, UINT8))
    rows.layouts[PackedValues].read = 10**9
    built = weakref.ref(rows.layouts[HeadCache].built)
    rows.layouts.drop()
    assert built() is None
    assert rows.layouts[PackedValues].read == 0
