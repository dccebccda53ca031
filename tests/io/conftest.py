"""The emulated GPU, for the readers that leave arrays where kernels read them."""

from __future__ import annotations

from tests.gpu.conftest import gpu

__all__ = ["gpu"]
