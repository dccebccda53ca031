"""The classes of operators, and a function that returns the class of an operator."""

from __future__ import annotations

from typing import Any

from sparsezc.semirings.algebra.aggregators import Aggregator, TypedAggregator
from sparsezc.semirings.algebra.operators import BinaryOp, IndexUnaryOp, Operator, SelectOp, UnaryOp
from sparsezc.semirings.algebra.registering import Parameterized
from sparsezc.semirings.algebra.structures import Monoid, Semiring
from sparsezc.semirings.algebra.typed import TypedOp

__all__ = [
    "Aggregator",
    "BinaryOp",
    "IndexUnaryOp",
    "Monoid",
    "SelectOp",
    "Semiring",
    "UnaryOp",
    "find_opclass",
]


def find_opclass(op: Any) -> tuple[Any, str]:
    """Return an operator and the name of its class.

    Parameters
    ----------
    op : operator, typed or not
        An operator with parameters gets their defaults.

    Returns
    -------
    op
        The operator.
    str
        ``"UnaryOp"``, ``"BinaryOp"``, ``"Monoid"``, ``"Semiring"``, ``"IndexUnaryOp"``, ``"SelectOp"``,
        or ``"UnknownOpClass"`` for other objects, and for aggregators, as in python-graphblas.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc.core.operator import find_opclass
    >>> find_opclass(gb.monoid.plus["FP64"])
    (monoid.plus[FP64], 'Monoid')
    """
    if isinstance(op, Parameterized):
        op = op()
    known = isinstance(op, Operator | TypedOp) and not isinstance(op, Aggregator | TypedAggregator)
    return op, op.opclass if known else "UnknownOpClass"
