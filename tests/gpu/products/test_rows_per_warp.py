"""One row per warp: each row is read alone in merged and aligned requests, as by EMOGI's warps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.device import cuda
from sparsezc.engines.gpu.layouts import column_blocks, hub_columns, row_groups
from sparsezc.engines.gpu.layouts.column_blocks import ColumnBlocks
from sparsezc.engines.gpu.layouts.hub_columns import HubColumns
from sparsezc.engines.gpu.layouts.pull_cache import KeptPulls
from sparsezc.engines.gpu.layouts.row_groups import RowGroups
from sparsezc.engines.gpu.products import rows_per_warp
from sparsezc.engines.gpu.runtime import launch
from sparsezc.memory import budget
from tests.emulator.test_emogi import closed_form
from tests.gpu.layouts import test_hub_columns as scattered
from tests.gpu.products.test_requests import GRAPHS, N, counted, full, link, matrix  # noqa: F401  (fixtures)
from tests.gpu.products.test_rows import LENGTHS, SEMIRINGS, assert_same, vector
from tests.gpu.products.test_rows import matrix as of_lengths

ROWS = {"all short": np.arange(400) % 9, **GRAPHS}
IDS = {"u4": 4, "u8": 8}


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("graph", ROWS)
@pytest.mark.parametrize("product", ["pull", "push"])
def test_requests_are_those_of_a_warp_a_row(product: str, graph: str, ids: str, link: Any) -> None:  # noqa: F811
    """Requests of each size equal the closed form of the rows' lengths; with 32 rows a warp there are no more.

    An exception are lines where long rows are cut into chunks, which only 32 rows a warp do.
    """
    lengths = ROWS[graph]
    A = matrix(lengths, ids, iso=True)
    asked = {}
    for setting in (1, 32):
        with gb.config.set(rows_per_warp=setting, head_cache="off"):
            if product == "pull":
                asked[setting], _ = link(lambda: A.mxv(full(N), gb.semiring.plus_second).new())
            else:
                asked[setting], _ = link(lambda: full(A.nrows).vxm(A, gb.semiring.plus_first).new())
    assert asked[1].by_size == closed_form("merged_aligned", lengths, IDS[ids])
    cuts = int(((lengths - 1) // budget.chunk_length(A.nvals)).clip(0).sum())
    assert sum(asked[32].by_size.values()) <= sum(asked[1].by_size.values()) + cuts * IDS[ids] // 4
    assert asked[1].useful_bytes == asked[32].useful_bytes == IDS[ids] * A.nvals


#: By name: the kind of matrix, the bytes of shared memory for hubs, the semiring, and the layout used with 32 rows a
#: warp.
REARRANGED: dict[str, tuple[str, int, str, type[Any]]] = {
    "row groups": ("hubs", 0, "plus_second", RowGroups),
    "row groups, least": ("hubs", 0, "min_second", RowGroups),
    "hub columns": ("hubs", 0, "plus_times", HubColumns),
    "hubs' values in shared memory": ("hubs", 8 * scattered.HUBS, "plus_times", HubColumns),
    "column blocks": ("random", 0, "plus_times", ColumnBlocks),
}


@pytest.mark.parametrize("case", REARRANGED)
def test_no_layout_with_other_rows_serves(case: str, counted: Any, link: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """With one row a warp the matrix's own rows are read, whatever layouts exist; the vector exceeds the cache."""
    kind, shared, op, layout = REARRANGED[case]
    monkeypatch.setattr(column_blocks, "_PAYS", 0)
    monkeypatch.setattr(row_groups, "_PRODUCTS", 1)
    monkeypatch.setattr(row_groups, "_MOST_WORDS", 32)
    monkeypatch.setattr(cuda.current(), "cache_bytes", 8 * scattered.N / 4 / column_blocks._PART)
    monkeypatch.setattr(cuda.current(), "block_bytes", hub_columns._L1 + shared)
    A, u = scattered.matrix("FP64", kind), scattered.full("FP64")
    B, v = scattered.held(A), u.to("gpu")
    w = v.dup()
    rows = B._store.rows
    wanted, offset = A.mxv(u, op).new(), rows.indices.pointer % 128  # emulated arrays begin inside a line
    one_row = closed_form("merged_aligned", np.diff(rows.indptr), 4, offset)

    def product() -> None:
        w << B.mxv(v, op)

    with gb.config.set(rows_per_warp=1):
        for _ in range(hub_columns._PRODUCTS + 4):
            assert link(product)[0].by_size == one_row
        assert rows.layouts[layout].built is None
        assert rows.layouts[KeptPulls]  # kept launches need no plan
    with gb.config.set(rows_per_warp=32):
        for _ in range(hub_columns._PRODUCTS + 4):
            product()
        assert rows.layouts[layout].built is not None
        assert link(product)[0].by_size != one_row
    with gb.config.set(rows_per_warp=1):
        for _ in range(3):
            ids, values = link(product)
            assert ids.by_size == one_row
            assert values.useful_bytes == (8 * A.nvals if op == "plus_times" else 0)
            assert w.to("cpu").isclose(wanted, rel_tol=1e-13, check_dtype=True)
    assert link(product)[0].by_size != one_row


@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("lengths", LENGTHS)
def test_answers_are_the_same(lengths: str, semiring: str, gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparsezc.memory.budget.LONG", 33)
    A = of_lengths(LENGTHS[lengths])
    B, op = A.to("gpu"), gb.semiring.from_string(semiring)
    n = A.nrows
    mask, w = vector(n, 0.5, 4), vector(n, 0.5, 5)
    with gb.config.set(rows_per_warp=1):
        for v in (vector(n, 0.2, 3), vector(n, 1.0, 3)):
            for here, there in ((A, B), (A.T, B.T)):
                want, got = w.dup(), w.dup().to("gpu")
                want(~mask.S, gb.binary.plus) << here.mxv(v, op)
                got(~mask.S, gb.binary.plus) << there.mxv(v, op)
                if semiring == "any_pair" or not semiring.startswith("any"):
                    assert_same(got, want)
                got(got.S, replace=True) << there.mxv(v, op)  # the output is its own mask
                want(want.S, replace=True) << here.mxv(v, op)
                assert_same(got, want)


def test_auto_takes_one_row_where_rows_are_long(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows count as long by the slices that a warp reads in series, divided by the share of warps that are busy."""
    A = of_lengths([30] * 40).to("gpu")
    monkeypatch.setattr(launch, "most_warps", lambda _: 200)
    assert rows_per_warp.choose(A._store.rows) == 32  # the matrix is too small
    monkeypatch.setattr(rows_per_warp, "_MIN_ENTRIES", 1200)
    assert rows_per_warp.choose(A._store.rows) == 1  # 30 slices; 2 of 200 are busy
    assert rows_per_warp.choose(of_lengths([10] * 120).to("gpu")._store.rows) == 32  # 10 slices; 4 of 200 are busy
    with gb.config.set(rows_per_warp=32):
        assert rows_per_warp.choose(A._store.rows) == 32
    with gb.config.set(rows_per_warp=1):
        assert rows_per_warp.choose(of_lengths([3] * 40).to("gpu")._store.rows) == 1


@pytest.mark.parametrize("wrong", [2, "1", True, None, 1.0])
def test_other_numbers_are_refused(wrong: Any) -> None:
    with pytest.raises(gb.exceptions.InvalidValue, match="'auto', 1, 32"):
        gb.config.set(rows_per_warp=wrong)
