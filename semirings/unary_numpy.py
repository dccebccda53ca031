# mypy: disable-error-code=has-type
"""Unary operators by NumPy's names: ``unary.numpy`` in python-graphblas. Functions without a
GraphBLAS name are written in Python, and made on first use.

``rint`` is ``round``, as in python-graphblas: halves are rounded away from zero.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sparsezc.semirings import unary
from sparsezc.semirings.algebra.operators import UnaryOp
from sparsezc.semirings.types.datatypes import ALL, COMPLEX
from sparsezc.semirings.types.domains import AS_FLOAT

abs: UnaryOp = unary.abs
absolute: UnaryOp = unary.abs
arccos: UnaryOp = unary.acos
arccosh: UnaryOp = unary.acosh
arcsin: UnaryOp = unary.asin
arcsinh: UnaryOp = unary.asinh
arctan: UnaryOp = unary.atan
arctanh: UnaryOp = unary.atanh
bitwise_not: UnaryOp = unary.bnot
cbrt: UnaryOp = unary.cbrt
ceil: UnaryOp = unary.ceil
conj: UnaryOp = unary.conj
conjugate: UnaryOp = unary.conj
cos: UnaryOp = unary.cos
cosh: UnaryOp = unary.cosh
exp2: UnaryOp = unary.exp2
exp: UnaryOp = unary.exp
expm1: UnaryOp = unary.expm1
floor: UnaryOp = unary.floor
invert: UnaryOp = unary.bnot
isfinite: UnaryOp = unary.isfinite
isinf: UnaryOp = unary.isinf
isnan: UnaryOp = unary.isnan
log10: UnaryOp = unary.log10
log1p: UnaryOp = unary.log1p
log2: UnaryOp = unary.log2
log: UnaryOp = unary.log
logical_not: UnaryOp = unary.lnot
negative: UnaryOp = unary.ainv
positive: UnaryOp = unary.identity
rint: UnaryOp = unary.round
sin: UnaryOp = unary.sin
sinh: UnaryOp = unary.sinh
sqrt: UnaryOp = unary.sqrt
tan: UnaryOp = unary.tan
tanh: UnaryOp = unary.tanh
trunc: UnaryOp = unary.trunc

_WRITTEN: dict[str, Any] = {
    "deg2rad": lambda x: x / 180 * math.pi,
    "degrees": lambda x: x / math.pi * 180,
    "fabs": lambda x: math.fabs(x),
    "rad2deg": lambda x: x / math.pi * 180,
    "radians": lambda x: x / 180 * math.pi,
    "reciprocal": lambda x: np.reciprocal(x),
    "sign": lambda x: np.sign(x),
    "signbit": lambda x: math.copysign(1, x) < 0,
    "spacing": lambda x: np.spacing(x),
    "square": lambda x: x * x,
}

_OF_FLOATS = ["deg2rad", "degrees", "fabs", "rad2deg", "radians", "spacing"]
_ALSO_COMPLEX = ["reciprocal"]


def __getattr__(name: str) -> Any:
    function = _WRITTEN.get(name)
    if function is None:
        raise AttributeError(f"unary.numpy has no {name!r}")
    types = (*ALL, *COMPLEX) if name in _ALSO_COMPLEX else ALL
    made = globals()[name] = UnaryOp._of(function, f"numpy.{name}", types=types)
    if name in _OF_FLOATS:
        made._domain = AS_FLOAT
    return made


def __dir__() -> list[str]:
    return sorted({*(name for name, op in globals().items() if isinstance(op, UnaryOp)), *_WRITTEN})
