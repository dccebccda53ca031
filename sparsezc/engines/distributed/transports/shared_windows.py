"""Windows that kernels of all ranks write, kept for as long as an object needs them.

A window may be freed only once no other rank has it open, and each rank frees its part of an object when its garbage
collector finds it. So each message states whether the sender's window is larger than its objects need. If one is, all
ranks free their windows in that message: an object that one rank has freed can take part in no further collective.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from sparsezc.device import cuda
from sparsezc.exceptions import DeviceUnavailable, OutOfMemory
from sparsezc.memory import budget

if TYPE_CHECKING:
    from sparsezc.engines.distributed.transports.ipc import Ipc

__all__ = ["SharedWindows"]


class SharedWindows:
    """Windows of one size, one of each rank, or none; a cache that counts towards the budget of device memory.

    Attributes
    ----------
    arrays : list of arrays of bytes
        One of each rank.
    nbytes : int
        Bytes of each window, the same on all ranks.
    left : object or None
        The note that the last caller left about the contents; None: the contents are zeros.
    """

    def __init__(self, transport: Ipc) -> None:
        self._transport, self._gpu = transport, cuda.current()
        self.arrays: list[Any] = []
        self.nbytes, self.left = 0, None
        self._key: Any = None  # of the caller that left them
        self._needs: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._dropped = False
        budget.register_cache(self)

    def drop(self) -> None:
        """Have all ranks free their windows at the next message: a rank alone must not free its own."""
        self._dropped = self.nbytes > 0

    def exceed_needs(self) -> bool:
        """Return whether the windows are larger than this rank's objects need, or its device memory is short."""
        return self.nbytes > 0 and (self._dropped or self.nbytes > max(self._needs.values(), default=0))

    def prepare(self, nbytes: int, key: Any, owner: Any) -> bool:
        """Allocate windows of `nbytes` for an object; return whether all ranks had the memory.

        A collective. Their contents are zeros, or as they were left with the same key.
        """
        self._needs[owner] = nbytes
        left, kept = self.left, self._key == key
        self.left = self._key = None
        told = self._transport.numbers(kept, self.exceed_needs())
        if nbytes > self.nbytes or told[:, 1].any():
            self.free()
            if not self._allocate(nbytes):
                return False
        elif told[:, 0].all():
            self.left = left
            return True
        self._transport.meet()  # the earlier writes of other ranks have arrived
        self.arrays[self._transport.rank].fill(0)
        self._transport.meet()
        return True

    def leave(self, key: Any, left: Any) -> None:
        """Keep a note about the contents for the next caller with this key."""
        self._key, self.left = key, left

    def free(self) -> None:
        """Free the windows, if there are any; a collective."""
        if not self.nbytes:
            return
        self._gpu.synchronize()  # no kernel of this rank still writes into windows of others
        mine = self.arrays[self._transport.rank]
        self.arrays.clear()
        self.nbytes, self.left, self._key, self._dropped = 0, None, None, False
        self._transport.numbers(0)  # all ranks have closed the windows of others
        del mine

    def _allocate(self, nbytes: int) -> bool:
        window = None
        if nbytes <= budget.available():
            with suppress(OutOfMemory):
                window = self._gpu.window(nbytes)
        if not self._transport.numbers(window is not None)[:, 0].all():
            return False
        assert window is not None
        made, why = [], ""
        for rank, name in enumerate(self._transport.objects(window.name)):
            try:
                mine = rank == self._transport.rank
                made.append(window.array if mine else self._gpu.open_window(name, nbytes))
            except DeviceUnavailable as error:
                why = str(error)
        self._transport.agree(DeviceUnavailable, why)
        self.arrays, self.nbytes = made, nbytes
        return True
