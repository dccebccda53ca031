"""Aggregators: their recipes, run on the entries of a vector, of a matrix, or of each of its rows.

A recipe's steps are ordinary operations (reduce, apply, mxv ...), so every engine can run them. No step runs before the
aggregation itself does; the last step of an aggregation by rows is written as the statement says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sparsezc.exceptions import InvalidValue
from sparsezc.expr.expression import Deferred, Expression, IndexList, Operand
from sparsezc.ops.apply import apply
from sparsezc.ops.diag import diag
from sparsezc.ops.ewise import ewise_mult
from sparsezc.ops.extract import extract
from sparsezc.ops.mxv import mxv
from sparsezc.ops.select import select
from sparsezc.semirings import binary, indexunary, monoid, semiring
from sparsezc.semirings import select as selects
from sparsezc.semirings.algebra import names
from sparsezc.semirings.algebra.aggregators import Aggregator, Recipe, TypedAggregator
from sparsezc.semirings.algebra.operators import TypedOp
from sparsezc.semirings.types.datatypes import BOOL, INT64, DataType

__all__ = ["aggregate", "aggregator"]


def aggregator(op: Any, dtype: DataType) -> Any:
    """Return a user's operator as a typed aggregator or monoid; None if it is neither."""
    if isinstance(op, str) and names.find("monoid", op) is None:
        op = names.find("agg", op)
    if isinstance(op, Aggregator):
        typed: Any = op[dtype]
        op = TypedAggregator(op, typed.type, INT64) if op.counts else typed
    if not isinstance(op, TypedAggregator):
        return None
    made: Any = op.op
    return op if made.monoid is None else made.monoid[op.type]


def aggregate(u: Any, op: Any, shape: tuple[int, ...]) -> Expression:
    """Return the expression that aggregates all entries (shape ``()``), or those of each row of a matrix.

    Raises
    ------
    InvalidValue
        The aggregator finds a position, but entries of a matrix have two.
    """
    if op.op.of_vectors and not shape and u.ndim == 2:
        raise InvalidValue(
            f"reduce: Aggregator {op.op.name} may not be used with Matrix.reduce_scalar: it finds a position in a"
            " Vector, or by rows or columns"
        )
    steps = _Steps(_Rows(u, op.type) if shape else _All(u, op.type), op.op.recipe)
    return Expression("aggregate", (u, steps), op, op.return_type, shape)


class _Steps:
    """The steps of an aggregation; :mod:`sparsezc.expr.dispatch` calls it."""

    _stored = False
    _lock = None

    def __init__(self, entries: Any, recipe: Recipe) -> None:
        self.entries = entries
        self.recipe = recipe

    def run(self) -> Any:
        """Run the steps: by rows, return the last step as an expression; of all entries, return the value or None."""
        return _made(self.recipe, self.entries).last

    @property
    def by_rows(self) -> bool:
        """Return whether each row of a matrix is aggregated by itself."""
        return isinstance(self.entries, _Rows)


class _Value:
    """The result of all entries: a NumPy scalar, or None if there is none."""

    def __init__(self, last: Any) -> None:
        self.last = last

    def apply(self, op: TypedOp, right: float | None = None) -> _Value:
        if self.last is None:
            return self
        return _Value(op.numpy(self.last) if right is None else op.numpy(self.last, right))

    def combine(self, op: TypedOp, other: _Value) -> _Value:
        return _Value(None if self.last is None or other.last is None else op.numpy(self.last, other.last))

    def finish(self, function: Callable[..., Any], *others: _Value) -> _Value:
        given = [x.last for x in (self, *others)]
        if any(value is None for value in given):
            return _Value(None)
        made = function(*map(Operand._kinds[0].from_value, given), {}).new()
        return _Value(None if made.value is None else _of_type(made.value, made.dtype))


class _ByRow:
    """The results of rows: an expression that makes a Vector, run once if it is needed more than once."""

    def __init__(self, last: Expression) -> None:
        self.last: Any = last
        self._vector: Any = None

    def vector(self) -> Any:
        if self._vector is None:
            self._vector = self.last.new()
        return self._vector

    def apply(self, op: TypedOp, right: float | None = None) -> _ByRow:
        return _ByRow(apply(self.vector(), op, right))

    def combine(self, op: TypedOp, other: _ByRow) -> _ByRow:
        return _ByRow(ewise_mult(self.vector(), other.vector(), op))

    def finish(self, function: Callable[..., Any], *others: _ByRow) -> _ByRow:
        made = function(*(x.vector() for x in (self, *others)), {})
        return _ByRow(made.expression if isinstance(made, Deferred) and type(made) is not Expression else made)


