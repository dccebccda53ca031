"""GraphML, GML and Pajek files, read and written by NetworkX: for graphs of up to a few million edges.

A file's content determines which of these formats it has. Vertices have names: ``relabel=True`` numbers them; without
it the names must be whole numbers. The values are the attribute ``weight`` of edges, or the one that ``weight_col=``
names; edges without it get 1. NetworkX is imported when a file is read or written: ``pip install networkx``.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError, GraphblasException, InvalidValue
from sparsezc.io.build.edge_list import EdgeChunks, Edges
from sparsezc.io.build.optional import need
from sparsezc.io.build.table_columns import USUAL, NamedVertices, Names, TableColumns
from sparsezc.io.build.weights import FROM_FILE, Weights
from sparsezc.io.files.source import InputFile, plain_name
from sparsezc.io.formats import text
from sparsezc.memory.budget import require_host
from sparsezc.memory.csr import Csr

if TYPE_CHECKING:
    from sparsezc.io.files.atomic_write import Output

_OBJECTS = 30  # bytes of NetworkX's objects for each byte of a file
_LINE = re.compile(r"(?:line[ :]+|at \()(\d+)")


def read(
    path: Path, *, weights: Weights = FROM_FILE, columns: TableColumns = USUAL, names: Names | None = None, **_: Any
) -> Edges:
    """Read the edges of a graph by way of a NetworkX graph.

    Raises
    ------
    FileFormatError
        The file is damaged; NamedVertices if vertices have names and `names` is None.
    InvalidValue
        Columns of vertices are chosen, which these formats do not have.
    """
    if columns.source or columns.target:
        raise InvalidValue(f"{path} has no columns of vertices; weight_col= chooses an attribute of its edges")
    with InputFile(path) as file:
        require_host(_OBJECTS * file.limit, f"{path} as objects of NetworkX")
        data = file.read()
    G = _parsed(path, data, labels=names is not None)
    nodes = _numbered(path, list(G), names)
    number = dict(zip(G, nodes.tolist(), strict=True))
    ends = [(number[u], number[v]) for u, v in G.edges()]
    rows, cols = np.array(ends, np.int64).reshape(-1, 2).T
    attribute = columns.weight or "weight"
    values = None if weights.kind != "file" else _values(path, G, attribute, given=columns.weight is not None)
    n = int(nodes.max(initial=-1)) + 1
    return Edges(n, n, rows.copy(), cols.copy(), values, undirected=not G.is_directed())


def edge_chunks(
    path: Path, weights: Weights = FROM_FILE, *, columns: TableColumns = USUAL, names: Names | None = None
) -> EdgeChunks:
    """Read all edges into memory, and return them chunk by chunk."""
    return EdgeChunks.of(read(path, weights=weights, columns=columns, names=names))


def _parsed(path: Path, data: bytes, *, labels: bool) -> Any:
    """Parse a file's content into a NetworkX graph."""
    nx = need("networkx")
    start = data.lstrip()[:1]
    try:
        if start == b"<":
            if b"\0" in data:  # UTF-16, in which the next check would find nothing
                raise FileFormatError(f"{path} has bytes of value 0; GraphML in UTF-8 is needed")
            if b"<!DOCTYPE" in data or b"<!ENTITY" in data:  # entities can expand without bound
                raise FileFormatError(f"{path} declares a document type; GraphML without one is needed")
            return nx.read_graphml(io.BytesIO(data))
        lines = data.decode().splitlines()
        if start == b"*":
            return nx.parse_pajek(iter(lines))
        if labels:
            try:
                return nx.parse_gml(lines, label="label")
            except nx.NetworkXError as error:
                if "label" not in str(error):
                    raise
        return nx.parse_gml(lines, label="id")
    except GraphblasException:
        raise
    except MemoryError:
        raise
    except Exception as error:  # NetworkX's own, the XML parser's, and a dozen of Python's
        at = _LINE.search(str(error))
        line = f", line {at[1]}" if at else ""
        raise FileFormatError(
            f"{path}{line}: this is no GraphML, GML or Pajek file, or damaged: {text.excerpt(str(error))}"
        ) from None


def _numbered(path: Path, nodes: list[Any], names: Names | None) -> NDArray[np.int64]:
    """Return a number for each node: that of its name in `names`, or without these the node itself as a number."""
    if names is not None:
        return names.number(map(str, nodes))
    for node in nodes:
        if not (str(node).isascii() and str(node).isdigit()) or len(str(node)) > 18:
            found = text.shown(str(node).encode())
            raise NamedVertices(
                f"{path}: found the vertex {found}; whole numbers are needed, or relabel=True (--relabel) for names"
            )
    return np.array(list(map(int, nodes)), np.int64)


def _values(path: Path, G: Any, attribute: str, *, given: bool) -> NDArray[Any] | None:
    """Return the edges' values; None if no edge has the attribute."""
    found = [each for *_, each in G.edges(data=attribute, default=None)]
    if all(each is None for each in found):
        if given and found:
            raise FileFormatError(f"{path}: no edge has the attribute {attribute!r}")
        return None
    for each in found:
        if each is not None and not isinstance(each, int | float):
            raise FileFormatError(f"{path}: found the {attribute} {each!r} of an edge; a number is needed")
    made = [1 if each is None else each for each in found]
    if all(isinstance(each, bool) for each in made):
        return np.array(made)
    whole = [each for each in made if isinstance(each, int)]
    least, most = min(whole, default=0), max(whole, default=0)
    if least < -(2**63) or most >= 2 ** (64 if least >= 0 else 63):
        raise FileFormatError(f"{path}: found the {attribute}s {least} to {most} of edges; 64 bits do not hold these")
    if len(whole) < len(made):
        return np.array(made, np.float64)
    return np.array(made, np.uint64 if most >= 2**63 else np.int64)


def write(csr: Csr, out: Output) -> None:
    """Write a graph, undirected if the matrix is known to be symmetric."""
    from sparsezc.io.build.csr_chunks import rows_of, unweighted

    nx = need("networkx")
    if csr.nrows != csr.ncols:
        raise InvalidValue(f"A is {csr.nrows} x {csr.ncols}; {out.path.name} holds square matrices only")
    if csr.dtype.is_complex:
        raise InvalidValue(f"A holds {csr.dtype}; GraphML, GML and Pajek have no complex numbers")
    require_host(600 * csr.nvals, f"{out.path.name} as objects of NetworkX")
    plain = unweighted(csr)
    G = (nx.Graph if csr.symmetric else nx.DiGraph)()
    G.add_nodes_from(range(csr.nrows))
    for _, _, rows, cols, values in rows_of(csr, rows=True, values=not plain):
        if plain:
            G.add_edges_from(zip(rows.tolist(), cols.tolist(), strict=True))
        else:
            G.add_weighted_edges_from(zip(rows.tolist(), cols.tolist(), values.tolist(), strict=True))
    name = plain_name(out.path.name)
    with out.open() as file:
        if name.endswith(".graphml"):
            nx.write_graphml(G, file)
        elif name.endswith(".gml"):
            file.writelines(f"{line}\n".encode() for line in nx.generate_gml(G))
        else:
            file.writelines(f"{line}\n".encode() for line in nx.generate_pajek(nx.relabel_nodes(G, str)))
