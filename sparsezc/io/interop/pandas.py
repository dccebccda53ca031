"""Conversion to and from pandas edge lists: DataFrames with a row for each edge.

pandas is imported when a function of this module is called: ``pip install "sparsezc[pandas]"``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import InvalidValue
from sparsezc.io.build.limits import wrong_type
from sparsezc.io.build.optional import need
from sparsezc.io.interop import edge_table
from sparsezc.io.interop.edge_table import TableOptions

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix


def from_pandas_edgelist(
    df: Any,
    source: Any = "source",
    target: Any = "target",
    weight: Any = "weight",
    **options: Unpack[TableOptions],
) -> Matrix | tuple[Matrix, NDArray[Any]]:
    """Make an adjacency Matrix from a pandas edge list; its own arrays are one copy.

    Parameters
    ----------
    df : pandas.DataFrame
    source, target : column names
        The columns of vertex ids, counted from 0, without missing values; with `relabel`, of labels of any one kind.
    weight : column name or None
        The column of values. None, or the default name without such a column: no values (BOOL, True everywhere).
    directed : bool
        False: each edge counts in both directions.
    relabel : bool
        Number the ids or labels that occur, in ascending order.
    dtype : optional
        The type of the matrix; by default the values' own.
    nrows, ncols : int, optional
        By default both are the largest id plus one; if only one is given, the other is the largest id of its own column
        plus one.
    dup_op : binary operator or its name, optional
        The operator that merges values of one position; without it no position may occur twice. Edges without values
        are always merged.
    name : str, optional

    Returns
    -------
    Matrix
        With `relabel`, (Matrix, labels): row i is the vertex ``labels[i]``.

    Raises
    ------
    PackageMissing
        pandas is not installed.
    DomainMismatch
        `df` is no DataFrame, or ids are not integers.
    InvalidValue
        A column does not exist, or an id or value is missing (pd.NA, None; a NaN in a NumPy float column is a value).

    Examples
    --------
    >>> import pandas as pd, sparsezc as gb
    >>> df = pd.DataFrame({"source": ["a", "a"], "target": ["b", "c"], "weight": [2, 3]})
    >>> A, labels = gb.io.from_pandas_edgelist(df, relabel=True)
    >>> A.to_dicts()
    {0: {1: 2, 2: 3}}
    """
    where = "from_pandas_edgelist"
    pandas = need("pandas", "pandas")
    if not isinstance(df, pandas.DataFrame):
        raise wrong_type(where, "df", df, "a pandas DataFrame")
    return edge_table.from_table(
        where, list(df.columns), lambda each, ids: _column(df[each], where, ids), (source, target, weight),
        **options,
    )  # fmt: skip


def _column(series: Any, where: str, ids: bool) -> NDArray[Any]:
    """Return a column as a NumPy array, without a copy if its memory is one; raise InvalidValue for a missing value."""
    extension = not isinstance(series.dtype, np.dtype)
    if ids or extension or series.dtype.kind == "O":
        missing = series.isna().to_numpy()
        if missing.any():
            at = series.index[int(np.argmax(missing))]
            raise InvalidValue(f"{where}: column {series.name!r} has no value in row {at!r}; every edge needs one")
    kind = getattr(series.dtype, "numpy_dtype", None) if extension else None  # pandas' own types and Arrow's have this
    found: NDArray[Any] = series.to_numpy() if kind is None else series.to_numpy(dtype=kind)
    return found


def to_pandas_edgelist(
    A: Any, source: Any = "source", target: Any = "target", weight: Any = "weight", *, labels: Any = None
) -> Any:
    """Return the entries of a Matrix, by rows, as a pandas edge list; the DataFrame's own arrays are one copy.

    Parameters
    ----------
    A : Matrix
    source, target : column names
    weight : column name or None
        None omits the values.
    labels : array_like, shape (n,), optional
        The labels of the vertices of a square matrix, which replace the ids; ``from_pandas_edgelist(relabel=True)``
        returns such an array.

    Returns
    -------
    pandas.DataFrame
        Ids are int64. The frame does not store the number of vertices.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.io.to_pandas_edgelist(gb.io.read("path:3"), weight=None)
       source  target
    0       0       1
    1       1       0
    2       1       2
    3       2       1
    """
    pandas = need("pandas", "pandas")
    columns = edge_table.to_columns(A, labels, (source, target, weight), "to_pandas_edgelist")
    return pandas.DataFrame(columns, copy=False)
