"""Standard output and standard error: open or closed, full or broken, they never cause a traceback.

A process whose caller closed its standard output discards its report. A process that cannot write to it (the disk is
full) prints one line on standard error and ends with exit status 1; a process whose reader has closed the pipe ends
with 1 without a line. If standard error cannot be written, nothing is printed and the exit status stays the same.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sparsezc.exceptions import GraphblasException


class OutputRefused(GraphblasException, OSError):
    """The error for a standard output that cannot be written: the disk is full, or the output was closed."""


class InputClosed(GraphblasException, OSError):
    """The error for a standard input that the caller has closed."""


class _Closed(io.TextIOBase):
    """A stand-in for a stream that the caller has closed."""

    def write(self, text: str) -> int:
        return len(text)


def prepare() -> None:
    """Replace closed streams, and let standard output accept every character."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        while (spare := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass  # no file that is opened later becomes a library's standard stream
        os.close(spare)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, _Closed())
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.closed and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")  # as stderr does, for names with letters that ASCII lacks


def require_input() -> None:
    """Raise InputClosed if a graph is to be read from a closed standard input.

    Raises
    ------
    InputClosed
    """
    if sys.stdin is None:
        raise InputClosed("standard input is closed; - needs one that is open")


def require_output() -> None:
    """Raise OutputRefused if an answer is to be written to a closed standard output.

    Raises
    ------
    OutputRefused
    """
    if isinstance(sys.stdout, _Closed):
        raise OutputRefused("standard output is closed; --out - needs one that is open")


@contextmanager
def output() -> Iterator[Any]:
    """Yield standard output for writing; at the end everything has been written.

    Raises
    ------
    BrokenPipeError
        The reader has closed the pipe.
    OutputRefused
        Any other error occurred.
    """
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError:
        _drop(sys.stdout, sys.__stdout__)
        raise
    except (OSError, ValueError) as error:  # ValueError: a Python file object that is closed
        _drop(sys.stdout, sys.__stdout__)
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise OutputRefused(f"standard output cannot be written: {why}") from None


def say(text: str) -> None:
    """Write to standard error, if it can be written."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        _drop(sys.stderr, sys.__stderr__)


def _drop(stream: Any, own: Any) -> None:
    """Redirect a stream's remaining output to nothing, as Python would fail on it again at exit."""
    if stream is not own:  # the caller of `main` supplied the stream, and gets the error on closing it
        return
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
