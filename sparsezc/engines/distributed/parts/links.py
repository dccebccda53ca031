"""The shares of a graph in host memory that cards read in the same time, where some read more slowly than others.

Cards of a machine have a link each, but some may share a bridge, or reach host memory over another socket's: alone all
read alike, together some do not. So all ranks read at one time, for as long, and count what they have read.
"""

from __future__ import annotations

import platform
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sparsezc.device import cuda
from sparsezc.memory import zerocopy
from sparsezc.memory.placement import RECORDS

if TYPE_CHECKING:
    from sparsezc.engines.distributed.transports.protocol import Transport

__all__ = ["Links", "differ"]

_MANY = 1 << 28  # entries: with fewer, a measurement and other bounds gain less than they cost
_SECONDS = 0.1  # of reading
_SAMPLE = 1 << 27  # bytes: more than a card's cache holds
_LIMIT = 1.10  # as for moving rows (model/rebalance.py): below it a measurement is no better than equal parts

Shares = NDArray[np.float64]


class Links:
    """The links of all ranks' cards to host memory; they are measured when a large matrix is cut for the first time."""

    def __init__(self, transport: Transport, *, on_device: bool) -> None:
        self._transport, self._on_device = transport, on_device
        self._found: list[Shares | None] = []

    def shares(self, placement: str | None, nvals: int) -> Shares | None:
        """Return each rank's share of a matrix of so many entries, by its card's link; None: equal. A collective."""
        if not self._on_device or self._transport.size == 1 or nvals < _MANY:
            return None
        over_links = placement in RECORDS and RECORDS[placement].in_place
        told = self._transport.objects((over_links, platform.node(), cuda.current().id))
        if len(set(told)) < len(told) or not all(each[0] for each in told):  # ranks share cards, or placements differ
            return None
        if not self._found:
            self._found.append(differ(_rates(self._transport)))
        return self._found[0]


def _rates(transport: Transport) -> NDArray[np.float64]:
    """Return the bytes a second that each rank's card reads while all do. A collective."""
    gpu = cuda.current()
    buffer = zerocopy.allocate(_SAMPLE, np.dtype(np.uint8), "zerocopy")
    read = zerocopy.reading(gpu, buffer.held)
    read(1)  # warms up
    transport.numbers(0)
    count, began = 0, perf_counter()
    while perf_counter() - began < _SECONDS:
        read(1)
        count += 1
    rate = count * _SAMPLE / (perf_counter() - began)
    return transport.numbers(round(rate))[:, 0].astype(np.float64)


def differ(rates: NDArray[np.float64]) -> Shares | None:
    """Return each rate's share of all; None if equal parts would end nearly as soon.

    >>> differ(np.array([51.0, 51.0, 33.0, 33.0])).round(2).tolist()
    [0.3, 0.3, 0.2, 0.2]
    >>> differ(np.array([51.0, 49.0])) is None
    True
    """
    return None if rates.mean() < _LIMIT * rates.min() else rates / rates.sum()
