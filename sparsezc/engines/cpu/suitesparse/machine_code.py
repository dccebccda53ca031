"""Loops over entries in machine code, by numba."""

from __future__ import annotations

from typing import Any

__all__ = ["compiled"]


def compiled(numba: Any, function: Any) -> Any:
    """Return a function that numba compiles at its first use, and keeps on disk where it may write."""
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # no folder that numba may write to
        return numba.njit(nogil=True)(function)
