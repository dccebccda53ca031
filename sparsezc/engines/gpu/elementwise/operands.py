"""The operands of expressions, as the functions take them that work on vectors, on matrices and on panels."""

from __future__ import annotations

from typing import Any

from sparsezc.semirings.types.datatypes import unify


def of_ewise(e: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Both sides of an elementwise operation, and the two numbers of a union with their type."""
    if e.operation != "ewise_union":
        return *e.operands, {}
    x, s, y, t = e.operands
    return x, y, {"scalars": (s.value, t.value), "scalar_type": unify(s.dtype, t.dtype)}


def of_apply(e: Any) -> tuple[Any, dict[str, Any]]:
    """What an operator is applied to, and the number that is bound: on which side, which, and its type."""
    if e.operation == "apply":
        return e.operands[0], {}
    left = e.operation == "apply_left"
    s, x = e.operands if left else reversed(e.operands)
    return x, {"left": left, "scalar": s.value, "scalar_type": s.dtype}
