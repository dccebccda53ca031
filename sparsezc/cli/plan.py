"""``sparsezc plan``: the placement that suits a graph, from its sizes alone: nothing is read or generated."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparsezc.cli import graph
from sparsezc.cli.answers.report import Report, Table, counted, seconds
from sparsezc.cli.planning.choice import Machine, choice, decimal
from sparsezc.memory import placement as placements

if TYPE_CHECKING:
    from sparsezc.cli.planning.model import Range, Sizes
    from sparsezc.io._options import ReadOptions

_MOST = 1 << 60  # vertices, by GraphBLAS's limit of an index, and edges
_LEAST_RATE = 10**6  # bytes a second: a lower rate lacks its unit
_CALL = 1e-3  # s: shorter times are those of calls in Python, and are not predicted
_NEEDED = "sparsezc plan needs the sizes: --vertices N --edges N, or a graph that gives them before it is read"


def add(commands: Any) -> None:
    """Declare the command."""
    text = "memory and seconds of each placement for a graph of some sizes, and which one 'auto' takes"
    command = commands.add_parser("plan", help=text, description=f"Print {text}; nothing is read or generated.")
    command.add_argument(
        "graph", metavar="GRAPH", nargs="?", type=graph._graph,
        help="a .h5 file that sparsezc wrote, or a graph to generate such as kron:32; or --vertices and --edges",
    )  # fmt: skip
    for name, what in (("vertices", "vertices"), ("edges", "edges, one way each")):
        command.add_argument(f"--{name}", type=_count, metavar="N", help=f"the number of {what}, such as 1e9")
    command.add_argument("--values", metavar="TYPE", help="the type of the edges' values, such as FP32 (none)")
    command.add_argument(
        "--card", type=graph.nbytes, metavar="SIZE", help="the GPU's memory, such as 80GB (that of this machine's GPU)"
    )
    command.add_argument("--cards", type=_count, metavar="N", default=1, help="such cards in the machine, for peer (1)")
    command.add_argument("--host", type=graph.nbytes, metavar="SIZE", help="the host's memory (that of this machine)")
    command.add_argument(
        "--link", type=_rate, metavar="RATE",
        help="at which kernels read host memory, such as 51GB/s: sparsezc doctor measures it (49.3 GB/s: PCIe 5 x16)",
    )  # fmt: skip
    command.set_defaults(run=plan)


def _count(text: str) -> int:
    """Return a whole number, also such as 1e9."""
    try:
        number = int(text) if text.strip().isdigit() else float(text)
        if 1 <= number <= _MOST and number == int(number):
            return int(number)
    except (ValueError, OverflowError):
        pass
    raise argparse.ArgumentTypeError(f"{text!r} is no count; a whole number from 1 to 2^60 is needed, such as 1e9")


def _rate(text: str) -> int:
    from sparsezc.config import parse_bytes
    from sparsezc.exceptions import InvalidValue

    try:
        if (found := parse_bytes(text.removesuffix("/s"))) >= _LEAST_RATE:
            return found
    except InvalidValue:
        pass
    raise argparse.ArgumentTypeError(f"{text!r} is no rate of a link; write for example 51GB/s")


def plan(arguments: argparse.Namespace) -> Report:
    """Report the placements for the given sizes, or for those of a generated graph or a file's header."""
    from sparsezc.exceptions import InvalidValue
    from sparsezc.io._options import ReadOptions
    from sparsezc.io.files.source import existing

    given = [f"--{name}" for name in ("vertices", "edges") if getattr(arguments, name) is not None]
    if arguments.graph is None:
        if len(given) < 2:
            raise InvalidValue(f"{_NEEDED}; given is {given[0]} alone" if given else _NEEDED)
        sizes = _given(arguments.vertices, arguments.edges, arguments.values)
    elif given:
        raise InvalidValue(f"{given[0]} and {arguments.graph} both give the graph's sizes; leave one of them out")
    else:
        found = sizes_of(arguments.graph, ReadOptions.parse(arguments.graph, weights=_type(arguments.values)))
        if found is None:
            existing(Path(arguments.graph))
            raise InvalidValue(
                f"{arguments.graph} does not give its sizes before it is read: sparsezc info {arguments.graph}"
                " --placements reads it, or give --vertices and --edges"
            )
        sizes = found
    return report(arguments.graph or "", sizes, Machine.of(arguments))


