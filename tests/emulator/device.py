"""An emulated GPU: kernel texts run on the CPU with NumPy instead of CuPy, and undefined behaviour is an error.

How to use it::

    from tests.emulator.device import EmulatedDevice

    device = EmulatedDevice()                           # order="forward"
    kernel = device.compile(source, "mxv")              # the whole text, prelude first; #include "portability.cuh"
    kernel(grid, block, (indptr, np.int64(n), out))     # arrays by pointer, NumPy scalars by value; an int stands for
                                                        # any integer, an int or np.uint64 may stand for a pointer
    device.compile_many([(source, "mxv"), ...])         # warms the cache: many kernels a compiler run, on all cores
    sparsezc.device.cuda.use(device)                         # the whole GPU engine, on the CPU

A rehearsal finds the kernels that code needs (rehearsal.py), so that many are compiled at once.

Orders of lanes and warps: ``forward``, ``reverse``, ``random`` (by ``seed``; other lanes may go first at atomics) and
``lockstep`` (slower: a warp's lanes advance together). One compiled kernel serves all of them, and a device's
``order``, ``seed``, ``guard`` and ``counting`` may be changed between launches. Only in lockstep are loads known to be
one instruction, so requests to host memory are counted only there, with ``counting=True``::

    device = EmulatedDevice("lockstep", counting=True)
    ...
    device.requests(0).share128                         # site 0: indices, 1: values; of the last launch
    device.total(0)                                     # the same, of all launches since device.reset()

Every launch checks the arguments against the kernel's own parameters (how many, sizes, kinds). ``EmulatorError``
reports compiler errors, wrong arguments and undefined behaviour: divergent collectives, shuffles from lanes that take
no part, barriers after threads have left, deadlocks, faults, endless loops (after ``seconds`` of CPU time). Shared
memory holds garbage (0xA5) when a block starts. ``guard="after"`` (or ``"before"``) puts a copy of each array, and
every ``pages()`` made then, beside a page without access, so an index out of bounds is a fault that names block and
thread; ``sanitize="address"`` builds for AddressSanitizer, which sees smaller overruns and shared memory too (needs
:func:`sanitizer_environment`).

Blocks run one after another. So "the last block to arrive" and loops over an atomic work counter work; a block that
waits for a later block would wait for ever, as it may on a GPU, except in sync_grid() (grid_sync.cuh), where each block
is put aside until all wait there. Libraries are kept in pytest's cache folder, by content
(``pytest --cache-clear`` empties it).
"""

from __future__ import annotations

import ctypes
import hashlib
import mmap
import os
import subprocess
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .compiler import Compiler, EmulatorError, why_unavailable
from .guarded import GuardedCopies, guarded_bytes

if TYPE_CHECKING:
    from sparsezc.device.signature import Passed

__all__ = [
    "EmulatedDevice",
    "EmulatorError",
    "HostDevice",
    "Kernel",
    "Requests",
    "aligned",
    "sanitizer_environment",
    "why_unavailable",
]

ORDERS = {"forward": 0, "reverse": 1, "random": 2, "lockstep": 3}
SITES = 8


class _Parameter(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_char), ("size", ctypes.c_uint), ("pointee", ctypes.c_uint)]


class _Kernel(ctypes.Structure):
    _fields_ = [
        ("entry", ctypes.c_void_p),
        ("count", ctypes.c_int),
        ("parameters", ctypes.POINTER(_Parameter)),
        ("shared_begin", ctypes.c_void_p),
        ("shared_end", ctypes.c_void_p),
    ]


class _Launch(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_uint32),
        ("block", ctypes.c_uint32),
        ("order", ctypes.c_int),
        ("counting", ctypes.c_int),
        ("seed", ctypes.c_uint64),
        ("seconds", ctypes.c_double),
    ]


class _SiteStats(ctypes.Structure):
    _fields_ = [
        ("loads", ctypes.c_uint64),
        ("useful_bytes", ctypes.c_uint64),
        ("sectors", ctypes.c_uint64),
        ("requests", ctypes.c_uint64 * 5),
    ]


