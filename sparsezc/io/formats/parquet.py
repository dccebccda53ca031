"""Edge lists in Parquet files, for :func:`sparsezc.io.read` and :func:`sparsezc.io.write`, and by column names.

The columns are ``source``, ``target`` and ``weight`` or, without such names, the first three. The sizes are in the
schema's metadata; without them the graph has (largest id + 1) vertices. Files are read and written chunk by chunk.
pyarrow is imported when a file is read or written: ``pip install "sparsezc[arrow]"``.
Source: https://parquet.apache.org/docs/file-format.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError, GraphblasException, InvalidValue, OutOfMemory, naming
from sparsezc.io.build import edge_list
from sparsezc.io.build.csr_chunks import rows_of, unweighted
from sparsezc.io.build.edge_list import Chunks, EdgeChunks, Edges, collect
from sparsezc.io.build.optional import need
from sparsezc.io.build.table_columns import USUAL, Names, TableColumns
from sparsezc.io.files.atomic_write import Output
from sparsezc.io.files.pipe_spool import regular
from sparsezc.io.formats import parquet_checksums
from sparsezc.io.hdf5.foreign import one_line
from sparsezc.io.interop import arrow, arrow_edges
from sparsezc.io.interop.edge_table import TableOptions
from sparsezc.memory.csr import Csr
from sparsezc.terminal.progress import bar

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix

_CHECKED = {"write_page_checksum": True}  # other programs can compare these checksums too


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    """Replace pyarrow's errors by FileFormatError or OutOfMemory with the file's name."""
    try:
        yield
    except GraphblasException:
        raise
    except MemoryError as error:
        raise OutOfMemory(f"{path} needs more memory than there is, or is damaged: {one_line(error)}") from None
    except Exception as error:  # pyarrow's own errors and a dozen of Python's
        raise FileFormatError(f"{path} is no Parquet file of edges, or damaged: {one_line(error)}") from None


def _open(path: Path, part: tuple[int, int] = (0, 1)) -> Any:
    """Open a file after checking it against its checksums, if any: those of the footer and of a rank's row groups."""
    parquet = need("pyarrow.parquet", "arrow")
    regular(path)

    def opened() -> Any:
        # Without pre_buffer=False pyarrow reads all row groups ahead, however slowly they are consumed.
        return parquet.ParquetFile(path, pre_buffer=False, page_checksum_verification=True)

    def spans() -> list[tuple[int, int]]:
        with opened() as file:
            return [_bytes_of(file.metadata.row_group(group)) for group in _groups(file, part)]

    with _damage(path):
        parquet_checksums.check(path, None if part[1] == 1 else spans)
        return opened()


