"""Operations that the GPU engine lacks run on the CPU engine: with one warning a kind, silently, or not at all."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import sparsezc as gb
from sparsezc.engines.gpu import gpu_engine, matrix_statements

pytestmark = pytest.mark.usefixtures("gpu")


@pytest.fixture(autouse=True)
def an_engine_that_lacks_something(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Remove ewise_add and ewise_mult of matrices from the GPU engine, and forget earlier warnings."""
    monkeypatch.setattr(gpu_engine, "_warned", set())
    for operation in ("ewise_add", "ewise_mult"):
        monkeypatch.delitem(matrix_statements._MAKE, operation)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        yield


def matrices(placement: str = "zerocopy") -> tuple[Any, Any]:
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1, 2, 3], nrows=3, ncols=3, name="A")
    B = gb.Matrix.from_coo([0, 1, 1], [1, 1, 2], [10, 20, 30], nrows=3, ncols=3, name="B")
    return A.to("gpu", placement=placement), B.to("gpu", placement=placement)


def test_one_warning_for_each_kind(recwarn: pytest.WarningsRecorder) -> None:
    A, B = matrices()
    for _ in range(3):
        A.ewise_add(B, gb.binary.plus).new()
        A.ewise_mult(B, gb.binary.plus).new()
    said = [str(w.message) for w in recwarn if issubclass(w.category, gb.exceptions.PerformanceWarning)]
    assert said == [
        f"the GPU engine has no ewise_{kind} of a Matrix: the CPU engine runs it, on copies of its operands"
        for kind in ("add", "mult")
    ]
    assert all(w.filename == __file__ for w in recwarn)  # the warning names the line of the statement


@pytest.mark.parametrize("placement", ["device", "zerocopy"])
def test_the_result_is_right_and_comes_back(placement: str) -> None:
    A, B = matrices(placement)
    with gb.config.set(fallback="silent", placement=placement):
        C = A.ewise_add(B, gb.binary.plus).new()
        assert (C._engine.name, C._store.placement) == ("gpu", placement)
        assert C.isequal(A.to("cpu").ewise_add(B.to("cpu"), gb.binary.plus).new().to("gpu"))
        A << A.ewise_mult(B, gb.binary.times)
    assert A._store.placement == placement
    assert [part.tolist() for part in A.to_coo()] == [[0, 1], [1, 2], [10, 60]]


def test_a_result_stays_where_its_output_lay() -> None:
    A, B = matrices("zerocopy")
    with gb.config.set(fallback="silent", placement="device"):
        A << A.ewise_add(B, gb.binary.plus)
    assert A._store.placement == "zerocopy"


def test_silence_and_refusal() -> None:
    A, B = matrices()
    with gb.config.set(fallback="silent"), warnings.catch_warnings():
        warnings.simplefilter("error")
        A.ewise_add(B, gb.binary.plus).new()
    with gb.config.set(fallback="error"):
        with pytest.raises(gb.exceptions.NotImplementedException, match=r"no ewise_add of a Matrix.*config\.fallback"):
            A.ewise_add(B, gb.binary.plus).new()
        w = A.mxv(gb.Vector.from_coo([0, 1, 2], 1), gb.semiring.plus_times).new()  # operations that it has still run
    assert w.to_dict() == {0: 1, 1: 2, 2: 3}


def test_vectors_follow_matrices_and_come_back_for_the_next() -> None:
    A, _ = matrices()
    v = gb.Vector.from_coo([0, 1, 2], [1, 2, 3])
    w = gb.Vector(int, 3)
    w(~v.S) << A.mxv(v, gb.semiring.plus_times)
    assert {x._engine.name for x in (v, w, A)} == {"gpu"}
    C = gb.Matrix.from_coo([0], [2], [5], nrows=3, ncols=3)
    w << C.mxv(v, gb.semiring.plus_times)
    assert {x._engine.name for x in (v, w, C)} == {"cpu"}
    assert w.to_dict() == {0: 15}
    assert A._engine.name == "gpu"


def test_a_small_matrix_follows_to_the_gpu() -> None:
    A, B = matrices()
    C = B.to("cpu")
    with gb.config.set(fallback="silent"):
        D = A.ewise_add(C, gb.binary.plus).new()
    assert {x._engine.name for x in (A, C, D)} == {"gpu"}