@dataclass(frozen=True)
class Requests:
    """Requests of launches to host memory at one site of kernels, without any cache between loads."""

    loads: int  #: warp-wide load instructions
    useful_bytes: int  # bytes that the lanes loaded, added up
    sectors: int  #: 32-byte sectors fetched
    by_size: dict[int, int]  #: requests of 32, 64, 96 and 128 bytes

    def __add__(self, other: Requests) -> Requests:
        return Requests(
            self.loads + other.loads,
            self.useful_bytes + other.useful_bytes,
            self.sectors + other.sectors,
            {size: self.by_size[size] + other.by_size[size] for size in self.by_size},
        )

    @property
    def count(self) -> int:
        return sum(self.by_size.values())

    @property
    def bytes(self) -> int:
        return 32 * self.sectors

    @property
    def bytes_per_useful_byte(self) -> float:
        return self.bytes / self.useful_bytes if self.useful_bytes else 0.0

    @property
    def share128(self) -> float:
        """Return the share of the bytes that 128-byte requests carry."""
        return 128 * self.by_size[128] / self.bytes if self.sectors else 0.0


_BY_SIZE = {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_uint32, 8: ctypes.c_uint64}
#: The least and the largest integer of a kind and size.
_BOUNDS = {(k, n): (np.iinfo(f"{k}{n}").min, np.iinfo(f"{k}{n}").max) for k in "iu" for n in (1, 2, 4, 8)}


@cache
def _pointers(count: int) -> Any:
    """Return the ctypes type of an array of `count` addresses, made once, as only a garbage collection frees one."""
    return ctypes.c_void_p * max(1, count)


NOTHING = Requests(0, 0, 0, dict.fromkeys((32, 64, 96, 128), 0))


class Kernel:
    """A compiled kernel: ``kernel(grid, block, args)`` runs it at once."""

    def __init__(self, device: EmulatedDevice, library: Path, symbol: str, name: str) -> None:
        self.device, self.name = device, name
        self._library = device._load(library)
        self._kernel = _Kernel.in_dll(self._library, symbol)
        parameters = [self._kernel.parameters[i] for i in range(self._kernel.count)]
        self._parameters = [(given.kind.decode(), given.size, given.pointee) for given in parameters]

    def check(self, passed: Passed) -> None:
        """Raise unless `passed` are the types of the parameters that the compiler found; None stands for a pointer."""
        told = [("p", 8) if t is None else ("s" if t.kind == "c" else t.kind, t.itemsize) for t in passed]
        found = [(kind, size) for kind, size, _ in self._parameters]
        if told != found:
            raise EmulatorError(f"{self.name}: parameters are told as {told}, the compiler found {found}")

    def __call__(self, grid: int, block: int, args: Sequence[Any]) -> None:
        if not (0 < block <= 1024) or grid < 0:
            raise EmulatorError(f"{self.name}: cannot launch {grid} blocks of {block} threads (a block has 1 to 1024)")
        if len(args) != len(self._parameters):
            raise EmulatorError(f"{self.name} takes {len(self._parameters)} arguments, {len(args)} were given")
        if self.device.recording is not None:
            self.device.recording.launches.append(partial(self, grid, block, args))
            return
        with GuardedCopies(self.device.guard) as copies:
            values = [self._value(k, argument, copies) for k, argument in enumerate(args)]
            pointers = _pointers(len(values))(*[ctypes.addressof(value) for value in values])
            self.device._launch(self, pointers, grid, block)

    def reserve(self, nbytes: int) -> None:
        """Check that a block has so much shared memory; here the kernel's text allocates it, statically."""
        if nbytes > min(self._kernel.shared_end - self._kernel.shared_begin, self.device.block_bytes):
            raise EmulatorError(f"{self.name}: {nbytes} bytes of shared memory are more than a block has")

    def keep(self, grid: int, block: int, args: Sequence[Any], first: int, count: int) -> Callable[..., None]:
        before, after = args[:first], args[first + count :]
        return lambda values: self(grid, block, (*before, *values, *after))

    def at_once(self, threads: int) -> int:
        return self.device.multiprocessors

    def together(self, blocks: int, threads: int, arguments: Sequence[Any]) -> None:
        if blocks > self.at_once(threads):
            raise EmulatorError(f"{self.name}: {blocks} blocks do not run at once, {self.at_once(threads)} do")
        self(blocks, threads, arguments)

    def _value(self, position: int, argument: Any, copies: GuardedCopies) -> Any:
        """Return the argument as a ctypes object of the parameter's size, or raise an error that names it."""
        kind, size, pointee = self._parameters[position]

        def wrong(what: str) -> EmulatorError:
            needed = (
                f"a pointer to {pointee or 'any number of'}-byte items" if kind == "p" else f"{size} bytes ({kind})"
            )
            return EmulatorError(f"{self.name}, argument {position}: the kernel takes {needed}, {what} was given")

        if isinstance(argument, np.ndarray):
            if kind != "p" or (pointee and argument.dtype.itemsize not in (pointee, 1)):
                raise wrong(f"an array of {argument.dtype}")
            if not argument.flags.c_contiguous:
                raise wrong("an array that is not contiguous")
            return ctypes.c_void_p(copies.pointer(argument))
        if kind == "p":
            if argument is None or isinstance(argument, (int, np.uint64)):
                return ctypes.c_void_p(int(argument or 0))
            raise wrong(f"{argument!r} ({type(argument).__name__})")
        if type(argument) is int and kind in "iu":
            low, high = _BOUNDS[kind, size]
            if not low <= argument <= high:
                raise wrong(f"{argument}")
            return _BY_SIZE[size](argument)
        if not isinstance(argument, np.generic):
            raise wrong(f"{argument!r} ({type(argument).__name__}), not a NumPy scalar,")
        given = argument.dtype
        if given.itemsize != size or (kind != "s" and given.kind != kind):
            raise wrong(f"{given}")
        if size in _BY_SIZE:
            return _BY_SIZE[size].from_buffer_copy(argument)
        buffer = np.empty(size + 16, np.uint8)
        at = -buffer.ctypes.data % 16  # parameters on a GPU are aligned so
        buffer[at : at + size] = np.frombuffer(argument.tobytes(), np.uint8)
        return (ctypes.c_char * size).from_buffer(buffer, at)


