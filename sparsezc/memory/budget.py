"""The budgets of device and host memory, and the resolution of ``placement="auto"``.

All figures are bytes. The device's budget is ``gb.config.budget``: None (nine tenths of the free memory), a number of
bytes, a text such as ``"16GB"``, or a share of the device's memory such as ``0.5``. ``gb.config.host_budget`` is the
host memory that making one matrix may take: None (nine tenths of the available memory by
:mod:`~sparsezc.memory.machine`), or a budget in the other forms, which is not compared with the available memory, as a
virtual machine may grow beyond it.
"""

from __future__ import annotations

from typing import Protocol
from weakref import WeakSet

from sparsezc.config import config, parse_bytes
from sparsezc.device import cuda
from sparsezc.device.protocol import when_short
from sparsezc.exceptions import DeviceUnavailable, InvalidValue, OutOfMemory, meant
from sparsezc.memory import machine
from sparsezc.memory.placement import BEYOND, FILES, FITS, HOST, HOSTS, OPENED, RECORDS, Placement

_SHARE = 0.9
_SMALL = 1 << 24  # bytes: for smaller arrays the machine's memory is not checked
HEAD_BYTES = 32  # bytes of a row in the row-head cache by default
_HEADS_SHARE = 0.5  # largest share of the remaining memory for row heads, as segments and vectors need some too
MOST_HEADS = 32  # most ids of a row in the row-head cache: each lane of the warp that builds a row has one
_SOON_READ = 1 << 28  # bytes of a file that are read so quickly that they are copied to device memory
LONG = 2048  # entries: longer rows are cut into chunks, which several warps share
_SHORT, _FEW = 512, 1 << 25  # LONG in a matrix of fewer than 2^25 entries, where 32 rows of 2,048 are many warps' share
#: Bytes of a vertex: six vectors of 8-byte values, as PageRank has (searches have fewer), and 8 bytes for presence
#: words and for the counts that placements keep of rows.
_VECTOR_BYTES = 56
LOOP_BYTES = 64  # most bytes of a row in the arrays of an algorithm's compiled loop


