"""The distributed engine against the plain one: ``mpiexec -n 2 python -m mpi4py -m benchmarks.distributed kron:18``.

Set ``OMP_NUM_THREADS=1``. The plain engine runs on rank 0 while the other ranks sleep, then all ranks run, in turns.
`ratio` is the time of the plain engine over that of the ranks (minima). On a busy machine read `cpu ratio`: processor
time of the plain engine over the largest of a rank's outside MPI, as ranks poll while they wait. `us a statement` is
the processor time of a rank's statement beyond its share of the plain engine's; with ``--statements`` the plain engine
runs statements instead of compiled loops, too. ``--force`` at one rank measures the cost of the engine itself.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import nullcontext
from time import perf_counter, process_time
from typing import Any

import sparsezc as gb
from sparsezc.engines import distributed
from sparsezc.expr import engines

a = gb.algorithms
RUNS: dict[str, Callable[[Any], Any]] = {
    "pagerank": lambda A: a.pagerank(A, tol=None, max_iter=10),
    "bfs": lambda A: a.bfs(A, 1),
    "components": a.connected_components,
    "sssp": lambda A: a.sssp(A, 1),
    "betweenness": lambda A: a.betweenness_centrality(A, sources=[1, 2, 3, 4]),
}


def timed(run: Callable[[Any], Any], A: Any, transport: Any) -> tuple[float, float]:
    """Return the seconds of a run, and its processor seconds outside collectives."""
    waited = transport.waited
    began, worked = perf_counter(), process_time()
    run(A)
    return perf_counter() - began, process_time() - worked - (transport.waited - waited)


def statements(run: Callable[[Any], Any], D: Any, engine: Any) -> int:
    """Return the number of statements of a run on all ranks."""
    count, inner = 0, engine.run

    def counted(*given: Any) -> None:
        nonlocal count
        count += 1
        inner(*given)

    engine.run = counted
    run(D)
    del engine.run
    return count


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("graph")
    options.add_argument("--trials", type=int, default=5)
    options.add_argument("--only", default=",".join(RUNS), help="names, with commas")
    options.add_argument("--force", action="store_true", help="distribute at one rank, too: what the engine costs")
    options.add_argument("--statements", action="store_true", help="no compiled loops")
    given = options.parse_args()
    gb.distributed.init(force=given.force)
    engine = distributed.engine()
    A = gb.io.read(given.graph)
    D = A.distribute()
    if engine.rank == 0:
        print(f"{given.graph}: {A.nrows:,} x {A.ncols:,}, {A.nvals:,} entries; {engine.size} ranks")
        print(
            "algorithm     plain ms  ranks ms  ratio   plain cpu  rank cpu  cpu ratio  collectives  received MB", end=""
        )
        print("  statements  us a statement")
    with engines.stepping(engine.local.engine) if given.statements else nullcontext():
        for name in given.only.split(","):
            compare(name, A, D, engine, given.trials)


def compare(name: str, A: Any, D: Any, engine: Any, trials: int) -> None:
    """Run an algorithm on the plain engine and on all ranks, in turns, and print a line."""
    transport, plain, ranks = engine.transport, [], []
    for _ in range(trials + 1):  # the first turn, which warms both up, is not counted
        if engine.rank == 0:
            plain.append(timed(RUNS[name], A, transport))
        transport.numbers(0)  # other ranks sleep until rank 0 arrives
        calls, received = transport.calls, transport.received
        ranks.append(timed(RUNS[name], D, transport))
        calls, received = transport.calls - calls, transport.received - received
    count = statements(RUNS[name], D, engine)
    wall, work = (
        min(max(x[k] for x in turn) for turn in zip(*transport.objects(ranks[1:]), strict=True)) for k in (0, 1)
    )
    if engine.rank == 0:
        alone, alone_work = (min(x[k] for x in plain[1:]) for k in (0, 1))
        more = 1e6 * (work - alone_work / engine.size) / max(count, 1)
        print(
            f"{name:12}{1e3 * alone:10.1f}{1e3 * wall:10.1f}{alone / wall:7.2f}{1e3 * alone_work:12.1f}"
            f"{1e3 * work:10.1f}{alone_work / work:11.2f}{calls:13}{received / 1e6:13.2f}{count:12}{more:16.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
