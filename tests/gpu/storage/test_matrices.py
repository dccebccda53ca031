"""Operations that build matrices on the GPU engine: block by block where they do not fit, and never on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc import memory
from sparsezc.device import cuda
from sparsezc.engines.gpu.storage import row_blocks
from sparsezc.memory import budget, zerocopy
from sparsezc.memory.csr import Csr

PLACEMENTS = ("device", "zerocopy")
N = 70

#: Statements over matrices A, B and C (N x N) and a mask M; each returns its result.
STATEMENTS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "ewise_add": lambda A, B, C, M: A.ewise_add(B, "plus").new(),
    "ewise_mult transposed": lambda A, B, C, M: A.ewise_mult(B.T, "times").new(),
    "ewise_union": lambda A, B, C, M: A.ewise_union(B, "minus", 1, 2).new(),
    "masked": lambda A, B, C, M: written(C, M.S, "plus", A.ewise_add(B, "max")),
    "masked by values, the rest kept": lambda A, B, C, M: written(C, ~M.V, None, A.apply("abs")),
    "apply into another type": lambda A, B, C, M: A.apply("ainv").new("FP32"),
    "select of the transpose": lambda A, B, C, M: A.T.select("triu", 1).new(),
    "transpose": lambda A, B, C, M: A.T.new(),
    "rows": lambda A, B, C, M: A[list(range(0, N, 2)), :].new(),
    "rows and columns, some twice": lambda A, B, C, M: A[[5, 1, 5, 69], [3, 3, 60, 0, 7]].new(),
    "columns backwards": lambda A, B, C, M: A[:, ::-1].new(),
    "assign a part": lambda A, B, C, M: assigned(C, (slice(0, 40), slice(10, 30)), A[:40, :20].new()),
    "assign out of order": lambda A, B, C, M: assigned(C, ([7, 3], [9, 2, 4]), A[[0, 1], [0, 1, 2]].new()),
    "assign a number": lambda A, B, C, M: assigned(C, ([1, 2], slice(None)), 3),
    "assign a row": lambda A, B, C, M: assigned(C, (4, slice(None)), A[5, :].new()),
    "mxm": lambda A, B, C, M: A.mxm(B, "plus_times").new(),
    "mxm of one value": lambda A, B, C, M: A.mxm(B, "any_pair").new(),
    "mxm counted": lambda A, B, C, M: A.T.mxm(B, "plus_pair").new("INT64"),
    "mxm under a mask": lambda A, B, C, M: A.mxm(B.T, "min_plus").new(mask=M.S),
    "mxm under the rest of a mask": lambda A, B, C, M: written(C, ~M.V, "max", A.mxm(B, "max_first")),
    "power": lambda A, B, C, M: A.power(3, "plus_times").new(),
    "kronecker": lambda A, B, C, M: A[:9, :8].new().kronecker(B[:7, :6].new(), "times").new(),
    "outer": lambda A, B, C, M: A[:, 1].new().outer(B[2, :].new(), "plus").new(),
    "moved": lambda A, B, C, M: A.reposition(-3, 5).new(),
    "selected by a mask": lambda A, B, C, M: A.select(~M.S).new(),
    "times a vector": lambda A, B, C, M: A.ewise_mult(B[2, :].new(), "times").new(),
    "a vector minus": lambda A, B, C, M: B[:, 2].new().ewise_add(A, "minus").new(),
    "a column": lambda A, B, C, M: A[:, 7].new(),
    "a row of the transpose": lambda A, B, C, M: A.T[7, :].new(),
    "an element": lambda A, B, C, M: A[3, 4].new(),
    "diagonal": lambda A, B, C, M: A.diag(2),
    "resize": lambda A, B, C, M: resized(A.dup(), 50, 90),
}


def written(C: Any, mask: Any, accum: Any, expression: Any) -> Any:
    C(mask=mask, accum=accum) << expression
    return C


def assigned(C: Any, keys: Any, value: Any) -> Any:
    C[keys] = value
    return C


def resized(A: Any, *shape: int) -> Any:
    A.resize(*shape)
    return A


def operands(placement: str | None) -> list[Any]:
    rng = np.random.default_rng(3)
    made = []
    for name in "ABCM":
        at = np.unique(rng.integers(0, N * N, 600))
        values = rng.integers(-3, 9, at.size)
        x = gb.Matrix.from_coo(at // N, at % N, values, "INT32", nrows=N, ncols=N, name=name)
        made.append(x if placement is None else x.to("gpu", placement=placement))
    return made


def test_results_are_the_same_in_one_block_and_in_many(
    gpu: Any, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    """Results also keep their operands' placement, unless they do not fit."""
    cut: list[int] = []
    real = row_blocks.blocks

    def counting(*arguments: Any, **options: Any) -> Any:
        ranges = real(*arguments, **options)
        cut.append(len(ranges))
        return ranges

    monkeypatch.setattr(row_blocks, "blocks", counting)
    for name, statement in STATEMENTS.items():
        wanted = statement(*operands(None))
        for placement in PLACEMENTS:
            for space in (1 << 28, 20_000):
                monkeypatch.setattr(budget, "available", lambda space=space: space)
                before = len(cut)
                with gb.config.set(fallback="error"):
                    found = statement(*operands(placement))
                halved = 1 + (max(cut[before:], default=1) > 1)  # a result of several blocks gets half of the memory
                said = name, placement, space
                assert found.isequal(wanted, check_dtype=True), said
                if found.ndim == 2 and found.nvals and name != "outer":  # outer is computed from vectors
                    rows = found._store.rows
                    fits = (rows.indices.nbytes + rows.values.nbytes * (not rows.iso)) * halved <= space
                    assert found._store.placement == (placement if fits or placement != "device" else "hybrid"), said
    assert max(cut) > 3
    assert 1 in cut


