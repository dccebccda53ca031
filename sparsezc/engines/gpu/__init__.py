"""The GPU engine: our own kernels over a CSR whose edges may lie in host memory.

``engine.py`` is the engine: stores in and out, fallback to the CPU engine, and the table of the operations that make a
vector or a scalar; ``matrix_statements.py`` has the table of those that make a matrix. Behind them, by what they work on:

* products: ``spmv.py`` (mxv, vxm; ``push_pull.py`` chooses push or pull), ``mxm.py``, ``kronecker.py`` (Kronecker, outer);
* vectors, position by position: ``vector_map.py``, ``vector_index.py``, ``reduce.py``;
* matrices, entry by entry: ``matrix_map.py`` (apply, select, casts), ``matrix_merge.py`` (ewise, masks, accumulators), and
  ``matrix_index.py`` (extract, assign), ``transpose.py``; ``row_blocks.py`` cuts what does not fit into blocks of rows.

``matrix_store.py`` and ``matrix_stores.py`` say what a Vector and a Matrix are on the device, ``mask_output.py`` what a mask is there;
``codegen.py`` makes kernels out of the texts in ``kernels/``, and ``launch.py`` launches them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparsezc.engines.gpu.engine import GpuEngine

__all__ = ["diagnose", "engine"]

_engine: GpuEngine | None = None


def engine() -> GpuEngine:
    """The one GPU engine of this process.

    Raises
    ------
    DeviceUnavailable
        Where no GPU can be used; the message says why.
    """
    global _engine
    from sparsezc.device import cuda
    from sparsezc.engines.gpu.runtime import launch
    from sparsezc.engines.gpu.engine import GpuEngine

    cuda.current()
    if _engine is None:
        with launch.lock:
            if _engine is None:
                _engine = GpuEngine()
    return _engine


def diagnose(*, measure: bool = True) -> dict[str, Any]:
    """What there is to know about this machine's GPU: for ``sparsezc doctor``."""
    from sparsezc.engines.gpu import doctor

    return doctor.diagnose(measure=measure)