def _type(name: str | None) -> Any:
    """Return the type of --values; None without it."""
    from sparsezc.exceptions import InvalidValue, UnknownDtype
    from sparsezc.semirings.types import datatypes

    try:
        return None if name is None else datatypes.lookup_real(name)
    except UnknownDtype:
        raise InvalidValue(f"--values {name} is no type; write for example FP32, UINT8 or INT64") from None


def _given(vertices: int, edges: int, values: str | None) -> Sizes:
    from sparsezc.cli.planning.model import Sizes
    from sparsezc.exceptions import InvalidValue

    if edges > vertices**2:
        raise InvalidValue(f"--edges {edges:,} are more than {vertices:,} vertices can have, one of each pair")
    dtype = _type(values)
    return Sizes(vertices, vertices, edges, edges * dtype.np_type.itemsize if dtype is not None else 1)


def sizes_of(path: str, options: ReadOptions) -> Sizes | None:
    """Return the sizes that a graph's name or its file's header gives; None for a file that must be read for them."""
    from sparsezc.cli.planning.model import Sizes
    from sparsezc.io._read import mappable_file
    from sparsezc.io.build import generate
    from sparsezc.io.hdf5 import csr_file

    dtype = options.weights.dtype if options.weights.kind != "none" else None
    if options.kind is None:
        recipe = generate.parse(path)
        n, nvals, most = generate.sizes(recipe)
        dtype = generate.weights_of(path, recipe, options.weights).dtype if options.weights.kind != "none" else None
        return Sizes(n, n, nvals, nvals * dtype.np_type.itemsize if dtype is not None else 1, most)
    mappable = mappable_file(path, options.kind)
    if mappable is None or not csr_file.can_be_mapped(mappable):
        return None
    nrows, ncols = map(int, mappable.descriptor["shape"])
    nvals = int(mappable.descriptor["number_of_stored_values"])
    stored, iso = csr_file.value_type(str(mappable.descriptor["data_types"]["values"]))
    value = (dtype or stored).np_type.itemsize
    blocks = [mappable.places[name] for name in csr_file.BLOCKS if name in mappable.places]
    body, *headers = [count * kind.itemsize for _, count, kind in blocks] or [0]
    values, mapped = value if iso and dtype is None else nvals * value, next(iter(placements.FILES))
    return Sizes(nrows, ncols, nvals, values, current=mapped, packed=(body, sum(headers)) if headers else None)


def report(name: str, sizes: Sizes, machine: Machine) -> Report:
    """Report the placements, the one that "auto" takes, and the sources of the rates behind the seconds."""
    from sparsezc.cli.planning import model

    needs, taken, weighted = model.needs(sizes, machine.cards), choice(sizes, machine, name), sizes.values > 1
    rows, data = [], {}
    for record in placements.RECORDS.values():
        need, times = needs[record.name], model.Times()
        fits = _fits(record, need, sizes, machine)
        # a file that exceeds the host's memory is read at the disk's rate, which is not known
        if fits and machine.card is not None and not (record.file and sizes.nbytes > (machine.host or _MOST)):
            times = model.predicted(record, sizes, machine.card, machine.link)
        data[record.name] = {**need, "fits": fits, **times._asdict()}
        columns = [times.whole, times.search, times.with_heads, *([times.weighted] if weighted else [])]
        title = record.name + (" *" if record.baseline else "")
        rows.append(
            (title, decimal(need["device"]), decimal(need["host"]), "yes" if fits else "no", *map(_range, columns))
        )
    head = (
        "placement",
        "device",
        "host",
        "fits",
        "pass",
        "search",
        "with heads",
        *(["pass, values"] if weighted else []),
    )
    sources = dict(model.SOURCES)
    if machine.link != model.LINK:
        sources = {"link": "sparsezc plan --link", **{what.removeprefix("link, "): sources[what] for what in sources}}
    found = Report(
        {
            "command": "plan",
            "graph": {"name": name, **sizes._asdict(), "ids": sizes.ids},
            "machine": machine._asdict(),
            "placements": data,
            "auto": taken._asdict(),
            "sources": sources,
        },
        [("graph", _line(name, sizes)), ("usable", _usable(machine))],
        [Table(head, rows)],
        [("*", "for comparison with published systems; auto never takes it")],
    )
    if machine.card is not None:
        found.tables.append(
            Table(
                ("seconds", f"from, at {decimal(machine.link)}/s over the link (benchmarks/published)"),
                list(sources.items()),
            )
        )
        found.closing += _beside(sizes, machine)
    found.closing += [("auto", f"{taken.name}: {taken.why}"), ("type", taken.command)]
    return found


