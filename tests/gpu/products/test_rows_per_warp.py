"""One row per warp: each row is read by itself in merged and aligned requests, as by EMOGI's warps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.engines.gpu.products import rows_per_warp
from sparsezc.engines.gpu.runtime import launch
from tests.emulator.test_emogi import closed_form
from tests.gpu.products.test_requests import GRAPHS, N, counted, full, link, matrix  # noqa: F401  (fixtures)
from tests.gpu.products.test_rows import LENGTHS, SEMIRINGS, assert_same, vector
from tests.gpu.products.test_rows import matrix as of_lengths

SHORT = {"all short": np.arange(400) % 9, **{name: x for name, x in GRAPHS.items() if max(x) <= 512}}
IDS = {"u4": 4, "u8": 8}


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("graph", SHORT)
@pytest.mark.parametrize("product", ["pull", "push"])
def test_requests_are_those_of_a_warp_a_row(product: str, graph: str, ids: str, link: Any) -> None:  # noqa: F811
    """As many of each size as follow from the rows' lengths alone; 32 rows a warp ask for no more."""
    lengths = SHORT[graph]
    A = matrix(lengths, ids, iso=True)
    asked = {}
    for setting in (1, 32):
        with gb.config.set(rows_per_warp=setting, head_cache="off"):
            if product == "pull":
                asked[setting], _ = link(lambda: A.mxv(full(N), gb.semiring.plus_second).new())
            else:
                asked[setting], _ = link(lambda: full(A.nrows).vxm(A, gb.semiring.plus_first).new())
    assert asked[1].by_size == closed_form("merged_aligned", lengths, IDS[ids])
    assert sum(asked[32].by_size.values()) <= sum(asked[1].by_size.values())
    assert asked[1].useful_bytes == asked[32].useful_bytes == IDS[ids] * A.nvals


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
                got(got.S, replace=True) << there.mxv(v, op)  # the output masks itself
                want(want.S, replace=True) << here.mxv(v, op)
                assert_same(got, want)


def test_auto_takes_one_row_where_rows_are_long(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long for their number: as many slices in series as a row has entries, over the share of warps that are busy."""
    A = of_lengths([30] * 40).to("gpu")
    monkeypatch.setattr(launch, "most_warps", lambda _: 200)
    assert rows_per_warp.choose(A._store.rows) == 32  # too small a matrix
    monkeypatch.setattr(rows_per_warp, "_MIN_ENTRIES", 1200)
    assert rows_per_warp.choose(A._store.rows) == 1  # 30 slices, 2 of 200 warps busy
    assert rows_per_warp.choose(of_lengths([10] * 120).to("gpu")._store.rows) == 32  # 10 slices, 4 busy
    with gb.config.set(rows_per_warp=32):
        assert rows_per_warp.choose(A._store.rows) == 32
    with gb.config.set(rows_per_warp=1):
        assert rows_per_warp.choose(of_lengths([3] * 40).to("gpu")._store.rows) == 1


@pytest.mark.parametrize("wrong", [2, "1", True, None, 1.0])
def test_other_numbers_are_refused(wrong: Any) -> None:
    with pytest.raises(gb.exceptions.InvalidValue, match="'auto', 1, 32"):
        gb.config.set(rows_per_warp=wrong)
