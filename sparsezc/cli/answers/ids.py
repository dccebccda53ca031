"""The ids and names of vertices in files of edges: those that a format cannot hold are refused before the run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from sparsezc.cli.answers.names import HDF5, holds_rows, is_graph, suffix_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparsezc.cli.graph import Graph
    from sparsezc.core.matrix import Matrix

#: Characters that a name in a line of text must not have: they end a cell, begin a quoted one, or start a comment.
_WORDS = re.compile(r"[ \t\n\r\v\f,;\"]|^[#%]")
_CELLS = re.compile(r"[\t\n\r]|^[#%\"]|^[ \f\v]|[ \f\v]$")
#: Characters that are lost even in quoted cells: readers strip names, and end a cell at its line's end.
_QUOTED = re.compile(r"\n|^[ \t\r\f\v]|[ \t\r\f\v]$")
_SAID = {" ": "a blank", "\t": "a tab", "\n": "a line's end", "\r": "a line's end"}


def check(path: str, form: str, found: Graph) -> None:
    """Check that a file of edges can have the graph's ids.

    Raises
    ------
    InvalidValue
        The vertices have names, and the format holds numbers.
    OutOfMemory
        The format numbers all vertices up to the largest id, and their row offsets exceed the host memory.
    """
    from sparsezc.exceptions import InvalidValue, OutOfMemory
    from sparsezc.memory.budget import has_host, host_available

    if form != "graph" or found.ids is None:
        return
    graph, lower = is_graph(path), path.lower()
    if found.named_by_text:
        if not graph or lower.endswith(HDF5) or (holds_rows(path) and not lower.endswith(".npy")):
            return
        raise InvalidValue(
            f"--out {path}: such a file holds numbers, and the vertices of {found.name} have names; .csv or .parquet"
            " has both"
        )
    if graph and not lower.endswith(HDF5) and (lower.endswith(".npz") or not holds_rows(path)):
        most = int(found.ids.max(initial=-1))
        if not has_host(nbytes := 8 * (most + 2)):
            raise OutOfMemory(
                f"--out {path}: the format numbers all vertices up to the largest id, {most:,}, whose row offsets need"
                f" {nbytes:,} bytes of memory, and {host_available():,} may be used; .csv, .parquet and .h5 have the"
                " ids of edges alone"
            )


def check_cells(path: str, columns: Iterable[NDArray[Any]], *, edges: bool = False) -> None:
    """Refuse names that change a line's cells; ``.csv`` quotes most. `edges`: the lines are edges to read back."""
    from sparsezc.exceptions import InvalidValue

    suffix = suffix_of(path)
    if suffix not in ("-", ".txt", ".tsv", ".csv") or (suffix == ".csv" and not edges):
        return
    ends = {".tsv": _CELLS, ".csv": _QUOTED}.get(suffix, _WORDS)
    for name in (name for each in columns if each.dtype.kind == "O" for name in each.tolist()):
        if not name:
            raise InvalidValue(f"--out {path}: a vertex has an empty name, which such lines cannot have; use .parquet")
        if bad := ends.search(name):
            what = _SAID.get(bad[0], repr(bad[0]))
            others = ".csv" if _CELLS.search(name) else ".tsv or .csv"
            others = ".parquet" if edges and _QUOTED.search(name) else others
            raise InvalidValue(
                f"--out {path}: the name {name!r} contains {what}, which has a meaning in such lines; use {others}"
            )


def by_ids(found: Graph, written: Matrix) -> Any:
    """Return a graph's matrix with the file's ids for rows and columns."""
    if found.ids is None:
        return written
    i, j, values = written.to_coo()
    n = int(found.ids.max(initial=-1)) + 1
    return type(written).from_coo(found.ids[i], found.ids[j], values, written.dtype, nrows=n, ncols=n)
