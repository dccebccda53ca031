"""One card against several: ``mpiexec -n 2 python -m mpi4py -m benchmarks.several_gpus kron:22 --placement device``.

The plain matrix runs on rank 0's card while the other ranks wait, then all ranks run, in turns, so that each ratio is
of one run. Answers are compared, integers to the bit. *received* are the bytes that rank 0 received in one call,
*model* those that the algorithm's steps need: values or bits at the positions of other ranks, or the vertices of many
searches (benchmarks/model/exchanged_bytes.py). If the graph is a file, every rank reads its part, and rank 0 also the
whole graph, in the placement ``--reference`` if it does not fit that of the parts.
One process shows the cost of the engine, and several that share a card the cost of their exchanges.
Rows in groups (engines/gpu/layouts/row_groups.py) are built after some products with full vectors, amid the trials:
``--groups on`` builds them at the first, ``off`` never; the column *groups* shows whether a case had them.
``emulated`` as the first word runs the program on emulated cards, to test it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import sparsezc as gb
from benchmarks.harness.frame import SEED, Case, Report, Trial, number, pick_sources, table
from benchmarks.model import exchanged_bytes
from sparsezc.cli.scale_counts import Counts, Cut
from sparsezc.device import cuda
from sparsezc.engines import distributed
from sparsezc.engines.distributed.parts.search_exchange import Batches
from sparsezc.engines.distributed.parts.vector_exchange import listing, packing
from sparsezc.engines.distributed.transports.mpi import Mpi
from sparsezc.engines.gpu.layouts.head_cache import HeadCache
from sparsezc.engines.gpu.layouts.row_groups import RowGroups
from sparsezc.engines.gpu.products import multi_source_bfs
from sparsezc.semirings.types.datatypes import BOOL

ITERATIONS, SEARCHES = 10, 64
_HEADER = ["graph", "placement", "transport", "algorithm", "one card ms", "ranks: min", "median", "max", "faster",
           "collectives", "received MB", "model MB", "groups", "equal"]  # fmt: skip


class Run(NamedTuple):
    """An algorithm, and a model of rank 0's received bytes from the whole graph, the distributed one, and the answer.

    Without `model` the bytes are counted as in `sparsezc scale`, statement by statement on the whole graph.
    """

    call: Callable[[Any, list[int]], Any]
    model: Callable[[Any, Any, Any], float] | None = None


def _others(D: Any) -> int:
    """Return the number of positions that other ranks have."""
    return int(D.nrows - D._store.partition.sizes[0])


def _lists(A: Any, D: Any, levels: Any) -> float:
    """Return the bytes of many searches, level by level; 0 for a batch that is divided by searches."""
    if D._store.forms[Batches].whole is not None:
        return 0.0
    part, engine = D._store.local._need()[1].held()[0], distributed.engine()
    slots = part.layouts[HeadCache].expected_slots(part, BOOL, values=False)
    cost = multi_source_bfs.push_cost(part.indices.placement)
    windows = type(engine.transport).shared is not Mpi.shared
    setting = exchanged_bytes.Setting(D._store.partition.bounds, cost, slots, listing(engine), windows)
    return exchanged_bytes.many_searches(A, levels.to_dense(-1), 0, setting)


a = gb.algorithms
RUNS = {
    "pagerank": Run(
        lambda A, _: a.pagerank(A, tol=None, max_iter=ITERATIONS), lambda _, D, __: 8.0 * ITERATIONS * _others(D)
    ),
    "bfs": Run(lambda A, sources: a.bfs(A, sources[0])),
    "bfs64": Run(lambda A, sources: a.bfs(A, sources), _lists),
    "components": Run(lambda A, _: a.connected_components(A)),
    "sssp": Run(lambda A, sources: a.sssp(A, sources[0])),
    "parents": Run(lambda A, sources: a.bfs_parents(A, sources[0])),
}


def expected_bytes(run: Run, A: Any, D: Any, sources: list[int], answer: Any) -> float | None:
    """Return the bytes that rank 0 should receive in a call; None if they are not modelled."""
    if distributed.engine().size == 1:
        return 0.0
    if run.model is not None:
        return run.model(A, D, answer)
    counts = Counts(Cut(D._store.partition.bounds, packing(distributed.engine()), on_device=True))
    with counts.watching(A):
        run.call(A, sources)
    return counts.received


def groups_of(A: Any) -> list[RowGroups]:
    """Return the layouts of a matrix's rows in groups, built or not."""
    return [rows.layouts[RowGroups] for rows in A._need()[1].held() if rows is not None]


def dense(found: Any) -> Any:
    """Return an answer as a host array; of many searches the first two."""
    if found.ndim == 1:
        return found.to_dense(0)
    return np.stack([found[k, :].new().to_dense(-1) for k in (0, 1)])


def is_equal(name: str, found: Any, expected: Any) -> bool:
    """Return whether answers agree: parents by the vertices that have one, floats to 1e-9, all else exactly."""
    if name == "parents":
        return bool(np.array_equal(found > 0, expected > 0))
    if found.dtype.kind == "f":
        return bool(np.allclose(found, expected, rtol=1e-9, atol=0))
    return bool(np.array_equal(found, expected))