class _All:
    """All entries of a vector or a matrix."""

    def __init__(self, u: Any, dtype: DataType) -> None:
        self.u = u
        self.dtype = dtype

    def fold(self, op: Any) -> _Value:
        return _Value(_value(_reduced(self.u, op)))

    def weigh(self, op: Any, constant: float) -> _Value:
        if self.u.ndim == 2:
            rows = mxv(self.u, _full(constant, self.u.shape[1], op.type), op).new()
            return _Value(_value(_reduced(rows, op.monoid)))
        products = apply(self.u, op.binaryop, right=_scalar(constant, op.type)).new()
        return _Value(_value(_reduced(products, op.monoid)))

    def apply(self, op: TypedOp, right: float | None = None) -> _All:
        return _All(apply(self.u, op, right).new(), op.return_type)

    def against(self, op: Any, result: _Value) -> _All:
        if result.last is None:  # there are no entries
            return _All(self.u, op.return_type)
        value = _scalar(result.last, op.type)
        return _All(apply(self.u, op.binaryop, left=value).new(), op.return_type)

    def places(self, chosen: Recipe | None, last: bool) -> _Value:
        if self.u.ndim == 2:
            return self._corner(last)
        kept = self.u
        if chosen is not None:
            value = _made(chosen, self).last
            if value is None:
                return _Value(None)
            kept = select(kept, selects.valueeq, _scalar(value, self.dtype)).new()
        positions = apply(kept, indexunary.rowindex[INT64], 0).new()
        return _Value(_value(_reduced(positions, (monoid.max if last else monoid.min)[INT64])))

    def _corner(self, last: bool) -> _Value:
        """Return row and column of the first entry of a matrix, or of the last."""
        rows = _Rows(self.u, self.dtype).places(None, last).vector()
        row = _All(rows, INT64).places(None, last).last
        return _Value(None if row is None else (int(row), rows.get(int(row))))

    def value_at(self, places: _Value) -> _Value:
        if places.last is None:
            return places
        at = places.last if self.u.ndim == 2 else (int(places.last),)
        return _Value(_of_type(_element(self.u, at), self.dtype))


class _Rows:
    """The entries of each row of a matrix."""

    def __init__(self, A: Any, dtype: DataType) -> None:
        self.A = A
        self.dtype = dtype

    def fold(self, op: Any) -> _ByRow:
        return _ByRow(Expression("reduce_rowwise", (self.A,), op, op.return_type, self.A.shape[:1]))

    def weigh(self, op: Any, constant: float) -> _ByRow:
        return _ByRow(mxv(self.A, _full(constant, self.A.shape[1], op.type), op))

    def apply(self, op: TypedOp, right: float | None = None) -> _Rows:
        return _Rows(apply(self.A, op, right).new(), op.return_type)

    def against(self, op: Any, result: _ByRow) -> _Rows:
        """Multiply each row by its result: D A, with the results on the diagonal of D."""
        D = diag(result.vector(), 0).new()
        return _Rows(Expression("mxm", (D, self.A), op, op.return_type, self.A.shape).new(), op.return_type)

    def places(self, chosen: Recipe | None, last: bool) -> _ByRow:
        candidates = self.A
        if chosen is not None:
            candidates = self._where(semiring.any_eq[self.dtype], _made(chosen, self))
        op = (semiring.ss.max_firstj if last else semiring.ss.min_firstj)[INT64]
        return _ByRow(mxv(candidates, _full(1, self.A.shape[1], INT64), op))

    def value_at(self, places: _ByRow) -> _ByRow:
        there = self.apply(indexunary.colindex[INT64], 0)._where(semiring.any_eq[INT64], places)
        second = binary.second[(there.dtype, self.dtype) if self.dtype.is_udt else self.dtype]
        kept = ewise_mult(there, self.A, second).new()
        return _Rows(kept, self.dtype).fold(monoid.any[self.dtype])

    def _where(self, op: Any, result: _ByRow) -> Any:
        """Return a matrix of trues at the entries that equal their row's result."""
        return select(self.against(op, result).A, selects.valueeq[BOOL], True).new()


def _made(recipe: Recipe, entries: Any) -> Any:
    """Apply a recipe to entries: it makes a _Value of _All, a _ByRow of _Rows."""
    return recipe(entries)


def _reduced(u: Any, op: Any) -> Expression:
    return Expression("reduce", (u,), op, op.return_type, ())


def _value(expression: Expression) -> Any:
    """Return the value of an expression of a Scalar, as a NumPy scalar of its type; None where there is none."""
    value = expression.new().value
    return None if value is None else _of_type(value, expression.dtype)


def _of_type(value: Any, dtype: DataType) -> Any:
    return value if dtype.is_udt else dtype.np_type.type(value)


def _scalar(value: Any, dtype: DataType) -> Any:
    kind: Any = Operand._kinds[0]
    return kind.from_value(value, dtype)


def _full(value: Any, size: int, dtype: DataType) -> Any:
    """Return a vector with one value everywhere."""
    kind: Any = Operand._kinds[1]
    return kind.from_scalar(value, size, dtype)


def _element(u: Any, at: tuple[int, ...]) -> Any:
    keys = tuple(IndexList("one", int(k), 1) for k in at)
    return extract(u, keys).new().value
