"""The locks of objects, by which concurrent calls give the same answers as in some sequential order.

Each Matrix, Vector and Scalar has a lock in ``_lock``, which its transpose shares; objects of an engine whose launches
share state have the engine's (``Engine.lock``). A call takes the locks of all objects that it reads or writes before it
reads any, and holds them to its end. While it need not wait it takes them in any order, otherwise in the order of their
addresses, so no two calls wait for each other. All are reentrant: a call within a call may take them again.
"""

from __future__ import annotations

import _thread
import gc
import os
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

from sparsezc.exceptions import InvalidObject

__all__ = ["FreeAfterFork", "Lost", "acquire_locks", "hold_locks", "locked", "new", "shared"]

_Method = TypeVar("_Method", bound=Callable[..., Any])
new: Callable[[], Any] = _thread.RLock  # the class itself: `threading.RLock` is a Python function around it


def acquire_locks(held: list[Any], objects: Iterable[Any]) -> None:
    """Take the locks of `objects` in order and append them to `held`; the caller releases them, on an error, too.

    An object whose ``_lock`` is None, such as an index list, needs none.
    """
    objects, before = tuple(objects), len(held)
    if len(objects) == 1:  # the common case, in half the time
        lock = objects[0]._lock
        if lock is None:
            return
        lock.acquire()
        held.append(lock)
        if objects[0]._lock is lock:
            return
        held.pop().release()
    while True:
        locks = {x._lock for x in objects}
        locks.discard(None)
        for lock in sorted(locks, key=id):
            lock.acquire()
            held.append(lock)
        if locks.issuperset([x._lock for x in objects if x._lock is not None]):
            return
        while len(held) > before:  # an object has moved to an engine with a lock of its own
            held.pop().release()


class hold_locks:  # noqa: N801  (read as a verb: `with hold_locks(A, B):`)
    """A context that makes several statements on these objects one: ``with hold_locks(A, mask.parent):``."""

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
    """Return the method under its object's lock, so that no other call on the object overlaps it."""

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        lock = self._lock
        lock.acquire()  # takes half the time of `with lock`
        while self._lock is not lock:  # the object has moved to an engine with a lock of its own
            lock.release()
            lock = self._lock
            lock.acquire()
        try:
            return method(self, *args, **kwargs)
        finally:
            lock.release()

    return call  # type: ignore[return-value]


def shared(lock: Any = None) -> Any:
    """Return a lock of the whole process, for a module to keep: a new one, or one that a lower module has."""
    lock = new() if lock is None else lock
    _shared.append(lock)
    return lock


_shared: list[Any] = []


class Lost:
    """The engine of an object that another thread used when the process forked: the object may be half changed."""

    lock = None

    def __getattr__(self, name: str) -> Any:
        raise InvalidObject(
            "this object was in a call of another thread when the process forked, so this process has no whole copy;"
            " fork (or start multiprocessing's pool) while no other thread is in a call, or use its 'spawn' method"
        )


class FreeAfterFork:
    """A hook by which a forked process, which has one thread, waits for no lock of the parent's other threads.

    Parameters
    ----------
    kind : type
        The type of the objects that have a lock; ``_lose()`` gives a lost object a new lock, and the engine
        :class:`Lost`.
    """

    def __init__(self, kind: type) -> None:
        self._kind = kind
        self._several = False
        os.register_at_fork(before=self._before, after_in_child=self._after)

    def _before(self) -> None:
        from threading import active_count  # imported here, as `import sparsezc` would take a third longer with it

        self._several = active_count() > 1

    def _after(self) -> None:
        if not self._several:
            return
        objects = [x for x in gc.get_objects() if issubclass(type(x), self._kind)]
        # An object whose constructor failed has no lock, and is not used.
        lost = [x for x in objects if (lock := getattr(x, "_lock", None)) is not None and not _is_free(lock)]
        for lock in _shared:
            lock._at_fork_reinit()
        for x in lost:
            x._lose()


def _is_free(lock: Any) -> bool:
    if not lock.acquire(False):
        return False
    lock.release()
    return True
