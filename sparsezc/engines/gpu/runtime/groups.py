"""Kernel arguments that are passed together: each group's fields have the names of the kernels' parameters.

A launch takes groups, and other arguments by name (``kernel.launch(blocks, rows.arguments, out=out)``);
:mod:`sparsezc.device.launcher` puts all of them in the order that the kernel's text declares. Pointers are arrays on
the device or addresses; 0 is null.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

#: A null pointer, and other numbers that launches reuse, are of NumPy's types: a device takes these as they are, and
#: converts Python's integers each time.
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
    """The rows that are cut into chunks (chunks.cuh), for kernels that are told which chunks to process."""

    long_rows: Any  # u64: the rows
    long_first: Any  # u64: the first chunk of each, and the end
    chunk_slot: Any  # u32: the row of each chunk, as its place in `long_rows`


class Chunks(NamedTuple):
    """The rows that are cut into chunks, for kernels that process all chunks."""

    nchunks: np.uint64
    long_rows: Any
    long_first: Any
    chunk_slot: Any


class RowsPart(NamedTuple):
    """The rows that one launch of a product takes, and the addresses of their entries (part.cuh)."""

    nrows: np.uint64
    indptr: Any
    indices: Any
    values: Any
    id_segments: Any  # u64: the address of each segment of ids; null: `indices` serves all
    value_segments: Any
    subset: Any  # presence words of the rows to process; null: all
    first_row: np.uint64  # of the rows that are not long
    end_row: np.uint64
    first_chunk: np.uint64
    end_chunk: np.uint64
    long_rows: Any
    long_first: Any
    chunk_slot: Any


class Vector(NamedTuple):
    """A vector that is read; `x_bits` null: it is full."""

    x: Any
    x_bits: Any


class Mask(NamedTuple):
    """Presence words of the entries that a mask lets through, each flipped by `flip`; null: no mask."""

    mask: Any
    flip: int


class Output(NamedTuple):
    """The write rule of a vector (``struct Output`` of write.cuh): result, old content, mask, replace."""

    w: Any
    w_bits: Any
    old_w: Any
    old_bits: Any
    mask: Any
    flip: int
    replace: int


class PullAgain(NamedTuple):
    """The arguments that each launch of a kept pull has anew: :class:`Vector`, :class:`Output`, and the counters."""

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
    """The way warps share rows: their counters, and the number of rows and of chunks that a warp takes at once."""

    counters: Any
    piece: int
    spread: int


class Partial(NamedTuple):
    """Results of the chunks of long rows, which the last warp of each row folds."""

    partial: Any
    partial_has: Any
    arrived: Any
    finished: Any


class Layouts(NamedTuple):
    """The layouts that a pull reads: the row-head cache, and ids and values in one word.

    `k`: slots a row, 0 without heads; `id_bits`: the low bits that hold the id, 0 where each is in an array of its own;
    `hubs`: ids below it have the vector's values in shared memory.
    """

    heads: Any
    head_values: Any
    k: int
    id_bits: int
    hubs: int


NO_VECTOR = Vector(NULL, NULL)
NO_PARTIAL = Partial(NULL, NULL, NULL, NULL)
