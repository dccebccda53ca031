"""Mappable HDF5 files: contiguous arrays with checksums, large ones aligned to pages. See docs/formats.md.

The file is binsparse, readable by any program that supports that standard; its descriptor has the standard's part and
ours, ``{"sparsezc": {"version": 1, ...}}``. Each array has a table of CRC-32 checksums, one for each mebibyte; the
descriptor has the checksum of each table, and the attribute ``sparsezc_crc32`` is the descriptor's own. So descriptor
and tables are checked whenever a file is opened, and arrays when they are read or with ``verify=True``; errors name the
bytes.
Sources: https://graphblas.org/binsparse-specification, version 0.1; HDF5 file format specification, version 3.0.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sparsezc.device.processors import processors
from sparsezc.exceptions import FileFormatError
from sparsezc.io.build.optional import need
from sparsezc.io.files.pipe_spool import regular
from sparsezc.io.hdf5 import seal
from sparsezc.io.hdf5.foreign import Foreign, one_line
from sparsezc.io.hdf5.new_file import created, reserve
from sparsezc.memory.mapped import PAGE, MappedBuffer
from sparsezc.terminal.progress import bar

VERSION = 1
COMPRESSED = 2  # the version of files with compressed ids, which readers of version 1 alone cannot read
PIECE = 1 << 20  # bytes for each checksum
_DESCRIPTOR = "binsparse"  # the name of the attribute, JSON
_TABLES = "sparsezc/crc32"
_LARGEST = 1 << 26  # the most bytes that one checksum of a file may cover
_GROUP = 16  # pieces that one thread takes at a time


def plain(values: NDArray[Any]) -> NDArray[Any]:
    """Return the values as binsparse stores them: Booleans as bytes, complex numbers as pairs."""
    if values.dtype.kind in "bc":
        return values.view(np.uint8 if values.dtype.kind == "b" else f"f{values.dtype.itemsize // 2}")
    return values


#: An open file that returns its descriptor and the numbers of its arrays.
Container = seal.Sealed | Foreign


class Writer:
    """A writer of a new file: arrays of known sizes, filled in order, then the descriptor; used in a ``with`` block.

    Once HDF5 has closed the file it is sealed (seal.py). With `group` the arrays are in that group of the file.

    >>> with Writer(Path("a.h5")) as writer:
    ...     writer.array("values", 3, np.float32).write(np.array([1, 2, 3], np.float32))
    ...     writer.finish({"version": "0.1.0"}, symmetric=False)
    """

    def __init__(self, path: Path, group: str | None = None) -> None:
        self._path, self._group = path, "/".join(part for part in (group or "").split("/") if part not in ("", "."))
        self._stack = ExitStack()
        self._arrays: dict[str, Filled | Placed] = {}
        self._sealed: tuple[str, dict[str, tuple[int, int, str]]] | None = None

    def __enter__(self) -> Self:
        self._file = self._stack.enter_context(created(self._path, alignment_threshold=PAGE, alignment_interval=PAGE))
        self._root = self._file.create_group(self._group) if self._group else self._file
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)
        if kind is None and self._sealed is not None:
            seal.put(self._path, *self._sealed, self._group)

    def array(self, name: str, count: int, dtype: Any) -> Filled:
        """Add an array of `count` entries, and reserve disk space for it."""
        kind = plain(np.empty(0, dtype)).dtype
        width = np.dtype(dtype).itemsize // kind.itemsize
        made = self._arrays[name] = Filled(self._root.create_dataset(name, (count * width,), kind))
        reserve(self._file, sum(filled.unplaced for filled in self._arrays.values()))
        return made

    def placed(self, name: str, count: int, dtype: Any) -> Placed:
        """Add an array that other processes fill by its position in the file, before its checksums are set."""
        filled = self.array(name, count, dtype)
        made = self._arrays[name] = Placed(*filled.place())
        self._file.flush()  # no byte of the array may be left in HDF5's own buffers
        return made

    def finish(self, binsparse: Mapping[str, Any], *, symmetric: bool) -> None:
        """Write the descriptor, after all arrays."""
        tables = {name: filled.finish() for name, filled in self._arrays.items()}
        reserve(self._file, sum(table.nbytes + PAGE * (table.nbytes >= PAGE) for table in tables.values()))
        for name, table in tables.items():
            self._root.create_dataset(f"{_TABLES}/{name}", data=table)
        ours = {
            "version": COMPRESSED if "blocks" in tables else VERSION, "symmetric": symmetric, "piece": PIECE,
            "crc32": {name: zlib.crc32(table.data) for name, table in tables.items()},
        }  # fmt: skip
        text = json.dumps({"binsparse": binsparse, "sparsezc": ours}, indent=2)
        describe(self._root, text)
        self._root.attrs["sparsezc_crc32"] = np.uint32(zlib.crc32(text.encode()))
        written = {name: self._root[name] for stem in tables for name in (stem, f"{_TABLES}/{stem}")}
        self._sealed = text, {
            name: (data.id.get_offset() or 0, data.size, data.dtype.str) for name, data in written.items()
        }  # fmt: skip


@dataclass
class Placed:
    """An array of a new file that other processes fill: first byte, size in bytes, and checksums once it is full."""

    offset: int
    nbytes: int
    sums: NDArray[np.uint32] | None = None
    unplaced: int = 0

    def filled(self, sums: NDArray[np.uint32]) -> None:
        """Set the checksums of the array's pieces, once it is full."""
        self.sums = sums

    def finish(self) -> NDArray[np.uint32]:
        """Return the checksums."""
        assert self.sums is not None
        return self.sums


