"""Matrix and what stands in for its transpose."""

from sparsezc.matrix import Matrix, TransposedMatrix

__all__ = ["Matrix", "TransposedMatrix"]
