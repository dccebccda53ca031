"""Operators by NumPy's names, ``op.numpy`` in python-graphblas: those of ``unary``, ``binary`` and ``semiring``."""

from __future__ import annotations

from typing import Any

from sparsezc.semirings import binary_numpy, semiring_numpy, unary_numpy

_NAMESPACES = (unary_numpy, binary_numpy, semiring_numpy)


def __getattr__(name: str) -> Any:
    for namespace in _NAMESPACES:
        if not name.startswith("_") and hasattr(namespace, name):
            return getattr(namespace, name)
    raise AttributeError(f"op.numpy has no {name!r}")


def __dir__() -> list[str]:
    return sorted({name for namespace in _NAMESPACES for name in dir(namespace)})
