"""The files that ``--out`` writes: in the format of their suffix, and whole or not at all."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from sparsezc.cli.answers.ids import check_cells
from sparsezc.cli.answers.names import ARROW, HDF5, PARQUET, suffix_of
from sparsezc.terminal import streams

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sparsezc.cli.graph import Graph
    from sparsezc.io.files.atomic_write import Output

_BLOCK = 1 << 18  # values formatted at a time
_LINES = {"-": " ", ".txt": " ", ".tsv": "\t", ".csv": ","}  # suffixes of text formats, and separators of cells


@dataclass
class Answer:
    """Values for some of a graph's vertices.

    Attributes
    ----------
    vertices : array of int64, or of names
        The ids of the input file, in ascending order.
    columns : dict of str to array, of the same length
        One, `value`, for most answers.
    rows : array of int64
        The vertices' numbers in the matrix, from 0.
    size : int
        The number of vertices of the graph.
    missing : number
        The value of vertices without one, in an array of all vertices.
    """

    vertices: NDArray[Any]
    columns: dict[str, NDArray[Any]]
    rows: NDArray[np.int64]
    size: int
    missing: Any

    @property
    def lines(self) -> list[NDArray[Any]]:
        """The columns of a text file's lines: vertices, then values."""
        return [self.vertices, *self.columns.values()]

    @property
    def plural(self) -> dict[str, NDArray[Any]]:
        """Vertices and columns as arrays by name."""
        return {"vertices": self.vertices} | {f"{name}s": column for name, column in self.columns.items()}


def save(path: str, graph: Graph, answer: Any) -> None:
    """Write an answer for vertices.

    Parameters
    ----------
    path : str
        "-" is standard output. The suffix selects the format; docs/cli.md lists them.
    answer : sparsezc.cli.answers.answer.Columns
        Its `rows` count from 0; the ids of the input file are written.

    Raises
    ------
    InvalidValue
        The format holds numbers, and the answer has names.
    """
    import numpy as np

    from sparsezc.io.files.atomic_write import Output
    from sparsezc.terminal.progress import task

    rows = answer.rows.astype(np.int64)
    full = Answer(graph.named(rows), answer.values, rows, graph.degrees.size, answer.missing)
    suffix = suffix_of(path)
    if suffix == "-":
        with streams.output() as sink:
            for text in _lines(full.lines, " "):
                sink.write(text)
        return
    _check_names(full, suffix, path)
    if suffix in HDF5:
        _hdf5(full, path)
        return
    with task(), Output(path) as out:
        if suffix in ARROW:
            _arrow({"vertex": full.vertices, **full.columns}, suffix, out)
            return
        with out.open() as file:
            _WRITERS[suffix](full, file)


def _check_names(answer: Answer, suffix: str, path: str) -> None:
    """Refuse names, or several columns, in a format that cannot hold them."""
    from sparsezc.exceptions import InvalidValue

    if suffix in HDF5 and len(answer.columns) > 1:
        raise InvalidValue(f"--out {path}: {suffix} holds one column; {', '.join(answer.columns)} need another format")
    named = [each.dtype.kind == "O" for each in answer.columns.values()]
    named += [answer.vertices.dtype.kind == "O"] * (suffix != ".npy")
    if any(named) and suffix in (".npy", *HDF5):
        raise InvalidValue(f"--out {path}: {suffix} holds numbers, and the answer has names; .csv or .parquet has both")


def save_table(path: str, graph: Graph, table: Any) -> None:
    """Write a Matrix of few columns: a line for each vertex with entries, but in ``.npy`` a row for every vertex.

    Options read such files (cli/features.py): the first line of a ``.csv`` names the column of vertices.
    """
    import numpy as np

    full = table.to_dense(np.nan)
    if path.lower().endswith(".npy"):
        save_rows(path, {str(k): full[:, k] for k in range(full.shape[1])})
        return
    rows = np.flatnonzero(~np.isnan(full).all(axis=1))
    columns = {"vertex": graph.named(rows), **{f"column{k}": full[rows, k] for k in range(full.shape[1])}}
    save_rows(path, columns, heading=True)


def save_edges(path: str, graph: Graph, matrix: Any) -> None:
    """Write the entries of a matrix between the graph's vertices as rows: source, target and value.

    Text has BOOL values as 1 and 0, and no column of values if all are True, as graphs' files.
    """
    import numpy as np

    i, j, values = matrix.to_coo()
    columns = {"source": graph.named(i), "target": graph.named(j), "value": values}
    if values.dtype.kind == "b" and suffix_of(path) in _LINES:
        columns |= {"value": values.astype(np.int8)}
        if values.all():
            del columns["value"]
    check_cells(path, columns.values(), edges=True)
    save_rows(path, columns)


def save_rows(path: str, columns: dict[str, NDArray[Any]], *, heading: bool = False) -> None:
    """Write columns of equal length, one line a row; ``.npy`` has no column names, ``.csv`` only with `heading`.

    Raises
    ------
    InvalidValue
        The format holds numbers, and the answer has names; or a name contains the separator of cells.
    """
    import numpy as np

    from sparsezc.exceptions import InvalidValue
    from sparsezc.io.files.atomic_write import Output
    from sparsezc.terminal.progress import task

    suffix = suffix_of(path)
    check_cells(path, columns.values())
    if suffix == "-":
        with streams.output() as sink:
            for text in _lines(list(columns.values()), " "):
                sink.write(text)
        return
    if suffix == ".npy" and any(each.dtype.kind == "O" for each in columns.values()):
        raise InvalidValue(f"--out {path}: .npy holds numbers, and the answer has names; .csv has both")
    with task(), Output(path) as out:
        if suffix in ARROW:
            _arrow(columns, suffix, out)
            return
        with out.open() as file:
            if suffix == ".npy":
                np.save(file, np.column_stack(list(columns.values())))
            elif suffix == ".npz":
                _npz(columns, file)
            elif suffix == ".json":
                _json(columns, file)
            else:
                mark = _LINES[suffix]
                if heading and mark == ",":
                    file.write((",".join(columns) + "\n").encode())
                for text in _lines(list(columns.values()), mark, _cell if mark == "," else str):
                    file.write(text.encode())


