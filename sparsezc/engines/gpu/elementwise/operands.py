"""The operands of expressions as arguments of the functions on vectors, matrices and panels."""

from __future__ import annotations

from typing import Any

from sparsezc.semirings.types.datatypes import unify


def of_ewise(e: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Return both operands of an elementwise operation; of a union also the two defaults, with their type."""
    if e.operation != "ewise_union":
        return *e.operands, {}
    x, s, y, t = e.operands
    return x, y, {"scalars": (s.value, t.value), "scalar_type": unify(s.dtype, t.dtype)}


def of_apply(e: Any) -> tuple[Any, dict[str, Any]]:
    """Return the operand that an operator is applied to, and the bound scalar: its side, value and type."""
    if e.operation == "apply":
        return e.operands[0], {}
    left = e.operation == "apply_left"
    s, x = e.operands if left else reversed(e.operands)
    return x, {"left": left, "scalar": s.value, "scalar_type": s.dtype}
