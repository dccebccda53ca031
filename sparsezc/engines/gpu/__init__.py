"""The GPU engine: our own kernels over a CSR whose edges may be in host memory.

``gpu_engine.py`` has the engine class: the operations whose result is a vector or a scalar, and the fallback to the CPU
engine. ``store_methods.py`` makes, reads and copies stores; ``matrix_statements.py`` and ``panel_statements.py`` have
the operations whose result is a matrix. They use these folders:

* ``products/``: SpMV (push or pull), SpMM, SpGEMM, searches from many sources at once;
* ``elementwise/``: vectors and matrices entry by entry, transposes, extract and assign;
* ``layouts/``: other forms of a matrix, kept because they make some products cheaper;
* ``placements/``: how a product reads entries that are not in device memory;
* ``storage/``: the arrays behind a Vector and a Matrix on the device;
* ``runtime/``: kernels generated from the texts in ``kernels/``, compiled and launched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparsezc.engines.gpu.gpu_engine import GpuEngine

__all__ = ["diagnose", "engine"]

_engine: GpuEngine | None = None


def engine() -> GpuEngine:
    """Return the one GPU engine of this process.

    Raises
    ------
    DeviceUnavailable
        No GPU can be used; the message gives the reason.
    """
    global _engine
    from sparsezc.device import cuda
    from sparsezc.engines.gpu.gpu_engine import GpuEngine
    from sparsezc.engines.gpu.runtime import launch

    cuda.current()
    if _engine is None:
        with launch.lock:
            if _engine is None:
                _engine = GpuEngine()
    return _engine


def diagnose(*, measure: bool = True) -> dict[str, Any]:
    """Return the facts about this machine's GPU that ``sparsezc doctor`` prints."""
    from sparsezc.engines.gpu import doctor

    return doctor.diagnose(measure=measure)
