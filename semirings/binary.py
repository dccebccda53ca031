# ruff: noqa: E501  -- one operator, one line; a lambda takes all operands and may ignore some
"""The binary operators, by python-graphblas's names: ``z = f(x, y)``. One line defines one.

``mod`` is python-graphblas's ``binary.numpy.mod``, which its ``A % B`` uses.

In a multiplication of A(i, k) with B(k, j), ``firsti`` is i, ``firstj`` and ``secondi`` are k, ``secondj`` is j.
"""

from __future__ import annotations

import numpy as np

from sparsezc.semirings.algebra.isclose import close
from sparsezc.semirings.algebra.operators import BinaryOp
from sparsezc.semirings.algebra.registering import parameterize
from sparsezc.semirings.types.datatypes import INT64
from sparsezc.semirings.types.domains import (  # fmt: skip
    AS_BOOL,
    AS_FLOAT,
    BINOMIAL,
    BOOL_TO_INT8,
    FROM_PARTS,
    INTO_FLOAT,
    POSITION,
    QUOTIENT,
    TO_BOOL,
    WHOLE,
)
from sparsezc.semirings.udf import numpy_functions

# fmt: off
# Choosing one
first = BinaryOp("first", numpy=numpy_functions.first, cuda="x", commutes_to="second")
second = BinaryOp("second", numpy=numpy_functions.second, cuda="y", commutes_to="first")
any = BinaryOp("any", numpy=numpy_functions.second, cuda="y", commutes_to="any")
pair = BinaryOp("pair", numpy=numpy_functions.pair, cuda="Z(1)", commutes_to="pair", mixed=INT64)
min = BinaryOp("min", numpy=numpy_functions.lesser, cuda="lesser(x, y)", commutes_to="min")
max = BinaryOp("max", numpy=numpy_functions.greater, cuda="greater(x, y)", commutes_to="max")
absfirst = BinaryOp("absfirst", numpy=lambda x, y: np.abs(numpy_functions.first(x, y)), cuda="absolute(x)", commutes_to="abssecond")
abssecond = BinaryOp("abssecond", numpy=lambda x, y: np.abs(numpy_functions.second(x, y)), cuda="absolute(y)", commutes_to="absfirst")

# Arithmetic
plus = BinaryOp("plus", numpy=np.add, cuda="x + y", commutes_to="plus")
minus = BinaryOp("minus", numpy=numpy_functions.minus, cuda="x - y", commutes_to="rminus")
rminus = BinaryOp("rminus", numpy=lambda x, y: numpy_functions.minus(y, x), cuda="y - x", commutes_to="minus")
times = BinaryOp("times", numpy=np.multiply, cuda="x * y", commutes_to="times")
cdiv = BinaryOp("cdiv", numpy=numpy_functions.quotient, cuda="quotient(x, y)", commutes_to="rdiv")
rdiv = BinaryOp("rdiv", numpy=lambda x, y: numpy_functions.quotient(y, x), cuda="quotient(y, x)", commutes_to="cdiv")
truediv = BinaryOp("truediv", numpy=np.true_divide, cuda="Z(x) / Z(y)", domain=QUOTIENT, commutes_to="rtruediv")
rtruediv = BinaryOp("rtruediv", numpy=lambda x, y: np.true_divide(y, x), cuda="Z(y) / Z(x)", domain=QUOTIENT, commutes_to="truediv")
floordiv = BinaryOp("floordiv", numpy=numpy_functions.floor_quotient, cuda="floor_quotient(Z(x), Z(y))", domain=BOOL_TO_INT8, commutes_to="rfloordiv")
rfloordiv = BinaryOp("rfloordiv", numpy=lambda x, y: numpy_functions.floor_quotient(y, x), cuda="floor_quotient(Z(y), Z(x))", domain=BOOL_TO_INT8, commutes_to="floordiv")
mod = BinaryOp("mod", numpy=numpy_functions.modulo, cuda="modulo(Z(x), Z(y))", domain=BOOL_TO_INT8)
pow = BinaryOp("pow", numpy=numpy_functions.power, cuda="power(x, y)", commutes_to="rpow")
rpow = BinaryOp("rpow", numpy=lambda x, y: numpy_functions.integer_power(y, x), cuda="integer_power(Z(y), Z(x))", domain=BOOL_TO_INT8, commutes_to="pow")
binom = BinaryOp("binom", numpy=numpy_functions.binomial, cuda="binomial(x, y)", domain=BINOMIAL)

# Floating point
atan2 = BinaryOp("atan2", numpy=np.arctan2, cuda="atan2(x, y)", domain=AS_FLOAT)
hypot = BinaryOp("hypot", numpy=np.hypot, cuda="hypot(x, y)", domain=AS_FLOAT, commutes_to="hypot")
fmod = BinaryOp("fmod", numpy=np.fmod, cuda="fmod(x, y)", domain=AS_FLOAT)
remainder = BinaryOp("remainder", numpy=numpy_functions.remainder, cuda="remainder(x, y)", domain=AS_FLOAT)
copysign = BinaryOp("copysign", numpy=np.copysign, cuda="copysign(x, y)", domain=AS_FLOAT)
ldexp = BinaryOp("ldexp", numpy=numpy_functions.scale, cuda="ldexp(x, cast<i32>(y))", domain=INTO_FLOAT)

# Of a real and an imaginary part
cmplx = BinaryOp("cmplx", numpy=lambda x, y: x + 1j * y, cuda="Z(x, y)", domain=FROM_PARTS)

