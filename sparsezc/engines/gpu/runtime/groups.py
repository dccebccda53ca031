"""Kernel-argument groups, whose fields have the names of kernels' parameters.

A launch takes groups, and other arguments by name (``kernel.launch(blocks, rows.arguments, out=out)``);
:mod:`sparsezc.device.launcher` sorts all of them into the order that the kernel's text declares. Pointers are device
arrays or addresses; 0 is null.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

#: A null pointer. It is a NumPy integer, as other numbers that launches reuse: a Python integer would be converted at
#: each launch.
NULL = np.uint64(0)


class Csr(NamedTuple):
    """All rows of a matrix: offsets on the device, and the addresses of ids and values."""

    nrows: np.uint64
    indptr: Any
    indices: np.uint64
    values: np.uint64


class LeftIds(NamedTuple):
    """The left matrix of a product, without its values."""

    a_indptr: Any
    a_ids: np.uint64


class RightIds(NamedTuple):
    """The right matrix of a product, without its values."""

    b_indptr: Any
    b_ids: np.uint64


class Left(NamedTuple):
    """The left matrix of a product."""

    a_indptr: Any
    a_ids: np.uint64
    a_values: np.uint64


class Right(NamedTuple):
    """The right matrix of a product."""

    b_indptr: Any
    b_ids: np.uint64
    b_values: np.uint64


class LongRows(NamedTuple):
    """The long rows, which are cut into row chunks (chunks.cuh), for kernels that are given a range of chunks."""

    long_rows: Any  # u64: the long rows
    long_first: Any  # u64: the first chunk of each, and the end of the last
    chunk_slot: Any  # u32: the index in `long_rows` of each chunk's row


class Chunks(NamedTuple):
    """The long rows, which are cut into row chunks, for kernels that process all chunks."""

    nchunks: np.uint64
    long_rows: Any
    long_first: Any
    chunk_slot: Any


class RowsPart(NamedTuple):
    """A launch part: the rows that one launch of a product takes, and the addresses of their entries (part.cuh)."""

    nrows: np.uint64
    indptr: Any
    indices: Any
    values: Any
    id_segments: Any  # u64: the address of each segment of ids; null: all are at `indices`
    value_segments: Any
    subset: Any  # presence words of the rows to process; null: all
    first_row: np.uint64  # of the range of rows; long ones are skipped
    end_row: np.uint64
    first_chunk: np.uint64
    end_chunk: np.uint64
    long_rows: Any
    long_first: Any
    chunk_slot: Any


class Vector(NamedTuple):
    """A vector that a kernel reads; `x_bits` null: it is full."""

    x: Any
    x_bits: Any


class Mask(NamedTuple):
    """Presence words of the positions that a mask allows, after XOR by `flip`; null: no mask."""

    mask: Any
    flip: int


class Output(NamedTuple):
    """The output of a vector's write rule (``struct Output`` of write.cuh): new and old content, mask, replace."""

    w: Any
    w_bits: Any
    old_w: Any
    old_bits: Any
    mask: Any
    flip: int
    replace: int


class PullAgain(NamedTuple):
    """The arguments that change between launches of a kept pull: :class:`Vector`, :class:`Output`, and counters."""

    x: Any
    x_bits: Any
    w: Any
    w_bits: Any
    old_w: Any
    old_bits: Any
    mask: Any
    flip: int
    replace: int
    counters: Any


class Turns(NamedTuple):
    """The division among warps: the shared counters, and the numbers of items of rows and of chunks taken at once."""

    counters: Any
    piece: int
    spread: int


class Partial(NamedTuple):
    """The results of row chunks, which the last warp of each long row folds."""

    partial: Any
    partial_has: Any
    arrived: Any
    finished: Any


class Layouts(NamedTuple):
    """The layouts that a pull reads: row heads, packed values, and hubs in shared memory.

    `k`: slots a row, 0 without heads; `id_bits`: the low bits of a word for the id, 0 if values are not packed; `hubs`:
    the number of first columns whose vector values are in shared memory.
    """

    heads: Any
    head_values: Any
    k: int
    id_bits: int
    hubs: int


NO_VECTOR = Vector(NULL, NULL)
NO_PARTIAL = Partial(NULL, NULL, NULL, NULL)
