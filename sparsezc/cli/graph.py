"""The arguments that choose a graph and the engine and placement to run on, and the graph itself."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from sparsezc.cli.answers.report import counted
from sparsezc.io.build.limits import MERGES
from sparsezc.io.formats import FORMATS
from sparsezc.memory import placement as placements
from sparsezc.terminal import streams

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sparsezc.core.matrix import Matrix
    from sparsezc.io._options import ReadOptions
    from sparsezc.memory.csr import Csr


_INPUT = "/dev/stdin"  # an edge list, unless --format says otherwise
_ENGINES = ("auto", "cpu", "gpu")
_COMPARED = 5000  # names compared on each side of an unknown one's place; a comparison takes some 10 us


def add_graph(command: argparse.ArgumentParser, *, weights: str) -> None:
    """Declare the arguments for reading a graph; `weights` describes the command's use of them."""
    command.add_argument(
        "graph", metavar="GRAPH", type=_graph,
        help="a file, - for standard input (an edge list, or as --format says), or a graph to generate such as kron:16",
    )  # fmt: skip
    ways = command.add_mutually_exclusive_group()
    ways.add_argument("--directed", action="store_true", help="edges count one way; refused where the format says both")
    ways.add_argument("--undirected", "--symmetrize", action="store_true", help="every edge counts in both directions")
    command.add_argument(
        "--weights", metavar="W", help=f"{weights}; 'none', 'narrowest', a type such as FP32, or made ones: 1-255"
    )
    command.add_argument("--relabel", action="store_true", help="only ids that occur are vertices; they may be names")
    for name in ("source", "target", "weight"):
        command.add_argument(f"--{name}-col", metavar="NAME", help=f"the column of a table with the edges' {name}s")
    command.add_argument("--type-col", metavar="NAME", help="the column of a table with the edges' types")
    command.add_argument("--type", metavar="TYPE", help="only the edges of this type")
    command.add_argument(
        "--dup-op",
        choices=MERGES,
        metavar="OP",
        help=f"the weight of an edge that the file has more than once: one of {', '.join(MERGES)} (min; .npz: plus)",
    )
    command.add_argument(
        "--host-budget", type=_budget, metavar="SIZE", help="host memory to use at most: 16GB, or a share"
    )
    command.add_argument(
        "--format",
        choices=FORMATS,
        metavar="FORMAT",
        help=f"read the file as one of {', '.join(FORMATS)}, whatever its name; snap is any edge list",
    )


def add_place(command: argparse.ArgumentParser) -> None:
    """Declare the arguments for engine and placement."""
    command.add_argument("--engine", choices=_ENGINES, default="auto", help="the engine that computes (auto)")
    baselines = ", ".join(each.name for each in placements.RECORDS.values() if each.baseline)
    command.add_argument(
        "--placement",
        choices=placements.choices(files=True),
        default="auto",
        help="the memory of a GPU matrix: device memory, the .h5 file, or host memory in one of several ways (auto);"
        f" for comparison with published systems: {baselines}",
    )
    command.add_argument(
        "--with-transpose",
        action="store_true",
        help="keep a directed matrix in both directions on the GPU, so that products push or pull; twice the memory",
    )
    command.add_argument(
        "--budget",
        type=_budget,
        metavar="SIZE",
        help="device memory to use at most: 16GB, or a share such as 0.5 (what is free)",
    )
    command.add_argument(
        "--head-cache",
        choices=("auto", "on", "off"),
        default="auto",
        help="keep some neighbours of each vertex on the card: once searches have read as much as that costs (auto)",
    )
    command.add_argument(
        "--head-budget",
        type=_budget,
        metavar="SIZE",
        help="device memory that these neighbours may take: 1GB, or a share such as 0.1 (32 bytes a vertex)",
    )


def _graph(name: str) -> str:
    """Return the path that readers open for a graph's name: for "-" that of standard input."""
    return _INPUT if name == "-" else name


def nbytes(text: str, *, share: bool = False) -> str:
    """Return the text of a valid number of bytes, or with `share` of a share; argparse names the option in an error."""
    from sparsezc.config import parse_budget, parse_bytes
    from sparsezc.exceptions import InvalidValue

    try:
        (parse_budget if share else parse_bytes)(text)
    except InvalidValue as error:
        raise argparse.ArgumentTypeError(f"{error}, or a share such as 0.5" if share else str(error)) from None
    return text


_budget = partial(nbytes, share=True)


def count(text: str, *, least: int = 1) -> int:
    """Return the whole number of a text, at least `least`; argparse names the option in an error."""
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(f"found {text!r}; a whole number of at least {least} is needed")
    return number


