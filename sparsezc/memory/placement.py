"""The records of placements. Code that depends on a property of a placement reads its record, never its name.

A placement is a kind of memory for the ids and values of a matrix together with the way in which products read it.
A program adds a placement by a record, given to :func:`register`, whose memory is a function that allocates a
:class:`~sparsezc.memory.Buffer`. Every operation then works in it, as kernels read a buffer by its address.
docs/placements.md has the records as a table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sparsezc.exceptions import InvalidValue

__all__ = [
    "BEYOND", "BY_ADDRESS", "FILES", "FITS", "HOST", "HOSTS", "OPENED", "RECORDS", "Placement", "choices", "register",
]  # fmt: skip


class Placement(NamedTuple):
    """The record of a placement.

    Attributes
    ----------
    name : str
    memory : str or callable
        A function ``allocate(count, dtype, name)`` that returns a buffer, or the module of this folder that has it.
    location, description, purpose : str
        The columns of docs/placements.md: where ids and values are, how products read them, and the purpose.
    source : str
        The paper that the placement follows.
    kernels : bool
        Kernels can read the arrays; otherwise the placement is the CPU engine's.
    file : bool
        The arrays belong to an opened file; none are allocated.
    resident : bool
        Ids and values are resident in device memory.
    near : bool
        Kernels read entries at the rate of device memory: they are resident, or the driver migrates them.
    spread : bool
        Ids and values are resident in the memory of all cards, a part in each.
    in_place : bool
        Kernels read host memory over the link, entry by entry; otherwise host pages are for bulk copies.
    beyond : bool
        The placement is for matrices that exceed device memory: second copies of rows would leave no space there for
        the segments that are read most.
    buffers : callable, optional
        Returns the least bytes of device memory for the buffers of products, given the bytes of an entry and the most
        entries of a row (or of a row chunk): all wanted entries are copied through such buffers as whole rows.
    serves : str or callable, optional
        A function ``parts(rows, entries, wanted)`` that yields the launch parts of a product, or the GPU engine's
        module that has it; None: one launch, which reads the entries by their address.
    baseline : bool
        The placement follows a published system, for comparison.
    """

    name: str
    memory: str | Callable[[int, Any, str], Any]
    location: str
    description: str
    purpose: str
    source: str = ""
    kernels: bool = True
    file: bool = False
    resident: bool = False
    near: bool = False
    spread: bool = False
    in_place: bool = False
    beyond: bool = False
    buffers: Callable[[int, int], int] | None = None
    serves: str | Callable[..., Any] | None = None
    baseline: bool = False


def spare(length: int) -> int:
    """Return the entries that a buffer must hold beside its range: a row of `length` entries, and its alignment."""
    return -(-length // 32) * 32 + 32


def two_buffers(entry_bytes: int, length: int) -> int:
    """Return the bytes of the smallest two buffers, of which one is filled while the other is read.

    Each holds two rows of `length` entries (or row chunks) and their alignment.
    """
    return 4 * spare(length) * entry_bytes


#: The records of all placements by name. :func:`register` adds to them.
RECORDS: dict[str, Placement] = {
    record.name: record
    for record in (
        Placement(
            "host", "host", "in host memory", "on the CPU engine", "no GPU",
            kernels=False,
        ),
        Placement(
            "device", "device", "in device memory", "as they are", "graphs that fit",
            resident=True, near=True,
        ),
        Placement(
            "peer", "peer", "in the memory of all cards of the machine",
            "as they are: the cards' memory is one range of addresses, which one card reads, over NVLink if there is"
            " one",
            "graphs larger than a card's memory, on machines with several",
            resident=True, near=True, spread=True,
        ),
        Placement(
            "zerocopy", "zerocopy", "in host memory",
            "read over the link, 128 bytes a request; row heads; packed values",
            "the least device memory; EMOGI's way of reading",
            source="Min et al., EMOGI, PVLDB 14(2), 2020, doi:10.14778/3425879.3425883",
            in_place=True,
        ),
        Placement(
            "mapped", "mapped", "in a `.h5` file ([formats](formats.md))",
            "as `hybrid`, from the system's cache of the file", "graphs that open without being read",
            file=True, in_place=True, serves="hybrid",
        ),
        Placement(
            "hybrid", "zerocopy", "in host memory",
            "the most read segments of 4,096 entries are resident, the rest is read over the link in one launch,"
            " or copied or gathered where that is faster; row heads; packed values",
            "`auto` beyond the budget",
            in_place=True, beyond=True, serves="hybrid",
        ),
        Placement(
            "stream", "zerocopy", "in host memory",
            "ranges of rows are copied in turn through two buffers; ranges without a wanted row are skipped",
            "comparison with GraphReduce",
            source="Sengupta et al., GraphReduce, SC 2015, doi:10.1145/2807591.2807655",
            buffers=two_buffers, serves="baselines.stream", baseline=True,
        ),
        Placement(
            "gather", "zerocopy", "in host memory",
            "the host's threads gather the wanted rows, which are then copied; pieces of which most is wanted are"
            " copied whole",
            "comparison with Subway",
            source="Sabet et al., Subway, EuroSys 2020, doi:10.1145/3342195.3387537",
            buffers=two_buffers, serves="baselines.gather", baseline=True,
        ),
        Placement(
            "cached", "zerocopy", "in host memory",
            "resident rows are read at once, the others are gathered meanwhile or read in place, as measured",
            "comparison with Ascetic",
            source="Tang et al., Ascetic, ICPP 2021, doi:10.1145/3472456.3472457",
            serves="baselines.cached", baseline=True,
        ),
        Placement(
            "uvm", "uvm", "in migrating pages", "the driver copies pages at first use",
            "comparison with EMOGI's UVM baseline",
            source="Min et al., EMOGI, PVLDB 14(2), 2020, doi:10.14778/3425879.3425883",
            near=True, baseline=True,
        ),
    )
}  # fmt: skip

#: The CPU engine's placement, and those of "auto" on a GPU: if everything fits the budget, and if not. They are for
#: choosing one; comparisons read the record, so that a program's placement with the same properties is treated alike.
HOST, FITS, BEYOND = "host", "device", "hybrid"
#: Likewise the placement of a matrix whose arrays belong to an opened file, and that of host memory which kernels read
#: by its address, for arrays that cannot be in a placement's own memory.
OPENED, BY_ADDRESS = "mapped", "zerocopy"
#: The placements of the CPU engine, and those of files; a program's placement is neither.
HOSTS = frozenset(record.name for record in RECORDS.values() if not record.kernels)
FILES = frozenset(record.name for record in RECORDS.values() if record.file)


def register(placement: Placement) -> None:
    """Register a program's placement, which kernels read: every operation works in it from then on.

    Parameters
    ----------
    placement : Placement
        A record with a new name. ``gb.config.placement``, ``A.to``, the readers and the command line then accept that
        name.

    Raises
    ------
    InvalidValue
        The name is taken or no identifier; or the record is for files or for the CPU engine.
    """
    name = placement.name
    if name == "auto" or name in RECORDS or not name.isidentifier():
        raise InvalidValue(f"placement {name!r} cannot be registered: a new name, of letters and digits, is needed")
    if placement.file or not placement.kernels:
        raise InvalidValue(f"placement {name!r} cannot be registered: kernels must read it, and it must have no file")
    RECORDS[name] = placement


def choices(*, files: bool = False) -> tuple[str, ...]:
    """Return the names that may be requested on a GPU, "auto" first; with `files` also those of opened files."""
    return "auto", *(each.name for each in RECORDS.values() if each.kernels and (files or not each.file))
