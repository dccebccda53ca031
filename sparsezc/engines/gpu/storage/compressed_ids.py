"""Compressed ids in device or host memory, made by encode_ids.cu and read by kernels that stream rows (ids.cuh).

The id blocks (id_blocks.cuh) are in a placement: device memory, or host memory that kernels read. Their starts and
headers, 2.25 bytes for a block of 32 ids, are in device memory.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.memory import Buffer, allocate, budget, id_blocks
from sparsezc.memory.device import DeviceBuffer
from sparsezc.memory.mapped import MappedBuffer, check_on_device
from sparsezc.memory.placement import BY_ADDRESS, FITS, RECORDS

_PART = 1 << 24  # ids decoded at a time for a copy to the host


class CompressedIds(id_blocks.BlocksBuffer):
    """A buffer of compressed ids, with headers on the device.

    `pointer` is the address of a BlockTable, which kernels with the flag COMPRESSED take in place of ids.
    """

    def __init__(self, count: int, headers: Any, starts: Any, body: Buffer, below: int | None = None) -> None:
        super().__init__(count, headers, starts, body, below)
        self._table: Any = None

    @classmethod
    def of(cls, made: id_blocks.BlocksBuffer) -> CompressedIds:
        """Return the buffer for id blocks whose headers are in host memory."""
        xp = cuda.current().xp
        return cls(made.count, xp.asarray(made.headers), xp.asarray(made.starts), made.body, made.below)

    @property
    def pointer(self) -> int:
        return cuda.current().pointer(self._reach())

    def _reach(self) -> Any:
        """Return the BlockTable on the device; the first call registers a file's pages and checks its ids."""
        if self._table is None:
            gpu = cuda.current()
            addresses = [self.body.pointer, gpu.pointer(self.headers), gpu.pointer(self.starts)]
            table = gpu.xp.asarray(np.array(addresses, np.uint64))
            if isinstance(self.body, MappedBuffer) and self.below is not None:
                check_on_device(self.body.path, self.count, partial(self._loaded, table), self.below)
            self._table = table
        return self._table

    def placed(self, placement: str) -> id_blocks.BlocksBuffer:
        self._reach()
        return CompressedIds.of(super().placed(placement))

    def read(self, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        stop = self.count if stop is None else stop
        made = np.empty(stop - start, self.dtype)
        for first in range(start, stop, _PART):
            last = min(first + _PART, stop)
            made[first - start : last - start] = cuda.current().asnumpy(self.load(first, last))
        return made

    def load(self, start: int = 0, stop: int | None = None) -> Any:
        return self._loaded(self._reach(), start, self.count if stop is None else stop)

    def _loaded(self, table: Any, start: int, stop: int) -> Any:
        made = DeviceBuffer(cuda.current().xp.empty(stop - start, self.dtype))
        _decode(table, start, made)
        return made.array

    def plain(self) -> Buffer:
        """Return all ids uncompressed, in the same placement, or in host memory if device memory is short."""
        made = allocate(budget.fitting(self.placement, self.count * self.dtype.itemsize), self.count, self.dtype)
        _decode(self._reach(), 0, made)
        cuda.current().synchronize()  # the host may read the pages now
        return made


def _decode(table: Any, start: int, target: Buffer) -> None:
    """Decode ids from `start` on, as many as the target has elements."""
    gpu = cuda.current()
    if not target.count:
        return
    prelude = codegen.typedefs(Id="u32") + "\n" + codegen.flags(COMPRESSED=True)
    kernel = codegen.kernel(gpu, "decode_ids.cu", prelude, "decode")
    kernel.launch(
        launch.blocks(gpu, target.count), begin=start, end=start + target.count,
        indices=gpu.pointer(table), counter=gpu.xp.zeros(1, np.uint64), out=target.pointer,
    )  # fmt: skip


def compressed(ids: Buffer, ncols: int) -> CompressedIds | None:
    """Return ids below `ncols` compressed; None if they would be no smaller.

    They are in device memory if `ids` are, otherwise in host memory. Compression needs memory for both and the headers.
    """
    if ncols > 2**32 or not ids.count:
        return None
    gpu = cuda.current()
    xp = gpu.xp
    headers = _headers(ids)
    words = (headers >> 10).reshape(-1, 32).sum(1, dtype=np.uint64)
    ends = xp.cumsum(words, dtype=np.uint64)
    starts = ends - words
    used = int(ends[-1])
    total = -(-used // id_blocks.LINE) * id_blocks.LINE
    if 4 * total + headers.nbytes + starts.nbytes >= ids.nbytes:
        return None
    body = allocate(FITS if RECORDS[ids.placement].resident else BY_ADDRESS, total, np.uint32)
    body.write(used, np.zeros(total - used, np.uint32))
    _launch("encode", ids, headers=headers, starts=starts, body=body.pointer)
    gpu.synchronize()  # the host may read the pages now, and the plain ids may be freed
    return CompressedIds(ids.count, headers, starts, body)


def words(ids: Any) -> int:
    """Return the number of words of a device array of ids if compressed."""
    return int((_headers(DeviceBuffer(ids)) >> 10).sum(dtype=np.uint64))


def _headers(ids: Buffer) -> Any:
    """Return the header of each block's smallest packing."""
    headers = cuda.current().xp.zeros(id_blocks.padded(ids.count), np.uint16)
    _launch("measure", ids, headers=headers)
    return headers


def _launch(name: str, ids: Buffer, **arguments: Any) -> None:
    gpu = cuda.current()
    prelude = codegen.typedefs(Id="u64" if ids.dtype.itemsize == 8 else "u32")
    kernel = codegen.kernel(gpu, "encode_ids.cu", prelude, name)
    counter = gpu.xp.zeros(1, np.uint64)
    kernel.launch(launch.blocks(gpu, ids.count), nvals=ids.count, indices=ids.pointer, counter=counter, **arguments)