#: Arrays that `pages` allocated and that are still in use, by id.
_PAGES: weakref.WeakValueDictionary[int, np.ndarray] = weakref.WeakValueDictionary()


class HostDevice:
    """The methods of :class:`sparsezc.device.protocol.Device` other than kernels: host memory is device memory."""

    name = "emulator"
    xp: Any = np
    guard: str | None = None
    multiprocessors = 2
    cache_bytes = 1 << 25
    block_bytes = 48 << 10
    free_memory = total_memory = 1 << 30
    recording: Recording | None = None

    def memory(self) -> tuple[int, int]:
        return self.free_memory, self.total_memory

    def managed_is_safe(self) -> bool:
        return True

    def pages(self, nbytes: int, kind: str, wait: bool = True) -> Any:
        from sparsezc.device.protocol import Pages

        if self.guard:
            array = guarded_bytes(nbytes, self.guard)
        else:
            buffer = np.zeros(nbytes + mmap.PAGESIZE, np.uint8)
            array = buffer[-buffer.ctypes.data % mmap.PAGESIZE :][:nbytes]
            _PAGES[id(buffer)] = buffer
        return Pages(array, array.ctypes.data, kind)

    def map(self, array: np.ndarray) -> Any:
        from sparsezc.device.protocol import Pages

        return Pages(array, array.ctypes.data, "file")

    def has_turn(self, turn: int) -> bool:
        return True

    def asnumpy(self, array: np.ndarray) -> np.ndarray:
        return array

    def pointer(self, array: np.ndarray) -> int:
        return int(array.ctypes.data)

    def _check_managed(self, host: np.ndarray, kind: str) -> None:
        """Raise for an array that is declared managed memory and is not: on a GPU its address would be illegal."""
        owner: Any = host
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if kind == "managed" and not self.guard and id(owner) not in _PAGES:
            raise EmulatorError("an array of other memory is copied as one of managed memory")

    def copy_in(self, array: np.ndarray, host: np.ndarray, kind: str = "pinned") -> None:
        self._check_managed(host, kind)
        array.view(np.uint8)[...] = host.view(np.uint8)

    def copy_pageable(self, array: np.ndarray, host: np.ndarray) -> LateCopy:
        return LateCopy(array.view(np.uint8), host.view(np.uint8))

    def copy_out(self, array: np.ndarray, host: np.ndarray, kind: str = "pinned", wait: bool = True) -> None:
        self._check_managed(host, kind)
        host.view(np.uint8)[...] = array.view(np.uint8)

    def move(self, target: int, source: int, nbytes: int) -> None:
        ctypes.memmove(target, source, nbytes)

    def synchronize(self) -> None:
        """Return at once: a launch has ended when it returns."""

    def cards(self) -> list[int]:
        return [self.free_memory, self.free_memory]

    def spread(self, nbytes: int) -> np.ndarray:
        from sparsezc.device.striped_memory import owners

        owners(nbytes, self.cards())
        buffer = np.empty(nbytes + 128, np.uint8)
        return buffer[-buffer.ctypes.data % 128 :][:nbytes]

    def window(self, nbytes: int) -> Any:
        """Return a file that stands for device memory which another process can open by name."""
        from sparsezc.device.protocol import Window

        file, path = tempfile.mkstemp(prefix="window")
        os.ftruncate(file, max(nbytes, 1))
        os.close(file)
        array = self.open_window(path.encode(), nbytes)
        weakref.finalize(array, os.unlink, path)
        return Window(array, path.encode())

    def open_window(self, name: bytes, nbytes: int) -> np.ndarray:
        return np.memmap(name.decode(), np.uint8, "r+")[:nbytes]

    def signal(self) -> Any:
        from sparsezc.device.protocol import Signal

        return Signal(self.synchronize, b"")

    def open_signal(self, name: bytes) -> Callable[[], None]:
        return self.synchronize

    def copies(self) -> Copies:
        return Copies()

    def traffic(self, kernel: Any) -> tuple[int, int, int]:
        """Return zeros: nothing is counted."""
        return 0, 0, 0

    @contextmanager
    def record(self) -> Iterator[Recording]:
        """Record launches; operations on arrays, done by NumPy, run now and are not replayed."""
        self.recording = Recording()
        try:
            yield self.recording
        finally:
            self.recording = None


