"""Random programs (tests/ops/programs.py): the distributed engine equals the plain CPU engine after each step."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import numpy as np

import sparsezc
from tests.ops.judge import Arrays, attempt, make, plain, random_matrix, random_vector, same
from tests.ops.programs import drawn, step

STEPS = 40


def arrays_of(seed: int, n: int, m: int) -> dict[str, Arrays]:
    rng = np.random.default_rng(seed)
    dtype, density = ("INT64", "FP64", "INT8", "BOOL", "UINT16")[seed % 5], (0.02, 0.3, 1.0)[seed % 3]
    shapes: dict[str, Any] = dict.fromkeys("uvw", (n,)) | dict.fromkeys("ABC", (n, n))
    shapes |= {"R": (n, m), "Q": (m, n), "x": (m,)}
    made = {}
    for name, shape in shapes.items():
        draw = random_vector if len(shape) == 1 else random_matrix
        made[name] = draw(rng, *shape, dtype, density if n > 20 or density == 1 else 0.5)
    return made


def put(x: Any) -> Any:
    return x.distribute() if x.ndim == 2 else x.to("distributed")


def run(seed: int, n: int, m: int) -> None:
    arrays = arrays_of(seed, n, m)
    ours = SimpleNamespace(**{name: put(make(sparsezc, x)) for name, x in arrays.items()})
    theirs = SimpleNamespace(**{name: make(sparsezc, x) for name, x in arrays.items()})
    for k in range(STEPS):
        got, want = (
            attempt(lambda g, o, k=k: step(g, o, random.Random(1000 * seed + k)), sparsezc, side)
            for side in (ours, theirs)
        )
        said = f"program {seed} of n = {n}, m = {m}, step {k} (a {drawn(1000 * seed + k)})"
        alike = type(got) is type(want) if isinstance(got, Exception) or isinstance(want, Exception) else True
        assert alike, f"{said}: got {got!r}, the CPU engine {want!r}"
        wrote = got[2] if isinstance(got, tuple) and got[2] and k < STEPS - 1 else None
        for name in arrays if wrote is None else [wrote]:
            a, b = plain(getattr(ours, name)), plain(getattr(theirs, name))
            assert same(a, b), f"{said}: {name} is\n{a}\nand the CPU engine's is\n{b}"


def check_programs_of_narrow_objects() -> None:
    for seed in range(5):
        run(seed, 150, 3)


def check_programs_of_wide_objects() -> None:
    for seed in range(6, 10):
        run(seed, 200, 70)


def check_programs_of_objects_that_every_rank_has() -> None:
    for seed in range(12, 15):
        run(seed, 7, 2)
