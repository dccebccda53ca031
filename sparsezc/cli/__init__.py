"""The command line: ``sparsezc bfs GRAPH``, ``sparsezc info GRAPH``, ``sparsezc doctor`` and so on.

Every command is a module of this folder: ``add(commands)`` declares its arguments, and a function runs it and returns a
:class:`~sparsezc.cli.report.Report`. This module parses, runs, prints, and turns every outcome into an exit code: 0 for
an answer, 1 with one line on stderr if there is none, 2 for wrong usage, 130 after Ctrl-C. Modules that take long to
import (NumPy, GraphBLAS, CuPy) are imported by the command that needs them, after its arguments were parsed.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from sparsezc.cli import streams
from sparsezc.terminal.printable import one_line

if TYPE_CHECKING:
    from sparsezc.cli.report import Report

__all__ = ["main"]

_EPILOG = """\
GRAPH is a file (.txt, .mtx, .gr, .graph, .sg, .wsg, .bel, .npz, .parquet, .h5; text formats also with .gz) or the name
of a graph to generate: kron:SCALE[:EDGEFACTOR], urand:SCALE[:EDGEFACTOR], grid:ROWSxCOLS, path:N, star:N.
Exit codes: 0 done, 1 failed (one line on stderr gives the reason), 2 wrong usage, 130 interrupted."""


class _Parser(argparse.ArgumentParser):
    """argparse's parser, with messages that are safe to print and output that is checked to have been written."""

    def print_help(self, file: Any = None) -> None:
        with streams.output() as out:
            (file or out).write(self.format_help())

    def error(self, text: str) -> NoReturn:
        streams.say(f"{self.format_usage()}{self.prog}: error: {one_line(text)}\n")
        sys.exit(2)


#: The files of this folder that declare commands, and their commands.
_COMMANDS = {
    "algorithms": ("bfs", "sssp", "pagerank", "cc"),
    "apps": ("app",),
    "info": ("info",),
    "convert": ("convert",),
    "mpirun": ("mpirun",),
    "scale": ("scale",),
    "doctor": ("doctor",),
}


def parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of the whole command line; for a known `command` of this one's file, which alone is loaded."""
    top = _Parser(
        prog="sparsezc",
        description="Graph algorithms in GraphBLAS, on a CPU or a GPU, for graphs larger than the GPU.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for file in [file for file, names in _COMMANDS.items() if command in names] or _COMMANDS:
        import_module(f"sparsezc.cli.{file}").add(commands)  # here, so that `main` handles Ctrl-C while it loads
    for each in commands.choices.values():
        each.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
        each.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return top


class _Version(argparse.Action):
    """Look the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from sparsezc.cli.report import version

        with streams.output() as out:
            out.write(f"sparsezc {version()}\n")
        parser.exit()


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments without the program's name; by default those of the process.

    Returns
    -------
    int
        The exit code. Wrong usage raises SystemExit(2), as argparse does.

    Examples
    --------
    >>> from sparsezc.cli import main
    >>> main(["info", "star:4", "--json"])  # doctest: +ELLIPSIS
    {"command": "info", ...}
    0
    """
    streams.prepare()
    debug = False
    with warnings.catch_warnings(), _remembered() as interrupts:
        warnings.showwarning = _warn
        try:
            words = sys.argv[1:] if argv is None else argv
            arguments = parser(words[0] if words else None).parse_args(words)
            debug = arguments.debug
            report: Report = arguments.run(arguments)
            if report.aside:
                streams.say(report.text(sys.stderr, arguments.json))
            else:
                with streams.output() as out:
                    out.write(report.text(out, arguments.json))
        except BrokenPipeError:  # the reader (head, less) closed the pipe
            return 1
        except KeyboardInterrupt:
            if debug:
                raise
            return _interrupted()
        except Exception as error:
            if debug:
                raise
            if interrupts:
                return _interrupted()
            streams.say(f"sparsezc: {_one_line(error)}\n")
            return 1
    return report.code


@contextmanager
def _remembered() -> Iterator[list[int]]:
    """Collect interrupts: an import that one breaks off may report it as an error of its own."""
    met: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:
        met.append(number)
        signal.default_int_handler(number, frame)

    own = threading.current_thread() is threading.main_thread()
    if not own or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield met
        return
    signal.signal(signal.SIGINT, handle)
    try:
        yield met
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _interrupted() -> int:
    streams.say("\nsparsezc: interrupted\n")
    return 130


def _one_line(error: Exception) -> str:
    """Return an error as one line; errors that the package raises on purpose are not prefixed."""
    from sparsezc.errors import GraphblasException

    if isinstance(error, OSError) and error.filename is not None and not isinstance(error, GraphblasException):
        text = f"{error.filename}: {error.strerror}"
    else:
        text = str(error.args[0]) if len(error.args) == 1 else str(error)  # KeyError would put quotes around it
    text = one_line(text)
    if isinstance(error, GraphblasException | OSError) and text:
        return text
    if isinstance(error, MemoryError):
        return f"out of memory: {text or 'the graph does not fit'}"
    return f"unexpected {type(error).__name__}: {text} (--debug shows where)"


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    streams.say(f"sparsezc: warning: {one_line(str(message))}\n")