def _fits(record: placements.Placement, need: dict[str, int], sizes: Sizes, machine: Machine) -> bool:
    host = machine.host is None or need["host"] <= machine.host
    if not record.kernels:
        return host
    card = need["device"]
    if record.near and not record.resident:  # pages that migrate are refused beyond the card's memory
        card += sizes.nbytes
    return machine.card is not None and card <= machine.card and host


def _line(name: str, sizes: Sizes) -> str:
    """Return the description of the graph in one line."""
    most = "at most " if sizes.most else ""
    said = f"{counted(sizes.nrows, 'vertex', 'vertices')}, {most}{counted(sizes.nvals, 'edge', 'edges')}"
    values = f", {decimal(sizes.values)} of values, which only weighted algorithms read" if sizes.values > 1 else ""
    return f"{name + ': ' if name else ''}{said}; {decimal(sizes.ids)} of ids{values}"


def _usable(machine: Machine) -> str:
    card = (
        "no GPU (sparsezc plan --card 80GB supposes one)"
        if machine.card is None
        else f"{decimal(machine.card)} of the card"
    )
    return card if machine.host is None else f"{card}, {decimal(machine.host)} of the host (nine tenths)"


def _beside(sizes: Sizes, machine: Machine) -> list[tuple[str, str]]:
    """Return lines about row heads, searches at once, a file of the graph, and compressed ids."""
    from sparsezc.cli.planning import model
    from sparsezc.memory import budget

    space = machine.card or 0
    plain = budget.automatic(sizes.nbytes, sizes.nrows, space)
    near = placements.RECORDS[plain].resident
    slots, most, told = model.heads(sizes, space), model.searches_at_once(sizes, space), []
    if not near:
        ids, took = counted(slots, "id", "ids"), seconds(sizes.ids / machine.link)
        built = f"{ids} of each row on the card, built in {took} once searches have read all edges"
        told.append(("heads", built if slots else "no space"))
    if most:
        said = f"up to {counted(most, 'search', 'searches')}, of 5 bytes a vertex each"
        if most == model.TOGETHER and not near:
            low, high = (time / most for time in model.together(sizes, space, machine.link))
            said += f"; so many take {_range((low, high))} each"
        told.append(("at once", said))
    file = next(iter(placements.FILES))
    if sizes.current is None and budget.automatic(sizes.nbytes, sizes.nrows, space, file) == file:
        other = f"; --placement {plain} puts it on the card" if near else ""
        told.append((".h5 file", f"auto is {file} for one of this graph{other}"))
    left = space - budget.working_bytes(sizes.nrows) - sizes.values
    if not near and sizes.packed is None and left > 0:
        bits = 8 * left / max(sizes.nvals, 1)
        said = f"fits the card if ids pack into {bits:.1f} bits each (6 of a web graph, 13 to 23 of random ones)"
        told.append(("compress", said))
    return told


def _range(times: Range | None) -> str:
    """Return a range of seconds: equal ends as one, and no less than a call takes in Python."""
    if times is None:
        return "-"
    low, high = (seconds(time) for time in times)
    if times[0] < _CALL:
        return f"up to {high}" if times[1] > _CALL else f"< {seconds(_CALL)}"
    return low if low == high else f"{low} - {high}"
