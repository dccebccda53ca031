"""The random numbers that engines share: published answers, exact integer arithmetic, the distribution of -ln(u)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest

from sparsezc.engines.cpu import philox

#: Random123's known answers of philox4x32-10: counter, key, words.
KNOWN = [
    ((0, 0, 0, 0), 0, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, 2**64 - 1, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        0x299F31D0_A4093822,
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("counter", "seed", "words"), KNOWN)
def test_published_answers(counter: Any, seed: int, words: Any) -> None:
    made = philox.philox(*(np.array([c], np.uint64) for c in counter), seed)
    assert tuple(int(word[0]) for word in made) == words


def test_a_number_is_the_half_of_a_block() -> None:
    stream, draw = np.arange(50, dtype=np.uint64), np.arange(50, dtype=np.uint64) % np.uint64(7)
    even, odd = philox.block(draw // np.uint64(2), 3, stream, 9)
    expected = [int((odd if d % 2 else even)[i]) for i, d in enumerate(draw.tolist())]
    assert philox.numbers(draw, 3, stream, 9).tolist() == expected


@pytest.mark.parametrize("shift", [0, 20, 32, 63])
def test_upper_halves_of_products(shift: int) -> None:
    a, b = np.random.default_rng(0).integers(0, 2**64, (2, 1000), dtype=np.uint64)
    b >>= np.uint64(shift)
    expected = [int(x) * int(y) >> 64 for x, y in zip(a, b, strict=True)]
    assert philox.high(a, b).tolist() == expected


def test_leading_zeros() -> None:
    numbers = [0, *(2**k + d for k in range(1, 64) for d in (-1, 0, 1))]
    expected = [min(64 - n.bit_length(), 63) for n in numbers]
    assert philox.leading_zeros(np.array(numbers, np.uint64)).tolist() == expected


def test_exponential_numbers() -> None:
    numbers = np.random.default_rng(1).integers(0, 2**64, 5000, dtype=np.uint64)
    made = philox.exponential(numbers)
    expected = [-math.log1p(-(2**64 - 1 - int(n)) / 2**64) for n in numbers[:500]]
    np.testing.assert_allclose(made[:500], expected, rtol=1e-12)
    assert kstest(made, "expon").pvalue > 1e-6
    edges = philox.exponential(np.array([2**64 - 1, 2**64 - 2, 0], np.uint64))
    assert edges[0] == 0
    assert 0 < edges[1] < 1e-19
    assert math.isfinite(edges[2])
