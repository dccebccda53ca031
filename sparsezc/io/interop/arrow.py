"""Conversion to and from Arrow tables with a row for each edge, of pyarrow or any object with Arrow's C stream.

pyarrow is imported when a function of this module is called: ``pip install "sparsezc[arrow]"``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import DomainMismatch, InvalidValue
from sparsezc.io.build.limits import wrong_type
from sparsezc.io.build.optional import need
from sparsezc.io.interop import edge_table
from sparsezc.io.interop.edge_table import TableOptions

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix


def from_arrow(
    table: Any,
    source: str = "source",
    target: str = "target",
    weight: str | None = "weight",
    **options: Unpack[TableOptions],
) -> Matrix | tuple[Matrix, NDArray[Any]]:
    """Make an adjacency Matrix from an edge list in an Arrow table.

    The matrix's own arrays are one copy of the columns. A column of several Arrow chunks is first joined, which is
    another copy.

    Parameters
    ----------
    table : pyarrow.Table, pyarrow.RecordBatch, or an object with ``__arrow_c_stream__`` (a Polars DataFrame, ...)
    source, target : str
        The columns of vertex ids, without nulls; with `relabel`, of labels of any one kind.
    weight : str or None
        The column of values. None, or the default name without such a column: no values (BOOL, True everywhere).
    directed, relabel, dtype, dup_op, name
        As in :func:`~sparsezc.io.from_pandas_edgelist`.
    nrows, ncols : int, optional
        By default the sizes that :func:`to_arrow` wrote into the schema, else as in
        :func:`~sparsezc.io.from_pandas_edgelist`.

    Returns
    -------
    Matrix
        With `relabel`, (Matrix, labels): row i is the vertex ``labels[i]``.

    Raises
    ------
    PackageMissing
        pyarrow is not installed.
    DomainMismatch
        `table` is no Arrow table, or ids are not integers.
    InvalidValue
        A column does not exist, or an id or a value is null.

    Examples
    --------
    >>> import pyarrow as pa, sparsezc as gb
    >>> table = pa.table({"source": [0, 1], "target": [1, 2], "cost": [0.5, 1.5]})
    >>> gb.io.from_arrow(table, weight="cost").to_dicts()
    {0: {1: 0.5}, 1: {2: 1.5}}
    """
    where = "from_arrow"
    found = as_table(table, where)
    if options.get("nrows") is None and options.get("ncols") is None and not options.get("relabel"):
        options["nrows"], options["ncols"] = sizes_of(found.schema)
    return edge_table.from_table(
        where, found.column_names, lambda each, ids: column(found, each, where), (source, target, weight),
        **options,
    )  # fmt: skip


def as_table(table: Any, where: str) -> Any:
    """Return a pyarrow Table, RecordBatch or object with Arrow's C stream as a pyarrow Table."""
    pyarrow = need("pyarrow", "arrow")
    if isinstance(table, pyarrow.Table):
        return table
    if not isinstance(table, pyarrow.RecordBatch) and not hasattr(table, "__arrow_c_stream__"):
        raise wrong_type(where, "table", table, "an Arrow table")
    return pyarrow.table(table)


def column(table: Any, name: str, where: str, first: int = 0) -> NDArray[Any]:
    """Return a column as a NumPy array; raise InvalidValue with the row of a null, which Arrow would turn into NaN.

    `first`: the number of the table's first row, for the message.
    """
    found = table.column(name)
    if found.null_count:
        at = first + int(np.argmax(found.is_null().to_numpy(zero_copy_only=False)))
        raise InvalidValue(f"{where}: column {name!r} is null in row {at}; every edge needs a value")
    values: NDArray[Any] = found.to_numpy()
    return values


def to_arrow(
    A: Any, source: str = "source", target: str = "target", weight: str | None = "weight", *, labels: Any = None
) -> Any:
    """Return the entries of a Matrix, by rows, as an Arrow table, which owns one copy of them.

    Parameters
    ----------
    A : Matrix
    source, target : str
        Names of the columns.
    weight : str or None
        None leaves the values out.
    labels : array_like, shape (n,), optional
        The labels of the vertices of a square matrix, which replace the ids.

    Returns
    -------
    pyarrow.Table
        Ids are int64. The sizes are in the schema's metadata (``sparsezc.nrows``, ``sparsezc.ncols``).

    Raises
    ------
    PackageMissing
        pyarrow is not installed.
    DomainMismatch
        `A` is no Matrix, or is complex, for which Arrow has no type.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.io.to_arrow(gb.io.read("path:3"), weight=None).to_pydict()
    {'source': [0, 1, 1, 2], 'target': [1, 0, 2, 1]}
    """
    pyarrow = need("pyarrow", "arrow")
    where = "to_arrow"
    columns = edge_table.to_columns(A, labels, (source, target, weight), where)
    if weight is not None and columns[weight].dtype.kind == "c":
        raise DomainMismatch(f"{where}: A holds {A.dtype}; Arrow has no complex numbers")
    table = pyarrow.table({key: pyarrow.array(part) for key, part in columns.items()})
    sizes = {} if labels is not None else {"sparsezc.nrows": str(A.nrows), "sparsezc.ncols": str(A.ncols)}
    return table.replace_schema_metadata(sizes or None)


def sizes_of(schema: Any) -> tuple[int | None, int | None]:
    """Return the sizes that :func:`to_arrow` wrote into a schema's metadata; None if they are missing.

    Raises
    ------
    InvalidValue
        The sizes are too large for any matrix.
    """
    found = schema.metadata or {}
    rows, cols = (found.get(f"sparsezc.{key}".encode(), b"") for key in ("nrows", "ncols"))
    if not (rows.isdigit() and cols.isdigit()):
        return None, None
    if max(len(rows), len(cols)) > 19:
        digits = f"{len(rows)} and {len(cols)} digits"
        raise InvalidValue(f"the schema's sparsezc.nrows and ncols have {digits}; numbers below 2^63 are needed")
    return int(rows), int(cols)