def _groups(file: Any, part: tuple[int, int]) -> range:
    """Return the numbers of the row groups that a rank reads; `part`: the rank, and the number of ranks."""
    count, (rank, size) = file.metadata.num_row_groups, part
    return range(count * rank // size, count * (rank + 1) // size)


def _bytes_of(group: Any) -> tuple[int, int]:
    """Return the first byte of a row group in the file, and the byte after its last."""
    columns = [group.column(k) for k in range(group.num_columns)]
    starts = [min(c.data_page_offset, c.dictionary_page_offset or c.data_page_offset) for c in columns]
    ends = [start + column.total_compressed_size for start, column in zip(starts, columns, strict=True)]
    return min(starts, default=0), max(ends, default=0)


def read(path: Path, *, columns: TableColumns = USUAL, names: Names | None = None, **_: Any) -> Edges:
    """Read the edges of a file, or of all files of a folder, one direction each.

    Raises
    ------
    FileFormatError
        The file is damaged, or the columns of vertices are no ids.
    """
    return collect(edge_chunks(path, columns=columns, names=names))


def parts_of(folder: Path) -> list[Path]:
    """Return the Parquet files in a folder and its subfolders, sorted by path."""
    files = (each for suffix in ("*.parquet", "*.pq") for each in folder.rglob(suffix))
    return sorted(each for each in files if each.is_file() and not each.name.startswith((".", "_")))


def edge_chunks(
    path: Path, part: tuple[int, int] = (0, 1), *, columns: TableColumns = USUAL, names: Names | None = None
) -> EdgeChunks:
    """Return the edges chunk by chunk; with `part`, a rank and the number of ranks, those of the rank's row groups.

    If `path` is a folder, all its Parquet files are read, one after the other.
    """
    if path.is_dir():
        return edge_list.chained(lambda each: edge_chunks(each, part, columns=columns, names=names), parts_of(path))

    def chunks() -> Chunks:
        file = _open(path, part)

        def batches(names: list[str]) -> Iterator[Any]:
            groups = _groups(file, part)
            mine = sum(file.metadata.row_group(group).num_rows for group in groups)
            progress = bar(mine, f"reading {path.name}", " edges")
            for batch in file.iter_batches(columns=names, row_groups=list(groups)):
                yield batch
                progress.update(batch.num_rows)
            progress.close()

        with _damage(path), file:
            return (yield from arrow_edges.chunks(path, file.schema_arrow, batches, columns, names))

    return EdgeChunks(chunks())


def write(csr: Csr, out: Output) -> None:
    """Write each entry as a row, with its value unless the matrix is iso-valued with True."""
    plain = csr.dtype.is_bool and unweighted(csr)
    if csr.dtype.is_complex:
        raise InvalidValue(f"A holds {csr.dtype}; Parquet has no complex numbers")
    with writing(out, (csr.nrows, csr.ncols), None if plain else csr.dtype.np_type) as take:
        for _, _, rows, cols, values in rows_of(csr, rows=True, values=not plain):
            take(rows, cols, None if plain else values)


@contextmanager
def writing(
    out: Output, size: tuple[int, int], dtype: Any
) -> Iterator[Callable[[NDArray[Any], NDArray[Any], NDArray[Any] | None], None]]:
    """Yield a function that appends edges to a new file: rows, columns and, unless `dtype` is None, values."""
    pyarrow, parquet = need("pyarrow", "arrow"), need("pyarrow.parquet", "arrow")
    fields = [("source", pyarrow.int64()), ("target", pyarrow.int64())]
    fields += [] if dtype is None else [("weight", pyarrow.from_numpy_dtype(dtype))]
    sizes = {"sparsezc.nrows": str(size[0]), "sparsezc.ncols": str(size[1])}
    schema = pyarrow.schema(fields, metadata=sizes)
    target = out.reserve()
    with target.open("wb") as file, parquet.ParquetWriter(file, schema, **_CHECKED) as writer:

        def take(rows: NDArray[Any], cols: NDArray[Any], values: NDArray[Any] | None) -> None:
            parts = [rows.astype(np.int64, copy=False), cols.astype(np.int64, copy=False)]
            parts += [] if values is None else [values]
            writer.write_table(pyarrow.table([pyarrow.array(part) for part in parts], schema=schema))

        yield take
    parquet_checksums.seal(target)


def from_parquet(
    path: str | os.PathLike[str],
    source: str = "source",
    target: str = "target",
    weight: str | None = "weight",
    **options: Unpack[TableOptions],
) -> Matrix | tuple[Matrix, NDArray[Any]]:
    """Make a Matrix from the edge list in a Parquet file, by the names of its columns.

    :func:`sparsezc.io.read` reads such files too, and builds the matrix in a placement; this function accepts any
    column names and any kind of labels. Only the named columns are read, and converted as by
    :func:`~sparsezc.io.from_arrow`.

    Parameters
    ----------
    path : str or path
    source, target, weight, **options
        As in :func:`~sparsezc.io.from_arrow`.

    Raises
    ------
    FileFormatError
        The file is damaged or no Parquet file.
    InvalidValue
        A column does not exist; the message lists the columns of the file.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.io.write(gb.io.read("path:3"), "path.parquet")
    >>> gb.io.from_parquet("path.parquet").nvals
    4
    """
    file = _open(Path(path))
    wanted = [source, target] if weight is None else [source, target, weight]
    with _damage(Path(path)), file:
        names = file.schema_arrow.names
        table = file.read(columns=[name for name in wanted if name in names])
    for name in wanted:
        if name not in names and name != "weight":
            raise InvalidValue(f"{path}: there is no column {name!r}; the columns are {', '.join(map(repr, names))}")
    with naming(path):
        return arrow.from_arrow(table, source, target, weight, **options)


def to_parquet(
    A: Any,
    path: str | os.PathLike[str],
    source: str = "source",
    target: str = "target",
    weight: str | None = "weight",
    *,
    labels: Any = None,
) -> None:
    """Write the entries of a Matrix as a Parquet edge list; the file appears complete or not at all.

    An Arrow table in memory holds one copy of the entries; :func:`sparsezc.io.write` writes chunk by chunk instead.

    Parameters
    ----------
    A, source, target, weight, labels
        As in :func:`~sparsezc.io.to_arrow`.
    path : str or path
    """
    table = arrow.to_arrow(A, source, target, weight, labels=labels)
    with Output(path) as out:
        write_table(table, out)


def write_table(table: Any, out: Output) -> None:
    """Write a pyarrow Table as a Parquet file with checksums of pages and of the whole file."""
    parquet = need("pyarrow.parquet", "arrow")
    target = out.reserve()
    with target.open("wb") as file:
        parquet.write_table(table, file, **_CHECKED)
    parquet_checksums.seal(target)
