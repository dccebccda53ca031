"""The command line: ``sparsezc bfs GRAPH``, ``sparsezc info GRAPH``, ``sparsezc doctor`` and so on.

Every command stands in a module of this room: ``add(commands)`` declares its arguments, and a function runs it and
returns a :class:`~sparsezc.cli.report.Report`. This module parses, runs, prints, and turns every outcome into an exit
code: 0 for an answer, 1 with one line on stderr where there is none, 2 for wrong usage, 130 after Ctrl-C.
Whatever takes long to import (NumPy, GraphBLAS, CuPy) is imported by the command that needs it, after its arguments
were understood.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from sparsezc.cli.report import Report

__all__ = ["main"]

_EPILOG = """\
GRAPH is a file (.txt, .mtx, .gr, .graph, .sg, .wsg, .bel, .npz, .parquet, .h5; text formats also with .gz) or the name
of a graph to make: kron:SCALE[:EDGEFACTOR], urand:SCALE[:EDGEFACTOR], grid:ROWSxCOLS, path:N, star:N.
Exit codes: 0 done, 1 failed (one line on stderr says why), 2 wrong usage, 130 interrupted."""


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    from sparsezc.cli import algorithms, convert, doctor, info  # here, so that Ctrl-C meets `main` while they load

    top = argparse.ArgumentParser(
        prog="sparsezc",
        description="Graph algorithms in GraphBLAS, on a CPU or a GPU, for graphs larger than the GPU.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in (algorithms, info, convert, doctor):
        module.add(commands)
    for command in commands.choices.values():
        command.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
        command.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return top


class _Version(argparse.Action):
    """Look the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from sparsezc.cli.report import version

        sys.stdout.write(f"sparsezc {version()}\n")
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
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever called: nobody wants to read it
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")  # as stderr does: names have letters that ASCII has not
    try:
        arguments = parser().parse_args(argv)
    except KeyboardInterrupt:
        return _interrupted()
    with warnings.catch_warnings():
        warnings.showwarning = _warn
        try:
            report: Report = arguments.run(arguments)
            report.show(sys.stdout, arguments.json)
            sys.stdout.flush()
        except BrokenPipeError:  # the reader (head, less) has had enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        except KeyboardInterrupt:
            if arguments.debug:
                raise
            return _interrupted()
        except Exception as error:
            if arguments.debug:
                raise
            sys.stderr.write(f"sparsezc: {_one_line(error)}\n")
            return 1
    return report.code


def _interrupted() -> int:
    sys.stderr.write("\nsparsezc: interrupted\n")
    return 130


def _one_line(error: Exception) -> str:
    """An error as one line. Those that the package raises on purpose speak for themselves."""
    from sparsezc.errors import GraphblasException

    if isinstance(error, OSError) and error.filename is not None and not isinstance(error, GraphblasException):
        text = f"{error.filename}: {error.strerror}"
    else:
        text = str(error.args[0]) if len(error.args) == 1 else str(error)  # KeyError would put quotes around it
    text = " ".join(text.split())
    if isinstance(error, GraphblasException | OSError) and text:
        return text
    if isinstance(error, MemoryError):
        return f"out of memory: {text or 'the graph does not fit'}"
    return f"unexpected {type(error).__name__}: {text} (--debug shows where)"


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    sys.stderr.write(f"sparsezc: warning: {message}\n")
