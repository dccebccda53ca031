"""Values for comparisons of operators: the extremes of each type and random ones between."""

from __future__ import annotations

import numpy as np

from sparsezc.semirings.types import datatypes
from sparsezc.semirings.types.datatypes import DataType


def edges(dtype: DataType) -> np.ndarray:
    """Return the values of a type at which operators have been wrong before."""
    if dtype.is_bool:
        return np.array([False, True])
    if dtype.is_float:
        info = np.finfo(dtype.np_type)
        numbers = [0.0, 0.25, 0.5, 1, 1.5, 2, 2.5, 3, 7, 10, 127.5, 1e5, 2.0**31, 2.0**63, info.max, info.tiny, np.inf]
        numbers = numbers + [-v for v in numbers] + [np.nan]
        return np.array(numbers, dtype.np_type)
    low, high = int(datatypes.lowest(dtype)), int(datatypes.highest(dtype))
    small = {-9, -8, -7, -3, -2, -1, 0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 31, 32, 63, 64}
    numbers = small | {low, low + 1, high // 2, high - 1, high}
    return np.array(sorted(n for n in numbers if low <= n <= high), dtype.np_type)


def values(dtype: DataType, seed: int = 0, count: int = 24) -> np.ndarray:
    """Return the edges and ``count`` random values."""
    rng = np.random.default_rng(seed)
    if dtype.is_bool:
        return edges(dtype)
    if dtype.is_float:
        random = rng.normal(scale=10, size=count).astype(dtype.np_type)
    else:
        bits = rng.integers(0, 2**64, size=count, dtype=np.uint64) >> rng.integers(0, 64, size=count, dtype=np.uint64)
        random = bits.astype(dtype.np_type)
    return np.concatenate([edges(dtype), random])


def pairs(dtype: DataType) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs of values."""
    x, y = np.meshgrid(values(dtype), values(dtype, seed=1), indexing="ij")
    return x.ravel(), y.ravel()
