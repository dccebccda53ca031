"""The GPU engine: our own kernels over a CSR whose edges may lie in host memory.

``run.py`` is the engine (the table of operations, stores in and out, fallback to the CPU engine); ``spmv.py``,
``elementwise.py``, ``entries.py``, ``indexing.py`` and ``reduce.py`` hold the operations; ``stores.py`` and
``matrices.py`` what a Vector and a Matrix are on the device; ``specialise.py`` makes kernels out of the texts in
``kernels/``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparsezc.engines.gpu.run import GpuEngine

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
    from sparsezc import device
    from sparsezc.engines.gpu.run import GpuEngine

    device.current()
    if _engine is None:
        _engine = GpuEngine()
    return _engine


def diagnose(*, measure: bool = True) -> dict[str, Any]:
    """What there is to know about this machine's GPU: for ``sparsezc doctor``."""
    from sparsezc.engines.gpu import doctor

    return doctor.diagnose(measure=measure)
