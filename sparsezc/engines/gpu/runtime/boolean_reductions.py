"""Reductions of Boolean arrays on the device: any and all.

CuPy compiles its own ``any``, ``all`` and ``count_nonzero`` when they are first called on a machine, which takes three
seconds each. These functions call its ``max`` and ``min`` of numbers instead, which are compiled already.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def any_true(flags: Any) -> bool:
    """Return whether any value of a contiguous Boolean array is true; waits for the device."""
    return flags.size > 0 and int(flags.view(np.uint8).max()) != 0


def all_true(flags: Any) -> bool:
    """Return whether all values of a contiguous Boolean array are true; waits for the device."""
    return flags.size == 0 or int(flags.view(np.uint8).min()) != 0
