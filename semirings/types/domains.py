"""The domains of operators: mappings ``{input: (operand, result)}`` of types.

``input`` is the type of the user's entries, ``operand`` the type in which the operator computes (inputs are converted
to it) and ``result`` the type it returns. They are python-graphblas's, so the same programs are valid.
"""

from __future__ import annotations

from sparsezc.semirings.types.datatypes import (  # fmt: skip
    ALL,
    BOOL,
    FC32,
    FC64,
    FLOATS,
    FP32,
    FP64,
    INT8,
    INT16,
    INT32,
    INT64,
    INTEGERS,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    UNSIGNED,
    DataType,
)

Domain = dict[DataType, tuple[DataType, DataType]]

_NARROW = (BOOL, INT8, INT16, UINT8, UINT16)
_WIDE = (INT32, INT64, UINT32, UINT64)


def same(types: tuple[DataType, ...]) -> Domain:
    """Make the domain whose result has the type of the operands."""
    return {t: (t, t) for t in types}


def returning(result: DataType, types: tuple[DataType, ...] = ALL) -> Domain:
    """Make the domain with one result type for all operands."""
    return {t: (t, result) for t in types}


def through(operand: DataType, types: tuple[DataType, ...] = ALL) -> Domain:
    """Make the domain that converts every input to one type, which is also the result's."""
    return dict.fromkeys(types, (operand, operand))


EVERY = same(ALL)
WHOLE = same(INTEGERS)
TO_BOOL = returning(BOOL)
AS_BOOL = through(BOOL)
# Mathematical functions: narrow types go through FP32, wide ones through FP64.
INTO_FLOAT = through(FP32, _NARROW) | through(FP64, _WIDE)
AS_FLOAT = same(FLOATS) | INTO_FLOAT
ONLY_FLOAT = same(FLOATS)
FLOAT_TO_BOOL = returning(BOOL, FLOATS)
# Division: FP32 stays, everything else gives FP64.
QUOTIENT = returning(FP64) | same((FP32,))
# Positions are INT64 unless the operator is requested with INT32.
POSITION = through(INT64) | same((INT32,))
INDEX = through(INT64, (INT64, UINT64)) | same((INT32,))
DIAGINDEX = same((INT32, INT64))
POSITION_TEST = through(BOOL, (BOOL, UINT64))
# Booleans become INT8, as in Python's arithmetic.
BOOL_TO_INT8 = same(INTEGERS + FLOATS) | {BOOL: (BOOL, INT8)}
BINOMIAL = through(INT64, INTEGERS)
# Bitwise monoids exist for unsigned types only; signed inputs go through the next unsigned type that holds them.
BITS = same(UNSIGNED)
AS_BITS = BITS | {INT8: (UINT16, UINT16), INT16: (UINT32, UINT32), INT32: (UINT64, UINT64), INT64: (UINT64, UINT64)}
NUMBERS = same(INTEGERS + FLOATS)
"""Every type but BOOL."""
PAIRS = NUMBERS | through(INT64, (BOOL,))
"""Every type, for operators that return 1: booleans are counted in INT64."""
# Complex numbers to a part, to complex numbers, and parts to complex numbers.
COMPLEX_PARTS: Domain = {FC32: (FC32, FP32), FC64: (FC64, FP64)}
COMPLEX_ITSELF: Domain = {FC32: (FC32, FC32), FC64: (FC64, FC64)}
FROM_PARTS: Domain = {t: (z, FC32 if z is FP32 else FC64) for t, (z, _) in AS_FLOAT.items()}
