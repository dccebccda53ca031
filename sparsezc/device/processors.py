"""The processors that this process may use."""

from __future__ import annotations

import os

__all__ = ["processors", "usable"]


def processors(at_most: int = 2**16) -> int:
    """Return the number of processors that this process may use, at most `at_most`: the size of a thread pool.

    >>> processors(1)
    1
    """
    return min(at_most, len(usable()))


def usable() -> tuple[int, ...]:
    """Return the processors that this process may use: a batch system or `taskset` may allow only some.

    >>> len(usable()) == processors()
    True
    """
    return tuple(sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))
