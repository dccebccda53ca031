"""The locks of objects, by which calls from several threads give the answer of some order of them.

Each Matrix, Vector and Scalar has a lock in ``_lock``, which its transpose shares; objects of an engine whose launches
share state have the engine's (``Engine.lock``). A call takes the locks of all objects that it reads or writes before it
looks at any, and keeps them to its end. It takes them as they come while it has to wait for none, else in the order of
their addresses, so no two calls wait for each other. All are reentrant: a call within a call may take them again.
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
    """Take the locks of `objects` in their order and append them to `held`, which the caller releases, whatever comes.

    An object whose ``_lock`` is None, as of an index list, needs none.
    """
    objects, before = tuple(objects), len(held)
    while True:
        locks = {x._lock for x in objects}
        locks.discard(None)
        for lock in sorted(locks, key=id):
            lock.acquire()
            held.append(lock)
        if locks.issuperset([x._lock for x in objects if x._lock is not None]):
            return
        while len(held) > before:  # one has moved to an engine with a lock of its own
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
        lock.acquire()  # with half of what `with lock` takes
        while self._lock is not lock:  # it has moved to an engine with a lock of its own
            lock.release()
            lock = self._lock
            lock.acquire()
        try:
            return method(self, *args, **kwargs)
        finally:
            lock.release()

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
            take(self._held, [x for x in gc.get_objects() if issubclass(type(x), self._kind)])

    def _after(self) -> None:
        while self._held:
            self._held.pop().release()
