"""The choice of the cheapest transfer of non-resident entries: in place, bulk copy or host gather.

``hybrid`` makes it for each large product. Kernels read rows *in place*, in whole sectors of 32 bytes. Or ranges are
*copied* whole, together all of the matrix's entries. Or host threads *gather* rows, in lines of 128 bytes, while rows
gathered before are copied. A cost is bytes over this machine's rate, measured once a process; ``sparsezc doctor``
prints the same rates. Copies need pinned pages, and buffers in device memory.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

from sparsezc.device import cuda
from sparsezc.device.protocol import Device, Pages
from sparsezc.engines.gpu.placements import Entries, Wanted, double_buffer, host_gather
from sparsezc.engines.gpu.runtime import presence_words
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.exceptions import OutOfMemory
from sparsezc.memory import zerocopy
from sparsezc.memory.placement import FILES

IN_PLACE, COPIED, GATHERED = "in place", "copied", "gathered"
_SECTOR, _LINE = 32, 128  # bytes: the least that a kernel, and a host thread, reads of a row
_MATTERS = 1 << 28  # bytes of a matrix's arrays: with fewer the choice makes no difference
_SAMPLE = 1 << 26  # bytes that a measurement moves
_MUCH = 1 / 16  # share of all entries: to choose rows and fill buffers takes longer than to read less in place
_WORTH = 1.04  # least speedup over reading in place for another transfer, as measured rates vary by about 4%
_TURN = 25e-6  # seconds of a buffer turn beside its bytes: a copy and a launch wait for each other


class Rates(NamedTuple):
    """Bytes a second from pinned pages: read in place in ascending order, and by scattered lines; copied; gathered."""

    streamed: float
    scattered: float
    copied: float
    gathered: float


def cheapest(rows: Rows, entries: Entries, wanted: Wanted, expected: float, kept: float) -> str:
    """Return the cheapest transfer for a product of about `expected` reads, if a share `kept` of all is resident."""
    if expected < _MUCH * rows.nvals or wanted.most < rows.nvals or not may(rows, entries):
        return IN_PLACE
    space = double_buffer.bytes_for_entries(rows)
    if space < double_buffer.least(rows, entries.nbytes) or (rates := measured(entries, space)) is None:
        return IN_PLACE
    share = min(1.0, expected / rows.nvals)  # the estimate may exceed the matrix's entries
    seconds = _seconds(rates, rows, entries, share, kept, wanted.words is None, space)
    best = min(seconds, key=seconds.__getitem__)
    return best if _WORTH * seconds[best] < seconds[IN_PLACE] else IN_PLACE


def counted(rows: Rows, entries: Entries, wanted: Wanted) -> Wanted:
    """Return the wanted rows with their entries counted, if there is a choice of transfer. Waits for the device."""
    if wanted.words is None or wanted.entries is not None or not may(rows, entries):
        return wanted
    _, first, all_of_them = presence_words.count_wanted(rows.indptr, rows.nrows, wanted.words, wanted.flip)
    return wanted._replace(entries=float(first if wanted.most < rows.nvals else all_of_them))


def buffers(rows: Rows, entries: Entries, space: int) -> int:
    """Return the bytes of device memory to leave free for buffers, if copies or gathers may be the cheapest."""
    least, left = double_buffer.least(rows, entries.nbytes), 1 - space / (rows.nvals * entries.nbytes)
    if left <= 0 or not may(rows, entries) or space < max(8 * least, 2 * _SAMPLE):
        return 0
    if (rates := measured(entries, space)) is None:
        return 0
    # A copy moves all entries, the other transfers only those that are not resident.
    fastest = max(left * rates.copied, rates.gathered)
    return (
        min(max(2 * double_buffer.MOST, least), space // 8)
        if fastest > _WORTH * min(rates.streamed, rates.scattered)
        else 0
    )


def may(rows: Rows, entries: Entries) -> bool:
    """Return whether there is a choice of transfer: copies run at the link's rate, and the arrays are large enough.

    There is none for a mapped array, even if kernels read a pinned copy of it.
    """
    pinned = all(buffer.pages == "pinned" for buffer in entries.buffers) and rows.indices.placement not in FILES
    return pinned and rows.nvals * entries.nbytes >= _MATTERS


def _seconds(
    rates: Rates, rows: Rows, entries: Entries, share: float, kept: float, everything: bool, space: int
) -> dict[str, float]:
    """Return the seconds of each transfer for a share of all entries; `space`: the bytes for buffers."""
    total = rows.nvals * entries.nbytes
    sectors, lines = (
        sum(_touched(share, rows, buffer.dtype.itemsize, grain) * buffer.dtype.itemsize for buffer in entries.buffers)
        for grain in (_SECTOR, _LINE)
    )
    rest = (1 - kept) * rows.nvals
    copying, copying_few = (
        1 / rates.copied + _TURN / min(space // n, double_buffer.MOST) for n in (2, 4)
    )  # a buffer takes half of `space` or, as in gather_rows.py, a quarter
    return {
        IN_PLACE: (1 - kept) * total / rates.streamed if everything else rest * sectors / rates.scattered,
        COPIED: total * copying,  # including the resident entries, which are copied again
        GATHERED: max(rest * lines / rates.gathered, share * rest * entries.nbytes * copying_few),
    }


def _touched(share: float, rows: Rows, size: int, grain: int) -> float:
    """Return the share of an array's grains with wanted entries, for rows of equal length and equal probability."""
    mean = rows.nvals / rows.nrows * size
    return float(1 - (1 - share) ** ((mean + grain - size) / mean))


_measured: WeakKeyDictionary[Device, Rates] = WeakKeyDictionary()


def measured(entries: Entries, space: int) -> Rates | None:
    """Return this machine's rates, measured at first use on a large array; None if device memory is short."""
    gpu = cuda.current()
    if gpu not in _measured:
        if space < 2 * _SAMPLE:
            return None
        buffer = max(entries.buffers, key=lambda buffer: buffer.nbytes)  # the larger one has enough bytes for a sample
        sample = Pages(buffer.read(0, _SAMPLE // buffer.dtype.itemsize).view("uint8"), buffer.pointer, buffer.pages)
        in_place, copied = zerocopy.rate(gpu, sample, repeats=3), zerocopy.copied(gpu, sample, repeats=3)
        try:
            gathered = host_gather.rate(sample.array)
        except OutOfMemory:  # memory cannot be pinned for gathering
            gathered = 1.0
        _measured[gpu] = Rates(*in_place, copied, gathered)
    return _measured[gpu]
