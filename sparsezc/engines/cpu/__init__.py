"""The CPU engine: SuiteSparse:GraphBLAS, through python-graphblas."""

from sparsezc.engines.cpu.cpu_engine import CpuEngine, engine, ours
from sparsezc.engines.cpu.store_methods import merger

__all__ = ["CpuEngine", "engine", "merger", "ours"]
