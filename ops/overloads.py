"""The infix operators: ``A + B`` and ``A < 3`` are expressions, ``A @ B`` waits for an operator, ``op(A @ B)``.

Two operands are combined on the union of their patterns under ``+``, ``-`` and ``^``, on the intersection under every
other infix operator; with a number on one side, it is applied to each entry. ``A & B``, ``A | B`` and ``A @ B`` are a
:class:`Pair`, which has two operands and waits for an operator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sparsezc.exceptions import DimensionMismatch
from sparsezc.expr.array_exchange import from_array
from sparsezc.expr.expression import Deferred, Expression, Operand, says, says_noun, stored
from sparsezc.expr.formatting import Shown, name_html, sizes
from sparsezc.expr.infix import K
from sparsezc.expr.mask import Mask
from sparsezc.ops.apply import apply
from sparsezc.ops.checks import scalar
from sparsezc.ops.ewise import broadcast, ewise_add, ewise_mult, ewise_union
from sparsezc.ops.mxm import mxm
from sparsezc.ops.mxv import inner, mxv, vxm
from sparsezc.ops.select import select
from sparsezc.semirings import binary, monoid, semiring, unary
from sparsezc.semirings.types.datatypes import BOOL

__all__ = ["Pair", "binary_sign", "call", "pair", "run_in_place", "unary_sign"]

_UNION = {"plus", "lxor", "lor"}
_ONLY_BOOL = {"lxor": "^", "lor": "|", "land": "&", "lnot": "~"}


def _side(x: Any, other: Any = None) -> Any:
    """Return an operand of an infix operator as a Matrix, a Vector or a Scalar; an expression is computed.

    Values beside an `other` of a user-defined type get that type.
    """
    if isinstance(x, Deferred):
        return x.operand("a sign")
    like = other.dtype if isinstance(other, Operand | Deferred) else None
    return x if isinstance(x, Operand) else scalar(x, "an operand of a sign", like=like)


def binary_sign(left: Any, right: Any, name: str) -> Any:
    """Make the expression of ``left + right`` and the like; `name` is the binary operator's."""
    if isinstance(right, Mask) or isinstance(left, Mask):
        return NotImplemented
    if right is None or left is None:
        raise TypeError(f"None is no operand of {name}; a Matrix, a Vector, a Scalar or a number is needed")
    scalar_first = isinstance(left, Operand) and not left.ndim and not isinstance(right, Operand | Deferred)
    left, right, op = _side(left, right), _side(right, left), getattr(binary, name)
    if bool(left.ndim) != bool(right.ndim):
        made = apply(left, op, right) if left.ndim else apply(right, op, left=left)
    elif scalar_first and name not in _UNION and name != "minus":  # reads as a comparison with a number
        made = apply(left, op, right)
    elif name in _UNION:
        made = ewise_add(left, right, op)
    elif name == "minus":
        made = ewise_union(left, right, op, False, False)
    else:
        made = ewise_mult(left, right, op)
    return _only_bool(made, name)


def _only_bool(made: Expression, name: str) -> Expression:
    if name in _ONLY_BOOL and made.dtype is not BOOL:
        raise TypeError(
            f"the sign {_ONLY_BOOL[name]} is not supported for {made.dtype.name}; it is only supported for BOOL"
        )
    return made


def unary_sign(x: Any, name: str) -> Expression:
    """Make the expression of ``-x``, ``abs(x)`` or ``~x``; `name` is the unary operator's."""
    x = _side(x)
    if name == "lnot" and x.dtype is not BOOL:
        raise TypeError(f"The invert operator, ~, is not supported for {x.dtype.name}; it is only supported for BOOL")
    return apply(x, getattr(unary, name))


def run_in_place(out: Any, other: Any, name: str, method: str) -> Any:
    """Run ``out += other`` and the like, which are ``out << out + other``."""
    if isinstance(out, Deferred) or out._transposed or (name == "@" and not out.ndim):
        raise TypeError(f"{method} is not supported for {says(out)}; only a Matrix, Vector or Scalar can be written to")
    if name in ("plus", "lor", "lxor") and getattr(other, "ndim", 0) == out.ndim:  # one statement, no temporary
        dtype = other.dtype if isinstance(other, Operand | Deferred) else scalar(other, method).dtype
        if name != "plus" and dtype is not BOOL:
            raise TypeError(
                f"the sign {_ONLY_BOOL[name]}= is not supported for {dtype.name}; it is only supported for BOOL"
            )
        out(getattr(binary, name)) << other
    elif name == "@":
        out << pair(out, other, "@", method)
    else:
        out << binary_sign(out, other, name)
    return out


