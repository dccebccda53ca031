"""Placement ``mapped``: the arrays of a mappable file, which kernels read in the system's page cache.

Opening such a file reads no arrays: the system maps its pages. When an engine first needs the address of an array for
kernels, the bytes are compared with their checksums, and the driver registers the pages for reading. From then on
kernels read the page cache over the link like zero-copy memory. A mapped array is never written: matrices made from a
mapped matrix are in placement ``zerocopy``.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsezc.device import cuda
from sparsezc.device.protocol import Pages
from sparsezc.exceptions import FileFormatError, InvalidValue, OutOfMemory, warn_slow
from sparsezc.memory import zerocopy
from sparsezc.memory.buffer import Buffer
from sparsezc.memory.placement import BY_ADDRESS

if TYPE_CHECKING:
    from sparsezc.memory.csr import Csr

# Bytes of the largest page size of hosts with GPUs; arrays of at least this size begin at a multiple of it.
PAGE = 1 << 16
_PART = 1 << 24  # entries copied at a time if a file cannot be registered
_CHECKED = 1 << 22  # ids checked at a time, to limit the device memory for them
_IN_ORDER = 1 << 18  # entries whose order is checked at a time
_refused: set[str] = set()  # files whose registration was refused, each reported once


class Part(NamedTuple):
    """The position of a buffer in its file's array: its `first` entry, and the bytes mapped before and after it.

    All mapped bytes begin at a page and end with a piece that has a checksum.
    """

    first: int = 0
    before: int = 0
    after: int = 0


_WHOLE = Part()


class MappedBuffer(Buffer):
    """An array of a file, or a part of one, which no program may change while it is mapped.

    Parameters
    ----------
    path : str or path
    offset : int
        The buffer's first byte in the file. The first mapped byte, `part.before` bytes earlier, is a multiple of
        :data:`PAGE`, unless fewer bytes than a page are mapped: these are read into memory, as other arrays may share
        their page.
    count, dtype
        The number of entries and their type. The file must have as many.
    below : int, optional
        The bound of all ids. Ids are checked when the host reads them, and all of them before kernels read any.
    part : Part
        The position in the array, by default the whole array.

    Attributes
    ----------
    compare : callable, optional
        The function given to :meth:`compare_first`, until it was called.
    elsewhere : callable, optional
        Returns the buffer of the entries ``start:stop`` of the same array of the file.
    """

    placement = "mapped"
    pages = "file"

    def __init__(
        self,
        path: str | os.PathLike[str],
        offset: int,
        count: int,
        dtype: Any,
        below: int | None = None,
        part: Part = _WHOLE,
    ) -> None:
        super().__init__(count, dtype)
        self.path, self.below, self.part = os.fspath(path), below, part
        self.compare: Callable[[NDArray[np.uint8]], None] | None = None
        self.elsewhere: Callable[[int, int], MappedBuffer] | None = None
        start, nbytes = offset - part.before, part.before + self.nbytes + part.after
        if nbytes < PAGE:
            self._mapped = np.fromfile(self.path, np.uint8, nbytes, offset=start)
        else:
            self._mapped = np.asarray(np.memmap(self.path, np.uint8, "r", start, (nbytes,)))
        self.array = self._mapped[part.before : part.before + self.nbytes].view(self.dtype)
        # The memory that kernels read, once they need it.
        self._reached: Pages | zerocopy.ZerocopyBuffer | None = None

    def compare_first(self, compare: Callable[[NDArray[np.uint8]], None]) -> None:
        """Register a function that compares all mapped bytes with their checksums, called once before any is read."""
        self.compare = compare

    @property
    def pointer(self) -> int:
        reached = self._reach()
        return reached.pointer + (0 if isinstance(reached, zerocopy.ZerocopyBuffer) else self.part.before)

    def _reach(self) -> Pages | zerocopy.ZerocopyBuffer:
        """Return the memory that kernels read; the first call registers the pages and checks ids."""
        if self._reached is None:
            self._trust()
            reached = self._registered() or self._copied()
            if self.below is not None:
                check_on_device(self.path, self.count, self._loaded, self.below, self.part.first)
            self._reached = reached
        return self._reached

    @classmethod
    def of(cls, array: NDArray[Any]) -> MappedBuffer:
        """Return an array in memory as a mapped buffer, for small arrays beside mapped ones."""
        made = cls.__new__(cls)
        Buffer.__init__(made, array.size, array.dtype)
        made.path, made.below, made.compare, made.array, made._reached = "", None, None, array, None
        made.elsewhere = None
        made.part, made._mapped = _WHOLE, array.view(np.uint8)
        return made

    def expect(self, *, jumps: bool) -> None:
        """Advise the system to read ahead or, if pages will be read in no order (`jumps`), not to.

        Reading ahead may bring several MiB into memory for one row of a few KiB.
        """
        pages = getattr(self._mapped.base, "_mmap", None)  # None: a small array, which was read
        if pages is not None and hasattr(pages, "madvise"):
            pages.madvise(mmap.MADV_RANDOM if jumps else mmap.MADV_NORMAL)

    def _trust(self) -> None:
        """Compare the mapped bytes with their checksums, if that was not done."""
        if self.compare is not None:
            self.compare(self._mapped)
            self.compare = None

    def _registered(self) -> Pages | None:
        """Return the file's pages, registered for kernels; None if the array is small or the driver refuses."""
        if self._mapped.size < PAGE:
            return None
        try:
            return cuda.current().map(self._mapped)
        except OutOfMemory as refused:
            if self.path not in _refused:
                _refused.add(self.path)
                warn_slow(f"{self.path} is read into host memory, as the GPU cannot read its pages: {refused}")
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
            check_ids(self.path, part, self.part.first + start, self.below)
        return part

    def load(self, start: int = 0, stop: int | None = None) -> Any:
        self._trust()
        if self.below is not None:
            self._reach()
        return self._loaded(start, stop)

    def _loaded(self, start: int, stop: int | None) -> Any:
        gpu, part = cuda.current(), self.array[start:stop]
        made = gpu.xp.empty(part.size, self.dtype)
        gpu.copy_in(made, part, "file")  # not self.pages, which may be the kind of a copy
        return made


