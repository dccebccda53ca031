"""Results that do not fit device memory, and rows longer than the budget, are computed piece by piece."""

from __future__ import annotations

import gc
import mmap
import tracemalloc
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.device import cuda
from sparsezc.device.protocol import Pages
from sparsezc.engines.gpu.storage import row_blocks
from tests.emulator.device import _PAGES

ROWS, COLUMNS = 4, 6_000
BUDGET = 60_000  # bytes: a fifth of a row's ids and values
RNG = np.random.default_rng(4)
ORDER = RNG.permutation(COLUMNS).tolist()


def matrix(seed: int, dtype: str = "FP64", nrows: int = ROWS, ncols: int = COLUMNS, density: float = 0.5) -> gb.Matrix:
    rng = np.random.default_rng(seed)
    i, j = np.nonzero(rng.random((nrows, ncols)) < density)
    return gb.Matrix.from_coo(i, j, rng.integers(1, 9, i.size), dtype, nrows=nrows, ncols=ncols)


def given(placement: str | None, nrows: int = ROWS) -> Any:
    """Return matrices of few rows, each larger than the budget, and their operands."""
    with gb.config.set(engine="cpu", budget=None):
        made = {
            "A": matrix(1, nrows=nrows), "B": matrix(2, nrows=nrows), "I": matrix(3, "INT32", nrows),
            "M": matrix(4, "BOOL", nrows, density=0.3), "few": matrix(5, nrows=2, ncols=2, density=1.0),
            "tall": matrix(7, nrows=COLUMNS, ncols=nrows), "rows": matrix(8, nrows=2, ncols=nrows, density=0.7),
            "u": gb.Vector.from_dense(np.arange(COLUMNS) % 7 + 1.0),
            "some": gb.Vector.from_coo(np.arange(0, COLUMNS, 3), 2.0, size=COLUMNS),
            "v": gb.Vector.from_dense(np.arange(nrows) + 1.0),
        }  # fmt: skip
    with gb.config.set(budget=None):
        if placement is not None:
            made = {k: x.to("gpu", placement=placement) if x.ndim == 2 else x.to("gpu") for k, x in made.items()}
    return SimpleNamespace(**made)


def written(write: Callable[[gb.Matrix, Any], None]) -> Callable[[Any], gb.Matrix]:
    def run(e: Any) -> gb.Matrix:
        C: gb.Matrix = e.A.dup()
        write(C, e)
        return C

    return run


STATEMENTS: dict[str, Callable[[Any], gb.Matrix]] = {
    "apply": lambda e: e.A.apply("ainv").new(),
    "apply by position": lambda e: e.A.apply("colindex").new(),
    "cast": lambda e: e.A.dup("FP32"),
    "select": lambda e: e.A.select(">", 4).new(),
    "select by a mask": lambda e: e.A.select(e.M.S).new(),
    "ewise_add": lambda e: e.A.ewise_add(e.I, "plus").new(),
    "ewise_mult": lambda e: e.A.ewise_mult(e.B, "minus").new(),
    "ewise_union": lambda e: e.A.ewise_union(e.B, "minus", 1, 2).new(),
    "with a full vector": lambda e: e.A.ewise_mult(e.u, "times").new(),
    "with a vector of gaps": lambda e: e.A.ewise_mult(e.some, "times").new(),
    "with a vector on the left": lambda e: e.A.T.ewise_mult(e.v, "times").new(),
    "and a vector": lambda e: e.A.ewise_add(e.some, "plus").new(),
    "masked": written(lambda C, e: C(e.M.S) << e.B),
    "masked by values, replaced": written(lambda C, e: C(~e.M.V, replace=True) << e.B),
    "accumulated": written(lambda C, e: C("plus") << e.I),
    "rows": lambda e: e.A[[3, 0, 3], :].new(),
    "columns in order": lambda e: e.A[:, ::2].new(),
    "columns in disorder": lambda e: e.A[:, ORDER].new(),
    "columns again and again": lambda e: e.A[:, [5, 3] * 500].new(),
    "a matrix into rows": written(lambda C, e: C[[2, 0], :] << e.B[:2, :].new()),
    "a number everywhere": written(lambda C, e: C[:, :] << 3),
    "a number beside a mask": written(lambda C, e: C(~e.M.S) << 3),
    "a number into rows": written(lambda C, e: C[[1, 3], :] << 3),
    "kronecker": lambda e: e.few.kronecker(e.A, "times").new(),
    "outer": lambda e: e.v.outer(e.u, "times").new(),
    "product at a mask": lambda e: e.tall.mxm(e.A[:, : e.A.nrows].new(), "plus_times").new(mask=e.tall.S),
}


