"""An NVIDIA GPU through CuPy, which is imported when the GPU is first used, never before."""

from __future__ import annotations

import ctypes
import mmap
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.device import nvrtc, pageable, striped_memory
from sparsezc.device.argument_slots import ArgumentSlots
from sparsezc.device.first_touch import FirstTouch
from sparsezc.device.processors import processors
from sparsezc.device.protocol import Kernel, Pages, Relaunch, Signal, Window, giving
from sparsezc.device.signature import Passed
from sparsezc.exceptions import DeviceUnavailable, OutOfMemory

__all__ = ["Cuda"]

_HUGE = 2 << 20
_ACCESSED_BY, _READ_MOSTLY = 5, 1  # cudaMemAdviseSetAccessedBy, cudaMemAdviseSetReadMostly
_PORTABLE_MAPPED = 1 | 2  # cudaHostRegisterPortable | cudaHostRegisterMapped
_READ_ONLY = 8  # cudaHostRegisterReadOnly
_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_BLOCK_BYTES = 97  # cudaDevAttrMaxSharedMemoryPerBlockOptin
_NO_CONTEXT = 201  # CUDA_ERROR_INVALID_CONTEXT: a thread has called nothing of the runtime yet
_TO_HOST = 2  # cudaMemcpyDeviceToHost
_COPIERS = 4  # processors from which threads copy faster than the driver


class _Graph:
    """A CUDA graph, and the memory pool of the arrays that its kernels use."""

    def __init__(self) -> None:
        self.graph: Any = None
        self.pool: Any = None

    def replay(self) -> None:
        self.graph.launch()


class _Kernel:
    """A compiled kernel; `module` has the counters of one that counts its requests."""

    def __init__(self, cuda: Any, multiprocessors: int, module: Any, name: str, passed: Passed) -> None:
        self.module, self._cuda, self._driver, self._multiprocessors = module, cuda, cuda.driver, multiprocessors
        self._address, self._passed, self._slots = int(module.get_function(name).ptr), passed, ArgumentSlots(passed)
        self._shared = 0  # bytes of a block, beside those that the kernel's text declares
        self._writing = Lock()  # the driver reads the slots without the interpreter's lock

    def __call__(self, blocks: int, threads: int, arguments: tuple[Any, ...]) -> None:
        with self._writing:
            self._slots.write(arguments)
            self._launch(self._driver.launchKernel, (0,), blocks, threads, self._slots.address)

    def keep(self, blocks: int, threads: int, arguments: tuple[Any, ...], first: int, count: int) -> Relaunch:
        slots, launch = ArgumentSlots(self._passed), self._driver.launchKernel
        slots.write(arguments)
        write = slots.part(first, count)

        def again(values: tuple[Any, ...]) -> None:
            with self._writing:
                write(values)
                self._launch(launch, (0,), blocks, threads, slots.address)

        return again

    def reserve(self, nbytes: int) -> None:
        self._driver.funcSetAttribute(self._address, _DYNAMIC_SHARED, nbytes)
        self._shared = nbytes

    def at_once(self, threads: int) -> int:
        of_each = self._driver.occupancyMaxActiveBlocksPerMultiprocessor(self._address, threads, self._shared)
        return int(of_each) * self._multiprocessors

    def together(self, blocks: int, threads: int, arguments: tuple[Any, ...]) -> None:
        with self._writing:
            self._slots.write(arguments)
            self._launch(self._driver.launchCooperativeKernel, (), blocks, threads, self._slots.address)

    def _launch(
        self, launch: Callable[..., None], extra: tuple[int, ...], blocks: int, threads: int, slots: int
    ) -> None:
        shared, stream = self._shared, self._cuda.get_current_stream().ptr
        try:
            launch(self._address, blocks, 1, 1, threads, 1, 1, shared, stream, slots, *extra)
        except self._driver.CUDADriverError as error:
            if error.status != _NO_CONTEXT:
                raise
            self._cuda.runtime.free(0)  # gives this thread the device's context
            launch(self._address, blocks, 1, 1, threads, 1, 1, shared, stream, slots, *extra)


class _CopyStream:
    """Copies on a separate stream."""

    def __init__(self, cuda: Any) -> None:
        self._cuda, self._stream = cuda, cuda.Stream(non_blocking=True)

    def wait(self) -> None:
        self._stream.wait_event(self._cuda.get_current_stream().record())

    def copy(self, target: Any, host: NDArray[Any]) -> None:
        self._cuda.runtime.memcpyAsync(int(target.data.ptr), host.ctypes.data, host.nbytes, 1, self._stream.ptr)

    def join(self) -> None:
        self._cuda.get_current_stream().wait_event(self._stream.record())

    def mark(self) -> Callable[[], None]:
        wait: Callable[[], None] = self._stream.record().synchronize
        return wait


