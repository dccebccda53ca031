"""Algorithms as loops over rows, for engines that compile them; their statements are the reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Loop = TypeVar("Loop", bound=Callable[..., Any])


def replacing(statement_ns: float) -> Callable[[Loop], Loop]:
    """Mark a loop with the nanoseconds that its statements take at least for each row and entry that it reads.

    From them follows whether compiling the loop pays; one without the mark is always compiled.
    """

    def mark(loop: Loop) -> Loop:
        loop.statement_ns = statement_ns  # type: ignore[attr-defined]
        return loop

    return mark


def taking_one(loop: Loop) -> Loop:
    """Mark a loop that takes the single value of an iso-valued matrix; other loops get it once for each entry."""
    loop.takes_one = True  # type: ignore[attr-defined]
    return loop


def jumping(loop: Loop) -> Loop:
    """Mark a loop that reads rows in random order, as searches do: reading ahead in a file would not help."""
    loop.is_jumping = True  # type: ignore[attr-defined]
    return loop


def taking(nbytes: int) -> Callable[[Loop], Loop]:
    """Mark a loop whose own arrays and result take `nbytes` bytes for each row; others take at most 64."""

    def mark(loop: Loop) -> Loop:
        loop.own_bytes = nbytes  # type: ignore[attr-defined]
        return loop

    return mark
