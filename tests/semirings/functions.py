"""Python functions that become operators, for tests of their translation."""

from __future__ import annotations

import math

import numpy as np

SCALE = 3
OFFSET = np.float32(0.5)


def triangle(x):
    """Branches that return, branches that assign, and a variable that changes."""
    y = abs(x) % 7
    if y > 4:
        return 0
    if y == 2:
        y += SCALE
    else:
        z = y * 2
        y = z - 1
    return y


def nested(x):
    if x > 0:
        if x > 10:
            x = 10
        x = x * x
    else:
        x = -x
    return x + 1


def distance(x, y):
    d = x - y
    if d < 0:
        return -d
    return d


def first_or_more(x, y):
    big: int = 0
    if x > y and not y > 3:
        big = 1
    return x if big else y


UNARY = {
    "itself": lambda x: x,
    "constant": lambda x: 7,
    "infinite": lambda x: x / 2 if x > 2 else -float("inf"),
    "half": lambda x: x / 2,
    "increment": lambda x: x + 1,
    "affine": lambda x: SCALE * x - 1.5,
    "negative": lambda x: -x,
    "not": lambda x: not x,
    "clip": lambda x: min(max(x, -3), 5),
    "between": lambda x: -2 < x <= 4,
    "or": lambda x: x or 9,
    "and": lambda x: x and x > 2,
    "floor division": lambda x: x // 3,
    "rest": lambda x: x % 3,
    "square": lambda x: x**2,
    "power of two": lambda x: 2 ** min(abs(x), 6),
    "inverse": lambda x: x**-1 if x else 0,
    "absolute": lambda x: abs(x),
    "int": lambda x: int(x) + 1,
    "float": lambda x: float(x) * 2,
    "bool": lambda x: bool(x),
    "root": lambda x: math.sqrt(abs(x)),
    "exp": lambda x: np.exp(-x / 10),
    "log": lambda x: math.log1p(abs(x)),
    "floor": lambda x: math.floor(x / 4),
    "floats floor": lambda x: np.floor(x / 4),
    "sign": lambda x: np.sign(x) * 2,
    "where": lambda x: np.where(x > 2, x, 0),
    "where of floats": lambda x: np.where(x > 2, x, 0.25),
    "pi": lambda x: x * math.pi,
    "an FP32 constant": lambda x: x * OFFSET,
    "nan": lambda x: math.isnan(x / 2),
    "triangle": triangle,
    "nested": nested,
}
BITS = {
    "and": lambda x: x & 6,
    "shift": lambda x: (x << 2) >> 1,
    "turned": lambda x: ~x,
    "mixed": lambda x: (x ^ 5) | 1,
}
BINARY = {
    "sum": lambda x, y: x + y,
    "difference": lambda x, y: x - y,
    "quotient": lambda x, y: x / y if y else 0,
    "choice": lambda x, y: x if x > y else y,
    "least": lambda x, y: min(x, y, 2),
    "greatest": lambda x, y: np.maximum(x, y),
    "hypotenuse": lambda x, y: math.hypot(x, y),
    "angle": lambda x, y: np.arctan2(x, y),
    "rest": lambda x, y: x % y if y != 0 else -1,
    "equal": lambda x, y: x == y,
    "distance": distance,
    "first or more": first_or_more,
    "one": lambda x, y: x - y + (x < y) * 10,
}
INDEX = {
    "row": lambda x, i, j, t: i + t,
    "weighted": lambda x, i, j, t: x * i + j,
    "near": lambda x, i, j, t: abs(i - j) <= t,
    "above": lambda x, i, j, t: x > t and i != j,
    "thunk": lambda x, i, j, t: t if x > 1 else x,
}
