"""The labels that most of a vertex's neighbours have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def winning(voter: NDArray[Any], count: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the start of each voter's labels, and which labels have most of its votes; each voter has a label."""
    start = np.flatnonzero(np.r_[True, voter[1:] != voter[:-1]])
    most = np.repeat(np.maximum.reduceat(count, start), np.diff(np.r_[start, voter.size]))
    return start, count == most
