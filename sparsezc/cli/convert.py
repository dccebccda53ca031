"""``sparsezc convert``: from one file format to another."""

from __future__ import annotations

import argparse
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparsezc.cli import graph
from sparsezc.cli.answers.report import Report, counted, seconds, size

if TYPE_CHECKING:
    from sparsezc.io._options import ReadOptions


def add(commands: Any) -> None:
    """Declare the command."""
    text = "read a graph in one format and write it in another"
    command = commands.add_parser("convert", help=text, description=f"{text.capitalize()}; the names say which.")
    graph.add_graph(command, weights="values of the edges (those of the file)")
    command.add_argument(
        "--memory",
        type=graph.nbytes,
        metavar="SIZE",
        help="sort on disk and take no more memory than this, such as 2GB; for .h5 targets",
    )
    command.add_argument(
        "target", metavar="TARGET", help="the file to write; whole, or not at all; an old one is replaced"
    )
    command.add_argument("--force", action="store_true", help="allow the target to be GRAPH itself")
    command.add_argument("--compress", action="store_true", help="for .h5: ids bit-packed, as kernels can read them")
    command.set_defaults(run=convert)


def convert(arguments: argparse.Namespace) -> Report:
    """Read a graph on the host, write it to the target, and report sizes and times."""
    from sparsezc.exceptions import InvalidValue
    from sparsezc.io._read import mappable_file
    from sparsezc.io._write import check_target, write_files

    target = Path(arguments.target)
    kind, _ = check_target(target, compress=arguments.compress)
    arguments = graph.changed(arguments, engine="cpu", placement="auto")
    graph.configure(arguments)
    options = graph.read_options(arguments)
    if not arguments.force and _is_same(Path(arguments.graph), target):
        raise InvalidValue(f"the target {target} is the graph itself; give another name, or --force to replace it")
    if arguments.memory is not None:
        return _bounded(arguments, options)
    found = graph.load(graph.changed(arguments, check=mappable_file(arguments.graph, options.kind) is not None))
    start = time.perf_counter()
    files = write_files(found.csr, target, compress=arguments.compress, vertices=found.ids)
    elapsed = time.perf_counter() - start
    written = sum(file.stat().st_size for file in files)
    report = Report(
        {
            "command": "convert",
            "graph": {key: value for key, value in found.facts.items() if key != "placement"},
            "target": arguments.target,
            "bytes": written,
            "time": {"load": found.load, "write": elapsed},
        },
        [("graph", found.line()), ("written", f"{arguments.target} ({size(written)})")],
        closing=[("load", seconds(found.load)), ("write", seconds(elapsed))],
    )
    _add_merged(report, found.csr.merged, options)
    if found.ids is not None and kind != "binsparse":
        report.facts.append(("vertices", "numbered anew; a .h5 file would keep the ids of GRAPH"))
    return _with_bits(report, arguments)


def _add_merged(report: Report, merged: int, options: ReadOptions) -> None:
    """Add to the report how many entries of a file were merged into others; nothing for generated graphs."""
    if options.kind is None:
        return
    report.data["merged"] = merged
    if merged:
        weighted = options.weights.kind == "file" and report.data["graph"]["dtype"] != "BOOL"
        how = ", both directions counted" if options.both or report.data["graph"]["symmetric"] else ""
        how += f" (--dup-op {'plus' if options.adds_duplicates else options.merge})" if weighted else ""
        report.facts.append(("merged", counted(merged, "repeated edge", "repeated edges") + how))


def _is_same(source: Path, target: Path) -> bool:
    """Return whether both name one graph; an EMOGI graph is named by any of its files, and by their common name."""
    if source.is_file() and target.is_file():
        return source.samefile(target)
    names = {re.sub(r"(\.bel)\.\w+$", r"\1", os.path.realpath(path), flags=re.IGNORECASE) for path in (source, target)}
    return len(names) == 1


def _with_bits(report: Report, arguments: argparse.Namespace) -> Report:
    """Return the report; for a file with compressed ids, with its bits per id added."""
    from sparsezc.io.hdf5 import csr_file

    found = csr_file.find(Path(arguments.target)) if arguments.compress else None
    bits = 0.0 if found is None else csr_file.bits(found)
    if bits:
        report.data["bits_per_id"] = bits
        gain = f"{32 / bits:.2f} times smaller" if bits <= 32 else f"{bits / 32:.2f} times larger"
        report.facts.append(("ids", f"{bits:.2f} bits each, {gain} than 4 bytes"))
    return report


def _bounded(arguments: argparse.Namespace, options: ReadOptions) -> Report:
    """Convert on disk: sorting takes most of the time, so reading and writing are reported as one time."""
    from sparsezc.io import _convert

    start = time.perf_counter()
    made = _convert.convert(
        arguments.graph, arguments.target, arguments.memory, options, compress=arguments.compress
    )  # fmt: skip
    elapsed = time.perf_counter() - start
    written = Path(arguments.target).stat().st_size
    facts = {
        "name": arguments.graph, "vertices": made.nrows, "edges": made.nvals, "symmetric": made.symmetric,
        "dtype": made.dtype.name, "relabelled": arguments.relabel,
    }  # fmt: skip
    line = graph.line(arguments.graph, made.nrows, made.ncols, made.nvals, made.symmetric, arguments.relabel)
    report = Report(
        {
            "command": "convert",
            "graph": facts,
            "target": arguments.target,
            "bytes": written,
            "time": {"write": elapsed},
        },
        [("graph", line), ("written", f"{arguments.target} ({size(written)})")],
        closing=[("convert", seconds(elapsed))],
    )
    _add_merged(report, made.merged, options)
    return _with_bits(report, arguments)
