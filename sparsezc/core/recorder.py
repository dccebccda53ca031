"""``Recorder``: python-graphblas's own, which records the CPU engine's calls of SuiteSparse:GraphBLAS."""

from __future__ import annotations

from typing import Any

from sparsezc.engines import cpu
from sparsezc.engines.cpu.suitesparse import native


def __getattr__(name: str) -> Any:
    if name != "Recorder":
        raise AttributeError(f"module 'sparsezc.core.recorder' has no attribute {name!r}")
    cpu.engine()
    return native.gb.Recorder
