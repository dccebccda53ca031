"""NumPy's names: ``op.numpy`` in python-graphblas, which are those of ``unary``, ``binary`` and ``semiring``."""

from __future__ import annotations

from typing import Any

from sparsezc.semirings import binary_numpy, semiring_numpy, unary_numpy

_ROOMS = (unary_numpy, binary_numpy, semiring_numpy)


def __getattr__(name: str) -> Any:
    for room in _ROOMS:
        if not name.startswith("_") and hasattr(room, name):
            return getattr(room, name)
    raise AttributeError(f"op.numpy has no {name!r}")


def __dir__() -> list[str]:
    return sorted({name for room in _ROOMS for name in dir(room)})
