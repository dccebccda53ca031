"""The run of a row: the call, its trials, the verdict, the counts, the peers; each is saved before the next."""

from __future__ import annotations

import argparse
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import sparsezc as gb
from benchmarks.harness import copyrate, requestrate
from benchmarks.harness.frame import Case, Report, Trial, judge, nothing, timed
from benchmarks.harness.summary import summary
from benchmarks.hive import report as shown
from benchmarks.hive.limit import OutOfTime, limit
from benchmarks.hive.row import HOST, Goal, Input, Peer, Row, Unavailable
from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.memory.placement import RECORDS

_ENOUGH, _MOST_TRIALS = 0.1, 25  # least seconds of all trials together, and the most trials made for that
ID_BYTES = 4  # bytes of an id on a GPU, of graphs up to 2^32 vertices


def run(chosen: Sequence[Row], options: argparse.Namespace, report: Report) -> None:
    """Run rows in all placements; one that fails or takes too long is reported, and the next one runs."""
    synchronize = nothing if options.used_engine == "cpu" else cuda.current().synchronize
    end = None if options.budget is None else time.monotonic() + options.budget
    for placement in options.placements:
        with report.part(f"copy rate, {placement}"):
            report.rates[placement] = copyrate.copy_rate(placement, options.copy_mib << 20)
        graphs: dict[tuple[str, str], gb.Matrix] = {}
        for row in chosen:
            if row.goals and placement not in row.goals and not options.everywhere:
                continue
            name = shown.at_scale(row.graph_in(placement), options.scale)
            given = Input(name, placement, options.scale is not None, options.part, options.data, _graphs=graphs)
            case = _Run(row, given, report, synchronize).run(options, end)
            print("  ".join(shown.printed(case)), flush=True)


