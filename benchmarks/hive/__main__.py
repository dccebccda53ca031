"""The HIVE applications and their operations, beside the figures that they must reach and their peers.

``python -m benchmarks.hive --engine gpu --placement zerocopy,device`` runs every row; names choose some, in their order
(``python -m benchmarks.hive walks sampling``), ``--list`` shows all, ``--scale 14`` makes the graphs small. ``--limit``
and ``--budget`` end a row and the run. A run of all rows then counts the entries that 1 to 8 parts of a graph would
read and the bytes that they would exchange; ``--scaling`` does that alone. Each file of this folder has the rows of a
subject.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import sparsezc as gb
from benchmarks.harness.engine_choice import PLACEMENTS, choose_engine, placements
from benchmarks.harness.frame import Report, table, together
from benchmarks.hive.report import HEADER, listed, printed
from benchmarks.hive.row import HOST, Row
from benchmarks.hive.run import run
from benchmarks.hive.scaling import table as scaling

#: Files of this folder with a list ROWS.
FILES = ("walks", "sampling", "learning", "search", "communities", "places", "clusters", "flows", "lasso")
FILES += ("projections", "patterns", "matchings", "ratings")
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def rows() -> dict[str, Row]:
    """Return all rows by name."""
    found: dict[str, Row] = {}
    for name in FILES:
        for row in import_module(f"benchmarks.hive.{name}").ROWS:
            if row.name in found:
                raise ValueError(f"benchmarks/hive/{name}.py: the row {row.name!r} is in another file, too")
            found[row.name] = row
    return found


def chosen(parser: argparse.ArgumentParser, names: Sequence[str]) -> list[Row]:
    """Return the rows whose names are, or begin with, one of `names`, in that order; without names all rows."""
    known = rows()
    found: dict[str, Row] = {}
    for name in names:
        some = {each: known[each] for each in known if each == name} or {
            each: known[each] for each in known if each.startswith(name)
        }
        if not some:
            parser.error(f"{name!r} begins the name of no row; there are {', '.join(known)}")
        found |= {each: row for each, row in some.items() if each not in found}
    return list((found if names else known).values())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hive", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", nargs="*", help="names of rows, or beginnings of names (default: all)")
    parser.add_argument("--list", action="store_true", help="show the rows, their graphs and goals, and run nothing")
    parser.add_argument("--engine", choices=("auto", "cpu", "gpu"), default="auto")
    parser.add_argument("--placement", default="zerocopy,device", help=f"some of {', '.join(PLACEMENTS)}")
    parser.add_argument("--scale", type=int, help="of all generated graphs, instead of each row's own")
    parser.add_argument("--part", type=int, help="divide the sizes of made tables by this (1; 40 on a CPU)")
    parser.add_argument("--data", type=Path, default=DATA, help=f"the folder of the reference graphs ({DATA})")
    parser.add_argument("--everywhere", action="store_true", help="rows also in placements that have no goal")
    parser.add_argument("--trials", type=int, default=3, help="timed calls after the first (3)")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="end a row after so long, with what it has")
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="begin no row after so long")
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="run no other programs")
    parser.add_argument("--no-count", dest="count", action="store_false", help="do not count bytes and requests")
    parser.add_argument("--copy-mib", type=int, default=1024, help="MiB that measure the copy rate (1024)")
    parser.add_argument("--scaling", action="store_true", help="run no rows: count what 1 to 8 parts read and exchange")
    parser.add_argument("--out", type=Path, help="the result file (default: a new one in benchmarks/results)")
    parser.add_argument("--again", type=Path, nargs="+", metavar="RESULT", help="run nothing: print these result files "
                        "as one, written to the first or to --out")  # fmt: skip
    return parser


def main(arguments: list[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    for name, least in (("trials", 0), ("part", 1), ("limit", 0), ("budget", 0)):
        if (given := getattr(options, name)) is not None and given < least:
            parser.error(f"--{name} is {given:g}; at least {least} is needed")
    options.placements = placements(parser, options.placement)
    if options.again:
        report = together(options.again, options.out)
        return (scaling.end if report.benchmark == scaling.BENCHMARK else _end)(report)
    if options.scaling:
        return scaling.main(options)
    asked = chosen(parser, options.rows)
    if options.list:
        print(table(["row", "graph or input", "a call", "goals", "peers"], map(listed, asked), left=5))
        return 0
    if why_not := choose_engine(options):
        print(why_not)
        return 2
    assert options.used_engine == "gpu" or options.placements == [HOST]
    report = Report("hive", "ms", options.out)
    with gb.config.set(progress=False):
        run(asked, options, report)
    code = _end(report)
    if options.rows:
        return code
    options.out = report.path.with_stem(f"{report.path.stem}-scaling")
    return scaling.main(options) or code


def _end(report: Report) -> int:
    print(table(HEADER, map(printed, report.cases), left=3))
    report.end()
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
