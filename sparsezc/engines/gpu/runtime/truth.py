"""The truth of arrays on the device: one of their Booleans holds, or all do.

CuPy compiles its own ``any``, ``all`` and ``count_nonzero`` when they are first called on a machine, for three seconds
each; its ``max`` and ``min`` of numbers are compiled already.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def holds_any(flags: Any) -> bool:
    """Return whether one of some Booleans, in an array of their own, is true; waits for the device."""
    return flags.size > 0 and int(flags.view(np.uint8).max()) != 0


def holds_all(flags: Any) -> bool:
    """Return whether all of some Booleans, in an array of their own, are true; waits for the device."""
    return flags.size == 0 or int(flags.view(np.uint8).min()) != 0
