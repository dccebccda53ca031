"""The writer of matrices to mappable files (aligned_file.py), with plain or compressed ids."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.device.processors import processors
from sparsezc.io.build.csr_chunks import rows_of
from sparsezc.io.files.atomic_write import Output
from sparsezc.io.hdf5 import aligned_file, vertex_ids
from sparsezc.io.hdf5.csr_file import FORMS, descriptor, in_turn
from sparsezc.memory import id_blocks
from sparsezc.memory.buffer import index_dtype
from sparsezc.memory.csr import Csr
from sparsezc.terminal.progress import bar


def save(csr: Csr, out: Output, *, compress: bool = False, vertices: NDArray[Any] | None = None) -> None:
    """Write a matrix as a mappable file; with `compress`, ids are compressed unless a matrix has over 2^32 columns.

    `vertices`: the ids or names of its rows.
    """
    compress = compress and csr.nvals > 0 and csr.ncols <= 2**32
    ids, iso = index_dtype(csr.ncols, "device"), csr.iso and csr.nvals > 0
    with aligned_file.Writer(out.reserve()) as writer:
        writer.array("pointers_to_1", csr.nrows + 1, np.int64).write(csr.indptr)
        if compress:
            _save_blocks(csr, writer)
        else:
            indices = writer.array("indices_1", csr.nvals, ids)
            for _, _, _, part, _ in rows_of(csr, values=False):
                indices.write(part.astype(ids, copy=False))
        values = writer.array("values", 1 if iso else csr.nvals, csr.dtype.np_type)
        if iso:
            values.write(csr.values.read(0, 1))
        else:
            for *_, part in rows_of(csr):
                values.write(part)
        vertex_ids.write(writer, vertices)
        facts = descriptor(csr.nrows, csr.ncols, csr.nvals, ids, csr.dtype, iso)
        facts["format"] = FORMS[compress]
        writer.finish(facts, symmetric=csr.symmetric)


def _save_blocks(csr: Csr, writer: aligned_file.Writer) -> None:
    """Compress and write the ids in parallel parts; all headers first, as they determine the length of the blocks."""
    starts = range(0, csr.nvals, id_blocks.PART)
    headers = np.zeros(id_blocks.padded(csr.nvals), np.uint16)

    def ids(start: int) -> NDArray[Any]:
        return csr.indices.read(start, min(start + id_blocks.PART, csr.nvals))

    def words(start: int) -> NDArray[np.uint32]:
        return id_blocks.pack(ids(start), headers[start // id_blocks.SIZE :])

    ahead = 2 * processors()
    with ThreadPoolExecutor(processors()) as pool:
        progress = bar(2 * csr.nvals, "compressing", " ids")
        for start, made in zip(
            starts, in_turn(pool, lambda start: id_blocks.measure(ids(start)), starts, ahead), strict=True
        ):
            headers[start // id_blocks.SIZE :][: made.size] = made
            progress.update(min(id_blocks.PART, csr.nvals - start))
        used = int((headers >> 10).sum(dtype=np.uint64))
        total = -(-used // id_blocks.LINE) * id_blocks.LINE
        writer.array("block_headers", headers.size, np.uint16).write(headers)
        firsts = id_blocks.starts_of(headers)
        writer.array("block_starts", firsts.size, np.uint64).write(firsts)
        body = writer.array("blocks", total, np.uint32)
        for start, made in zip(starts, in_turn(pool, words, starts, ahead), strict=True):
            body.write(made)
            progress.update(min(id_blocks.PART, csr.nvals - start))
        body.write(np.zeros(total - used, np.uint32))
        progress.close()
