"""``sparsezc info``: the size of a graph, the distribution of its degrees, and the memory that each placement needs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NamedTuple

from sparsezc.cli import graph, plot
from sparsezc.cli.answers.report import Percent, Report, Table, counted, seconds, size
from sparsezc.memory import placement as placements

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sparsezc.memory.csr import Csr


_PIECE = 1 << 20  # entries
_SAMPLED = 64  # parts of the ids that are packed on trial; with more parts a sample
_COLUMNS = ("from", "to", "vertices_out", "vertices_in", "edges_out")  # of the degree table, as JSON names them


def add(commands: Any) -> None:
    """Declare the command."""
    text = "sizes, degrees and memory of a graph"
    command = commands.add_parser("info", help=text, description=f"Print {text}.")
    graph.add_graph(command, weights="values of the edges (those of the file)")
    command.add_argument("--check", action="store_true", help="compare a .h5 file with its checksums, all of it")
    command.add_argument(
        "--placements", action="store_true", help="memory in every placement, also where there is no GPU for them"
    )
    command.add_argument(
        "--budget",
        dest="space",
        type=graph.nbytes,
        metavar="SIZE",
        help="with --placements: what auto takes with so much device memory",
    )
    plot.add(command, plot.KINDS[1:])
    command.set_defaults(run=info)


def info(arguments: argparse.Namespace) -> Report:
    """Read the graph on the host and report its properties; no engine is started."""
    import numpy as np

    from sparsezc.cli import plan
    from sparsezc.cli.planning.choice import Machine, choice
    from sparsezc.cli.planning.model import Sizes, needs
    from sparsezc.device import cuda
    from sparsezc.exceptions import InvalidValue
    from sparsezc.io._read import mappable_file
    from sparsezc.io.hdf5.csr_file import can_be_mapped

    plot.check(arguments)
    arguments = graph.changed(arguments, engine="cpu", placement="auto")
    graph.configure(arguments)
    options = graph.read_options(arguments)
    if arguments.space is not None and not arguments.placements:
        raise InvalidValue("--budget belongs to --placements here; sparsezc plan takes a whole card, as --card 80GB")
    if arguments.placements and options.kind is None:
        from sparsezc.memory.budget import has_host

        planned = plan.sizes_of(arguments.graph, options)
        if planned is not None and not has_host(needs(planned)["host"]["host"]):  # it cannot be generated here
            if arguments.plot is not None:
                raise InvalidValue(f"{arguments.graph} is too large to be made here, so --plot has nothing to draw")
            return plan.report(arguments.graph, planned, Machine.here(arguments.space))
    made = arguments.undirected or arguments.relabel or arguments.weights is not None
    known = None if made else mappable_file(arguments.graph, options.kind)
    in_place = known is not None and can_be_mapped(known)  # whatever its size
    found = graph.load(graph.changed(arguments, placement=placements.OPENED) if in_place else arguments)
    if arguments.plot is not None:
        plot.save(arguments.plot, arguments.plot_kind, found, plot.of_graph(arguments.plot_kind, found))
    csr, out = found.csr, found.degrees
    into = out if csr.symmetric else _in_degrees(csr)
    values = csr.values.read()
    kind = "every edge counts the same" if csr.iso or not csr.nvals else f"{values.min()} to {values.max()}"
    ids = Compressed.of(csr) if csr.ncols <= 2**32 else Compressed(8 * csr.nvals, 0, True)
    sizes = Sizes(csr.nrows, csr.ncols, csr.nvals, csr.values.nbytes, packed=(ids.body, ids.headers))
    memory, plain = needs(sizes), 64 if csr.ncols > 2**32 else 32
    degree = {
        "mean": float(out.mean()) if out.size else 0.0,
        "largest_out": int(out.max(initial=0)),
        "largest_in": int(into.max(initial=0)),
        "without_out_edges": int((out == 0).sum()),
        "without_edges": _alone(out, into),
    }
    table = _degree_table(out, into)
    report = Report(
        {
            "command": "info",
            "graph": {key: value for key, value in found.facts.items() if key != "placement"},
            "degree": degree,
            "degrees": [dict(zip(_COLUMNS, row, strict=True)) for row in table],
            "bits_per_id": {"plain": plain, "compressed": ids.bits(csr.nvals)},
            "memory": memory,
            "time": {"load": found.load},
        }
    )
    if arguments.check:
        report.data["checksums"] = "right"
    alone = counted(int(degree["without_edges"]), "vertex", "vertices")
    where = f" (vertex {found.named(np.array([out.argmax()]))[0]})" if out.size else ""
    arriving = "" if csr.symmetric else f" of out-edges, {degree['largest_in']:,} of in-edges"
    report.facts = [
        ("graph", found.line()),
        ("values", f"{csr.dtype.name}, {kind}"),
        ("ids", f"{plain} bits each" + (f", {ids.told(csr.nvals)}" if ids.bits(csr.nvals) < plain else "")),
        ("degree", f"mean {degree['mean']:.4g}, largest {degree['largest_out']:,}{where}{arriving}"),
        ("isolated", f"{alone}; without out-edges {degree['without_out_edges']:,}"),
    ]
    if arguments.check:
        report.facts.append(("checksums", "right"))
    every = arguments.placements or cuda.reason() is None
    n, edges = max(out.size, 1), max(int(out.sum()), 1)
    rows = [
        (str(low) if low == high else f"{low}-{high}", have, Percent(have / n), told, Percent(held / edges))
        for low, high, have, told, held in table
    ]
    report.tables = [
        Table(("degree", "vertices (out)", "share", "vertices (in)", "share of edges"), rows),
        Table(
            ("placement", "device memory", "host memory"),
            [
                (name, size(need["device"]), size(need["host"]))
                for name, need in memory.items()
                if every or name in placements.HOSTS
            ],
        ),
    ]
    if arguments.space is not None:
        file = plan.sizes_of(arguments.graph, options) if csr.indices.placement in placements.FILES else None
        taken = choice(file or sizes, Machine.here(arguments.space), arguments.graph)
        report.data["auto"] = taken._asdict()
        report.facts.append(("auto", f"{taken.name}: {taken.why}"))
    report.closing = [("load", seconds(found.load)), *([("drawn", arguments.plot)] if arguments.plot else [])]
    return report


def _in_degrees(csr: Csr) -> NDArray[np.int64]:
    """Return the number of entries of each column, counted piece by piece."""
    import numpy as np

    from sparsezc.memory.budget import require_host

    require_host(3 * 8 * max(csr.nrows, csr.ncols), f"counting the entries of each of {csr.ncols:,} columns")
    into = np.zeros(csr.ncols, np.int64)
    for start in range(0, csr.nvals, _PIECE):
        ids, counts = np.unique(csr.indices.read(start, start + _PIECE), return_counts=True)
        into[ids.astype(np.int64)] += counts
    return into


def _alone(out: NDArray[np.int64], into: NDArray[np.int64]) -> int:
    """Return the number of vertices without edges; of a matrix that is not square, of ids with empty row and column."""
    import numpy as np

    size = max(out.size, into.size)
    return int((np.pad(out, (0, size - out.size)) + np.pad(into, (0, size - into.size)) == 0).sum())


class Compressed(NamedTuple):
    """The bytes of compressed ids: blocks, and their headers; `exact`: all were measured, not a sample."""

    body: int
    headers: int
    exact: bool

    @classmethod
    def of(cls, csr: Csr) -> Compressed:
        """Measure the ids of a matrix in their order."""
        from sparsezc.memory import id_blocks

        nvals, step = csr.nvals, id_blocks.PART
        starts = range(0, nvals, step)
        exact = len(starts) <= _SAMPLED
        if not exact:
            starts = range(0, nvals, nvals // _SAMPLED // step * step)
        words = measured = 0
        for start in starts:
            part = csr.indices.read(start, start + step)
            words += int((id_blocks.measure(part) >> 10).sum(dtype="uint64"))
            measured += part.size
        body = 4 * words if exact else round(4 * words * nvals / measured)
        headers = id_blocks.padded(nvals)
        return cls(body, 2 * headers + 8 * (headers // 32), exact)

    def bits(self, nvals: int) -> float:
        """Return the bits of an id, headers included."""
        return 8 * (self.body + self.headers) / max(nvals, 1)

    def told(self, nvals: int) -> str:
        """Return the bits of an id as text."""
        about = "" if self.exact else "about "
        return f"{about}{self.bits(nvals):.2f} bits each when compressed (A.compress(), convert --compress)"


def _degree_table(out: NDArray[np.int64], into: NDArray[np.int64]) -> list[tuple[int, int, int, int, int]]:
    """Return rows (lowest, highest degree, vertices by out-degree, by in-degree, their out-edges); ranges double."""
    import numpy as np

    top = int(max(out.max(initial=0), into.max(initial=0)))
    bins = [np.frexp(degrees.astype(float))[1] for degrees in (out, into)]  # 0: 0; 1: 1; 2: 2-3; 3: 4-7
    vertices = [np.bincount(each, minlength=top.bit_length() + 1) for each in bins]
    edges = np.bincount(bins[0], out, minlength=top.bit_length() + 1)
    return [
        ((1 << k) >> 1, (1 << k) - 1, int(vertices[0][k]), int(vertices[1][k]), int(edges[k]))
        for k in range(top.bit_length() + 1)
        if vertices[0][k] or vertices[1][k]
    ]
