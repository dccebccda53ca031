"""The GPU engine: our own kernels over a CSR whose edges may lie in host memory.

``gpu_engine.py`` is the engine: the operations that make a vector or a scalar, and the fallback to the CPU engine;
``store_methods.py`` makes, reads and copies stores; ``matrix_statements.py`` and ``panel_statements.py`` have the
operations that make a matrix. Behind them, a folder a subject:

* ``products/``: SpMV (push or pull), SpMM, SpGEMM, many searches at once;
* ``elementwise/``: vectors and matrices entry by entry, transposes, extract and assign;
* ``layouts/``: copies of a matrix that make some products cheaper;
* ``placements/``: how a product reads entries that lie elsewhere than on the card;
* ``storage/``: what a Vector and a Matrix are on the device;
* ``runtime/``: kernels made of the texts in ``kernels/``, and launched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparsezc.engines.gpu.gpu_engine import GpuEngine

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
    from sparsezc.engines.gpu.gpu_engine import GpuEngine
    from sparsezc.engines.gpu.runtime import launch

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
