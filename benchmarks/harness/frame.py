"""The frame of all benchmarks, after the GAP Benchmark Suite's (arXiv:1508.03619).

The graph is loaded or made first and never timed. Sources are drawn with a fixed seed and have out-edges. The first
call, which compiles, is timed apart and its answer is verified; the trials follow. A case has the bytes that had to be
read, which give GB/s and the share of the copy rate measured in the same run. A run is one JSON file, saved after each
case, so that cases survive a later failure.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import machine, publish
from benchmarks.harness.summary import Summary, summary
from benchmarks.verify.answers import Undecided, Wrong

RESULTS = Path(__file__).resolve().parents[1] / "results"
SEED = 27182818


def pick_sources(degree: NDArray[Any], count: int, seed: int = SEED) -> list[int]:
    """Return `count` vertices with out-edges, fixed by degrees and seed; distinct if there are enough."""
    candidates = np.flatnonzero(degree)
    if candidates.size == 0:
        raise ValueError("the graph has no edges, so no vertex can be a source")
    rng = np.random.default_rng(seed)
    return [int(v) for v in rng.choice(candidates, count, replace=candidates.size < count)]


def within(inputs: Iterable[Any], seconds: float) -> Iterator[Any]:
    """Yield inputs, at least one, until `seconds` have passed since the second was requested.

    >>> list(within([1, 2, 3], 0.0)), list(within([1, 2, 3], 60.0))
    ([1], [1, 2, 3])
    """
    end = None
    for position, given in enumerate(inputs):
        if position == 1:
            end = time.monotonic() + seconds
        if end is not None and time.monotonic() >= end:
            return
        yield given


@dataclass
class Trial:
    """One timed call: its input, its seconds, and the bytes that it had to read."""

    input: Any
    seconds: float
    nbytes: int


@dataclass
class Case:
    """One measurement: a row of the table.

    Attributes
    ----------
    parts : int
        Equal parts of a call (PageRank's iterations): times and bytes are reported for one part.
    rate : float or None
        Copy rate in this run, in bytes a second: `share` is a fraction of it.
    reference, peer : float or None, str
        The figure to compare with, in the report's unit, and the program that it is from.
    requests : int
        Requests of a call, in benchmarks that measure requests.
    series : dict of str to list of float
        Further numbers of each trial (processor seconds) or round (a loss), a list for each name. `notes` has no lists
        of numbers.
    """

    name: str
    setting: dict[str, Any] = field(default_factory=dict)
    trials: list[Trial] = field(default_factory=list)
    first_seconds: float = 0.0
    verified: str = "not asked"
    parts: int = 1
    rate: float | None = None
    reference: float | None = None
    peer: str = ""
    requests: int = 0
    notes: dict[str, Any] = field(default_factory=dict)
    series: dict[str, list[float]] = field(default_factory=dict)

    @property
    def seconds(self) -> Summary:
        return summary([trial.seconds / self.parts for trial in self.trials])

    @property
    def nbytes(self) -> float:
        return statistics.mean(trial.nbytes for trial in self.trials) / self.parts

    @property
    def bytes_per_second(self) -> float:
        return statistics.median(trial.nbytes / trial.seconds for trial in self.trials)

    @property
    def share(self) -> float | None:
        return self.bytes_per_second / self.rate if self.rate else None

    def figure(self, unit: str) -> float:
        """Return the figure of a case, in "ms" or "GB/s"."""
        return self.seconds.median * 1e3 if unit == "ms" else self.bytes_per_second / 1e9

    @property
    def label(self) -> str:
        """The case's name, with the settings that distinguish it from others of the name."""
        words = [self.setting.get("graph"), self.setting.get("placement"), self.name]
        text = " ".join(str(word) for word in words if word)
        if pages := self.setting.get("pages"):
            text += f" ({pages}, {self.setting['working_set'] >> 20} MiB)"
        return text


def nothing() -> None:
    """Do nothing: a CPU needs no synchronisation, as its calls end when they return."""


def timed(call: Callable[[], Any], synchronize: Callable[[], None]) -> tuple[Any, float]:
    """Return the answer of a call and its seconds, until the device has finished."""
    synchronize()
    start = time.perf_counter()
    answer = call()
    synchronize()
    return answer, time.perf_counter() - start


class Rules(NamedTuple):
    """The rules of a measurement that few benchmarks change.

    Attributes
    ----------
    seconds : float
        Seconds of an input's trials after which it gets no more trials.
    warm : float
        Seconds of further calls before the first trial, which fill caches that persist from call to call.
    before : callable
        Called before each call, to restore the initial state. Not timed.
    verify_all : bool
        The first trial of each input is judged, too, not only the first call.
    """

    seconds: float = math.inf
    warm: float = 0.0
    before: Callable[[], None] = nothing
    verify_all: bool = False


_USUAL = Rules()


def measure(
    case: Case,
    call: Callable[[Any], Any],
    inputs: Iterable[Any] = (None,),
    *,
    trials: int,
    nbytes: Callable[[Any, Any], int],
    synchronize: Callable[[], None] = nothing,
    verify: Callable[[Any, Any], None] | None = None,
    rules: Rules = _USUAL,
) -> Case:
    """Fill in a case: one first call, which compiles, and then `trials` timed calls for each input.

    Parameters
    ----------
    nbytes : callable
        Returns, for an input and its answer, the bytes that the call had to read. Not timed.
    verify : callable, optional
        Raises :class:`Wrong` if the answer to an input is wrong. Judges the first call. Not timed.
    """
    for position, given in enumerate(inputs):
        if position == 0:
            rules.before()
            answer, case.first_seconds = timed(partial(call, given), synchronize)
            case.verified = judge(verify, given, answer)
            warming = 0.0
            while warming < rules.warm:
                rules.before()
                warming += timed(partial(call, given), synchronize)[1]
        times: list[float] = []
        for turn in range(trials):
            if times and sum(times) >= rules.seconds:
                break
            answer = None  # frees its memory before the clock starts
            rules.before()
            answer, took = timed(partial(call, given), synchronize)
            times.append(took)
            if rules.verify_all and turn == 0 and not case.verified.startswith("WRONG"):
                case.verified = judge(verify, given, answer)
        moved = nbytes(given, answer)
        case.trials += [Trial(given, took, moved) for took in times]
    return case


def judge(verify: Callable[[Any, Any], None] | None, given: Any, answer: Any) -> str:
    """Return "yes", "not asked", or the reason against "yes"; an error of the verifier is one, so times are kept."""
    if verify is None:
        return "not asked"
    try:
        verify(given, answer)
    except Wrong as error:
        return f"WRONG: {error}"
    except Undecided as error:
        return f"undecided: {error}"
    except Exception as error:
        traceback.print_exc()
        return f"BROKEN VERIFIER: {type(error).__name__}: {error}"
    return "yes"


class Report:
    """One run: its cases, its failures, the machine; saved as JSON and printed as a table."""

    def __init__(self, benchmark: str, unit: str, out: Path | None = None) -> None:
        self.benchmark, self.unit = benchmark, unit
        self.started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        stamp = self.started.replace(":", "").replace("-", "")
        self.path = out or RESULTS / f"{benchmark}-{stamp}.json"
        self.machine = machine.facts()
        self.rates: dict[str, float] = {}  # copy rates of this run, bytes a second, by placement
        self.cases: list[Case] = []
        self.failures: list[dict[str, str]] = []

    def add(self, case: Case) -> None:
        self.cases.append(case)
        self.save()

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Guard a part of the run: an error in it is reported, and the run continues. Ctrl-C still ends the run."""
        try:
            yield
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            print(f"!! {name} failed: {text}", flush=True)
            self.failures.append({"part": name, "error": text, "traceback": traceback.format_exc()})
            self.save()

    @property
    def ok(self) -> bool:
        """True if no part failed, no answer was wrong, and no verifier raised another error."""
        return not self.failures and not any(case.verified.startswith(("WRONG", "BROKEN")) for case in self.cases)

    def as_dict(self) -> dict[str, Any]:
        def one(case: Case) -> dict[str, Any]:
            derived: dict[str, Any] = {}
            if case.trials:  # without trials the case is predicted or counted, not timed
                derived = case.seconds._asdict() | {"nbytes": case.nbytes}
                derived |= {"bytes_per_second": case.bytes_per_second, "share_of_copy_rate": case.share}
            if case.series:
                derived["series"] = {
                    name: summary(numbers)._asdict() for name, numbers in case.series.items() if numbers
                }
            return asdict(case) | {"derived": derived}

        return {
            "benchmark": self.benchmark,
            "unit": self.unit,
            "started": self.started,
            "machine": self.machine,
            "copy_rates": self.rates,
            "cases": [one(case) for case in self.cases],
            "failures": self.failures,
        }

    def save(self) -> Path:
        """Write the JSON, whole or not at all, and return its path."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_name(f".{self.path.name}.part")
        unfinished.write_text(json.dumps(self.as_dict(), indent=1, default=str) + "\n")
        unfinished.replace(self.path)
        return self.path

    def end(self, picture: Path | None = None) -> None:
        """Write the JSON for the last time, and print its path and the picture's."""
        print(f"written: {self.save()}{f', {picture}' if picture else ''}")


def load(path: Path) -> Report:
    """Read a report from its JSON."""
    content = publish.content(path)
    report = Report(content["benchmark"], content["unit"], path)
    report.started, report.machine = content["started"], content["machine"]
    report.rates, report.failures = content["copy_rates"], content["failures"]
    for case in content["cases"]:
        del case["derived"]
        trials = [Trial(**trial) for trial in case.pop("trials")]
        report.cases.append(Case(trials=trials, **case))
    return report


def together(paths: Sequence[Path], out: Path | None = None) -> Report:
    """Combine the cases of several result files into one report, with the path `out` or the first file's.

    The machine and the copy rates are those of the first file.
    """
    first, *others = map(load, paths)
    for other in others:
        first.cases += other.cases
        first.failures += other.failures
    first.path = out or first.path
    return first


def add_again(parser: argparse.ArgumentParser) -> None:
    """Add the options for the result file, and for printing earlier results instead (:func:`together`)."""
    parser.add_argument("--out", type=Path, help="the result file (default: a new one in benchmarks/results)")
    parser.add_argument("--again", type=Path, nargs="+", metavar="RESULT", help="run nothing: print and draw these "
                        "result files as one, beside the first or as --out; needs no GPU")  # fmt: skip


def check_again(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End the program if its command line names both graphs and results, or neither."""
    if bool(options.graphs) == bool(options.again):
        parser.error("graphs to run, or result files after --again: one of both is needed")


def number(value: float | None, digits: int = 3) -> str:
    """Format a number with `digits` significant digits, or without decimals from 1000 on.

    >>> number(12.3456), number(0.01234), number(1234.5), number(None)
    ('12.3', '0.0123', '1234', '-')
    """
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:#.{digits}g}".rstrip(".")


def table(header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """Return a table as text: the first `left` columns are aligned left, all others right."""
    body = [list(header), *map(list, rows)]
    widths = [max(len(row[k]) for row in body) for k in range(len(header))]

    def line(row: list[str]) -> str:
        cells = [cell.ljust(widths[k]) if k < left else cell.rjust(widths[k]) for k, cell in enumerate(row)]
        return "  ".join(cells).rstrip()

    return "\n".join([line(body[0]), "  ".join("-" * width for width in widths), *map(line, body[1:])])