# Two operands that wait for an operator

_METHOD = {"&": ewise_mult, "|": ewise_add}
# Part of the class's name in python-graphblas, and an operator that may be called on the pair.
_SHOWN = {"@": ("MatMul", "plus_times"), "&": ("EwiseMult", "times"), "|": ("EwiseAdd", "plus")}


class Pair(Deferred[K]):
    """``A @ B``, ``A & B`` or ``A | B``: two operands that an operator is called on, ``op(A @ B)``.

    Without one, ``@`` means plus_times; ``&`` and ``|`` mean land and lor, where both sides are BOOL.
    """

    __slots__ = ("_expression", "left", "right", "shape", "sign")

    def __init__(self, left: Any, right: Any, sign: str, shape: tuple[int, ...]) -> None:
        self.left, self.right, self.sign, self.shape = left, right, sign, shape
        self._expression: Expression[K] | None = None
        self._value: Any = None

    @property
    def expression(self) -> Expression[K]:
        """The expression that runs without an operator."""
        if self._expression is None:
            self._expression = self._by_default()
        return self._expression

    def _by_default(self) -> Expression:
        if self.sign == "@":
            return _product(stored(self.left, "@: left", 1, 2), stored(self.right, "@: right", 1, 2))
        if self.left.dtype is not BOOL or self.right.dtype is not BOOL:
            raise TypeError(
                f"Bad dtypes for x {self.sign} y: {self.left.dtype} and {self.right.dtype}. Automatic computation is"
                f" only valid for BOOL dtypes; call an operator, as in plus(x {self.sign} y)"
            )
        return (
            ewise_mult(self.left, self.right, monoid.land)
            if self.sign == "&"
            else ewise_add(self.left, self.right, monoid.lor)
        )

    @property
    def _parts(self) -> tuple[Any, ...]:
        """The objects that both operands read."""
        return tuple(part for x in self.sides for part in (x._parts if isinstance(x, Deferred) else (x,)))

    def computed(self, need: str) -> Any:
        """Return the result without an operator; raise TypeError first if the sign has no operator of its own."""
        _ = self.expression
        return super().computed(need)

    @property
    def dtype(self) -> Any:
        """The type of the result without an operator."""
        return self.expression.dtype

    def by(self, op: Any, **defaults: Any) -> Expression[K]:
        """Make the expression with an operator; inner pairs of the same sign are computed with it too."""
        left, right = (x.by(op, **defaults).new() if type(x) is Pair and x.sign == self.sign else x for x in self.sides)
        if self.sign == "@":
            return _product(left, right, op)
        if "left_default" in defaults:
            return ewise_union(left, right, op, **defaults)
        return _METHOD[self.sign](left, right, op)

    @property
    def sides(self) -> tuple[Any, Any]:
        """Both operands."""
        return self.left, self.right

    @property
    def _method(self) -> str:
        """The method that an operator called on the pair runs."""
        if self.sign != "@":
            return "ewise_mult" if self.sign == "&" else "ewise_add"
        return {(2, 2): "mxm", (2, 1): "mxv", (1, 2): "vxm", (1, 1): "inner"}[self.left.ndim, self.right.ndim]

    @property
    def _shown(self) -> Shown:
        noun, method = says_noun(self.ndim), self._method
        kind, example = _SHOWN[self.sign]
        text, html = (f" {self.sign} ".join(_written(x, of) for x in self.sides) for of in (str, name_html))
        types = {"left_dtype": self.left.dtype, "right_dtype": self.right.dtype}
        hint = (
            f"Do <code>op(expr)</code> to create a <tt>{noun}Expression</tt> for <tt>{method}</tt>.<br>For example: "
            f"<code>{example}({{}})</code>"
        )
        return Shown(f"{noun}{kind}Expr", text, html, {**sizes(self.shape), **types}, hint)


def _written(x: Any, named: Callable[[str], str]) -> str:
    """Return the notation of a side: an object's name, formatted by `named`, or an expression in parentheses."""
    if isinstance(x, Operand):
        return named(x.name)
    return f"({x._shown.text if named is str else x._shown.html})"


def _product(left: Any, right: Any, op: Any = semiring.plus_times) -> Expression:
    if left.ndim == 2:
        return mxm(left, right, op) if right.ndim == 2 else mxv(left, right, op)
    return vxm(left, right, op) if right.ndim == 2 else inner(left, right, op)


