"""Operators that copy whole values of user-defined types byte by byte: identity, first, second and any.

python-graphblas 2025.2 compiles these from Python functions, and its code for sub-arrays writes beyond its values. So
our operators are put into its caches before it compiles any; its semirings and monoids are then made of ours, too.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from sparsezc.exceptions import NotImplementedException
from sparsezc.semirings.algebra.operators import TypedOp

__all__ = ["provide"]

_kept: list[Any] = []  # compiled functions, kept because SuiteSparse has their addresses


def provide(gb: Any, op: TypedOp, type_of: Any) -> None:
    """Register the movers of an operator on user-defined types; `type_of` makes python-graphblas's types.

    Raises
    ------
    NotImplementedException
        Numba is not installed, or this python-graphblas stores its operators elsewhere.
    """
    if find_spec("numba") is None:
        raise NotImplementedException(
            f"the cpu engine needs numba for {op!r}, whose type a user defined; pip install numba"
        )
    left, right = type_of(op.type), type_of(op.type2)
    try:
        _unary(gb, left)
        for x, y in ((left, right), (left, left), (right, right)):
            _binary(gb, "first", x, y, 0)
            _binary(gb, "second", x, y, 1)
            if x == y:
                _binary(gb, "any", x, y, 0)
    except AttributeError as error:
        raise NotImplementedException(f"the cpu engine has no {op!r} with this version of python-graphblas") from error


def _binary(gb: Any, name: str, left: Any, right: Any, which: int) -> None:
    left, right = gb.dtypes.lookup_dtype(left), gb.dtypes.lookup_dtype(right)
    op, result = getattr(gb.binary, name), (left, right)[which]
    if (left, right) in op._udt_types or not (left._is_udt or right._is_udt):
        return
    from graphblas.core import ffi, lib
    from graphblas.core.operator.binary import TypedUserBinaryOp

    made = ffi.new("GrB_BinaryOp*")
    moves = _mover(result.np_type.itemsize, 2, which)
    if lib.GrB_BinaryOp_new(made, moves.cffi, result._carg, left._carg, right._carg) != lib.GrB_SUCCESS:
        raise NotImplementedException(f"SuiteSparse makes no {name} of {left} and {right}")
    op._udt_ops[left, right] = TypedUserBinaryOp(op, name, left, result, made[0], dtype2=right)
    op._udt_types[left, right] = result


def _unary(gb: Any, dtype: Any) -> None:
    dtype, op = gb.dtypes.lookup_dtype(dtype), gb.unary.identity
    if dtype in op._udt_types or not dtype._is_udt:
        return
    from graphblas.core import ffi, lib
    from graphblas.core.operator.unary import TypedUserUnaryOp

    made = ffi.new("GrB_UnaryOp*")
    moves = _mover(dtype.np_type.itemsize, 1, 0)
    if lib.GrB_UnaryOp_new(made, moves.cffi, dtype._carg, dtype._carg) != lib.GrB_SUCCESS:
        raise NotImplementedException(f"SuiteSparse makes no identity of {dtype}")
    op._udt_ops[dtype] = TypedUserUnaryOp(op, "identity", dtype, dtype, made[0])
    op._udt_types[dtype] = dtype


def _mover(size: int, arity: int, which: int) -> Any:
    """Return a C function that copies `size` bytes of one of its operands to its result."""
    import numba

    def of_one(z: Any, x: Any) -> None:
        for k in range(size):
            z[k] = x[k]

    def of_two(z: Any, x: Any, y: Any) -> None:
        for k in range(size):
            z[k] = y[k] if which else x[k]

    pointer: Any = numba.types.CPointer
    data = pointer(numba.types.uint8)
    compiled = numba.cfunc(numba.void(*[data] * (arity + 1)))(of_one if arity == 1 else of_two)
    _kept.append(compiled)
    return compiled