def parse(budget: float | str | None, free: int, total: int) -> int:
    """Return the bytes of a budget in any form that :mod:`sparsezc.config` allows.

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
    """A cache in device memory: its bytes count towards the budget, and it is dropped when memory runs short.

    A dropped cache takes no bytes and can be built again. The memory of a cache that processes share is freed once all
    of them take part.
    """

    @property
    def nbytes(self) -> int: ...

    def drop(self) -> None: ...


def register_cache(cache: Cache) -> None:
    """Count a cache towards the budget for as long as the object exists."""
    _caches.add(cache)


def _held() -> int:
    return sum(cache.nbytes for cache in list(_caches))


def reclaim() -> bool:
    """Drop all caches; return whether that freed any bytes."""
    before = _held()
    for cache in list(_caches):
        if cache.nbytes:
            cache.drop()
    return _held() < before


when_short(reclaim)


def available() -> int:
    """Return the bytes of device memory that may still be used: the budget less caches, at most the free memory."""
    free, total = cuda.current().memory()
    if config.budget is None:
        return parse(None, free, total)
    return max(0, min(free, parse(config.budget, free, total) - _held()))


def exceeded() -> bool:
    """Return whether caches take more than the budget, as it was lowered after they were built."""
    return config.budget is not None and _held() > parse(config.budget, *cuda.current().memory())


def make_available(nbytes: int) -> int:
    """Return the bytes of device memory that may be used; drop all caches first if these are fewer than `nbytes`."""
    free = available()
    return available() if nbytes > free and reclaim() else free


def fitting(placement: str, nbytes: int) -> str:
    """Return the placement for a result of `nbytes` bytes: `placement`, or one in host memory if it does not fit."""
    return BEYOND if RECORDS[placement].resident and nbytes > available() else placement


def setting_bytes(part: float | str) -> int:
    """Return the bytes of device memory of a setting such as `head_budget`."""
    free, total = cuda.current().memory()
    return parse(part, free, total)


def host_available() -> int | None:
    """Return the bytes of host memory that one matrix may take; None if the machine does not report its memory."""
    budget, total = config.host_budget, machine.total()
    if budget is None or (isinstance(budget, float) and total is None):
        free = machine.available()
        return None if free is None else parse(None, free, 0)
    return parse(budget, 0, total or 0)


def workspace() -> int | None:
    """Return the bytes for work on the device or the host: the smaller number of those that may be used."""
    space = host_available()
    if cuda.reason() is not None:
        return space
    return available() if space is None else min(space, available())


def require_host(nbytes: int, what: str) -> None:
    """Raise OutOfMemory if host memory is too small for `nbytes`, before any of it is touched.

    Raises
    ------
    OutOfMemory
        The message has the bytes needed and the bytes that may be used.
    """
    if not has_host(nbytes):
        raise OutOfMemory(f"{what} needs {nbytes:,} bytes of host memory and {host_available():,} may be used{_hint()}")


def has_host(nbytes: int) -> bool:
    """Return whether host memory suffices for `nbytes`, or its size is unknown."""
    if nbytes < _SMALL and config.host_budget is None:
        return True
    space = host_available()
    return space is None or nbytes <= space


def _hint() -> str:
    if config.host_budget is not None:
        return "; the limit is gb.config.host_budget (--host-budget)"
    return "; the limit is nine tenths of what is available, and gb.config.host_budget (--host-budget) sets another"


def working_bytes(nrows: int) -> int:
    """Return the bytes of device memory for an algorithm's vectors and the matrix's offsets."""
    return (_VECTOR_BYTES + 8) * nrows


def head_bytes(nrows: int) -> int:
    """Return the bytes of a row-head cache if ``gb.config.head_budget`` is not set.

    >>> head_bytes(1000)
    32768
    """
    return -(-nrows // 32) * 32 * HEAD_BYTES


def heads_space(asked: int, space: int) -> int:
    """Return the bytes that a row-head cache may take: `asked`, at most its share of the memory left, `space`."""
    return min(asked, int(_HEADS_SHARE * space))


def chunk_length(nvals: int) -> int:
    """Return the most entries of a row chunk, and of an uncut row, in a matrix of `nvals` entries.

    >>> chunk_length(10**6), chunk_length(10**9)
    (512, 2048)
    """
    return LONG if nvals >= _FEW else min(LONG, _SHORT)


def needs(
    placement: Placement, nbytes: int, nrows: int, nvals: int, host_nbytes: int | None = None, cards: int | None = None
) -> tuple[int, int]:
    """Return the bytes of device memory and of host memory that a matrix and an algorithm's vectors take.

    Parameters
    ----------
    nbytes, host_nbytes : int
        The bytes of ids and values for kernels, and in the CPU engine's placement, whose ids are wider.
    cards : int, optional
        The number of cards, by default the machine's.
    """
    if not placement.kernels:
        return 0, host_nbytes or 0
    buffers = placement.buffers(nbytes // nvals, chunk_length(nvals)) if placement.buffers and nvals else 0
    if cards is None:
        cards = len(cuda.current().cards()) if placement.spread and cuda.reason() is None else 1
    parts = cards if placement.spread else 1
    card = working_bytes(nrows) + buffers + (-(-nbytes // parts) if placement.resident else 0)
    return card, 0 if placement.resident or placement.file else nbytes


def automatic(nbytes: int, nrows: int, space: int, current: str | None = None) -> str:
    """Return the placement that "auto" means on a GPU of which `space` bytes may be used.

    Parameters
    ----------
    nbytes : int
        The bytes of ids and values.
    current : str, optional
        "mapped" for a `.h5` file, which stays mapped unless it fits in device memory and is read quickly.

    Examples
    --------
    >>> automatic(10**9, 10**6, 2 * 10**9), automatic(10**9, 10**6, 10**9), automatic(10**9, 10**6, 2 * 10**9, "mapped")
    ('device', 'hybrid', 'mapped')
    """
    fits = nbytes + working_bytes(nrows) <= space
    if current is not None and current in FILES and not (fits and nbytes <= _SOON_READ):
        return current
    return FITS if fits else BEYOND


def resolve(
    placement: str | None, nbytes: int, nrows: int, nvals: int = 0, *, host_nbytes: int | None = None,
    current: str | None = None,
) -> str:  # fmt: skip
    """Return the placement for a matrix of `nbytes` bytes of ids and values.

    "auto" is "device", "hybrid" if device memory is too small, or "mapped".

    Parameters
    ----------
    nvals : int
        The number of entries; with 0, no placement needs buffers.
    host_nbytes : int, optional
        The bytes in placement ``"host"``, whose ids are wider; if omitted, that placement is not checked.
    current : str, optional
        The matrix's present placement, which needs no further memory. "auto" keeps a mapped matrix mapped if device
        memory is too small for it, or if reading it would take long.

    Raises
    ------
    InvalidValue
        The placement is "mapped" and the matrix is not, or its name is unknown.
    OutOfMemory
        The matrix does not fit; the message has the bytes that each placement needs and those that may be used.
    DeviceUnavailable
        A GPU was requested and there is none.
    """
    check_name(placement)
    chosen = _mapped(placement, nbytes, nrows, current, host_nbytes) or _choose(placement, nbytes, nrows)
    if chosen == current and current not in FILES:
        return chosen
    needed, needed_host = needs(RECORDS[chosen], nbytes, nrows, nvals, host_nbytes)
    card = None if engine_of(chosen) != "gpu" else make_available(needed)
    fits = card is None or needed <= card
    if fits and needed_host < _SMALL and config.host_budget is None:  # the machine's memory need not be read
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
    """Return the bytes that each placement needs as text; placements of equal need are named together."""
    buffers: dict[int, list[str]] = {}
    for each in RECORDS.values():
        if each.buffers:
            buffers.setdefault(needs(each, nbytes, nrows, nvals)[0], []).append(each.name)
    in_place = next(each.name for each in RECORDS.values() if each.in_place and not each.file)
    near = needs(RECORDS[FITS], nbytes, nrows, nvals)[0]
    told = f"({FITS}: {near:,}; {in_place} and others: {working_bytes(nrows):,}, "
    told += "".join(f"{' and '.join(names)}: {needed:,}, " for needed, names in buffers.items())
    told += f"and {nbytes:,} of host memory"
    return told + (f"; {HOST}: {host_nbytes:,} of host memory)" if host_nbytes is not None else ")")


def _mapped(placement: str | None, nbytes: int, nrows: int, current: str | None, host_nbytes: int | None) -> str | None:
    """Return "mapped" if the matrix of a mapped file must stay mapped; None if the placement is another."""
    if placement is not None and placement in FILES:
        if current != placement:
            raise InvalidValue(
                "placement='mapped' is for .h5 files that sparsezc wrote, read unchanged; gb.io.convert makes one"
            )
        return placement
    if current not in FILES or placement not in (None, "auto") or config.placement != "auto":
        return None
    if not on_device():
        return None if engine_of(current) != "cpu" or has_host(host_nbytes or 0) else current
    chosen = automatic(nbytes, nrows, available(), current)
    return chosen if chosen == current else None


def on_device() -> bool:
    """Return whether matrices are put on the GPU by default."""
    return config.engine == "gpu" or (config.engine == "auto" and cuda.reason() is None)


def placement_beside(placement: str) -> str:
    """Return the placement of new arrays of a matrix: its own or, if its arrays belong to a file, one in memory."""
    if placement not in FILES:
        return placement
    return OPENED if on_device() else HOST


def engine_of(placement: str) -> str:
    """Return the engine for arrays in a placement; unless the GPU is in use, the CPU engine reads mapped files.

    Arrays in placement "host" are for the configured engine or, if that is the GPU's, for the CPU engine.
    """
    if placement in HOSTS or (placement in FILES and not on_device()):
        return "cpu" if config.engine in ("auto", "gpu") else config.engine
    return "gpu"


def check_name(placement: str | None) -> None:
    """Raise InvalidValue if `placement` is neither None, "auto" nor the name of a placement."""
    if placement not in (None, "auto", *RECORDS):
        known = ("auto", *RECORDS)
        nearest = meant(str(placement), known)
        raise InvalidValue(f"placement={placement!r} is not a placement{nearest}; choose one of {', '.join(known)}")


def _choose(placement: str | None, nbytes: int, nrows: int) -> str:
    """Return the requested or the configured placement, with "auto" resolved by the free device memory."""
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
        return automatic(nbytes, nrows, available())
    return placement
