"""The rate at which the host link serves random requests, measured in each run; shares of requests are fractions of it.

A request reads one sector of 32 bytes, the least that the link carries, at a random place in pages of the kind that a
matrix of the same size is stored in.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from benchmarks.harness.copyrate import median_seconds
from benchmarks.micro import link
from benchmarks.verify.answers import Wrong
from sparsezc.device import cuda
from sparsezc.device.launcher import THREADS, Launcher
from sparsezc.memory import allocate

SECTOR = 32  # bytes
REQUESTS = 1 << 23  # requests of a launch, which takes some 20 ms; with few pages, one for each id


@cache
def request_rate(placement: str, nbytes: int) -> float:
    """Return requests a second to pages of the largest power of two up to `nbytes`.

    Raises
    ------
    Wrong
        A request did not read the value that is stored.
    """
    gpu, size = cuda.current(), 1 << max(nbytes.bit_length() - 1, 7)
    pages, requests = allocate(placement, size // 4, np.uint32), min(REQUESTS, size // 4)
    link.fill(pages.array.view(np.uint8))
    blocks = gpu.multiprocessors * link.BLOCKS_PER_MULTIPROCESSOR
    sums = gpu.xp.zeros(blocks * THREADS, np.uint64)
    kernel = Launcher.compiled(gpu, link.source(4, SECTOR), "random_requests")

    def read() -> None:
        kernel.launch(blocks, requests=requests, mask=size // SECTOR - 1, words=pages.pointer, sums=sums)

    seconds = median_seconds(read, gpu.synchronize)
    if (found := int(gpu.asnumpy(sums).sum())) != requests * SECTOR // 4:
        raise Wrong(f"the sum of {requests * SECTOR // 4:,} words of 1 is {found:,}")
    return requests / seconds
