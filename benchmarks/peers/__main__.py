"""A run of benchmarks.gap beside the logs of peers' programs on the same graph and machine.

``python -m benchmarks.peers results/gap.json cugraph=cugraph.log blest=blest.log ecl-cc=ecl.log --graph kron:24``
only reads files and needs no GPU. The exit code is 1 if a peer failed or its answer was wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.harness import publish
from benchmarks.harness.frame import table
from benchmarks.harness.summary import summary
from benchmarks.peers.logs import READERS, Times, read
from benchmarks.suites.gap_kernels import KERNELS

HEADER = ("kernel", "sparsezc ms", "peer", "peer ms", "of the peer's time", "ok")
#: Kernels whose call has several sources, each of which peers time by itself.
_EACH = ("bc",)


class Log(NamedTuple):
    peer: str
    path: Path


def log_of(given: str) -> Log:
    """Return the log that an argument ``PEER=FILE`` names.

    >>> log_of("ecl-cc=out.txt").peer
    'ecl-cc'
    """
    peer, mark, path = given.partition("=")
    if not mark or peer not in READERS:
        raise argparse.ArgumentTypeError(f"{given!r}: PEER=FILE is needed, with PEER one of {', '.join(READERS)}")
    return Log(peer, Path(path))


def ours(found: dict[str, Any], graph: str | None, placement: str) -> dict[str, list[float]]:
    """Return the least, median and most milliseconds of each kernel, for one graph in one placement.

    Raises
    ------
    ValueError
        The run has no such case, or several graphs and none is chosen.
    """
    cases = [c for c in found["cases"] if c["setting"].get("placement") == placement and "median" in c["derived"]]
    graphs = sorted({c["setting"]["graph"] for c in cases})
    if graph is None and len(graphs) == 1:
        (graph,) = graphs
    if graph not in graphs:
        some = ", ".join(graphs)
        raise ValueError(f"--graph is {graph}; one of those with --placement {placement} is needed: {some}")
    made = {}
    for case in cases:
        if case["setting"]["graph"] == graph:
            each = KERNELS[case["name"]].sources if case["name"] in _EACH else 1
            made[case["name"]] = [1e3 * case["derived"][name] / each for name in ("min", "median", "max")]
    return made


def rows(mine: dict[str, list[float]], theirs: Sequence[Times]) -> list[tuple[str, ...]]:
    """Return a row for each kernel and program, in the order of the logs."""
    made: list[tuple[str, ...]] = []
    for times in theirs:
        known = mine.get(times.kernel)
        peer = summary(times.milliseconds) if times.milliseconds else None
        made.append(
            (
                times.kernel,
                "-" if known is None else _spread(known),
                times.program,
                "-" if peer is None else _spread(peer),
                "-" if known is None or peer is None else f"{known[1] / peer.median:.2f}",
                times.failed or "yes",
            )
        )
    return made


def _spread(numbers: Sequence[float]) -> str:
    """Return the median of three numbers, and the other two in brackets.

    >>> _spread([1.0, 2.345, 30.0])
    '2.35 (1 to 30)'
    """
    least, median, most = numbers
    return f"{median:.3g} ({least:.3g} to {most:.3g})"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("result", type=Path, help="a result of benchmarks.gap, or a published one")
    parser.add_argument("logs", nargs="+", type=log_of, metavar="PEER=FILE", help="the log of a peer")
    parser.add_argument("--graph", help="of the result; needed if it has several")
    parser.add_argument("--placement", default="device", help="of the result (default: device)")
    options = parser.parse_args(arguments)
    try:
        mine = ours(publish.content(options.result), options.graph, options.placement)
        theirs = [times for log in options.logs for times in read(log.peer, log.path)]
    except (OSError, ValueError, KeyError) as error:
        parser.error(str(error))
    print(table(HEADER, rows(mine, theirs)))
    return int(any(times.failed for times in theirs))


if __name__ == "__main__":
    sys.exit(main())