def pair(left: Any, right: Any, sign: str, method: str) -> Any:
    """Pair two operands: ``left @ right``, ``left & right`` or ``left | right``.

    Raises
    ------
    TypeError
        A side is no Matrix or Vector (an array is one beside ``@``, and a number may meet a Scalar under ``&`` and
        ``|``), or ``&`` meets ``|``.
    DimensionMismatch
        The shapes do not fit.
    """
    if isinstance(left, Mask) or isinstance(right, Mask):
        return NotImplemented
    sides = [_paired(x, sign) for x in (left, right)]
    for x, name in zip(sides, ("left", "right"), strict=True):
        other = sides[0] if name == "right" else sides[1]
        if x is None or (not x.ndim and (sign == "@" or other is None or other.ndim)):
            need = (
                "Vector, Matrix or TransposedMatrix" if sign == "@" or (other is not None and other.ndim) else "Scalar"
            )
            given = left if name == "left" else right
            raise TypeError(f"Bad type for argument `{name}` in {method}: expected {need}; got {says(given)}")
        if type(x) is Pair and {x.sign, sign} == {"&", "|"}:
            raise TypeError(
                "XXX & YYY | ZZZ is easily misread, and refused: give one its operator, op(XXX & YYY).new() | ZZZ"
            )
    return Pair(sides[0], sides[1], sign, _shape(sides[0], sides[1], sign))


def _paired(x: Any, sign: str) -> Any:
    """Return a side: an object, also of an array beside ``@``, or a Scalar; None for anything else."""
    if isinstance(x, Operand | Deferred):
        return x
    if sign == "@" and (made := from_array(x)) is not None:
        return made
    try:
        return scalar(x, "a number")
    except TypeError:
        return None


def _shape(left: Any, right: Any, sign: str) -> tuple[int, ...]:
    a, b = left.shape, right.shape
    if sign != "@":
        return broadcast(left, right, f"x {sign} y")
    if a[-1] != b[0]:
        raise DimensionMismatch(f"x @ y: {_says(left)} and {_says(right)} do not fit: {a[-1]} meets {b[0]}")
    return tuple(a[:-1] + b[1:])


def _says(x: Any) -> str:
    return says(x) if isinstance(x, Operand) else f"an expression of shape {x.shape}"


# Operators called


def call(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Expression:
    """Apply an operator to objects: ``op(A)``, ``op(A, 1)``, ``op(1, A)``, ``op(A & B)``, ``op(A @ B)`` ...

    Raises
    ------
    TypeError
        The operator does not take these arguments.
    """
    kind = getattr(op, "op", op).kind
    if kind == "unary":
        return _one(op, args, kwargs)
    if kind in ("indexunary", "select"):
        return _with_thunk(op, kind, *args, **kwargs)
    first = args[0]
    if len(args) == 1 and not {"left", "right"} & kwargs.keys():
        good = type(first) is Pair and (first.sign == "@") == (kind == "semiring")
        if not good:
            examples = f"{op!r}(A @ B)" if kind == "semiring" else f"{op!r}(A & B), {op!r}(A | B), {op!r}(A, 1)"
            raise TypeError(f"Bad type when calling {op!r}: got {says(first)}; expected is such as {examples}")
        unknown = kwargs.keys() - ({"left_default", "right_default"} if first.sign == "|" else set())
        if unknown:
            raise TypeError(f"{op!r}(x {first.sign} y) got an unexpected keyword argument {min(unknown)!r}")
        if kwargs and len(kwargs) != 2:
            raise TypeError(f"{op!r}(x | y): left_default and right_default are given together, or neither of them")
        made: Expression = first.by(op, **kwargs)
        return made
    if kind == "semiring":
        raise TypeError(f"Bad types when calling {op!r}: got {', '.join(map(says, args))}; expected is {op!r}(A @ B)")
    return _two(op, *args, **kwargs)


def _one(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Expression:
    if len(args) != 1 or kwargs:
        raise TypeError(f"{op!r}.__call__ takes one operand; got {len(args)} and {', '.join(kwargs) or 'no keywords'}")
    return apply(_side(args[0]), op)


def _with_thunk(op: Any, kind: str, x: Any, thunk: Any = None) -> Expression:
    return select(_side(x), op, thunk) if kind == "select" else apply(_side(x), op, thunk)


def _two(op: Any, left: Any, right: Any) -> Expression:
    for x, y in ((left, right), (right, left)):
        if getattr(x, "ndim", 0):
            if getattr(y, "ndim", 0):
                raise TypeError(
                    f"Bad type for keyword argument `right=` when calling {op!r}: expected a Scalar; got"
                    f" {says(right)}. Two operands are given as {op!r}(x & y) or {op!r}(x | y)"
                )
            x = _side(x)
            return apply(x, op, right) if y is right else apply(x, op, left=left)
    return apply(_side(left), op, right)
