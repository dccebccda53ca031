"""``sparsezc scale GRAPH ALGORITHM``: the time on 1 to 64 ranks, predicted from this machine, beside what was measured.

One process measures the algorithm on one rank, counts its products and the bytes of their vectors, and calibrates the
model of ``engines/distributed/cost.py``. Started on several ranks (``sparsezc mpirun -n 2 -m sparsezc scale ...``) it
also runs the algorithm on them, and measures the rate and latency between them.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any, NamedTuple

from sparsezc.cli import graph
from sparsezc.cli.report import Report, Table, counted, seconds

_RANKS = (1, 2, 4, 8, 16, 32, 64)
_ID = 4  # bytes of a vertex's number on the way
_PRODUCTS = ("mxv", "vxm", "mxm", "best_label")
_GB = 1e9
_HOST_ID = 8  # bytes of an id in the CPU engine
_CARDS = 8  # GPUs of a machine


class _Algorithm(NamedTuple):
    help: str
    weights: Any
    call: Callable[[Any, Any, int], Any]


ALGORITHMS = {
    "bfs": _Algorithm("a search", False, lambda a, A, source: a.bfs(A, source)),
    "sssp": _Algorithm("shortest paths", "narrowest", lambda a, A, source: a.sssp(A, source)),
    "pagerank": _Algorithm("10 iterations", False, lambda a, A, _: a.pagerank(A, tol=None, max_iter=10)),
    "cc": _Algorithm("components", False, lambda a, A, _: a.connected_components(A)),
    "betweenness": _Algorithm(
        "from 4 sources", False,
        lambda a, A, source: a.betweenness_centrality(A, sources=[(source + k) % A.nrows for k in range(4)]),
    ),
}  # fmt: skip


def add(commands: Any) -> None:
    """Declare the command."""
    text = "the time on 1 to 64 ranks, predicted"
    command = commands.add_parser("scale", help=text, description="Predict the time on 1 to 64 ranks, and measure it.")
    graph.add_graph(command, weights="lengths of the edges, for sssp")
    command.add_argument(
        "algorithm", choices=tuple(ALGORITHMS), metavar="ALGORITHM",
        help="; ".join(f"{name}: {each.help}" for name, each in ALGORITHMS.items()),
    )  # fmt: skip
    graph.add_place(command)
    for name, unit, help in (
        ("--peer", "GB/s", "the rate between ranks of a machine (measured between ranks that are there)"),
        ("--network", "GB/s", "the rate between machines, of one rank (50)"),
        ("--latency", "US", "of an exchange of few bytes, in microseconds (measured, or 5)"),
    ):
        command.add_argument(name, type=float, metavar=unit, help=help)
    command.add_argument("--ranks", type=int, metavar="N", help="ranks of one machine (8 GPUs, or its processors)")
    command.add_argument("--trials", type=int, metavar="K", default=3, help="runs, of which the fastest counts (3)")
    command.set_defaults(run=run)


class Counts:
    """Counts of products, of their vectors' bytes as these would travel between ranks, and of entries read."""

    def __init__(self) -> None:
        self.steps = self.statements = 0
        self.nbytes = self.entries = 0.0

    def look(self, x: Any) -> None:
        """Count one statement: ids or presence bits of a sparse operand, and the values that the product reads."""
        self.statements += 1
        if x.operation not in _PRODUCTS:
            return
        self.steps += 1
        left = x.operation == "vxm" or (x.operation == "mxm" and x.operands[0].shape[0] < x.operands[0].shape[1])
        v = x.operands[0 if left else 1]
        there, size = v.nvals, v.size if v.ndim == 1 else v.shape[0] * v.shape[1]
        reads = x.op is None or ("x" if left else "y") in getattr(x.op, "reads", "xy")
        self.nbytes += 0 if there == size else min(_ID * there, -(-size // 8))
        self.nbytes += there * v.dtype.np_type.itemsize * reads
        matrix = x.operands[1 if left else 0]
        self.entries += matrix.nvals * there / max(size, 1)

    @contextmanager
    def watching(self, engine: Any) -> Iterator[Counts]:
        """Count every statement that an engine runs meanwhile; recorded loops run step by step."""
        run = engine.run

        def look_and_run(expression: Any, out: Any, write: Any) -> None:
            self.look(expression)
            run(expression, out, write)

        engine.run = look_and_run
        engine.replay = engine.replay_buckets = lambda *_: None
        try:
            yield self
        finally:
            del engine.run, engine.replay, engine.replay_buckets


def run(arguments: argparse.Namespace) -> Report:
    """Measure on one rank, predict, measure on all ranks that are there; the first of them reports."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # before OpenMP is loaded: without a GPU, a rank is one thread
    _check(arguments)
    graph.configure(arguments)
    transport = _transport()
    chosen = ALGORITHMS[arguments.algorithm]
    found = graph.load(arguments, chosen.weights)
    one = _One.of(arguments, found, chosen, wanted=transport.rank == 0)
    peer, latency, shared, measured = None, None, 0.0, {1: one.took}
    if transport.size > 1:
        from sparsezc.cli import calibrate

        peer, latency = calibrate.between(transport)
        shared = calibrate.shared_step_seconds(transport)
        A = one.A.distribute()
        took = _timed(lambda: one.call(A), arguments.trials, transport)
        measured[transport.size] = _Seconds(*(max(each) for each in zip(*transport.objects(tuple(took)), strict=True)))
    if transport.rank:
        sys.exit(0)
    rates, told = _rates(arguments, one, peer, latency)
    rates = replace(rates, shared_step=shared)
    told += [("several", f"{shared * 1e6:.1f} us a statement at least (measured)")] if shared else []
    report = _report(arguments, found, one.work, rates)
    report.facts += told
    _tables(report, one.work, rates, measured)
    return report


def _check(arguments: argparse.Namespace) -> None:
    from sparsezc.errors import InvalidValue

    for name in ("peer", "network", "latency", "ranks", "trials"):
        value = getattr(arguments, name)
        if value is not None and not value > 0:
            raise InvalidValue(f"--{name} is {value}; a number above 0 is needed")


def _transport() -> Any:
    """Return the transport of the ranks that mpiexec started; of this process alone without it."""
    if not any(name in os.environ for name in ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID")):
        from types import SimpleNamespace

        return SimpleNamespace(rank=0, size=1)
    return import_module("sparsezc.engines.distributed").transport_of(None)


class _Seconds(NamedTuple):
    """The time of a call, and the processor time of this process in it, without that in exchanges: ranks poll."""

    wall: float
    busy: float


def _timed(call: Callable[[], Any], trials: int, transport: Any = None) -> _Seconds:
    import time

    def now() -> tuple[float, float]:
        return time.perf_counter(), time.process_time() - getattr(transport, "waited", 0.0)

    call()
    found = []
    for _ in range(trials):
        begun = now()
        result = call()
        for part in result if isinstance(result, tuple) else (result,):
            part.wait()
        ended = now()
        found.append((ended[0] - begun[0], ended[1] - begun[1]))
    return _Seconds(*(min(each) for each in zip(*found, strict=True)))


class _One(NamedTuple):
    """The algorithm on one rank: matrix, call, work, entries read, engine, whether that is a GPU, and time."""

    A: Any
    call: Callable[[Any], Any]
    work: Any
    entries: float
    engine: str
    gpu: bool
    took: _Seconds

    @classmethod
    def of(cls, arguments: argparse.Namespace, found: graph.Graph, chosen: _Algorithm, *, wanted: bool) -> _One:
        """Prepare it, and run it if the numbers are `wanted`."""
        from sparsezc import algorithms
        from sparsezc.engines.distributed.cost import Work
        from sparsezc.memory.placement import RECORDS

        indptr, source = found.csr.indptr, found.busiest() if found.csr.nvals else 0
        gpu, A, counts = RECORDS[found.facts["placement"]].kernels, found.matrix(), Counts()

        def call(A: Any) -> Any:
            return chosen.call(algorithms, A, source)

        took, uneven = _Seconds(0.0, 0.0), {}
        if wanted:
            took, uneven = _timed(lambda: call(A), arguments.trials), _imbalance(indptr)
            with counts.watching(A._engine):
                call(A)
        assert A._engine is not None
        seconds = (
            took.wall if gpu else took.busy
        )  # of a busy host, the processor time tells what a quiet one would take
        work = Work(counts.steps, seconds, counts.nbytes, uneven, counts.statements)
        return cls(A, call, work, counts.entries, A._engine.name, gpu, took)


def _imbalance(indptr: Any) -> dict[int, float]:
    """Return, by the number of ranks, the most entries of a rank over the mean, less 1."""
    import numpy as np

    from sparsezc.io.ranks import bounds

    n, nvals, found = indptr.size - 1, int(indptr[-1]), {}
    for ranks in _RANKS[1:]:
        cuts = [bounds.cut(lambda i, j: indptr[i:j], n, nvals, rank, ranks) for rank in range(ranks + 1)]
        shares = np.diff(indptr[np.maximum.accumulate(cuts)])
        found[ranks] = float(shares.max() / shares.mean() - 1) if nvals else 0.0
    return found


def _rates(
    arguments: argparse.Namespace, one: _One, peer: float | None, latency: float | None
) -> tuple[Any, list[tuple[str, str]]]:
    """Return the machine's rates, and lines that say where each is from."""
    from sparsezc.cli import calibrate
    from sparsezc.device.processors import processors
    from sparsezc.engines.distributed.cost import Rates

    copy, memory = calibrate.host_rates()
    step, gpu = calibrate.step_seconds(one.engine), one.gpu
    reading = max(one.work.seconds - one.work.statements * step, 1e-9)
    link = calibrate.link_rate() if gpu else min(copy, max(one.entries, 1.0) * _HOST_ID / reading)
    ranks = arguments.ranks or (_CARDS if gpu else processors(64))
    near = (arguments.peer * _GB, "given") if arguments.peer else (peer, "measured between ranks")
    if near[0] is None:
        near = (calibrate._CARD_PEER, "assumed: NVLink") if gpu else (copy / 2, "assumed: two copies in host memory")
    wait = (arguments.latency * 1e-6, "given") if arguments.latency else (latency, "measured between ranks")
    if wait[0] is None:
        wait = calibrate._LATENCY, "assumed"
    far = (arguments.network * _GB, "given") if arguments.network else (calibrate._NETWORK, "assumed")
    waits = float(wait[0] or 0.0), calibrate._NETWORK_LATENCY
    rates = Rates(link, memory, float(near[0] or copy), far[0], *waits, step, ranks)
    read = "to the GPU" if gpu else "as its products read ids"
    return rates, [
        ("link", f"{link / _GB:.1f} GB/s a rank ({read}), {memory / _GB:.1f} of memory"),
        ("peers", f"{rates.peer / _GB:.1f} GB/s ({near[1]})"),
        ("network", f"{rates.network / _GB:.1f} GB/s ({far[1]})"),
        ("latency", f"{rates.latency * 1e6:.1f} us ({wait[1]})"),
        ("statement", f"{step * 1e6:.1f} us at least"),
    ]


def _report(arguments: argparse.Namespace, found: graph.Graph, work: Any, rates: Any) -> Report:
    data = {
        "command": "scale", "graph": found.facts, "algorithm": arguments.algorithm,
        "products": work.steps, "statements": work.statements, "exchanged_bytes": work.exchanged, "rates": vars(rates),
    }  # fmt: skip
    products = f"{counted(work.steps, 'product', 'products')} in {work.statements:,} statements"
    told = f"{products}, {work.exchanged / 1e6:,.2f} MB of vectors"
    return Report(data, [("graph", found.line()), (arguments.algorithm, told)])


def _tables(report: Report, work: Any, rates: Any, measured: dict[int, _Seconds]) -> None:
    """Add a row for each number of ranks."""
    from sparsezc.engines.distributed.cost import predicted

    rows, data = [], []
    for ranks in sorted({*_RANKS, *measured}):
        times = predicted(work, rates, ranks)
        parts = [seconds(part) for part in (times.fixed + times.latency, times.read, times.exchange + times.network)]
        real = [seconds(each) for each in measured[ranks]] if ranks in measured else ["-", "-"]
        rows.append((str(ranks), *parts, seconds(times.total), f"{work.seconds / times.total:.2f}x", *real))
        known = measured[ranks]._asdict() if ranks in measured else None
        data.append({"ranks": ranks, **times._asdict(), "seconds": times.total, "measured": known})
    report.data["predicted"] = data
    report.tables.append(
        Table(("ranks", "steps", "read", "exchange", "predicted", "speed-up", "measured", "processor"), rows)
    )
