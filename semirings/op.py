"""Every unary, binary and semiring operator by its name: ``op.abs``, ``op.plus``, ``op.min_plus``.

A monoid's name means its binary operator here. SuiteSparse's own ones are in ``op.ss`` too.

>>> from sparsezc.semirings import binary, op, semiring
>>> op.plus is binary.plus, op.min_plus is semiring.min_plus, op.ss.firsti is binary.ss.firsti
(True, True, True)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparsezc.semirings import op_numpy as numpy
from sparsezc.semirings import op_ss as ss
from sparsezc.semirings.algebra import names
from sparsezc.semirings.algebra.deprecated_names import ask
from sparsezc.semirings.algebra.registering import Path, namespace

if TYPE_CHECKING:  # for editors; at run time operators that users registered are found, too
    from sparsezc.semirings.binary import *  # type: ignore[no-redef]  # noqa: F403
    from sparsezc.semirings.semiring import *  # type: ignore[assignment, no-redef]  # noqa: F403
    from sparsezc.semirings.unary import *  # type: ignore[no-redef]  # noqa: F403

__all__ = ["from_string", "numpy", "ss"]

_NAMESPACES = ("unary", "binary", "semiring")


def from_string(text: str) -> Any:  # type: ignore[no-redef]
    """Find the operator that a string names, of any kind: unary, binary, monoid, semiring and so on.

    Parameters
    ----------
    text : str
        ``"abs"``, ``"+[int]"``, ``"min.plus"`` ...

    Raises
    ------
    exceptions.InvalidValue
        No operator has that name.

    >>> from sparsezc.semirings import op
    >>> op.from_string("min.plus[FP64]")
    semiring.min_plus[FP64]
    """
    return names.from_string("op", text)


def __getattr__(name: str) -> Any:
    for kind in _NAMESPACES:
        found = names.names_of(kind).get(name)
        if found is not None:
            return found if name in names.namespace_dict(kind) else ask(namespace(kind), name, "op")
    dicts = map(names.namespace_dict, _NAMESPACES)
    paths = [vars(namespace[name]) for namespace in dicts if isinstance(namespace.get(name), Path)]
    if paths:
        return Path(**{part: op for path in reversed(paths) for part, op in path.items()})
    raise AttributeError(f"no unary, binary or semiring operator has the name {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for kind in _NAMESPACES for name in names.names_of(kind))})