# Comparisons that return BOOL
eq = BinaryOp("eq", numpy=np.equal, cuda="x == y", domain=TO_BOOL, commutes_to="eq")
ne = BinaryOp("ne", numpy=np.not_equal, cuda="x != y", domain=TO_BOOL, commutes_to="ne")
gt = BinaryOp("gt", numpy=np.greater, cuda="x > y", domain=TO_BOOL, commutes_to="lt")
lt = BinaryOp("lt", numpy=np.less, cuda="x < y", domain=TO_BOOL, commutes_to="gt")
ge = BinaryOp("ge", numpy=np.greater_equal, cuda="x >= y", domain=TO_BOOL, commutes_to="le")
le = BinaryOp("le", numpy=np.less_equal, cuda="x <= y", domain=TO_BOOL, commutes_to="ge")

# Comparisons that return 1 or 0 of the operands' type
iseq = BinaryOp("iseq", numpy=np.equal, cuda="x == y", commutes_to="iseq")
isne = BinaryOp("isne", numpy=np.not_equal, cuda="x != y", commutes_to="isne")
isgt = BinaryOp("isgt", numpy=np.greater, cuda="x > y", commutes_to="islt")
islt = BinaryOp("islt", numpy=np.less, cuda="x < y", commutes_to="isgt")
isge = BinaryOp("isge", numpy=np.greater_equal, cuda="x >= y", commutes_to="isle")
isle = BinaryOp("isle", numpy=np.less_equal, cuda="x <= y", commutes_to="isge")

# Logic: an operand is true where it is not zero
land = BinaryOp("land", numpy=np.logical_and, cuda="(x != 0) && (y != 0)", commutes_to="land")
lor = BinaryOp("lor", numpy=np.logical_or, cuda="(x != 0) || (y != 0)", commutes_to="lor")
lxor = BinaryOp("lxor", numpy=np.logical_xor, cuda="(x != 0) != (y != 0)", commutes_to="lxor")
lxnor = BinaryOp("lxnor", numpy=np.equal, cuda="x == y", domain=AS_BOOL, commutes_to="lxnor")

# Bits
band = BinaryOp("band", numpy=np.bitwise_and, cuda="x & y", domain=WHOLE, commutes_to="band")
bor = BinaryOp("bor", numpy=np.bitwise_or, cuda="x | y", domain=WHOLE, commutes_to="bor")
bxor = BinaryOp("bxor", numpy=np.bitwise_xor, cuda="x ^ y", domain=WHOLE, commutes_to="bxor")
bxnor = BinaryOp("bxnor", numpy=lambda x, y: ~(x ^ y), cuda="~(x ^ y)", domain=WHOLE, commutes_to="bxnor")
bget = BinaryOp("bget", numpy=numpy_functions.bit_get, cuda="bit_get(x, y)", domain=WHOLE)
bset = BinaryOp("bset", numpy=numpy_functions.bit_set, cuda="bit_set(x, y)", domain=WHOLE)
bclr = BinaryOp("bclr", numpy=numpy_functions.bit_clear, cuda="bit_clear(x, y)", domain=WHOLE)
bshift = BinaryOp("bshift", numpy=numpy_functions.bit_shift, cuda="bit_shift(x, y)", domain=WHOLE)

# Positions; in an elementwise operation both operands are at (i, j), so the shared k is j for firstj and i for secondi
firsti = BinaryOp("firsti", numpy=lambda i, k, j: i, cuda="i", domain=POSITION, commutes_to="secondi", transposes_to="secondj")
firsti1 = BinaryOp("firsti1", numpy=lambda i, k, j: i + 1, cuda="i + 1", domain=POSITION, commutes_to="secondi1", transposes_to="secondj1")
firstj = BinaryOp("firstj", numpy=lambda i, k, j: k, cuda="k", elementwise="j", domain=POSITION, commutes_to="secondj", transposes_to="secondi")
firstj1 = BinaryOp("firstj1", numpy=lambda i, k, j: k + 1, cuda="k + 1", elementwise="j + 1", domain=POSITION, commutes_to="secondj1", transposes_to="secondi1")
secondi = BinaryOp("secondi", numpy=lambda i, k, j: k, cuda="k", elementwise="i", domain=POSITION, commutes_to="firsti", transposes_to="firstj")
secondi1 = BinaryOp("secondi1", numpy=lambda i, k, j: k + 1, cuda="k + 1", elementwise="i + 1", domain=POSITION, commutes_to="firsti1", transposes_to="firstj1")
secondj = BinaryOp("secondj", numpy=lambda i, k, j: j, cuda="j", domain=POSITION, commutes_to="firstj", transposes_to="firsti")
secondj1 = BinaryOp("secondj1", numpy=lambda i, k, j: j + 1, cuda="j + 1", domain=POSITION, commutes_to="firstj1", transposes_to="firsti1")

# Whether |x - y| <= max(rel_tol * max(|x|, |y|), abs_tol): isclose(rel_tol=1e-7, abs_tol=0.0)
isclose = parameterize(BinaryOp, close, "isclose")

# fmt: on
from_string = BinaryOp.from_string
register_anonymous = BinaryOp.register_anonymous
register_new = BinaryOp.register_new

# Imported last: they take their names from this module
from sparsezc.semirings import binary_numpy as numpy  # noqa: E402, F401
from sparsezc.semirings import binary_ss  # noqa: E402

ss = binary_ss
