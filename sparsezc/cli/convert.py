"""``sparsezc convert``: from one file format to another."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from sparsezc.cli import graph
from sparsezc.cli.report import Report, seconds, size


def add(commands: Any) -> None:
    """Declare the command."""
    text = "read a graph in one format and write it in another"
    command = commands.add_parser("convert", help=text, description=f"{text.capitalize()}; the names say which.")
    graph.add_graph(command, weights="values of the edges (those of the file)")
    command.add_argument("target", metavar="TARGET", help="the file to write; whole, or not at all")
    command.set_defaults(run=convert)


def convert(arguments: argparse.Namespace) -> Report:
    """Read on the host, write, and say how much it was."""
    from sparsezc.io.reader import format_of
    from sparsezc.io.writer import write_files

    target = Path(arguments.target)
    format_of(target, exists=False)  # a bad name is told before the work
    arguments.engine = "cpu"
    arguments.placement = "auto"
    graph.configure(arguments)
    found = graph.load(arguments)
    start = time.perf_counter()
    files = write_files(found.csr, target)
    elapsed = time.perf_counter() - start
    written = sum(file.stat().st_size for file in files)
    facts = {key: value for key, value in found.facts.items() if key != "placement"}
    return Report(
        {
            "command": "convert",
            "graph": facts,
            "target": arguments.target,
            "bytes": written,
            "time": {"load": found.load, "write": elapsed},
        },
        [("graph", found.line()), ("written", f"{arguments.target} ({size(written)})")],
        closing=[("load", seconds(found.load)), ("write", seconds(elapsed))],
    )
