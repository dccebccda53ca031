"""A time limit for calls, so that a row of the table leaves time for the rows after it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_AGAIN = 5.0  # seconds after which an exception that a destructor or a callback swallowed is raised again


class OutOfTime(BaseException):
    """The error that the limit has passed; no Exception, so that no called code handles it as its own error."""


@contextmanager
def limit(seconds: float | None) -> Iterator[None]:
    """Raise OutOfTime within the context once `seconds` have passed; None is no limit.

    A call into a library is not interrupted: the exception is raised when it returns.

    >>> with limit(0.01):
    ...     while True:
    ...         pass
    Traceback (most recent call last):
    ...
    benchmarks.hive.limit.OutOfTime
    """
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _raise)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3), _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _raise(_number: int, _frame: FrameType | None) -> None:
    raise OutOfTime
