"""The placement that "auto" takes for a matrix of some sizes on some machine, the reason, and what to type."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, NamedTuple

from sparsezc.exceptions import InvalidValue
from sparsezc.memory import placement as placements

if TYPE_CHECKING:
    from sparsezc.cli.planning.model import Sizes

_LEAST = 1 << 20  # bytes: fewer are a number without its unit
_ENOUGH = 1 << 62  # bytes of host memory where the machine does not report them


def _memory(given: str, option: str) -> int:
    """Return the bytes of a memory; one without a unit is refused, as it would be some bytes."""
    from sparsezc.config import parse_bytes

    nbytes = parse_bytes(given)
    if nbytes < _LEAST:
        raise InvalidValue(f"{option} {given} is {nbytes:,} bytes: give a unit, such as {option} 80GB")
    return nbytes


class Machine(NamedTuple):
    """The bytes that may be used of a machine: device memory (None: there is no GPU), and host memory if known."""

    card: int | None
    host: int | None
    link: float
    cards: int | None = None

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> Machine:
        """Return the machine of the options, completed by this one."""
        from sparsezc.cli.planning.model import LINK
        from sparsezc.device import cuda
        from sparsezc.memory import budget

        space, cards = budget.available() if cuda.reason() is None else None, None
        if arguments.card is not None:
            space, cards = budget.parse(None, _memory(arguments.card, "--card"), 0), arguments.cards
        host = budget.host_available()
        if arguments.host is not None:
            host = budget.parse(None, _memory(arguments.host, "--host"), 0)
        return cls(space, host, arguments.link or LINK, cards)

    @classmethod
    def here(cls, space: str | None) -> Machine:
        """Return this machine, with so much device memory if it is given."""
        from sparsezc.config import parse_bytes

        given = argparse.Namespace(card=None, host=None, link=None, cards=None)
        machine = cls.of(given)
        return machine if space is None else machine._replace(card=parse_bytes(space))


class Choice(NamedTuple):
    """The placement that "auto" takes, whether it fits, the reason, and what to type."""

    name: str
    fits: bool
    why: str
    command: str


def choice(sizes: Sizes, machine: Machine, name: str = "") -> Choice:
    """Return the placement that "auto" takes for a matrix on a machine."""
    from sparsezc.cli.planning import model
    from sparsezc.memory import budget

    needs = model.needs(sizes, machine.cards)
    vectors, file = budget.working_bytes(sizes.nrows), shlex.quote(name or "GRAPH")
    host = machine.host if machine.host is not None else _ENOUGH
    if machine.card is None:
        need = needs[placements.HOST]["host"]
        if need <= host:
            return Choice(
                placements.HOST, True, "there is no GPU, and all fits the host's memory", f"sparsezc bfs {file}"
            )
        why = f"there is no GPU, and {decimal(need)} are more than the {decimal(host)} of host memory that may be used"
        return _from_file(sizes, file, why)
    every, may = f"{decimal(sizes.nbytes)} of edges and {decimal(vectors)} of vectors", decimal(machine.card)
    taken = budget.automatic(sizes.nbytes, sizes.nrows, machine.card, sizes.current)
    if vectors > machine.card:
        why = f"the vectors take {decimal(vectors)}, 64 bytes a vertex, and {may} may be used"
        if needs[placements.HOST]["host"] <= host:
            return Choice(taken, False, why, f"sparsezc bfs {file} --engine cpu")
        return _from_file(sizes, file, why, " --engine cpu")
    if placements.RECORDS[taken].resident:
        why = f"{every} fit the {may} that may be used, so nothing crosses the link"
        return Choice(taken, True, why, f"sparsezc bfs {file}")
    if taken in placements.FILES:
        fits = needs[placements.FITS]["device"] <= machine.card
        why = "a file of more than 256 MiB is read where it is, with its most read edges on the card"
        more = f" --placement {placements.FITS}   (it fits the card)" if fits and sizes.packed is None else ""
        return Choice(taken, True, why, f"sparsezc bfs {file}{more}")
    left = machine.card - vectors
    why = f"{every} exceed the {may} that may be used"
    if needs[taken]["host"] > host:
        return _from_file(sizes, file, f"{why}, and edges of {decimal(needs[taken]['host'])} exceed the host's memory")
    why += f", so edges stay in host memory; the other {decimal(left)} hold row heads and what is read most"
    return Choice(taken, True, why, f"sparsezc bfs {file}")


def _from_file(sizes: Sizes, file: str, why: str, more: str = "") -> Choice:
    """Return the choice where host memory is short: a file that is read where it is."""
    mapped = next(iter(placements.FILES))
    if sizes.current is not None:
        return Choice(mapped, True, f"{why}; the file is read where it is", f"sparsezc bfs {file}{more}")
    command = f"sparsezc convert {file} g.h5 --memory SIZE, then sparsezc bfs g.h5{more}"
    return Choice(mapped, False, f"{why}; a .h5 file is read where it is", command)


def decimal(nbytes: float) -> str:
    """Return a number of bytes to three digits, in the units of ``80GB``.

    >>> decimal(999), decimal(80e9), decimal(1.5e12)
    ('999 B', '80 GB', '1.5 TB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if nbytes < 999.5:
            return f"{nbytes:.3g} {unit}"
        nbytes /= 1000
    return f"{nbytes:.3g} TB" if nbytes < 999.5 else f"{nbytes:,.0f} TB"
