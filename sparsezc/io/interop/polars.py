"""Conversion to and from Polars edge lists, DataFrames with a row for each edge, through Arrow's interface.

Polars and pyarrow are imported when a function of this module is called: ``pip install "sparsezc[polars]"``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from numpy.typing import NDArray

from sparsezc.io.build.limits import wrong_type
from sparsezc.io.build.optional import need
from sparsezc.io.interop.arrow import from_arrow, to_arrow
from sparsezc.io.interop.edge_table import TableOptions

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix


def from_polars(
    df: Any,
    source: str = "source",
    target: str = "target",
    weight: str | None = "weight",
    **options: Unpack[TableOptions],
) -> Matrix | tuple[Matrix, NDArray[Any]]:
    """Make an adjacency Matrix from a Polars edge list, by :func:`from_arrow` of the frame's Arrow table.

    Parameters
    ----------
    df : polars.DataFrame
    source, target, weight, directed, relabel, dtype, nrows, ncols, dup_op, name
        As in :func:`~sparsezc.io.from_arrow`.

    Returns
    -------
    Matrix
        With `relabel`, (Matrix, labels): row i is the vertex ``labels[i]``.

    Raises
    ------
    PackageMissing
        Polars or pyarrow is not installed.
    DomainMismatch
        `df` is no DataFrame, or ids are not integers.
    InvalidValue
        A column does not exist, or an id or a value is null.

    Examples
    --------
    >>> import polars as pl, sparsezc as gb
    >>> df = pl.DataFrame({"source": ["a", "a"], "target": ["b", "c"], "weight": [2, 3]})
    >>> A, labels = gb.io.from_polars(df, relabel=True)
    >>> A.to_dicts()
    {0: {1: 2, 2: 3}}
    """
    polars = need("polars", "polars")
    if not isinstance(df, polars.DataFrame):
        collected = ", which df.collect() makes" if isinstance(df, polars.LazyFrame) else ""
        raise wrong_type("from_polars", "df", df, f"a Polars DataFrame{collected}")
    return from_arrow(df, source, target, weight, **options)


def to_polars(
    A: Any, source: str = "source", target: str = "target", weight: str | None = "weight", *, labels: Any = None
) -> Any:
    """Return the entries of a Matrix, by rows, as a Polars DataFrame, which shares the columns of :func:`to_arrow`.

    Parameters
    ----------
    A, source, target, weight, labels
        As in :func:`~sparsezc.io.to_arrow`.

    Returns
    -------
    polars.DataFrame

    Raises
    ------
    PackageMissing
        Polars or pyarrow is not installed.
    DomainMismatch
        `A` is no Matrix, or is complex, for which Arrow has no type.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.io.to_polars(gb.io.read("path:3"), weight=None).rows()
    [(0, 1), (1, 0), (1, 2), (2, 1)]
    """
    return need("polars", "polars").from_arrow(to_arrow(A, source, target, weight, labels=labels))
