"""``sparsezc scale GRAPH ALGORITHM``: the time on 1 to 64 ranks, predicted from this machine, beside measured times.

One process measures the algorithm on one rank, counts its products and the bytes of their vectors, and calibrates the
model of ``engines/distributed/model/cost.py``. Started on several ranks (``mpiexec -n 2 python -m mpi4py -m sparsezc
scale ...``) it also runs the algorithm on them, each with a GPU where there are some, and measures the rates and
latencies between them.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from sparsezc.cli import graph
from sparsezc.cli.answers.report import Report, Table, counted, seconds

if TYPE_CHECKING:
    from sparsezc.cli.calibrate import Between

_RANKS = (1, 2, 4, 8, 16, 32, 64)
_CARDS = 8  # GPUs of a machine
_GB = 1e9
_HOST_ID, _CARD_ID = 8, 4  # bytes of an id in the CPU engine, and of an id that kernels read
_WARM = 3  # first runs of a GPU, which are not timed: they compile kernels and build caches


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


def run(arguments: argparse.Namespace) -> Report:
    """Measure on one rank, predict, and measure on all started ranks; rank 0 returns the report."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # before OpenMP is loaded: without a GPU, a rank is one thread
    _check(arguments)
    transport = _start(arguments)
    graph.configure(arguments)
    _settle_caches()
    chosen = ALGORITHMS[arguments.algorithm]
    found = graph.load(arguments, chosen.weights)
    one = _One.of(arguments, found, chosen, transport)
    between, measured, got = None, {1: one.took}, None
    if transport.size > 1:
        from sparsezc.cli import calibrate
        from sparsezc.config import config

        between = calibrate.between(transport, gpu=one.gpu)
        A = one.A.distribute()
        with config.set(rebalance=False):  # with the partition that the model counts
            one.call(A)  # the exchanges of the first call alone are not counted
            before = transport.received
            one.call(A)
            got = transport.received - before
        took = _timed(lambda: one.call(A), arguments.trials, transport, gpu=one.gpu)
        measured[transport.size] = _Seconds(*(max(each) for each in zip(*transport.objects(tuple(took)), strict=True)))
    if transport.rank:
        sys.exit(0)
    rates, lines = _rates(arguments, one, between)
    report = _report(arguments, found, one, rates)
    report.facts.extend(lines)
    if got is not None:
        report.data["received"] = {"bytes": got, "model": one.received}
        model = "" if one.received is None else f", {one.received / 1e6:,.3f} by the model"
        report.facts.append(("received", f"{got / 1e6:,.3f} MB by a rank in a run{model}"))
    _tables(report, one, rates, measured)
    return report


def _settle_caches() -> None:
    """Have row heads built at the first run, not once amortised, so that one rank and several run alike."""
    from sparsezc.config import config

    config.set(head_cache="on")


def _check(arguments: argparse.Namespace) -> None:
    from sparsezc.exceptions import InvalidValue

    for name in ("peer", "network", "latency", "ranks", "trials"):
        value = getattr(arguments, name)
        if value is not None and not value > 0:
            raise InvalidValue(f"--{name} is {value}; a number above 0 is needed")


