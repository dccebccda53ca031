"""The one GPU of this process, or the reason why there is none.

Every access to the driver is made through a small class (protocol.py): an array module (`xp`), a compiler, pages of
host memory that kernels can read, and a few properties. cupy_device.py implements it with CuPy; the tests replace it by
an emulated device (:func:`use`), to run the whole GPU engine, kernels included, on a machine without a GPU.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache

from sparsezc.device.protocol import Device
from sparsezc.exceptions import DeviceUnavailable
from sparsezc.process import locks

__all__ = ["current", "reason", "use", "use_gpu"]

_current: Device | None = None
_reason: str | None = None
_starting = locks.shared()


@cache
def current() -> Device:
    """Return the device in use; the first call starts it.

    Raises
    ------
    DeviceUnavailable
        No GPU can be used; the message gives the reason.
    """
    global _current, _reason
    with _starting:
        if _current is None:
            if _reason is not None:
                raise DeviceUnavailable(_reason)
            from sparsezc.device.cupy_device import Cuda

            try:
                _current = Cuda()
            except DeviceUnavailable as error:
                _reason = str(error)
                raise
        return _current


def use_gpu(turn: int) -> bool:
    """Make this process use GPU `turn`, modulo the number of GPUs of its machine; return whether it uses that GPU.

    It does not if it has started another GPU before.
    """
    global _current
    from sparsezc.device.cupy_device import Cuda

    with _starting:
        if _current is None and _reason is None:
            with suppress(DeviceUnavailable):  # `current` reports the reason
                _current = Cuda(turn)
        return _current is None or _current.has_turn(turn)


@cache
def reason() -> str | None:
    """Return the reason why there is no GPU; None if there is one."""
    try:
        current()
    except DeviceUnavailable as error:
        return str(error)
    return None


def use(device: Device | None) -> Device | None:
    """Use `device` instead of the GPU (None: look for a GPU again) and return the former device.

    For tests: no other thread may run statements during the call, as :func:`current` caches its result.
    """
    global _current, _reason
    with _starting:
        before, _current, _reason = _current, device, None
        current.cache_clear()
        reason.cache_clear()
    return before
