"""The table of docs/networkx.md from claims and published times: ``python -m tests.networkx_backend.page``.

Its arguments are result files of ``benchmarks.networkx_overhead``, whose times it publishes first.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.harness import frame, publish
from sparsezc.networkx_backend import dispatch
from sparsezc.networkx_backend.graphs.networkx_versions import name_of
from sparsezc.networkx_backend.info import FUNCTIONS
from sparsezc.networkx_backend.interface import CLAIMS
from sparsezc.networkx_backend.times import TIMES
from tests.networkx_backend.entry_points import ROOT

PAGE = ROOT / "docs" / "networkx.md"
PUBLISHED = ROOT / "benchmarks" / "published" / "files" / "networkx.json"
#: Series of a case that has NetworkX's own seconds; the case's trials are calls with the backend.
NETWORKX = "NetworkX"
#: Nodes of the medium graphs, on which NetworkX takes a few seconds.
_NODES = 1_000
_OF_SIZE = {"medium": _NODES, "fewer": 300, "small": 30}  # by the benchmark's names of sizes
HEAD = ["| function | time over NetworkX's | sent | limits |", "| --- | --- | --- | --- |"]


def _ratio(case: frame.Case | None) -> str:
    if case is None:
        return "-"
    ratio = statistics.median(
        ours.seconds / theirs for ours, theirs in zip(case.trials, case.series[NETWORKX], strict=True)
    )
    fewer = f" ({case.setting['nodes']})" if case.setting["nodes"] < _NODES else ""
    return (f"{ratio:.1f}" if ratio >= 0.095 else f"{ratio:.3f}") + fewer


def sent(name: str) -> str:
    """Return the table's words for the calls that NetworkX sends to the enabled backend, by its estimates."""
    times = TIMES.get(name)
    if times is None:
        return "no"
    if times.differs:
        return "no seed" if "seed" in times.differs else "other"
    weights = bool(CLAIMS[name_of(name)].defaults.get("weight") or CLAIMS[name_of(name)].defaults.get("capacity"))
    converting = dispatch._CONVERSION + weights * dispatch._ATTRIBUTE
    for edges in (x * 10**k for k in range(2, 7) for x in range(1, 10)):
        nodes = max(1, edges // 5)
        work = nodes if times.each else 1
        alone, here = dispatch.estimated((times.theirs, times.ours), work, times.each, nodes + 2 * edges, converting)
        if alone > here:
            return f"{edges:,}"
    return "again" if times.ours < times.theirs else "no"


def _rounded(seconds: float) -> float:
    """Return seconds rounded to three significant digits."""
    return float(f"{seconds:.3g}")


def table() -> list[str]:
    """Return the lines of the table."""
    cases = {case.name: case for case in frame.load(PUBLISHED).cases}
    lines = [
        f"| `{name}` | {_ratio(cases.get(name))} | {sent(name)} | {limits} |"
        for name, limits in sorted(FUNCTIONS.items())
    ]
    return HEAD + lines


def publish_times(found: list[dict[str, Any]]) -> None:
    """Publish the times of ``benchmarks.networkx_overhead --forced --sizes medium --out FILE`` by function.

    Each time has its commit; functions that were not measured keep their times.
    """
    with tempfile.TemporaryDirectory() as folder:
        made = frame.Report("networkx_overhead", "ms", Path(folder) / "networkx.json")
        made.machine["command"] = [*["python", "-m", "benchmarks.networkx_overhead", "--forced", "--sizes", "medium"]]
        cases = {case.name: case for case in frame.load(PUBLISHED).cases}
        for name in {line["function"] for line in found}:
            answered = [
                line for line in found if line["function"] == name and line["forced"] == line["forced"]
            ]  # no NaN
            if answered:
                setting = {
                    "clock": "processor",
                    "nodes": _OF_SIZE[answered[0]["size"]],
                    "commit": made.machine["commit"],
                }
                trials = [
                    frame.Trial(f"{line['kind']}: {line['given']}", _rounded(line["forced"]), 0) for line in answered
                ]
                theirs = [_rounded(line["alone"]) for line in answered]
                cases[name] = frame.Case(name, setting, trials, series={NETWORKX: theirs})
        for name in sorted(cases):
            made.add(cases[name])
        publish.publish(made.path, PUBLISHED.parent, PUBLISHED.stem)


if __name__ == "__main__":
    if sys.argv[1:]:
        publish_times([line for path in sys.argv[1:] for line in json.loads(Path(path).read_text())])
    page = PAGE.read_text()
    start = re.search(r"^\| function \|.*\n", page, re.MULTILINE)
    assert start
    rest = page[start.start() :]
    end = re.search(r"\n\n", rest)
    assert end
    PAGE.write_text(page[: start.start()] + "\n".join(table()) + rest[end.start() :])
