"""Every placement at budgets smaller than the graph: times, and bytes moved per byte of edges.

``python -m benchmarks.out_of_memory kron:24 urand:24 --budgets 5,25,50,100``. A budget of 25 is device memory for the
vectors and for a quarter of the edges (ids and weights). The tables are like 4 and 5 of Ascetic (Tang et al., ICPP
2021, doi:10.1145/3472456.3472457). Placements that copy follow published systems: ``stream`` (partitions), ``gather``
(Subway), ``ascetic`` (``cached`` as it was published: entries that are not resident are gathered), ``uvm``;
``zerocopy`` reads as EMOGI does, and ``hybrid`` is the placement that ``auto`` takes beyond the budget.

``hybrid`` and ``zerocopy`` keep row heads, too, as a part of the budget, from the first search on. Each case begins
with empty caches: `cold` is its first call; if a placement keeps data on the card, `--warm` seconds of calls precede
the timed ones. A case in which a kernel was compiled is run again. One more call counts the bytes that it moves
(gb.stats). The placements take turns, `--rounds` times, so that slower minutes of the machine affect all of them. uvm
is not counted; it obeys no budget, so it is measured once, with the largest, and takes no graph beyond the card's free
memory. Run small graphs first, so that large ones find compiled kernels.
"""

from __future__ import annotations

import argparse
import sys

import sparsezc as gb
from benchmarks.harness.frame import SEED, Report, add_again, check_again, together
from benchmarks.out_of_memory.cases import run
from benchmarks.out_of_memory.plot import page
from benchmarks.out_of_memory.summary import PLACEMENTS, tables
from benchmarks.suites.gap_kernels import selected
from sparsezc.device import cuda


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.out_of_memory", description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="*", help="kron:SCALE, urand:SCALE, ... or files, as gb.io.read takes them")
    parser.add_argument("--budgets", default="5,25,50,75,100", help="percent of the edges' bytes (5,25,50,75,100)")
    parser.add_argument("--placements", default=",".join(PLACEMENTS), help=f"among {', '.join(PLACEMENTS)}")
    parser.add_argument("--kernels", default="bfs,sssp,cc,pagerank", help="of benchmarks.gap (bfs,sssp,cc,pagerank)")
    parser.add_argument("--rounds", type=int, default=3, help="turns that each placement gets (3)")
    parser.add_argument("--warm", type=float, default=1.0, help="seconds of calls of a turn that are not timed (1)")
    parser.add_argument("--trials", type=int, default=5, help="timed calls of a turn for each source (5)")
    parser.add_argument("--seconds", type=float, default=2.0, help="of a turn, after which a source gets no more (2)")
    parser.add_argument("--most-seconds", type=float, default=3600.0, help="after which no case begins (3600)")
    parser.add_argument("--sources", type=int, default=2, help="of bfs and sssp (2)")
    parser.add_argument("--iterations", type=int, default=5, help="of pagerank (5)")
    parser.add_argument("--weights", default="hash:8-72", help="edge lengths (hash:8-72)")
    parser.add_argument("--verify", choices=("first", "none"), default="first", help="the calls that are judged")
    parser.add_argument("--seed", type=int, default=SEED, help="of the sources")
    parser.add_argument("--copy-mib", type=int, default=1024, help="MiB that the copy rate is measured with")
    add_again(parser)
    options = parser.parse_args(arguments)
    options.placements = options.placements.split(",")
    check_again(parser, options)
    if unknown := set(options.placements) - set(PLACEMENTS):
        parser.error(f"--placements: {sorted(unknown)[0]!r} is none of {', '.join(PLACEMENTS)}")
    try:
        options.kernels = selected(options.kernels)
        options.budgets = [float(text) for text in options.budgets.split(",")]
    except ValueError as error:
        parser.error(str(error))
    counts = options.rounds, options.trials, options.sources, options.iterations
    if min(options.budgets) <= 0 or min(counts) < 1 or options.warm < 0:
        parser.error("--budgets must be above 0; --rounds, --trials, --sources and --iterations at least 1, --warm 0")
    return options


def show(report: Report) -> None:
    print(tables(report.cases))
    report.end(page(report))


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    if options.again:
        show(together(options.again, options.out))
        return 0
    if why := cuda.reason():
        print(f"this compares placements of the GPU engine: {why}")
        return 2
    report = Report("out_of_memory", "ms", options.out)
    with gb.config.set(engine="gpu", progress=False):
        run(options, report)
    show(report)
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
