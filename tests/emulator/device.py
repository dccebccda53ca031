"""An emulated GPU: kernel texts run on the CPU, NumPy stands in CuPy's place, and what CUDA leaves undefined is an error.

How to use it::

    from emulator.device import EmulatedDevice          # from tests/; inside tests/emulator: from .device import ...

    device = EmulatedDevice()                           # order="forward"
    kernel = device.compile(source, "mxv")              # the whole text, prelude first; #include "port.cuh" is found
    kernel(grid, block, (indptr, np.int64(n), out))     # arrays by pointer, NumPy scalars by value, np.uint64 or int
                                                        # may stand for a pointer (memory.Buffer.pointer)
    device.compile_many([(source, "mxv"), ...])         # warms the cache: many kernels a compiler run, on all cores

Orders of lanes and warps: ``forward``, ``reverse``, ``random`` (with ``seed``; other lanes may go first at atomics) and
``lockstep`` (slower: a warp's lanes advance together). They share one compiled kernel, and a device's ``order``, ``seed``
and ``counting`` may be changed between launches. Only lockstep knows which loads are one instruction, so only there,
with ``counting=True``, are requests to host memory counted::

    device = EmulatedDevice("lockstep", counting=True)
    ...
    device.requests(0).share128                         # site 0: indices, 1: values; of the last launch

Every launch checks the arguments against the kernel's own parameters (how many, sizes, kinds). ``EmulatorError``
reports compiler errors, wrong arguments and undefined behaviour: divergent collectives, shuffles from lanes that take no
part, barriers after threads have left, deadlocks, faults, endless loops (``seconds`` of CPU time). Shared memory holds
garbage (0xA5) when a block starts. ``guard="after"`` (or ``"before"``) puts a copy of each array against a page that cannot be touched, so
an index out of bounds is a fault with block and thread; ``sanitize="address"`` builds for AddressSanitizer (run such a
process under :func:`sanitizer_environment`).

Blocks run one after another. So "the last block to arrive" and loops over an atomic work counter work; a block that waits
for a later block would wait for ever, as it may on a GPU.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .compiler import Compiler, EmulatorError, why_unavailable
from .guarded import GuardedCopies

__all__ = [
    "EmulatedDevice",
    "EmulatorError",
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
    """What one launch asked of host memory at one site, nothing cached between loads."""

    loads: int  #: warp-wide load instructions
    useful_bytes: int  #: the sum of what the lanes asked for
    sectors: int  #: 32-byte sectors fetched
    by_size: dict[int, int]  #: requests of 32, 64, 96 and 128 bytes

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
        """The share of the bytes that 128-byte requests carry."""
        return 128 * self.by_size[128] / self.bytes if self.sectors else 0.0


class Kernel:
    """A compiled kernel: ``kernel(grid, block, args)`` runs it at once."""

    def __init__(self, device: EmulatedDevice, library: Path, symbol: str, name: str) -> None:
        self.device, self.name = device, name
        self._library = device._load(library)
        self._kernel = _Kernel.in_dll(self._library, symbol)
        self._parameters = [self._kernel.parameters[i] for i in range(self._kernel.count)]

    def __call__(self, grid: int, block: int, args: Sequence[Any]) -> None:
        if not (0 < block <= 1024) or grid < 0:
            raise EmulatorError(f"{self.name}: cannot launch {grid} blocks of {block} threads (a block has 1 to 1024)")
        if len(args) != len(self._parameters):
            raise EmulatorError(f"{self.name} takes {len(self._parameters)} arguments, {len(args)} were given")
        with GuardedCopies(self.device.guard) as copies:
            values = [self._value(k, argument, copies) for k, argument in enumerate(args)]
            pointers = (ctypes.c_void_p * max(1, len(values)))(*[ctypes.addressof(value) for value in values])
            self.device._launch(self, pointers, grid, block)

    def _value(self, position: int, argument: Any, copies: GuardedCopies) -> Any:
        """The argument as a ctypes object of the parameter's own size, or an error that names it."""
        parameter = self._parameters[position]
        kind, size = parameter.kind.decode(), parameter.size

        def wrong(what: str) -> EmulatorError:
            needed = (
                f"a pointer to {parameter.pointee or 'any number of'}-byte items"
                if kind == "p"
                else f"{size} bytes ({kind})"
            )
            return EmulatorError(f"{self.name}, argument {position}: the kernel takes {needed}, {what} was given")

        if isinstance(argument, np.ndarray):
            if kind != "p" or (parameter.pointee and argument.dtype.itemsize not in (parameter.pointee, 1)):
                raise wrong(f"an array of {argument.dtype}")
            if not argument.flags.c_contiguous:
                raise wrong("an array that is not contiguous")
            return ctypes.c_void_p(copies.pointer(argument))
        if kind == "p":
            if argument is None or isinstance(argument, (int, np.uint64)):
                return ctypes.c_void_p(int(argument or 0))
            raise wrong(f"{argument!r} ({type(argument).__name__})")
        if not isinstance(argument, np.generic):
            raise wrong(f"{argument!r} ({type(argument).__name__}), not a NumPy scalar,")
        given = argument.dtype
        if given.itemsize != size or (kind != "s" and given.kind != kind):
            raise wrong(f"{given}")
        return (ctypes.c_char * size).from_buffer_copy(argument.tobytes())


