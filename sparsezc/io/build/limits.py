"""Checks of conversions: unknown options, objects of a wrong kind, values that no format or library can hold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sparsezc.exceptions import DomainMismatch, meant

#: The operators that merge the values of a repeated edge; the results of first and second depend on the file's order.
MERGES = ("min", "max", "plus", "times", "first", "second", "any", "lor", "land", "lxor")


def unexpected(where: str, names: Iterable[str], record: type) -> TypeError:
    """Return Python's error for unknown options, with a list of those that a TypedDict has."""
    wrong, known = min(names), record.__annotations__
    nearest = meant(wrong, known)
    return TypeError(f"{where}: got an unexpected keyword argument {wrong!r}{nearest}; there are {', '.join(known)}")


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
            " to_coo() returns the values as a NumPy array, and apply extracts a part of each"
        )
