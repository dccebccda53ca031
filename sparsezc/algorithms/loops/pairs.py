"""Common neighbours of pairs of vertices."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms.loops import replacing

__all__ = ["common"]


@replacing(5)
def common(indptr: Any, indices: Any, pairs: Any, weights: Any) -> Any:
    """Return for each pair the number of common neighbours, the sum of their weights, and the degrees of both vertices.

    `weights`: (weight, has, inverse, logarithmic). `weight` and `has` are the vertices' weights and which vertices have
    one; both are empty if all count equally, or, with `inverse`, by their degree d: as 1 / d, or as 1 / log d if
    `logarithmic`. Ids ascend in each row. If one row is over 8 times as long, the other's ids are found in it by
    bisection.
    """
    weight, has, inverse, logarithmic = weights
    size = pairs[0].size
    starts, one, many = indptr.view(np.uint64), np.uint64(1), np.uint64(8)
    of_i, of_j = pairs[0].view(np.uint64), pairs[1].view(np.uint64)  # unsigned, so that numba omits sign checks
    number, total, degrees = np.zeros(size, np.int64), np.zeros(size), np.empty((2, size), np.int64)
    for k in range(size):
        i, j = of_i[k], of_j[k]
        a, b = starts[i], starts[j]
        end, other = starts[i + one], starts[j + one]
        degrees[0, k], degrees[1, k] = end - a, other - b
        if end - a > other - b:
            a, b, end, other = b, a, other, end
        far = other - b > many * (end - a)
        while a < end and b < other:
            x = np.uint64(indices[a])
            if far:
                low, high = b, other
                while low < high:
                    half = (low + high) >> one
                    if np.uint64(indices[half]) < x:
                        low = half + one
                    else:
                        high = half
                b = low
                if b == other:
                    break
            y = np.uint64(indices[b])
            if x == y:
                if inverse:  # a vertex without out-edges does not count
                    degree = np.float64(starts[x + one] - starts[x])
                    if degree > 0.0:
                        number[k] += 1
                        degree = np.log(degree) if logarithmic else degree
                        total[k] += 1.0 / degree if degree > 0.0 else np.inf
                elif weight.size == 0:
                    number[k] += 1
                elif has[x]:
                    number[k] += 1
                    total[k] += weight[x]
            a += np.uint64(x <= y)
            b += np.uint64(y <= x)
    return number, total, degrees