class _Run:
    """The run of one row in one placement."""

    def __init__(self, row: Row, given: Input, report: Report, synchronize: Callable[[], None]) -> None:
        self.row, self.given, self.report, self.synchronize = row, given, report, synchronize
        self.case = Case(
            row.name, {"graph": given.name, "placement": given.placement, "what": row.what, "made": row.made}
        )
        self.case.parts, self.case.rate = row.parts, report.rates.get(given.placement)
        goal = row.goals.get(given.placement) or next(iter(row.goals.values()), Goal(0.0, row.unit))
        self.goal = goal
        self.case.notes |= {"unit": goal.unit, "goal": goal.value if given.placement in row.goals else None}
        self.doing = ""

    def run(self, options: argparse.Namespace, end: float | None) -> Case:
        """Run all steps that the limit allows; return the case, which has been added to the report."""
        left = None if end is None else end - time.monotonic()
        self.report.add(self.case)
        if left is not None and left <= 0:
            self.case.notes |= {"ended": "before it began: the run's budget has passed", "figure": None}
            self.report.save()
            return self.case
        seconds = min((each for each in (left, options.limit) if each is not None), default=None)
        ended: str | None = ""
        try:
            with self.report.part(f"{self.row.name}, {self.given.placement}"), limit(seconds):
                ended = self._run(options)
        except OutOfTime:
            ended = f"after its limit of {seconds:.0f} s, while {self.doing}"
        self.case.notes["ended"] = f"by an error, while {self.doing}" if ended == "" else ended
        self._figure()
        self.report.save()
        return self.case

    @contextmanager
    def _step(self, doing: str) -> Iterator[None]:
        """Run a step of the row in the context; the case is saved before it, and the figure updated after it."""
        self.doing, start = doing, time.perf_counter()
        self.case.notes["ended"] = f"with the process, while {doing}"
        self.report.save()
        yield
        self.case.notes.setdefault("step_seconds", {})[doing] = round(time.perf_counter() - start, 3)
        self._figure()

    def _run(self, options: argparse.Namespace) -> str | None:
        """Run the row; return the reason if it ended early, else None."""
        row, case = self.row, self.case
        try:
            with self._step("making the input"):
                made = row.make(self.given)
        except Unavailable as error:
            return f"before its first call: {error}"
        case.setting["input"] = ", ".join(f"{A.nrows:,} x {A.ncols:,}: {A.nvals:,}" for A in _matrices(made)[:1])
        with self._step("the first call"):
            answer, case.first_seconds = timed(partial(row.run, made), self.synchronize)
        with self._step("the predictions"):
            case.notes["work"] = row.work(made, answer)
            case.notes["predicted"] = row.nbytes(made, answer)
            case.requests = row.requests(made, answer)
            for name, found in row.notes(made, answer).items():
                (case.series if isinstance(found, list) else case.notes)[name] = found
        with self._step("the trials"):
            other = self._in_turns(made) if options.peers else None
            while len(case.trials) < options.trials or self._goes_on(options.trials):
                answer, before = None, time.process_time()  # frees its memory before the clock starts
                answer, took = timed(partial(row.run, made), self.synchronize)
                # processor seconds of all threads: the cost of a call on a machine that other programs use, too
                case.series.setdefault("processor", []).append(round(time.process_time() - before, 4))
                case.trials.append(Trial(None, took, case.notes["predicted"] * row.parts))
                if other is not None:
                    case.series.setdefault("ratios", []).append(took / timed(other, self.synchronize)[1])
        if row.base is not None:
            with self._step("the call without the parts"):
                case.notes["base"] = timed(partial(row.base, made), self.synchronize)[1]
        with self._step("verifying"):
            case.verified = judge(lambda _, answer: row.judge(made, answer), None, answer)
        answer = None
        if case.requests and self.given.placement != HOST and RECORDS[self.given.placement].in_place:
            with self._step("measuring the link's requests"):
                nbytes = max(A.nvals for A in _matrices(made)) * ID_BYTES
                case.notes["link's requests a second"] = requestrate.request_rate(self.given.placement, nbytes)
                case.notes["least share"] = row.share
        for peer in row.peers:
            if options.peers and peer.run is not None and not peer.is_installed:
                case.notes[f"{peer.name}, left out"] = f"{peer.module} is not installed"
            if options.peers and peer.can_run and max((A.nvals for A in _matrices(made)), default=0) <= peer.most:
                with self._step(f"running {peer.name}"):
                    self._peer(peer, made)
        if options.count and self.given.placement != HOST:
            with self._step("counting"):
                self._count(made)
        return None

    def _goes_on(self, trials: int) -> bool:
        """Return whether trials on a GPU are so short that more are made, as the first after a pause take longer."""
        seconds = [trial.seconds for trial in self.case.trials]
        return trials > 0 and self.given.placement != HOST and len(seconds) < _MOST_TRIALS and sum(seconds) < _ENOUGH

    def _in_turns(self, made: Any) -> Callable[[], Any] | None:
        """Return the call of this package whose time the goal is a share of, to run in turns with the row's call.

        In turns, a drift of the machine's speed affects both. The call has run twice: the first run compiles, and one
        after another kind of call may have to build caches anew.
        """
        peer = self.row.peers[0] if self.goal.unit == "of peer" and self.row.peers else None
        if peer is None or not peer.ours or peer.run is None:
            return None
        call = partial(peer.run, made if peer.prepare is None else peer.prepare(made))
        for warm in (call, partial(self.row.run, made), call):
            warm()
        return call

    def _count(self, made: Any) -> None:
        """Count the bytes and requests of one more call."""
        with stats.collect() as moved:
            timed(partial(self.row.run, made), self.synchronize)
        self.case.notes["counted"] = {
            "link_bytes": moved.link_bytes, "requests": moved.requests, "device_bytes": moved.device_bytes,
            "copied_bytes": moved.copied_bytes,
        }  # fmt: skip

    def _peer(self, peer: Peer, made: Any) -> None:
        try:
            _, took, processor = peer.timed(made, self.synchronize)
            self.case.notes |= {peer.name: took, f"{peer.name}, processor": round(processor, 4)}
        except Exception as error:  # a peer's failure is a result, not a failure of the row
            traceback.print_exc()
            self.case.notes[f"{peer.name}, failed"] = f"{type(error).__name__}: {error}"

    def _figure(self) -> None:
        """Set the figure from the trials, or if there are none, from the first call."""
        case, row = self.case, self.row
        seconds = case.seconds.median * row.parts if case.trials else case.first_seconds
        if not seconds:
            case.notes["figure"] = None
            return
        if "base" in case.notes:
            seconds = max(seconds - case.notes["base"], 0.0)
        full = self.given.placement != HOST and not self.given.small  # a published figure is of the full size
        ran = next((case.notes[peer.name] for peer in row.peers if peer.name in case.notes), None)
        part = seconds / row.parts
        ratios = case.series.get("ratios")
        case.notes["figure"] = (
            summary(ratios).median if ratios else self.goal.reached(part, case.notes.get("work", 1.0), ran)
        )
        for peer in row.peers:
            if peer.name in case.notes or (full and peer.published is not None):
                case.peer, case.reference = peer.name, self._reference(peer)
                return

    def _reference(self, peer: Peer) -> float | None:
        """Return the peer's figure in this run, else the published one; in seconds if ours is a share of them."""
        seconds = self.case.notes.get(peer.name)
        if seconds is None:
            return peer.published
        if self.goal.is_time:
            return float(seconds) / self.row.parts
        return self.goal.reached(seconds / self.row.parts, self.case.notes["work"])


def _matrices(made: Any) -> list[gb.Matrix]:
    """Return the matrices of a row's input."""
    if isinstance(made, gb.Matrix):
        return [made]
    parts = made.values() if isinstance(made, dict) else made if isinstance(made, tuple) else ()
    return [A for part in parts for A in _matrices(part)]