class Filled:
    """An array of a new file, whose entries are written in order, with their checksums computed meanwhile."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._at = 0
        self._sums: list[int] = []
        self._unsummed = 0  # bytes that still belong to the last checksum

    @property
    def unplaced(self) -> int:
        """Return the bytes that HDF5 has yet to allocate: it allocates an array at the first write to it."""
        return 0 if self._at else int(self._dataset.nbytes)

    def write(self, part: NDArray[Any]) -> None:
        """Write the next entries, of the array's type."""
        part = plain(np.ascontiguousarray(part))
        if not part.size:
            return
        self._dataset[self._at : self._at + part.size] = part
        self._at += part.size
        rest = part.data.cast("B")
        while rest:
            if not self._unsummed:
                self._sums.append(0)
                self._unsummed = PIECE
            piece = rest[: self._unsummed]
            self._sums[-1] = zlib.crc32(piece, self._sums[-1])
            self._unsummed -= len(piece)
            rest = rest[len(piece) :]

    def place(self) -> tuple[int, int]:
        """Have HDF5 allocate the array, and return its first byte and its size in bytes."""
        if self._dataset.size:
            self._dataset[:1] = 0
        return self._dataset.id.get_offset() or 0, int(self._dataset.nbytes)

    def finish(self) -> NDArray[np.uint32]:
        """Return the checksums."""
        assert self._at == self._dataset.size, f"{self._at} of {self._dataset.size} entries of {self._dataset.name}"
        return np.array(self._sums, np.uint32)


