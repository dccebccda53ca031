"""The HIVE applications and the operations under them, beside the figures that they must reach and their peers.

``python -m benchmarks.hive --engine gpu --placement zerocopy,device`` runs every row; names choose some
(``python -m benchmarks.hive walks sampling``), ``--list`` shows all, ``--scale 14`` makes the graphs small. Rows are
in the files of this folder, one an application.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import sparsezc as gb
from benchmarks.harness import copyrate
from benchmarks.harness.frame import Case, Report, measure, nothing, number, table, timed
from benchmarks.harness.where import PLACEMENTS, choose_engine, placements
from benchmarks.hive.row import HOST, Goal, Input, Peer, Row
from sparsezc.device import cuda

#: Files of this folder with a list ROWS.
FILES = ("walks", "sampling", "search", "communities", "flows", "places", "matchings")
HEADER = [
    "row",
    "graph",
    "placement",
    "first s",
    "min ms",
    "median",
    "max",
    "figure",
    "goal",
    "met",
    "peer",
    "x faster",
]
HEADER += ["ok"]


def rows() -> dict[str, Row]:
    """Return all rows by name."""
    found: dict[str, Row] = {}
    for name in FILES:
        for row in import_module(f"benchmarks.hive.{name}").ROWS:
            if row.name in found:
                raise ValueError(f"benchmarks/hive/{name}.py: the row {row.name!r} is in another file too")
            found[row.name] = row
    return found


def chosen(parser: argparse.ArgumentParser, names: Sequence[str]) -> list[Row]:
    """Return the rows of these names, or whose names begin so; all for no names."""
    known = rows()
    for name in names:
        if not any(each.startswith(name) for each in known):
            parser.error(f"{name!r} begins the name of no row; there are {', '.join(known)}")
    return [row for name, row in known.items() if not names or any(name.startswith(each) for each in names)]


def at_scale(graph: str, scale: int | None) -> str:
    """Return a made graph at another scale.

    >>> at_scale("kron:24?symmetric=true", 12), at_scale("kron:24", None)
    ('kron:12?symmetric=true', 'kron:24')
    """
    return graph if scale is None else re.sub(r"(?<=:)\d+", str(scale), graph, count=1)


def run_row(row: Row, given: Input, report: Report, trials: int, synchronize: Callable[[], None]) -> Case:
    """Measure one row in one placement, its peers first."""
    goal = row.goals.get(given.placement)
    case = Case(row.name, {"graph": given.name, "placement": given.placement, "made": row.made})
    case.rate = report.rates.get(given.placement)
    made = row.make(given)
    for peer in row.peers:
        if peer.can_run:
            case.notes[peer.name] = timed(partial(peer.run, made), nothing)[1]  # type: ignore[arg-type]
    kept: list[Any] = []

    def nbytes(_: Any, answer: Any) -> int:
        kept[:] = [row.work(made, answer)]
        case.requests = row.requests(made, answer)
        return row.nbytes(made, answer)

    measure(
        case, lambda _: row.run(made), trials=trials, nbytes=nbytes, synchronize=synchronize,
        verify=lambda _, answer: row.judge(made, answer),
    )  # fmt: skip
    case.notes |= {"work": kept[0], "unit": goal.unit if goal else "s", "goal": goal.value if goal else None}
    unit = Goal(0.0, case.notes["unit"])
    case.notes["figure"] = unit.reached(case.seconds.median, kept[0])
    for peer in row.peers[:1]:
        case.peer, case.reference = peer.name, reference(peer, case, unit)
    report.add(case)
    return case


def reference(peer: Peer, case: Case, unit: Goal) -> float | None:
    """Return the peer's figure in the row's unit: of this run, else the published one."""
    seconds = case.notes.get(peer.name)
    return peer.published if seconds is None else unit.reached(seconds, case.notes["work"])


def run(chosen: Sequence[Row], options: argparse.Namespace, report: Report) -> None:
    """Run rows in all placements; one that fails is reported and the next goes on."""
    synchronize = nothing if options.used_engine == "cpu" else cuda.current().synchronize
    for placement in options.placements:
        with report.part(f"copy rate, {placement}"):
            report.rates[placement] = copyrate.of(placement, options.copy_mib << 20)
        graphs: dict[tuple[str, str], gb.Matrix] = {}
        for row in chosen:
            if row.goals and placement not in row.goals and not options.everywhere:
                continue
            name = at_scale(row.graph_in(placement), options.scale)
            with report.part(f"{row.name}, {placement}"):
                given = Input(name, placement, small=options.scale is not None, _graphs=graphs)
                case = run_row(row, given, report, options.trials, synchronize)
                print("  ".join(printed(case)), flush=True)


def printed(case: Case) -> list[str]:
    """Return a case as a row of the table that :data:`HEADER` heads."""
    notes = case.notes
    figure, goal = notes["figure"], notes["goal"]
    unit = Goal(goal or 0.0, notes["unit"])
    faster = None if not case.reference else case.reference / figure if unit.unit == "s" else figure / case.reference
    return [
        case.name, str(case.setting["graph"]), str(case.setting["placement"]), number(case.first_seconds),
        *(number(second * 1e3) for second in case.seconds), said(figure, unit.unit), said(goal, unit.unit),
        "" if goal is None else "met" if unit.is_met(figure) else "MISSED",
        f"{case.peer} {said(case.reference, unit.unit)}".strip(), number(faster), case.verified,
    ]  # fmt: skip


def listed(row: Row) -> list[str]:
    """Return a row's name, graph and goals."""
    return [row.name, row.graph, ", ".join(f"{where}: {said(*goal)}" for where, goal in row.goals.items())]


