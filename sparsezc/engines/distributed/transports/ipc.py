"""The transport between ranks of one machine: ranks read device arrays from each other's memory, through CUDA IPC.

Each rank has a *window*, device memory that the others have opened. A rank copies the arrays that it sends into its
window. By a collective of numbers all ranks learn that these copies are launched, and where each part begins; then
every rank copies its parts out of the others' windows. This works between cards, over NVLink if they have it, and
between ranks that share a card. Devices wait for each other by signals (CUDA events) while hosts continue to launch.
Messages use the two halves of the window in turn, and signals likewise: before a rank overwrites a half, it has waited
for the signals of the next message, which follow all reads of that half. So an exchange is one collective. Host arrays
travel over MPI.

Source: CUDA C++ Programming Guide, section Interprocess Communication.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.device.protocol import Signal, Window
from sparsezc.engines.distributed.transports.mpi import Mpi
from sparsezc.engines.distributed.transports.protocol import DEADLINE, Counts, Shared
from sparsezc.engines.distributed.transports.shared_windows import SharedWindows
from sparsezc.exceptions import DeviceUnavailable, OutOfMemory

__all__ = ["Ipc"]

_FIRST = 1 << 20  # bytes of a half at first
_ALIGN = 16  # bytes: an array of any type may begin there
_FAILED = -2  # sent in place of a window's version: the rank has no memory for a window


class Ipc(Mpi):
    """Collectives of device arrays through the memory of the machine's cards, all others over MPI.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        All its ranks are on one machine.
    deadline : float
        Seconds after which a wait ends all ranks.

    Raises
    ------
    DeviceUnavailable
        On all ranks, if a rank cannot open the memory of another.
    OutOfMemory
        On all ranks, if a rank has no memory for its window; an exchange raises it, too.
    """

    def __init__(self, comm: Any, deadline: float = DEADLINE) -> None:
        super().__init__(comm, deadline)
        self._gpu, self.packs_below = cuda.current(), 0.0  # over NVLink values travel as fast as they are packed
        self._half, self._turn, self._version = 0, 0, -1
        self._signals, self._waits = self._open_signals()
        self._window: Window
        self._old: list[Window] = []  # replaced windows, which a rank may still have open
        self._versions = [-1] * self.size  # the versions of the windows that this rank has opened
        self._theirs: dict[int, Any] = {}
        self._address, self._addresses = 0, [0] * self.size
        self._shared = SharedWindows(self)  # windows that kernels write, and no message uses
        self._ranks = [*range(self.rank, self.size), *range(self.rank)]  # one rank at a time reads a card
        failed = self._map_at_least(_FIRST)
        self._open(self.numbers(_FAILED if failed else self._version)[:, 0].tolist(), failed, [])

    def gather(self, mine: Any, counts: Counts) -> Any:
        if not self._is_on_device(mine):
            return super().gather(mine, counts)
        return self._exchange([mine], [np.zeros(self.size, np.int64)], [counts], self._ranks)[0]

    def gather_both(self, one: Any, two: Any, ones: Counts, twos: Counts) -> tuple[Any, Any]:
        if not self._is_on_device(one):
            return super().gather_both(one, two, ones, twos)
        nothing = np.zeros(self.size, np.int64)
        first, second = self._exchange([one, two], [nothing, nothing], [ones, twos], self._ranks)
        return first, second

    def scatter(self, mine: Any, sent: Counts, received: Counts) -> Any:
        if not self._is_on_device(mine):
            return super().scatter(mine, sent, received)
        return self._exchange([mine], [np.cumsum(sent) - sent], [received], self._ranks)[0]

    def scatter_both(self, one: Any, two: Any, sent: Sequence[Counts], received: Sequence[Counts]) -> tuple[Any, Any]:
        if not self._is_on_device(one):
            return super().scatter_both(one, two, sent, received)
        first, second = self._exchange([one, two], [np.cumsum(n) - n for n in sent], received, self._ranks)
        return first, second

    def shift(self, mine: Any, count: int) -> Any:
        if not self._is_on_device(mine):
            return super().shift(mine, count)
        after, counts = (self.rank + 1) % self.size, np.zeros(self.size, np.int64)
        counts[after] = count
        return self._exchange([mine], [np.zeros(self.size, np.int64)], [counts], [after])[0]

    def shared(self, nbytes: int, told: int, key: Any, owner: Any) -> Shared | None:
        """Return memory in separate windows, in which messages overwrite nothing; see the protocol."""
        windows = self._shared
        if not windows.prepare(nbytes, key, owner):
            return None
        wait = partial(self._poll, what="kernels of several ranks")
        leave = partial(windows.leave, key)
        return Shared(windows.arrays, windows.left, leave, self._buffer("told", told), wait, self._count)

    def meet(self) -> None:
        """Order all later launches after those that all ranks have launched so far."""
        self._signals[self._turn].give()
        self.numbers(0)
        self._follow()

    def _follow(self) -> None:
        """Make later launches wait for the signals that all ranks have given."""
        for wait in self._waits[self._turn]:
            wait()
        self._turn = 1 - self._turn

    def _open_signals(self) -> tuple[list[Signal], list[list[Callable[[], None]]]]:
        """Return this rank's two signals, and for each of the two the waits for the signals of other ranks."""
        mine: list[Signal] = []
        waits: list[list[Callable[[], None]]] = [[], []]
        why = ""
        try:
            mine = [self._gpu.signal() for _ in waits]
        except DeviceUnavailable as error:
            why = str(error)
        self.agree(DeviceUnavailable, why)
        for rank, names in enumerate(self.objects([each.name for each in mine])):
            if rank != self.rank:
                try:
                    for each, name in zip(waits, names, strict=True):
                        each.append(self._gpu.open_signal(name))
                except DeviceUnavailable as error:
                    why = str(error)
        self.agree(DeviceUnavailable, why)
        return mine, waits

    def _count(self, nbytes: int) -> None:
        self.received += nbytes

    def _is_on_device(self, array: Any) -> bool:
        return isinstance(array, self._gpu.xp.ndarray)

    def _exchange(
        self, arrays: Sequence[Any], starts: Sequence[Counts], counts: Sequence[Counts], ranks: Sequence[int]
    ) -> list[Any]:
        """Copy arrays into the window, where rank r reads array k from element ``starts[k][r]`` on.

        Return ``counts[k][r]`` elements of array k of each rank r.
        """
        gpu = self._gpu
        arrays = [gpu.xp.ascontiguousarray(array).reshape(-1) for array in arrays]
        closed, self._old = self._old, []
        firsts, end = [], 0
        for array in arrays:
            firsts.append(end)
            end += -(-int(array.nbytes) // _ALIGN) * _ALIGN
        failed = self._map_at_least(end)
        begin = self._turn * self._half
        for array, first in zip(arrays, firsts, strict=True):
            if not failed and array.nbytes:
                gpu.move(self._address + begin + first, gpu.pointer(array), array.nbytes)
        self._signals[self._turn].give()
        outs = []
        if not failed:  # else all ranks raise an error after the collective
            try:
                outs = [gpu.xp.empty(int(each.sum()), array.dtype) for array, each in zip(arrays, counts, strict=True)]
            except MemoryError as error:
                failed = str(error)
            if outs and self.rank in ranks:
                for each in zip(arrays, outs, starts, counts, strict=True):
                    self._move_own(*each)  # the device copies while the host runs the collective
        places = [
            begin + first + start * array.dtype.itemsize
            for array, first, each in zip(arrays, firsts, starts, strict=True)
            for start in each.tolist()
        ]
        spare = self._shared.exceed_needs()
        said = self.numbers(_FAILED if failed else self._version, spare, *places).tolist()
        if any(row[1] for row in said):
            self._shared.free()
        self._open([row[0] for row in said], failed, closed)
        self._follow()
        for k, (out, numbers) in enumerate(zip(outs, (each.tolist() for each in counts), strict=True)):
            size = out.dtype.itemsize
            target = gpu.pointer(out) if out.size else 0
            targets = [target + size * before for before in accumulate(numbers, initial=0)]
            for rank in ranks:
                if rank != self.rank and (nbytes := numbers[rank] * size):
                    gpu.move(targets[rank], self._addresses[rank] + said[rank][2 + k * self.size + self.rank], nbytes)
            self.received += (sum(numbers) - numbers[self.rank]) * size
        return outs

    def _move_own(self, array: Any, out: Any, starts: Counts, counts: Counts) -> None:
        """Copy the elements that this rank sends to itself."""
        item, count = array.dtype.itemsize, int(counts[self.rank])
        if count:
            target = self._gpu.pointer(out) + item * int(counts[: self.rank].sum())
            self._gpu.move(target, self._gpu.pointer(array) + item * int(starts[self.rank]), item * count)

    def _map_at_least(self, nbytes: int) -> str:
        """Replace the window by a larger one if a message needs it; return the error's text if that fails, else ""."""
        if nbytes <= self._half:
            return ""
        half = 1 << (nbytes - 1).bit_length()
        try:
            window = self._gpu.window(2 * half)
        except OutOfMemory as error:
            return str(error)
        if self._half:
            self._old.append(self._window)
        self._window, self._half, self._version = window, half, self._version + 1
        self._address = self._addresses[self.rank] = self._gpu.pointer(window.array)
        return ""

    def _open(self, versions: list[int], failed: str, closed: list[Window]) -> None:
        """Open the windows of new versions; by the versions all ranks know of new windows, and of a rank that failed.

        `closed`: this rank's windows that were replaced before this message. They are freed once all ranks have opened
        the windows that replaced them.
        """
        if versions == self._versions:
            closed.clear()
            return
        self._gpu.synchronize()  # after the next collective no rank reads a window that was replaced
        self._old += closed
        new = [rank for rank, version in enumerate(versions) if version != self._versions[rank]]
        self.agree(OutOfMemory, failed)
        said, why = self.objects((self._window.name, self._window.array.size)), ""
        for rank in new:
            if rank != self.rank:
                self._theirs.pop(rank, None)
                try:
                    self._theirs[rank] = self._gpu.open_window(*said[rank])
                    self._addresses[rank] = self._gpu.pointer(self._theirs[rank])
                except DeviceUnavailable as error:
                    why = str(error)
        self.agree(DeviceUnavailable, why)
        self._versions = versions

    def agree(self, kind: type[Exception], why: str) -> None:
        """Raise an error of a kind on all ranks if a rank gives a reason, else ""; collective."""
        for rank, each in enumerate(self.objects(why)):
            if each:
                raise kind(f"transport 'ipc': rank {rank} of {self.size}: {each}")
