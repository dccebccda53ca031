"""Edge lists that a caller writes piece by piece: text and Parquet."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numpy.typing import NDArray

from sparsezc.errors import FileFormatError
from sparsezc.io.files.atomic_write import Output
from sparsezc.io.formats import parquet, text

#: Suffixes and what stands between the numbers of a line.
_TEXT = {".txt": b" ", ".tsv": b"\t", ".csv": b","}
_PARQUET = (".parquet", ".pq")

Write = Callable[[NDArray[Any], NDArray[Any], "NDArray[Any] | None"], None]


def format_of(path: str | os.PathLike[str], name: str) -> str:
    """Return the suffix that says the format; refuse a name that says none."""
    plain = os.fspath(path).lower().removesuffix(".gz")
    found = next((suffix for suffix in (*_TEXT, *_PARQUET) if plain.endswith(suffix)), None)
    if found is None or (found in _PARQUET and not os.fspath(path).lower().endswith(found)):
        known = ", ".join((*_TEXT, *_PARQUET))
        raise FileFormatError(
            f"{name} is {os.fspath(path)!r}; a name that ends in {known} (text also in .gz) is needed"
        )
    return found


@contextmanager
def writing(path: str | os.PathLike[str], size: tuple[int, int], dtype: Any) -> Iterator[Write]:
    """Open a file for edges; the function that comes takes their rows, columns and values (None: there are none).

    Parameters
    ----------
    size : (int, int)
        Rows and columns of the matrix, which Parquet keeps.
    dtype : NumPy dtype or None
        Of the values; None where there are none.
    """
    suffix = format_of(path, "out")
    with Output(path) as out:
        if suffix in _PARQUET:
            with parquet.writing(out, size, dtype) as write:
                yield write
            return
        with out.open() as file:

            def lines(rows: NDArray[Any], cols: NDArray[Any], values: NDArray[Any] | None) -> None:
                if rows.size:
                    columns = (rows, cols) if values is None else (rows, cols, values)
                    file.write(text.printed(b"", *columns).replace(b" ", _TEXT[suffix]))

            yield lines