def save_numbers(path: str, numbers: dict[str, Any]) -> None:
    """Write numbers by name: a JSON object, where infinity and NaN are null, or lines ``name value``."""
    from sparsezc.io.files.atomic_write import Output

    if path == "-":
        with streams.output() as sink:
            sink.write("".join(f"{name} {value}\n" for name, value in numbers.items()))
        return
    with Output(path) as out, out.open() as file:
        if suffix_of(path) == ".json":
            held = {name: None if isinstance(x, float) and not math.isfinite(x) else x for name, x in numbers.items()}
            file.write((json.dumps(held) + "\n").encode())
        else:
            file.write("".join(f"{name} {value}\n" for name, value in numbers.items()).encode())


def _cell(value: Any) -> str:
    """Return a cell of a ``.csv``, quoted if it must be."""
    if not isinstance(value, str):
        return repr(value)
    quoted = any(c in value for c in ',;"\t\n\r') or value != value.strip() or value.startswith(("#", "%"))
    return '"' + value.replace('"', '""') + '"' if quoted else value


def save_arrays(path: str, arrays: dict[str, Any]) -> None:
    """Write arrays by name into one ``.npz`` file."""
    import numpy as np

    from sparsezc.io.files.atomic_write import Output

    with Output(path) as out, out.open() as file:
        np.savez(file, **arrays)


def _lines(columns: list[NDArray[Any]], between: str, cell: Callable[[Any], str] = str) -> Iterator[str]:
    """Yield lines with a value of each column, many lines at a time."""
    from sparsezc.terminal.progress import bar

    size = columns[0].size
    progress = bar(size, "writing", " lines")
    texts = [cell if column.dtype.kind == "O" else str for column in columns]
    for start in range(0, size, _BLOCK):
        parts = [map(text, each[start : start + _BLOCK].tolist()) for text, each in zip(texts, columns, strict=True)]
        yield "".join(between.join(line) + "\n" for line in zip(*parts, strict=True))
        progress.update(min(_BLOCK, size - start))
    progress.close()


def _text(between: str, cell: Callable[[Any], str] = str) -> Callable[[Answer, IO[bytes]], None]:
    """Return a function that writes an answer as lines; with a heading if `cell` quotes."""

    def write(answer: Answer, file: IO[bytes]) -> None:
        if cell is not str:
            file.write((",".join(["vertex", *answer.columns]) + "\n").encode())
        for text in _lines(answer.lines, between, cell):
            file.write(text.encode())

    return write


def _json(columns: dict[str, NDArray[Any]], file: IO[bytes]) -> None:
    for k, (name, column) in enumerate(columns.items()):
        file.write(f"{', ' if k else '{'}{json.dumps(name)}: [".encode())
        _json_values(file, column)
        file.write(b"]")
    file.write(b"}\n")


def _json_values(file: IO[bytes], numbers: NDArray[Any]) -> None:
    """Write the elements of a JSON list; infinity and NaN, which JSON does not have, become null."""
    for start in range(0, numbers.size, _BLOCK):
        part = numbers[start : start + _BLOCK]
        finite = [x if isinstance(x, str) or math.isfinite(x) else None for x in part.tolist()]
        file.write((", " * (start > 0) + json.dumps(finite)[1:-1]).encode())


def _npy(answer: Answer, file: IO[bytes]) -> None:
    import numpy as np

    columns = list(answer.columns.values())
    shape = (answer.size,) if len(columns) == 1 else (answer.size, len(columns))
    full = np.full(shape, answer.missing, np.result_type(*columns))
    full[answer.rows] = columns[0] if len(columns) == 1 else np.column_stack(columns)
    np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(full))
    file.write(full.data)


def _npz(columns: dict[str, NDArray[Any]], file: IO[bytes]) -> None:
    import numpy as np

    arrays = {name: each.astype(str) if each.dtype.kind == "O" else each for name, each in columns.items()}
    np.savez(file, **arrays)  # type: ignore[arg-type]


def _arrow(columns: dict[str, NDArray[Any]], suffix: str, out: Output) -> None:
    from sparsezc.io.build.optional import need
    from sparsezc.io.formats import feather, parquet

    table = need("pyarrow", "arrow").table(columns)
    (parquet if suffix in PARQUET else feather).write_table(table, out)


def _hdf5(answer: Answer, path: str) -> None:
    """Write a vector in binsparse, with as many positions as the graph has vertices."""
    from sparsezc.config import config
    from sparsezc.core.vector import Vector
    from sparsezc.io.formats.binsparse import write_binsparse

    (values,) = answer.columns.values()
    size = max(answer.size, int(answer.vertices.max(initial=-1)) + 1)  # the ids of a relabelled graph may be larger
    with config.set(engine="cpu"):  # the CPU engine allocates a vector's entries alone
        v = Vector.from_coo(answer.vertices, values, size=size)
    write_binsparse(v, path)


_WRITERS: dict[str, Callable[[Answer, IO[bytes]], None]] = {
    ".txt": _text(" "), ".tsv": _text("\t"), ".csv": _text(",", _cell), ".npy": _npy,
    ".json": lambda answer, file: _json(answer.plural, file), ".npz": lambda answer, file: _npz(answer.plural, file),
}  # fmt: skip
