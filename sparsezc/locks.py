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

from sparsezc.errors import InvalidObject

__all__ = ["FreeAfterFork", "acquire_locks", "hold_locks", "locked", "new", "shared"]

_Method = TypeVar("_Method", bound=Callable[..., Any])
new = threading.RLock


def acquire_locks(held: list[Any], objects: Iterable[Any]) -> None:
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


class hold_locks:  # noqa: N801  (read as a verb: `with hold_locks(A, B):`)
    """Several statements on these objects as one: ``with hold_locks(A, mask.parent):``."""

    __slots__ = ("_held", "_objects")

    def __init__(self, *objects: Any) -> None:
        self._objects = objects
        self._held: list[Any] = []

    def __enter__(self) -> None:
        try:
            acquire_locks(self._held, self._objects)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *error: object) -> None:
        while self._held:
            self._held.pop().release()


def locked(method: _Method) -> _Method:
    """Make a method that no other call on its object meets."""

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


def shared() -> Any:
    """Make a lock of the whole process, for a module to keep."""
    lock = new()
    _shared.append(lock)
    return lock


_shared: list[Any] = []


class _Lost:
    """The engine of an object that another thread was in a call on when the process forked: it may be half changed."""

    lock = None

    def __getattr__(self, name: str) -> Any:
        raise InvalidObject(
            "this object was in a call of another thread when the process forked, so this process has no whole copy;"
            " fork (or start multiprocessing's pool) while no other thread is in a call, or use its 'spawn' method"
        )


class FreeAfterFork:
    """Have a forked process, which has one thread, wait for none of the others.

    Parameters
    ----------
    kind : type
        Of the objects that have a lock.
    """

    def __init__(self, kind: type) -> None:
        self._kind = kind
        self._several = False
        os.register_at_fork(before=self._before, after_in_child=self._after)

    def _before(self) -> None:
        self._several = threading.active_count() > 1

    def _after(self) -> None:
        if not self._several:
            return
        objects = [x for x in gc.get_objects() if issubclass(type(x), self._kind)]
        # One whose constructor failed has no lock, and is used by nothing.
        lost = [x for x in objects if (lock := getattr(x, "_lock", None)) is not None and not _is_free(lock)]
        for lock in _shared:
            lock._at_fork_reinit()
        for x in lost:
            x._lock = new()
            if x._stored:
                x._engine = _Lost()


def _is_free(lock: Any) -> bool:
    if not lock.acquire(False):
        return False
    lock.release()
    return True
