"""SuiteSparse's own operators under names deprecated in python-graphblas: ``unary.erf`` is ``unary.ss.erf``.

The old names still mean the same operators; a DeprecationWarning gives the name that both libraries have.
"""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

from sparsezc.semirings.algebra.operators import Operator

__all__ = ["ask", "move"]

_ALSO = {"positioni": "`gb.indexunary.rowindex` or ", "positionj": "`gb.indexunary.colindex` or "}


def move(namespace: Any) -> None:
    """Remove the names of ``namespace.ss`` from the listing of `namespace`; a lookup by name still finds them."""
    moved = {name: op for name, op in vars(namespace.ss).items() if isinstance(op, Operator)}
    for name in moved:
        delattr(namespace, name)
    namespace.__getattr__ = lambda name: ask(namespace, name)


def ask(namespace: ModuleType, name: str, called: str | None = None) -> Any:
    """Return the operator that had this name in `namespace`; `called` is the namespace that the program used."""
    kind = called or namespace.__name__.rpartition(".")[2]
    op = getattr(namespace.ss, name, None)
    if not isinstance(op, Operator):
        # With these two, Python itself looks for a near name where it shows the error.
        raise AttributeError(f"{namespace.__name__} has no attribute {name!r}", name=name, obj=namespace)
    warnings.warn(
        f"`gb.{kind}.{name}` is deprecated in python-graphblas; please use {_ALSO.get(name, '')}`gb.{kind}.ss.{name}`,"
        " which is the same operator in both libraries",
        DeprecationWarning,
        stacklevel=3,
    )
    return op
