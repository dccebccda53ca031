"""The rows of a panel computed by a function from the rows of other panels (map_rows.cu)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.elementwise import panel
from sparsezc.engines.gpu.elementwise.panel import Panel
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.runtime.codegen import function, typedefs
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore
from sparsezc.engines.gpu.storage.vector_store import MaskBits, VectorStore
from sparsezc.semirings.types.datatypes import FP64, DataType


def map_rows(e: Any, mask: MaskBits) -> Panel | None:
    """Return the rows in which the mask allows a position, as a panel; None if the panels do not fit."""
    *matrices, row = e.operands
    given = [_along(A) for A in matrices]
    nrows, width = e.shape
    if any(x is None for x in given) or not panel.fits(nrows * width, FP64):
        return None
    gpu, made = cuda.current(), VectorStore(FP64, nrows * width)
    there = [x for x in given if x is not None]
    everywhere = mask.allows_all
    bits = gpu.xp.empty(made.nwords, np.uint32)
    made.set(gpu.xp.empty(made.size), bits, made.size if everywhere else None)
    case = tuple((x.vector.dtype, x.width) for x in there)
    kernel = codegen.kernel(gpu, "map_rows.cu", _prelude(case, width, row.cuda), "map_rows")
    pairs = [x.vector.operands() for x in there] + [(0, 0)] * (4 - len(there))
    named = {f"a{k}": pair[0] for k, pair in enumerate(pairs)} | {f"bits{k}": pair[1] for k, pair in enumerate(pairs)}
    kernel.launch(
        launch.blocks(gpu, nrows), nrows=nrows, **named, **mask.arguments()._asdict(), out=made.values, out_bits=bits
    )
    return Panel(width, False, made)


def as_rows(e: Any) -> MatrixStore | None:
    """Return the result as a matrix of any shape; None if the panels do not fit."""
    made = MatrixStore(FP64, e.shape[0], e.shape[1], None)
    if e.shape[0] == 0:
        return made
    found = map_rows(e, MaskBits())
    return None if found is None else panel.put_panel(made, found)


def _along(A: Any) -> Panel | None:
    """Return a matrix as a panel with its rows along the vector; None if it does not fit or is transposed."""
    store = A._store
    if A._transposed or not panel.fits(store.nrows * store.ncols, store.dtype):
        return None
    narrow = panel.shape_of(store.nrows, store.ncols) == (store.ncols, False)
    found = (panel.get_or_build if narrow else panel.build)(store, store.ncols, False)
    found.vector.nvals()  # counts the entries: if the vector is full, its presence words are not read
    return found


@lru_cache(maxsize=64)
def _prelude(given: tuple[tuple[DataType, int], ...], width: int, body: str) -> str:
    types = {f"A{k}": given[k][0] if k < len(given) else FP64 for k in range(4)}
    widths = ", ".join(f"W{k} = {given[k][1] if k < len(given) else 0}" for k in range(4))
    return "\n".join(
        (
            typedefs(**types),
            f"constexpr u32 {widths}, OUT = {width};",
            function("void", "compute", "const double* x, double* z", body),
        )
    )
