"""All benchmarks for a GPU within a time limit: the link, then the algorithms on kron and urand in both placements.

``python -m benchmarks.all --out DIR --budget-seconds 540``. Each part is a process of its own with its own result file,
so a part that fails, hangs or breaks the device loses only its own results; those of all others are kept and printed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks import gap
from benchmarks.harness import facts
from benchmarks.harness.frame import Report, load, table
from benchmarks.micro import link

ROOT = Path(__file__).resolve().parent.parent
LEAST_SECONDS = 10.0  # seconds left, below which no part is started
MOST_SHARE = 0.6  # of the time left: the most that one part may take while others wait


class Part(NamedTuple):
    """One process: `python -m benchmarks.MODULE ARGUMENTS`, which writes `name`.json."""

    name: str
    module: str
    arguments: tuple[str, ...]


def parts(options: argparse.Namespace) -> list[Part]:
    """Return the benchmarks to run, the most important first."""
    found = [] if options.skip_link else [Part("link", "micro.link", tuple(options.link_options.split()))]
    for placement in options.placement.split(","):
        for graph in (f"kron:{options.scale}", f"urand:{options.scale}"):
            arguments = (graph, "--engine", "gpu", "--placement", placement, *options.gap_options.split())
            found.append(Part(f"gap-{graph.replace(':', '-')}-{placement}", "gap", arguments))
    return found


def run(part: Part, folder: Path, seconds: float) -> str:
    """Run one part for at most `seconds`; return how it ended, in a few words."""
    path = folder / f"{part.name}.json"
    command = [sys.executable, "-m", f"benchmarks.{part.module}", *part.arguments, "--out", str(path)]
    print(f"\n== {part.name}: {' '.join(command[1:])}", flush=True)
    start = time.monotonic()
    try:
        code = subprocess.run(command, cwd=ROOT, timeout=seconds, check=False).returncode
        ended = "done" if code == 0 else f"ended with exit code {code}"
    except subprocess.TimeoutExpired:
        ended = f"stopped after {seconds:.0f} s"
    ended += f", {time.monotonic() - start:.0f} s"
    print(f"== {part.name}: {ended}", flush=True)
    return ended


def reports(folder: Path, names: list[str]) -> dict[str, Report]:
    """Return the reports of the parts that have written a result file, by name."""
    found = {}
    for name in names:
        path = folder / f"{name}.json"
        if path.exists():
            found[name] = load(path)
    return found


def printed(found: dict[str, Report], endings: dict[str, str]) -> str:
    """Return tables of all measurements, and of how each part ended."""
    blocks = []
    if "link" in found and found["link"].cases:
        blocks.append(f"The link (reference: {facts.MACHINE})\n{link.printed(found['link'])}")
    cases = [case for name, report in found.items() if name != "link" for case in report.cases]
    if cases:
        blocks.append(f"The algorithms\n{table(gap.HEADER, map(gap.row, cases), left=3)}")
    failures = [f"{name}: {each['part']}: {each['error']}" for name, r in found.items() for each in r.failures]
    blocks.append(table(("part", "ended"), endings.items(), left=2))
    if failures:
        blocks.append("Failures\n" + "\n".join(failures))
    return "\n\n".join(blocks)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.all", description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the result files, plots and summary.txt")
    parser.add_argument("--budget-seconds", type=float, default=900.0, help="for all parts together")
    parser.add_argument("--scale", type=int, default=24, help="of the graphs")
    parser.add_argument("--placement", default="zerocopy,device")
    parser.add_argument("--skip-link", action="store_true")
    parser.add_argument("--link-options", default="", help="passed on to benchmarks.micro.link, in one text")
    parser.add_argument("--gap-options", default="", help="passed on to benchmarks.gap, in one text")
    options = parser.parse_args(arguments)
    folder = options.out.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + options.budget_seconds
    endings: dict[str, str] = {}
    waiting = parts(options)
    for part in waiting:
        (folder / f"{part.name}.json").unlink(missing_ok=True)  # a result file of an earlier run
    while waiting:
        part = waiting.pop(0)
        left = (end - time.monotonic()) * (MOST_SHARE if waiting else 1)
        endings[part.name] = run(part, folder, left) if left >= LEAST_SECONDS else "not begun: no time was left"
    text = printed(reports(folder, list(endings)), endings)
    (folder / "summary.txt").write_text(text + "\n")
    print(f"\n{text}\n\nwritten: {folder}")
    return 0 if all(ended.startswith("done") for ended in endings.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
