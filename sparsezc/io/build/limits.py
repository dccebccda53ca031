"""What a conversion refuses: unknown options, objects of other kinds, and values that no format or other library holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparsezc.errors import DomainMismatch


def check_options(where: str, options: Mapping[str, Any], record: type) -> None:
    """Refuse options that a record of them, a TypedDict, does not have.

    Raises
    ------
    TypeError
        As Python does for an unknown keyword; the message lists those that are known.
    """
    for name in options.keys() - record.__annotations__:
        known = ", ".join(record.__annotations__)
        raise TypeError(f"{where}: got an unexpected keyword argument {name!r}; there are {known}")


def wrong_type(where: str, name: str, given: Any, needed: str) -> DomainMismatch:
    """The error for an argument of another kind than is needed."""
    return DomainMismatch(f"{where}: {name} is a {type(given).__name__}; {needed} is needed")


def need_numbers(A: Any, where: str) -> None:
    """Refuse values of user-defined types, which no format and no other library's sparse matrices hold.

    Raises
    ------
    DomainMismatch
        The message says how the numbers inside can be had.
    """
    if A.dtype.is_udt:
        raise DomainMismatch(
            f"{where}: {getattr(A, 'name', 'the matrix')} holds {A.dtype}, a user-defined type; numbers are needed."
            " to_coo() gives the values as a NumPy array, and apply a part of them"
        )
