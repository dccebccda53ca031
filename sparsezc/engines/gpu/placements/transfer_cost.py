"""Choose the cheapest transfer of non-resident entries: in place, bulk copy or host gather.

``hybrid`` asks this for each large product. Kernels read rows *in place*, in whole sectors of 32 bytes. Ranges are
*copied* whole, with all of the matrix's entries. Or the host's threads *gather* rows line by line, while earlier ones
are copied. Each cost is bytes over the rate of this machine, measured once a process; ``sparsezc doctor`` prints the
same rates. Copies need pinned pages, and buffers in device memory.
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
_SECTOR, _LINE = 32, 128  # bytes: the least that kernels, and host threads, read of a row
_MATTERS = 1 << 28  # bytes of a matrix's arrays: for smaller ones the choice makes no difference
_SAMPLE = 1 << 26  # bytes that a measurement moves
_MUCH = 1 / 16  # share of all entries: a product that reads less ends before rows are picked and buffers are filled
_WORTH = 1.04  # another way must beat reading in place by this factor, as measured rates vary by about 4%
_TURN = 25e-6  # seconds for each buffer beside its bytes: a copy and a launch that wait for each other


class Rates(NamedTuple):
    """Bytes a second from pinned pages: read in place in order and by scattered lines, copied, gathered."""

    streamed: float
    scattered: float
    copied: float
    gathered: float


def cheapest(rows: Rows, entries: Entries, wanted: Wanted, expected: float, kept: float) -> str:
    """Return the cheapest way for a product that reads about `expected` entries, a share `kept` of them resident."""
    if expected < _MUCH * rows.nvals or wanted.most < rows.nvals or not may(rows, entries):
        return IN_PLACE
    space = double_buffer.bytes_for_entries(rows)
    if space < double_buffer.least(rows, entries.nbytes) or (rates := measured(entries, space)) is None:
        return IN_PLACE
    share = min(1.0, expected / rows.nvals)  # the estimate may exceed the number of entries
    seconds = _seconds(rates, rows, entries, share, kept, wanted.words is None, space)
    best = min(seconds, key=seconds.__getitem__)
    return best if _WORTH * seconds[best] < seconds[IN_PLACE] else IN_PLACE


def counted(rows: Rows, entries: Entries, wanted: Wanted) -> Wanted:
    """Return the same rows with counted entries, if there is a choice of transfer. Waits for the device."""
    if wanted.words is None or wanted.entries is not None or not may(rows, entries):
        return wanted
    _, first, all_of_them = presence_words.count_wanted(rows.indptr, rows.nrows, wanted.words, wanted.flip)
    return wanted._replace(entries=float(first if wanted.most < rows.nvals else all_of_them))


def buffers(rows: Rows, entries: Entries, space: int) -> int:
    """Return the bytes of device memory to leave free for copies, should these ever be the cheapest."""
    least, left = double_buffer.least(rows, entries.nbytes), 1 - space / (rows.nvals * entries.nbytes)
    if left <= 0 or not may(rows, entries) or space < max(8 * least, 2 * _SAMPLE):
        return 0
    if (rates := measured(entries, space)) is None:
        return 0
    # A copy moves everything, the other ways only the non-resident entries.
    fastest = max(left * rates.copied, rates.gathered)
    return (
        min(max(2 * double_buffer.MOST, least), space // 8)
        if fastest > _WORTH * min(rates.streamed, rates.scattered)
        else 0
    )


def may(rows: Rows, entries: Entries) -> bool:
    """Return whether there is a choice: the arrays can be copied at the link's rate and are large enough.

    A mapped array counts as a file, even where kernels read a pinned copy of it.
    """
    pinned = all(buffer.pages == "pinned" for buffer in entries.buffers) and rows.indices.placement not in FILES
    return pinned and rows.nvals * entries.nbytes >= _MATTERS


def _seconds(
    rates: Rates, rows: Rows, entries: Entries, share: float, kept: float, everything: bool, space: int
) -> dict[str, float]:
    """Return the seconds that each way takes for a share of the entries, with so many bytes for buffers."""
    total = rows.nvals * entries.nbytes
    sectors, lines = (
        sum(_touched(share, rows, buffer.dtype.itemsize, grain) * buffer.dtype.itemsize for buffer in entries.buffers)
        for grain in (_SECTOR, _LINE)
    )
    rest = (1 - kept) * rows.nvals
    copying, copying_few = (
        1 / rates.copied + _TURN / min(space // n, double_buffer.MOST) for n in (2, 4)
    )  # as gather_rows.py plans them
    return {
        IN_PLACE: (1 - kept) * total / rates.streamed if everything else rest * sectors / rates.scattered,
        COPIED: total * copying,  # including the resident entries
        GATHERED: max(rest * lines / rates.gathered, share * rest * entries.nbytes * copying_few),
    }


def _touched(share: float, rows: Rows, size: int, grain: int) -> float:
    """Return the share of an array's grains that contain a wanted row, for rows of equal length and equal chance."""
    mean = rows.nvals / rows.nrows * size
    return float(1 - (1 - share) ** ((mean + grain - size) / mean))


_measured: WeakKeyDictionary[Device, Rates] = WeakKeyDictionary()


def measured(entries: Entries, space: int) -> Rates | None:
    """Return this machine's rates, measured on the first large array; None where device memory is short."""
    gpu = cuda.current()
    if gpu not in _measured:
        if space < 2 * _SAMPLE:
            return None
        buffer = max(entries.buffers, key=lambda buffer: buffer.nbytes)  # the one with enough bytes
        sample = Pages(buffer.read(0, _SAMPLE // buffer.dtype.itemsize).view("uint8"), buffer.pointer, buffer.pages)
        in_place, copied = zerocopy.rate(gpu, sample, repeats=3), zerocopy.copied(gpu, sample, repeats=3)
        try:
            gathered = host_gather.rate(sample.array)
        except OutOfMemory:  # the system refuses to pin the memory that gathering needs
            gathered = 1.0
        _measured[gpu] = Rates(*in_place, copied, gathered)
    return _measured[gpu]
