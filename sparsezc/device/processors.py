"""The number of processors of this process."""

from __future__ import annotations

import os

__all__ = ["processors", "usable"]


def processors(at_most: int = 2**16) -> int:
    """Return the number of processors that this process may use, or `at_most` if they are more: a pool's threads.

    >>> processors(1)
    1
    """
    return min(at_most, len(usable()))


def usable() -> tuple[int, ...]:
    """Return the processors that this process may use: a batch system or `taskset` may leave it few of the machine's.

    >>> len(usable()) == processors()
    True
    """
    return tuple(sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))