def _start(arguments: argparse.Namespace) -> Any:
    """Initialise the ranks that mpiexec started, each with a GPU where there are some, and return their transport.

    Without mpiexec this process is the only rank.
    """
    if not any(name in os.environ for name in ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID")):
        from types import SimpleNamespace

        return SimpleNamespace(rank=0, size=1)
    from sparsezc.exceptions import DeviceUnavailable
    from sparsezc.expr import engines

    distributed = import_module("sparsezc.engines.distributed")
    if not graph.is_without_gpu(arguments.engine):
        try:
            return distributed.init(engine="gpu").transport
        except DeviceUnavailable:  # on all ranks
            if engines.needs_device(arguments.engine) or arguments.placement != "auto":
                raise
    return distributed.init(engine="cpu").transport


class _Seconds(NamedTuple):
    """The elapsed seconds of a call, and this process's processor seconds outside exchanges, in which ranks poll."""

    wall: float
    busy: float


def _timed(call: Callable[[], Any], trials: int, transport: Any = None, *, gpu: bool = False) -> _Seconds:
    import time

    def now() -> tuple[float, float]:
        return time.perf_counter(), time.process_time() - getattr(transport, "waited", 0.0)

    for _ in range(_WARM if gpu else 1):
        call()
    found = []
    for _ in range(trials):
        if transport is not None:
            transport.numbers(0)  # a barrier: all ranks begin together
        begun = now()
        result = call()
        for part in result if isinstance(result, tuple) else (result,):
            part.wait()
        ended = now()
        found.append((ended[0] - begun[0], ended[1] - begun[1]))
    return _Seconds(*(min(each) for each in zip(*found, strict=True)))


class _One(NamedTuple):
    """The algorithm on one rank: matrix, call, work, entries read, engine, placement, time, bytes received."""

    A: Any
    call: Callable[[Any], Any]
    work: Any
    entries: float
    engine: str
    placement: Any
    took: _Seconds
    received: float | None

    @property
    def gpu(self) -> bool:
        """Return whether the rank is a GPU."""
        return bool(self.placement.kernels)

    @classmethod
    def of(cls, arguments: argparse.Namespace, found: graph.Graph, chosen: _Algorithm, transport: Any) -> _One:
        """Prepare the algorithm and time it on rank 0; time its statements there, or without GPUs on each rank."""
        from sparsezc import algorithms
        from sparsezc.cli import scale_loops
        from sparsezc.cli.scale_counts import Counts, cut, imbalance
        from sparsezc.engines.distributed.model.cost import Work
        from sparsezc.expr import engines
        from sparsezc.memory.placement import RECORDS

        indptr, source = found.csr.indptr, found.busiest() if found.csr.nvals else 0
        place, A = RECORDS[found.facts["placement"]], found.matrix()
        if not place.kernels:
            scale_loops.load()
        counts = Counts(cut(indptr, transport.size, gpu=place.kernels))

        def call(A: Any) -> Any:
            return chosen.call(algorithms, A, source)

        took = stepped = _Seconds(0.0, 0.0)
        uneven: dict[int, float] = {}
        together = None if transport.size == 1 or place.kernels else transport
        if transport.rank == 0:
            took, uneven = _timed(lambda: call(A), arguments.trials, gpu=place.kernels), imbalance(indptr, _RANKS[1:])
        if transport.rank == 0 or together:
            with counts.watching(A):
                call(A)
            # statement by statement, as several ranks run; a GPU chooses a product's direction itself, as ranks do
            with engines.stepping(A._engine) if place.kernels else counts.directed(A):
                stepped = _timed(lambda: call(A), arguments.trials, together, gpu=place.kernels)
        if together:  # each rank by itself, at the same time: processors share memory and caches
            stepped = _Seconds(*(max(each) for each in zip(*transport.objects(tuple(stepped)), strict=True)))
        assert A._engine is not None
        # processor time on a busy host is the elapsed time on an idle one
        seconds = stepped.wall if place.kernels else stepped.busy
        work = Work(counts.steps, seconds, counts.nbytes, uneven, counts.statements)
        return cls(A, call, work, counts.entries, A._engine.name, place, took, counts.received)


def _rates(arguments: argparse.Namespace, one: _One, between: Between | None) -> tuple[Any, list[tuple[str, str]]]:
    """Return the machine's rates, and the report's lines that give the source of each."""
    from sparsezc.cli import calibrate
    from sparsezc.device.processors import processors
    from sparsezc.engines.distributed.model.cost import Rates

    copy, memory = calibrate.host_rates()
    step, gpu = calibrate.step_seconds(one.engine), one.gpu
    ranks = arguments.ranks or (_CARDS if gpu else processors(64))
    reading = (
        max(one.entries, 1.0)
        * (_CARD_ID if gpu else _HOST_ID)
        / max(one.work.seconds - one.work.statements * step, 1e-9)
    )
    if not gpu:
        link, read = min(copy, reading), "as its products read ids"
    elif one.placement.near:  # every card has memory of its own
        link, memory, read = reading, ranks * reading, "as its products read ids in device memory"
    else:
        link, read = calibrate.link_rate(), "to the GPU"
        # a host copy reads and writes, a card only reads; the joint rate of several cards was measured
        memory = max(2 * memory, between.links if between else 0.0, link)
    near = (arguments.peer * _GB, "given") if arguments.peer else (between and between.peer, "measured between ranks")
    if near[0] is None:
        near = (calibrate.CARD_PEER, "assumed: NVLink") if gpu else (copy / 2, "assumed: two copies in host memory")
    wait = (arguments.latency * 1e-6, "given") if arguments.latency else (between and between.latency, "measured")
    if wait[0] is None:
        wait = calibrate.LATENCY, "assumed"
    far = (arguments.network * _GB, "given") if arguments.network else (calibrate.NETWORK, "assumed")
    waits = float(wait[0] or 0.0), calibrate.NETWORK_LATENCY
    fixed = (between.step, between.exchange, between.assembly) if between else (0.0, 0.0, 0.0)
    rates = Rates(link, memory, float(near[0] or copy), far[0], *waits, step, ranks, *fixed)
    told = [
        ("link", f"{link / _GB:.1f} GB/s a rank ({read}), {memory / _GB:.1f} of a machine's memory"),
        ("peers", f"{rates.peer / _GB:.1f} GB/s ({near[1]})"),
        ("network", f"{rates.network / _GB:.1f} GB/s ({far[1]})"),
        ("latency", f"{rates.latency * 1e6:.1f} us ({wait[1]})"),
        ("statement", f"{step * 1e6:.1f} us at least"),
    ]
    if between:
        several = f"{fixed[0] * 1e6:.1f} us a statement, {fixed[1] * 1e6:.1f} more a product"
        if not gpu:
            several += f", {fixed[2] * _GB:.2f} ns a byte put together"
        told.append(("several", f"{several} (measured)"))
    return rates, told


def _report(arguments: argparse.Namespace, found: graph.Graph, one: _One, rates: Any) -> Report:
    work = one.work
    data = {
        "command": "scale", "graph": found.facts, "algorithm": arguments.algorithm, "engine": one.engine,
        "device": _device(one.gpu), "products": work.steps, "statements": work.statements,
        "exchanged_bytes": work.exchanged, "rates": vars(rates),
    }  # fmt: skip
    products = f"{counted(work.steps, 'product', 'products')} in {work.statements:,} statements"
    told = f"{products}, {work.exchanged / 1e6:,.2f} MB of vectors"
    return Report(data, [("graph", found.line()), (arguments.algorithm, told)])


def _device(gpu: bool) -> str | None:
    if not gpu:
        return None
    from sparsezc.device import cuda

    return cuda.current().name


def _busy(times: Any) -> float:
    """Return the predicted seconds outside exchanges."""
    return float(times.fixed + times.read + times.assembly)


def _tables(report: Report, one: _One, rates: Any, measured: dict[int, _Seconds]) -> None:
    """Add a row for each number of ranks; the error is the predicted over the measured time, less 1.

    Without a GPU both are processor time outside exchanges, all that a busy machine can measure. One rank has no error:
    its prediction is of statements, and it may run them as one loop.
    """
    from sparsezc.engines.distributed.model.cost import predicted

    work, rows, data = one.work, [], []
    alone = one.took.wall if one.gpu else one.took.busy
    for ranks in sorted({*_RANKS, *measured}):
        times = predicted(work, rates, ranks)
        parts = [
            seconds(part)
            for part in (times.fixed + times.latency, times.read, times.assembly + times.exchange + times.network)
        ]
        real, off = measured.get(ranks), None
        if real is not None and ranks > 1:
            made, real_seconds = (times.total, real.wall) if one.gpu else (_busy(times), real.busy)
            off = made / max(real_seconds, 1e-12) - 1
        last = [*(["-"] * 2 if real is None else map(seconds, real)), "-" if off is None else f"{100 * off:+.0f}%"]
        rows.append((str(ranks), *parts, seconds(times.total), f"{alone / times.total:.2f}x", *last))
        known = None if real is None else real._asdict()
        data.append({"ranks": ranks, **times._asdict(), "seconds": times.total, "measured": known, "error": off})
    report.data["predicted"] = data
    head = ("ranks", "steps", "read", "exchange", "predicted", "speed-up", "measured", "processor", "error")
    report.tables.append(Table(head, rows))
