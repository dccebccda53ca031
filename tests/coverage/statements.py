"""A statement for every public name of python-graphblas's classes: ``f(g, o, x)`` of a library, operands, the object.

``x`` is the object that has the name: a Matrix, its transpose, an expression that makes one. The returned values are
compared between the libraries, so each statement returns the name's result or effect.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Statement = Callable[[Any, Any, Any], Any]


def _changed(x: Any, name: str, *arguments: Any) -> Any:
    """Return a copy after a call of a method that changes its object."""
    copy = x.dup()
    getattr(copy, name)(*arguments)
    return copy


def _lists(arrays: Any) -> list[Any]:
    return [array.tolist() for array in arrays]


def _built(g: Any, x: Any) -> Any:
    empty = type(x)(x.dtype, *x.shape)
    empty.build(*x.to_coo())
    return empty


def _waited(x: Any) -> Any:
    x.wait()
    return x.dup()


#: The names that Matrix, Vector and Scalar have in common.
ANY: dict[str, Statement] = {
    "apply": lambda g, o, x: x.apply(g.unary.ainv).new(),
    "clear": lambda g, o, x: _changed(x, "clear"),
    "dtype": lambda g, o, x: x.dtype,
    "dup": lambda g, o, x: x.dup(),
    "ewise_add": lambda g, o, x: x.ewise_add(x, g.binary.plus).new(),
    "ewise_mult": lambda g, o, x: x.ewise_mult(x, g.binary.times).new(),
    "ewise_union": lambda g, o, x: x.ewise_union(x, g.binary.minus, 1, 2).new(),
    "isclose": lambda g, o, x: x.isclose(x),
    "isequal": lambda g, o, x: x.isequal(x),
    "name": lambda g, o, x: len(x.name) > 0,
    "ndim": lambda g, o, x: x.ndim,
    "new": lambda g, o, x: x.new(),
    "nvals": lambda g, o, x: x.nvals,
    "select": lambda g, o, x: x.select(g.select.valuege, 1).new(),
    "shape": lambda g, o, x: x.shape,
    "wait": lambda g, o, x: _waited(x),
}
#: The names that Matrix and Vector have in common.
HOLDER: dict[str, Statement] = ANY | {
    "S": lambda g, o, x: x.S.new(),
    "V": lambda g, o, x: x.V.new(),
    "build": lambda g, o, x: _built(g, x),
    "reposition": lambda g, o, x: x.reposition(*[1] * x.ndim).new(),
    "to_dense": lambda g, o, x: x.to_dense(0),
    "update": lambda g, o, x: _changed(x, "update", x.apply(g.unary.ainv)),
}
MATRIX: dict[str, Statement] = HOLDER | {
    "T": lambda g, o, x: x.T.dup(),
    "diag": lambda g, o, x: x.diag(1),
    "get": lambda g, o, x: (x.get(0, 0, -1), x.get(1, 2, -1)),
    "from_coo": lambda g, o, x: g.Matrix.from_coo([0, 1], [1, 0], [3, 4]),
    "from_csc": lambda g, o, x: g.Matrix.from_csc([0, 1, 2], [1, 0], [3, 4]),
    "from_csr": lambda g, o, x: g.Matrix.from_csr([0, 1, 2], [1, 0], [3, 4]),
    "from_dcsc": lambda g, o, x: g.Matrix.from_dcsc([1], [0, 1], [0], [3], nrows=2, ncols=2),
    "from_dcsr": lambda g, o, x: g.Matrix.from_dcsr([1], [0, 1], [0], [3], nrows=2, ncols=2),
    "from_dense": lambda g, o, x: g.Matrix.from_dense([[1, 2], [3, 4]]),
    "from_dicts": lambda g, o, x: g.Matrix.from_dicts({0: {1: 2}, 1: {0: 3}}),
    "from_edgelist": lambda g, o, x: g.Matrix.from_edgelist([(0, 1, 2), (1, 0, 3)]),
    "from_scalar": lambda g, o, x: g.Matrix.from_scalar(3, 2, 2),
    "kronecker": lambda g, o, x: x.kronecker(o.B, g.binary.times).new(),
    "mxm": lambda g, o, x: x.mxm(o.B, g.semiring.plus_times).new(),
    "mxv": lambda g, o, x: x.mxv(o.u, g.semiring.plus_times).new(),
    "ncols": lambda g, o, x: x.ncols,
    "nrows": lambda g, o, x: x.nrows,
    "power": lambda g, o, x: x.power(2, g.semiring.plus_times).new(),
    "reduce_columnwise": lambda g, o, x: x.reduce_columnwise(g.monoid.plus).new(),
    "reduce_rowwise": lambda g, o, x: x.reduce_rowwise(g.monoid.plus).new(),
    "reduce_scalar": lambda g, o, x: x.reduce_scalar(g.monoid.plus).new(),
    "resize": lambda g, o, x: _changed(x, "resize", 5, 9),
    "setdiag": lambda g, o, x: _changed(x, "setdiag", o.u),
    "to_coo": lambda g, o, x: sorted(zip(*_lists(x.to_coo()), strict=True)),
    "to_csc": lambda g, o, x: _lists(x.to_csc()),
    "to_csr": lambda g, o, x: _lists(x.to_csr()),
    "to_dcsc": lambda g, o, x: _lists(x.to_dcsc()),
    "to_dcsr": lambda g, o, x: _lists(x.to_dcsr()),
    "to_dicts": lambda g, o, x: x.to_dicts(),
    "to_edgelist": lambda g, o, x: sorted(map(tuple, x.to_edgelist()[0].tolist())),
}
VECTOR: dict[str, Statement] = HOLDER | {
    "diag": lambda g, o, x: x.diag(1),
    "get": lambda g, o, x: (x.get(0, -1), x.get(3, -1)),
    "from_coo": lambda g, o, x: g.Vector.from_coo([0, 2], [3, 4]),
    "from_dense": lambda g, o, x: g.Vector.from_dense([3, 4]),
    "from_dict": lambda g, o, x: g.Vector.from_dict({0: 3, 2: 4}),
    "from_pairs": lambda g, o, x: g.Vector.from_pairs([(0, 3), (2, 4)]),
    "from_scalar": lambda g, o, x: g.Vector.from_scalar(3, 2),
    "inner": lambda g, o, x: x.inner(o.v, g.semiring.plus_times).new(),
    "outer": lambda g, o, x: x.outer(o.v, g.binary.times).new(),
    "reduce": lambda g, o, x: x.reduce(g.monoid.plus).new(),
    "resize": lambda g, o, x: _changed(x, "resize", 5),
    "size": lambda g, o, x: x.size,
    "to_coo": lambda g, o, x: x.to_coo(),
    "to_dict": lambda g, o, x: x.to_dict(),
    "vxm": lambda g, o, x: x.vxm(o.A, g.semiring.plus_times).new(),
}
SCALAR: dict[str, Statement] = ANY | {
    "from_value": lambda g, o, x: g.Scalar.from_value(3),
    "get": lambda g, o, x: x.get(-1),
    "is_cscalar": lambda g, o, x: x.is_cscalar,
    "is_empty": lambda g, o, x: x.is_empty,
    "is_grbscalar": lambda g, o, x: x.is_grbscalar,
    "update": lambda g, o, x: _changed(x, "update", 5),
    "value": lambda g, o, x: x.value,
}
#: The names that expressions have besides.
EXPRESSION: dict[str, Statement] = {
    "left": lambda g, o, x: x.left,
    "op": lambda g, o, x: x.op.name,
    "parent": lambda g, o, x: x.parent,
    "resolved_indexes": lambda g, o, x: str(x.resolved_indexes.py_indices),
    "right": lambda g, o, x: x.right,
    "update": lambda g, o, x: _updated(x),
}
#: Statements for BOOL values, which plus does not add.
BOOLEAN: dict[str, Statement] = {
    "power": lambda g, o, x: x.power(2, g.semiring.lor_land).new(),
    "reduce_columnwise": lambda g, o, x: x.reduce_columnwise(g.monoid.lor).new(),
    "reduce_rowwise": lambda g, o, x: x.reduce_rowwise(g.monoid.lor).new(),
    "reduce_scalar": lambda g, o, x: x.reduce_scalar(g.monoid.lor).new(),
}
MASK: dict[str, Statement] = {
    "complement": lambda g, o, x: x.complement,
    "name": lambda g, o, x: len(x.name) > 0,
    "new": lambda g, o, x: x.new(),
    "parent": lambda g, o, x: x.parent,
    "structure": lambda g, o, x: x.structure,
    "value": lambda g, o, x: x.value,
}


def _updated(x: Any) -> Any:
    """Return the object of ``x[key]`` after a write to it."""
    x.update(9)
    return x.parent


def _to(x: Any, *key: Any, value: Any = None) -> Any:
    """Return a copy after ``x[key] << value``, or without a value after ``del x[key]``."""
    copy = x.dup()
    place = key[0] if len(key) == 1 else key
    if value is None:
        del copy[place]
    else:
        copy[place] << value
    return copy


def _written(x: Any, expression: Any, **how: Any) -> Any:
    copy = x.dup()
    copy(**how) << expression
    return copy


def _augmented(x: Any) -> Any:
    copy = x.dup()
    copy += x
    return copy


def _masked_region(x: Any, value: Any, mask: Any) -> Any:
    copy = x.dup()
    copy[1:4, [0, 5]](mask) << value
    return copy


#: The forms of statements, and the signs between objects, by their text.
FORMS: dict[str, Statement] = {
    "C << expr": lambda g, o, x: _written(o.C, x.mxm(o.B)),
    "C(M.S) << expr": lambda g, o, x: _written(o.C, x.mxm(o.B), mask=o.M.S),
    "C(~M.V, accum, replace) << expr": lambda g, o, x: _written(
        o.C, x.ewise_add(o.B), mask=~o.M.V, accum=g.binary.max, replace=True
    ),
    "C << 3": lambda g, o, x: _written(o.C, 3),
    "C[i, j] << 3": lambda g, o, x: _to(x, 1, 2, value=3),
    "C[i, :] << v": lambda g, o, x: _to(x, 1, slice(None), value=o.v),
    "C[I, J] << B": lambda g, o, x: _to(x, [5, 1], slice(0, 7, 3), value=o.B[:2, :3].new()),
    "C[I, J] (M.S) << 3": lambda g, o, x: _masked_region(x, 3, o.M[:3, :2].new().S),
    "del C[i, j]": lambda g, o, x: _to(x, 1, 2),
    "w(m.S) << expr": lambda g, o, x: _written(o.w, x.mxv(o.u), mask=o.m.S),
    "w(~m.V, accum, replace) << expr": lambda g, o, x: _written(
        o.w, o.u.vxm(x), mask=~o.m.V, accum=g.binary.plus, replace=True
    ),
    "w[i] << 3": lambda g, o, x: _to(o.u, 1, value=3),
    "w[I] << v": lambda g, o, x: _to(o.u, [5, 1], value=o.v[:2].new()),
    "del w[i]": lambda g, o, x: _to(o.u, 1),
    "A[i, j]": lambda g, o, x: x[1, 2].new(),
    "A[i, J]": lambda g, o, x: x[1, [2, 5]].new(),
    "A[I, J]": lambda g, o, x: x[[5, 1], ::3].new(),
    "u[I]": lambda g, o, x: o.u[[5, 1, 5]].new(),
    "(i, j) in A": lambda g, o, x: (1, 2) in x,
    "iter(A), iter(u)": lambda g, o, x: (sorted(map(tuple, x)), list(o.u)),
    "A @ B": lambda g, o, x: g.semiring.min_plus(x @ o.B).new(),
    "A @ u": lambda g, o, x: (x @ o.u).new(),
    "u @ A": lambda g, o, x: (o.u @ x).new(),
    "u @ v": lambda g, o, x: (o.u @ o.v).new(),
    "A & B": lambda g, o, x: g.binary.times(x & o.B).new(),
    "A | B": lambda g, o, x: g.binary.minus(x | o.B, left_default=0, right_default=0).new(),
    "A & u": lambda g, o, x: g.binary.times(x & o.u).new(),
    "A + B": lambda g, o, x: (x + o.B).new(),
    "A - B": lambda g, o, x: (x - o.B).new(),
    "A * B": lambda g, o, x: (x * o.B).new(),
    "A / 2": lambda g, o, x: (x / 2).new(),
    "A // 2": lambda g, o, x: (x // 2).new(),
    "A % 2": lambda g, o, x: (x % 2).new(),
    "A ** 2": lambda g, o, x: (x**2).new(),
    "divmod(A, 2)": lambda g, o, x: tuple(part.new() for part in divmod(x, 2)),
    "-A": lambda g, o, x: (-x).new(),
    "abs(A)": lambda g, o, x: abs(x).new(),
    "~A": lambda g, o, x: (~o.M.apply(g.unary.identity).new(bool)).new(),
    "A < B": lambda g, o, x: (x < o.B).new(),
    "A == 3": lambda g, o, x: (x == 3).new(),
    "A += B": lambda g, o, x: _augmented(x),
    "M.S & N.S": lambda g, o, x: (o.M.S & x.S).new(),
    "A.select(A > 3)": lambda g, o, x: x.select(x > 3).new(),
    "select.tril(A)": lambda g, o, x: g.select.tril(x).new(),
    "A.apply(binary.minus, left=1)": lambda g, o, x: x.apply(g.binary.minus, left=1).new(),
    "A.apply(indexunary.rowindex)": lambda g, o, x: x.apply(g.indexunary.rowindex).new(),
    "A.reduce_rowwise(agg.mean)": lambda g, o, x: x.reduce_rowwise(g.agg.mean).new(),
    "A.mxv(u, a semiring of Python functions)": lambda g, o, x: x.mxv(o.u, _semiring(g)).new(),
}


def _semiring(g: Any) -> Any:
    multiply = g.binary.register_anonymous(lambda x, y: x + 2 * y)
    add = g.monoid.register_anonymous(g.binary.register_anonymous(lambda x, y: x + y), 0)
    return g.semiring.register_anonymous(add, multiply)
