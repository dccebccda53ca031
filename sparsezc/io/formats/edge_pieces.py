"""Edge lists that a caller writes piece by piece: text and Parquet."""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError, InvalidValue
from sparsezc.io.files.atomic_write import Output
from sparsezc.io.formats import parquet, text

#: The suffixes of text files, and the separators of the numbers in their lines.
_TEXT = {".txt": b" ", ".tsv": b"\t", ".csv": b","}
_PIECE = 1 << 20  # bytes copied at a time
_PARQUET = (".parquet", ".pq")

Write = Callable[[NDArray[Any], NDArray[Any], "NDArray[Any] | None"], None]


def format_of(path: str | os.PathLike[str], name: str) -> str:
    """Return the suffix of a name that chooses the format; raise FileFormatError if it has none."""
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
    """Yield a function that appends edges to a new file: rows, columns and values (None: there are none).

    Parameters
    ----------
    size : (int, int)
        The numbers of rows and columns of the matrix, which all formats but .csv store.
    dtype : NumPy dtype or None
        The type of the values; None: there are none.

    Raises
    ------
    InvalidValue
        The file is a .csv and gets no edges: it would be empty.
    """
    suffix = format_of(path, "out")
    with Output(path) as out:
        if suffix in _PARQUET:
            with parquet.writing(out, size, dtype) as write:
                yield write
            return
        with out.open() as file, _stored(out) as stored:
            body = _Body(stored, out.path.suffix.lower() == ".gz")
            count = 0

            def lines(rows: NDArray[Any], cols: NDArray[Any], values: NDArray[Any] | None) -> None:
                nonlocal count
                if rows.size:
                    count += rows.size
                    columns = (rows, cols) if values is None else (rows, cols, values)
                    body.file.write(text.printed(b"", *columns).replace(b" ", _TEXT[suffix]))

            yield lines
            if suffix == ".csv" and count == 0:
                raise InvalidValue(
                    f"{path} would be an empty file, as a .csv of no edges; write .txt, .tsv or .parquet, which hold "
                    "the sizes"
                )
            if suffix != ".csv":
                file.write(b"# %d x %d, %d entries\n" % (*size, count))
            body.copy(file)


def _stored(out: Output) -> Any:
    """Open a temporary file beside the output, or in the system's temporary folder if the output is a pipe."""
    special = out.path.exists() and not out.path.is_file()
    return tempfile.TemporaryFile(dir=None if special else out.scratch())


class _Body:
    """The lines of a text file, stored in a temporary file until their number, which precedes them, is known."""

    def __init__(self, stored: IO[bytes], packed: bool) -> None:
        self._stored, self._packed = stored, packed
        self.file: Any = gzip.GzipFile(fileobj=stored, mode="wb", compresslevel=1) if packed else stored

    def copy(self, file: IO[bytes]) -> None:
        """Copy the stored lines to the output."""
        if self._packed:
            self.file.close()
            self.file = gzip.GzipFile(fileobj=self._stored, mode="rb")
        self._stored.seek(0)
        shutil.copyfileobj(self.file, file, _PIECE)
