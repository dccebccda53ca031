"""``select.value(A > 3)``, ``select.row(A <= 5)`` ...: a comparison, used as the condition of a select.

The comparison is not computed: operator, operand and scalar are read from its expression, which has not run.
"""

from __future__ import annotations

from typing import Any

from sparsezc.exceptions import InvalidValue
from sparsezc.semirings.algebra.names import lookup

__all__ = ["column", "index", "row", "value"]

_REFLECTED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
# Select operators test a position by <= and > only; i < n is i <= n - 1.
_POSITION = {"le": ("le", 0), "gt": ("gt", 0), "lt": ("le", 1), "ge": ("gt", 1)}


def value(comparison: Any) -> Any:
    """Select the entries whose value satisfies a comparison: ``value(A > 3)`` is ``A.select(select.valuegt, 3)``.

    Parameters
    ----------
    comparison : Expression
        A Matrix or Vector compared with a scalar: ``A > 3``, or ``A.apply(binary.gt, 3)``.

    Returns
    -------
    Expression
        The expression makes an object of the operand's kind.

    Raises
    ------
    TypeError
        It is not the expression of a comparison.
    InvalidValue
        It is the expression of another operator.

    >>> import sparsezc as gb
    >>> v = gb.Vector.from_coo([0, 1, 2], [5, 6, 7])
    >>> gb.select.value(v.apply(gb.binary.ge, 6)).new().to_dict()
    {1: 6, 2: 7}
    """
    operand, name, scalar = _read(comparison, "value")
    return operand.select(lookup("select", f"value{name}"), scalar)


def row(comparison: Any) -> Any:
    """Select the entries whose row satisfies a comparison, as in ``select.row(A <= 5)``; see :func:`value`."""
    return _by_position(comparison, "row")


def column(comparison: Any) -> Any:
    """Select the entries whose column satisfies a comparison, as in ``select.column(A > 5)``; see :func:`value`."""
    return _by_position(comparison, "column")


def index(comparison: Any) -> Any:
    """Select a Vector's entries whose index satisfies a comparison: ``select.index(v < 5)``; see :func:`value`."""
    return _by_position(comparison, "index")


def _by_position(comparison: Any, what: str) -> Any:
    operand, name, scalar = _read(comparison, what)
    if name not in _POSITION:
        raise InvalidValue(f"select.{what}: positions are compared by <=, <, > or >=; got {name}")
    name, below = _POSITION[name]
    prefix = "col" if what == "column" else what
    return operand.select(lookup("select", prefix + name), int(scalar.value) - below)


def _read(comparison: Any, what: str) -> tuple[Any, str, Any]:
    """Return the operand, the name of the comparison, and the scalar."""
    operation = getattr(comparison, "operation", None)
    if operation not in ("apply_left", "apply_right"):
        raise TypeError(f"select.{what} takes a comparison with a scalar, such as A > 3; got {comparison!r}")
    name = comparison.op.name
    if name not in _REFLECTED:
        raise InvalidValue(f"select.{what} takes a comparison with a scalar, such as A > 3; got the operator {name!r}")
    if operation == "apply_right":
        operand, scalar = comparison.operands
        return operand, name, scalar
    scalar, operand = comparison.operands
    return operand, _REFLECTED[name], scalar
