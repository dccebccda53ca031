"""The rates of this machine that ``sparsezc scale`` needs: link, memory, peers, latency, and a product's fixed cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

_BYTES = 1 << 26  # bytes of a copy: more than a processor's caches hold
_TRIALS = 3
LATENCY = 5e-6  # s: an allgather of 8 bytes by MPI between two processes of a machine, 3 to 5 us measured
NETWORK_LATENCY = 20e-6  # s: the same between machines; TCP takes several times longer
NETWORK = 50e9  # bytes a second: a network card of 400 Gbit/s
_REPEATS = 20  # statements that one timing covers
_EXCHANGES = 300  # exchanges of a few numbers, each timed by itself
CARD_PEER = 300e9  # bytes a second: NCCL's all-gather over NVLink, 250 to 330 GB/s measured on 2 cards


def best(call: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the least seconds of `_TRIALS` calls, after one that is not timed."""
    call()
    found = []
    for _ in range(_TRIALS):
        start = clock()
        call()
        found.append(clock() - start)
    return max(min(found), 1e-9)


def host_rates() -> tuple[float, float]:
    """Return the bytes a second that one thread, and all threads together, copy in host memory.

    Rates are per processor time, which other programs on the same processors do not change; a thread that waits for
    memory uses processor time, too.
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
    """Return the bytes a second of copies from pinned host memory to the GPU."""
    from sparsezc.device import cuda

    gpu = cuda.current()
    pages, target = gpu.pages(_BYTES, "pinned"), gpu.xp.empty(_BYTES, "u1")

    def copy() -> None:
        gpu.copy_in(target, pages.array)
        gpu.synchronize()

    return _BYTES / best(copy)


def step_seconds(engine: str) -> float:
    """Return the seconds of a product with a matrix of a few entries."""
    from sparsezc.core.matrix import Matrix
    from sparsezc.core.vector import Vector
    from sparsezc.semirings import semiring

    A = Matrix.from_coo(range(64), range(64), 1.0, nrows=64, ncols=64)
    v = Vector.from_dense([1.0] * 64)
    A, v = A.to(engine), v.to(engine)

    def multiply() -> None:
        A.mxv(v, semiring.plus_times).new().wait()

    return min(best(multiply) for _ in range(10))


class Between(NamedTuple):
    """The rates and times that ranks measure together.

    Attributes
    ----------
    peer : float
        The bytes a second that a rank receives from others.
    latency : float
        The seconds of the exchange of a few numbers between two ranks.
    step : float
        The seconds of a statement on several ranks, without waiting.
    exchange : float
        The seconds that a product takes beyond those of a statement and the latency.
    links : float
        The bytes a second at which all GPUs together read host memory; 0 without GPUs.
    assembly : float
        The seconds that a rank takes to assemble a received byte into a vector; 0 for GPUs, which do so on receipt.
    """

    peer: float
    latency: float
    step: float
    exchange: float
    links: float
    assembly: float


def between(transport: Any, *, gpu: bool) -> Between:
    """Measure statements and exchanges of several ranks; all ranks call it together.

    Without GPUs the time of a statement is processor time outside exchanges, which other programs on the same
    processors do not change. With GPUs it is elapsed time, as kernels and copies use no processor time.
    """
    steps = max(1, (transport.size - 1).bit_length())
    statement, product = _statements(transport, gpu=gpu)
    latency = _latency(transport)
    exchange = max(product - statement - (latency if gpu else 0.0), 0.0)  # processor time has no latency in it
    peer = _peer_rate(transport, gpu=gpu)
    transport.numbers(0)  # a barrier: all GPUs read over their links at once
    assembly = 0.0 if gpu else _assembly(transport)
    mine = peer, latency / steps, statement, exchange, link_rate() if gpu else 0.0, assembly
    rates, latencies, statements, exchanges, links, assemblies = zip(*transport.objects(mine), strict=True)
    return Between(min(rates), max(latencies), max(statements), max(exchanges), sum(links), max(assemblies))


def _peer_rate(transport: Any, *, gpu: bool) -> float:
    import numpy as np

    from sparsezc.device import cuda

    device = cuda.current() if gpu else None
    counts = np.full(transport.size, _BYTES // transport.size, np.int64)
    mine = (np if device is None else device.xp).ones(int(counts[0]), np.uint8)

    def gather() -> None:
        transport.gather(mine, counts)
        if device is not None:
            device.synchronize()

    return _BYTES / best(gather) * (1 - 1 / float(transport.size))


def _assembly(transport: Any) -> float:
    """Return the seconds a byte that a processor takes to assemble a gathered vector.

    The product that is timed reads one entry, and the time of the same product on this rank alone is subtracted.
    """
    from sparsezc.core.matrix import Matrix
    from sparsezc.core.vector import Vector
    from sparsezc.semirings import semiring

    n = _BYTES // 32
    A, v = Matrix.from_coo([0], [1], 1.0, nrows=n, ncols=n), Vector.from_scalar(1.0, n)
    D, w = A.distribute(), v.to("distributed")

    def alone() -> None:
        A.mxv(v, semiring.plus_times).new().wait()

    def together() -> None:
        D.mxv(w, semiring.plus_times).new().wait()

    took = best(together, lambda: time.process_time() - transport.waited) - best(alone, time.process_time)
    return max(took, 0.0) / (8 * n * (1 - 1 / float(transport.size)))


def _latency(transport: Any) -> float:
    """Return the least seconds of an exchange of a few numbers; other programs can only lengthen one."""
    found = []
    for _ in range(_EXCHANGES):
        start = time.perf_counter()
        transport.numbers(1)
        found.append(time.perf_counter() - start)
    return max(min(found), 1e-9)


def _statements(transport: Any, *, gpu: bool) -> tuple[float, float]:
    """Return the seconds of a statement that exchanges nothing, and of a search's product with its exchange of counts.

    The search follows a path: each level has a product and an assignment, and reads one entry.
    """
    from sparsezc.algorithms import bfs
    from sparsezc.io import read

    A = read(f"path:{128 * transport.size}", placement=None if gpu else "host").distribute()
    level = bfs(A, 0)
    mask = level.dup()

    def statements() -> None:
        for _ in range(_REPEATS):
            level(mask.S) << 1
        level.wait()

    def search() -> None:
        bfs(A, 0).wait()

    def clock() -> float:
        return time.perf_counter() if gpu else time.process_time() - transport.waited

    statement = min(best(statements, clock) for _ in range(3)) / _REPEATS
    return statement, max(best(search, clock) / A.nrows - statement, statement)
