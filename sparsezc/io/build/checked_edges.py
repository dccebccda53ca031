"""Checks of the edges that a program's own file format returns, as the readers of sparsezc check theirs.

Kernels trust ids, so that an id out of range would be read as an address.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from operator import index
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError, InvalidValue
from sparsezc.io.build.edge_list import Chunk, EdgeChunks, Edges


def checked_format(name: str, format: Any) -> SimpleNamespace:
    """Return a registered format with functions that check the edges it returns, and refuse what it cannot do."""
    made = SimpleNamespace(read=partial(_read, name, format), write=partial(_write, name, format))
    if hasattr(format, "edge_chunks"):
        made.edge_chunks = partial(_edge_chunks, name, format)
    return made


def _read(name: str, format: Any, path: Path, **given: Any) -> Edges:
    if not hasattr(format, "read"):
        raise InvalidValue(f"{path}: format {name!r} has no function `read`, so it cannot be read")
    found = format.read(path, **given)
    if not isinstance(found, Edges):
        raise InvalidValue(f"{path}: format {name!r} returned a {type(found).__name__}; gb.io.Edges is needed")
    found = replace(found, nrows=_size(path, found.nrows), ncols=_size(path, found.ncols))
    rows, cols, values = _checked(path, 0, (found.rows, found.cols, found.values))
    for what, ids, size in (("row", rows, found.nrows), ("column", cols, found.ncols)):
        if ids.size:
            _require_below(path, what, size, int(ids.max()), int(ids.argmax()))
    return replace(found, rows=rows, cols=cols, values=values)


def _write(name: str, format: Any, csr: Any, output: Any, **options: Any) -> None:
    if not hasattr(format, "write"):
        raise InvalidValue(f"format {name!r} has no function `write`, so no file can be written in it")
    format.write(csr, output, **options)


def _edge_chunks(name: str, format: Any, path: Path, weights: Any) -> EdgeChunks:
    found = format.edge_chunks(path, weights)
    if not isinstance(found, EdgeChunks):
        raise InvalidValue(f"{path}: format {name!r} returned a {type(found).__name__}; gb.io.EdgeChunks is needed")

    def step(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        listed, last = 0, [(-1, -1), (-1, -1)]  # the largest row and column, each with the number of its edge
        for chunk in chunks:
            rows, cols, values = _checked(path, listed, chunk)
            if rows.size:
                last = [max(most, (int(ids.max()), listed + int(ids.argmax())), key=lambda x: x[0])
                        for most, ids in zip(last, (rows, cols), strict=True)]  # fmt: skip
            listed += rows.size
            yield rows, cols, values
        for what, (most, at), size in zip(("row", "column"), last, (found.facts.nrows, found.facts.ncols), strict=True):
            _require_below(path, what, _size(path, size), most, at)

    found.pass_through(step)
    return found


def _size(path: Path, size: Any) -> int:
    """Return a number of rows or columns as an integer."""
    try:
        found = index(size)
    except TypeError:
        found = -1
    if found < 0:
        raise FileFormatError(f"{path}: found the size {size!r}; a whole number >= 0 is needed")
    return found


def _checked(path: Path, first: int, chunk: Chunk) -> Chunk:
    """Return edges, of which `first` precede, as arrays of one length with ids >= 0 in a type that readers use."""
    rows, cols = (_ids(path, first, what, ids) for what, ids in zip(("row", "column"), chunk[:2], strict=True))
    values: Any = None if chunk[2] is None else np.asarray(chunk[2])
    lengths = rows.size, cols.size, *(() if values is None else (values.size,))
    if len(set(lengths)) != 1 or (values is not None and values.ndim != 1):
        raise FileFormatError(
            f"{path}: found {rows.size} rows, {cols.size} columns"
            + ("" if values is None else f" and values of shape {values.shape}")
            + "; one of each is needed for each edge"
        )
    return rows, cols, values


def _ids(path: Path, first: int, what: str, ids: Any) -> NDArray[Any]:
    found = np.asarray(ids)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise FileFormatError(
            f"{path}: the {what} ids are an array of {found.dtype} of shape {found.shape}; one of integers and of one"
            " dimension is needed"
        )
    if found.dtype == np.uint32:
        return found
    if found.size and (int(found.min()) < 0 or int(found.max()) >= 2**63):
        at = int(found.argmin() if int(found.min()) < 0 else found.argmax())
        raise FileFormatError(f"{path}: edge {first + at} has the {what} {found[at]}; 0 to 2**63 - 1 are possible")
    return found.astype(np.int64, copy=False)


def _require_below(path: Path, what: str, size: int, most: int, at: int) -> None:
    """Refuse edges whose largest id, that of edge `at`, is not below the size."""
    if most >= size:
        raise FileFormatError(
            f"{path}: edge {at} has the {what} {most}, and there are {size:,} {what}s, numbered from 0"
        )