def said(value: float | None, unit: str) -> str:
    """Return a figure with its unit.

    >>> said(2.1e9, "steps"), said(0.25, "s"), said(None, "s")
    ('2.10 G steps/s', '0.250 s', '-')
    """
    if value is None:
        return "-"
    if unit == "s":
        return f"{number(value)} s"
    size, letter = next(((s, x) for s, x in ((1e9, " G"), (1e6, " M"), (1e3, " k")) if value >= s), (1.0, ""))
    return f"{number(value / size)}{letter} {unit}/s"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hive", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", nargs="*", help="beginnings of the names of rows (default: all)")
    parser.add_argument("--list", action="store_true", help="show the rows, their graphs and goals, and run nothing")
    parser.add_argument("--engine", choices=("auto", "cpu", "gpu"), default="auto")
    parser.add_argument("--placement", default="zerocopy,device", help=f"some of {', '.join(PLACEMENTS)}")
    parser.add_argument("--scale", type=int, help="of all made graphs, instead of each row's own")
    parser.add_argument("--everywhere", action="store_true", help="rows also in placements that have no goal")
    parser.add_argument("--trials", type=int, default=3, help="timed calls (3)")
    parser.add_argument("--copy-mib", type=int, default=1024, help="MiB that measure the copy rate (1024)")
    parser.add_argument("--out", type=Path, help="the result file (default: a new one in benchmarks/results)")
    options = parser.parse_args(arguments)
    if options.trials < 1:
        parser.error("--trials must be at least 1")
    options.placements = placements(parser, options.placement)
    asked = chosen(parser, options.rows)
    if options.list:
        lines = [
            [r.name, r.graph, ", ".join(f"{k}: {said(g.value, g.unit)}" for k, g in r.goals.items())] for r in asked
        ]
        print(table(["row", "graph", "goals"], lines, left=3))
        return 0
    if why_not := choose_engine(options):
        print(why_not)
        return 2
    assert options.used_engine == "gpu" or options.placements == [HOST]
    report = Report("hive", "ms", options.out)
    with gb.config.set(progress=False):
        run(asked, options, report)
    print(table(HEADER, map(printed, report.cases), left=3))
    report.end()
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
