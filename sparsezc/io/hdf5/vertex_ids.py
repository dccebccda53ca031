"""The ids or names that the rows of a mappable file had in the source that it was converted from.

A file that was converted with ``relabel=True`` stores them in the order of rows: numbers as int64, names as one UTF-8
text with the end of each name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError, InvalidValue
from sparsezc.io.hdf5 import csr_file
from sparsezc.io.hdf5.aligned_file import Writer

_NUMBERS, _NAMES, _ENDS = "vertex_ids", "vertex_names", "vertex_name_ends"


def write(writer: Writer, ids: NDArray[Any] | None) -> None:
    """Write ids, ascending: int64, or str objects.

    Raises
    ------
    InvalidValue
        A name cannot be encoded as UTF-8.
    """
    if ids is None:
        return
    if ids.dtype.kind != "O":
        writer.array(_NUMBERS, ids.size, np.int64).write(ids.astype(np.int64, copy=False))
        return
    try:
        texts = [name.encode() for name in ids.tolist()]
    except UnicodeEncodeError as error:
        raise InvalidValue(f"the name {error.object!r:.80} of a vertex cannot be encoded as UTF-8") from None
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    writer.array(_ENDS, ends.size, np.int64).write(ends)
    joined = np.frombuffer(b"".join(texts), np.uint8)
    writer.array(_NAMES, joined.size, np.uint8).write(joined)


def are_in(path: Path) -> bool:
    """Return whether a file stores the ids of its vertices."""
    mappable = csr_file.find(path)
    return mappable is not None and bool({_NUMBERS, _ENDS} & set(mappable.places))


def read(path: Path) -> NDArray[Any] | None:
    """Return the vertex ids that a file stores, compared with their checksums; None if it stores none.

    Raises
    ------
    FileFormatError
        The file is damaged.
    """
    mappable = csr_file.find(path)
    if mappable is None or not {_NUMBERS, _ENDS} & set(mappable.places):
        return None
    nrows = int(mappable.descriptor["shape"][0])
    with csr_file.damage(path):
        if _NUMBERS in mappable.places:
            ids: NDArray[Any] = mappable.read(_NUMBERS).astype(np.int64)
        else:
            ids = _names(mappable.read(_ENDS).tolist(), mappable.read(_NAMES).tobytes())
    if ids.size != nrows or (ids[1:] <= ids[:-1]).any():
        raise FileFormatError(f"{path} is damaged: {ids.size:,} ids of vertices, where {nrows:,} must ascend")
    return ids


def _names(ends: list[int], text: bytes) -> NDArray[Any]:
    """Return names as an array of str objects."""
    found = np.empty(len(ends), object)
    start = 0
    for k, end in enumerate(ends):
        found[k] = text[start:end].decode()
        start = end
    return found
