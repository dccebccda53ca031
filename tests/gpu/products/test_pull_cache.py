"""A product like an earlier one is launched without a new plan, and changes of its operands since are seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc import stats
from sparsezc.engines.gpu.layouts import pull_cache
from sparsezc.engines.gpu.layouts.packed_values import PackedValues
from sparsezc.engines.gpu.layouts.pull_cache import KeptPulls
from sparsezc.engines.gpu.products import plan
from sparsezc.expr import engines

N = 70
SEMIRINGS = {"FP64": gb.semiring.plus_times, "INT32": gb.semiring.min_plus}


def operands(dtype: str, where: str, placement: str | None = None) -> tuple[Any, ...]:
    """Return a matrix without its transpose, two full vectors, and a mask of a third of the positions, on an engine."""
    draw = np.random.default_rng(5)
    i, j = np.divmod(draw.choice(N * N, 400, replace=False), N)
    A = gb.Matrix.from_coo(i, j, draw.integers(1, 9, 400), dtype, nrows=N, ncols=N)
    x, y = (gb.Vector.from_dense(draw.integers(1, 99, N)).dup(dtype) for _ in range(2))
    m = gb.Vector.from_coo(draw.choice(N, N // 3, replace=False), True, size=N)
    return (A.to(where) if placement is None else A.to(where, placement=placement), *(v.to(where) for v in (x, y, m)))


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that collects the plans that are made."""
    found: list[str] = []
    made = plan.pull
    monkeypatch.setattr(plan, "pull", lambda *given: found.append("pull") or made(*given))
    return found


#: By name: the type of matrix and vectors, and the statement.
STATEMENTS: dict[str, tuple[str, Callable[..., None]]] = {
    "plain": ("INT32", lambda A, x, y, m, op: y << A.mxv(x, op)),
    "mask": ("FP64", lambda A, x, y, m, op: y(m.S) << A.mxv(x, op)),
    "complement, accum": ("FP64", lambda A, x, y, m, op: y(~m.S, accum=gb.binary.plus) << A.mxv(x, op)),
    "values, replace": ("INT32", lambda A, x, y, m, op: y(m.V, replace=True) << A.mxv(x, op)),
    "vxm, accum": ("INT32", lambda A, x, y, m, op: y(accum=gb.binary.min) << x.vxm(A.T, op)),
}


def change_mask(A: Any, x: Any, y: Any, m: Any) -> None:
    m[3] = False
    del m[int(m.to_coo()[0][-1])]


def grow(A: Any, x: Any, y: Any, m: Any) -> None:
    A[1, :] = 2


#: Changes of an object in place, and whether the next product needs a plan.
CHANGES: dict[str, tuple[Callable[..., Any], bool]] = {
    "nothing": (lambda A, x, y, m: None, False),
    "values of the vector": (lambda A, x, y, m: x << x.apply("ainv"), False),
    "the vector lacks an entry": (lambda A, x, y, m: x.__delitem__(4), True),
    "the vector lacks all": (lambda A, x, y, m: x.clear(), False),
    "the output lacks an entry": (lambda A, x, y, m: y.__delitem__(int(y.to_coo()[0][0])), False),
    "the output lacks all": (lambda A, x, y, m: y.clear(), True),
    "the mask": (change_mask, False),
    "the matrix": (grow, True),
}


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_since_is_seen(change: str, statement: str, gpu: Any, planned: list[str]) -> None:
    with gb.config.set(fallback="error"):
        dtype, run = STATEMENTS[statement]
        ours, judge, op = operands(dtype, "gpu", "device"), operands(dtype, "cpu"), SEMIRINGS[dtype]
        (alter, plans), counts = CHANGES[change], []
        for turn in range(4):
            if turn == 3:
                alter(*ours)
                alter(*judge)
                planned.clear()
            run(*ours, op)
            run(*judge, op)
            assert ours[2].to("cpu").isequal(judge[2], check_dtype=True)
            counts.append(len(planned))
    assert counts[1] == counts[2]  # the third launch was a kept one
    assert bool(planned) == plans


