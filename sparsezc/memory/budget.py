"""How much of the card and of the host's memory may be used, and what ``placement="auto"`` means.

Everything is bytes. The card's budget is ``gb.config.budget``: None (nine tenths of what is free), a number of bytes, a
text such as ``"16GB"``, or a share of the card such as ``0.5``. ``gb.config.host_budget`` is what making one matrix
may take of the host's memory: None (nine tenths of what :mod:`~sparsezc.memory.machine` reads) or the same kinds of
number, taken at their word, as a virtual machine may grow beyond what it reads.
"""

from __future__ import annotations

from typing import Protocol
from weakref import WeakSet

from sparsezc.config import config, parse_bytes
from sparsezc.device import cuda
from sparsezc.device.protocol import when_short
from sparsezc.errors import DeviceUnavailable, InvalidValue, OutOfMemory
from sparsezc.memory import machine
from sparsezc.memory.placement import BEYOND, FILES, FITS, HOST, HOSTS, RECORDS, Placement

_SHARE = 0.9
_SMALL = 1 << 24  # bytes: arrays that are not worth a look at the machine
HEAD_BYTES = 32  # a row, of the row-head cache
_SOON_READ = 1 << 28  # bytes of a file that are read in no time: they go where they are used fastest
LONG = 2048  # entries: rows longer than this are cut into chunks that many warps share
_SHORT, _FEW = 512, 1 << 25  # likewise, where a matrix has so few that 32 such rows are many warps' share
#: A vertex: six vectors of 8-byte values, which PageRank holds at most (searches hold fewer), and 8 bytes for presence
#: words and for what placements count of rows.
_VECTOR_BYTES = 56


def parse(budget: float | str | None, free: int, total: int) -> int:
    """A budget, as :mod:`sparsezc.config` allows it, in bytes.

    >>> parse("16GB", 10**11, 10**11), parse(0.5, 60, 80), parse(None, 100, 200)
    (16000000000, 40, 90)
    """
    if budget is None:
        return int(_SHARE * free)
    if isinstance(budget, str):
        return parse_bytes(budget)
    return int(budget * total) if isinstance(budget, float) else int(budget)


_caches: WeakSet[Cache] = WeakSet()


class Cache(Protocol):
    """What lies on the card because there was room: it counts to the budget, and goes where that is needed.

    One that is dropped takes no bytes and stays, to be filled again.
    """

    @property
    def nbytes(self) -> int: ...

    def drop(self) -> None: ...


def register_cache(cache: Cache) -> None:
    """Count a cache for as long as it lives."""
    _caches.add(cache)


def _held() -> int:
    return sum(cache.nbytes for cache in list(_caches))


def reclaim() -> bool:
    """Have all caches dropped; whether there were any."""
    found = [cache for cache in list(_caches) if cache.nbytes]
    for cache in found:
        cache.drop()
    return bool(found)


when_short(reclaim)


def available() -> int:
    """Bytes of device memory that may still be used: what caches leave of the budget, and never more than is free."""
    free, total = cuda.current().memory()
    if config.budget is None:
        return parse(None, free, total)
    return max(0, min(free, parse(config.budget, free, total) - _held()))


def exceeded() -> bool:
    """Whether caches take more than a budget that was lowered since."""
    return config.budget is not None and _held() > parse(config.budget, *cuda.current().memory())


def make_room(nbytes: int) -> int:
    """Bytes of device memory that may be used, for what cannot do with less than `nbytes`: caches go if need be."""
    free = available()
    return available() if nbytes > free and reclaim() else free


def fitting(placement: str, nbytes: int) -> str:
    """Where so many bytes of a result go: what does not fit the device goes to the host, whatever `placement` says."""
    return BEYOND if RECORDS[placement].resident and nbytes > available() else placement


def setting_bytes(part: float | str) -> int:
    """Bytes of device memory that a setting such as `head_budget` stands for."""
    free, total = cuda.current().memory()
    return parse(part, free, total)


