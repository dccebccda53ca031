"""Progress bars for work that takes longer than two seconds, on a terminal or if ``config.progress`` asks for them.

:func:`bar` counts work that comes in parts; :func:`working` stands for one call that cannot be counted, such as a sort,
and shows the time. The two seconds are those of the whole :func:`task`: reading a graph may read, sort and place in one
task. The setting is read once a task.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

from sparsezc.terminal.printable import printable

_PATIENCE = 2.0  # seconds before a bar appears
_REFRESH = 0.5  # seconds between two updates for work that is not counted
_clock = time.monotonic

#: The bar if none is wanted: calls of `bool` cost little and have no effect.
_NO_BAR = SimpleNamespace(update=bool, close=bool)


class _Task(NamedTuple):
    began: float
    wanted: bool


_current: ContextVar[_Task | None] = ContextVar("_current", default=None)


def _wanted() -> bool:
    """Return whether a bar may be shown: ``config.progress`` if it is set, else only on a terminal."""
    from sparsezc.config import config

    choice = config.progress
    return choice if isinstance(choice, bool) else sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def task() -> Iterator[None]:
    """Count the seconds of the tasks inside together; a nested task is a part of the outer one."""
    if _current.get() is not None:
        yield
        return
    token = _current.set(_Task(_clock(), _wanted()))
    try:
        yield
    finally:
        _current.reset(token)


def bar(total: int, label: str, unit: str = "B") -> Any:
    """Return a bar; ``update(amount)`` moves it towards `total` and ``close()`` removes it.

    It appears on stderr once two seconds have passed with work left.

    >>> counted = bar(10, "reading"); _ = counted.update(4); _ = counted.close()
    """
    now = _current.get()
    if not (_wanted() if now is None else now.wanted):
        return _NO_BAR
    return _bar(label, total=total, unit=unit, unit_scale=True)


def working(label: str) -> AbstractContextManager[Callable[[str], Any]]:
    """Show the current step, and its time, during work that cannot be counted.

    The context manager's value is a function that names the next step.

    >>> with working("sorting") as say:
    ...     found = sorted([2, 1]); _ = say("merging")
    """
    now = _current.get()
    return _working(label) if (_wanted() if now is None else now.wanted) else nullcontext(bool)


@contextmanager
def _working(label: str) -> Iterator[Callable[[str], Any]]:
    done, shown = threading.Event(), _bar(label, bar_format="{desc}: {elapsed}")

    def look() -> None:
        while not done.wait(_REFRESH):
            shown.update(0)

    def say(label: str) -> None:
        shown.set_description_str(printable(label), refresh=False)
        shown.update(0)

    thread = threading.Thread(target=look, name="sparsezc-progress", daemon=True)
    thread.start()
    try:
        yield say
    finally:
        done.set()
        thread.join()
        shown.close()


def _bar(label: str, **more: Any) -> Any:
    """Return a bar that appears once the task has taken two seconds."""
    now, current = _clock(), _current.get()
    began = now if current is None else current.began
    return _bar_type()(
        desc=printable(label), leave=False, file=sys.stderr, delay=_PATIENCE - (now - began), miniters=0, **more
    )


@cache
def _bar_type() -> Any:
    """Return the class of bars, whose import takes some hundredths of a second."""
    from tqdm import tqdm  # type: ignore[import-untyped]

    class Bar(tqdm):  # type: ignore[misc]
        monitor_interval = 0  # no thread of tqdm's own: with `miniters` 0 it has nothing to adapt

        def update(self, n: float = 1) -> bool | None:
            hidden = self.last_print_t < self.start_t + self.delay
            if hidden and self.total is not None and self.n + n >= self.total:
                self.n += n  # finished work needs no bar
                return None
            return super().update(n)  # type: ignore[no-any-return]

    return Bar
