"""Common neighbours of pairs of vertices."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["common"]


def common(indptr: Any, indices: Any, pairs: Any, weights: Any) -> Any:
    """Return of each pair the number of common neighbours, the sum of their weights, and of the numbers of neighbours.

    `weights`: those of vertices, and which of them have one; both are empty if all count equally. Ids ascend in each
    row. Of two rows, one much longer, ids are sought in the longer.
    """
    weight, has = weights
    size = pairs[0].size
    number, total, degrees = np.zeros(size, np.int64), np.zeros(size), np.empty(size, np.int64)
    for k in range(size):
        i, j = pairs[0][k], pairs[1][k]
        a, b = indptr[i], indptr[j]
        end, other = indptr[i + 1], indptr[j + 1]
        degrees[k] = end - a + other - b
        if end - a > other - b:
            a, b, end, other = b, a, other, end
        far = other - b > 8 * (end - a)
        while a < end and b < other:
            x = indices[a]
            if far:
                low, high = b, other
                while low < high:
                    half = (low + high) // 2
                    if indices[half] < x:
                        low = half + 1
                    else:
                        high = half
                b = low
                if b == other:
                    break
            y = indices[b]
            if x == y:
                if weight.size == 0:
                    number[k] += 1
                elif has[x]:
                    number[k] += 1
                    total[k] += weight[x]
            if x <= y:
                a += 1
            if y <= x:
                b += 1
    return number, total, degrees
