"""The process that opens other programs' HDF5 files: a program that is run by its path and imports nothing of sparsezc.

HDF5's own code may crash on a damaged file or never return, and it follows references to other files. So such files
are opened in this process, with limits of memory and time: each request states the seconds that it may take, and the
processor time that all requests so far may take; at either limit the system ends the process. Requests are JSON lines
on standard input; each answer is a line of JSON on the given descriptor, followed by the bytes that were read.
References to other files are refused: links, external storage, virtual datasets.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

_NAMES = (
    "pointers_to_1", "indices_0", "indices_1", "values", "blocks", "block_headers", "block_starts",
    "vertex_ids", "vertex_names", "vertex_name_ends",
)  # fmt: skip
_TABLES = "sparsezc/crc32"
_MEMORY = 192 << 20  # bytes of data that the process may hold beside those of one chunk
_UNPACK = 1032  # deflate packs at most 1032 bytes into one
_BLOCK = 4 << 20  # bytes that are read at a time, unless a chunk is larger
_DESCRIPTOR = 16 << 20  # the most bytes of a descriptor


class Refused(Exception):
    """The error for unsupported content of the file; the message names it."""


def limit(more: int) -> None:
    """Limit this process's memory to `_MEMORY` and `more` bytes, if the system can."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY + more, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    except (ImportError, AttributeError, ValueError, OSError):
        pass