@pytest.mark.parametrize(("setting", "value"), [("rows_per_warp", 1), ("packing", "on")])
def test_settings_are_asked_again(setting: str, value: Any, gpu: Any, planned: list[str]) -> None:
    ours, judge = operands("FP64", "gpu", "device"), operands("FP64", "cpu")
    counts = []
    for settings in ({}, {setting: value}, {}):
        with gb.config.set(**settings):
            for _ in range(2):
                planned.clear()
                STATEMENTS["mask"][1](*ours, SEMIRINGS["FP64"])
                STATEMENTS["mask"][1](*judge, SEMIRINGS["FP64"])
                assert ours[2].to("cpu").isequal(judge[2])
                counts.append(len(planned))
    assert counts == [1, 0, 1, 0, 0, 0]


def test_an_output_that_is_an_operand_has_arrays_of_its_own(gpu: Any) -> None:
    ours, judge = operands("FP64", "gpu", "device"), operands("FP64", "cpu")
    for A, x, y, _ in (ours, judge):
        for _ in range(3):
            x(x.S, accum=gb.binary.plus) << A.mxv(x, "min_plus")
            y(y.S) << A.mxv(x, "plus_times")
    assert all(one.to("cpu").isequal(other) for one, other in zip(ours[1:], judge[1:], strict=True))


def test_row_heads_are_asked_for_each_time(gpu: Any, planned: list[str]) -> None:
    A, x, y, m = operands("INT32", "gpu", "zerocopy")
    for op in ("plus_second", "any_pair"):
        with gb.config.set(head_cache="on"):
            for _ in range(3):
                y(m.S) << A.mxv(x, op)
    assert not A._store.in_stored_order()[0].layouts[KeptPulls]
    assert len(planned) == 6


def test_launches_that_read_packed_words_are_kept_as_long_as_these(gpu: Any, planned: list[str]) -> None:
    ours, judge = operands("INT32", "gpu", "zerocopy"), operands("INT32", "cpu")
    layouts = ours[0]._store.in_stored_order()[0].layouts
    built, counts = [], []
    for turn in range(8):
        if turn == 5:
            layouts[PackedValues].drop()
        planned.clear()
        for A, x, y, m in (ours, judge):
            y(m.S, accum=gb.binary.min) << A.mxv(x, "min_plus")
            x << x.apply("ainv")
        assert ours[2].to("cpu").isequal(judge[2])
        built.append(layouts[PackedValues].built is not None)
        counts.append(len(planned))
    assert built == [False, *[True] * 7]
    assert counts == [1, 1, 0, 0, 0, 1, 0, 0]  # the product that finds none rebuilds the words


def test_what_moves_is_counted(counting: Any) -> None:
    A, x, y, m = operands("FP64", "gpu", "zerocopy")
    with gb.config.set(packing="off", head_cache="off"):
        for _ in range(3):
            y(m.S) << A.mxv(x, "plus_times")
        assert A._store.in_stored_order()[0].layouts[KeptPulls]
        with stats.collect() as traffic:
            y(m.S) << A.mxv(x, "plus_times")
    assert traffic.link_bytes > 0


def test_launches_of_many_statements_are_not_all_kept(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pull_cache, "_MOST", 2)
    A, x, y, m = operands("FP64", "gpu", "device")
    kept = A._store.in_stored_order()[0].layouts[KeptPulls]
    for accum in (None, gb.binary.plus):
        for vector in (x, x.dup("INT32")):
            for _ in range(2):
                y(m.S, accum=accum) << A.mxv(vector, "plus_times")
                assert len(kept) <= 2
    assert kept


def test_an_output_of_equal_values_gets_those_of_the_product(gpu: Any, planned: list[str]) -> None:
    """An iso-valued output has no array of values; a kept launch allocates and writes one."""
    ours, judge = operands("INT32", "gpu", "device"), operands("INT32", "cpu")
    A, x = ours[:2]
    for _ in range(2):
        y = x.dup()
        y(ours[3].S) << A.mxv(x, "min_plus")
    planned.clear()
    store = engines.get("gpu").vector_from_arrays("full", (None,), x.dtype, N)
    y, z = gb.Vector._from_store(x._engine, store, x.dtype, N), gb.Vector.from_dense(np.ones(N, np.int32))
    for M, v, w, m in ((A, x, y, ours[3]), (*judge[:2], z, judge[3])):
        w(m.S) << M.mxv(v, "min_plus")
    assert not planned
    assert y.dup().to("cpu").isequal(z)
