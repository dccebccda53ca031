"""Placements: one record each. Whatever asks about a placement reads its record; nothing else knows names.

A placement is a kind of memory for the ids and values of a matrix together with the way in which products get at them.
A program's own is one record, given to :func:`register`: its memory is a function that makes a
:class:`~sparsezc.memory.Buffer`, and with it every operation works, as kernels read a buffer by its address.
docs/placements.md has the records as a table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sparsezc.config import allow_placements
from sparsezc.errors import InvalidValue

__all__ = ["BEYOND", "FITS", "FILES", "HOST", "HOSTS", "RECORDS", "Placement", "choices", "register"]

_HERE, _SERVED = "sparsezc.memory", "sparsezc.engines.gpu.placements"


class Placement(NamedTuple):
    """What there is to know about one placement.

    Attributes
    ----------
    name : str
    memory : str or callable
        ``allocate(count, dtype, name)``, which makes a buffer, or the module that has this function.
    lies, description, purpose : str
        Where ids and values are, how products get at them, and what it is for: docs/placements.md's columns.
    source : str
        The paper that it follows.
    kernels : bool
        Kernels can read it; else it is the CPU engine's.
    file : bool
        Its arrays are a file's: a file is opened in it, nothing is made in it.
    resident : bool
        Ids and values reside in the card's memory.
    near : bool
        Kernels read entries at the rate of the card's memory: they reside there, or the driver brings them.
    in_place : bool
        Kernels read host memory over the link, entry by entry; without it the host's pages are for bulk copies.
    buffers : callable, optional
        Bytes of the card that products take at least, for entries of so many bytes and rows (or chunks of longer ones)
        of so many entries: all that a product wants passes through buffers of that size as whole rows.
    serves : str or callable, optional
        ``parts(rows, entries, wanted)``, the launches of a product, or the module that has this function; None: one
        launch, which reads the entries by their address.
    baseline : bool
        A published system's way, for comparison.
    """

    name: str
    memory: str | Callable[[int, Any, str], Any]
    lies: str
    description: str
    purpose: str
    source: str = ""
    kernels: bool = True
    file: bool = False
    resident: bool = False
    near: bool = False
    in_place: bool = False
    buffers: Callable[[int, int], int] | None = None
    serves: str | Callable[..., Any] | None = None
    baseline: bool = False


def spare(length: int) -> int:
    """Entries that a buffer must hold beside those that it is filled with: a row of so many, and what aligns it."""
    return -(-length // 32) * 32 + 32


def two_buffers(entry_bytes: int, length: int) -> int:
    """Device memory of the smallest two buffers that one fills while the other is read: each of two rows of so many
    entries (or chunks of longer rows) and what aligns them.
    """
    return 4 * spare(length) * entry_bytes


#: Every placement by its name. :func:`register` adds to it.
RECORDS: dict[str, Placement] = {
    record.name: record
    for record in (
        Placement(
            "host", f"{_HERE}.host", "in host memory", "on the CPU engine", "no GPU",
            kernels=False,
        ),
        Placement(
            "device", f"{_HERE}.device", "on the card", "as they are", "graphs that fit",
            resident=True, near=True,
        ),
        Placement(
            "zerocopy", f"{_HERE}.zerocopy", "in host memory",
            "read over the link, 128 bytes a request; row heads; packed values",
            "as little device memory as can be; EMOGI's way of reading",
            source="Min et al., EMOGI, PVLDB 14(2), 2020, doi:10.14778/3425879.3425883",
            in_place=True,
        ),
        Placement(
            "mapped", f"{_HERE}.mapped", "in a `.h5` file ([formats](formats.md))",
            "as `hybrid`, from the system's cache of the file", "graphs that shall open in a moment",
            file=True, in_place=True, serves=f"{_SERVED}.hybrid",
        ),
        Placement(
            "hybrid", f"{_HERE}.zerocopy", "in host memory",
            "the most read segments of 4,096 entries stay on the card, the rest is read over the link, in one launch,"
            " or copied or gathered where that is faster; row heads; packed values",
            "what `auto` takes beyond the budget",
            in_place=True, serves=f"{_SERVED}.hybrid",
        ),
        Placement(
            "stream", f"{_HERE}.zerocopy", "in host memory",
            "ranges of rows are copied in turn through two buffers; those of which no row is wanted are left out",
            "comparison with GraphReduce",
            source="Sengupta et al., GraphReduce, SC 2015, doi:10.1145/2807591.2807655",
            buffers=two_buffers, serves=f"{_SERVED}.baselines.stream", baseline=True,
        ),
        Placement(
            "gather", f"{_HERE}.zerocopy", "in host memory",
            "the wanted rows are put together by the host's threads and copied; pieces that are wanted for the most"
            " part are copied whole",
            "comparison with Subway",
            source="Sabet et al., Subway, EuroSys 2020, doi:10.1145/3342195.3387537",
            buffers=two_buffers, serves=f"{_SERVED}.baselines.gather", baseline=True,
        ),
        Placement(
            "cached", f"{_HERE}.zerocopy", "in host memory",
            "rows on the card at once, the others gathered meanwhile or read in place, as measured",
            "comparison with Ascetic",
            source="Tang et al., Ascetic, ICPP 2021, doi:10.1145/3472456.3472457",
            serves=f"{_SERVED}.baselines.cached", baseline=True,
        ),
        Placement(
            "uvm", f"{_HERE}.uvm", "pages that migrate", "the driver copies pages at first use",
            "comparison with EMOGI's UVM baseline",
            source="Min et al., EMOGI, PVLDB 14(2), 2020, doi:10.14778/3425879.3425883",
            near=True, baseline=True,
        ),
    )
}  # fmt: skip

#: The CPU engine's placement, and what "auto" takes on a GPU: where all fits the budget, and beyond it.
HOST, FITS, BEYOND = "host", "device", "hybrid"
#: The names of the CPU engine's memory, and of files' memory; a program's own placement is neither.
HOSTS = frozenset(record.name for record in RECORDS.values() if not record.kernels)
FILES = frozenset(record.name for record in RECORDS.values() if record.file)


def register(placement: Placement) -> None:
    """Make a placement of a program's own known, for kernels to read: every operation works in it from then on.

    Parameters
    ----------
    placement : Placement
        Of a new name. ``gb.config.placement``, ``A.to``, the readers and the command line then take that name.

    Raises
    ------
    InvalidValue
        The name is taken, or is none; or the record says that it is a file's or the CPU engine's.
    """
    name = placement.name
    if name == "auto" or name in RECORDS or not name.isidentifier():
        raise InvalidValue(f"placement {name!r} cannot be registered: a new name, of letters and digits, is needed")
    if placement.file or not placement.kernels:
        raise InvalidValue(f"placement {name!r} cannot be registered: kernels must read it, and no file be needed")
    RECORDS[name] = placement


def choices(*, files: bool = False) -> tuple[str, ...]:
    """The names that may be asked for on a GPU, first "auto"; with `files` that of what is opened, too."""
    return "auto", *(each.name for each in RECORDS.values() if each.kernels and (files or not each.file))


allow_placements(choices)