def test_no_operation_copies_a_matrix_to_the_host(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither ids nor values are copied, but a few counts, or the one row that was asked for."""
    crossed: list[int] = []

    def watched(real: Any) -> Any:
        def read(*arguments: Any) -> Any:
            found = real(*arguments)
            crossed.append(found.size)
            return found

        return read

    for placement in PLACEMENTS:
        given = {name: operands(placement) for name in STATEMENTS}
        with monkeypatch.context() as patched, gb.config.set(fallback="error"):
            for kind in (memory.device.DeviceBuffer, zerocopy.ZerocopyBuffer):
                patched.setattr(kind, "read", watched(kind.read))
            patched.setattr(gpu, "asnumpy", watched(gpu.asnumpy))
            for name, statement in STATEMENTS.items():
                crossed.clear()
                statement(*given[name])
                assert sum(crossed) < 60, (name, placement, crossed)  # a matrix has at least 560 entries


def test_ids_of_8_bytes_and_iso_values(gpu: Any) -> None:
    """Operands of different id widths combine, and an iso-valued matrix takes no memory for more values."""
    rng = np.random.default_rng(5)
    at = np.unique(rng.integers(0, N * N, 500))
    indptr = np.searchsorted(at // N, np.arange(N + 1))
    for placement in PLACEMENTS:
        csr = Csr.from_arrays(indptr, at % N, np.array([2.0]), N)
        wide = gb.Matrix._from_csr(csr.place(placement, ids=np.uint64), "gpu")
        narrow = gb.Matrix._from_csr(csr.place(placement), "gpu")
        assert (wide._store.rows.wide, narrow._store.rows.wide) == (True, False)
        host = gb.Matrix._from_csr(csr, "cpu")
        for left in (wide, narrow):
            for right in (wide, narrow):
                assert left.ewise_add(right.T, "plus").new().isequal(host.ewise_add(host.T, "plus").new())
        masked = narrow.dup().select("tril").new(mask=wide.S)
        assert masked.isequal(host.select("tril").new())
        assert masked._store.rows.iso
        assert wide[::3, ::2].new().isequal(host[::3, ::2].new())


def test_a_number_everywhere_goes_where_there_is_room(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    A = operands("device")[0]
    before = A.dup()
    monkeypatch.setattr(budget, "available", lambda: 10_000)
    with (
        gb.config.set(host_budget=19_000),
        pytest.raises(
            gb.exceptions.OutOfMemory, match=r"a scalar at 70 x 70 positions makes 4,900 entries, which needs 19,600"
        ),
    ):
        A << 1
    assert A.isequal(before)
    A << 1
    assert A._store.placement == "hybrid"
    assert A.isequal(gb.Matrix.from_scalar(1, 70, 70, A.dtype))


def test_a_number_under_a_mask_into_an_empty_matrix_is_the_mask_s_pattern(emulated: Any) -> None:
    M = gb.Matrix.from_coo([0, 0, 3], [1, 2, 0], [0, 5, 7], nrows=4, ncols=3)
    before = cuda.use(emulated)
    try:
        C, B = gb.Matrix("FP64", 4, 3), M.to("gpu", placement="device")
        emulated.reset()
        C(B.S) << 2.5
        assert "merge" not in emulated.launches
        for mask, accum in (("V", None), ("~S", None), ("S", gb.binary.plus)):  # these need the merge
            left, right = C.dup(), C.to("cpu").dup()
            for out, source in ((left, B), (right, M)):
                out(mask={"V": source.V, "~S": ~source.S, "S": source.S}[mask], accum=accum) << 4
            assert left.to("cpu").isequal(right)
        C[1, 1] = 9  # C must not share memory with the mask
        assert C.to_dicts() == {0: {1: 2.5, 2: 2.5}, 1: {1: 9.0}, 3: {0: 2.5}}
        assert B.to("cpu").isequal(M)
        empty = gb.Matrix("INT8", 4, 3)
        empty(B.V) << 3
        assert empty.to_dicts() == {0: {2: 3}, 3: {0: 3}}
    finally:
        cuda.use(before)


def test_columns_beyond_4_bytes_meet_others(gpu: Any) -> None:
    """A matrix resized to more than 2^32 columns keeps 4-byte ids; an operand with 8-byte ids gives a wide result."""
    wide = 2**33
    A = gb.Matrix.from_coo([0, 1], [1, 3], [1, 2], nrows=2, ncols=4).to("gpu")
    A.resize(2, wide)
    B = gb.Matrix.from_coo([1], [2**32 + 7], [5], nrows=2, ncols=wide).to("gpu")
    with gb.config.set(fallback="error"):
        for left, right in ((A, B), (B, A)):
            C = left.ewise_add(right, "plus").new()
            assert [x.tolist() for x in C.to_coo()] == [[0, 1, 1], [1, 3, 2**32 + 7], [1, 2, 5]]
        A(accum="plus") << B
    assert A.isequal(C)


def test_one_element_of_a_very_wide_matrix(gpu: Any) -> None:
    """Presence words of all its positions would not fit."""
    C = gb.Matrix.from_coo([0], [7], [1], nrows=2, ncols=2**60).to("gpu")
    with gb.config.set(fallback="silent"):
        C[1, 2**59] = 4
    assert C.to_dicts() == {0: {7: 1}, 1: {2**59: 4}}


def test_products_of_rows_that_meet_nothing_are_cut_too(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are cut by A's entries even where B has none for them, and repeated columns count each time."""
    rng = np.random.default_rng(2)
    at = np.unique(rng.integers(0, 200 * 200, 5_000))
    A = gb.Matrix.from_coo(at // 200, at % 200, 1.5, nrows=200, ncols=200)
    B = gb.Matrix.from_coo([0], [0], [1.0], nrows=200, ncols=200)
    wanted, repeated = A.mxm(B, "plus_times").new(), A[:, [3] * 50].new()
    cut: list[int] = []
    real = row_blocks.blocks
    monkeypatch.setattr(row_blocks, "blocks", lambda *a, **k: cut.append(len(real(*a, **k))) or real(*a, **k))
    monkeypatch.setattr(budget, "available", lambda: 20_000)
    X, Y = A.to("gpu", placement="zerocopy"), B.to("gpu", placement="zerocopy")
    assert X.mxm(Y, "plus_times").new().isequal(wanted)
    assert max(cut) > 10
    cut.clear()
    assert X[:, [3] * 50].new().isequal(repeated)
    assert max(cut) > 10


def test_what_does_not_depend_on_the_entries_is_held_once(gpu: Any) -> None:
    """A result with equal values is stored with one value, as sums over a pattern and closeness need."""
    A = gb.Matrix.from_coo([0, 0, 3, 7], [1, 5, 2, 7], [4.0, 0.0, -1.0, 9.0], nrows=9, ncols=9)
    B = A.to("gpu")
    made = {
        "one": (lambda M: M.apply(gb.unary.one), True),
        "second": (lambda M: M.apply(gb.binary.second, right=7), True),
        "first": (lambda M: M.apply(gb.binary.first, left=7), True),
        "plus": (lambda M: M.apply(gb.binary.plus, right=7), False),
        "row": (lambda M: M.apply("rowindex"), False),
    }
    for name, (run, once) in made.items():
        found = run(B).new()
        assert found.to("cpu").isequal(run(A).new(), check_dtype=True), name
        assert found._store.rows.iso == once, name
