"""Scalar."""

from sparsezc.scalar import Scalar

__all__ = ["Scalar"]
