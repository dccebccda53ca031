"""Edge lists in Feather files, the Arrow IPC format: columns as in Parquet files, read batch by batch.

pyarrow is imported when a file is read or written: ``pip install "sparsezc[arrow]"``. Files are memory-mapped; a file
in the streaming format is read from its start.
Source: https://arrow.apache.org/docs/format/Columnar.html.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparsezc.exceptions import FileFormatError, GraphblasException, InvalidValue
from sparsezc.io.build.csr_chunks import rows_of, unweighted
from sparsezc.io.build.edge_list import Chunks, EdgeChunks, Edges, collect
from sparsezc.io.build.optional import need
from sparsezc.io.build.table_columns import USUAL, Names, TableColumns
from sparsezc.io.files.pipe_spool import regular
from sparsezc.io.hdf5.foreign import one_line
from sparsezc.io.interop import arrow_edges
from sparsezc.memory.csr import Csr

if TYPE_CHECKING:
    from sparsezc.io.files.atomic_write import Output

_MAGIC = b"ARROW1"  # the first bytes of a file, but not of the streaming format


def read(path: Path, *, columns: TableColumns = USUAL, names: Names | None = None, **_: Any) -> Edges:
    """Read the edges of a file, one direction each.

    Raises
    ------
    FileFormatError
        The file is damaged, or its columns are no vertex ids.
    """
    return collect(edge_chunks(path, columns=columns, names=names))


def edge_chunks(path: Path, *, columns: TableColumns = USUAL, names: Names | None = None) -> EdgeChunks:
    """Return the edges of a file batch by batch."""

    def chunks() -> Chunks:
        with _opened(path) as (schema, batches):
            found = EdgeChunks(arrow_edges.chunks(path, schema, lambda _: batches, columns, names))
            for rows, cols, values in found.chunks:
                yield rows.copy(), cols.copy(), values  # copies: the batch is in the mapped file
        return found.facts

    return EdgeChunks(chunks())


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, Iterator[Any]]]:
    """Open a Feather file in either format, and yield its schema and its batches; name the file in pyarrow's errors."""
    pyarrow, ipc = need("pyarrow", "arrow"), need("pyarrow.ipc", "arrow")
    with regular(path).open("rb") as head:
        is_file = head.read(len(_MAGIC)) == _MAGIC
    try:
        with pyarrow.memory_map(str(path)) as source:
            reader = ipc.open_file(source) if is_file else ipc.open_stream(source)
            count = reader.num_record_batches if is_file else 0
            batches = map(reader.get_batch, range(count)) if is_file else iter(reader)
            yield reader.schema, _checked(batches)
    except (GraphblasException, MemoryError):
        raise
    except Exception as error:  # pyarrow's own errors and several of Python's
        raise FileFormatError(f"{path} is no Feather file of edges, or damaged: {one_line(error)}") from None


def _checked(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the batches after checking that their offsets and lengths fit their bytes."""
    for batch in batches:
        batch.validate(full=True)
        yield batch


def write(csr: Csr, out: Output) -> None:
    """Write each entry as a row, with its value unless the matrix is iso-valued with True."""
    if csr.dtype.is_complex:
        raise InvalidValue(f"A holds {csr.dtype}; Arrow has no complex numbers")
    pyarrow, ipc = need("pyarrow", "arrow"), need("pyarrow.ipc", "arrow")
    plain = csr.dtype.is_bool and unweighted(csr)
    fields = [("source", pyarrow.int64()), ("target", pyarrow.int64())]
    fields += [] if plain else [("weight", pyarrow.from_numpy_dtype(csr.dtype.np_type))]
    sizes = {"sparsezc.nrows": str(csr.nrows), "sparsezc.ncols": str(csr.ncols)}
    schema = pyarrow.schema(fields, metadata=sizes)
    with out.open() as file, ipc.new_file(file, schema) as writer:
        for _, _, rows, cols, values in rows_of(csr, rows=True, values=not plain):
            parts = [rows.astype("int64"), cols.astype("int64"), *([] if plain else [values])]
            writer.write_batch(pyarrow.record_batch([pyarrow.array(part) for part in parts], schema=schema))


def write_table(table: Any, out: Output) -> None:
    """Write a pyarrow Table as a Feather file."""
    with out.open() as file, need("pyarrow.ipc", "arrow").new_file(file, table.schema) as writer:
        writer.write_table(table)
