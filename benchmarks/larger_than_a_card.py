"""A graph larger than one card's memory, in the memory of several cards.

``mpiexec -n 2 python -m mpi4py -m benchmarks.larger_than_a_card``.
A circulant graph needs no sort: every vertex i has the neighbours i + s and i - s for the same steps s. Each rank
generates its rows on its card. Two judges read none of these rows: PageRank is 1 / n at every vertex, as the graph is
regular, and levels of a search are computed by shifts of an array of bools. ``emulated`` as the first word tests this
program.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import sparsezc as gb
from benchmarks.harness.frame import SEED, Case, Report, Trial
from sparsezc.device import cuda
from sparsezc.engines import distributed
from sparsezc.memory.csr import Csr
from sparsezc.memory.device import DeviceBuffer
from sparsezc.semirings.types.datatypes import BOOL

ITERATIONS = 10
_ROWS = 1 << 17  # rows that are generated at a time


def steps_of(n: int, degree: int) -> Any:
    """Return the steps to all neighbours, ascending: `degree` in all, with the negative (mod n) of each."""
    half = np.random.default_rng(SEED).choice(np.arange(1, n // 2), degree // 2, replace=False)
    return np.sort(np.concatenate([half, n - half]))


def rows(n: int, steps: Any, lo: int, hi: int) -> Csr:
    """Return the rows lo to hi - 1 of the graph, on this rank's card."""
    xp, degree = cuda.current().xp, steps.size
    ids, shifts = xp.empty((hi - lo, degree), np.uint32), xp.asarray(steps)
    for first in range(lo, hi, _ROWS):
        last = min(first + _ROWS, hi)
        made = (xp.arange(first, last)[:, None] + shifts) % n
        ids[first - lo : last - lo] = xp.sort(made.astype(np.uint32), axis=1)
    one = DeviceBuffer(xp.ones(1, np.bool_))
    indptr = np.arange(hi - lo + 1, dtype=np.int64) * degree
    return Csr(hi - lo, n, indptr, DeviceBuffer(ids.reshape(-1)), one, BOOL, True, symmetric=True)


def levels(n: int, steps: Any, source: int) -> Any:
    """Return the levels of a search, computed by shifts of the frontier."""
    xp = cuda.current().xp
    found, near, depth = xp.full(n, -1, np.int32), xp.zeros(n, np.bool_), 0
    near[source] = True
    while near.any():
        found[near] = depth
        reached = xp.zeros(n, np.bool_)
        for step in steps.tolist():
            reached[step:] |= near[: n - step]
            reached[:step] |= near[n - step :]
        near = reached & (found < 0)
        depth += 1
    return found


def main() -> None:
    if emulated := sys.argv[1:2] == ["emulated"]:
        from tests.emulator.device import EmulatedDevice

        cuda.use(EmulatedDevice())
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scale", type=int, default=26, help="2^SCALE vertices")
    options.add_argument("--times", type=float, default=1.3, help="bytes of ids over the memory of a card")
    options.add_argument("--degree", type=int, help="instead of --times")
    options.add_argument("--trials", type=int, default=3)
    options.add_argument("--out", type=Path)
    given = options.parse_args(sys.argv[1 + emulated :])
    gb.distributed.init(engine="gpu", deadline=120, force=True)
    transport, gpu, n = distributed.engine().transport, cuda.current(), 1 << given.scale
    degree = given.degree or 2 * int(given.times * gpu.memory()[1] / 4 / n / 2)
    steps = steps_of(n, degree)
    bounds = np.append(np.arange(transport.size) * (n // transport.size // 64 * 64), n)
    lo, hi = bounds[transport.rank : transport.rank + 2].tolist()
    A: Any = gb.Matrix  # loads the class that from_rows returns
    A = distributed.from_rows(rows(n, steps, lo, hi), bounds, n)
    report = Report("larger_than_a_card", "ms", given.out)
    setting = {"vertices": n, "degree": degree, "ranks": transport.size, "GB": round(4e-9 * n * degree, 1)}
    calls = {
        "pagerank": lambda: gb.algorithms.pagerank(A, tol=None, max_iter=ITERATIONS),
        "bfs": lambda: gb.algorithms.bfs(A, 5),
    }
    for name, call in calls.items():
        case = Case(name, setting, parts=ITERATIONS if name == "pagerank" else 1)
        for turn in range(-1, given.trials):
            transport.numbers(0)
            began = perf_counter()
            found = call()
            gpu.synchronize()
            took = float(transport.numbers(round((perf_counter() - began) * 1e9)).max()) / 1e9
            if turn >= 0:
                case.trials.append(Trial(None, took, 4 * n * degree * case.parts))
        answer = found.to_dense(-1)
        if transport.rank:
            continue
        if name == "pagerank":
            right = bool(np.allclose(answer * n, 1.0, rtol=1e-9))
        else:
            right = bool(np.array_equal(answer, gpu.asnumpy(levels(n, steps, 5))))
        case.verified = "yes" if right else "WRONG"
        report.add(case)
        card, rate = gpu.memory()[1] / 1e9, case.bytes_per_second / 1e9
        middle = 1e3 * case.seconds.median
        print(f"{name} {setting}, a card {card:.0f} GB: {middle:.1f} ms, {rate:.0f} GB/s, {case.verified}", flush=True)
    if transport.rank == 0:
        report.end()


if __name__ == "__main__":
    main()
