"""Random programs of mixed statements, compared with python-graphblas and with an oracle of dictionaries.

The statements are those of tests/ops/programs.py; here sizes are 0, 1, small or 2^40, objects are empty, full or
iso-valued, and of any type, with NaN, infinities and the largest integers. A program that fails is shortened: steps
without which it still fails are left out.

These rules alone keep faults of python-graphblas and SuiteSparse out of the programs that they judge:

* the judge's objects are made anew after each possible write: after ``w << 1``, also to a w full of ones, SuiteSparse
  writes beyond the one value of w;
* a result is computed before it is written under a mask: SuiteSparse may free row ids that the output shares with the
  mask or an operand, and omits the values of ``v.ewise_add(v, second)`` under v;
* accumulations are computed first (``programs._accumulate``): SuiteSparse may end the process, or read values without
  conversion;
* no dimension is 0: SuiteSparse treats an iso-valued object without entries as full. The oracle judges these sizes;
* a statement for which it has no semiring of an outer product or a broadcast (``KeyError: any_...``) is left out.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import graphblas
import numpy as np
from suitesparse_graphblas import is_initialized

if not is_initialized():
    graphblas.init("suitesparse", blocking=True)

import sparsezc
from tests.campaigns import oracle
from tests.campaigns.frame import Failure, Trial
from tests.ops.judge import TYPES, Arrays, attempt, like, make, plain, same
from tests.ops.programs import LARGE, made_anew, sparse_ids, step

DEADLINE, MEMORY = 60.0, 1 << 30
STEPS = 40


@dataclass(frozen=True)
class Program:
    """A program: the seed of its operands and statements, the steps that run, the judge, the sizes and the types."""

    seed: int
    steps: tuple[int, ...]
    judge: str  # "graphblas" or "oracle"
    n: int
    m: int
    types: tuple[str, ...]  # each object draws one of them


def trial(rng: np.random.Generator, folder: Path) -> Trial:
    """Run one program of 40 steps, and shorten it if it fails."""
    judge = "oracle" if rng.random() < 0.5 else "graphblas"
    sizes = (7, 7, 7, 16, 3, 1, 2**40) + (0,) * (judge == "oracle")
    types = TYPES if judge == "oracle" else (*TYPES, "FC32", "FC64")
    one = (str(rng.choice(("INT64", "FP64", "INT8", "FP32", "UINT16", "UINT64"))),)
    program = Program(
        seed=int(rng.integers(2**31)),
        steps=tuple(range(STEPS)),
        judge=judge,
        n=int(rng.choice(sizes)),
        m=int(rng.integers(0 if judge == "oracle" else 1, 4)),
        types=one if rng.random() < 0.5 else types,
    )
    count, said = run(program)
    tried = {f"statements against {'the oracle' if judge == 'oracle' else 'python-graphblas'}": count}
    if said is None:
        return Trial(tried)
    program, said = shortened(program, said)
    text = f"def test() -> None:\n    from tests.campaigns.programs import Program, run\n\n    program = {program!r}\n"
    return Trial(tried, Failure(f"{program}: {said}", f"{text}    assert run(program)[1] is None\n"))


def shortened(program: Program, said: str) -> tuple[Program, str]:
    """Return the program without the steps that its failure does not need, and its fault."""
    for k in reversed(program.steps):
        shorter = replace(program, steps=tuple(x for x in program.steps if x != k))
        found = run(shorter)[1]
        if found is not None:
            program, said = shorter, found
    return program, said


def run(program: Program) -> tuple[int, str | None]:
    """Run a program on sparsezc and its judge; return the number of statements compared, and the first difference."""
    start = operands(program)
    ours = SimpleNamespace(**{name: make(sparsezc, x) for name, x in start.items()})
    module: Any = oracle if program.judge == "oracle" else graphblas
    theirs = SimpleNamespace(**{name: judged(program, content(make(graphblas, x))) for name, x in start.items()})
    before = {name: content(getattr(theirs, name)) for name in start}
    count = 0
    for k in program.steps:
        seed = 1000 * program.seed + k
        got = attempt(lambda g, o, seed=seed: step(g, o, random.Random(seed)), sparsezc, ours)
        want = attempt(lambda g, o, seed=seed: step(g, o, random.Random(seed)), module, theirs)
        if isinstance(want, oracle.Unknown) or judges_own(program, got, want):
            for name, old in before.items():
                setattr(ours, name, make(sparsezc, arrays(old)))
                setattr(theirs, name, judged(program, old))
            continue
        if isinstance(got, Exception) != isinstance(want, Exception) or (
            isinstance(got, Exception) and program.judge == "graphblas" and program.n >= 7 and not like(got, want)  # type: ignore[arg-type]
        ):
            return count, f"step {k}: got {got!r}, the judge says {want!r}"
        last = k == program.steps[-1]
        for name in [got[2]] if isinstance(got, tuple) and got[2] and not last else start:
            a, b = plain(getattr(ours, name)), content(getattr(theirs, name))
            if not same(a, b):
                return count, f"step {k}: {name} is {a}, and the judge says {b}"
            before[name] = b
            if program.judge == "graphblas":
                setattr(theirs, name, made_anew(b))
        count += 1
    return count, None


def judges_own(program: Program, got: Any, want: Any) -> bool:
    """Return True if python-graphblas is at fault.

    It requests semirings that it lacks for outer products and broadcasts of BOOL; and SuiteSparse accepts positions
    beyond the sizes in an assignment whose mask allows nothing.
    """
    if isinstance(want, KeyError) and "any_" in str(want):
        return True
    beyond = isinstance(got, sparsezc.exceptions.IndexOutOfBound) and not isinstance(want, Exception)
    return beyond and program.judge == "graphblas" and program.n < 7


def content(x: Any) -> tuple[Any, ...]:
    """Return an object as plain data: type, shape, positions, values."""
    if not hasattr(x, "entries"):
        return plain(x)
    at = np.array(sorted(x.entries), np.uint64).reshape(-1, len(x.shape))
    values = np.array([x.entries[place] for place in sorted(x.entries)], oracle.TYPES[x.dtype])
    return (x.dtype, x.shape, *at.T, values)


def arrays(content: tuple[Any, ...]) -> Arrays:
    dtype, shape, *at, values = content
    return Arrays(at[0], at[1] if len(at) == 2 else None, values, shape, dtype)


def judged(program: Program, content: tuple[Any, ...]) -> Any:
    """Return a new object of the judge with this content, independent of earlier writes."""
    if program.judge == "graphblas":
        return made_anew(content)
    dtype, shape, *at, values = content
    made = (oracle.Vector if len(shape) == 1 else oracle.Matrix)(dtype, *shape)
    made.entries = {tuple(map(int, place)): x for *place, x in zip(*at, values, strict=True)}
    return made


def operands(program: Program) -> dict[str, Arrays]:
    """Return the initial objects of a program."""
    rng, n, m = np.random.default_rng(program.seed), program.n, program.m
    shapes = dict.fromkeys("uvw", (n,)) | dict.fromkeys("ABC", (n, n)) | {"R": (n, m), "Q": (m, n), "x": (m,)}
    made = {}
    for name, shape in shapes.items():
        dtype = str(rng.choice(program.types))
        density = rng.choice((0.0, 0.2, 0.5, 0.9, 1.0))
        if n > LARGE:
            ids = [np.array(sparse_ids(size)) if size > LARGE else np.arange(size) for size in shape]
        else:
            ids = [np.arange(size) for size in shape]
        chosen = np.nonzero(rng.random([len(part) for part in ids]) < density)
        at = [part[k] for part, k in zip(ids, chosen, strict=True)]
        values = random_values(rng, dtype, at[0].size)
        made[name] = Arrays(at[0], at[1] if len(at) == 2 else None, values, shape, dtype)
    return made


def random_values(rng: np.random.Generator, dtype: str, count: int) -> Any:
    """Return small numbers and zeros, or one value; at times with extremes: 2^62, NaN, infinities."""
    kind = np.dtype({"FC32": "complex64", "FC64": "complex128"}.get(dtype) or oracle.TYPES[dtype])
    small = rng.integers(0 if dtype.startswith("U") else -4, 6, count)
    values = small / 2 if kind.kind in "fc" else small
    if rng.random() < 0.3:
        values = np.full(count, values[0] if count else 1)
    values = values.astype(kind)
    if rng.random() < 0.3:
        extremes = [np.nan, np.inf, -np.inf] if kind.kind == "f" else [1]
        if kind.kind in "iu":
            extremes = [np.iinfo(kind).max, np.iinfo(kind).min, np.iinfo(kind).max // 2 + 1]
        at = rng.random(count) < 0.3
        values[at] = rng.choice(np.array(extremes, kind), int(at.sum()))
    if kind.kind == "c":
        values = values + 1j * rng.integers(-2, 3, count).astype(kind)
    return values
