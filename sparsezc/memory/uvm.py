"""Placement ``uvm``: managed pages that the driver copies to the card at first use, and drops when it needs the memory.

The papers of this field use it as their baseline. Pages are marked as mostly read, so the host keeps its copies. More
managed memory than the device has free can hang it on some systems, so it is refused unless
``gb.config.oversubscribe`` is True.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.config import config
from sparsezc.device import cuda
from sparsezc.exceptions import OutOfMemory
from sparsezc.memory import budget, zerocopy
from sparsezc.terminal.progress import working


def allocate(count: int, dtype: np.dtype[Any], placement: str) -> zerocopy.ZerocopyBuffer:
    """Return migrating pages for `count` entries.

    Raises
    ------
    OutOfMemory
        The device has too little free memory.
    """
    gpu = cuda.current()
    nbytes, space = count * dtype.itemsize, zerocopy.managed_available()
    if nbytes >= space and not config.oversubscribe:
        raise OutOfMemory(
            f"placement {placement!r} needs {nbytes:,} bytes of managed memory and {gpu.name} has room for {space:,};"
            " more can hang a card (gb.config.oversubscribe=True takes the risk; 'hybrid' is for such matrices)"
        )
    budget.require_host(nbytes, f"placement {placement!r}")
    with working("touching host pages"):
        buffer = zerocopy.ZerocopyBuffer(gpu.pages(nbytes, "migrating"), count, dtype, placement)
    zerocopy.count_managed(buffer)
    return buffer
