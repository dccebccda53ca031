"""Tables of expressions: one line for each computation, in the syntax that both modules share."""

from __future__ import annotations

from typing import Any

from tests.ops.judge import Statement

#: Expressions whose result is a vector of size n.
VECTOR: dict[str, Statement] = {
    "mxv plus_times": lambda g, o: o.A.mxv(o.v, g.semiring.plus_times),
    "mxv min_plus": lambda g, o: o.A.mxv(o.v, g.semiring.min_plus),
    "mxv transposed": lambda g, o: o.A.T.mxv(o.v, g.semiring.max_second),
    "mxv rectangular": lambda g, o: o.R.mxv(o.x, g.semiring.plus_first),
    "vxm plus_times": lambda g, o: o.v.vxm(o.A, g.semiring.plus_times),
    "vxm by name": lambda g, o: o.v.vxm(o.A, "min_first"),
    "vxm transposed": lambda g, o: o.v.vxm(o.A.T, g.semiring.plus_pair),
    "vxm rectangular": lambda g, o: o.x.vxm(o.R.T, g.semiring.min_second),
    "vxm positions": lambda g, o: o.v.vxm(o.A, g.semiring.ss.min_secondi),
    "ewise_add plus": lambda g, o: o.u.ewise_add(o.v, g.monoid.plus),
    "ewise_add first": lambda g, o: o.u.ewise_add(o.v, g.binary.first),
    "ewise_mult times": lambda g, o: o.u.ewise_mult(o.v, g.binary.times),
    "ewise_mult lt": lambda g, o: o.u.ewise_mult(o.v, g.binary.lt),
    "ewise_union minus": lambda g, o: o.u.ewise_union(o.v, g.binary.minus, 1, 2),
    "apply unary": lambda g, o: o.u.apply(g.unary.abs),
    "apply right": lambda g, o: o.u.apply(g.binary.plus, 2),
    "apply left": lambda g, o: o.u.apply(g.binary.minus, left=2),
    "apply index": lambda g, o: o.u.apply(g.indexunary.rowindex, 3),
    "select value": lambda g, o: o.u.select(">", g.Scalar.from_value(1, o.u.dtype.name)),
    "select index": lambda g, o: o.u.select(g.select.rowle, 3),
    "reduce rows": lambda g, o: o.A.reduce_rowwise(g.monoid.plus),
    "reduce rows max": lambda g, o: o.A.reduce_rowwise("max"),
    "reduce columns": lambda g, o: o.A.reduce_columnwise(g.monoid.min),
    "reduce rows of the transpose": lambda g, o: o.R.T.reduce_columnwise(g.monoid.plus),
    "extract a list": lambda g, o: o.u[_list(o.u.size, 3)],
    "extract backwards": lambda g, o: o.u[::-1],
    "extract a row": lambda g, o: o.A[_one(o), :],
    "extract a column": lambda g, o: o.A[:, _one(o)],
    "extract a row of the transpose": lambda g, o: o.A.T[_one(o), :],
    "A @ v": lambda g, o: o.A @ o.v,
    "v @ A": lambda g, o: g.semiring.max_plus(o.v @ o.A.T),
    "u & v": lambda g, o: g.binary.minus(o.u & o.v),
    "u | v": lambda g, o: g.binary.first(o.u | o.v),
    "u | v with defaults": lambda g, o: g.binary.plus(o.u | o.v, left_default=1, right_default=2),
    "u | v | w": lambda g, o: g.monoid.max(o.u | o.v | o.w),
    "u + v": lambda g, o: o.u + o.v,
    "u - v": lambda g, o: o.u - o.v,
    "u * v": lambda g, o: o.u * o.v,
    "u - number": lambda g, o: o.u - 1,
    "number - u": lambda g, o: 1 - o.u,
    "u / 2": lambda g, o: o.u / 2,
    "u == v": lambda g, o: o.u == o.v,
    "u < number": lambda g, o: o.u < 1,
    "number < u": lambda g, o: 1 < o.u,  # noqa: SIM300
    "abs": lambda g, o: abs(o.u),
    "negative": lambda g, o: -o.u,
    "an operator called": lambda g, o: g.unary.abs(o.u),
    "an operator called with a number": lambda g, o: g.binary.minus(2, o.u),
    "select by a mask": lambda g, o: o.u.select(o.m.S),
    "select by the values of a mask": lambda g, o: o.u.select(o.m.V),
    "select by what a mask refuses": lambda g, o: o.u.select(~o.m.S),
    "select by a comparison": lambda g, o: o.u.select(o.v < 2),
    "repositioned": lambda g, o: o.u.reposition(2),
    "repositioned backwards": lambda g, o: o.u.reposition(-1),
    "another vector": lambda g, o: o.v,
    "a number": lambda g, o: 3,
    "a scalar": lambda g, o: g.Scalar.from_value(2, "INT16"),
}

