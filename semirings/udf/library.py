"""The functions that a translated function may call: Python's built-ins, and those of math and numpy by name."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sparsezc.semirings.types.datatypes import (
    BOOL,
    FP32,
    FP64,
    INT8,
    INT64,
    UINT64,
    UNSIGNED,
    DataType,
    highest,
    lowest,
)
from sparsezc.semirings.udf import numpy_functions
from sparsezc.semirings.udf.graph import Form, Node, choose, constant, convert
from sparsezc.semirings.udf.rules import (  # fmt: skip
    Refused,
    absolute,
    arithmetic,
    bits,
    both,
    compare,
    floored,
    literal,
    meet,
    negative,
    of_number,
    of_pair,
    power,
    rest,
    truth,
    wide,
)

__all__ = ["BUILTINS", "CONSTANTS", "FUNCTIONS"]


def _float(node: Node) -> Node:
    return node if node.dtype.is_float else convert(node, FP64)


def _mathematical(function: Callable[..., Any], cuda: str, python: str) -> Callable[..., Node]:
    """Make a function of floats, computed in FP32 only if all operands are FP32."""
    form = Form(function, cuda, python)

    def apply(*args: Node) -> Node:
        floats = tuple(map(_float, args))
        common = FP32 if all(x.dtype is FP32 for x in floats) else FP64
        return Node(common, tuple(convert(x, common) for x in floats), form)

    return apply


def _named(name: str, cuda: str | None = None, arity: int = 1) -> Callable[..., Node]:
    places = ", ".join(f"{{{n}}}" for n in range(arity))
    return _mathematical(getattr(np, name), f"{cuda or name}({places})", f"np.{name}({places})")


def _special(name: str, cuda: str) -> Callable[..., Node]:
    return _mathematical(
        numpy_functions.special(name), f"{cuda}({{0}})", f"math.{cuda.replace('tgamma', 'gamma')}({{0}})"
    )


def _test(name: str, cuda: str) -> Callable[[Node], Node]:
    form = Form(getattr(np, name), cuda, f"np.{name}({{0}})")
    return lambda x: Node(BOOL, (_float(x),), form)


def _kept(name: str, cuda: str) -> Callable[[Node], Node]:
    """Make a rounding function that keeps integers unchanged."""
    rounded = _mathematical(getattr(np, name), cuda, f"np.{name}({{0}})")
    return lambda x: rounded(x) if x.dtype.is_float else x


def _to_whole(name: str, cuda: str) -> Callable[[Node], Node]:
    """Make a rounding to an integer, as in the math module."""
    rounded = _kept(name, cuda)
    return lambda x: convert(rounded(x), INT64) if x.dtype.is_float else wide(x)


def _lesser(*args: Node) -> Node:
    return _extreme(ast.Lt, *args)


def _greater(*args: Node) -> Node:
    return _extreme(ast.Gt, *args)


def _extreme(sign: type[ast.cmpop], *args: Node) -> Node:
    """Make Python's min or max: a later value replaces those before it only if it is less (or more)."""
    if len(args) < 2:
        raise Refused("min and max take two numbers or more")
    best = args[0]
    for x in args[1:]:
        best, x = meet(wide(best), wide(x))
        best = choose(compare(sign, x, best), x, best)
    return best


def _numpys(name: str, floats: str, whole: str) -> Callable[[Node, Node], Node]:
    """Make NumPy's minimum and related functions: floats and complex numbers by a rule for NaN, integers as usual."""
    forms = [Form(getattr(np, name), cuda, f"np.{name}({{0}}, {{1}})") for cuda in (whole, floats)]

    def apply(a: Node, b: Node) -> Node:
        if a.dtype is not b.dtype or not (a.dtype.is_bool or a.dtype.is_complex):  # these keep their type
            a, b = both(a, b)
        return Node(a.dtype, (a, b), forms[a.dtype.is_float or a.dtype.is_complex])

    return apply


def _wholes(name: str) -> Callable[[Node, Node], Node]:
    """Make a function of two integers."""
    apply = of_pair(Form(getattr(np, name), f"{name}_of<{{T}}>({{0}}, {{1}})", f"np.{name}({{0}}, {{1}})"))

    def checked(a: Node, b: Node) -> Node:
        if a.dtype.is_float or b.dtype.is_float:
            raise Refused(f"{name} takes integers")
        return apply(a, b)

    return checked


def _fmod(a: Node, b: Node) -> Node:
    """Return the remainder with a's sign; of integers, made from that with b's sign, as Numba's fmod is unsigned."""
    a, b = both(a, b)
    if a.dtype.is_float:
        return _FLOAT_FMOD(a, b)
    floors, zero = rest(a, b), literal(0)
    if a.dtype is UINT64:
        return floors
    signs_differ = compare(ast.NotEq, compare(ast.Lt, a, zero), compare(ast.Lt, b, zero))
    wrong = bits(ast.BitAnd, compare(ast.NotEq, floors, zero), signs_differ)
    return choose(wrong, arithmetic[ast.Sub](floors, b), floors)