class EmulatedDevice:
    """The seam of ``sparsezc.engines.gpu.device.Device``, on the CPU; this module's text says how to use it."""

    name = "emulator"
    xp = np

    def __init__(
        self,
        order: str = "forward",
        *,
        counting: bool = False,
        seed: int = 1,
        guard: str | None = None,
        sanitize: str | None = None,
        cache: Path | None = None,
        sm_count: int = 2,
        seconds: float = 60.0,
    ) -> None:
        self.order, self.counting, self.seed, self.guard = order, counting, seed, guard
        self.sm_count, self.seconds = sm_count, seconds
        self.launches = 0
        self._compiler = Compiler(cache, sanitize)
        self._kernels: dict[tuple[str, str], Kernel] = {}
        self._libraries: dict[Path, ctypes.CDLL] = {}
        self._machine = ctypes.CDLL(str(self._compiler.runtime()), mode=ctypes.RTLD_GLOBAL)
        self._stats = (_SiteStats * SITES)()

    def compile(self, source: str, name: str) -> Kernel:
        """The kernel ``name`` of a text, from the cache where it is there."""
        return self.compile_many([(source, name)])[0]

    def compile_many(self, cases: Sequence[tuple[str, str]]) -> list[Kernel]:
        """Several kernels at once: what is not in the cache is compiled in batches, on all cores."""
        missing = [case for case in dict.fromkeys(cases) if case not in self._kernels]
        for case, (library, symbol) in zip(missing, self._compiler.compile_many(missing), strict=True):
            self._kernels[case] = Kernel(self, library, symbol, case[1])
        return [self._kernels[case] for case in cases]

    def synchronize(self) -> None:
        """Nothing to wait for: a launch returns when the kernel has ended."""

    def requests(self, site: int) -> Requests:
        """The requests of the last launch at one site; needs order ``lockstep`` and ``counting``."""
        if not self.counting or self.order != "lockstep":
            raise EmulatorError('requests are counted by EmulatedDevice("lockstep", counting=True) only')
        stats = self._stats[site]
        return Requests(
            stats.loads, stats.useful_bytes, stats.sectors, {32 * k: stats.requests[k] for k in range(1, 5)}
        )

    def _load(self, library: Path) -> ctypes.CDLL:
        if library not in self._libraries:
            self._libraries[library] = ctypes.CDLL(str(library))
        return self._libraries[library]

    def _launch(self, kernel: Kernel, pointers: Any, grid: int, block: int) -> None:
        launch = _Launch(grid, block, ORDERS[self.order], self.counting, self.seed, self.seconds)
        message = ctypes.create_string_buffer(1024)
        run: Callable[..., int] = self._machine.szc_emu_launch
        self.launches += 1
        if run(ctypes.byref(kernel._kernel), pointers, ctypes.byref(launch), self._stats, message, len(message)):
            raise EmulatorError(f"{kernel.name}, {self.order}, {message.value.decode()}")


def aligned(array: np.ndarray, to: int = 128, offset: int = 0) -> np.ndarray:
    """A copy whose first byte lies ``offset`` bytes past a multiple of ``to``."""
    room = np.empty(array.nbytes + 2 * to, np.uint8)
    start = -room.ctypes.data % to + offset
    copy = room[start : start + array.nbytes].view(array.dtype)
    copy[...] = array
    return copy


def sanitizer_environment() -> dict[str, str]:
    """The environment in which a Python process can load kernels built with ``sanitize="address"``."""
    library = subprocess.run(
        ["g++", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    return {**os.environ, "LD_PRELOAD": library, "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0"}