def changed(arguments: argparse.Namespace, **values: Any) -> argparse.Namespace:
    """Return a copy of the arguments in which some values are replaced."""
    return argparse.Namespace(**vars(arguments) | values)


def is_without_gpu(engine: str) -> bool:
    """Return whether the engine that --engine names uses no GPU, and so has no placements."""
    from sparsezc.expr import engines

    return engine != _ENGINES[0] and not engines.needs_device(engine)


def configure(arguments: argparse.Namespace) -> None:
    """Set the engine and the placement in the configuration, if they fit together and are available."""
    from sparsezc.config import config
    from sparsezc.device import cuda
    from sparsezc.exceptions import DeviceUnavailable, InvalidValue
    from sparsezc.expr import engines

    engine, placement = arguments.engine, arguments.placement
    without = is_without_gpu(engine)
    in_file = placement in placements.FILES  # any engine reads a file in place; a generated graph has none
    if without and placement != "auto" and not in_file:
        raise InvalidValue(f"--placement {placement} is none of --engine {engine}; leave one of them out")
    turned = ["--with-transpose"] if getattr(arguments, "with_transpose", False) else []
    sizes = {name: getattr(arguments, name, None) for name in ("budget", "head_budget")}
    heads = getattr(arguments, "head_cache", "auto")
    of_gpu = turned + [f"--{name.replace('_', '-')} {size}" for name, size in sizes.items() if size is not None]
    of_gpu += [f"--head-cache {heads}"] * (heads != "auto")
    if of_gpu and without:
        raise InvalidValue(f"{of_gpu[0]} is none of --engine {engine}; leave one of them out")
    wanted = {
        "--engine": engine if engines.needs_device(engine) else "auto",
        "--placement": "auto" if in_file else placement,
    }
    asked = [f"{option} {value}" for option, value in wanted.items() if value != "auto"] + turned
    if asked and (missing := cuda.reason()) is not None:
        raise DeviceUnavailable(f"{asked[0]} needs a GPU, and there is {missing}")
    if in_file:
        placement = "auto"
    config.set(engine=engine, placement=placement, host_budget=arguments.host_budget, head_cache=heads)
    config.set(**{name: size for name, size in sizes.items() if size is not None})


def line(name: str, nrows: int, ncols: int, nvals: int, symmetric: bool, relabelled: bool) -> str:
    """Return a description of a graph in one line."""
    if nrows != ncols:
        return f"{name}: {nrows:,} x {ncols:,} matrix, {counted(nvals, 'entry', 'entries')}"
    vertices, edges = counted(nrows, "vertex", "vertices"), counted(nvals, "edge", "edges")
    text = f"{name}: {vertices}, {edges}, {'symmetric' if symmetric else 'directed'}"
    if not relabelled and nrows > 8 * nvals > 0:
        text += " (most ids do not occur: --relabel leaves these out)"
    return text


