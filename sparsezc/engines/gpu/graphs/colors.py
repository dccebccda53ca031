"""Greedy colouring (ops.color_rows, colors.cu): each round colours the rows whose preceding neighbours have colours.

The host launches several rounds at a time; a launch reads the number of its rows from device memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.elementwise import vector_map
from sparsezc.engines.gpu.products.labels import full_values
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.storage.assembly import near, rows_of
from sparsezc.engines.gpu.storage.vector_store import VectorStore, in_bits
from sparsezc.expr.dispatch import Write
from sparsezc.expr.mask import Mask
from sparsezc.semirings.types.datatypes import INT64

LONG_ROW = 2048  # entries of a row that a warp processes at most; a block processes a longer one
_WORDS = 64  # words of 32 colours that a warp checks together: few rows need more, and a block's words take 2 KiB
_ROUNDS = 16  # rounds between two waits of the host; even, as two lists take turns


def color_rows(e: Any, out: Any, write: Write[Mask | None]) -> None:
    """Compute the colour of each row, INT64, and write it to a vector."""
    A, given = e.operands
    n = A._store.nrows
    if not n:
        return
    gpu = cuda.current()
    xp, rows, order = gpu.xp, near(rows_of(A._store), values=False), full_values(e, given)
    key = np.dtype(np.uint64 if n >= 2**32 else np.uint32)
    is_long = rows.indptr[1:] - rows.indptr[:-1] > LONG_ROW
    every = xp.concatenate([xp.flatnonzero(~is_long), xp.flatnonzero(is_long)]).astype(key)
    long = int(is_long.sum())
    lists = [xp.empty(n, key) for _ in range(2)]
    counts = xp.zeros((_ROUNDS + 1, 2), np.uint64)
    color = xp.full(n, 2**32 - 1, np.uint32)
    prelude = kernel_prelude(rows.wide, key.itemsize == 8)
    work = {
        "capacity": n, "indptr": rows.indptr, "indices": rows.arguments.indices, "order": order,
        "waits": xp.zeros(n, np.uint32),
    }  # fmt: skip

    def run(name: str, **arguments: Any) -> None:
        kernel = codegen.kernel(gpu, "colors.cu", prelude, name)
        stats.counted(kernel, placements.in_device_memory(rows))(launch.blocks(gpu, 32 * n), **work, **arguments)

    all_rows = xp.asarray(np.array([n - long, long], np.uint64))
    run("wait_rows", listed=every, counts=all_rows, next=lists[0], next_counts=counts[0])
    while True:
        for number in range(_ROUNDS):
            this, other = lists[number % 2], lists[1 - number % 2]
            run(
                "color_rows", listed=this, counts=counts[number], next=other, next_counts=counts[number + 1],
                color=color,
            )  # fmt: skip
        if not int(counts[_ROUNDS].sum()):
            break
        counts[0] = counts[_ROUNDS]
        counts[1:] = 0
    found = VectorStore(INT64, n)
    found.put(xp.arange(n), color.astype(np.int64))
    vector_map.write_vector(found, out._store, in_bits(write))


def kernel_prelude(wide: bool, long: bool) -> str:
    """Return the prelude of colors.cu."""
    types = codegen.typedefs(Id="u64" if wide else "u32", Key="u64" if long else "u32")
    return f"{types}\nconstexpr u64 LONG_ROW = {LONG_ROW};\nconstexpr u32 WORDS = {_WORDS};"
