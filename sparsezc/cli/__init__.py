"""The command line: ``sparsezc bfs GRAPH``, ``sparsezc info GRAPH``, ``sparsezc doctor`` and so on.

Every command is a module of this folder: ``add(commands)`` declares its arguments, and a function runs it and returns a
:class:`~sparsezc.cli.answers.report.Report`. This module parses, runs, prints, and turns every outcome into an exit
code: 0 for an answer, 1 with one line on stderr if there is none, 2 for wrong usage, 130 after Ctrl-C. Modules that
take long to import (NumPy, GraphBLAS, CuPy) are imported by the command that needs them, after its arguments were
parsed.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib import import_module
from itertools import chain
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from sparsezc.exceptions import meant
from sparsezc.terminal import streams
from sparsezc.terminal.printable import one_line

if TYPE_CHECKING:
    from sparsezc.cli.answers.report import Report

__all__ = ["main"]

_EPILOG = """\
GRAPH is a file (.txt, .csv, .mtx, .gr, .graph, .sg, .wsg, .bel, .npz, .parquet, .feather, .h5; text formats also with
.gz, .bz2, .xz, .zst), a folder of Parquet files, - for standard input, or the name of a graph to generate:
kron:SCALE[:EDGEFACTOR], urand:SCALE[:EDGEFACTOR], grid:ROWSxCOLS, path:N, star:N.
Exit codes: 0 done, 1 failed (one line on stderr gives the reason), 2 wrong usage, 130 interrupted."""


class _Parser(argparse.ArgumentParser):
    """An argparse parser whose messages are safe to print, and whose output is checked for write errors."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(
            *args, **{"allow_abbrev": False} | more
        )  # else --source would mean --source-col in commands without it

    def print_help(self, file: Any = None) -> None:
        with streams.output() as out:
            (file or out).write(self.format_help())

    def error(self, text: str) -> NoReturn:
        usage = self.format_usage()
        if usage.count("\n") > _SHORT:  # a longer usage hides the error below it
            usage = f"usage: {self.prog} [-h] ...\n"
        streams.say(f"{usage}{self.prog}: error: {one_line(text)}\n")
        sys.exit(2)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; a command's parser refuses an unknown option and names the nearest known one."""
        found, rest = super().parse_known_args(args, namespace)
        if rest and self._subparsers is None:
            unknown = next((word for word in rest if word.startswith("-")), rest[0])
            nearest = meant(unknown.partition("=")[0], self._option_string_actions) if unknown[:1] == "-" else ""
            self.error(f"unrecognized arguments: {' '.join(rest)}{nearest}")
        return found, rest

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is no choice, naming the nearest choice, and all choices if they are few."""
        if action.choices is None or value in action.choices:
            return
        known = [str(each) for each in action.choices]
        nearest = meant(str(value), known)
        listed = f" (choose from {', '.join(map(repr, known))})" if len(known) <= _LISTED else ""
        listed = listed or ("" if nearest else f"; {self.prog} --list prints all names")
        raise argparse.ArgumentError(action, f"invalid choice: {value!r}{nearest}{listed}")


_ALL = "completion"  # the command that needs the parsers of all others
_BY_NAME = ("run", "app")  # both names of the command that runs an algorithm or application by name
_SHORT = 4  # most lines of usage that an error prints above its text
_LISTED = 20  # choices that a message lists at most

#: The files of this folder that declare commands, and their commands.
_COMMANDS = {
    "run": ("run", "app", "bfs", "sssp", "pagerank", "cc"),
    "info": ("info",),
    "plan": ("plan",),
    "convert": ("convert",),
    "mpirun": ("mpirun",),
    "scale": ("scale",),
    "bench": ("bench",),
    "doctor": ("doctor",),
    "completion": ("completion",),
}


def parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return the parser of the command that the first words name, else that of the whole command line."""
    top = _Parser(
        prog="sparsezc",
        description="Graph algorithms in GraphBLAS, on a CPU or a GPU, for graphs larger than the GPU.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    first = words[0] if words and words[0] in chain(*_COMMANDS.values()) and words[0] != _ALL else None
    for file in [file for file, names in _COMMANDS.items() if first in names] or _COMMANDS:
        module = import_module(f"sparsezc.cli.{file}")  # imported here, so that `main` handles Ctrl-C during the import
        if file == "run":
            by_name = first in _BY_NAME
            module.add(commands, next(iter(words[1:]), None) if by_name else first, first if by_name else "run")
        else:
            module.add(commands)
    for each in _leaves(commands):
        how = each.add_mutually_exclusive_group()
        how.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
        how.add_argument("--quiet", action="store_true", help="print errors alone: no report, warnings or progress")
        each.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return top


def _leaves(commands: Any) -> Iterator[argparse.ArgumentParser]:
    """Yield the parsers of commands; of a command that takes a name (``run``), the parsers of its names."""
    for each in dict.fromkeys(commands.choices.values()):
        inner = [action for action in each._actions if isinstance(action, argparse._SubParsersAction)]
        yield from _leaves(inner[0]) if inner else [each]


class _Version(argparse.Action):
    """An action that prints the version, which is looked up only on request."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from sparsezc.cli.answers.report import version

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
            words = list(sys.argv[1:] if argv is None else argv)
            words[1:2] = [word.replace("_", "-") for word in words[1:2] if words[0] in _BY_NAME] or words[1:2]
            arguments = parser(words).parse_args(words)
            debug = arguments.debug
            with _silence() if arguments.quiet else nullcontext():
                report: Report = arguments.run(arguments)
            if arguments.quiet:
                pass
            elif report.aside:
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
def _silence() -> Iterator[None]:
    """Show neither warnings nor progress."""
    from sparsezc.config import config

    with warnings.catch_warnings(), config.set(progress=False):
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _remembered() -> Iterator[list[int]]:
    """Collect interrupts, as an import that an interrupt breaks off may raise another error in its place."""
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
    from sparsezc.exceptions import GraphblasException

    if isinstance(error, OSError) and error.filename is not None and not isinstance(error, GraphblasException):
        text = f"{error.filename}: {error.strerror}"
    else:
        text = str(error.args[0]) if len(error.args) == 1 else str(error)  # str() of a KeyError adds quotes
    text = one_line(text)
    if isinstance(error, GraphblasException | OSError) and text:
        return text
    if isinstance(error, MemoryError):
        return f"out of memory: {text or 'the graph does not fit'}"
    return f"unexpected {type(error).__name__}: {text} (--debug shows where)"


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    streams.say(f"sparsezc: warning: {one_line(str(message))}\n")
