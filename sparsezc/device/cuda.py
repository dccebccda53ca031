"""The one GPU of this process, or the reason why there is none.

Everything that touches the driver goes through a small class (protocol.py): an array module (`xp`), a compiler, pages
of host memory that kernels can read, and a few facts. cupy_device.py does it with CuPy; the tests put an emulated
device in its place (:func:`use`) and so run the whole GPU engine, kernels included, on a machine without a GPU.
"""

from __future__ import annotations

from functools import cache

from sparsezc import locks
from sparsezc.device.cupy_device import Cuda
from sparsezc.device.protocol import Device
from sparsezc.errors import DeviceUnavailable

__all__ = ["current", "reason", "use"]

_current: Device | None = None
_reason: str | None = None
_starting = locks.shared()


@cache
def current() -> Device:
    """Return the device in use, started on first need.

    Raises
    ------
    DeviceUnavailable
        Where no GPU can be used, with the reason.
    """
    global _current, _reason
    with _starting:
        if _current is None:
            if _reason is not None:
                raise DeviceUnavailable(_reason)
            try:
                _current = Cuda()
            except DeviceUnavailable as error:
                _reason = str(error)
                raise
        return _current


@cache
def reason() -> str | None:
    """Say why there is no GPU; None where there is one."""
    try:
        current()
    except DeviceUnavailable as error:
        return str(error)
    return None


def use(device: Device | None) -> Device | None:
    """Put `device` in the place of the GPU (None: look for one again) and return what was there before."""
    global _current, _reason
    with _starting:
        before, _current, _reason = _current, device, None
        current.cache_clear()
        reason.cache_clear()
    return before
