"""``--plot FILE``: a picture of an answer, of a graph's degrees, of its entries, or of a small graph itself.

matplotlib is imported when a picture is drawn: ``pip install "sparsezc[plot]"``. The suffix selects the format.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparsezc.cli.answers.names import check_place
from sparsezc.exceptions import meant

if TYPE_CHECKING:
    from sparsezc.cli.answers.answer import Picture
    from sparsezc.cli.graph import Graph

KINDS = ("answer", "degrees", "spy", "graph")
_SUFFIXES = (".png", ".svg", ".pdf")
_MOST_VERTICES = 500  # of a graph that is drawn: more cannot be told apart
_GRID = 512  # cells of a spy picture in each direction
_BARS = 60  # bars; with more values a line is drawn
_TICKS = 10  # bars that have a number each
_STEPS = 200  # iterations of the layout; after NetworkX's 50 a grid is still folded
_LABELS = 60  # vertices whose names are written beside them


def add(command: argparse.ArgumentParser, kinds: tuple[str, ...] = KINDS) -> None:
    """Declare the arguments."""
    command.add_argument(
        "--plot", metavar="FILE", help=f"draw a picture into this file: {', '.join(_SUFFIXES)} (needs matplotlib)"
    )
    command.add_argument(
        "--plot-kind", choices=kinds, default=kinds[0],
        help="the answer's distribution, the degrees, where entries are, or the graph itself, if it is small"
        f" ({kinds[0]})",
    )  # fmt: skip


def check(arguments: argparse.Namespace) -> None:
    """Check, before the work, that the picture can be drawn.

    Raises
    ------
    FileFormatError, FileMissing, FileIsFolder, FileNotWritten
        The suffix is of no picture's format, or no file can be written at the path.
    PackageMissing
        matplotlib, or NetworkX for the graph itself, is not installed.
    """
    if arguments.plot is None:
        return
    from sparsezc.exceptions import FileFormatError
    from sparsezc.io.build.optional import need

    path = Path(arguments.plot)
    if path.suffix.lower() not in _SUFFIXES:
        nearest = meant(path.suffix, _SUFFIXES)
        raise FileFormatError(f"--plot {path}: a name that ends in {', '.join(_SUFFIXES)} is needed{nearest}")
    check_place(path, "--plot")
    need("matplotlib.figure", "plot")
    if arguments.plot_kind == "graph":
        need("networkx")


def of_graph(kind: str, found: Graph) -> Any:
    """Return the data of a picture of the graph, before the engine takes the graph over.

    Raises
    ------
    InvalidValue
        It is too large to be drawn.
    """
    import numpy as np

    from sparsezc.exceptions import InvalidValue
    from sparsezc.io.build.csr_chunks import rows_of

    csr = found.csr
    if kind == "degrees":
        return found.degrees
    if kind == "spy":
        shape = min(csr.nrows, _GRID) or 1, min(csr.ncols, _GRID) or 1
        cells = np.zeros(shape, np.int64)
        for _, _, rows, cols, _ in rows_of(csr, rows=True, values=False):
            at = rows.astype(np.int64) * shape[0] // csr.nrows, cols.astype(np.int64) * shape[1] // csr.ncols
            np.add.at(cells, at, 1)
        return cells
    if csr.nrows != csr.ncols or csr.nrows > _MOST_VERTICES:
        raise InvalidValue(
            f"{found.name} is {csr.nrows:,} x {csr.ncols:,}; a square graph of at most {_MOST_VERTICES} vertices can be"
            " drawn (--plot-kind spy shows where the entries of a large one are)"
        )
    parts = [(rows.tolist(), cols.tolist()) for _, _, rows, cols, _ in rows_of(csr, rows=True, values=False)]
    return [pair for rows, cols in parts for pair in zip(rows, cols, strict=True)]


def save(path: str, kind: str, found: Graph, drawn: Any, colours: Any = None) -> None:
    """Draw and write the picture; the file appears whole or not at all.

    `drawn` is a :class:`~sparsezc.cli.answers.answer.Picture` of an answer, or the result of :func:`of_graph`;
    `colours` are an answer's values by vertex, which colour the vertices of a graph.
    """
    from sparsezc.io.build.optional import need
    from sparsezc.io.files.atomic_write import Output

    figure = need("matplotlib.figure", "plot").Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    if kind == "answer":
        _distribution(axes, drawn)
    elif kind == "degrees":
        _degrees(axes, drawn)
    elif kind == "spy":
        _spy(axes, figure, drawn, found)
    else:
        _graph(axes, figure, drawn, found, colours)
    axes.set_title(axes.get_title() or found.name)
    with Output(path) as out, out.open() as file:
        figure.savefig(file, format=Path(path).suffix[1:].lower(), dpi=150)


def _distribution(axes: Any, picture: Picture) -> None:
    x, y = picture.x, picture.y
    axes.set(title=picture.title, xlabel=picture.across, ylabel=picture.upward)
    if picture.kind in ("bars", "ranked") and len(x) <= _BARS:
        axes.bar(x, y)
        if len(x) <= _TICKS:
            axes.set_xticks(x)
        else:
            axes.xaxis.get_major_locator().set_params(integer=True)
    elif picture.kind == "bars":
        axes.plot(x, y)
    else:
        axes.plot(x, y, drawstyle="steps-post")
        positive = picture.kind == "ranked" or bool(len(x) and x[0] > 0)
        axes.set(xscale="log" if positive else "linear", yscale="log")


def _degrees(axes: Any, degrees: Any) -> None:
    import numpy as np

    sizes = np.bincount(degrees)
    at = np.flatnonzero(sizes)
    axes.plot(at, sizes[at], ".", markersize=4)
    axes.set(title="vertices by out-degree", xlabel="out-degree", ylabel="vertices", yscale="log")
    axes.set_xscale("symlog", linthresh=1)
    axes.set_xlim(left=-0.2)


def _spy(axes: Any, figure: Any, cells: Any, found: Graph) -> None:
    import numpy as np

    shown = np.ma.masked_equal(cells, 0)
    image = axes.imshow(
        shown, extent=(0, found.columns, found.degrees.size, 0), aspect="auto", interpolation="nearest", cmap="viridis"
    )
    figure.colorbar(image, label="entries in a cell")
    axes.set(xlabel="column", ylabel="row")


def _graph(axes: Any, figure: Any, pairs: Any, found: Graph, colours: Any) -> None:
    from sparsezc.io.build.optional import need

    nx = need("networkx")
    n = found.degrees.size
    drawn = (nx.Graph if found.facts["symmetric"] else nx.DiGraph)()
    drawn.add_nodes_from(range(n))
    drawn.add_edges_from(pairs)
    places = nx.spring_layout(drawn, iterations=_STEPS, seed=1)
    small = n <= _LABELS
    nodes = nx.draw_networkx_nodes(
        drawn, places, ax=axes, node_size=220 if small else 30, node_color="tab:blue" if colours is None else colours,
        cmap="viridis",
    )  # fmt: skip
    nx.draw_networkx_edges(drawn, places, ax=axes, alpha=0.4, node_size=220 if small else 30)
    if small:
        names = {v: str(found.name_of(v)) for v in range(n)}
        nx.draw_networkx_labels(drawn, places, names, ax=axes, font_size=7, font_color="white")
    if colours is not None:
        figure.colorbar(nodes, label="answer")
    axes.set_axis_off()
