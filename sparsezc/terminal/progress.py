"""A progress bar for what takes longer than two seconds, on a terminal or where ``config.progress`` asks for one.

:class:`Progress` counts work that comes in parts; :func:`working` stands for one call that cannot be counted, such as a
sort, and shows the time. The two seconds are those of the whole :func:`task`: reading a graph may take one to read, one
to sort and one to place.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from sparsezc.terminal.printable import printable

_PATIENCE = 2.0  # seconds before a bar appears
_REFRESH = 0.5  # seconds between two looks at work that is not counted
_began: ContextVar[float | None] = ContextVar("_began", default=None)
_clock = time.monotonic


def wanted() -> bool:
    """Whether a bar may be shown: ``config.progress`` if it is set, else only on a terminal."""
    from sparsezc.config import config

    choice = config.progress
    return choice if isinstance(choice, bool) else sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def task() -> Iterator[None]:
    """The seconds of what happens inside count together; a task inside another is a part of it."""
    if _began.get() is not None:
        yield
        return
    token = _began.set(_clock())
    try:
        yield
    finally:
        _began.reset(token)


def _patience() -> float:
    """Seconds until a bar may appear, if the work begins now."""
    began = _began.get()
    now = _clock()
    return _PATIENCE - (now - began if began is not None else 0.0)


def _bar(label: str, **more: Any) -> Any:
    from tqdm import tqdm  # type: ignore[import-untyped]

    return tqdm(desc=printable(label), leave=False, file=sys.stderr, **more)


class Progress:
    """Counts up to `total`; a bar on stderr appears once two seconds have passed with work left.

    >>> progress = Progress(10, "reading"); progress.advance(4); progress.close()
    """

    def __init__(self, total: int, label: str, unit: str = "B") -> None:
        self._total, self._label, self._unit = total, label, unit
        self._done = 0
        self._due = _clock() + _patience()
        self._bar: Any = None
        self._silent = False

    def advance(self, amount: int) -> None:
        """Count `amount` more."""
        self._done += amount
        if self._bar is not None:
            self._bar.update(amount)
        elif not self._silent and _clock() > self._due and self._done < self._total:
            if wanted():
                self._bar = _bar(
                    self._label, total=self._total, initial=self._done, unit=self._unit, unit_scale=True
                )  # fmt: skip
            else:
                self._silent = True

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        self._silent = True


@contextmanager
def working(label: str) -> Iterator[None]:
    """Say what goes on, and for how long, while something runs that cannot be counted.

    >>> with working("sorting"):
    ...     sorted([2, 1])
    [1, 2]
    """
    if not wanted():
        yield
        return
    patience, done = _patience(), threading.Event()
    shown = [_waiting(label)] if patience < 0 else []

    def look() -> None:
        if not shown:
            if done.wait(patience):
                return
            shown.append(_waiting(label))
        while not done.wait(_REFRESH):
            shown[0].refresh()

    thread = threading.Thread(target=look, name="sparsezc-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        for bar in shown:
            bar.close()


def _waiting(label: str) -> Any:
    return _bar(label, bar_format="{desc}: {elapsed}")