def host_available() -> int | None:
    """Bytes of host memory that one matrix may take; None where the machine does not say."""
    budget, total = config.host_budget, machine.total()
    if budget is None or (isinstance(budget, float) and total is None):
        free = machine.available()
        return None if free is None else parse(None, free, 0)
    return parse(budget, 0, total or 0)


def workspace() -> int | None:
    """Bytes that work may take which could lie on the card or on the host: what the smaller one has left."""
    room = host_available()
    if cuda.reason() is not None:
        return room
    return available() if room is None else min(room, available())


def require_host(nbytes: int, what: str) -> None:
    """Refuse what the host has no memory for, before any of it is touched.

    Raises
    ------
    OutOfMemory
        With what is needed and what may be used.
    """
    if nbytes < _SMALL and config.host_budget is None:
        return
    room = host_available()
    if room is not None and nbytes > room:
        raise OutOfMemory(f"{what} needs {nbytes:,} bytes of host memory and {room:,} may be used{_hint()}")


def _hint() -> str:
    if config.host_budget is not None:
        return "; the limit is gb.config.host_budget (--host-budget)"
    return "; the limit is nine tenths of what is available, and gb.config.host_budget (--host-budget) sets another"


def working_bytes(nrows: int) -> int:
    """Device memory that an algorithm's vectors and the matrix's offsets take beside the edges."""
    return (_VECTOR_BYTES + 8) * nrows


