"""The rates of this machine that ``sparsezc scale`` needs: link, memory, peers, latency, and a product's fixed cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

_BYTES = 1 << 26  # of a copy: more than a processor's caches hold
_TRIALS = 3
_LATENCY = 5e-6  # s: an allgather of 8 bytes by MPI between two processes of a machine, 3 to 5 us measured
_NETWORK_LATENCY = 20e-6  # s: the same between machines, by TCP some times more
_NETWORK = 50e9  # bytes a second: a network card of 400 Gbit/s
_CARD_PEER = 300e9  # bytes a second: NCCL's all-gather over NVLink, 250 to 330 GB/s measured on 2 cards


def best(call: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the least seconds of some calls; the first one is not counted."""
    call()
    found = []
    for _ in range(_TRIALS):
        start = clock()
        call()
        found.append(clock() - start)
    return max(min(found), 1e-9)


def host_rates() -> tuple[float, float]:
    """Return the rates at which one thread, and all of them together, copy host memory.

    They are of processor time, which other programs on the same processors do not change: threads that wait for memory
    use it, too.
    """
    import numpy as np

    from sparsezc.device.processors import processors

    count = processors(64)
    pairs = [(np.ones(_BYTES // 8), np.empty(_BYTES // 8)) for _ in range(count)]

    def copy(pair: Any) -> None:
        np.copyto(pair[1], pair[0])

    one = best(lambda: copy(pairs[0]), time.process_time)
    with ThreadPoolExecutor(count) as pool:
        every = best(lambda: list(pool.map(copy, pairs)), time.process_time) / count
    return _BYTES / one, max(_BYTES / one, count * _BYTES / every)


def link_rate() -> float:
    """Return the rate of copies from pinned host memory to the GPU."""
    from sparsezc.device import cuda

    gpu = cuda.current()
    pages, target = gpu.pages(_BYTES, "pinned"), gpu.xp.empty(_BYTES, "u1")

    def copy() -> None:
        gpu.copy_in(target, pages.array)
        gpu.synchronize()

    return _BYTES / best(copy)


def step_seconds(engine: str) -> float:
    """Return the time of a product with a matrix of a few entries."""
    from sparsezc.core.matrix import Matrix
    from sparsezc.core.vector import Vector
    from sparsezc.semirings import semiring

    A = Matrix.from_coo(range(64), range(64), 1.0, nrows=64, ncols=64)
    v = Vector.from_dense([1.0] * 64)
    A, v = A.to(engine), v.to(engine)

    def multiply() -> None:
        A.mxv(v, semiring.plus_times).new().wait()

    return min(best(multiply) for _ in range(10))


def shared_step_seconds(transport: Any) -> float:
    """Return the processor time of a statement on few rows of a distributed matrix, without waiting; collective."""
    from sparsezc.io import read
    from sparsezc.semirings import monoid, semiring, unary

    A = read(f"path:{128 * transport.size}").distribute()
    v = A.reduce_rowwise(monoid.lor).new()

    def statements() -> None:
        for _ in range(20):
            w = A.mxv(v, semiring.any_second).new()
            w << w.apply(unary.identity)
            w.nvals  # noqa: B018 - as loops ask after each product

    took = best(statements, lambda: time.process_time() - transport.waited) / 40
    return float(max(transport.objects(took)))


def between(transport: Any) -> tuple[float, float]:
    """Return the rate at which a rank receives from others, and the latency of an exchange of few bytes; collective."""
    import numpy as np

    counts = np.full(transport.size, _BYTES // transport.size, np.int64)
    mine = np.ones(int(counts[0]), np.uint8)
    took = best(lambda: transport.gather(mine, counts))
    latency = best(lambda: [transport.numbers(1) for _ in range(100)]) / 100
    steps = max(1, (transport.size - 1).bit_length())
    rates = transport.objects((_BYTES * (1 - 1 / transport.size) / took, latency / steps))
    return min(rate for rate, _ in rates), max(each for _, each in rates)
