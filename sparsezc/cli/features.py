"""Tables with a row for each vertex, from files: features, places, scores, labels."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparsezc.cli.graph import Graph

SUFFIXES = (".npy", ".csv", ".parquet", ".pq")
_VERTEX = "vertex"  # the name of a first column of ids, as --out writes it


class _Table(NamedTuple):
    """Rows of numbers, and the ids of the rows' vertices if the file has them."""

    numbers: NDArray[Any]
    vertices: list[str] | None = None


def read(path: str, option: str, graph: Graph | None = None) -> NDArray[Any]:
    """Read rows of numbers: a .npy array, a .csv (empty cells are NaN), or the columns of a Parquet table.

    If the first column is named "vertex", rows belong to these vertices of `graph`, and other vertices have NaN.
    Without a graph it is a column like others.

    Raises
    ------
    FileMissing
        There is no such file.
    FileFormatError
        The suffix selects no format, or the content is not of that format.
    InvalidValue, IndexOutOfBound
        No vertex of the graph has an id of the file.
    """
    from sparsezc.exceptions import FileFormatError
    from sparsezc.io.files.source import FileMissing

    suffix = next((each for each in SUFFIXES if path.lower().endswith(each)), None)
    if suffix is None:
        raise FileFormatError(f"{option} {path}: a name that ends in {', '.join(SUFFIXES)} is needed")
    if not Path(path).is_file():
        raise FileMissing(f"{option} {path}: there is no such file")
    found, vertices = _READERS[suffix](path, graph is not None)
    if graph is not None and vertices is not None:
        found = _spread(found, vertices, graph, f"{option} {path}")
    if found.dtype.kind not in "biuf" or found.ndim not in (1, 2):
        raise FileFormatError(f"{path} holds {found.ndim} dimensions of {found.dtype}; a table of numbers is needed")
    return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found


def _spread(numbers: NDArray[Any], vertices: list[str], graph: Graph, source: str) -> NDArray[Any]:
    """Return a row for each vertex of a graph, in the graph's order; NaN where the file has none."""
    import numpy as np

    from sparsezc.exceptions import FileFormatError, IndexOutOfBound

    size = graph.degrees.size
    at = np.array([graph.vertex(vertex, source) for vertex in vertices], np.int64)
    if (outside := np.flatnonzero((at < 0) | (at >= size))).size:
        raise IndexOutOfBound(f"{source} has vertex {vertices[outside[0]]}; {graph.name} has vertices 0 to {size - 1}")
    once, times = np.unique(at, return_counts=True)
    if once.size < at.size:
        twice = graph.name_of(once[times.argmax()])
        raise FileFormatError(f"{source} has vertex {twice} {times.max()} times; a line for each is needed")
    full = np.full((size, numbers.shape[1]), np.nan)
    full[at] = numbers
    return full


def _npy(path: str, _: bool) -> _Table:
    import numpy as np

    from sparsezc.exceptions import FileFormatError

    try:
        found: NDArray[Any] = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise FileFormatError(f"{path} is no .npy file of numbers: {error}") from None
    return _Table(found)


def _csv(path: str, keyed: bool) -> _Table:
    """Read a ``.csv``; `keyed`: a first column named "vertex" has ids."""
    import numpy as np

    from sparsezc.exceptions import FileFormatError

    rows: list[list[float]] = []
    vertices: list[str] | None = None
    with Path(path).open(encoding="utf-8-sig", errors="replace", newline="") as file:
        lines = csv.reader(file)
        try:
            for line in lines:
                cells, place = [cell.strip() for cell in line] or [""], f"{path}, line {lines.line_num}"
                if keyed and lines.line_num == 1 and cells[0].lower() == _VERTEX and len(cells) > 1:
                    vertices = []
                    continue
                row: list[float] = []
                try:
                    row.extend(float(cell) if cell else float("nan") for cell in cells[vertices is not None :])
                except ValueError:
                    if lines.line_num == 1:  # the names of the columns
                        continue
                    column = len(row) + (vertices is not None)  # all cells before the wrong one are numbers
                    wrong = f"column {column + 1}: found {cells[column]!r}; a number is needed"
                    raise FileFormatError(f"{place}, {wrong}") from None
                if vertices is not None and not row:
                    raise FileFormatError(f"{place}: found 1 column; a number is needed after the vertex's id")
                if rows and len(row) != len(rows[0]):
                    here, before = (len(each) + (vertices is not None) for each in (row, rows[0]))
                    raise FileFormatError(f"{place}: found {here} columns; those before have {before}")
                rows.append(row)
                if vertices is not None:
                    vertices.append(cells[0])
        except csv.Error as error:
            raise FileFormatError(f"{path}, line {lines.line_num}: {error}") from None
    if not rows:
        raise FileFormatError(f"{path} has no numbers; a line for each vertex is needed")
    return _Table(np.array(rows), vertices)


def _parquet(path: str, keyed: bool) -> _Table:
    import numpy as np

    from sparsezc.exceptions import FileFormatError
    from sparsezc.io.build.optional import need

    try:
        table = need("pyarrow.parquet", "arrow").read_table(path)
        columns, vertices = table.columns, None
        if keyed and len(columns) > 1 and table.column_names[0].lower() == _VERTEX:
            vertices, columns = [str(each) for each in columns[0].to_pylist()], columns[1:]
        numbers = np.column_stack([np.asarray(column.to_numpy(), np.float64) for column in columns])
    except ImportError:
        raise
    except Exception as error:  # pyarrow's errors, and NumPy's for a column of text
        raise FileFormatError(f"{path} is no Parquet file of numbers: {error}") from None
    return _Table(numbers, vertices)


_READERS = {".npy": _npy, ".csv": _csv, ".parquet": _parquet, ".pq": _parquet}
