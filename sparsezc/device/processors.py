"""The number of processors of this process."""

from __future__ import annotations

import os

__all__ = ["processors"]


def processors(at_most: int = 2**16) -> int:
    """Return the number of processors that this process may use, or `at_most` if they are more: a pool's threads.

    >>> processors(1)
    1
    """
    # a batch system or `taskset` may leave a process fewer processors than the machine has
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(at_most, usable)
