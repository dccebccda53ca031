"""Budgets of device memory and host memory, and the meaning of ``placement="auto"``.

All figures are bytes. The device's budget is ``gb.config.budget``: None (nine tenths of the free memory), a number of
bytes, a text such as ``"16GB"``, or a share of the device's memory such as ``0.5``. ``gb.config.host_budget`` is the
host memory that making one matrix may take: None (nine tenths of the figure of :mod:`~sparsezc.memory.machine`) or a
number of the same kinds, which is not checked against that figure, as a virtual machine may grow beyond it.
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
HEAD_BYTES = 32  # bytes a row, of the row-head cache
_HEADS_SHARE = 0.5  # of the memory that is left for row heads, as segments and vectors need some too
MOST_HEADS = 32  # ids a row in the row-head cache: one lane of the warp that builds a row holds one
_SOON_READ = 1 << 28  # bytes of a file that are read in little time: they are placed where they are used fastest
LONG = 2048  # entries: rows longer than this are cut into chunks that many warps share
_SHORT, _FEW = 512, 1 << 25  # the same in a matrix of so few entries that 32 such rows are many warps' share
#: Bytes a vertex: six vectors of 8-byte values, as PageRank holds (searches hold fewer), and 8 bytes for presence words
#: and for the counts that placements keep of rows.
_VECTOR_BYTES = 56
LOOP_BYTES = 64  # of a row, at most, in the own arrays of an algorithm's compiled loop


def parse(budget: float | str | None, free: int, total: int) -> int:
    """Return a budget, in any form that :mod:`sparsezc.config` allows, in bytes.

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
    """A cache in device memory: it counts towards the budget, and is dropped when the memory is needed.

    A dropped cache takes no bytes and can be filled again. One that processes share is freed once all take part.
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
    """Drop all caches; return whether that freed any bytes."""
    before = _held()
    for cache in list(_caches):
        if cache.nbytes:
            cache.drop()
    return _held() < before


when_short(reclaim)


def available() -> int:
    """Return the bytes of device memory that may still be used: the budget less caches, and at most the free memory."""
    free, total = cuda.current().memory()
    if config.budget is None:
        return parse(None, free, total)
    return max(0, min(free, parse(config.budget, free, total) - _held()))


def exceeded() -> bool:
    """Return whether caches take more than a budget that was lowered since."""
    return config.budget is not None and _held() > parse(config.budget, *cuda.current().memory())


def make_available(nbytes: int) -> int:
    """Return the bytes of device memory that may be used; caches are dropped if fewer than `nbytes` remain."""
    free = available()
    return available() if nbytes > free and reclaim() else free


def fitting(placement: str, nbytes: int) -> str:
    """Return the placement for a result of so many bytes: `placement`, or host memory if it does not fit."""
    return BEYOND if RECORDS[placement].resident and nbytes > available() else placement


def setting_bytes(part: float | str) -> int:
    """Return the bytes of device memory that a setting such as `head_budget` means."""
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
    """Return the bytes for work that may run on the device or the host: the lesser of the two memories' free bytes."""
    space = host_available()
    if cuda.reason() is not None:
        return space
    return available() if space is None else min(space, available())


def require_host(nbytes: int, what: str) -> None:
    """Raise OutOfMemory if host memory is short, before any of it is touched.

    Raises
    ------
    OutOfMemory
        The message has the bytes that are needed and those that may be used.
    """
    if not has_host(nbytes):
        raise OutOfMemory(f"{what} needs {nbytes:,} bytes of host memory and {host_available():,} may be used{_hint()}")


def has_host(nbytes: int) -> bool:
    """Return whether host memory suffices, as far as it is known."""
    if nbytes < _SMALL and config.host_budget is None:
        return True
    space = host_available()
    return space is None or nbytes <= space


def _hint() -> str:
    if config.host_budget is not None:
        return "; the limit is gb.config.host_budget (--host-budget)"
    return "; the limit is nine tenths of what is available, and gb.config.host_budget (--host-budget) sets another"


def working_bytes(nrows: int) -> int:
    """Return the device memory of an algorithm's vectors and the matrix's offsets, beside the edges."""
    return (_VECTOR_BYTES + 8) * nrows