class Cuda:
    """An NVIDIA GPU through CuPy."""

    def __init__(self, turn: int | None = None) -> None:
        self.xp = _import_cupy()
        runtime = self.xp.cuda.runtime
        self._runtime = runtime
        if turn is not None:
            runtime.setDevice(turn % runtime.getDeviceCount())
        self.id = int(runtime.getDevice())
        properties = runtime.getDeviceProperties(self.id)
        self.name = properties["name"].decode()
        self.multiprocessors = int(properties["multiProcessorCount"])
        self.cache_bytes = int(properties["l2CacheSize"])
        self.block_bytes = int(runtime.deviceGetAttribute(_BLOCK_BYTES, self.id))
        self.capability = f"{properties['major']}.{properties['minor']}"
        memory = self.xp.cuda
        with suppress(ValueError):  # CuPy refuses within the user's ``using_allocator``, whose allocator stays
            memory.set_allocator(giving(memory.get_allocator()))

    def has_turn(self, turn: int) -> bool:
        return self.id == turn % int(self._runtime.getDeviceCount())

    def compile(self, source: str, name: str, passed: Passed) -> Kernel:
        module = self.xp.cuda.Module()
        module.load(nvrtc.compiled(self.xp.cuda.nvrtc, source, int(self.capability.replace(".", ""))))
        return _Kernel(self.xp.cuda, self.multiprocessors, module, name, passed)

    def copies(self) -> _CopyStream:
        return _CopyStream(self.xp.cuda)

    def traffic(self, kernel: Any) -> tuple[int, int, int]:
        at = self.xp.cuda.UnownedMemory(kernel.module.get_global_var("szc_traffic"), 24, kernel.module)
        counted = self.xp.ndarray(3, np.uint64, self.xp.cuda.MemoryPointer(at, 0))
        requests, sectors, inside = map(int, self.asnumpy(counted))
        counted.fill(0)
        return requests, sectors, inside

    def memory(self) -> tuple[int, int]:
        free, total = self._runtime.memGetInfo()
        pool = self.xp.get_default_memory_pool()
        return int(free) + int(pool.free_bytes()), int(total)

    @cached_property
    def _concurrent_managed(self) -> bool:
        return bool(self._runtime.deviceGetAttribute(89, self.id))  # cudaDevAttrConcurrentManagedAccess

    def managed_is_safe(self) -> bool:
        return self._concurrent_managed

    def pages(self, nbytes: int, kind: str, wait: bool = True) -> Pages:
        made = self._pinned(nbytes) if kind == "pinned" else self._managed(nbytes, kind)
        return made.wait_for_all() if wait else made

    def _managed(self, nbytes: int, kind: str) -> Pages:
        """Allocate managed pages, touched first by the host, where they stay; "migrating" ones are copied on demand."""
        runtime = self._runtime
        try:
            pointer = int(runtime.mallocManaged(max(nbytes, 1)))
        except Exception as error:  # CuPy's own class; its text names the cause
            raise OutOfMemory(f"{nbytes:,} bytes of managed memory were requested: {error}") from None
        advice = _ACCESSED_BY if kind == "managed" else _READ_MOSTLY
        runtime.memAdvise(pointer, max(nbytes, 1), advice, self.id)
        array = _view(pointer, nbytes)
        weakref.finalize(array.base, _give_back, runtime, runtime.free, pointer)
        return Pages(array, pointer, kind, FirstTouch(array).wait)

    def _pinned(self, nbytes: int) -> Pages:
        """Allocate by mmap, touch the pages by many threads, and register them: ten times faster than cudaHostAlloc."""
        size = -(-max(nbytes, 1) // _HUGE) * _HUGE
        try:
            region = mmap.mmap(-1, size + _HUGE)
        except OSError as error:
            raise OutOfMemory(f"{size:,} bytes of host memory were requested: {error}") from None
        region.madvise(mmap.MADV_HUGEPAGE)
        whole = np.frombuffer(region, np.uint8)
        pointer = -(-whole.ctypes.data // _HUGE) * _HUGE
        array = whole[pointer - whole.ctypes.data :][:size]
        FirstTouch(array).wait(size)
        try:
            self._runtime.hostRegister(pointer, size, _PORTABLE_MAPPED)
        except Exception as error:
            raise OutOfMemory(f"{size:,} bytes of host memory could not be pinned: {error}") from None
        held = _view(pointer, nbytes)
        weakref.finalize(held.base, _give_back, self._runtime, self._runtime.hostUnregister, pointer, whole)
        return Pages(held, pointer, "pinned")

    def map(self, array: NDArray[np.uint8]) -> Pages:
        start = array.ctypes.data // mmap.PAGESIZE * mmap.PAGESIZE
        size = -(-(array.ctypes.data + array.size - start) // mmap.PAGESIZE) * mmap.PAGESIZE
        try:
            self._runtime.hostRegister(start, size, _PORTABLE_MAPPED | _READ_ONLY)
        except Exception as error:  # refused by the file system, driver or system, or memory is short
            raise OutOfMemory(f"{size:,} bytes of a file could not be registered: {error}") from None
        pages = Pages(array, array.ctypes.data, "file")
        weakref.finalize(pages, _give_back, self._runtime, self._runtime.hostUnregister, start, array)
        return pages

    def asnumpy(self, array: Any) -> NDArray[Any]:
        return np.asarray(self.xp.asnumpy(array))

    def pointer(self, array: Any) -> int:
        return int(array.data.ptr)

    def copy_in(self, array: Any, host: NDArray[Any], kind: str = "pinned") -> None:
        if kind == "managed":
            self._copy_managed(self.pointer(array), host.ctypes.data, array.nbytes)
            return
        self.xp.cuda.get_current_stream().synchronize()
        self._runtime.memcpy(self.pointer(array), host.ctypes.data, array.nbytes, 1)  # cudaMemcpyHostToDevice

    def copy_pageable(self, array: Any, host: NDArray[Any]) -> pageable.Arrival:
        if array.nbytes < pageable.LEAST or (threads := self._pageable) is None:
            self.copy_in(array, host)
            return pageable.Arrival(array, array.nbytes)
        self.xp.cuda.get_current_stream().synchronize()  # no earlier kernel or copy uses the array's memory any more
        return threads.begin(array, self.pointer(array), host.view(np.uint8))

    @cached_property
    def _pageable(self) -> pageable.Pageable | None:
        """Return the threads that copy from unpinned memory; None where the driver's one thread is as fast."""
        if processors(16) < _COPIERS:
            return None
        try:
            return pageable.Pageable(self._runtime, self.id, lambda nbytes: self._pinned(nbytes).array)
        except OutOfMemory:
            return None

    def copy_out(self, array: Any, host: NDArray[Any], kind: str = "pinned", wait: bool = True) -> None:
        array = self.xp.ascontiguousarray(array)
        target, source, nbytes = host.ctypes.data, self.pointer(array), array.nbytes
        stream = self.xp.cuda.get_current_stream()
        if kind == "managed":
            self._copy_managed(target, source, nbytes)
        else:
            self._runtime.memcpyAsync(target, source, nbytes, _TO_HOST, stream.ptr)
        if wait:
            stream.synchronize()  # the host may read it now

    def _copy_managed(self, target: int, source: int, nbytes: int) -> None:
        """Copy by a kernel: the driver's own copies to and from managed pages take six times longer."""
        whole = nbytes // 4 * 4 if target % 4 == source % 4 == 0 else 0
        for start, stop, dtype in ((0, whole, np.uint32), (whole, nbytes, np.uint8)):
            if start < stop:
                views = (self._array(address + start, stop - start, dtype) for address in (source, target))
                self.xp.positive(next(views), out=next(views))

    def _array(self, pointer: int, nbytes: int, dtype: Any) -> Any:
        cuda = self.xp.cuda
        memory = cuda.UnownedMemory(pointer, nbytes, None, self.id)
        return self.xp.ndarray((nbytes // np.dtype(dtype).itemsize,), dtype, cuda.MemoryPointer(memory, 0))

    @contextmanager
    def record(self) -> Iterator[_Graph]:
        global _later
        cuda, recording = self.xp.cuda, _Graph()
        recording.pool = cuda.MemoryPool()  # its own: no other allocation reuses what is freed meanwhile
        self.synchronize()
        stream = cuda.Stream(non_blocking=True)
        with stream, cuda.using_allocator(recording.pool.malloc):
            late = _later = []
            try:
                stream.begin_capture()
                try:
                    yield recording
                finally:
                    recording.graph = stream.end_capture()
            finally:
                _later = None
                while late:
                    _give_back(*late.pop())

    def move(self, target: int, source: int, nbytes: int) -> None:
        stream = self.xp.cuda.get_current_stream().ptr
        self._runtime.memcpyAsync(target, source, nbytes, 4, stream)  # cudaMemcpyDefault

    def synchronize(self) -> None:
        self._runtime.deviceSynchronize()

    def cards(self) -> list[int]:
        return list(self._reachable().values())

    def _reachable(self) -> dict[int, int]:
        """Return the free bytes of this card and of each card that it can read, by the card's number."""
        runtime, free = self._runtime, {}
        for card in range(runtime.getDeviceCount()):
            if card == self.id:
                free[card] = self.memory()[0]
            elif runtime.deviceCanAccessPeer(self.id, card):
                with self.xp.cuda.Device(card):
                    free[card] = int(runtime.memGetInfo()[0])
        return free

    def spread(self, nbytes: int) -> Any:
        free = self._reachable()
        numbers = list(free)
        self.xp.get_default_memory_pool().free_all_blocks()  # the driver cannot allocate the pool's unused blocks
        cards = [numbers[owner] for owner in striped_memory.owners(nbytes, list(free.values()))]
        made = striped_memory.Range(cards, self.id)
        return self._owned(made.address, nbytes, lambda _: made.close())

    def window(self, nbytes: int) -> Window:
        """Allocate outside CuPy's pool, as a handle always exports a whole allocation."""
        if nbytes > int(self._runtime.memGetInfo()[0]):
            self.xp.get_default_memory_pool().free_all_blocks()  # the driver cannot allocate the pool's unused blocks
        try:
            pointer = int(self._runtime.malloc(max(nbytes, 1)))
        except Exception as error:
            raise OutOfMemory(f"{nbytes:,} bytes of device memory were requested: {error}") from None
        array = self._owned(pointer, nbytes, self._runtime.free)
        return Window(array, bytes(self._runtime.ipcGetMemHandle(pointer)))

    def open_window(self, name: bytes, nbytes: int) -> Any:
        try:
            pointer = int(self._runtime.ipcOpenMemHandle(name))
        except Exception as error:  # a process of another machine, or a card that this one cannot access
            raise DeviceUnavailable(f"the device memory of another process cannot be opened: {error}") from None
        return self._owned(pointer, nbytes, self._runtime.ipcCloseMemHandle)

    def signal(self) -> Signal:
        try:
            event = self.xp.cuda.Event(disable_timing=True, interprocess=True)
            return Signal(event.record, bytes(self._runtime.ipcGetEventHandle(event.ptr)))
        except self._runtime.CUDARuntimeError as error:
            raise DeviceUnavailable(f"events of the device cannot be shared with other processes: {error}") from None

    def open_signal(self, name: bytes) -> Callable[[], None]:
        runtime = self._runtime
        try:
            event = int(runtime.ipcOpenEventHandle(name))
        except runtime.CUDARuntimeError as error:
            raise DeviceUnavailable(f"an event of another process cannot be opened: {error}") from None

        def wait() -> None:
            runtime.streamWaitEvent(self.xp.cuda.get_current_stream().ptr, event)

        weakref.finalize(wait, _give_back, runtime, runtime.eventDestroy, event)
        return wait

    def _owned(self, pointer: int, nbytes: int, release: Callable[[int], None]) -> Any:
        """Return the bytes at a device address as an array; `release` is called once the last view of it is gone."""
        owner = _Owner()
        weakref.finalize(owner, _give_back, self._runtime, release, pointer)
        memory = self.xp.cuda.UnownedMemory(pointer, nbytes, owner, self.id)
        return self.xp.ndarray((nbytes,), np.uint8, self.xp.cuda.MemoryPointer(memory, 0))


class _Owner:
    """An object that lives as long as the arrays that view an address."""


def _view(pointer: int, nbytes: int) -> NDArray[np.uint8]:
    """Return the bytes at a host address as an array, whose `base` lives as long as any view of it."""
    memory: Any = (ctypes.c_uint8 * max(nbytes, 1)).from_address(pointer)
    array: NDArray[np.uint8] = np.frombuffer(memory, np.uint8)
    return array[:nbytes]


_later: list[tuple[Any, ...]] | None = None  # pages to free once a recording has ended; None: there is no recording


def _give_back(runtime: Any, release: Callable[[int], None], pointer: int, memory: Any = None) -> None:
    """Free pages once no kernel reads them: launches do not wait, and the matrix may be freed before they end.

    `memory`, which backs the pages, may be freed only then.
    """
    if (later := _later) is not None:  # garbage is collected at any time, and a wait would break the recording
        later.append((runtime, release, pointer, memory))
        return
    with suppress(Exception):  # the process may be exiting, and the driver with it
        runtime.deviceSynchronize()
        release(pointer)


def _import_cupy() -> Any:
    try:
        import cupy
    except ImportError as error:
        raise DeviceUnavailable(
            f"no GPU: CuPy is not installed ({error}); install sparsezc[cuda13] (or sparsezc[cuda12])"
        ) from None
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:
        raise DeviceUnavailable(f"no GPU: the CUDA driver does not answer ({error})") from None
    if count == 0:
        raise DeviceUnavailable("no GPU: the CUDA driver sees no device")
    try:
        cupy.cuda.nvrtc.getVersion()
    except Exception as error:
        raise DeviceUnavailable(
            f"no GPU: NVRTC, CUDA's run-time compiler, is missing ({error}); install sparsezc[cuda13]"
        ) from None
    return cupy