class Ranks:
    """The ranks on one transport: times of calls, and the exchanges of the last call."""

    def __init__(self, kind: str) -> None:
        gb.distributed.init(engine="gpu", transport=kind, deadline=120, force=True)
        self.transport = distributed.engine().transport
        self.collectives, self.received = 0, 0

    def timed(self, call: Callable[[], Any]) -> float:
        """Return the seconds of the slowest rank from a common start."""
        transport = self.transport
        cuda.current().synchronize()
        transport.numbers(0)
        calls, received, began = transport.calls, transport.received, perf_counter()
        call()
        cuda.current().synchronize()
        took = perf_counter() - began
        self.collectives, self.received = transport.calls - calls, transport.received - received
        return float(transport.numbers(round(took * 1e9)).max()) / 1e9

    def alone(self, call: Callable[[], Any]) -> float:
        """Return the seconds of a call on rank 0 while the other ranks wait."""
        took = 0.0
        if self.transport.rank == 0:
            cuda.current().synchronize()
            began = perf_counter()
            call()
            cuda.current().synchronize()
            took = perf_counter() - began
        self.transport.numbers(0)
        return took


def graphs(name: str, placement: str, reference: str, ranks: Ranks) -> tuple[Any, Callable[[], Any]]:
    """Return the whole graph (of a file on rank 0 alone, else None) and a call that returns the distributed one."""
    if not Path(name).exists():
        A = gb.io.read(name, placement=placement)
        return A, lambda: A.distribute()
    whole = gb.io.read(name, placement=reference) if ranks.transport.rank == 0 else None
    from mpi4py import MPI

    return whole, lambda: gb.io.read(name, comm=MPI.COMM_WORLD, placement=placement)


def compare(
    report: Report, A: Any, D: Any, ranks: Ranks, setting: dict[str, Any], names: list[str], given: argparse.Namespace
) -> None:
    """Run the algorithms on one card and on all, and add the cases to rank 0's report."""
    sources = None
    if ranks.transport.rank == 0:
        degrees = np.diff(A._to_csr().indptr)
        sources = [int(degrees.argmax()), *pick_sources(degrees, SEARCHES - 1, SEED)]
    sources = ranks.transport.objects(sources)[0]
    if given.groups != "auto":
        for X in (A, D._store.local):
            for layout in [] if X is None else groups_of(X):
                layout.wait(0 if given.groups == "on" else inf)
    for name in names:
        run = RUNS[name]
        case = Case(
            name, setting | {"ranks": ranks.transport.size, "groups": given.groups}, reference=None, peer="one card"
        )
        single: list[float] = []
        for turn in range(-given.warm, given.trials):  # the first turn compiles
            took = ranks.alone(partial(run.call, A, sources))
            both = ranks.timed(partial(run.call, D, sources))
            if turn >= 0:
                single.append(took)
                case.trials.append(Trial(None, both, ranks.received))
            else:
                case.first_seconds = both
        collectives, received = ranks.collectives, ranks.received
        answer = run.call(D, sources)
        found = dense(answer)
        if ranks.transport.rank:
            continue
        expected = run.call(A, sources)
        case.verified = "yes" if is_equal(name, found, dense(expected)) else "WRONG: the ranks' answer differs"
        model = expected_bytes(run, A, D, sources, expected)
        case.reference = 1e3 * float(np.median(single))
        groups = [any(x.built is not None for x in groups_of(X)) for X in (A, D._store.local)]
        case.notes = {"collectives": collectives, "received": received, "model": model, "groups": groups}
        case.series = {"one card": single}
        report.add(case)
        print(line(case), flush=True)


def line(case: Case) -> str:
    """Return a case as a line that is printed during the run."""
    return "  ".join(row(case))


def row(case: Case) -> list[str]:
    """Return a case as a row of the table."""
    low, middle, high = (1e3 * seconds for seconds in case.seconds)
    said, alone = case.notes, case.reference or 0.0
    model = None if said["model"] is None else said["model"] / 1e6
    return [
        *(str(case.setting[k]) for k in ("graph", "placement", "transport")), case.name, number(alone), number(low),
        number(middle), number(high), f"{alone / middle:.2f}x", str(said["collectives"]),
        number(said["received"] / 1e6, 4), number(model, 4), "yes" if all(said["groups"]) else "no", case.verified,
    ]  # fmt: skip


def main() -> None:
    if emulated := sys.argv[1:2] == ["emulated"]:
        from tests.emulator.device import EmulatedDevice

        cuda.use(EmulatedDevice())
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("graphs", nargs="+")
    options.add_argument("--placement", default="device,zerocopy", help="names, with commas")
    options.add_argument("--transport", default="ipc", help="ipc, nccl, mpi: names, with commas")
    options.add_argument("--only", default="pagerank,bfs,bfs64,components", help=f"of {', '.join(RUNS)}")
    options.add_argument("--reference", help="the placement on one card; by default that of the ranks' parts")
    options.add_argument("--trials", type=int, default=5)
    options.add_argument("--warm", type=int, default=1, help="untimed runs before them, which build caches and batches")
    options.add_argument("--groups", choices=("auto", "on", "off"), default="auto", help="rows in groups")
    options.add_argument("--out", type=Path)
    given = options.parse_args(sys.argv[1 + emulated :])
    kinds = given.transport.split(",")
    Ranks(kinds[0])  # first of all, as it assigns each rank a card
    report = Report("several_gpus", "ms", given.out)
    for graph in given.graphs:
        for placement in given.placement.split(","):
            A, distribute = graphs(graph, placement, given.reference or placement, Ranks(kinds[0]))
            for kind in kinds:
                setting = {"graph": Path(graph).stem, "placement": placement, "transport": kind}
                ranks = Ranks(kind)
                compare(report, A, distribute(), ranks, setting, given.only.split(","), given)
            del A, distribute
    if distributed.engine().transport.rank == 0:
        print(table(_HEADER, map(row, report.cases), left=4))
        report.end()


if __name__ == "__main__":
    main()
