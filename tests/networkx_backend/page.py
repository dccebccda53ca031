"""The table of docs/networkx.md, of the claims and the published times: ``python -m tests.networkx_backend.page``.

Its arguments are result files of ``benchmarks.networkx_overhead``, which are published first.
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
from sparsezc.networkx_backend.info import FUNCTIONS
from tests.networkx_backend.entry_points import ROOT

PAGE = ROOT / "docs" / "networkx.md"
PUBLISHED = ROOT / "benchmarks" / "published" / "files" / "networkx.json"
#: Nodes of the graphs on which NetworkX takes few seconds.
_NODES = 1_000
_OF_SIZE = {"medium": _NODES, "fewer": 300, "small": 30}  # by the benchmark's names
HEAD = ["| function | time over NetworkX's | limits |", "| --- | --- | --- |"]


def _ratio(case: frame.Case | None) -> str:
    if case is None:
        return "-"
    ratio = statistics.median(ours / theirs for theirs, ours in case.notes["seconds"])
    fewer = f" ({case.setting['nodes']})" if case.setting.get("nodes", _NODES) < _NODES else ""
    return (f"{ratio:.1f}" if ratio >= 0.095 else f"{ratio:.3f}") + fewer


def table() -> list[str]:
    """Return the lines of the table."""
    cases = {case.name: case for case in frame.load(PUBLISHED).cases}
    lines = [f"| `{name}` | {_ratio(cases.get(name))} | {limits} |" for name, limits in sorted(FUNCTIONS.items())]
    return HEAD + lines


def publish_times(found: list[dict[str, Any]]) -> None:
    """Publish the times of ``benchmarks.networkx_overhead --forced --sizes medium --out FILE`` by function.

    All are published anew: what was not measured has no time.
    """
    cases: dict[str, frame.Case] = {}
    for name in {line["function"] for line in found}:
        answered = [line for line in found if line["function"] == name and line["forced"] == line["forced"]]  # no NaN
        seconds = [[float(f"{line[key]:.3g}") for key in ("alone", "forced")] for line in answered]
        if seconds:
            nodes = _OF_SIZE[answered[0]["size"]]
            setting = {"times": "of each call NetworkX's, then the backend's", "clock": "processor", "nodes": nodes}
            cases[name] = frame.Case(name, setting, notes={"seconds": seconds})
    with tempfile.TemporaryDirectory() as folder:
        made = frame.Report("networkx_overhead", "ms", Path(folder) / "networkx.json")
        made.machine["command"] = [*["python", "-m", "benchmarks.networkx_overhead", "--forced", "--sizes", "medium"]]
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