def head_bytes(nrows: int) -> int:
    """Return the device memory of a row-head cache if the user sets no budget (``gb.config.head_budget``).

    >>> head_bytes(1000)
    32768
    """
    return -(-nrows // 32) * 32 * HEAD_BYTES


def heads_space(asked: int, space: int) -> int:
    """Return the bytes that a row-head cache may take: those of its own setting, or its share of the memory left."""
    return min(asked, int(_HEADS_SHARE * space))


def chunk_length(nvals: int) -> int:
    """Return the most entries of a row that is not cut into chunks, and of a chunk, in a matrix of so many entries.

    >>> chunk_length(10**6), chunk_length(10**9)
    (512, 2048)
    """
    return LONG if nvals >= _FEW else min(LONG, _SHORT)


def needs(
    placement: Placement, nbytes: int, nrows: int, nvals: int, host_nbytes: int | None = None, cards: int | None = None
) -> tuple[int, int]:
    """Return the device memory and the host memory that a matrix and an algorithm's vectors take, in bytes.

    Parameters
    ----------
    nbytes, host_nbytes : int
        The bytes of ids and values where kernels read them, and in the CPU engine's placement, whose ids are wider.
    cards : int, optional
        The cards of the machine; by default those that there are.
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
    """Return the placement that "auto" stands for on a GPU of which `space` bytes may be used.

    Parameters
    ----------
    nbytes : int
        Of ids and values.
    current : str, optional
        "mapped" for a `.h5` file, which stays mapped unless it fits and is read in little time.

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

    "auto" is "device", or "hybrid" where device memory is too small; or "mapped".

    Parameters
    ----------
    nvals : int
        The number of entries; without any, no placement needs buffers.
    host_nbytes : int, optional
        The bytes in placement ``"host"``, whose ids are wider; without it that placement is not measured.
    current : str, optional
        The placement where the matrix already is, which needs no further memory. "auto" keeps a mapped matrix mapped if
        device memory is too small for it, or if reading it would take long.

    Raises
    ------
    InvalidValue
        The placement is "mapped" and no file is, or its name is unknown.
    OutOfMemory
        The matrix does not fit: the message gives each placement's need and the memory there is.
    DeviceUnavailable
        The caller asked for a GPU and there is none.
    """
    check_name(placement)
    chosen = _mapped(placement, nbytes, nrows, current, host_nbytes) or _choose(placement, nbytes, nrows)
    if chosen == current and current not in FILES:
        return chosen
    needed, needed_host = needs(RECORDS[chosen], nbytes, nrows, nvals, host_nbytes)
    card = None if engine_of(chosen) != "gpu" else make_available(needed)
    fits = card is None or needed <= card
    if fits and needed_host < _SMALL and config.host_budget is None:  # no need to read the machine's memory
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
    """Return the needs of the placements as text; placements of equal need are named together."""
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
    """Return "mapped" if a mapped file is to stay so; None: any other placement."""
    if placement is not None and placement in FILES:
        if current != placement:
            raise InvalidValue(
                "placement='mapped' is for .h5 files that sparsezc wrote, as they are; gb.io.convert makes one"
            )
        return placement
    if current not in FILES or placement not in (None, "auto") or config.placement != "auto":
        return None
    if not on_device():
        return None if engine_of(current) != "cpu" or has_host(host_nbytes or 0) else current
    chosen = automatic(nbytes, nrows, available(), current)
    return chosen if chosen == current else None


def on_device() -> bool:
    """Return whether a matrix is put on the GPU by default."""
    return config.engine == "gpu" or (config.engine == "auto" and cuda.reason() is None)


def placement_beside(placement: str) -> str:
    """Return the placement of new arrays of a matrix: its own, or memory where its other arrays belong to a file."""
    if placement not in FILES:
        return placement
    return OPENED if on_device() else HOST


def engine_of(placement: str) -> str:
    """Return the engine for arrays in a placement; the CPU engine reads mapped files.

    Host memory belongs to the configured engine, unless that is the GPU's.
    """
    if placement in HOSTS or (placement in FILES and not on_device()):
        return "cpu" if config.engine in ("auto", "gpu") else config.engine
    return "gpu"


def check_name(placement: str | None) -> None:
    """Raise InvalidValue for an unknown name of a placement, before the machine's memory is read."""
    if placement not in (None, "auto", *RECORDS):
        known = ("auto", *RECORDS)
        nearest = meant(str(placement), known)
        raise InvalidValue(f"placement={placement!r} is not a placement{nearest}; choose one of {', '.join(known)}")


def _choose(placement: str | None, nbytes: int, nrows: int) -> str:
    """Return the caller's or the configured placement, with "auto" resolved by the bytes that fit the device."""
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