class Copies:
    """Copies that have ended when the call returns."""

    def wait(self) -> None: ...
    def join(self) -> None: ...

    def copy(self, target: np.ndarray, host: np.ndarray) -> None:
        target[...] = host

    def mark(self) -> Callable[[], None]:
        return lambda: None


class LateCopy:
    """A copy whose bytes arrive only when they are waited for; before, the target holds garbage."""

    def __init__(self, to: np.ndarray, host: np.ndarray) -> None:
        self.to, self.host, self.count = to, host, 0
        to[...] = 0xA5

    def wait(self, nbytes: int) -> int:
        self.to[self.count : nbytes] = self.host[self.count : nbytes]
        self.count = max(self.count, nbytes)
        return self.count


class Recording:
    """Recorded launches, replayed in order."""

    def __init__(self) -> None:
        self.launches: list[Callable[[], None]] = []

    def replay(self) -> None:
        for launch in self.launches:
            launch()


class EmulatedDevice(HostDevice):
    """A :class:`~sparsezc.device.protocol.Device` on the CPU; this module's docstring shows its use."""

    def __init__(
        self,
        order: str = "forward",
        *,
        counting: bool = False,
        seed: int = 1,
        guard: str | None = None,
        sanitize: str | None = None,
        multiprocessors: int = 2,
        memory: int = 1 << 30,
        seconds: float = 60.0,
    ) -> None:
        self.order, self.counting, self.seed, self.guard = order, counting, seed, guard
        self.multiprocessors, self.free_memory, self.total_memory = multiprocessors, memory, memory
        self.seconds = seconds
        self._compiler = Compiler(sanitize=sanitize)
        self._kernels: dict[bytes, Kernel] = {}  # by a digest, as texts are long
        self._libraries: dict[Path, ctypes.CDLL] = {}
        self._machine = ctypes.CDLL(str(self._compiler.runtime()), mode=ctypes.RTLD_GLOBAL)
        self._stats = (_SiteStats * SITES)()
        self.reset()

    def compile(self, source: str, name: str, passed: Passed | None = None) -> Kernel:
        """Compile the kernel ``name`` of a text, or take it from the cache; `passed` must be its parameters' types."""
        kernel = self.compile_many([(source, name)])[0]
        if passed is not None:
            kernel.check(passed)
        return kernel

    def compile_many(self, cases: Sequence[tuple[str, str]]) -> list[Kernel]:
        """Compile several kernels at once: those that are not cached in batches, on all cores."""
        keys = [hashlib.sha1(f"{name}\0{source}".encode()).digest() for source, name in cases]
        missing = {key: case for key, case in zip(keys, cases, strict=True) if key not in self._kernels}
        found = self._compiler.compile_many(list(missing.values()))
        for (key, (_, name)), (library, symbol) in zip(missing.items(), found, strict=True):
            self._kernels[key] = Kernel(self, library, symbol, name)
        return [self._kernels[key] for key in keys]

    # Counts.

    def reset(self) -> None:
        """Forget the launches so far."""
        self.launches: list[str] = []
        self._total = dict.fromkeys(range(SITES), NOTHING)

    def requests(self, site: int) -> Requests:
        """Return the requests of the last launch at one site; needs order ``lockstep`` and ``counting``."""
        if not self.counting or self.order != "lockstep":
            raise EmulatorError('requests are counted by EmulatedDevice("lockstep", counting=True) only')
        stats = self._stats[site]
        by_size = {32 * k: stats.requests[k] for k in range(1, 5)}
        return Requests(stats.loads, stats.useful_bytes, stats.sectors, by_size)

    def traffic(self, kernel: Any) -> tuple[int, int, int]:
        """Return requests and sectors of host memory, and sectors of device memory, of the last launch."""
        if not self.counting:
            return 0, 0, 0
        host = self.requests(0) + self.requests(1)
        return host.count, host.sectors, self.requests(2).sectors

    def total(self, site: int) -> Requests:
        """Return the requests of all launches since :meth:`reset`."""
        self.requests(site)  # raises if nothing was counted
        return self._total[site]

    def _load(self, library: Path) -> ctypes.CDLL:
        if library not in self._libraries:
            self._libraries[library] = ctypes.CDLL(str(library))
        return self._libraries[library]

    def _launch(self, kernel: Kernel, pointers: Any, grid: int, block: int) -> None:
        launch = _Launch(grid, block, ORDERS[self.order], self.counting, self.seed, self.seconds)
        message = ctypes.create_string_buffer(1024)
        run: Callable[..., int] = self._machine.szc_emu_launch
        self.launches.append(kernel.name)
        if run(ctypes.byref(kernel._kernel), pointers, ctypes.byref(launch), self._stats, message, len(message)):
            raise EmulatorError(f"{kernel.name}, {self.order}, {message.value.decode()}")
        if self.counting and self.order == "lockstep":
            self._total = {site: total + self.requests(site) for site, total in self._total.items()}


def aligned(array: np.ndarray, to: int = 128, offset: int = 0) -> np.ndarray:
    """Return a copy whose first byte is ``offset`` bytes past a multiple of ``to``."""
    buffer = np.empty(array.nbytes + 2 * to, np.uint8)
    start = -buffer.ctypes.data % to + offset
    copy = buffer[start : start + array.nbytes].view(array.dtype)
    copy[...] = array
    return copy


def sanitizer_environment() -> dict[str, str]:
    """Return the environment in which a Python process can load kernels built with ``sanitize="address"``."""
    libraries = []
    for name in ("libasan.so", "libstdc++.so"):  # libstdc++ throws the runtime's exceptions: the sanitizer looks there
        command = ["g++", f"-print-file-name={name}"]
        libraries.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())
    return {
        **os.environ,
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0",
    }