class MappableFile:
    """The small parts of a mappable file that are in memory: its descriptor, places of arrays, and checksums.

    Attributes
    ----------
    descriptor : dict
        The part of the descriptor that binsparse defines.
    symmetric : bool
    piece : int
        The bytes of an array that one checksum covers.
    places : dict of str to (int, int, dtype)
        The first byte of each array, its count of numbers, and their type as HDF5 stores them.
    """

    def __init__(self, path: Path, file: Container, head: dict[str, Any]) -> None:
        self.path, self.descriptor = path, head["binsparse"]
        ours = head["sparsezc"]
        self.symmetric, self.piece = bool(ours["symmetric"]), int(ours["piece"])
        self.places: dict[str, tuple[int, int, np.dtype[Any]]] = {}
        self._tables: dict[str, NDArray[np.uint32]] = {}
        if not 0 < self.piece <= _LARGEST:
            raise FileFormatError(f"{path} is damaged: its checksums are of {self.piece} bytes each")
        size = path.stat().st_size
        for name, crc in ours["crc32"].items():
            known, table = file.arrays[name], np.asarray(file.read(f"{_TABLES}/{name}"), np.uint32)
            if zlib.crc32(table.data) != crc:
                raise FileFormatError(f"{path} is damaged: the table of checksums of {name!r} has another checksum")
            kind = np.dtype(known.dtype)
            offset, nbytes = known.offset or 0, known.size * kind.itemsize
            if not known.whole or (nbytes and not offset):
                raise FileFormatError(f"{path}: the array {name!r} is not in one piece")
            if offset + nbytes > size:
                raise FileFormatError(
                    f"{path} is truncated: the array {name!r} ends at byte {offset + nbytes:,} and the file at {size:,}"
                )
            if table.size != -(-nbytes // self.piece):
                raise FileFormatError(f"{path}: {name!r} has {table.size} checksums for {nbytes:,} bytes")
            self.places[name], self._tables[name] = (offset, known.size, kind), table

    def verify(self, *names: str) -> None:
        """Compare the bytes of these arrays, or of all, with their checksums.

        Raises
        ------
        FileFormatError
            A piece differs; the message names the first.
        """
        wanted = names or tuple(self.places)
        progress = bar(sum(self.nbytes(name) for name in wanted), f"checking {self.path.name}")
        for name in wanted:
            self._checked(name, progress)
        progress.close()

    def compare(self, name: str, data: NDArray[np.uint8]) -> None:
        """Compare a mapped array's bytes, `data`, with its checksums: the path may refer to another file by now."""
        progress = bar(data.size, f"checking {self.path.name}")
        self._checked(name, progress, data)
        progress.close()

    def read(self, name: str) -> NDArray[Any]:
        """Compare a whole array with its checksums, and return it mapped: its pages are in the system's cache only.

        Raises
        ------
        FileFormatError
            A piece differs; the message names the first.
        """
        self.verify(name)
        return MappedBuffer(self.path, *self.places[name]).array

    def _checked(self, name: str, progress: Any, data: NDArray[np.uint8] | None = None) -> None:
        """Compare each piece of an array, read from the file or in `data`, with its checksum; by up to 16 threads."""
        table = self._tables[name]

        def look(first: int) -> int:
            done = 0
            for number, part in enumerate(self._pieces(name, first, data), first):
                self.check(name, number, part)
                done += part.size
            return done

        with ThreadPoolExecutor(processors(16)) as pool:
            for done in pool.map(look, range(0, table.size, _GROUP)):
                progress.update(done)

    def _pieces(self, name: str, first: int, data: NDArray[np.uint8] | None) -> Iterator[NDArray[np.uint8]]:
        """Yield the pieces that one thread compares, from `first` on."""
        start, nbytes = first * self.piece, self.nbytes(name)
        end = min(nbytes, (first + _GROUP) * self.piece)
        if data is not None:
            yield from (data[at : min(end, at + self.piece)] for at in range(start, end, self.piece))
            return
        buffer, offset = np.empty(min(self.piece, nbytes), np.uint8), self.places[name][0]
        with self.path.open("rb", buffering=0) as file:
            file.seek(offset + start)
            for at in range(start, end, self.piece):
                part = buffer[: min(end - at, self.piece)]
                if file.readinto(part.data) != part.size:
                    raise FileFormatError(f"{self.path} is truncated: {name} ends before byte {offset + nbytes:,}")
                yield part

    def check(self, name: str, number: int, part: NDArray[np.uint8]) -> None:
        """Compare the bytes of a piece of an array with its checksum."""
        if (found := zlib.crc32(part.data)) != self._tables[name][number]:
            known = int(self._tables[name][number])
            raise self._damage(name, number * self.piece, part.size, found, known)

    def sums(self, name: str) -> NDArray[np.uint32]:
        """Return the checksums of an array's pieces."""
        return self._tables[name]

    def nbytes(self, name: str) -> int:
        """Return the bytes of an array."""
        _, count, dtype = self.places[name]
        return count * dtype.itemsize

    def _damage(self, name: str, start: int, size: int, found: int, known: int) -> FileFormatError:
        offset, _, dtype = self.places[name]
        first, last = start // dtype.itemsize, (start + size) // dtype.itemsize - 1
        return FileFormatError(
            f"{self.path} is damaged: the checksum of {name}[{first}:{last + 1}], bytes {offset + start:,} to "
            f"{offset + start + size - 1:,} of the file, is {found:08x}; {known:08x} is needed"
        )


def describe(group: Any, text: str) -> None:
    """Write a descriptor as a string of fixed size.

    HDF5 stores strings of variable size in a heap without a checksum; one wrong bit there, and HDF5 searches for the
    string forever.
    """
    encoded = text.encode()
    group.attrs.create(_DESCRIPTOR, encoded, dtype=need("h5py", "hdf5").string_dtype("utf-8", len(encoded)))


def container(path: Path, group: str | None = None) -> Container:
    """Open a file by its seal or, without one, in a separate process; the caller must close it."""
    return seal.find(regular(path), group) or Foreign(path, group)


def opened(file: Container) -> MappableFile | None:
    """Return the facts about an HDF5 file with checksums; None if :class:`Writer` did not write it.

    Raises
    ------
    FileFormatError
        :class:`Writer` wrote the file, but it is damaged or newer than this program.
    """
    path, text = file.path, file.text or "{}"
    crc = zlib.crc32(text.encode("utf-8", "surrogatepass"))
    if file.crc is not None and crc != file.crc:
        raise FileFormatError(
            f"{path} is damaged: the checksum of its descriptor is {crc:08x}; {file.crc:08x} is needed"
        )
    head = json.loads(text)
    if "sparsezc" not in head:
        return None
    if file.crc is None:
        raise FileFormatError(f"{path} is damaged: its descriptor is sparsezc's and has no checksum")
    if isinstance(file, Foreign) and seal.has_trailing_bytes(path):
        raise FileFormatError(f"{path} is damaged or truncated: a part of its seal is missing")
    version = head["sparsezc"].get("version")
    if type(version) is not int or version not in (VERSION, COMPRESSED):
        newer = type(version) is int and version > COMPRESSED
        raise FileFormatError(
            f"{path} is of version {one_line(version, 40)} of sparsezc's layout; versions {VERSION} and {COMPRESSED} "
            f"are read here, so {'a newer sparsezc is needed' if newer else 'it is damaged'}"
        )
    need_binsparse(path, head["binsparse"])
    return MappableFile(path, file, head)


def need_binsparse(path: Path, descriptor: Mapping[str, Any]) -> None:
    """Raise FileFormatError for a descriptor of another version of binsparse."""
    version = str(descriptor["version"])
    if re.fullmatch(r"0\.1(\..*)?", version) is None:
        raise FileFormatError(f"{path} is binsparse {one_line(version, 40)}; 0.1 is read")
