"""Placement ``peer``: the memory of all cards of this machine, as one array that kernels of one card read."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.memory.device import DeviceBuffer


class PeerBuffer(DeviceBuffer):
    """A buffer over an array whose stripes are in the memory of several cards."""

    placement = "peer"
    pages = "device"


def allocate(count: int, dtype: np.dtype[Any], _placement: str) -> PeerBuffer:
    """Return an uninitialised array of `count` entries, spread over all cards."""
    whole = cuda.current().spread(count * dtype.itemsize)
    return PeerBuffer(whole.view(dtype))
