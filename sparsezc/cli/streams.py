"""Standard output and standard error: open or closed, full or broken, they never cause a traceback.

A process whose standard output was closed by its caller prints its report to nothing. One that cannot write to it (the
disk is full) says so in one line and ends with exit status 1; one whose reader has closed the pipe ends so without a
line. Nothing can be said where standard error refuses: the exit status is what it would have been.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sparsezc.errors import GraphblasException


class OutputRefused(GraphblasException, OSError):
    """Standard output takes nothing: the disk is full, or the output was closed."""


class _Closed(io.TextIOBase):
    """A stand-in for a stream that the caller has closed."""

    def write(self, text: str) -> int:
        return len(text)


def prepare() -> None:
    """Put something in the place of closed streams, and let standard output take every character."""
    if None in (sys.stdout, sys.stderr):
        while (spare := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass  # no file that is opened from now on becomes a standard stream of libraries
        os.close(spare)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, _Closed())
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.closed and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")  # as stderr does: names have letters that ASCII has not


def require_output() -> None:
    """Refuse to begin what is to be written to a standard output that is closed.

    Raises
    ------
    OutputRefused
    """
    if isinstance(sys.stdout, _Closed):
        raise OutputRefused("standard output is closed; --out - needs one that is open")


@contextmanager
def output() -> Iterator[Any]:
    """Give standard output to write to; all of it has been taken at the end.

    Raises
    ------
    BrokenPipeError
        The reader has closed the pipe.
    OutputRefused
        Anything else went wrong.
    """
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError:
        _drop(sys.stdout, sys.__stdout__)
        raise
    except (OSError, ValueError) as error:  # ValueError: it is a Python file, and closed
        _drop(sys.stdout, sys.__stdout__)
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise OutputRefused(f"standard output cannot be written: {why}") from None


def say(text: str) -> None:
    """Write to standard error, if it takes anything."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        _drop(sys.stderr, sys.__stderr__)


def _drop(stream: Any, own: Any) -> None:
    """Send what a stream still holds to nothing, or Python would fail on it once more at the process's end."""
    if stream is not own:  # the caller of `main` put it there, and learns of it on closing
        return
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