def alarm(seconds: float, cpu_seconds: float = 0.0) -> None:
    """Have the system end this process after so many seconds, or so much processor time; 0: no limit."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        signal.setitimer(signal.ITIMER_PROF, cpu_seconds)


class Opened:
    """An open file, and the arrays of one of its groups."""

    def __init__(self, path: str, group: str | None) -> None:
        import h5py

        self.h5py = h5py
        self.file = h5py.File(path, "r")
        self.group = self.file if group is None else self.lookup(self.file, group)
        if not isinstance(self.group, h5py.Group):
            raise Refused(f"{group!r} is no group")
        self.arrays: dict[str, Any] = {}
        self.blocks: dict[str, tuple[int, Any]] = {}  # the block of each array that was read last
        for name in (*_NAMES, *(f"{_TABLES}/{name}" for name in _NAMES)):
            found = self.lookup(self.group, name, needed=False)
            if found is not None:
                self.arrays[name] = self.inside(name, found)

    def lookup(self, start: Any, name: str, *, needed: bool = True) -> Any:
        """Return the object of a name, by hard links only; None if it does not exist and is not `needed`."""
        found = start
        for part in name.split("/"):
            if part in ("", "."):
                continue
            link = found.get(part, getlink=True) if isinstance(found, self.h5py.Group) else None
            if link is None:
                if needed:
                    raise Refused(f"there is no group {name!r}")
                return None
            if not isinstance(link, self.h5py.HardLink):
                kind = "an external link" if isinstance(link, self.h5py.ExternalLink) else "a link"
                to = f"{getattr(link, 'filename', '')} {getattr(link, 'path', '')}".strip()
                raise Refused(f"{name} is {kind} to {to!r}; links are not followed")
            found = found[part]
        return found

    def inside(self, name: str, data: Any) -> Any:
        """Return a dataset after checking that all of it is in this file."""
        if not isinstance(data, self.h5py.Dataset):
            raise Refused(f"{name} is no dataset")
        made = data.id.get_create_plist()
        if made.get_layout() == self.h5py.h5d.VIRTUAL:
            raise Refused(f"{name} is a virtual dataset; data in other files is not read")
        if made.get_external_count():
            raise Refused(f"{name} has external storage in {made.get_external(0)[0]!r}; other files are not read")
        if data.shape is None:
            raise Refused(f"{name} is an empty dataset; an array is needed")
        return data

    def facts(self) -> dict[str, Any]:
        """Return the descriptor, its checksum, and HDF5's facts about each array."""
        text = self.group.attrs.get("binsparse")
        if isinstance(text, bytes):
            try:
                text = text.decode()
            except UnicodeDecodeError as error:
                raise Refused(f"the descriptor of {self.group.name!r} is not UTF-8: {error}") from None
        if text is not None and len(str(text)) > _DESCRIPTOR:
            raise Refused(f"the descriptor has {len(str(text)):,} characters; {_DESCRIPTOR:,} are read")
        known = self.group.attrs.get("sparsezc_crc32")
        arrays = {
            name: {
                "shape": list(data.shape), "dtype": data.dtype.newbyteorder("=").str, "offset": data.id.get_offset(),
                "chunk": self.chunk(data),
            } for name, data in self.arrays.items()
        }  # fmt: skip
        packed = Path(self.file.filename).stat().st_size * _UNPACK
        limit(3 * sum(min(array["chunk"], packed) for array in arrays.values()))
        return {
            "text": None if text is None else str(text), "crc": None if known is None else int(known), "arrays": arrays
        }  # fmt: skip

    def chunk(self, data: Any) -> int:
        """Return the bytes of a chunk; 0 if the array is contiguous."""
        count = 1 if data.chunks else 0
        for size in data.chunks or ():
            count *= int(size)
        return count * int(data.dtype.itemsize)

    def read(self, name: str, start: int, stop: int) -> memoryview:
        """Return the bytes of the entries ``start:stop`` of an array, counted row by row."""
        import numpy as np

        data = self.arrays[name]
        native = data.dtype.newbyteorder("=")
        if data.ndim == 0:
            return memoryview(np.asarray(data[()], native).reshape(-1)[start:stop].tobytes())
        width = int(np.prod(data.shape[1:], dtype=np.int64))
        step = data.chunks[0] if data.chunks else 1
        step *= max(1, _BLOCK // max(1, step * width * native.itemsize))  # rows of a block
        parts = []
        while start < stop:
            number = start // width // step
            if self.blocks.get(name, (-1, None))[0] != number:
                self.blocks.pop(name, None)
                block = np.ascontiguousarray(data[number * step : (number + 1) * step], native).reshape(-1)
                self.blocks[name] = number, block
            block, first = self.blocks[name][1], number * step * width
            parts.append(block[start - first : stop - first])
            if not parts[-1].size:
                raise Refused(f"{name} ends before entry {start}")
            start += parts[-1].size
        joined: Any = np.concatenate(parts) if parts else np.empty(0, native)
        return memoryview(joined.view(np.uint8))


def main(descriptor: int) -> None:
    """Answer requests until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when this process ends
    if hasattr(signal, "setitimer"):
        for number in (signal.SIGALRM, signal.SIGPROF):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM, signal.SIGPROF])
    opened: Opened | None = None
    begun = 0.0  # processor time that the process used before it opened the file
    with os.fdopen(descriptor, "wb") as out:

        def answer(said: dict[str, Any]) -> None:
            out.write(json.dumps(said).encode() + b"\n")

        for line in sys.stdin.buffer:
            asked = json.loads(line)
            used = time.process_time() - begun
            alarm(asked["seconds"], max(0.1, asked["cpu_seconds"] - used) if "cpu_seconds" in asked else 0.0)
            try:
                if asked["do"] == "start":
                    sys.path[:] = asked["path"]
                    for module in asked["import"]:
                        __import__(module)
                    limit(0)
                    begun = time.process_time()
                    answer({})
                elif asked["do"] == "open":
                    opened = Opened(asked["file"], asked["group"])
                    answer(opened.facts())
                else:
                    assert opened is not None
                    data = opened.read(asked["name"], asked["start"], asked["stop"])
                    answer({"nbytes": data.nbytes})
                    out.write(data)
            except MemoryError:
                answer({"error": f"HDF5 needs more than {_MEMORY >> 20} MiB of memory for it"})
            except Exception as error:
                said = error.args[0] if isinstance(error, KeyError) and error.args else error
                answer({"error": str(said) or type(error).__name__})
            alarm(0)
            out.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]))
