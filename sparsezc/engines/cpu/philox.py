"""Counter-based random numbers, which do not depend on earlier draws: Philox 4x32-10.

A number is a function of a seed, a stream (a row or a walk), a step and a draw; so every engine draws the same numbers
in any order. Source: J. Salmon, M. Moraes, R. Dror, D. Shaw, Parallel random numbers: as easy as 1, 2, 3, SC 2011,
doi:10.1145/2063384.2063405. The kernels compute the same in ``kernels/common/philox.cuh``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10
_LN2 = 0.6931471805599453
_TERMS = 12  # terms of the series of atanh: the first that is left out is below 1e-12 of the sum


def block(draw: Any, step: Any, stream: U64, seed: int) -> tuple[U64, U64]:
    """Return the numbers 2 `draw` and 2 `draw` + 1 of a step of each stream, 64 bits each.

    Parameters
    ----------
    draw, step : int or array of uint64
        Below 2**32.
    stream : array of uint64
    seed : int
        Below 2**64.
    """
    c0, c1 = (np.broadcast_to(np.asarray(x, np.uint64), stream.shape) for x in (draw, step))
    words = philox(c0, c1, stream & _LOW, stream >> _HALF, seed)
    return words[0] | words[1] << _HALF, words[2] | words[3] << _HALF


def philox(c0: U64, c1: U64, c2: U64, c3: U64, seed: int) -> tuple[U64, U64, U64, U64]:
    """Return the four output words of each counter, of 32 bits each in a uint64."""
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(_ROUNDS):
        first, second = _MULTIPLIERS[0] * c0, _MULTIPLIERS[1] * c2
        c0 = second >> _HALF
        c0 ^= c1
        c0 ^= np.uint64(key[0])
        c2 = first >> _HALF
        c2 ^= c3
        c2 ^= np.uint64(key[1])
        second &= _LOW
        first &= _LOW
        c1, c3 = second, first
        key = [(k + w) & 0xFFFFFFFF for k, w in zip(key, _WEYL, strict=True)]
    return c0, c1, c2, c3


def numbers(draw: U64, step: int, stream: U64, seed: int) -> U64:
    """Return one number for each draw of each stream: arrays of one shape."""
    even, odd = block(draw >> np.uint64(1), step, stream, seed)
    return np.where(draw & np.uint64(1), odd, even)


def high(a: U64, b: U64) -> U64:
    """Return the upper 64 bits of each product: a number below b, where a is any number of 64 bits."""
    a1, a0 = a >> _HALF, a & _LOW
    if b.size and int(b.max()) <= 0xFFFFFFFF:
        return a1 * b + (a0 * b >> _HALF) >> _HALF
    b1, b0 = b >> _HALF, b & _LOW
    middle = a1 * b0 + (a0 * b0 >> _HALF)
    long: U64 = a1 * b1 + (middle >> _HALF) + ((middle & _LOW) + a0 * b1 >> _HALF)
    return long


def exponential(number: U64) -> NDArray[np.float64]:
    """Return -ln(u) for the u in 0..1 that each number represents, by additions and products in a fixed order.

    With u = m 2^-e and v = 1 - m, at most 1/2: e ln 2 + 2 atanh(v / (2 - v)).
    """
    e = leading_zeros(number)
    v = (~(number << e)).astype(np.float64) * 2.0**-64
    s = v / (2.0 - v)
    t = s * s
    total = np.full(v.shape, 1.0 / (2 * _TERMS + 1))
    for k in range(_TERMS - 1, -1, -1):
        total = total * t + 1.0 / (2 * k + 1)
    made: NDArray[np.float64] = np.add(2.0 * s * total, e.astype(np.float64) * _LN2)
    return made


def leading_zeros(x: U64) -> U64:
    """Return the number of zeros before the highest bit of each number; 63 for 0."""
    zeros = np.zeros(x.shape, np.uint64)
    for width in (32, 16, 8, 4, 2, 1):
        short = (x << zeros) >> np.uint64(64 - width) == 0
        zeros += short * np.uint64(width)
    return np.minimum(zeros, np.uint64(63)).astype(np.uint64, copy=False)
