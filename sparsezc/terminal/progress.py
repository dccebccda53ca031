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
_STEPS = _TIME + ", {n_fmt} {unit}, {rate_fmt}"
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
    watch = _Watch(label)
    token = _watch.set(watch)
    try:
        with _ticking(watch.tick):
            yield
    finally:
        watch.shown.close()
        _watch.reset(token)


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
    watch = _watch.get()
    if watch is None or watch.counts:  # the outermost loop counts
        return items
    return watch.counted(items, _Steps(unit, _length(items) if total is None else total, at_most), size)


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
        """tqdm's format of a line with the count, the rate and the time left, as far as they are known."""
        if self.total is None:
            return _STEPS
        return _STEPS.replace("{unit}", f"of {'at most ' * self.at_most}{{total_fmt}} {{unit}}") + ", {remaining} left"


class _Watch:
    """A call that is shown: a bar with its time, or with the steps of its outermost loop."""

    def __init__(self, label: str) -> None:
        self._label, self._began = label, _clock()
        self.counts = False
        self.shown = self._show(bar_format=_TIME)

    def _show(self, **more: Any) -> Any:
        return _bar(self._label, began=self._began, **more)

    def tick(self) -> None:
        """Refresh the bar; another thread may be counting."""
        self.shown.tick()

    def counted(self, items: Iterable[T], loop: _Steps, size: Callable[[T], int] | None) -> Iterator[T]:
        """Yield items; each is done when the next one is requested."""
        if self.counts:
            yield from items
            return
        self.counts = True
        self.shown.close()
        self.shown = shown = self._show(bar_format=loop.bar_format, total=loop.total, unit=loop.unit)
        try:
            for item in items:
                yield item
                done = 1 if size is None else size(item)
                shown.update(done if loop.total is None else min(done, loop.total - shown.n))
        finally:
            shown.close()
            self.counts, self.shown = False, self._show(bar_format=_TIME)


def _bar(label: str, *, began: float | None = None, **more: Any) -> Any:
    """Return a bar that appears once the task has taken two seconds.

    `began`: the start of the time that it shows, in seconds of the monotonic clock; by default now.
    """
    now, current = _clock(), _current.get()
    began = now if began is None else began
    hidden = _PATIENCE - (now - (began if current is None else current.began))
    size = {"ncols": _width(), "nrows": _ROWS}
    return _bar_type()(now - began, desc=printable(label), leave=False, file=sys.stderr, delay=hidden, **size, **more)


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
        start_t: float
        monitor_interval = 0  # no thread of tqdm's own: with `miniters` 0 it has nothing to adapt

        def __init__(self, passed: float, delay: float, **more: Any) -> None:
            # A positive delay hides the bar until its start is set; `tick` then shows it where the delay is over.
            super().__init__(miniters=0, delay=max(delay, sys.float_info.epsilon), **more)
            self.start_t, self.delay = self.start_t - passed, passed + delay
            self.tick()

        def update(self, n: float = 1) -> bool | None:
            hidden = self.last_print_t < self.start_t + self.delay
            if hidden and self.total is not None and self.n + n >= self.total:
                self.n += n  # finished work needs no bar
                return None
            return super().update(n)  # type: ignore[no-any-return]

        def tick(self) -> None:
            """Refresh the time once the bar may appear; the count and its rate are the loop's alone."""
            if self._time() >= self.start_t + self.delay:
                self.delay = 0.0  # so that `close` removes a bar that only ticks showed
                self.refresh()

    return Bar
