# mypy: disable-error-code=has-type
"""Monoids by NumPy's names, ``monoid.numpy`` in python-graphblas; those of Python functions are made on first use."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.semirings import binary_numpy, monoid
from sparsezc.semirings.algebra.operators import BinaryOp
from sparsezc.semirings.algebra.structures import Monoid
from sparsezc.semirings.algebra.user_structures import register_monoid
from sparsezc.semirings.types.datatypes import ALL, COMPLEX, FLOATS, INTEGERS, highest, lowest

add: Monoid = monoid.plus
bitwise_and: Monoid = monoid.band
bitwise_or: Monoid = monoid.bor
bitwise_xor: Monoid = monoid.bxor
equal: Monoid = monoid.eq
fmax: Monoid = monoid.max
fmin: Monoid = monoid.min
logical_and: Monoid = monoid.land
logical_or: Monoid = monoid.lor
logical_xor: Monoid = monoid.lxor
multiply: Monoid = monoid.times

_IDENTITIES: dict[str, Any] = {
    "gcd": dict.fromkeys(INTEGERS, 0),
    "hypot": dict.fromkeys(FLOATS, 0.0),
    "logaddexp": dict.fromkeys(FLOATS, -np.inf),
    "logaddexp2": dict.fromkeys(FLOATS, -np.inf),
    "maximum": {t: lowest(t) for t in ALL} | dict.fromkeys(COMPLEX, complex(-np.inf, -np.inf)),
    "minimum": {t: highest(t) for t in ALL} | dict.fromkeys(COMPLEX, complex(np.inf, np.inf)),
}


def __getattr__(name: str) -> Any:
    identity = _IDENTITIES.get(name)
    if identity is None:
        raise AttributeError(f"monoid.numpy has no {name!r}")
    idempotent = name in ("gcd", "maximum", "minimum")
    operator = getattr(binary_numpy, name)
    if name == "hypot":  # binary.hypot is the CPU engine's own operator, which forms no monoid
        operator = BinaryOp.register_anonymous(lambda x, y: np.hypot(x, y), "numpy.hypot")
    made = globals()[name] = register_monoid(operator, identity, f"numpy.{name}", is_idempotent=idempotent)
    return made


def __dir__() -> list[str]:
    return sorted({*(name for name, op in globals().items() if isinstance(op, Monoid)), *_IDENTITIES})
