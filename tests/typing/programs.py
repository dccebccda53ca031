"""Programs as users write them, with the types that a checker must find. test_typing.py checks and runs them.

``w << expression`` is a statement here, which mypy accepts. Pyright reports it unless
``reportUnusedExpression = "none"`` is set; ``w.update(expression)`` and ``w(mask).update(expression)``, which do the
same, need no setting.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import sparsezc as gb
from sparsezc.core.matrix import TransposedMatrix
from sparsezc.expr.dispatch import Target
from sparsezc.expr.expression import Expression
from sparsezc.expr.mask import Mask
from sparsezc.expr.position import Position
from sparsezc.ops.overloads import Pair


def bfs(A: gb.Matrix, source: int) -> gb.Vector:
    """Return each vertex's level from a source."""
    level = gb.Vector(int, A.nrows)
    frontier = gb.Vector.from_coo([source], [True], size=A.nrows)
    assert_type(frontier, gb.Vector)
    assert_type(~level.S, Mask)
    for depth in range(A.nrows):
        level(frontier.S)[:] << depth
        frontier(~level.S, replace=True) << frontier.vxm(A, gb.semiring.any_pair)
        if frontier.nvals == 0:
            break
    return level


def pagerank(A: gb.Matrix, damping: float = 0.85, rounds: int = 60) -> gb.Vector:
    """Return PageRanks of a graph in which every vertex has an out-edge."""
    n = assert_type(A.nrows, int)
    degree = A.reduce_rowwise("count").new(float)
    assert_type(A.reduce_rowwise("count"), Expression[gb.Vector])
    assert_type(degree, gb.Vector)
    share = degree.apply(gb.binary.truediv, left=damping).new()
    rank = gb.Vector.from_scalar(1.0 / n, n)
    transpose = assert_type(A.T, TransposedMatrix)
    for _ in range(rounds):
        sent = rank.ewise_mult(share, gb.binary.times).new()
        assert_type(sent, gb.Vector)
        rank << (1 - damping) / n * gb.Vector.from_scalar(1.0, n)
        rank(gb.binary.plus) << transpose.mxv(sent, gb.semiring.plus_second)
    return rank


def sssp(A: gb.Matrix, source: int) -> gb.Vector:
    """Return distances from a source, by Bellman and Ford's algorithm."""
    d = gb.Vector.from_coo([source], [0.0], size=A.nrows)
    for _ in range(A.nrows):
        before = d.dup()
        d(gb.binary.min) << gb.semiring.min_plus(d @ A)
        if d.isequal(before):
            break
    return d


def triangles(A: gb.Matrix) -> int:
    """Return the number of triangles of an undirected graph."""
    L = A.select("tril").new()
    assert_type(L, gb.Matrix)
    C = assert_type(gb.Matrix(int, L.nrows, L.ncols), gb.Matrix)
    C(L.S) << L.mxm(L.T, gb.semiring.plus_pair)
    total = assert_type(C.reduce_scalar().new(), gb.Scalar)
    return int(total.get(0))


def products(A: gb.Matrix, B: gb.Matrix, v: gb.Vector) -> None:
    assert_type(A.mxv(v), Expression[gb.Vector])
    assert_type(A.mxv(v).new(), gb.Vector)
    assert_type(v.vxm(A).new(float, mask=~v.S), gb.Vector)
    assert_type(A.mxm(B), Expression[gb.Matrix])
    assert_type(A.mxm(B.T).new(), gb.Matrix)
    assert_type(v.inner(v).new(), gb.Scalar)
    assert_type(v.outer(v).new(), gb.Matrix)
    assert_type(A @ B, Pair[gb.Matrix])
    assert_type(A @ v, Pair[gb.Vector])
    assert_type(v @ A, Pair[gb.Vector])
    assert_type(v @ v, Pair[gb.Scalar])
    assert_type((A @ B).new(), gb.Matrix)
    assert_type((A.T @ v).new(), gb.Vector)
    assert_type(((A @ B) @ v).new(), gb.Vector)
    assert_type(gb.semiring.min_plus(A @ B).new(), gb.Matrix)
    assert_type(gb.semiring.min_plus["INT64"](A @ v).new(), gb.Vector)
    assert_type(A.kronecker(B).new(), gb.Matrix)


