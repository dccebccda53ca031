"""Reading of a CSR chunk by chunk, and conversions of a CSR, for writers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import InvalidValue
from sparsezc.io.build import csr_builder, edge_list
from sparsezc.memory.csr import Csr
from sparsezc.terminal.progress import bar

CHUNK = 1 << 18  # entries of a chunk


def rows_of(
    csr: Csr, *, values: bool = True, rows: bool = False, label: str = "writing"
) -> Iterator[tuple[int, int, NDArray[np.int64], NDArray[Any], NDArray[Any]]]:
    """Yield (first entry, last entry + 1, rows, columns, values) of consecutive chunks; an iso value is repeated.

    Rows are empty without `rows`, values without `values`; `label` is that of the progress bar.
    """
    none = np.empty(0, np.int64)
    progress = bar(csr.nvals, label, " entries")
    for start in range(0, csr.nvals, CHUNK):
        stop = min(start + CHUNK, csr.nvals)
        at = none
        if rows:
            first, last = (int(np.searchsorted(csr.indptr, entry, side="right")) - 1 for entry in (start, stop - 1))
            ends = np.clip(csr.indptr[first : last + 2], start, stop)
            at = np.repeat(np.arange(first, last + 1), np.diff(ends))
        part: NDArray[Any] = none
        if values:
            part = np.repeat(csr.values.read(0, 1), stop - start) if csr.iso else csr.values.read(start, stop)
        yield start, stop, at, csr.indices.read(start, stop), part
        progress.update(stop - start)
    progress.close()


def unweighted(csr: Csr) -> bool:
    """Return whether a matrix is iso-valued with 1 (or True): it is then written without values."""
    return csr.iso and bool(csr.values.read(0, 1)[0] == 1)


def integers(values: NDArray[Any], dtype: Any, suffix: str) -> NDArray[Any]:
    """Return the values in an integer type; raise InvalidValue for a value that the conversion would change."""
    kind = np.dtype(dtype)
    with np.errstate(invalid="ignore"):
        cast = values.astype(kind)
    same = (cast == values) & ((cast < 0) == (values < 0))
    if not same.all():
        bad = values[np.flatnonzero(~same)[0]]
        raise InvalidValue(f"the value {bad} does not fit the {kind} weights of a {suffix} file; write another format")
    return cast


def transposed(csr: Csr) -> Csr:
    """Return the transpose, in host memory."""
    rows = np.repeat(np.arange(csr.nrows, dtype=np.int64), np.diff(csr.indptr))
    values = None if csr.iso else csr.values.read()
    edges = edge_list.Edges(csr.ncols, csr.nrows, csr.indices.read().astype(np.int64), rows, values, dtype=csr.dtype)
    made = csr_builder.build(edges, placement="host")
    return made.with_values(csr.values, csr.dtype, True) if csr.iso else made


def is_symmetric(csr: Csr) -> bool:
    """Return whether a matrix equals its transpose, in pattern and values."""
    if csr.symmetric or csr.nrows != csr.ncols:
        return csr.symmetric
    other = transposed(csr)
    if not np.array_equal(csr.indptr, other.indptr):
        return False
    if not np.array_equal(csr.indices.read(), other.indices.read()):
        return False
    # `other` may be iso-valued where the matrix stores each value, so arrays of different lengths are compared.
    return csr.iso or bool((csr.values.read() == other.values.read()).all())


def as_edges(csr: Csr) -> edge_list.Edges:
    """Return the entries of a CSR as edges."""
    rows = np.repeat(np.arange(csr.nrows, dtype=np.int64), np.diff(csr.indptr))
    values = None if unweighted(csr) else csr.values.read()
    if csr.iso and values is not None:
        values = np.broadcast_to(values, csr.nvals)
    rows, cols = edge_list.narrow_ids(rows), edge_list.narrow_ids(csr.indices.read())
    return edge_list.Edges(csr.nrows, csr.ncols, rows, cols, values, csr.symmetric, csr.symmetric, csr.dtype)
