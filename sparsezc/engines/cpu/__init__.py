"""The CPU engine: SuiteSparse:GraphBLAS, through python-graphblas."""

from sparsezc.engines.cpu.cpu_engine import CpuEngine, engine, merger, ours

__all__ = ["CpuEngine", "engine", "merger", "ours"]