def elementwise(A: gb.Matrix, B: gb.Matrix, v: gb.Vector) -> None:
    assert_type(A | B, Pair[gb.Matrix])
    assert_type(A & B, Pair[gb.Matrix])
    assert_type(v | v, Pair[gb.Vector])
    assert_type(gb.binary.plus(A | B).new(), gb.Matrix)
    assert_type(gb.monoid.min(v & v).new(), gb.Vector)
    assert_type(gb.binary.plus(A | B, left_default=0, right_default=0), Expression[gb.Matrix])
    assert_type(gb.binary.times(A, 2).new(), gb.Matrix)
    assert_type(gb.binary.minus(1, v).new(), gb.Vector)
    assert_type(gb.unary.abs(A), Expression[gb.Matrix])
    assert_type(gb.select.tril(A).new(), gb.Matrix)
    assert_type(gb.indexunary.rowindex(v).new(), gb.Vector)
    assert_type(gb.agg.mean(A, rowwise=True).new(), gb.Vector)
    assert_type(A + B, Expression[gb.Matrix])
    assert_type((A * 2 + 1).new(), gb.Matrix)
    assert_type(1.0 - v, Expression[gb.Vector])
    assert_type((-v).new(), gb.Vector)
    assert_type(A * v, Expression[gb.Matrix])
    assert_type(v * A, Expression[gb.Matrix])
    assert_type((A < 3).new(), gb.Matrix)
    assert_type(A.ewise_add(B, "max").new(), gb.Matrix)
    assert_type(v.ewise_mult(A), Expression[gb.Matrix])
    assert_type(A.apply("abs").select(">", 1).new(), gb.Matrix)
    A += B
    assert_type(A, gb.Matrix)


def folded(A: gb.Matrix, v: gb.Vector) -> None:
    assert_type(A.reduce_rowwise(), Expression[gb.Vector])
    assert_type(A.reduce_columnwise("max").new(), gb.Vector)
    assert_type(A.reduce_scalar(), Expression[gb.Scalar])
    assert_type(v.reduce().new(), gb.Scalar)
    assert_type(A.reduce_rowwise().reduce().new(), gb.Scalar)
    assert_type(A.mxv(v).nvals, int)
    assert_type(float(v.reduce()), float)
    assert_type(A.diag(), gb.Vector)
    assert_type(v.diag(), gb.Matrix)


def parts(A: gb.Matrix, v: gb.Vector) -> None:
    assert_type(A[0, :], Position[gb.Vector])
    assert_type(A[:, np.int64(1)].new(), gb.Vector)
    assert_type(A[[1, 2], :].new(), gb.Matrix)
    assert_type(A[1:, np.array([0, 1])], Position[gb.Matrix])
    assert_type(A[...].new(), gb.Matrix)
    assert_type(A.T[0, 1].new(), gb.Scalar)
    assert_type(A[0, 1], Position[gb.Scalar])
    assert_type(v[3], Position[gb.Scalar])
    assert_type(v[3].new(), gb.Scalar)
    assert_type(v[[0, 1]].new(), gb.Vector)
    assert_type(v[1:].reduce().new(), gb.Scalar)
    assert_type(A[0, :].to_coo(), tuple[Any, Any])


def numbers(A: gb.Matrix, v: gb.Vector) -> float:
    """Use Scalars, expressions and entries as numbers."""
    x = v.reduce().new()
    if x.value < 1e-6 or v.reduce("max").value >= 1e9:
        return 0.0
    mean = x.value / v.size + 1
    bound: float = round(x.value, 2) + abs(v.inner(v).value) ** 0.5
    places, total, share = list(range(9)), 0, 0.0
    total += A[0, 1].value
    total += places[v[3].new().value]
    share += gb.agg.mean(v).value
    for _ in range(A.T[1, 0].value):
        total -= 1
    count: int = A.reduce_scalar(gb.agg.count).new().value
    if A[0, 3].value is None:
        count += 1
    if 3 < (v @ v).new().value <= max(count, 100) and v.isequal(v):
        total += round(share)
    total += int(v.get(0) + A.get(0, 1, 0))
    return total + mean + bound + gb.algorithms.transitivity(A)


