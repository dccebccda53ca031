"""In which way what is not on the card comes there in the least time: ``hybrid`` asks this for each large product.

There are three. Kernels read rows *in place*, whole sectors of 32 bytes. Ranges are *copied* as they lie, all that the
matrix has. Or rows are *gathered* line by line by the host's threads, and copied meanwhile. Each takes its bytes at
the rate that this machine has, measured once in a process; ``sparsezc doctor`` measures the same ones. Copies ask for
pinned pages, and for buffers on the card.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

from sparsezc.device import cuda
from sparsezc.device.protocol import Device, Pages
from sparsezc.engines.gpu.placements import Entries, Wanted, double_buffer, host_gather
from sparsezc.engines.gpu.runtime import presence_words
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.errors import OutOfMemory
from sparsezc.memory import zerocopy
from sparsezc.memory.placement import FILES

IN_PLACE, COPIED, GATHERED = "in place", "copied", "gathered"
_SECTOR, _LINE = 32, 128  # bytes: what kernels read at least of a row, and what a host's thread does
_MATTERS = 1 << 28  # bytes of a matrix's arrays: smaller ones are read in no time
_SAMPLE = 1 << 26  # bytes that a measurement moves
_MUCH = 1 / 16  # of all entries: a product that reads less is over before rows are picked and buffers are filled
_WORTH = 1.04  # another way must be so much better: measured rates say no more than that
_TURN = 25e-6  # seconds that a buffer takes beside its bytes: a copy and a launch that wait for each other


class Rates(NamedTuple):
    """Bytes a second from pinned pages: read in place in their order and by lines here and there, copied, gathered."""

    streamed: float
    scattered: float
    copied: float
    gathered: float


def cheapest(rows: Rows, entries: Entries, wanted: Wanted, expected: float, kept: float) -> str:
    """The way for a product that reads about `expected` entries, a share `kept` of them on the card."""
    if expected < _MUCH * rows.nvals or wanted.most < rows.nvals or not may(rows, entries):
        return IN_PLACE
    room = double_buffer.bytes_for_entries(rows)
    if room < double_buffer.least(rows, entries.nbytes) or (rates := measured(entries, room)) is None:
        return IN_PLACE
    share = min(1.0, expected / rows.nvals)  # an estimate may be of more than there are
    seconds = _seconds(rates, rows, entries, share, kept, wanted.words is None, room)
    best = min(seconds, key=seconds.__getitem__)
    return best if _WORTH * seconds[best] < seconds[IN_PLACE] else IN_PLACE


def counted(rows: Rows, entries: Entries, wanted: Wanted) -> Wanted:
    """The same with the entries counted, where they are not yet and there is a choice. Waits for the device."""
    if wanted.words is None or wanted.entries is not None or not may(rows, entries):
        return wanted
    _, first, all_of_them = presence_words.count_wanted(rows.indptr, rows.nrows, wanted.words, wanted.flip)
    return wanted._replace(entries=float(first if wanted.most < rows.nvals else all_of_them))


def buffers(rows: Rows, entries: Entries, room: int) -> int:
    """Bytes of the card that are left free for copies, should these ever be the cheapest."""
    least, left = double_buffer.least(rows, entries.nbytes), 1 - room / (rows.nvals * entries.nbytes)
    if left <= 0 or not may(rows, entries) or room < max(8 * least, 2 * _SAMPLE):
        return 0
    if (rates := measured(entries, room)) is None:
        return 0
    fastest = max(left * rates.copied, rates.gathered)  # copied is all, read in place or gathered what is left
    return min(2 * double_buffer.MOST, room // 8) if fastest > _WORTH * min(rates.streamed, rates.scattered) else 0


def may(rows: Rows, entries: Entries) -> bool:
    """Whether there is a choice: its arrays can be copied at the link's rate, and are large enough. What is mapped is a
    file for the host, even where kernels read a pinned copy of it.
    """
    pinned = all(buffer.pages == "pinned" for buffer in entries.buffers) and rows.indices.placement not in FILES
    return pinned and rows.nvals * entries.nbytes >= _MATTERS


def _seconds(
    rates: Rates, rows: Rows, entries: Entries, share: float, kept: float, everything: bool, room: int
) -> dict[str, float]:
    """What each way takes for a share of the entries, with so many bytes for buffers."""
    total = rows.nvals * entries.nbytes
    sectors, lines = (
        sum(_touched(share, rows, buffer.dtype.itemsize, grain) * buffer.dtype.itemsize for buffer in entries.buffers)
        for grain in (_SECTOR, _LINE)
    )
    rest = (1 - kept) * rows.nvals
    copying, copying_few = (
        1 / rates.copied + _TURN / min(room // n, double_buffer.MOST) for n in (2, 4)
    )  # gather_rows.py plans
    return {
        IN_PLACE: (1 - kept) * total / rates.streamed if everything else rest * sectors / rates.scattered,
        COPIED: total * copying,  # with what is on the card already
        GATHERED: max(rest * lines / rates.gathered, share * rest * entries.nbytes * copying_few),
    }


def _touched(share: float, rows: Rows, size: int, grain: int) -> float:
    """The share of an array's grains in which a row lies that is wanted, if each is as long and as likely wanted."""
    mean = rows.nvals / rows.nrows * size
    return float(1 - (1 - share) ** ((mean + grain - size) / mean))


_measured: WeakKeyDictionary[Device, Rates] = WeakKeyDictionary()


def measured(entries: Entries, room: int) -> Rates | None:
    """This machine's rates, taken from the beginning of the first large array; None: the card has no room to do so."""
    gpu = cuda.current()
    if gpu not in _measured:
        if room < 2 * _SAMPLE:
            return None
        buffer = max(entries.buffers, key=lambda buffer: buffer.nbytes)  # which has as many bytes
        sample = Pages(buffer.read(0, _SAMPLE // buffer.dtype.itemsize).view("uint8"), buffer.pointer, buffer.pages)
        in_place, copied = zerocopy.rate(gpu, sample, repeats=3), zerocopy.copied(gpu, sample, repeats=3)
        try:
            gathered = host_gather.rate(sample.array)
        except OutOfMemory:  # the system lets nothing more be pinned, which gathering needs
            gathered = 1.0
        _measured[gpu] = Rates(*in_place, copied, gathered)
    return _measured[gpu]