@dataclass
class Graph:
    """A graph that was read, and the facts known about it without reading its edges."""

    name: str
    csr: Csr
    ids: NDArray[np.int64] | None
    load: float
    degrees: NDArray[Any]
    columns: int
    facts: dict[str, Any]
    with_transpose: bool

    @property
    def named_by_text(self) -> bool:
        """Return whether its vertices have names that are no numbers."""
        return self.ids is not None and self.ids.dtype.kind == "O"

    def matrix(self) -> Matrix:
        """Return the adjacency matrix, on the engine of its placement; it takes over the arrays of `csr`."""
        from sparsezc.core.matrix import Matrix

        made: Matrix = Matrix._from_csr(self.csr, adopt=True)
        del self.csr
        return made.to("gpu", with_transpose=True) if self.with_transpose else made

    def add_load(self, seconds: float) -> None:
        """Add to the time that loading took."""
        self.load += seconds

    def line(self) -> str:
        """Return the description of the graph in one line."""
        n, edges = self.facts["vertices"], self.facts["edges"]
        return line(self.name, n, self.columns, edges, self.facts["symmetric"], self.ids is not None)

    def vertex(self, given: str, option: str) -> int:
        """Return the row of a vertex that a user gives by number, or by the file's id if the graph was relabelled."""
        import numpy as np

        from sparsezc.exceptions import IndexOutOfBound, InvalidValue

        name: Any = given
        if self.ids is None or self.ids.dtype.kind != "O":
            try:
                name = int(given)
            except ValueError:
                raise InvalidValue(f"{option} is {given!r}; a vertex is a whole number in {self.name}") from None
        if self.ids is None:
            return int(name)
        at = int(np.searchsorted(self.ids, name))
        if at == self.ids.size or self.ids[at] != name:
            raise IndexOutOfBound(f"{option} is {given}; no edge of {self.name} has this id{self._nearest(given, at)}")
        return at

    def _nearest(self, given: str, at: int) -> str:
        """Return a question with the name most similar to an unknown one; of many, only its sorted neighbours count."""
        from sparsezc.exceptions import meant

        if self.ids is None or self.ids.dtype.kind != "O":
            return ""
        return meant(given, self.ids[max(0, at - _COMPARED) : at + _COMPARED])

    def named(self, vertices: NDArray[Any]) -> NDArray[Any]:
        """Return the users' numbers or names of vertices."""
        import numpy as np

        vertices = vertices.astype(np.int64)
        return vertices if self.ids is None else self.ids[vertices]

    def name_of(self, vertex: int) -> int | str:
        """Return the user's number or name of a vertex."""
        if self.ids is None:
            return int(vertex)
        name: Any = self.ids[int(vertex)]
        return name if isinstance(name, str) else int(name)

    def pairs(self, arguments: argparse.Namespace, path: str, option: str) -> Any:
        """Read pairs of vertices as a Matrix over this graph's vertices, under the same options."""
        from sparsezc.core.matrix import Matrix
        from sparsezc.exceptions import IndexOutOfBound

        columns = dict.fromkeys(("weights", "source_col", "target_col", "weight_col", "type_col", "type"))
        given = {**vars(arguments), **columns, "graph": path, "relabel": self.ids is not None}
        found = load(argparse.Namespace(**given), False)
        n, source = self.degrees.size, f"{option} {path}"
        if found.ids is None:
            made = found.matrix()
            if max(made.shape) > n:
                raise IndexOutOfBound(f"{source} is {made.nrows} x {made.ncols}; {self.name} has vertices 0 to {n - 1}")
            made.resize(n, n)
            return made
        rows = [self.vertex(str(each), source) for each in found.ids.tolist()]
        i, j, _ = found.matrix().to_coo()
        return Matrix.from_coo([rows[k] for k in i.tolist()], [rows[k] for k in j.tolist()], True, nrows=n, ncols=n)

    def busiest(self) -> int:
        """Return the vertex with most out-edges, the lowest of several."""
        from sparsezc.exceptions import InvalidValue

        if self.degrees.size == 0:
            raise InvalidValue(f"{self.name} has no vertices")
        return int(self.degrees.argmax())


def read_options(arguments: argparse.Namespace, weights: Any = None) -> ReadOptions:
    """Return the arguments as options of :func:`sparsezc.io.read`; `weights` applies if --weights was not given."""
    from sparsezc.exceptions import InvalidValue
    from sparsezc.io._options import ReadOptions
    from sparsezc.io.build.weights import parse

    given = arguments.weights
    if given == "none":
        weights = False
    elif given is not None:
        try:
            weights = parse(given)
        except InvalidValue:
            raise InvalidValue(
                f"--weights {given} is not understood; give none, narrowest, a type such as FP32, or a range of"
                " generated integers such as 1-255, in ascending order and below 2^32"
            ) from None
    return ReadOptions.parse(
        arguments.graph,
        directed=True if arguments.directed else None,
        symmetrize=arguments.undirected,
        weights=weights,
        relabel=arguments.relabel,
        placement=None if arguments.placement == "auto" else arguments.placement,
        format=arguments.format or ("snap" if arguments.graph == _INPUT else None),
        dup_op=arguments.dup_op,
        verify=getattr(arguments, "check", False),
        source_col=arguments.source_col,
        target_col=arguments.target_col,
        weight_col=arguments.weight_col,
        type_col=arguments.type_col,
        type=arguments.type,
    )


def load(arguments: argparse.Namespace, weights: Any = None) -> Graph:
    """Read or generate the graph; `weights` applies if --weights was not given."""
    import numpy as np

    from sparsezc.io._read import read_csr, with_stored_ids

    if arguments.graph == _INPUT:
        streams.require_input()
    options = with_stored_ids(arguments.graph, read_options(arguments, weights))
    start = time.perf_counter()
    csr, ids = read_csr(arguments.graph, options)
    elapsed = time.perf_counter() - start
    facts = {
        "name": arguments.graph,
        "vertices": csr.nrows,
        "edges": csr.nvals,
        "symmetric": csr.symmetric,
        "dtype": csr.dtype.name,
        "relabelled": ids is not None,
        "placement": csr.indices.placement,
    }
    both = getattr(arguments, "with_transpose", False)
    degrees: NDArray[Any] = np.empty(
        csr.nrows, np.int32 if csr.ncols < 2**31 else np.int64
    )  # few bytes, compared with a large graph's
    np.subtract(csr.indptr[1:], csr.indptr[:-1], out=degrees, casting="unsafe")
    return Graph(arguments.graph, csr, ids, elapsed, degrees, csr.ncols, facts, both)
