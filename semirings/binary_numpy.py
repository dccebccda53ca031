# mypy: disable-error-code=has-type
"""Binary operators by NumPy's names: ``binary.numpy`` in python-graphblas. Functions without a
GraphBLAS name are written in Python, and made on first use.

``fmin`` and ``fmax`` are ``min`` and ``max``, which prefer a number to a NaN; ``minimum`` and ``maximum`` prefer
the NaN.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sparsezc.semirings import binary
from sparsezc.semirings.algebra.operators import BinaryOp
from sparsezc.semirings.types.datatypes import ALL, COMPLEX
from sparsezc.semirings.types.domains import AS_FLOAT

add: BinaryOp = binary.plus
arctan2: BinaryOp = binary.atan2
bitwise_and: BinaryOp = binary.band
bitwise_or: BinaryOp = binary.bor
bitwise_xor: BinaryOp = binary.bxor
copysign: BinaryOp = binary.copysign
divide: BinaryOp = binary.truediv
equal: BinaryOp = binary.eq
floor_divide: BinaryOp = binary.floordiv
fmax: BinaryOp = binary.max
fmin: BinaryOp = binary.min
greater: BinaryOp = binary.gt
greater_equal: BinaryOp = binary.ge
hypot: BinaryOp = binary.hypot
ldexp: BinaryOp = binary.ldexp
less: BinaryOp = binary.lt
less_equal: BinaryOp = binary.le
logical_and: BinaryOp = binary.land
logical_or: BinaryOp = binary.lor
logical_xor: BinaryOp = binary.lxor
mod: BinaryOp = binary.mod
multiply: BinaryOp = binary.times
not_equal: BinaryOp = binary.ne
power: BinaryOp = binary.pow
remainder: BinaryOp = binary.mod
subtract: BinaryOp = binary.minus
true_divide: BinaryOp = binary.truediv


def _logaddexp(x, y):  # type: ignore[no-untyped-def]
    if x == y:
        return x + math.log(2)
    return max(x, y) + math.log1p(math.exp(-abs(x - y)))


def _logaddexp2(x, y):  # type: ignore[no-untyped-def]
    if x == y:
        return x + 1.0
    return max(x, y) + math.log2(1 + math.exp2(-abs(x - y)))


_WRITTEN: dict[str, Any] = {
    "fmod": lambda x, y: np.fmod(x, y),  # binary.fmod accepts floats only
    "float_power": lambda x, y: float(x) ** float(y),
    "gcd": lambda x, y: np.gcd(x, y),
    "lcm": lambda x, y: np.lcm(x, y),
    "left_shift": lambda x, y: x << y,
    "logaddexp": _logaddexp,
    "logaddexp2": _logaddexp2,
    "maximum": lambda x, y: np.maximum(x, y),
    "minimum": lambda x, y: np.minimum(x, y),
    "nextafter": lambda x, y: np.nextafter(x, y),
    "right_shift": lambda x, y: x >> y,
}

_OF_FLOATS = ["logaddexp", "logaddexp2", "nextafter"]
_ALSO_COMPLEX = ["maximum", "minimum"]


def __getattr__(name: str) -> Any:
    function = _WRITTEN.get(name)
    if function is None:
        raise AttributeError(f"binary.numpy has no {name!r}")
    types = (*ALL, *COMPLEX) if name in _ALSO_COMPLEX else ALL
    made = globals()[name] = BinaryOp._of(function, f"numpy.{name}", types=types)
    if name in _OF_FLOATS:
        made._domain = AS_FLOAT
    return made


def __dir__() -> list[str]:
    return sorted({*(name for name, op in globals().items() if isinstance(op, BinaryOp)), *_WRITTEN})
