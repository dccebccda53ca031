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
_REFRESH = 0.5  # seconds between two refreshes by the thread: a step may take longer than that
_TIME = "{desc}: {elapsed}"
_STEPS = _TIME + ", {n:,}{unit}, {rate_fmt}"
_STEPS_LEFT = _TIME + ", {n:,} of AT_MOST{total:,}{unit}, {remaining} left, {rate_fmt}"
_clock = time.monotonic
T = TypeVar("T")

#: The bar if none is wanted: calls of `bool` cost little and have no effect.
_NO_BAR = SimpleNamespace(update=bool, close=bool)


class _Task(NamedTuple):
    began: float
    wanted: bool


_current: ContextVar[_Task | None] = ContextVar("_current", default=None)
_watch: ContextVar[Any] = ContextVar("_watch", default=None)  # the bar of the call that is watched


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
    shown = _bar(label, bar_format=_TIME)

    def say(label: str) -> None:
        shown.set_description_str(printable(label), refresh=False)
        shown.tick()

    try:
        with _ticking(shown.tick):
            yield say
    finally:
        shown.close()


@contextmanager
def _ticking(tick: Callable[[], Any]) -> Iterator[None]:
    """Have a thread call a function at intervals: tqdm itself refreshes a bar only when its work advances."""
    done = threading.Event()

    def repeat() -> None:
        while not done.wait(_REFRESH):
            tick()

    thread = threading.Thread(target=repeat, name="sparsezc-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def watching(label: str) -> AbstractContextManager[Any]:
    """Show the time of a call and, while one of its loops counts them, its steps, their rate and the time left.

    >>> with watching("search"):
    ...     found = [depth for depth in steps(range(3), "rounds")]
    """
    now = _current.get()
    return _watching(label) if (_wanted() if now is None else now.wanted) else nullcontext()


@contextmanager
def _watching(label: str) -> Iterator[None]:
    shown = _bar(label, bar_format=_TIME)
    token = _watch.set(shown)
    try:
        with _ticking(shown.tick):
            yield
    finally:
        _watch.reset(token)
        shown.close()


def steps(
    items: Iterable[T], unit: str, *, total: int | None = None, size: Callable[[T], int] | None = None,
    at_most: bool = False,
) -> Iterable[T]:  # fmt: skip
    """Return `items`; a call that is watched counts them as they are used up.

    Parameters
    ----------
    unit : str
        The name of the items, in the plural.
    total : int, optional
        The number of steps; by default the number of items, if it is known.
    size : callable, optional
        The number of steps that an item stands for; by default one.
    at_most : bool
        The loop may end before the total.
    """
    shown = _watch.get()
    if shown is None or shown.counts:  # the outermost loop counts
        return items
    return shown.counted(items, _Steps(unit, _length(items) if total is None else total, at_most), size)  # type: ignore[no-any-return]


def _length(items: Any) -> int | None:
    """Return the number of items, if it is known; that of a long range fits no C integer."""
    if isinstance(items, range):
        return max(0, -(-(items.stop - items.start) // items.step))
    return len(items) if isinstance(items, Sized) else None


class _Steps(NamedTuple):
    """The steps of a loop: their name and their number, if it is known."""

    unit: str
    total: int | None
    at_most: bool

    @property
    def bar_format(self) -> str:
        """tqdm's format of a line with the count, the time left if the number is known, and the rate."""
        return _STEPS if self.total is None else _STEPS_LEFT.replace("AT_MOST", "at most " * self.at_most)


def _bar(label: str, **more: Any) -> Any:
    """Return a bar that appears once the task has taken two seconds."""
    now, current = _clock(), _current.get()
    hidden = _PATIENCE - (now - (now if current is None else current.began))
    size = {"ncols": _width(), "nrows": _ROWS}
    return _bar_type()(
        desc=printable(label), leave=False, file=sys.stderr, delay=hidden, miniters=0, smoothing=0, **size, **more
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
        """A bar that stays hidden until its delay is over; if a call is watched, its outermost loop counts."""

        n: float
        start_t: float
        delay: float
        monitor_interval = 0  # no thread of tqdm's own: with `miniters` 0 it has nothing to adapt
        _loop_began: float | None = None

        @property
        def counts(self) -> bool:
            """Return whether a loop counts its steps."""
            return self._loop_began is not None

        @property
        def format_dict(self) -> dict[str, Any]:
            """tqdm's values of the line; the rate is that of the loop that counts, not of the whole call."""
            found: dict[str, Any] = super().format_dict
            if self._loop_began is not None and (passed := self._time() - self._loop_began) > 0:
                found["rate"] = self.n / passed
            return found

        def counted(self, items: Iterable[Any], loop: _Steps, size: Callable[[Any], int] | None) -> Iterator[Any]:
            """Yield items; each is done when the next one is requested."""
            if self.counts:
                yield from items
                return
            self._loop_began = self._time()
            self._show(loop.bar_format, loop.total, f" {loop.unit}")
            try:
                for item in items:
                    yield item
                    done = 1 if size is None else size(item)
                    self.update(done if loop.total is None else min(done, loop.total - self.n))
            finally:
                self._loop_began = None
                self._show(_TIME, None, "")

        def _show(self, bar_format: str, total: int | None, unit: str) -> None:
            self.n = self.last_print_n = 0
            self.bar_format, self.total, self.unit = bar_format, total, unit

        def update(self, n: float = 1) -> bool | None:
            hidden = self.last_print_t < self.start_t + self.delay
            if hidden and self.total is not None and self.n + n >= self.total:
                self.n += n  # finished work needs no bar
                return None
            return super().update(n)  # type: ignore[no-any-return]

        def tick(self) -> None:
            """Redraw the bar with the current time, once it may appear; only the loop counts."""
            if self._time() >= self.start_t + self.delay:
                self.delay = 0.0  # so that `close` removes a bar that only ticks showed
                self.refresh()

    return Bar
