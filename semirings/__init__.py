"""The algebra of sparsezc: types, operators, monoids and semirings. No arrays, no devices, no engines.

>>> from sparsezc.semirings import binary, monoid, semiring
>>> from sparsezc.semirings.types import datatypes as types
>>> bool(semiring.min_plus["INT64"].monoid.identity == types.highest(types.INT64))
True
>>> binary.plus[types.INT32, types.FP32]
binary.plus[FP64]

**One line adds an operator**: its name, its NumPy function, its CUDA expression, and its types unless it has all.
An operator without a name in a namespace works too:

>>> import numpy as np
>>> from sparsezc.semirings.types.domains import AS_FLOAT
>>> from sparsezc.semirings.algebra.operators import BinaryOp
>>> mean = BinaryOp("mean", numpy=lambda x, y: (x + y) / 2, cuda="(x + y) / 2", domain=AS_FLOAT, commutes_to="mean")
>>> mean["INT8"].numpy(1, 2), mean["INT8"].cuda, mean.types[types.INT64]
(np.float32(1.5), '(x + y) / 2', FP64)
>>> semiring.register_anonymous(monoid.max, mean)["FP32"]
semiring.max_mean[FP32]

The same line in ``binary.py`` makes it ``binary.mean``, and ``max_mean = Semiring(monoid.max, binary.mean)`` in
``semiring.py`` a named semiring. Helpers that a CUDA expression calls by name are in ``cuda/operators.cuh``.
"""

# PyPI has another package named ``semirings``; under that name this folder would also be a second copy of every type.
if __name__ != "sparsezc.semirings":
    raise ImportError(f"this folder imports as sparsezc.semirings only, not as {__name__}: import sparsezc.semirings")

from functools import partial

from sparsezc.semirings import agg, binary, indexunary, monoid, op, select, semiring, types, unary
from sparsezc.semirings.algebra.complex_numbers import extend
from sparsezc.semirings.algebra.deprecated_names import move
from sparsezc.semirings.algebra.names import from_string, listed, lookup
from sparsezc.semirings.algebra.operators import (
    BinaryOp,
    IndexUnaryOp,
    Operator,
    SelectOp,
    TypedOp,
    TypeNotSupported,
    UnaryOp,
)
from sparsezc.semirings.algebra.registering import define
from sparsezc.semirings.algebra.structures import Monoid, Semiring, TypedMonoid, TypedSemiring
from sparsezc.semirings.algebra.user_operators import extend as extend_for_users

__all__ = [
    "BinaryOp", "IndexUnaryOp", "Monoid", "Operator", "SelectOp", "Semiring", "TypeNotSupported", "TypedMonoid",
    "TypedOp", "TypedSemiring", "UnaryOp", "agg", "binary", "from_string", "indexunary", "lookup", "monoid", "op",
    "select", "semiring", "types", "unary",
]  # fmt: skip

for _module in (unary, binary, indexunary, select, monoid, semiring, agg, op):
    define(_module)
extend(unary, binary, indexunary, select, monoid, semiring, agg)
extend_for_users(unary, binary, indexunary, select, monoid, agg)
for _module in (unary, binary, semiring, agg):
    move(_module)
for _module in (
    *(unary, binary, indexunary, select, monoid, semiring, agg),
    *(module.ss for module in (unary, binary, semiring, agg, op)),
):
    vars(_module)["__dir__"] = partial(listed, vars(_module))  # dir() lists the operators, not the module's imports
