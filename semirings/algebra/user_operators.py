"""Operators on user-defined types: the built-in ones that move, choose or compare values, and users' functions.

They have two operand types that need not be equal, convert nothing, and have no CUDA expression: the GPU engine falls
back to the CPU engine. The result type of a user's function comes from Numba, which compiles it for SuiteSparse.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sparsezc.exceptions import NotImplementedException
from sparsezc.semirings.types import datatypes
from sparsezc.semirings.types.datatypes import BOOL, INT64, UINT64, DataType

if TYPE_CHECKING:
    from sparsezc.semirings.algebra.operators import Operator
    from sparsezc.semirings.algebra.typed import TypedOp

__all__ = ["Rule", "applied", "extend", "result"]


class Rule(NamedTuple):
    """The result type of a built-in operator for user-defined types."""

    result: Callable[[DataType, DataType], DataType | None]  # of the operands' types; None: not accepted
    values: Callable[..., Any]


def _alike(then: DataType | None = None) -> Callable[[DataType, DataType], DataType | None]:
    """Accept operands of equal type; the result has that type unless another is given."""
    return lambda x, y: (then or x) if x is y else None


def _always(then: DataType) -> Callable[[DataType, DataType], DataType | None]:
    return lambda x, y: then


_ITSELF = Rule(lambda x, y: x, lambda x, *rest: x)
_SAME = Rule(_alike(BOOL), lambda x, y: bool(np.all(x == y)))
_OTHER = Rule(_alike(BOOL), lambda x, y: bool(np.any(x != y)))
_COUNT = Rule(_always(INT64), lambda *operands: 1)
_VALUE = Rule(_alike(), lambda x, y: y)

TABLE: dict[str, dict[str, Rule]] = {
    "unary": {"identity": _ITSELF, "one": _COUNT},
    "binary": {
        "any": _VALUE,
        "eq": _SAME,
        "first": _ITSELF,
        "ne": _OTHER,
        "pair": _COUNT,
        "second": Rule(lambda x, y: y, lambda x, y: y),
    },
    "indexunary": {
        "valueeq": Rule(_alike(BOOL), lambda x, i, j, y: _SAME.values(x, y)),
        "valuene": Rule(_alike(BOOL), lambda x, i, j, y: _OTHER.values(x, y)),
    },
    "monoid": {"any": _VALUE},
    "agg": {
        **dict.fromkeys(("any_value", "first", "last"), _ITSELF),
        **dict.fromkeys(("count", "exists", "first_index", "last_index"), _COUNT),
    },
}
TABLE["select"] = TABLE["indexunary"]


def extend(*namespaces: ModuleType) -> None:
    """Assign their rules to the operators of the namespaces."""
    for namespace in namespaces:
        for name, rule in TABLE.get(namespace.__name__.rpartition(".")[2], {}).items():
            op: Operator = vars(namespace)[name]
            op._follow(rule)


def result(op: Operator, left: DataType, right: DataType) -> DataType | None:
    """Return the result type for operands of which one at least is user-defined; None if `op` does not accept them.

    Raises
    ------
    NotImplementedException
        It is a user's function, and Numba is not installed.
    """
    parts: Any = op
    if op.of_users is not None:
        return op.of_users.result(left, right)
    if op.kind == "semiring":
        product = result(parts.binaryop, left, right)
        fits = product is not None and product in parts.monoid and parts.monoid[product].type is product
        return product if fits else None
    if op.kind == "monoid":
        return left if left is right and result(parts.binaryop, left, right) is left else None
    if op.user_function is None or not op.user_function.is_udt:
        return None
    operands = {1: (left,), 2: (left, right), 4: (left, UINT64, UINT64, right)}[len(op.user_function.parameters)]
    found = _compiled(op.user_function.function, operands)
    return None if op.kind == "select" and found is not BOOL else found


def _compiled(function: Callable[..., Any], operands: tuple[DataType, ...]) -> DataType | None:
    """Return the result type of a function that Numba compiles; None if it cannot be compiled."""
    if any(t.shape for t in operands):
        return None  # python-graphblas 2025.2 passes a wrong pointer to a function of sub-arrays
    if find_spec("numba") is None:
        raise NotImplementedException(
            f"{function.__name__} of user-defined types is compiled by numba, which is not installed: pip install numba"
        )
    import numba
    from numba.core.errors import NumbaError
    from numba.np.numpy_support import as_dtype

    signature = tuple(numba.from_dtype(t.np_type) for t in operands)
    compiled = numba.njit(function)
    try:
        compiled.compile(signature)
        returned = compiled.overloads[signature].signature.return_type
        if returned in signature:
            return operands[signature.index(returned)]
        return datatypes.lookup(as_dtype(returned))
    except (NumbaError, NotImplementedError, TypeError):
        return None


def applied(op: TypedOp, operands: tuple[Any, ...]) -> Any:
    """Apply a typed operator to single values: :meth:`TypedOp.numpy` for user-defined types."""
    untyped: Any = op.op
    if untyped.of_users is None and untyped.kind in ("monoid", "semiring"):
        untyped = untyped.binaryop
    values = [
        datatypes.cast(value, dtype) if dtype is not None else value
        for value, dtype in zip(operands, _operand_types(op, len(operands)), strict=True)
    ]
    if untyped.of_users is not None:
        made = untyped.of_users.values(*values)
    else:
        assert untyped.user_function is not None
        made = untyped.user_function.function(*values)
    return datatypes.cast(made, op.return_type)


def _operand_types(op: TypedOp, count: int) -> tuple[DataType | None, ...]:
    """Return the type of each operand; None for positions."""
    return {1: (op.type,), 2: (op.type, op.type2), 4: (op.type, None, None, op.type2)}[count]
