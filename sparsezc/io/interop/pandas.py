"""To and from pandas edge lists: a DataFrame with a row for each edge.

pandas is imported when one of these is called: ``pip install "sparsezc[pandas]"``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from sparsezc.errors import InvalidValue
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
    """Make an adjacency Matrix of a pandas edge list. One copy: the matrix's own arrays.

    Parameters
    ----------
    df : pandas.DataFrame
    source, target : column names
        Vertex ids from 0, without missing ones; labels of any one kind with `relabel`.
    weight : column name or None
        The values. None, or the default where there is no such column: no values (BOOL, True everywhere).
    directed : bool
        False: each edge counts in both directions.
    relabel : bool
        Number the ids or labels that occur, in ascending order.
    dtype : optional
        By default the values' own.
    nrows, ncols : int, optional
        By default the largest id and one.
    dup_op : binary operator or its name, optional
        What merges values at one position; without it there must be none twice. Edges without values merge anyway.
    name : str, optional

    Returns
    -------
    Matrix
        Or (Matrix, labels) with `relabel`: row i stands for ``labels[i]``.

    Raises
    ------
    PackageMissing
        pandas is not installed.
    DomainMismatch
        `df` is no DataFrame, or ids are not integers.
    InvalidValue
        There is no such column, or an id or value is missing (pd.NA, None; a NaN in a NumPy float column is a value).

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
    """A column as a NumPy array; without a copy where it is one."""
    extension = not isinstance(series.dtype, np.dtype)
    if ids or extension or series.dtype.kind == "O":
        missing = series.isna().to_numpy()
        if missing.any():
            at = series.index[int(np.argmax(missing))]
            raise InvalidValue(f"{where}: column {series.name!r} has nothing at row {at!r}; every edge needs a value")
    kind = getattr(series.dtype, "numpy_dtype", None) if extension else None  # of pandas' own and of Arrow's types
    found: NDArray[Any] = series.to_numpy() if kind is None else series.to_numpy(dtype=kind)
    return found


def to_pandas_edgelist(
    A: Any, source: Any = "source", target: Any = "target", weight: Any = "weight", *, labels: Any = None
) -> Any:
    """Make a pandas edge list of a Matrix: its entries by rows. One copy: the DataFrame's own arrays.

    Parameters
    ----------
    A : Matrix
    source, target : column names
    weight : column name or None
        None leaves the values out.
    labels : array_like, shape (n,), optional
        What stands for each row and column of a square matrix; what ``from_pandas_edgelist(relabel=True)`` gave.

    Returns
    -------
    pandas.DataFrame
        Ids are int64. It does not say how many vertices there are.

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
