"""Random programs of mixed operations have the same states on sparsezc and on python-graphblas after each step."""

from __future__ import annotations

import random
import warnings
from types import SimpleNamespace

import graphblas
import numpy as np
import pytest

import sparsezc
from tests.emulator.rehearsal import rehearsing
from tests.ops.judge import (
    TYPES,
    Arrays,
    Engine,
    attempt,
    lacks_a_semiring,
    like,
    make,
    operands,
    plain,
    random_matrix,
    random_vector,
    same,
)
from tests.ops.programs import drawn, made_anew, step


def drawn_operands(seed: int, mixed: bool) -> dict[str, Arrays]:
    """Return the initial objects of a program: all of one type, or each of a type of its own."""
    density = (0.2, 0.5, 0.9)[seed % 3]
    if not mixed:
        dtype = ("INT64", "FP64", "INT8", "FP32", "UINT16")[seed % 5]
        return {k: x for k, x in operands(seed, dtype, density=density).items() if k in "uvwABC"}
    rng = np.random.default_rng(seed)
    types = dict(zip("uvwABC", rng.choice(TYPES, 6).tolist(), strict=True))
    vectors = {name: random_vector(rng, 7, types[name], density) for name in "uvw"}
    return vectors | {name: random_matrix(rng, 7, 7, types[name], density) for name in "ABC"}


def run(seed: int, engine: Engine, steps: int, *, mixed: bool = False) -> None:
    arrays = drawn_operands(seed, mixed)
    ours = SimpleNamespace(**{name: engine.put(make(sparsezc, x)) for name, x in arrays.items()})
    theirs = SimpleNamespace(**{name: make(graphblas, x) for name, x in arrays.items()})
    for k in range(steps):
        for name in arrays:
            setattr(theirs, name, made_anew(plain(getattr(theirs, name))))
        got = attempt(lambda g, o, k=k: step(g, o, random.Random(1000 * seed + k)), sparsezc, ours)
        want = attempt(lambda g, o, k=k: step(g, o, random.Random(1000 * seed + k)), graphblas, theirs)
        said = f"program {seed}, step {k} (a {drawn(1000 * seed + k)}) on {engine}"
        if rehearsing():
            continue
        if lacks_a_semiring(want):
            return  # from here on the objects differ
        assert isinstance(got, Exception) == isinstance(want, Exception), (
            f"{said}: got {got!r}, the judge says {want!r}"
        )
        if isinstance(got, Exception) and isinstance(want, Exception):
            assert like(got, want), f"{said}: got {got!r}, the judge says {want!r}"
        for name in arrays:
            a, b = plain(getattr(ours, name)), plain(getattr(theirs, name))
            assert same(a, b), f"{said}: {name} is\n{a}\nand the judge says\n{b}"


@pytest.mark.parametrize("start", range(0, 60, 10))
def test_programs_on_the_cpu_engine(start: int) -> None:
    for seed in range(start, start + 10):
        run(seed, Engine("cpu", lambda x: x, full=True), 40)
        run(seed, Engine("cpu", lambda x: x, full=True), 40, mixed=True)


@pytest.mark.many_kernels
@pytest.mark.parametrize("seed", range(10))
def test_programs_wherever_they_run(seed: int, engine: Engine) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sparsezc.exceptions.PerformanceWarning)
        run(seed, engine, 40 if engine.full else 20)
