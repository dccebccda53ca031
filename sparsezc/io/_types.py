"""``gb.io.read_types``: a table of edges of several types as one matrix for each type, over the same vertices."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import InvalidValue, naming
from sparsezc.io._options import TABLES, Reading, ReadOptions, module_of
from sparsezc.io.build import csr_builder, edge_list
from sparsezc.io.build.edge_list import Edges
from sparsezc.io.build.table_columns import NamedVertices, Names
from sparsezc.io.files.pipe_spool import seekable
from sparsezc.io.files.source import is_piped
from sparsezc.terminal.progress import task

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix


def read_types(
    path: str | os.PathLike[str], *, relabel: bool = False, **options: Unpack[Reading]
) -> dict[str, Matrix] | tuple[dict[str, Matrix], NDArray[Any]]:
    r"""Read a table of edges of several types, such as a knowledge graph, as one adjacency matrix for each type.

    The table is read once to find its types and vertices, then once for each type. Memory must hold all its edges
    during the first reading, later the edges of one type.

    Parameters
    ----------
    path : str or path
        An edge list whose first line names its columns, a Parquet or a Feather file, or a folder of Parquet files.
    type_col : str
        The column with the type of each edge.
    relabel, **options
        As for :func:`~sparsezc.io.read`; the matrices share the vertices of all types.

    Returns
    -------
    dict of str to Matrix, shape (n, n)
        The keys are the types, in ascending order. With `relabel`, (dict, ids).

    Raises
    ------
    InvalidValue
        The file is no table with named columns, or `type` is given, which selects one type.
    FileFormatError
        As for :func:`~sparsezc.io.read`.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from pathlib import Path
    >>> _ = Path("facts.csv").write_text("source,type,target\nann,knows,bob\nbob,likes,tea\nbob,knows,zoe\n")
    >>> types, names = gb.io.read_types("facts.csv", type_col="type", relabel=True)
    >>> {name: A.nvals for name, A in types.items()}, names.tolist()
    ({'knows': 2, 'likes': 1}, ['ann', 'bob', 'tea', 'zoe'])
    """
    from sparsezc.core.matrix import Matrix

    type_col = options.pop("type_col", None)
    if type_col is None or options.get("type") is not None:
        raise InvalidValue("read_types needs type_col=, a column, and no type=; gb.io.read(..., type=) reads one type")
    wanted = ReadOptions.parse(path, relabel=relabel, **options)
    if wanted.kind not in TABLES or wanted.kind == "networkx":
        raise InvalidValue(f"{path} is no table with a column {type_col!r}; edge lists, Parquet and Feather files are")
    made: dict[str, Matrix] = {}
    with task(), naming(path), seekable(path) if is_piped(Path(path)) else nullcontext(path) as file:
        kinds = Names()
        table = _Table(Path(file), wanted, type_col)
        whole = table.edges(kinds=kinds)
        ids, n = table.numbering(whole)
        del whole
        for kind in map(str, kinds.sorted()[0].tolist()):
            edges = table.numbered(table.edges(only=kind), ids, n)
            csr = csr_builder.build(
                edges, wanted.weights, placement=wanted.placement, dup_op=wanted.merge, symmetrize=wanted.both
            )
            made[kind] = Matrix._from_csr(csr, adopt=True)
    return made if ids is None else (made, ids)


class _Table:
    """A table that is read several times, with the same numbering of vertices each time."""

    def __init__(self, path: Path, options: ReadOptions, type_col: str) -> None:
        self._path, self._options, self._type_col = path, options, type_col
        self.names: Names | None = None
        self._place: NDArray[np.int64] | None = None

    def edges(self, *, kinds: Names | None = None, only: str | None = None) -> Edges:
        """Read all edges and collect their types in `kinds`, or read the edges of the one type `only`."""
        columns = replace(self._options.columns, kind=self._type_col, only=only, kinds=kinds)
        module, given = module_of(str(self._options.kind)), self._options.weights
        try:
            found: Edges = module.read(self._path, weights=given, columns=columns, names=self.names)
        except NamedVertices:
            if not self._options.relabel:
                raise
            self.names = Names()
            found = module.read(self._path, weights=given, columns=columns, names=self.names)
        return found

    def numbering(self, whole: Edges) -> tuple[NDArray[Any] | None, int]:
        """Return the ids of all vertices (None without `relabel`), and the number of vertices."""
        if not self._options.relabel:
            return None, max(whole.nrows, whole.ncols)
        if self.names is not None:
            ids, self._place = self.names.sorted()
        else:
            ids = edge_list.relabel(whole)[1]
        return ids, ids.size

    def numbered(self, edges: Edges, ids: NDArray[Any] | None, n: int) -> Edges:
        """Return edges with the vertex numbers that all types share, of an n x n matrix."""
        rows, cols = edges.rows, edges.cols
        if self._place is not None:
            rows, cols = (self._place[part.astype(np.int64)] for part in (rows, cols))
        elif ids is not None:
            rows, cols = (np.searchsorted(ids, part) for part in (rows, cols))
        rows, cols = edge_list.narrow_ids(rows), edge_list.narrow_ids(cols)
        return Edges(n, n, rows, cols, edges.values, edges.undirected, edges.mirrored, edges.dtype)
