"""Tables with a row for each vertex, from files: features, places, scores, labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

SUFFIXES = (".npy", ".csv", ".parquet", ".pq")


def read(path: str, option: str) -> NDArray[Any]:
    """Read numbers: an array, lines of numbers between commas (empty ones are NaN), or the columns of a table.

    Raises
    ------
    FileMissing
        There is no such file.
    FileFormatError
        Its name says no format, or its content is not of that.
    """
    from sparsezc.errors import FileFormatError
    from sparsezc.io.files.names import FileMissing

    suffix = next((each for each in SUFFIXES if path.lower().endswith(each)), None)
    if suffix is None:
        raise FileFormatError(f"{option} {path}: a name that ends in {', '.join(SUFFIXES)} is needed")
    if not Path(path).is_file():
        raise FileMissing(f"{option} {path}: there is no such file")
    found = _READERS[suffix](path)
    if found.dtype.kind not in "biuf" or found.ndim not in (1, 2):
        raise FileFormatError(f"{path} holds {found.ndim} dimensions of {found.dtype}; a table of numbers is needed")
    return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found


def _npy(path: str) -> NDArray[Any]:
    import numpy as np

    from sparsezc.errors import FileFormatError

    try:
        found: NDArray[Any] = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise FileFormatError(f"{path} is no .npy file of numbers: {error}") from None
    return found


def _csv(path: str) -> NDArray[Any]:
    import numpy as np

    from sparsezc.errors import FileFormatError

    rows: list[list[float]] = []
    with Path(path).open(encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(file, 1):
            cells = [cell.strip() for cell in line.rstrip("\n").split(",")]
            row: list[float] = []
            try:
                row.extend(float(cell) if cell else float("nan") for cell in cells)
            except ValueError:
                if number == 1:  # the names of the columns
                    continue
                place = f"{path}, line {number}, column {len(row) + 1}"  # the cells before it are numbers
                raise FileFormatError(f"{place}: found {cells[len(row)]!r}; a number is needed") from None
            rows.append(row)
            if len(rows[-1]) != len(rows[0]):
                raise FileFormatError(
                    f"{path}, line {number}: found {len(rows[-1])} columns; those before have {len(rows[0])}"
                )
    if not rows:
        raise FileFormatError(f"{path} has no numbers; a line for each vertex is needed")
    return np.array(rows)


def _parquet(path: str) -> NDArray[Any]:
    import numpy as np

    from sparsezc.errors import FileFormatError
    from sparsezc.io.build.optional import need

    try:
        table = need("pyarrow.parquet", "arrow").read_table(path)
        return np.column_stack([np.asarray(column.to_numpy(), np.float64) for column in table.columns])
    except ImportError:
        raise
    except Exception as error:  # pyarrow's own errors and what a column of text becomes
        raise FileFormatError(f"{path} is no Parquet file of numbers: {error}") from None


_READERS = {".npy": _npy, ".csv": _csv, ".parquet": _parquet, ".pq": _parquet}
