"""HDF5 files of other programs, opened in a separate process (reader_process.py): a crash there is an error here."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError, Panic
from sparsezc.io.build.optional import need
from sparsezc.io.files.source import FileTimeout, existing

_PROGRAM = Path(__file__).with_name("reader_process.py")
_STARTING = 60.0  # seconds for the process to start, before it opens the file
_CPU_SECONDS = 2.0  # seconds of processor time for HDF5 to open a file (it takes 10 ms), beside the time for its arrays
_CPU_RATE = 20e6  # bytes a second that every decompressor reaches
_WAIT = 60.0  # seconds for a disk to deliver a piece, beside the time for a large chunk
_WAIT_RATE = 1e6  # bytes a second that every disk reaches
_UNPACK = 1032  # bytes into which one byte of the file may unpack: deflate packs no better
_FREE = 64 << 20  # bytes of an array that are accepted whatever the file's size, as other filters may pack better
_PIECE = 4 << 20  # bytes requested at a time
_LINE = 32 << 20  # the most bytes of an answer's first line
_NUMBERS = {np.dtype(kind).str for kind in ("?", *"bhiqBHIQefdFD")}


class Array(NamedTuple):
    """The facts about a dataset; `offset`: its first byte if it is contiguous, else None; `whole`: it has no chunks."""

    shape: tuple[int, ...]
    dtype: str
    offset: int | None
    whole: bool

    @property
    def size(self) -> int:
        """Return the number of entries."""
        return int(np.prod(self.shape, dtype=object))


class Foreign:
    """A file of another program, open in a process of its own until it is closed.

    Attributes
    ----------
    text : str or None
        The descriptor.
    crc : int or None
        The checksum of the descriptor, if sparsezc wrote it.
    arrays : dict of str to Array
        The arrays that binsparse or sparsezc names and the file has.

    Raises
    ------
    FileFormatError
        The file is no HDF5 file, is damaged, or refers to other files; or HDF5 crashes or does not finish.
    FileTimeout
        The disk delivers too little of it within a minute.
    PackageMissing
        h5py is not installed.
    """

    def __init__(self, path: Path, group: str | None = None) -> None:
        need("h5py", "hdf5")
        self.path = existing(path)
        self._file_size = self.path.stat().st_size
        self._cpu_seconds, self._wait = _CPU_SECONDS, _WAIT
        self._process, self._answers = _start(self.path)
        try:
            self._begin()
            found = self._ask_of_file({"do": "open", "file": os.fspath(self.path), "group": group})
            self.text, self.crc = found["text"], found["crc"]
            self.arrays = {str(name): self._array(str(name), each) for name, each in found["arrays"].items()}
        except BaseException:
            self.close()
            raise

    def _array(self, name: str, facts: Any) -> Array:
        made = Array(tuple(map(int, facts["shape"])), str(facts["dtype"]), facts["offset"], not facts["chunk"])
        if made.dtype not in _NUMBERS:
            raise self._damage(f"{name} holds {made.dtype}; whole, real or complex numbers are needed")
        nbytes = made.size * np.dtype(made.dtype).itemsize
        most = max(_FREE, _UNPACK * self._file_size)
        if nbytes > most:
            raise self._damage(f"{name} has {nbytes:,} bytes, and a file of {self._file_size:,} holds {most:,} at most")
        chunk = int(facts["chunk"])
        self._cpu_seconds += min(chunk, _UNPACK * self._file_size) / _CPU_RATE
        self._wait = max(self._wait, _WAIT + min(chunk, self._file_size) / _WAIT_RATE)
        return made

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        self._answers.close()
        if self._process.stdin is not None:
            with suppress(OSError):  # the process did not read the last request
                self._process.stdin.close()

    def read(self, name: str, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return the numbers ``start:stop`` of an array, as they are stored.

        Raises
        ------
        FileFormatError
            The numbers cannot be read, or not within the processor time for so many bytes.
        FileTimeout
            The disk delivers too little within a minute.
        """
        known = self.arrays[name]
        stop = known.size if stop is None else min(stop, known.size)
        made = np.empty(max(0, stop - start), known.dtype)
        step = _PIECE // made.itemsize
        for at in range(0, made.size, step):
            part = made[at : at + step]
            self._cpu_seconds += part.nbytes / _CPU_RATE
            asked = {"do": "read", "name": name, "start": start + at, "stop": start + at + part.size}
            said = self._ask_of_file(asked, part)
            if said.get("nbytes") != part.nbytes:
                raise self._damage(f"{name} ends before entry {start + at + part.size}")
        return made

    def _ask(self, asked: dict[str, Any], out: NDArray[Any] | None = None) -> dict[str, Any] | None:
        """Send a request, and return its answer, with the bytes that follow in `out`; None if the process ended."""
        found: Any = None
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(asked).encode() + b"\n")
            self._process.stdin.flush()
            line = self._answers.readline(_LINE)
            found = json.loads(line) if line.endswith(b"\n") else None
            if out is not None and found is not None and found.get("nbytes") == out.nbytes:
                found = found if self._answers.readinto(out.view(np.uint8).data) == out.nbytes else None
        except (OSError, ValueError):
            found = None
        return found if isinstance(found, dict) else None

    def _begin(self) -> None:
        """Have the process import its modules, before it opens the file."""
        modules = ["numpy", "h5py", *(name for name in ("hdf5plugin",) if name in sys.modules)]
        found = self._ask({"do": "start", "path": sys.path, "import": modules, "seconds": _STARTING})
        if found is None or "error" in found:
            raise _unopened(self.path, "it ended" if found is None else found["error"])

    def _ask_of_file(self, asked: dict[str, Any], out: NDArray[Any] | None = None) -> dict[str, Any]:
        """Return the answer to a request about the file; raise FileFormatError, or FileTimeout for a slow disk."""
        found = self._ask(asked | {"seconds": self._wait, "cpu_seconds": self._cpu_seconds}, out)
        if found is None:
            raise self._ended()
        if "error" in found:
            raise self._damage(str(found["error"]))
        return found

    def _ended(self) -> FileFormatError | FileTimeout:
        """Return the error that explains the end of the process."""
        self._process.kill()
        code = self._process.wait()
        if hasattr(signal, "setitimer") and code == -signal.SIGPROF:
            return self._damage(f"HDF5 did not finish within {self._cpu_seconds:.1f} s of processor time")
        if hasattr(signal, "setitimer") and code == -signal.SIGALRM:
            return FileTimeout(
                f"{self.path} was not read: HDF5 waited for its disk, without an answer within {self._wait:.1f} s"
            )
        name = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        return self._damage(f"HDF5 crashed on it ({name})")

    def _damage(self, said: str) -> FileFormatError:
        return FileFormatError(f"{self.path} is no binsparse file, or damaged: {one_line(said)}")


def _start(path: Path) -> tuple[subprocess.Popen[bytes], Any]:
    """Return a process that waits for requests, and the stream of its answers."""
    ours, theirs = os.pipe()
    command = [sys.executable, "-I", "-S", os.fspath(_PROGRAM), str(theirs)]
    environment = os.environ | {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
    try:
        made = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[theirs],
            env=environment,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        os.close(ours)
        raise _unopened(path, error) from None
    finally:
        os.close(theirs)
    return made, os.fdopen(ours, "rb")


def _unopened(path: Path, said: object) -> Panic:
    return Panic(f"{path} is another program's file; the process that opens those cannot start: {one_line(said)}")


def one_line(said: object, most: int = 300) -> str:
    """Return another library's message, or a name in a file, as one line of at most `most` printable characters."""
    text = " ".join(str(said)[: 4 * most].split())
    text = "".join(each if each.isprintable() else "?" for each in text)
    return text if len(text) <= most else f"{text[: most - 3]}..."
