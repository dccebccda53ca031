"""Placement ``mapped``: the arrays of a file that lies ready, read by kernels where the system caches it.

Nothing is read when such a file is opened. The system maps its pages; once a kernel first needs their address they are
compared with their checksums, the driver registers them for reading, and from then on kernels read the page cache over
the link as they read zero-copy memory. A mapped array is never written to: whatever is made of a mapped matrix lies in
placement ``zerocopy``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsezc.device import cuda
from sparsezc.device.protocol import Pages
from sparsezc.errors import FileFormatError, InvalidValue, OutOfMemory, warn_slow
from sparsezc.memory import zerocopy
from sparsezc.memory.buffer import Buffer

PAGE = 1 << 16  # bytes: the largest page that a host of GPUs has; arrays of this size begin at a multiple of it
_PART = 1 << 24  # entries copied at a time where a file cannot be registered
_CHECKED = 1 << 22  # ids that are checked at a time: they pass through so much of the device's memory
_refused: set[str] = set()  # files whose registration was refused, which is said once each


class MappedBuffer(Buffer):
    """One array of a file, which no program may change while it is mapped.

    Parameters
    ----------
    path : str or path
    offset : int
        Where the array begins, in bytes: at a multiple of :data:`PAGE`, unless it is smaller than that. Such an array
        is read, as others may lie in its pages.
    count, dtype
        Its entries. The file must reach that far.
    below : int, optional
        Of ids: what all must be less than. It is checked wherever the host reads them, and of all of them before
        kernels do.

    Attributes
    ----------
    compare : callable, optional
        What compares all bytes with their checksums: it is called once, with these, before any of them is read.
    """

    placement = "mapped"
    pages = "file"

    def __init__(
        self, path: str | os.PathLike[str], offset: int, count: int, dtype: Any, below: int | None = None
    ) -> None:
        super().__init__(count, dtype)
        self.path, self.below = os.fspath(path), below
        self.compare: Callable[[NDArray[np.uint8]], None] | None = None
        if self.nbytes < PAGE:
            self.array = np.fromfile(self.path, self.dtype, count, offset=offset)
        else:
            self.array = np.asarray(np.memmap(self.path, self.dtype, "r", offset, (count,)))
        self._reached: Pages | zerocopy.ZerocopyBuffer | None = None  # what kernels read, once one has asked

    @property
    def pointer(self) -> int:
        return self._reach().pointer

    def _reach(self) -> Pages | zerocopy.ZerocopyBuffer:
        """What kernels read. Only now the pages are registered, and ids checked."""
        if self._reached is None:
            self._trust()
            reached = self._registered() or self._copied()
            if self.below is not None:
                check_on_device(self.path, self.count, self._loaded, self.below)
            self._reached = reached
        return self._reached

    @classmethod
    def of(cls, array: NDArray[Any]) -> MappedBuffer:
        """An array in memory that stands beside mapped ones; a few numbers."""
        made = cls.__new__(cls)
        Buffer.__init__(made, array.size, array.dtype)
        made.path, made.below, made.compare, made.array, made._reached = "", None, None, array, None
        return made

    def _trust(self) -> None:
        """See to it that the bytes are those that were written."""
        if self.compare is not None:
            self.compare(self.array.view(np.uint8))
            self.compare = None

    def _registered(self) -> Pages | None:
        """The file's pages for kernels to read; None where there are none, or the driver refuses."""
        if self.nbytes < PAGE:
            return None
        try:
            return cuda.current().map(self.array.view(np.uint8))
        except OutOfMemory as refused:
            if self.path not in _refused:
                _refused.add(self.path)
                warn_slow(f"{self.path} is read into host memory, for its pages cannot be read by the GPU: {refused}")
        return None

    def _copied(self) -> zerocopy.ZerocopyBuffer:
        copy = zerocopy.allocate(self.count, self.dtype, self.placement)
        for start in range(0, self.count, _PART):
            copy.write(start, self.array[start : start + _PART])
        self.pages = copy.pages
        return copy

    def write(self, start: int, array: ArrayLike) -> None:
        raise InvalidValue(f"{self.path} is mapped for reading only")

    def read(self, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        self._trust()
        part = self.array[start:stop]
        if self.below is not None:
            check_ids(self.path, part, start, self.below)
        return part

    def load(self, start: int = 0, stop: int | None = None) -> Any:
        self._trust()
        if self.below is not None:
            self._reach()
        return self._loaded(start, stop)

    def _loaded(self, start: int, stop: int | None) -> Any:
        gpu, part = cuda.current(), self.array[start:stop]
        made = gpu.xp.empty(part.size, self.dtype)
        gpu.copy_in(made, part, "mapped")
        return made


def check_ids(path: str | os.PathLike[str], ids: NDArray[Any], start: int, below: int) -> None:
    """Refuse ids that are no columns; `start` is the entry of the first."""
    if ids.size and int(ids.max()) >= below:
        at = int(np.flatnonzero(ids >= below)[0])
        raise FileFormatError(f"{path}: entry {start + at} has the column id {ids[at]}; 0 to {below - 1} are needed")


def check_on_device(path: str | os.PathLike[str], count: int, load: Callable[[int, int], Any], below: int) -> None:
    """The same for ids that kernels are about to follow, where one that is no column would be an illegal access.

    They cross the link once, at the rate of a copy; `load` brings some to the device.
    """
    for start in range(0, count, _CHECKED):
        ids = load(start, min(start + _CHECKED, count))
        if int(ids.max()) >= below:
            check_ids(path, cuda.current().asnumpy(ids), start, below)


def allocate(count: int, dtype: np.dtype[Any], _placement: str) -> zerocopy.ZerocopyBuffer:
    """Memory for what is made of a mapped matrix: zero-copy pages."""
    return zerocopy.allocate(count, dtype, "zerocopy")
