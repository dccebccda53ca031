"""Semirings by NumPy's names of a monoid and an operator, ``semiring.numpy`` in python-graphblas; made on first use."""

from __future__ import annotations

from typing import Any

from sparsezc.semirings import binary_numpy, monoid_numpy
from sparsezc.semirings.algebra.names import semiring_of
from sparsezc.semirings.algebra.operators import TypeNotSupported


def __getattr__(name: str) -> Any:
    for adds in sorted(dir(monoid_numpy), key=len, reverse=True):  # "logaddexp2" before "logaddexp"
        multiplies = name.removeprefix(f"{adds}_")
        if multiplies != name and multiplies in dir(binary_numpy):
            made = _made(adds, multiplies)
            if made is not None:
                return globals().setdefault(name, made)
    raise AttributeError(f"semiring.numpy has no {name!r}")


def _made(adds: str, multiplies: str) -> Any:
    try:
        return semiring_of(getattr(monoid_numpy, adds), getattr(binary_numpy, multiplies))
    except TypeNotSupported:  # the monoid has no type that the operator returns
        return None


def __dir__() -> list[str]:
    pairs = ((adds, multiplies) for adds in dir(monoid_numpy) for multiplies in dir(binary_numpy))
    return sorted(f"{adds}_{multiplies}" for adds, multiplies in pairs if _made(adds, multiplies) is not None)