def _reciprocal(x: Node) -> Node:
    """Return 1 / x, of integers towards 0.

    For 0 it is undefined in C; here it is x86's conversion of 1.0 / 0 to an integer: the smallest INT32 and INT64,
    the largest UINT32 and UINT64, and 0 in types of 8 and 16 bits.
    """
    if x.dtype.is_float or x.dtype.is_complex:
        return Node(x.dtype, (x,), _INVERSE)
    x = convert(x, INT8) if x.dtype is BOOL else x
    end = highest(x.dtype) if x.dtype in UNSIGNED else lowest(x.dtype)
    of_zero = constant(end if x.dtype.np_type.itemsize >= 4 else 0, x.dtype)
    size = x if x.dtype in UNSIGNED else absolute(x)
    of_others = choose(compare(ast.Eq, size, literal(1)), x, constant(0, x.dtype))
    return choose(compare(ast.Eq, x, literal(0)), of_zero, of_others)


def _where(condition: Node, yes: Node, no: Node) -> Node:
    return choose(truth(condition), *meet(yes, no))


def _cast(dtype: DataType) -> Callable[[Node], Node]:
    return lambda x: convert(x, dtype)


_SIGN = Form(np.sign, "sign_of<{T}>({0})", "np.sign({0})")
_INVERSE = Form(np.reciprocal, "reciprocal_of({0})", "np.reciprocal({0})")
_FLOAT_FMOD = _named("fmod", None, 2)
_LESSER, _GREATER = "lesser<{T}>({0}, {1})", "greater<{T}>({0}, {1})"
_NAN_OR = "({0} != {0} ? {0} : {1} != {1} ? {1} : SECOND)"
_ONE: dict[str, Callable[..., Node]] = {
    **{name: _named(name) for name in ("sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p")},
    **{name: _named(name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "erf": _special("erf", "erf"), "erfc": _special("erfc", "erfc"),
    "gamma": _special("gamma", "tgamma"), "lgamma": _special("gammaln", "lgamma"),
    "isnan": _test("isnan", "({0} != {0})"), "isinf": _test("isinf", "is_infinite({0})"),
    "isfinite": _test("isfinite", "is_finite({0})"),
}  # fmt: skip
_INVERSES = ("sin", "cos", "tan", "sinh", "cosh", "tanh")
_MATH: dict[str, Callable[..., Node]] = {
    **_ONE,
    **{f"a{name}": _named(f"arc{name}", f"a{name}") for name in _INVERSES},
    "atan2": _named("arctan2", "atan2", 2), "hypot": _named("hypot", None, 2), "copysign": _named("copysign", None, 2),
    "fmod": _FLOAT_FMOD, "pow": _mathematical(np.power, "pow({0}, {1})", "np.power({0}, {1})"),
    "floor": _to_whole("floor", "floor({0})"), "ceil": _to_whole("ceil", "ceil({0})"),
    "trunc": _to_whole("trunc", "trunc({0})"), "fabs": lambda x: absolute(_float(x)),
}  # fmt: skip
_NUMPY: dict[str, Callable[..., Node]] = {
    **{name: function for name, function in _ONE.items() if hasattr(np, name)},
    **{f"arc{name}": _named(f"arc{name}", f"a{name}") for name in _INVERSES},
    "arctan2": _named("arctan2", "atan2", 2), "hypot": _named("hypot", None, 2), "fmod": _fmod,
    "copysign": _named("copysign", None, 2), "power": power, "floor_divide": floored,
    "mod": rest, "remainder": rest,
    "floor": _kept("floor", "floor({0})"), "ceil": _kept("ceil", "ceil({0})"), "trunc": _kept("trunc", "trunc({0})"),
    "abs": absolute, "absolute": absolute, "fabs": lambda x: absolute(_float(x)), "sign": of_number(_SIGN),
    "gcd": _wholes("gcd"), "lcm": _wholes("lcm"), "nextafter": _named("nextafter", None, 2),
    "spacing": _named("spacing", "spacing_of"), "reciprocal": _reciprocal,
    "square": lambda x: arithmetic[ast.Mult](x, x), "negative": negative, "where": _where,
    "minimum": _numpys("minimum", _NAN_OR.replace("SECOND", _LESSER), _LESSER),
    "maximum": _numpys("maximum", _NAN_OR.replace("SECOND", _GREATER), _GREATER),
    "fmin": _numpys("fmin", _LESSER, _LESSER), "fmax": _numpys("fmax", _GREATER, _GREATER),
    **{t.np_type.name: _cast(t) for t in (INT64, UINT64, FP32, FP64)}, "bool_": truth,
}  # fmt: skip
BUILTINS: dict[Any, Callable[..., Node]] = {
    abs: absolute, min: _lesser, max: _greater, bool: truth, float: _cast(FP64),
    int: lambda x: wide(convert(x, INT64) if x.dtype.is_float else x),
}  # fmt: skip
FUNCTIONS: dict[Any, dict[str, Callable[..., Node]]] = {math: _MATH, np: _NUMPY}
CONSTANTS: dict[Any, frozenset[str]] = {
    math: frozenset(("pi", "e", "tau", "inf", "nan")),
    np: frozenset(("pi", "e", "inf", "nan", "euler_gamma")),
}