def check_ids(path: str | os.PathLike[str], ids: NDArray[Any], start: int, below: int) -> None:
    """Raise FileFormatError if an id is not below `below`; `start`: the first id's position in the file's array."""
    if ids.size and int(ids.max()) >= below:
        at = int(np.flatnonzero(ids >= below)[0])
        raise FileFormatError(f"{path}: entry {start + at} has the column id {ids[at]}; 0 to {below - 1} are needed")


def check_rows(path: str | os.PathLike[str], csr: Csr) -> Csr:
    """Return the matrix; raise FileFormatError unless the ids of every row ascend."""
    for start in range(0, csr.nvals, _IN_ORDER):
        ids = csr.indices.read(start, min(start + _IN_ORDER + 1, csr.nvals))
        falls = np.flatnonzero(ids[1:] <= ids[:-1]) + start + 1
        starts = csr.indptr[np.searchsorted(csr.indptr, falls)]  # the first entry of the row that begins there, if any
        if (falls != starts).any():
            at = int(falls[falls != starts][0])
            raise FileFormatError(
                f"{path}: entry {at} has the column id {ids[at - start]} after {ids[at - start - 1]} in the same row; "
                "ascending ids are needed"
            )
    return csr


def check_on_device(
    path: str | os.PathLike[str], count: int, load: Callable[[int, int], Any], below: int, first: int = 0
) -> None:
    """Raise FileFormatError if an id is not below `below`, before kernels use it in an address.

    All ids are copied over the link once. load(start, stop) copies some to the device; `first`: the position of the
    first id in the file's array.
    """
    for start in range(0, count, _CHECKED):
        ids = load(start, min(start + _CHECKED, count))
        if int(ids.max()) >= below:
            check_ids(path, cuda.current().asnumpy(ids), first + start, below)


def allocate(count: int, dtype: np.dtype[Any], _placement: str) -> zerocopy.ZerocopyBuffer:
    """Return memory for a matrix made from a mapped one: zero-copy pages."""
    return zerocopy.allocate(count, dtype, BY_ADDRESS)
