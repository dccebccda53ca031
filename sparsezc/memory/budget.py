"""How much of the card may be used, and what ``placement="auto"`` means.

Everything is bytes. The budget is ``gb.config.budget``: None (nine tenths of what is free), a number of bytes, a text
such as ``"16GB"``, or a share of the card such as ``0.5``.
"""

from __future__ import annotations

from sparsezc import device
from sparsezc.config import config, parse_bytes
from sparsezc.errors import DeviceUnavailable, OutOfMemory

_SHARE = 0.9
_VECTOR_BYTES = 48  # a vertex: six vectors of 8-byte values, about what PageRank and delta-stepping hold


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


def available() -> int:
    """Bytes of device memory that may still be used: the budget, and never more than what is free."""
    free, total = device.current().memory()
    return min(free, parse(config.budget, free, total))


def working_bytes(nrows: int) -> int:
    """Device memory that an algorithm's vectors and the matrix's offsets take beside the edges."""
    return (_VECTOR_BYTES + 8) * nrows


def resolve(placement: str | None, nbytes: int, nrows: int) -> str:
    """The placement for a matrix of `nbytes` bytes of ids and values: "host", "device" or "zerocopy".

    Raises
    ------
    OutOfMemory
        Where ``"device"`` was asked for and does not fit: the message says what each placement needs and what there is.
    DeviceUnavailable
        Where a GPU was asked for and there is none.
    """
    if placement == "host" or (placement is None and config.engine == "cpu"):
        return "host"
    missing = device.reason()
    if missing is not None:
        if placement in (None, "auto") and config.engine == "auto":
            return "host"
        raise DeviceUnavailable(missing)
    if placement is None:
        placement = config.placement
    room, vectors = available(), working_bytes(nrows)
    if placement == "auto":
        placement = "device" if nbytes + vectors <= room else "zerocopy"
    needed = vectors + (nbytes if placement == "device" else 0)
    if needed > room:
        raise OutOfMemory(
            f"placement {placement!r} needs {needed:,} bytes of device memory and {room:,} may be used "
            f"(device: {nbytes + vectors:,}; zerocopy: {vectors:,}, and {nbytes:,} of host memory)"
        )
    return placement
