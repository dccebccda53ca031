"""Facts about a matrix that are cached until it changes, for algorithms."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix

__all__ = ["fact", "is_symmetric", "known_symmetric"]

M = TypeVar("M", bound="Matrix")


def is_symmetric(A: Matrix) -> bool:
    """Return whether a matrix is marked as equal to its transpose; no entries are compared."""
    return A._symmetric


def known_symmetric(A: M, symmetric: bool = True) -> M:
    """Mark a matrix as equal to its transpose until it changes, and return it."""
    return A._known_symmetric(symmetric)


def fact(A: Matrix, name: str, compute: Callable[[], Any]) -> Any:
    """Return the result of ``compute()``, usually a pass over all entries, cached until the matrix changes."""
    return A._fact(name, compute)