#: Expressions whose result is an n x n matrix.
MATRIX: dict[str, Statement] = {
    "ewise_add plus": lambda g, o: o.A.ewise_add(o.B, g.monoid.plus),
    "ewise_add transposed": lambda g, o: o.A.T.ewise_add(o.B, g.binary.minus),
    "ewise_mult times": lambda g, o: o.A.ewise_mult(o.B, g.binary.times),
    "ewise_mult transposed": lambda g, o: o.A.ewise_mult(o.B.T, g.binary.ge),
    "ewise_union minus": lambda g, o: o.A.ewise_union(o.B, g.binary.minus, 1, 2),
    "apply unary": lambda g, o: o.A.apply(g.unary.ainv),
    "apply right": lambda g, o: o.A.apply(g.binary.times, 2),
    "apply left": lambda g, o: o.A.apply(g.binary.minus, left=2),
    "apply to the transpose": lambda g, o: o.A.T.apply(g.unary.abs),
    "apply index": lambda g, o: o.A.apply(g.indexunary.colindex, 1),
    "select tril": lambda g, o: o.A.select("tril"),
    "select value": lambda g, o: o.A.select(g.select.valuegt, g.Scalar.from_value(1, o.A.dtype.name)),
    "select of the transpose": lambda g, o: o.A.T.select(g.select.triu, 1),
    "transpose": lambda g, o: o.A.T,
    "extract lists": lambda g, o: o.A[_list(o.A.nrows, 3), _list(o.A.ncols, 5)],
    "extract backwards": lambda g, o: o.A[::-1, :],
    "extract of the transpose": lambda g, o: o.A.T[:, ::-1],
    "mxm plus_times": lambda g, o: o.A.mxm(o.B, g.semiring.plus_times),
    "mxm min_plus": lambda g, o: o.A.mxm(o.B, g.semiring.min_plus),
    "mxm of transposes": lambda g, o: o.A.T.mxm(o.B.T, g.semiring.plus_pair),
    "mxm rectangular": lambda g, o: o.R.mxm(o.R.T, g.semiring.max_first),
    "A @ B": lambda g, o: o.A @ o.B,
    "A @ B @ A": lambda g, o: g.semiring.plus_times(o.A @ o.B @ o.A),
    "A & B": lambda g, o: g.binary.minus(o.A & o.B),
    "A | B": lambda g, o: g.binary.second(o.A | o.B.T),
    "A + B": lambda g, o: o.A + o.B,
    "A - B": lambda g, o: o.A - o.B,
    "A >= B": lambda g, o: o.A >= o.B,
    "A * number": lambda g, o: o.A * 2,
    "power": lambda g, o: o.A.power(3),
    "power of the transpose": lambda g, o: o.A.T.power(2, g.semiring.min_plus),
    "power 0": lambda g, o: o.A.power(0),
    "power 1": lambda g, o: o.A.power(1),
    "outer": lambda g, o: o.u.outer(o.v),
    "outer minus": lambda g, o: o.u.outer(o.v, g.binary.minus),
    "kronecker of a part": lambda g, o: o.A[:1, :].new().kronecker(o.B[:, :1].new(), g.binary.minus),
    "kronecker of transposes": lambda g, o: o.B[:, :1].new().T.kronecker(o.A[:1, :].new().T, g.binary.times),
    "add a vector to each row": lambda g, o: o.A.ewise_add(o.v, g.monoid.plus),
    "add a matrix to a vector's columns": lambda g, o: o.v.ewise_add(o.A, g.binary.minus),
    "multiply each row by a vector": lambda g, o: o.A.ewise_mult(o.v, g.binary.minus),
    "multiply a vector's columns": lambda g, o: o.v.ewise_mult(o.A.T, g.binary.first),
    "union of each row with a vector": lambda g, o: o.A.ewise_union(o.v, g.binary.minus, 1, 2),
    "A + v": lambda g, o: o.A + o.v,
    "v | A": lambda g, o: g.binary.second(o.v | o.A),
    "select by a mask": lambda g, o: o.A.select(o.M.S),
    "select by the values of a mask": lambda g, o: o.A.T.select(o.M.V),
    "select by what a mask refuses": lambda g, o: o.A.select(~o.M.V),
    "select by a comparison": lambda g, o: o.A.select(o.B > 0),
    "repositioned": lambda g, o: o.A.reposition(1, -2),
    "repositioned transpose": lambda g, o: o.R.T.reposition(-1, 2, nrows=o.A.nrows, ncols=o.A.ncols),
    "another matrix": lambda g, o: o.B,
    "a number": lambda g, o: 3,
}

#: Expressions whose result is a scalar.
SCALAR: dict[str, Statement] = {
    "inner": lambda g, o: o.u.inner(o.v),
    "u @ v": lambda g, o: g.semiring.min_plus(o.u @ o.v),
    "reduce plus": lambda g, o: o.u.reduce(g.monoid.plus),
    "reduce min": lambda g, o: o.u.reduce("min"),
    "reduce max to the identity": lambda g, o: o.u.reduce(g.monoid.max, allow_empty=False),
    "reduce a matrix": lambda g, o: o.A.reduce_scalar(g.monoid.plus),
    "reduce the transpose": lambda g, o: o.A.T.reduce_scalar(g.monoid.times),
    "reduce a matrix to the identity": lambda g, o: o.A.reduce_scalar(g.monoid.min, allow_empty=False),
}


def _list(size: int, step: int) -> list[int]:
    """Return `size` positions in a mixed order, with repetitions where `step` divides `size`."""
    return [(3 + step * k) % size for k in range(size)]


def _one(o: Any) -> int:
    """Return the number of a row inside the matrix."""
    return int(o.A.nrows) // 2
