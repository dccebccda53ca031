"""Edges from the record batches of Arrow, in which Parquet and Feather files are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError, InvalidValue
from sparsezc.io.build.edge_list import Chunks, EdgeFacts
from sparsezc.io.build.optional import need
from sparsezc.io.build.table_columns import NamedVertices, Names, TableColumns
from sparsezc.io.interop import arrow
from sparsezc.semirings.types import datatypes

_TEXTS = "; relabel=True (--relabel) takes all ids as names"


def chunks(
    path: Path,
    schema: Any,
    batches: Callable[[list[str]], Iterable[Any]],
    chosen: TableColumns,
    names: Names | None,
) -> Chunks:
    """Yield the edges of record batches; the arrays of ids share the batches' memory.

    Parameters
    ----------
    batches : callable
        Returns the batches of the columns whose names it gets.
    """
    needed, columns, first = (0, 0), columns_of(path, schema.names, chosen), 0
    dtype: datatypes.DataType | None = None
    nrows, ncols = (None, None) if names is not None else _sizes(path, schema)
    for batch in batches(columns):
        rows, cols, *rest = numbers(path, batch, columns, chosen, names, first)
        first += batch.num_rows
        if rows.size:
            needed = max(needed[0], int(rows.max()) + 1), max(needed[1], int(cols.max()) + 1)
        if rest:
            dtype = datatypes.lookup(rest[0].dtype)
        # A copy: else a caller that keeps many chunks would keep Arrow from reusing its memory.
        yield rows, cols, rest[0].copy() if rest else None
    if nrows is None or ncols is None:
        nrows = ncols = max(needed)
    elif needed[0] > nrows or needed[1] > ncols:
        raise FileFormatError(f"{path} says {nrows} x {ncols} in its schema and has the id {max(needed) - 1}")
    return EdgeFacts(nrows, ncols, dtype)


def _sizes(path: Path, schema: Any) -> tuple[int | None, int | None]:
    """Return the sizes in the schema's metadata, None where missing; name the file in an error."""
    try:
        return arrow.sizes_of(schema)
    except InvalidValue as error:
        raise FileFormatError(f"{path}: {error}") from None


def columns_of(path: Path, names: list[str], chosen: TableColumns) -> list[str]:
    """Return the names of the columns to read: source, target, weight if there is one, and that of types if chosen."""
    if len(names) < 2:
        raise FileFormatError(f"{path} has {len(names)} columns ({', '.join(names)}); two of vertex ids are needed")
    found = [names[k] for k in chosen.positions(names, str(path), first=True)]
    if chosen.kind is not None:
        found.append(names[TableColumns(chosen.kind, chosen.kind).positions(names, str(path))[0]])
    if twice := [name for name in found if names.count(name) > 1]:  # pyarrow cannot choose between them
        told = ", ".join(map(repr, names))
        raise FileFormatError(f"{path}: the column {twice[0]!r} occurs twice; the columns are {told}")
    return found


def numbers(
    path: Path, batch: Any, columns: list[str], chosen: TableColumns, vertices: Names | None, first: int
) -> list[NDArray[Any]]:
    """Return the columns of a batch as arrays: sources, targets and values; `first` is the number of its first row.

    Raises
    ------
    FileFormatError
        A column has another type than ids or numbers; NamedVertices if its ids are strings.
    """
    table = arrow.as_table(batch, str(path))
    wanted = columns[: len(columns) - (chosen.kind is not None)]
    try:
        if chosen.kind is not None:
            kinds = [str(each) for each in arrow.column(table, columns[-1], str(path), first).tolist()]
            chosen.note(kinds)
            if chosen.only is not None:
                table = table.filter([each == chosen.only for each in kinds])
        for k, name in enumerate(wanted):
            at = table.column_names.index(name)
            table = table.set_column(at, name, _simple(path, name, table.column(at), ids=k < 2))
        found = [arrow.column(table, name, str(path), first) for name in wanted]
    except InvalidValue as error:
        raise FileFormatError(str(error)) from None
    for k, name in enumerate(wanted):
        if k < 2 and vertices is not None:
            found[k] = vertices.number(map(str, found[k].tolist()))
        _check(path, name, found[k], ids=k < 2)
    return found


def _simple(path: Path, name: str, column: Any, *, ids: bool) -> Any:
    """Return a column in a type that NumPy supports: binary ids as strings, decimals and half floats as floats.

    Raises
    ------
    FileFormatError
        The ids are nested or temporal, or are bytes that are not UTF-8.
    """
    pyarrow = need("pyarrow", "arrow")
    types = pyarrow.types
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if ids and (types.is_nested(kind) or types.is_temporal(kind)):
        raise FileFormatError(f"{path}: column {name!r} holds {kind}; vertex ids are needed")
    if ids and (types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)):
        try:
            return column.cast(kind).cast(pyarrow.large_binary()).cast(pyarrow.large_string())
        except pyarrow.ArrowInvalid:
            raise FileFormatError(f"{path}: column {name!r} holds bytes that are not UTF-8") from None
    if not ids and types.is_decimal(kind):
        return column.cast(pyarrow.float64())
    return column.cast(pyarrow.float32()) if not ids and types.is_float16(kind) else column


def _check(path: Path, name: str, part: NDArray[Any], *, ids: bool) -> None:
    if part.dtype.kind not in ("iu" if ids else "biuf"):
        needed = "vertex ids" if ids else "numbers"
        text = f"{path}: column {name!r} holds {part.dtype}; {needed} are needed"
        if ids and part.dtype.kind in "OUT":
            raise NamedVertices(f"{text}; relabel=True (--relabel) numbers names")
        raise FileFormatError(text)
    if ids and part.size and int(part.min()) < 0:
        raise NamedVertices(f"{path}: column {name!r} has the id {part.min()}; ids are not negative{_TEXTS}")
    if ids and part.size and int(part.max()) >= 2**63 - 1:
        raise NamedVertices(f"{path}: column {name!r} has the id {part.max()}; ids must be below 2^63 - 1{_TEXTS}")
