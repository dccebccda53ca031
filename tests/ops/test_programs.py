"""Random programs of mixed operations, run on sparsezc and on python-graphblas, and compared after each step.

A step writes one of the program's objects from the others, in a random way (mask, accumulator, replace, region), so
what one step leaves behind (other formats, aliases, empty objects, zeros, NaN) is what the next one meets.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

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
    like,
    make,
    operands,
    plain,
    random_matrix,
    random_vector,
    same,
)

Source = Callable[[Any, Any, random.Random], Any]

#: What a vector is written from. Each takes the module, the objects and a random generator that both sides seed alike.
VECTORS: dict[str, Source] = {
    "mxv": lambda g, o, r: _matrix(o, r).mxv(_vector(o, r), _semiring(g, r)),
    "vxm": lambda g, o, r: _vector(o, r).vxm(_matrix(o, r), _semiring(g, r)),
    "add": lambda g, o, r: _vector(o, r).ewise_add(_vector(o, r), _binary(g, r)),
    "mult": lambda g, o, r: _vector(o, r).ewise_mult(_vector(o, r), _binary(g, r)),
    "union": lambda g, o, r: _vector(o, r).ewise_union(_vector(o, r), _binary(g, r), 1, 2),
    "sign": lambda g, o, r: _vector(o, r) - _vector(o, r),
    "apply": lambda g, o, r: _vector(o, r).apply(r.choice([g.unary.abs, g.unary.ainv, g.unary.identity])),
    "bound": lambda g, o, r: _vector(o, r).apply(_binary(g, r), r.choice([0, 1, 3])),
    "position": lambda g, o, r: _vector(o, r).apply(g.indexunary.rowindex, r.choice([0, -2])),
    "select": lambda g, o, r: _vector(o, r).select(r.choice([g.select.rowle, g.select.rowgt]), 3),
    "select mask": lambda g, o, r: _vector(o, r).select(_mask(_vector(o, r), r)),
    "rows": lambda g, o, r: _matrix(o, r).reduce_rowwise(r.choice([g.monoid.plus, g.monoid.min])),
    "columns": lambda g, o, r: _matrix(o, r).reduce_columnwise(r.choice([g.monoid.max, g.monoid.plus])),
    "row": lambda g, o, r: _matrix(o, r)[r.randrange(7), :],
    "column": lambda g, o, r: _matrix(o, r)[:, r.randrange(7)],
    "shuffled": lambda g, o, r: _vector(o, r)[[r.randrange(7) for _ in range(7)]],
    "backwards": lambda g, o, r: _vector(o, r)[::-1],
    "moved": lambda g, o, r: _vector(o, r).reposition(r.randrange(-3, 4)),
    "vector": lambda g, o, r: _vector(o, r),
    "number": lambda g, o, r: r.choice([0, 1, 5]),
    "diagonal": lambda g, o, r: _matrix(o, r).diag(),
}
MATRICES: dict[str, Source] = {
    "mxm": lambda g, o, r: _matrix(o, r).mxm(_matrix(o, r), _semiring(g, r)),
    "add": lambda g, o, r: _matrix(o, r).ewise_add(_matrix(o, r), _binary(g, r)),
    "mult": lambda g, o, r: _matrix(o, r).ewise_mult(_matrix(o, r), _binary(g, r)),
    "broadcast": lambda g, o, r: _matrix(o, r).ewise_mult(_vector(o, r), _binary(g, r)),
    "sign": lambda g, o, r: _matrix(o, r) + _matrix(o, r),
    "bound": lambda g, o, r: _matrix(o, r).apply(_binary(g, r), left=r.choice([0, 2])),
    "select": lambda g, o, r: _matrix(o, r).select(r.choice([g.select.tril, g.select.triu, g.select.offdiag])),
    "select mask": lambda g, o, r: _matrix(o, r).select(_mask(o.__dict__[r.choice("ABC")], r)),
    "transpose": lambda g, o, r: o.__dict__[r.choice("ABC")].T,
    "outer": lambda g, o, r: _vector(o, r).outer(_vector(o, r), _binary(g, r)),
    "diagonal": lambda g, o, r: _vector(o, r).diag(),
    "moved": lambda g, o, r: _matrix(o, r).reposition(r.randrange(-3, 4), r.randrange(-3, 4)),
    "shuffled": lambda g, o, r: _matrix(o, r)[[r.randrange(7) for _ in range(7)], ::-1],
    "matrix": lambda g, o, r: o.__dict__[r.choice("ABC")],
    "number": lambda g, o, r: r.choice([0, 4]),
}
CHANGES: dict[str, Source] = {
    "delete": lambda g, o, r: o.__dict__[r.choice("uvw")].__delitem__(r.choice([2, slice(1, 4), [0, 5]])),
    "clear": lambda g, o, r: o.__dict__[r.choice("uvwABC")].clear(),
    "element": lambda g, o, r: o.__dict__[r.choice("ABC")].__setitem__((r.randrange(7), r.randrange(7)), 3),
    "row": lambda g, o, r: o.__dict__[r.choice("ABC")].__setitem__((r.randrange(7), slice(None)), _vector(o, r)),
    "part": lambda g, o, r: o.__dict__[r.choice("uvw")].__setitem__([4, 0, 2], _vector(o, r)[1:4].new()),
    "block": lambda g, o, r: o.C.__setitem__((slice(0, 3), [6, 1]), _matrix(o, r)[:3, 2:4].new()),
    "setdiag": lambda g, o, r: o.__dict__[r.choice("ABC")].setdiag(_vector(o, r), 0),
    "resized": lambda g, o, r: (o.C.resize(5, 9), o.C.resize(7, 7)),
    "positions": lambda g, o, r: _through(o.__dict__[r.choice("uvw")], o, "uvw", r).__setitem__(slice(1, None, 2), 3),
    "cells": lambda g, o, r: _through(o.C, o, "ABC", r).__setitem__(([5, 0, 2], slice(None, None, -1)), 4),
    "region": lambda g, o, r: o.C[1:4, [0, 5]](_mask(o.A[1:4, [0, 5]].new(), r), replace=r.random() < 0.5) << 6,
    "copied": lambda g, o, r: setattr(o, r.choice("uvw"), _vector(o, r).dup()),
}


def _vector(o: Any, r: random.Random) -> Any:
    return o.__dict__[r.choice("uvw")]


def _matrix(o: Any, r: random.Random) -> Any:
    matrix = o.__dict__[r.choice("ABC")]
    return matrix.T if r.random() < 0.3 else matrix


def _mask(x: Any, r: random.Random) -> Any:
    """A mask of any kind; by its structure where a zero may have a sign, of which engines think differently."""
    mask = r.choice([x.S, x.V])
    values = x.to_coo()[1]
    if values.dtype.kind in "fc" and (values == 0).any():
        mask = x.S
    return ~mask if r.random() < 0.5 else mask


def _through(out: Any, o: Any, letters: str, r: random.Random) -> Any:
    return out(_mask(o.__dict__[r.choice(letters)], r), replace=r.random() < 0.5)


def _semiring(g: Any, r: random.Random) -> Any:
    return r.choice([g.semiring.plus_times, g.semiring.min_plus, g.semiring.max_second, g.semiring.plus_pair])


def _binary(g: Any, r: random.Random) -> Any:
    return r.choice([g.binary.plus, g.binary.minus, g.binary.times, g.binary.min, g.binary.first, g.binary.second])


def step(g: Any, o: Any, r: random.Random) -> None:
    """One statement, drawn from `r`."""
    kind = r.choice(["vector", "vector", "matrix", "matrix", "change"])
    if kind == "change":
        CHANGES[r.choice(sorted(CHANGES))](g, o, r)
        return
    sources, letters = (VECTORS, "uvw") if kind == "vector" else (MATRICES, "ABC")
    out = o.__dict__[r.choice(letters)]
    value = sources[r.choice(sorted(sources))](g, o, r)
    given: dict[str, Any] = {}
    if r.random() < 0.5:
        given["mask"] = _mask(o.__dict__[r.choice(letters)], r)
        given["replace"] = r.random() < 0.5
    if r.random() < 0.3:
        given["accum"] = r.choice([g.binary.plus, g.binary.min, g.binary.second])
    (out(**given) if given else out) << value


def drawn(seed: int) -> str:
    """The names that a step draws, for the message."""
    r = random.Random(seed)
    return r.choice(["vector", "vector", "matrix", "matrix", "change"])


def made_anew(content: tuple[Any, ...]) -> Any:
    """The judge's object with this content, in which nothing is left of how it came to be.

    What SuiteSparse does depends on that, and not always rightly: see test_cpu_engine.py. A full object is made with
    all its values, also where they are the same.
    """
    dtype, shape, *at, values = content
    if values.size == np.prod(shape):
        kind = graphblas.Vector if len(shape) == 1 else graphblas.Matrix
        return kind.from_dense(values.reshape(shape), dtype=dtype)
    rows, columns = (*at, None)[:2]
    return make(graphblas, Arrays(rows, columns, values, shape, dtype))


def drawn_operands(seed: int, mixed: bool) -> dict[str, Arrays]:
    """The objects that a program begins with: all of one type, or each of its own."""
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


@pytest.mark.parametrize("seed", range(10))
def test_programs_wherever_they_run(seed: int, engine: Engine) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sparsezc.exceptions.PerformanceWarning)
        run(seed, engine, 40 if engine.full else 20)
