"""The classes of operators, and which of them an operator is."""

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
    """Return an operator and its kind.

    Parameters
    ----------
    op : operator, typed or not
        One with parameters gets its defaults.

    Returns
    -------
    op
        The operator.
    str
        ``"UnaryOp"``, ``"BinaryOp"``, ``"Monoid"``, ``"Semiring"``, ``"IndexUnaryOp"``, ``"SelectOp"``,
        or ``"UnknownOpClass"`` for what is no operator; aggregators count as none, as in python-graphblas.

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
