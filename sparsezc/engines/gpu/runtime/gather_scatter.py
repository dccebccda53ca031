"""Gather and scatter of entries, and of rows of entries, by the size of their type (filter.cu)."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.device.launcher import Launcher
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.memory import Buffer


def gather(buffer: Buffer, at: Any, *, near: bool | None = None) -> Any:
    """Return the entries of a buffer at the positions `at`, as a device array.

    `near`: whether the buffer is in device memory, for counts of traffic (:func:`sparsezc.stats.counted`); None: none.
    """
    gpu = cuda.current()
    out = gpu.xp.empty(at.size, buffer.dtype)
    if at.size:
        at = at.astype(np.uint64, copy=False)
        kernel = _kernel("gather", out)
        run = kernel.launch if near is None else stats.counted(kernel, near)
        run(launch.blocks(gpu, at.size), count=at.size, at=at, values=buffer.pointer, out=out)
    return out


def gather_rows(buffer: Buffer, at: Any, width: int, order: Any, *, near: bool) -> Any:
    """Return the rows `at` (int64) of a buffer with rows of `width` entries, concatenated in a device array.

    `order`: the order in which the rows are read, int64; None: that of `at`. `near`: as in :func:`gather`.
    """
    gpu = cuda.current()
    out = gpu.xp.empty(at.size * width, buffer.dtype)
    if out.size:
        bits = min(5, (width - 1).bit_length())  # of the lanes for a row: at most a warp
        run = stats.counted(_kernel("gather_rows", out), near)
        run(
            launch.blocks(gpu, at.size << bits), count=at.size, width=width, bits=bits, at=at,
            order=0 if order is None else order, values=buffer.pointer, out=out,
        )  # fmt: skip
    return out


def shift_rows(values: Any, indptr: Any, shift: Any, out: Any) -> None:
    """Copy the entries of rows to a device array, those of row i shifted by `shift[i]` (int64) positions."""
    if values.size:
        gpu = cuda.current()
        _kernel("shift_rows", values).launch(
            launch.blocks(gpu, values.size),
            nvals=values.size, nrows=indptr.size - 1, indptr=indptr, shift=shift, values=values, out=out,
        )  # fmt: skip


def scatter(values: Any, to: Any, buffer: Buffer) -> None:
    """Write the elements of a device array to distinct positions `to` of a buffer."""
    if to.size:
        gpu = cuda.current()
        to = to.astype(np.uint64, copy=False)
        kernel = _kernel("place", values)
        kernel.launch(launch.blocks(gpu, to.size), count=to.size, to=to, values=values, out=buffer.pointer)


def _kernel(name: str, array: Any) -> Launcher:
    types = codegen.typedefs(Id="u32", A=launch.BY_SIZE[array.dtype.itemsize])
    return codegen.kernel(cuda.current(), "filter.cu", types, name)


def counts(ids: Buffer, size: int, pieces: list[tuple[int, int]]) -> Any:
    """Return how often each id below `size` occurs, int64, on the device; ids are loaded piece by piece."""
    xp = cuda.current().xp
    made = xp.zeros(size, np.int64)
    for start, stop in pieces:
        made += xp.bincount(ids.load(start, stop).astype(np.int64), minlength=size)
    return made
