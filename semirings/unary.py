# ruff: noqa: E501  -- one operator, one line; a lambda takes all operands and may ignore some
"""The unary operators, by python-graphblas's names: ``z = f(x)``. One line defines one.

``position*`` (and ``erf, erfc, frexpe, frexpx, lgamma, tgamma``) are SuiteSparse's own; python-graphblas keeps them in ``unary.ss``.
"""

from __future__ import annotations

import numpy as np

from sparsezc.semirings.algebra.operators import UnaryOp
from sparsezc.semirings.types.domains import (  # fmt: skip
    AS_FLOAT,
    COMPLEX_ITSELF,
    COMPLEX_PARTS,
    FLOAT_TO_BOOL,
    ONLY_FLOAT,
    POSITION,
    WHOLE,
)
from sparsezc.semirings.udf import numpy_functions

# fmt: off
# Values
identity = UnaryOp("identity", numpy=numpy_functions.itself, cuda="x")
ainv = UnaryOp("ainv", numpy=numpy_functions.negative, cuda="-x")
minv = UnaryOp("minv", numpy=numpy_functions.inverse, cuda="quotient(Z(1), x)")
one = UnaryOp("one", numpy=numpy_functions.one, cuda="Z(1)")
abs = UnaryOp("abs", numpy=numpy_functions.absolute, cuda="absolute(x)")
lnot = UnaryOp("lnot", numpy=np.logical_not, cuda="x == 0")
bnot = UnaryOp("bnot", numpy=np.invert, cuda="~x", domain=WHOLE)

# Roots, exponentials, logarithms
sqrt = UnaryOp("sqrt", numpy=np.sqrt, cuda="sqrt(x)", domain=AS_FLOAT)
cbrt = UnaryOp("cbrt", numpy=np.cbrt, cuda="cbrt(x)", domain=AS_FLOAT)
exp = UnaryOp("exp", numpy=np.exp, cuda="exp(x)", domain=AS_FLOAT)
exp2 = UnaryOp("exp2", numpy=np.exp2, cuda="exp2(x)", domain=AS_FLOAT)
expm1 = UnaryOp("expm1", numpy=np.expm1, cuda="expm1(x)", domain=AS_FLOAT)
log = UnaryOp("log", numpy=np.log, cuda="log(x)", domain=AS_FLOAT)
log2 = UnaryOp("log2", numpy=np.log2, cuda="log2(x)", domain=AS_FLOAT)
log10 = UnaryOp("log10", numpy=np.log10, cuda="log10(x)", domain=AS_FLOAT)
log1p = UnaryOp("log1p", numpy=np.log1p, cuda="log1p(x)", domain=AS_FLOAT)

# Trigonometry
sin = UnaryOp("sin", numpy=np.sin, cuda="sin(x)", domain=AS_FLOAT)
cos = UnaryOp("cos", numpy=np.cos, cuda="cos(x)", domain=AS_FLOAT)
tan = UnaryOp("tan", numpy=np.tan, cuda="tan(x)", domain=AS_FLOAT)
asin = UnaryOp("asin", numpy=np.arcsin, cuda="asin(x)", domain=AS_FLOAT)
acos = UnaryOp("acos", numpy=np.arccos, cuda="acos(x)", domain=AS_FLOAT)
atan = UnaryOp("atan", numpy=np.arctan, cuda="atan(x)", domain=AS_FLOAT)
sinh = UnaryOp("sinh", numpy=np.sinh, cuda="sinh(x)", domain=AS_FLOAT)
cosh = UnaryOp("cosh", numpy=np.cosh, cuda="cosh(x)", domain=AS_FLOAT)
tanh = UnaryOp("tanh", numpy=np.tanh, cuda="tanh(x)", domain=AS_FLOAT)
asinh = UnaryOp("asinh", numpy=np.arcsinh, cuda="asinh(x)", domain=AS_FLOAT)
acosh = UnaryOp("acosh", numpy=np.arccosh, cuda="acosh(x)", domain=AS_FLOAT)
atanh = UnaryOp("atanh", numpy=np.arctanh, cuda="atanh(x)", domain=AS_FLOAT)

# Rounding and parts
signum = UnaryOp("signum", numpy=np.sign, cuda="sign_of(x)", domain=AS_FLOAT)
ceil = UnaryOp("ceil", numpy=numpy_functions.by_part(np.ceil), cuda="ceil(x)", domain=AS_FLOAT)
floor = UnaryOp("floor", numpy=numpy_functions.by_part(np.floor), cuda="floor(x)", domain=AS_FLOAT)
round = UnaryOp("round", numpy=numpy_functions.by_part(numpy_functions.round_half_away), cuda="round(x)", domain=AS_FLOAT)
trunc = UnaryOp("trunc", numpy=numpy_functions.by_part(np.trunc), cuda="trunc(x)", domain=AS_FLOAT)
frexpe = UnaryOp("frexpe", numpy=numpy_functions.exponent, cuda="exponent_of(x)", domain=ONLY_FLOAT)
frexpx = UnaryOp("frexpx", numpy=numpy_functions.mantissa, cuda="mantissa_of(x)", domain=ONLY_FLOAT)
isfinite = UnaryOp("isfinite", numpy=np.isfinite, cuda="is_finite(x)", domain=FLOAT_TO_BOOL)
isinf = UnaryOp("isinf", numpy=np.isinf, cuda="is_infinite(x)", domain=FLOAT_TO_BOOL)
isnan = UnaryOp("isnan", numpy=np.isnan, cuda="x != x", domain=FLOAT_TO_BOOL)

# Complex numbers
creal = UnaryOp("creal", numpy=np.real, cuda="x.re", domain=COMPLEX_PARTS)
cimag = UnaryOp("cimag", numpy=np.imag, cuda="x.im", domain=COMPLEX_PARTS)
carg = UnaryOp("carg", numpy=np.angle, cuda="atan2(x.im, x.re)", domain=COMPLEX_PARTS)
conj = UnaryOp("conj", numpy=np.conj, cuda="conjugate(x)", domain=COMPLEX_ITSELF)

# Special functions
erf = UnaryOp("erf", numpy=numpy_functions.special("erf"), cuda="erf(x)", domain=AS_FLOAT)
erfc = UnaryOp("erfc", numpy=numpy_functions.special("erfc"), cuda="erfc(x)", domain=AS_FLOAT)
lgamma = UnaryOp("lgamma", numpy=numpy_functions.special("gammaln"), cuda="lgamma(x)", domain=AS_FLOAT)
tgamma = UnaryOp("tgamma", numpy=numpy_functions.special("gamma"), cuda="tgamma(x)", domain=AS_FLOAT)

# Positions: an entry's own row i and column j, counted from 0 or from 1
positioni = UnaryOp("positioni", numpy=lambda i, j: i, cuda="i", domain=POSITION)
positioni1 = UnaryOp("positioni1", numpy=lambda i, j: i + 1, cuda="i + 1", domain=POSITION)
positionj = UnaryOp("positionj", numpy=lambda i, j: j, cuda="j", domain=POSITION)
positionj1 = UnaryOp("positionj1", numpy=lambda i, j: j + 1, cuda="j + 1", domain=POSITION)

# fmt: on
from_string = UnaryOp.from_string
register_anonymous = UnaryOp.register_anonymous
register_new = UnaryOp.register_new

# Imported last: they take their names from this module
from sparsezc.semirings import unary_numpy as numpy  # noqa: E402, F401
from sparsezc.semirings import unary_ss  # noqa: E402

ss = unary_ss
