"""Checks of conversions: objects of a wrong kind, and values that no format or other library can hold."""

from __future__ import annotations

from typing import Any

from sparsezc.errors import DomainMismatch


def wrong_type(where: str, name: str, given: Any, needed: str) -> DomainMismatch:
    """Return the error for an argument of a wrong kind."""
    return DomainMismatch(f"{where}: {name} is a {type(given).__name__}; {needed} is needed")


def need_numbers(A: Any, where: str) -> None:
    """Raise DomainMismatch for values of user-defined types, which no format and no other library can hold.

    Raises
    ------
    DomainMismatch
        The message says how to get the numbers inside.
    """
    if A.dtype.is_udt:
        raise DomainMismatch(
            f"{where}: {getattr(A, 'name', 'the matrix')} holds {A.dtype}, a user-defined type; numbers are needed."
            " to_coo() gives the values as a NumPy array, and apply a part of them"
        )