@pytest.mark.parametrize("placement", ["device", "zerocopy"])
def test_answers_are_the_cpu_engine_s(placement: str, gpu: Any) -> None:
    there, here = given(placement), given(None)
    for name, statement in STATEMENTS.items():
        with gb.config.set(engine="cpu"):
            wanted = statement(here)
        with gb.config.set(budget=BUDGET, fallback="error"):
            found = statement(there)
        assert found.isequal(wanted, check_dtype=True), name
        rows = found._store.rows
        for buffer in (rows.indices, rows.values):
            shared = buffer in (there.A._store.rows.indices, there.A._store.rows.values)
            assert shared or buffer.placement != "device" or buffer.nbytes <= BUDGET, name


@pytest.mark.slow
def test_what_the_device_holds_meanwhile(emulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Peak memory stays within the budget, the vectors and the interpreter's own; host pages are not traced."""

    def untraced(nbytes: int, kind: str, wait: bool = True) -> Pages:
        whole = np.frombuffer(mmap.mmap(-1, nbytes + 1), np.uint8)
        _PAGES[id(whole)] = whole  # the emulated device refuses managed memory that it does not know
        array = whole[:nbytes]
        return Pages(array, array.ctypes.data, kind)

    monkeypatch.setattr(emulated, "pages", untraced)
    before = cuda.use(emulated)
    space, vectors = 10 * BUDGET, 6 * 8 * COLUMNS  # vectors by position exist beside the budget
    python = 400_000  # bytes of the interpreter's own objects, a few for each block
    try:
        there = given("zerocopy", 100)
        assert there.A.nvals * 12 > 2 * (space + vectors + python)
        with gb.config.set(budget=space, fallback="error"):
            for name, statement in STATEMENTS.items():
                statement(there)  # compiles the kernels
                gc.collect()
                tracemalloc.start()
                statement(there)
                most = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                assert most < space + vectors + python, (name, most)
    finally:
        cuda.use(before)


def test_a_product_s_row_that_is_too_long_is_refused_with_a_budget_that_works(gpu: Any) -> None:
    there, here = given("zerocopy"), given(None)
    wanted = here.rows.mxm(here.A, "plus_times").new()
    C = gb.Matrix.from_coo([0], [1], [5.0], nrows=2, ncols=COLUMNS).to("gpu")
    with gb.config.set(fallback="error"):
        with (
            gb.config.set(budget=20_000),
            pytest.raises(gb.exceptions.OutOfMemory, match=r"mxm: a row of the product has [\d,]+ entries") as said,
        ):
            C << there.rows.mxm(there.A, "plus_times")
        assert C.to_dicts() == {0: {1: 5.0}}  # the output is unchanged
        enough = int(str(said.value).split(" are enough")[0].split("; ")[1].replace(",", ""))
        with gb.config.set(budget=enough):
            C << there.rows.mxm(there.A, "plus_times")
    assert C.isequal(wanted)


def test_blocks_leave_long_rows_to_themselves(gpu: Any) -> None:
    offsets = gpu.xp.asarray(np.array([0, 10, 20, 1020, 1030, 1030, 1130, 3000]))
    with gb.config.set(budget=200):  # 100 entries of one byte
        assert row_blocks.blocks([offsets], 1) == [(0, 2), (2, 3), (3, 6), (6, 7)]
        cut = row_blocks.blocks([offsets], 1, cut=row_blocks.evenly(offsets))
    assert cut[:2] == [(0, 2), (2, 3, 20, 120)]
    assert [part[:2] for part in cut].count((2, 3)) == 10
    assert [part[:2] for part in cut].count((6, 7)) == 19
    assert cut[-1] == (6, 7, 2930, 3000)
    assert [stop for *_, stop in cut[1:10]] == [start for *_, start, _ in cut[2:11]]
