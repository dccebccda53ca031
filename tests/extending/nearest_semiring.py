"""A user's semiring: the smallest square of a difference."""

from __future__ import annotations

from typing import Any

import sparsezc as gb


def squared_difference(x: Any, y: Any) -> Any:
    return (x - y) * (x - y)


def register() -> Any:
    """Register ``gb.semiring.min_squared_difference``."""
    difference = gb.binary.register_new("squared_difference", squared_difference)
    return gb.semiring.register_new("min_squared_difference", gb.monoid.min, difference)
