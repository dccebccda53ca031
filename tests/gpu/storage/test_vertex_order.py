"""Matrices whose vertices are stored in another order: users never see it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.engines.gpu.storage import vertex_order
from sparsezc.engines.gpu.storage.vector_store import VectorStore

N = 300


def graph(*, symmetric: bool) -> gb.Matrix:
    rng = np.random.default_rng(5)
    present = rng.random((N, N)) < 0.03
    if symmetric:
        present |= present.T
    rows, columns = np.nonzero(present)
    values = (rows + 1) * (columns + 1) % 251 + 1
    return gb.Matrix.from_coo(rows, columns, values, "INT32", nrows=N, ncols=N)


@pytest.mark.parametrize("symmetric", [True, False], ids=["symmetric", "directed"])
@pytest.mark.parametrize("placement", ["device", "hybrid"])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "compressed"])
def test_answers_are_in_the_users_numbers(packed: bool, placement: str, symmetric: bool, gpu: Any) -> None:
    A = graph(symmetric=symmetric)
    B = A.to("gpu", placement=placement, with_transpose=True).reorder(np.random.default_rng(1).permutation(N))
    B = B.compress() if packed else B
    u = gb.Vector.from_coo(np.arange(0, N, 3), np.arange(0, N, 3), "INT32", size=N)
    mask = gb.Vector.from_coo(np.arange(0, N, 2), True, size=N)
    for name in ("plus_times", "min_plus", "any_secondi"):
        for got, wanted in (
            (B.mxv(u, name).new(mask=mask.S), A.mxv(u, name).new(mask=mask.S)),
            (u.vxm(B, name).new(mask=~mask.S), u.vxm(A, name).new(mask=~mask.S)),
        ):
            if name == "any_secondi":  # any product is right: the pattern must be equal
                assert got.to("cpu").apply("one").new().isequal(wanted.apply("one").new())
            else:
                assert got.to("cpu").isequal(wanted)
    assert gb.algorithms.bfs(B, 7).to("cpu").isequal(gb.algorithms.bfs(A, 7))
    assert gb.algorithms.pagerank(B).to("cpu").isclose(gb.algorithms.pagerank(A), abs_tol=1e-9)
    assert gb.algorithms.sssp(B, 7).to("cpu").isequal(gb.algorithms.sssp(A, 7))
    assert B.reduce_rowwise("plus").new().to("cpu").isequal(A.reduce_rowwise("plus").new())
    assert B.to("cpu").isequal(A)
    assert B.T.new().to("cpu").isequal(A.T.new())


@pytest.mark.parametrize("name", ["degree", "reverse_cuthill_mckee", "communities"])
def test_orders_and_matrices_go_together(name: str, gpu: Any) -> None:
    A = graph(symmetric=True)
    B = A.to("gpu").reorder(getattr(gb.orders, name)(A))
    assert gb.algorithms.connected_components(B).to("cpu").isequal(gb.algorithms.connected_components(A))
    again = B.reorder(np.arange(N)[::-1])
    assert gb.algorithms.bfs(again, 3).to("cpu").isequal(gb.algorithms.bfs(A, 3))


#: Reads and changes of a vector `w` that is in the order of matrix `A`.
USES: dict[str, Any] = {
    "entries": lambda w, A: w,
    "a copy": lambda w, A: w.dup("FP64"),
    "fewer positions": lambda w, A: resized(w, N - 7),
    "more positions": lambda w, A: resized(w, N + 40),
    "part of it": lambda w, A: w[10:90].new(),
    "positions": lambda w, A: w.apply("rowindex").new(),
    "chosen by position": lambda w, A: w.select("rowle", 40).new(),
    "moved": lambda w, A: w.reposition(5).new(),
    "values alone": lambda w, A: w.apply("ainv").new(mask=w.S),
    "with one in no order": lambda w, A: w.ewise_add(gb.Vector.from_coo(range(0, N, 5), 7, "INT32", size=N)).new(),
    "given an entry": lambda w, A: assigned(w, 3, 77),
    "given a part": lambda w, A: assigned(w, slice(10, 20), 78),
    "emptied and given entries": lambda w, A: refilled(w),
    "beside a matrix": lambda w, A: A.ewise_mult(w).new().reduce_rowwise("plus").new(),
    "as a mask of rows": lambda w, A: A.reduce_rowwise("plus").new(mask=~w.S),
    "with the matrix again": lambda w, A: A.mxv(w, "min_plus").new(mask=w.V),
    "by position with the matrix": lambda w, A: A.mxv(w, "min_secondi").new(),
    "of a type that kernels do not know": lambda w, A: w.apply(gb.unary.register_anonymous(lambda x: x + 1)).new(),
    "a number": lambda w, A: w.reduce("max").new(),
    "the matrix's number": lambda w, A: A.reduce_scalar("plus").new(),
    "one entry": lambda w, A: w[7].new(),
}


def resized(w: gb.Vector, size: int) -> gb.Vector:
    w.resize(size)
    return w


def assigned(w: gb.Vector, where: Any, value: int) -> gb.Vector:
    w[where] << value
    return w


def refilled(w: gb.Vector) -> gb.Vector:
    w.clear()
    w[[2, 5]] << 9
    return w


@pytest.mark.parametrize("use", USES)
def test_a_vector_in_a_matrix_s_order_is_read_in_the_users(use: str, gpu: Any) -> None:
    A = graph(symmetric=True)
    B = A.to("gpu", with_transpose=True).reorder(np.random.default_rng(1).permutation(N))
    u = gb.Vector.from_coo(np.arange(0, N, 3), np.arange(0, N, 3), "INT32", size=N)
    want, got = A.mxv(u, "min_plus").new(), B.mxv(u.to("gpu"), "min_plus").new()
    assert got._store.order is not None
    with gb.config.set(fallback="silent"):
        made, judge = USES[use](got, B), USES[use](want, A)
    if isinstance(judge, gb.Scalar):
        assert made.value == judge.value
        return
    assert made.to("cpu").isequal(judge)
    assert np.array_equal(gpu.asnumpy(gb.io.to_array(made, -1)), gb.io.to_array(judge, -1))
    assert got.to("cpu").isequal(want)  # the vector itself is unchanged


def test_an_order_is_settled_once_a_statement(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each vector is put into the order before the statement runs, and no kernel needs the order meanwhile."""
    A = graph(symmetric=True)
    B = A.to("gpu", with_transpose=True).reorder(np.random.default_rng(1).permutation(N))
    v, w = gb.Vector.from_scalar(1, N, "INT32").to("gpu"), gb.Vector.from_scalar(9, N, "INT32").to("gpu")
    mask = gb.Vector.from_coo([1, 2], True, size=N).to("gpu")
    asked: list[VectorStore] = []
    moves: list[int] = []
    arrange, moved = VectorStore.arrange, vertex_order.moved

    def arranged(self: VectorStore, order: Any) -> None:
        asked.append(self)
        arrange(self, order)

    def counted(*given: Any) -> Any:
        moves.append(1)
        return moved(*given)

    monkeypatch.setattr(VectorStore, "arrange", arranged)
    monkeypatch.setattr(vertex_order, "moved", counted)
    for expected in (3, 0):
        asked.clear()
        moves.clear()
        w(mask.S, gb.binary.min) << B.mxv(v, "min_plus")
        assert len(asked) == 3
        assert {id(store) for store in asked} == {id(x._store) for x in (v, w, mask)}
        assert len(moves) == expected  # a vector that is in the order stays there