def head_bytes(nrows: int) -> int:
    """Device memory of a row-head cache where the user sets no budget (``gb.config.head_budget``).

    >>> head_bytes(1000)
    32768
    """
    return -(-nrows // 32) * 32 * HEAD_BYTES


def chunk_length(nvals: int) -> int:
    """The most entries of a row, or of a chunk of a longer one, that one warp reads, in a matrix of so many.

    >>> chunk_length(10**6), chunk_length(10**9)
    (512, 2048)
    """
    return LONG if nvals >= _FEW else min(LONG, _SHORT)


def needs(placement: Placement, nbytes: int, nrows: int, nvals: int, host_nbytes: int | None = None) -> tuple[int, int]:
    """Bytes of device memory and of host memory that a matrix and an algorithm's vectors take on the card.

    Parameters
    ----------
    nbytes, host_nbytes : int
        Of ids and values where kernels read them, and in the CPU engine's placement, whose ids are wider.
    """
    if not placement.kernels:
        return 0, host_nbytes or 0
    buffers = placement.buffers(nbytes // nvals, chunk_length(nvals)) if placement.buffers and nvals else 0
    card = working_bytes(nrows) + buffers + (nbytes if placement.resident else 0)
    return card, 0 if placement.resident or placement.file else nbytes


def resolve(
    placement: str | None, nbytes: int, nrows: int, nvals: int = 0, *, host_nbytes: int | None = None,
    lies: str | None = None,
) -> str:  # fmt: skip
    """The placement for a matrix of `nbytes` bytes of ids and values; "auto" is "device", or "hybrid" where that is too
    small; or "mapped".

    Parameters
    ----------
    nvals : int
        Entries. Where there are none, no placement needs buffers.
    host_nbytes : int, optional
        Bytes in placement ``"host"``, whose ids are wider; without it that placement is not measured.
    lies : str, optional
        The placement where the matrix lies already, which needs nothing more. What is mapped is left so by "auto" if
        the card has no room for it, or if it is too large to be read in a moment.

    Raises
    ------
    InvalidValue
        For "mapped" where nothing is, and for a name that no placement has.
    OutOfMemory
        Where it does not fit: the message says what each placement needs and what there is.
    DeviceUnavailable
        Where a GPU was asked for and there is none.
    """
    check_name(placement)
    chosen = _mapped(placement, nbytes, nrows, lies) or _choose(placement, nbytes, nrows)
    if chosen == lies and lies not in FILES:
        return chosen
    needed, needed_host = needs(RECORDS[chosen], nbytes, nrows, nvals, host_nbytes)
    card = None if engine_of(chosen) != "gpu" else make_room(needed)
    fits = card is None or needed <= card
    if fits and needed_host < _SMALL and config.host_budget is None:  # no need to ask the machine
        return chosen
    host = host_available()
    told = _told(nbytes, nrows, nvals, host_nbytes)
    if not fits:
        raise OutOfMemory(
            f"placement {chosen!r} needs {needed:,} bytes of device memory and {card:,} may be used {told}"
            + (f"; of host memory {host:,} may be used" if host is not None else "")
        )
    if host is not None and needed_host > host:
        raise OutOfMemory(
            f"placement {chosen!r} needs {needed_host:,} bytes of host memory and {host:,} may be used {told}"
            + (f"; of device memory {card:,} may be used" if card is not None else "")
            + _hint()
        )
    return chosen


def _told(nbytes: int, nrows: int, nvals: int, host_nbytes: int | None) -> str:
    """What the placements need, those together that need as much."""
    buffers: dict[int, list[str]] = {}
    for each in RECORDS.values():
        if each.buffers:
            buffers.setdefault(needs(each, nbytes, nrows, nvals)[0], []).append(each.name)
    told = (
        f"({FITS}: {needs(RECORDS[FITS], nbytes, nrows, nvals)[0]:,}; zerocopy and others: {working_bytes(nrows):,}, "
    )
    told += "".join(f"{' and '.join(names)}: {needed:,}, " for needed, names in buffers.items())
    told += f"and {nbytes:,} of host memory"
    return told + (f"; {HOST}: {host_nbytes:,} of host memory)" if host_nbytes is not None else ")")


def _mapped(placement: str | None, nbytes: int, nrows: int, lies: str | None) -> str | None:
    """The placement "mapped" where a file is and shall stay so; None: any other."""
    if placement is not None and placement in FILES:
        if lies != placement:
            raise InvalidValue(
                "placement='mapped' is for .h5 files that sparsezc wrote, as they are; gb.io.convert makes one"
            )
        return placement
    if lies not in FILES or placement not in (None, "auto") or config.placement != "auto" or not on_device():
        return None
    fits = nbytes + working_bytes(nrows) <= available()
    return None if fits and nbytes <= _SOON_READ else lies


def on_device() -> bool:
    """Whether a matrix of which nothing is said goes to the GPU."""
    return config.engine == "gpu" or (config.engine == "auto" and cuda.reason() is None)


def engine_of(placement: str) -> str:
    """The engine that arrays in a placement are for; the CPU's reads what is mapped.

    Host memory is for the engine that the configuration names, unless that is the GPU's.
    """
    if placement in HOSTS or (placement in FILES and not on_device()):
        return "cpu" if config.engine in ("auto", "gpu") else config.engine
    return "gpu"


def check_name(placement: str | None) -> None:
    """Refuse a name that no placement has, before anything is asked of the machine."""
    if placement not in (None, "auto", *RECORDS):
        raise InvalidValue(f"placement={placement!r} is not a placement; choose one of {', '.join(('auto', *RECORDS))}")


def _choose(placement: str | None, nbytes: int, nrows: int) -> str:
    """What the caller or the configuration says, "auto" by what fits the card."""
    if placement in HOSTS or (placement is None and config.engine not in ("auto", "gpu")):
        return HOST
    missing = cuda.reason()
    if missing is not None:
        if placement in (None, "auto") and config.engine == "auto":
            return HOST
        asked = f"placement {placement!r}" if placement not in (None, "auto") else f"gb.config.engine={config.engine!r}"
        raise DeviceUnavailable(f"{asked} needs a GPU, and there is {missing}")
    if placement is None:
        placement = config.placement
    if placement == "auto":
        return FITS if nbytes + working_bytes(nrows) <= available() else BEYOND
    return placement
