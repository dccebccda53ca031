"""Progress bars for work that takes longer than two seconds, on a terminal or if ``config.progress`` asks for them.

:func:`bar` counts work that comes in parts; :func:`working` stands for one call that cannot be counted, such as a sort,
and shows the time. The two seconds are those of the whole :func:`task`: reading a graph may read, sort and place in one
task. The setting is read once a task.

:func:`watching` shows a call whose loops count their own steps: they hand what they run through to :func:`steps`, which
returns it unchanged unless the call is watched.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar

from sparsezc.terminal.printable import printable

_PATIENCE = 2.0  # seconds before a bar appears
_COLUMNS, _ROWS = 80, 20  # of a terminal that does not say
_REFRESH = 0.5  # seconds between two updates for work that is not counted
_clock = time.monotonic
T = TypeVar("T")

#: The bar if none is wanted: calls of `bool` cost little and have no effect.
_NO_BAR = SimpleNamespace(update=bool, close=bool)


class _Task(NamedTuple):
    began: float
    wanted: bool


_current: ContextVar[_Task | None] = ContextVar("_current", default=None)
_watch: ContextVar[_Watch | None] = ContextVar("_watch", default=None)


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
    shown = _bar(label, bar_format="{desc}: {elapsed}")

    def say(label: str) -> None:
        shown.set_description_str(printable(label), refresh=False)
        shown.update(0)

    with _refreshed(shown, lambda: shown.update(0)):
        yield say


@contextmanager
def _refreshed(shown: Any, refresh: Callable[[], Any]) -> Iterator[None]:
    """Have a thread refresh a bar, which is closed at the end."""
    done = threading.Event()

    def look() -> None:
        while not done.wait(_REFRESH):
            refresh()

    thread = threading.Thread(target=look, name="sparsezc-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        shown.close()


def watching(label: str) -> AbstractContextManager[Any]:
    """Show the time of a call and, while one of its loops counts them, its steps, their rate and the time left.

    >>> with watching("search"):
    ...     found = [depth for depth in steps(range(3), "rounds")]
    """
    now = _current.get()
    return _watching(label) if (_wanted() if now is None else now.wanted) else nullcontext()


@contextmanager
def _watching(label: str) -> Iterator[None]:
    watch, shown = _Watch(label), _bar(label, bar_format="{desc}")

    def refresh() -> None:
        shown.set_description_str(printable(watch.text())[: shown.ncols], refresh=False)
        shown.update(0)

    token = _watch.set(watch)
    try:
        with _refreshed(shown, refresh):
            yield
    finally:
        _watch.reset(token)


def steps(
    items: Iterable[T], unit: str, *, total: int | None = None, size: Callable[[T], int] | None = None,
    at_most: bool = False,
) -> Iterable[T]:  # fmt: skip
    """Return `items`; a call that is watched counts them as they are used up.

    Parameters
    ----------
    unit : str
        What is counted, in the plural.
    total : int, optional
        How many there are; by default the number of items, if it is known.
    size : callable, optional
        How many an item stands for; by default one.
    at_most : bool
        The loop may end before the total.
    """
    watch = _watch.get()
    if watch is None or watch.loop is not None:  # the outermost loop counts
        return items
    known = _length(items) if total is None else total
    return watch.counted(items, _Loop(unit, known, at_most, _clock()), size)


def _length(items: Any) -> int | None:
    """Return the number of items, if it is known; that of a long range fits no C integer."""
    if isinstance(items, range):
        return max(0, -(-(items.stop - items.start) // items.step))
    return len(items) if isinstance(items, Sized) else None


class _Loop:
    """A loop that counts: `done` of the total, which may not be known."""

    def __init__(self, unit: str, total: int | None, at_most: bool, began: float) -> None:
        self.unit, self.total, self.at_most, self.began, self.done = unit, total, at_most, began, 0

    def text(self, now: float) -> str:
        """Return the count, the rate and the time left, as far as they are known."""
        end = "" if self.total is None else f" of {'at most ' * self.at_most}{self.total:,}"
        found = f"{self.done:,}{end} {self.unit}"
        took = now - self.began
        if not self.done or took <= 0:
            return found
        rate = self.done / took
        found += f", {rate:.3g} a second" if rate >= 1 else f", {1 / rate:.3g} s each"
        left = "" if self.total is None else f", {_interval((self.total - self.done) / rate)} left"
        return found + left


class _Watch:
    """A call that is shown: its label, its start, and the loop that counts."""

    def __init__(self, label: str) -> None:
        self._label, self._began = label, _clock()
        self.loop: _Loop | None = None

    def counted(self, items: Iterable[T], loop: _Loop, size: Callable[[T], int] | None) -> Iterator[T]:
        """Yield items; each is done when the next one is asked for."""
        if self.loop is not None:
            yield from items
            return
        self.loop = loop
        try:
            for item in items:
                yield item
                done = loop.done + (1 if size is None else size(item))
                loop.done = done if loop.total is None else min(done, loop.total)
        finally:
            self.loop = None

    def text(self) -> str:
        """Return the line; another thread may be counting."""
        now, loop = _clock(), self.loop
        counted = "" if loop is None else f", {loop.text(now)}"
        return f"{self._label}: {_interval(now - self._began)}{counted}"


def _interval(seconds: float) -> str:
    """Return a time as bars show it.

    >>> _interval(75), _interval(3700)
    ('01:15', '1:01:40')
    """
    return str(_bar_type().format_interval(seconds))


def _bar(label: str, **more: Any) -> Any:
    """Return a bar that appears once the task has taken two seconds."""
    now, current = _clock(), _current.get()
    began = now if current is None else current.began
    size = {"ncols": _width(), "nrows": _ROWS}
    return _bar_type()(
        desc=printable(label), leave=False, file=sys.stderr, delay=_PATIENCE - (now - began), miniters=0, **size, **more
    )


def _width() -> int:
    """Return the columns of standard error, less the last one; some terminals say that they have none."""
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError, AttributeError):
        columns = 0
    return (columns or _COLUMNS) - 1


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