def writing(A: gb.Matrix, v: gb.Vector) -> None:
    w = gb.Vector(v.dtype, v.size, name="w")
    assert_type(w(v.S), Target)
    w << A.mxv(v)
    w << A @ v
    w << v
    w << 1
    w(v.S) << A.mxv(v)
    w(~v.V, gb.binary.plus, replace=True) << A.mxv(v)
    w(accum="max") << v[:]
    w[:] = 1
    w[0] << 2
    w[[1, 2]](v[:2].new().S) << 3
    w(v.S)[:] = 4
    A[0, :] << w
    A[[1, 2], 1] = 5
    del w[0]
    w += v
    w.update(A.mxv(v))  # the same as ``<<``, for pyright
    w(v.S).update(v)
    w[1].update(7)
    s = gb.Scalar(int)
    s << v.reduce()
    s(gb.binary.plus) << 4
    s.value = 3
    s.value += 1
    assert_type(s.get(0), Any)


def conversions(A: gb.Matrix, v: gb.Vector) -> None:
    assert_type(A.to_coo(), tuple[Any, Any, Any])
    assert_type(v.to_coo(), tuple[Any, Any])
    assert_type(v.to_dense(fill_value=0), NDArray[Any])
    assert_type(v.to_dict(), dict[int, Any])
    assert_type(A.nvals, int)
    assert_type(v.nvals, int)
    assert_type(A.shape, tuple[int, ...])
    assert_type(A.dup(float), gb.Matrix)
    assert_type(A.T.new(), gb.Matrix)
    assert_type(gb.io.to_scipy_sparse(A), Any)
    assert_type(gb.io.from_scipy_sparse(gb.io.to_scipy_sparse(A)), gb.Matrix | gb.Vector)
    assert_type(gb.Matrix.from_edgelist([(0, 1), (1, 2)], nrows=3, ncols=3), gb.Matrix)
    assert_type(gb.Matrix.from_csr([0, 1, 2], [1, 0], 1.0), gb.Matrix)


def files(A: gb.Matrix) -> gb.Matrix:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "graph.mtx")
        gb.io.write(A, path)
        again = assert_type(gb.io.read(path), gb.Matrix)
        _, labels = gb.io.read(path, relabel=True)
    assert_type(labels, NDArray[Any])
    return again


def algorithms(A: gb.Matrix) -> None:
    assert_type(gb.algorithms.pagerank(A), gb.Vector)
    assert_type(gb.algorithms.bfs(A, 0), gb.Vector)
    assert_type(gb.algorithms.triangle_count(A), int)


def main() -> None:
    """Run all programs on one small graph: 0-1, 0-2, 1-2 and 2-3, in both directions."""
    i, j = [0, 0, 1, 2, 1, 2, 2, 3], [1, 2, 2, 3, 0, 0, 1, 2]
    A = gb.Matrix.from_coo(i, j, [1, 4, 2, 1, 1, 4, 2, 1], nrows=4, ncols=4)
    v = gb.Vector.from_coo([0, 1, 3], [1, 2, 3], size=4)
    assert bfs(A, 0).to_dict() == {0: 0, 1: 1, 2: 1, 3: 2}
    assert sssp(A, 0).to_dict() == {0: 0, 1: 1, 2: 3, 3: 4}
    assert triangles(A) == 1
    ranks = gb.algorithms.pagerank(A, tol=1e-12, max_iter=1000)
    assert pagerank(A, rounds=200).isclose(ranks, rel_tol=1e-6)
    products(A, A, v)
    elementwise(A.dup(), A, v)
    folded(A, v)
    parts(A, v)
    assert numbers(A, v) > 1
    writing(A.dup(), v)
    conversions(A, v)
    assert files(A).isequal(A)
    algorithms(A)


if __name__ == "__main__":
    main()
