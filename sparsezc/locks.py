"""The locks of objects, by which calls from several threads give the answer of some order of them.

Each Matrix, Vector and Scalar has a lock in ``_lock``, which its transpose shares; objects of an engine whose launches
share state have the engine's (``Engine.lock``). A call takes the locks of all objects that it reads or writes before it
looks at any, and keeps them to its end. It waits for a lock only while it has none, or takes them in the order of their
addresses, so no two calls wait for each other. All are reentrant: what a call runs within itself may take them again.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

__all__ = ["WholeAtFork", "alone", "hold", "new", "take"]

_Method = TypeVar("_Method", bound=Callable[..., Any])
new = threading.RLock


def take(held: list[Any], objects: Iterable[Any]) -> None:
    """Take the locks of `objects` and append them to `held`, which the caller releases, whatever comes.

    An object whose ``_lock`` is None, as of an index list, needs none.
    """
    before, last = len(held), None
    for x in objects:
        lock = x._lock
        if lock is last or lock is None:
            continue
        if not lock.acquire(False):
            break
        held.append(lock)
        last = lock
        if x._lock is not lock:  # it has moved to an engine with a lock of its own
            break
    else:
        return
    while len(held) > before:
        held.pop().release()
    _take_in_order(held, objects)


def _take_in_order(held: list[Any], objects: Iterable[Any]) -> None:
    before, objects = len(held), tuple(objects)
    while True:
        locks = sorted({x._lock for x in objects} - {None}, key=id)
        for lock in locks:
            lock.acquire()
            held.append(lock)
        if {x._lock for x in objects} - {None} <= set(locks):
            return
        while len(held) > before:
            held.pop().release()


class hold:  # noqa: N801  (read as a verb: `with hold(A, B):`)
    """Several statements on these objects as one: ``with hold(A, mask.parent):``."""

    __slots__ = ("_held", "_objects")

    def __init__(self, *objects: Any) -> None:
        self._objects = objects
        self._held: list[Any] = []

    def __enter__(self) -> None:
        try:
            take(self._held, self._objects)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *error: object) -> None:
        while self._held:
            self._held.pop().release()


def alone(method: _Method) -> _Method:
    """A method that no other call on its object meets."""

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        lock = self._lock
        with lock:
            if self._lock is lock:
                return method(self, *args, **kwargs)
        with hold(self):
            return method(self, *args, **kwargs)

    return call  # type: ignore[return-value]


class WholeAtFork:
    """Have a fork wait for the calls that other threads are in, so that the child finds every object whole and free.

    Parameters
    ----------
    kind : type
        Of the objects that have a lock.
    """

    def __init__(self, kind: type) -> None:
        self._kind = kind
        self._held: list[Any] = []
        os.register_at_fork(before=self._before, after_in_parent=self._after, after_in_child=self._after)

    def _before(self) -> None:
        if threading.active_count() > 1:
            _take_in_order(self._held, [x for x in gc.get_objects() if issubclass(type(x), self._kind)])

    def _after(self) -> None:
        while self._held:
            self._held.pop().release()
