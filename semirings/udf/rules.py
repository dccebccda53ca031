"""The semantics of arithmetic, comparisons and functions in a translated function, and the types of computation.

Integers are computed in INT64 (or UINT64 if an operand is), so that intermediate results of narrow ones do not wrap;
FP32 with FP32 in FP32, every other combination with a float in FP64; booleans count as integers. No operation fails: an
integer divided by zero is 0, a shift by a negative number or by 64 and more gives 0, and floats follow IEEE 754.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from sparsezc.semirings.types.datatypes import BOOL, FP32, FP64, INT64, UINT64, DataType
from sparsezc.semirings.udf import numpy_functions
from sparsezc.semirings.udf.graph import Form, Node, constant, convert

__all__ = [
    "Refused", "absolute", "arithmetic", "bits", "both", "compare", "floored", "invert", "literal", "meet", "negative",
    "of_number", "of_pair", "rest", "shift", "truth", "wide",
]  # fmt: skip


class Refused(Exception):
    """An operation that does not exist for these types."""


def wide(node: Node) -> Node:
    """Widen a number for computation: integers to 64 bits, booleans to integers."""
    if node.dtype.is_float or node.dtype is UINT64:
        return node
    return convert(node, INT64)


def meet(a: Node, b: Node) -> tuple[Node, Node]:
    """Convert both to their common type: INT64 and UINT64 give FP64, as in NumPy."""
    return _met(a, b, FP64)


def both(a: Node, b: Node) -> tuple[Node, Node]:
    """Convert both to one type to compute in: INT64 and UINT64 give UINT64, in which both wrap alike."""
    return _met(wide(a), wide(b), UINT64)


def _met(a: Node, b: Node, mixed: DataType) -> tuple[Node, Node]:
    if a.dtype is b.dtype is BOOL:
        return a, b
    a, b = wide(a), wide(b)
    if a.dtype is b.dtype:
        return a, b
    if a.dtype.is_float or b.dtype.is_float:
        common = FP64
    else:
        signed = a if a.dtype is INT64 else b
        known = signed.form is None and not isinstance(signed.value, str) and signed.value >= 0
        common = UINT64 if known else mixed
    return convert(a, common), convert(b, common)


def truth(node: Node) -> Node:
    """Return whether a number is not zero."""
    return convert(node, BOOL)


def _both(function: Callable[..., Any], sign: str) -> Callable[[Node, Node], Node]:
    form = Form(function, f"({{0}} {sign} {{1}})", f"({{0}} {sign} {{1}})")

    def apply(a: Node, b: Node) -> Node:
        a, b = both(a, b)
        return Node(a.dtype, (a, b), form)

    return apply


_QUOTIENT = Form(np.divide, "({0} / {1})", "np.divide({0}, {1})")
_FLOORED = Form(numpy_functions.floor_quotient, "floor_quotient<{T}>({0}, {1})", "np.floor_divide({0}, {1})")
_REST = Form(numpy_functions.modulo, "modulo<{T}>({0}, {1})", "np.mod({0}, {1})")
# The quotient of the smallest INT64 and -1 exceeds the type: compiled by Numba it is 0, and % crashes the process.
_FLOORED_SIGNED = _FLOORED._replace(python="(np.floor_divide({0}, {1}) if {1} != -1 else -{0})")
_REST_SIGNED = _REST._replace(python="(np.mod({0}, {1}) if {1} != -1 else {0} * 0)")
_POWER = Form(np.power, "pow({0}, {1})", "np.power({0}, {1})")
_WHOLE_POWER = Form(
    numpy_functions.integer_power,
    "integer_power<{T}>({0}, {1})",
    "({0} ** {1} if {1} >= 0 else ({0} if {0} == 1 or ({0} == -1 and {1} % 2) else (-{0} if {0} == -1 else {0} * 0)))",
)


def _quotient(a: Node, b: Node) -> Node:
    a, b = both(a, b)
    common = a.dtype if a.dtype.is_float else FP64
    return Node(common, (convert(a, common), convert(b, common)), _QUOTIENT)


def of_pair(form: Form, signed: Form | None = None) -> Callable[[Node, Node], Node]:
    """Make an operation on two numbers in their common type; `signed` is its form for INT64, if different."""

    def apply(a: Node, b: Node) -> Node:
        a, b = both(a, b)
        return Node(a.dtype, (a, b), signed if signed is not None and a.dtype is INT64 else form)

    return apply


floored = of_pair(_FLOORED, _FLOORED_SIGNED)
rest = of_pair(_REST, _REST_SIGNED)


def power(a: Node, b: Node) -> Node:
    """Return ``a ** b``; of integers an integer, unless the exponent is a negative constant."""
    if b.form is None and not isinstance(b.value, str) and b.value < 0:
        b = convert(b, FP64)
    a, b = both(a, b)
    return Node(a.dtype, (a, b), _POWER if a.dtype.is_float else _WHOLE_POWER)


arithmetic: dict[type[ast.operator], Callable[[Node, Node], Node]] = {
    ast.Add: _both(np.add, "+"),
    ast.Sub: _both(np.subtract, "-"),
    ast.Mult: _both(np.multiply, "*"),
    ast.Div: _quotient,
    ast.FloorDiv: floored,
    ast.Mod: rest,
    ast.Pow: power,
}

_BITS: dict[type[ast.operator], tuple[Callable[..., Any], str]] = {
    ast.BitAnd: (np.bitwise_and, "&"),
    ast.BitOr: (np.bitwise_or, "|"),
    ast.BitXor: (np.bitwise_xor, "^"),
}


def bits(sign: type[ast.operator], a: Node, b: Node) -> Node:
    """Make ``&``, ``|`` or ``^`` of two integers or two booleans."""
    a, b = meet(a, b)
    if a.dtype.is_float:
        raise Refused("&, | and ^ take integers or booleans")
    function, text = _BITS[sign]
    return Node(a.dtype, (a, b), Form(function, f"({{0}} {text} {{1}})", f"({{0}} {text} {{1}})"))


def _shifted(a: Any, b: Any, left: bool) -> Any:
    inside = (b >= 0) & (b < 64)
    places = np.where(inside, b, 0).astype(a.dtype)
    moved = np.left_shift(a, places) if left else np.right_shift(a, places)
    return np.where(inside, moved, 0).astype(a.dtype)


_SHIFTS: dict[type[ast.operator], Form] = {
    ast.LShift: Form(
        lambda a, b: _shifted(a, b, True),
        "({1} >= 0 && {1} < 64 ? {T}(u64({0}) << {1}) : {T}(0))",
        "({0} << {1} if {1} >= 0 and {1} < 64 else {0} * 0)",
    ),
    ast.RShift: Form(
        lambda a, b: _shifted(a, b, False),
        "({1} >= 0 && {1} < 64 ? {T}({0} >> {1}) : {T}(0))",
        "({0} >> {1} if {1} >= 0 and {1} < 64 else {0} * 0)",
    ),
}


def shift(sign: type[ast.operator], a: Node, b: Node) -> Node:
    """Make ``<<`` or ``>>`` of integers."""
    a, b = wide(a), wide(b)
    if a.dtype.is_float or b.dtype.is_float:
        raise Refused("<< and >> take integers")
    return Node(a.dtype, (a, convert(b, a.dtype)), _SHIFTS[sign])


_COMPARISONS: dict[type[ast.cmpop], tuple[Callable[..., Any], str]] = {
    ast.Lt: (np.less, "<"),
    ast.LtE: (np.less_equal, "<="),
    ast.Gt: (np.greater, ">"),
    ast.GtE: (np.greater_equal, ">="),
    ast.Eq: (np.equal, "=="),
    ast.NotEq: (np.not_equal, "!="),
}


def compare(sign: type[ast.cmpop], a: Node, b: Node) -> Node:
    """Make a comparison, which is a BOOL."""
    if sign not in _COMPARISONS:
        raise Refused("comparisons are <, <=, >, >=, == and !=")
    function, text = _COMPARISONS[sign]
    return Node(BOOL, meet(a, b), Form(function, f"({{0}} {text} {{1}})", f"({{0}} {text} {{1}})"))


_ABSOLUTE = Form(np.abs, "absolute<{T}>({0})", "np.abs({0})")
_NEGATIVE = Form(np.negative, "(-{0})", "np.negative({0})")
_INVERT = Form(np.invert, "(~{0})", "np.invert({0})")


def of_number(form: Form) -> Callable[[Node], Node]:
    """Make an operation on a number that keeps its type."""

    def apply(x: Node) -> Node:
        x = wide(x)
        return Node(x.dtype, (x,), form)

    return apply


absolute = of_number(_ABSOLUTE)
negative = of_number(_NEGATIVE)


def invert(x: Node) -> Node:
    """Return ``~x``: the inverted bits of an integer, or the negation of a boolean."""
    if x.dtype is BOOL:
        return Node(BOOL, (x,), Form(np.logical_not, "(!{0})", "(not {0})"))
    x = wide(x)
    if x.dtype.is_float:
        raise Refused("~ takes an integer or a boolean")
    return Node(x.dtype, (x,), _INVERT)


def literal(value: Any) -> Node:
    """Make the node of a Python or NumPy constant."""
    if isinstance(value, bool | np.bool_):
        return constant(value, BOOL)
    if isinstance(value, int | np.integer):
        if -(2**63) <= value < 2**63:
            return constant(value, INT64)
        if value < 2**64:
            return constant(value, UINT64)
        raise Refused(f"{value} needs more than 64 bits")
    if isinstance(value, np.float32):
        return constant(value, FP32)
    if isinstance(value, float):
        return constant(value, FP64)
    raise Refused(f"{value!r} is no number")
