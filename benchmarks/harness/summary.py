"""The minimum, median and maximum of measured numbers."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple


class Summary(NamedTuple):
    """The minimum, median and maximum of some numbers."""

    min: float
    median: float
    max: float


def summary(numbers: Sequence[float]) -> Summary:
    """Return the minimum, median and maximum of some numbers.

    >>> summary([3.0, 1.0, 2.0, 10.0])
    Summary(min=1.0, median=2.5, max=10.0)
    """
    return Summary(min(numbers), statistics.median(numbers), max(numbers))
