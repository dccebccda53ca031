"""The engine of each operator of every namespace, found by a rehearsal, which compiles no kernel.

The operator is used in one operation of its kind, on the first type that it takes. ``tests/ops/test_operators.py`` and
``tests/semirings/`` compare its values with those of python-graphblas's operator.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import graphblas

import sparsezc
from sparsezc.device import cuda
from sparsezc.semirings.algebra.registering import Parameterized
from sparsezc.semirings.types import datatypes
from tests.emulator.rehearsal import Rehearsal
from tests.semirings import test_surface

from .find import FALLBACK, NATIVE

NAMESPACES = (
    "unary", "unary.numpy", "unary.ss", "binary", "binary.numpy", "binary.ss", "monoid", "monoid.numpy", "semiring",
    "semiring.numpy", "semiring.ss", "indexunary", "select", "agg", "agg.ss",
)  # fmt: skip
#: Operations in which an operator is used, of a Matrix, a Vector and the operator.
USES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "unary": lambda A, u, op: (A.apply(op).new(), u.apply(op).new()),
    "binary": lambda A, u, op: (A.ewise_mult(A, op).new(), u.ewise_mult(u, op).new()),
    "monoid": lambda A, u, op: (A.reduce_rowwise(op).new(), A.reduce_scalar(op).new(), u.reduce(op).new()),
    "semiring": lambda A, u, op: (A.mxm(A, op).new(), A.mxv(u, op).new()),
    "indexunary": lambda A, u, op: (A.apply(op, 1).new(), u.apply(op, 1).new()),
    "select": lambda A, u, op: (A.select(op, 1).new(), u.select(op, 1).new()),
    "agg": lambda A, u, op: (A.reduce_rowwise(op).new(), u.reduce(op).new()),
}


class Namespace(NamedTuple):
    """A namespace: its operators by state on the GPU, its other names, and the names that are absent."""

    operators: dict[str, list[str]]
    other: list[str]
    absent: list[str]


def _inside(module: Any, namespace: str) -> Any:
    for part in namespace.split("."):
        module = getattr(module, part)
    return module


def _object(dtype: Any, ndim: int, engine: str) -> Any:
    at = [[0, 1, 2]] * ndim
    made = (sparsezc.Matrix if ndim == 2 else sparsezc.Vector).from_coo(*at, [1, 1, 1], dtype)
    return made.to(engine)


def done_by(kind: str, op: Any, *, also_on_cpu: bool = False, dtype: Any = None) -> str:
    """Return an operator's state for operands on the GPU, by a rehearsal; raise if the CPU engine cannot run it."""
    op = op() if isinstance(op, Parameterized) else op
    known = getattr(op, "types", None) or {datatypes.INT64: None}
    dtype = dtype or next(t for t in (datatypes.INT64, datatypes.FP64, *known) if t in known)
    if also_on_cpu:
        USES[kind](_object(dtype, 2, "cpu"), _object(dtype, 1, "cpu"), op)
    before = cuda.use(Rehearsal())
    try:
        with sparsezc.config.set(fallback="error"):
            USES[kind](_object(dtype, 2, "gpu"), _object(dtype, 1, "gpu"), op)
    except sparsezc.exceptions.NotImplementedException:
        return FALLBACK
    finally:
        cuda.use(before)
    return NATIVE


def namespace(name: str, seen: dict[int, str]) -> Namespace:
    """Return a namespace's names by state; `seen` keeps states by operator, as an operator may have several names."""
    kind = name.partition(".")[0]
    theirs, ours = _inside(graphblas, name), _inside(sparsezc, name)
    found: dict[str, list[str]] = {NATIVE: [], FALLBACK: []}
    other, absent = [], []
    for each in sorted(test_surface.public(theirs)):
        if each in ("ss", "numpy"):
            continue
        if not hasattr(ours, each) or (name.endswith("numpy") and each not in dir(ours)):
            absent.append(each)
            continue
        op = getattr(ours, each)
        if isinstance(op, type) or not (isinstance(op, Parameterized) or hasattr(op, "opclass")):
            other.append(each)
            continue
        if id(op) not in seen:
            seen[id(op)] = done_by(kind, op, also_on_cpu=name != "semiring.numpy")  # it takes minutes to compile
        found[seen[id(op)]].append(each)
    return Namespace(found, other, absent)


def namespaces() -> dict[str, Namespace]:
    """Return every namespace by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seen: dict[int, str] = {}
        return {name: namespace(name, seen) for name in NAMESPACES}


def kinds_of_numbers() -> dict[str, str]:
    """Return the state of products, for each type."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {t.name: done_by("semiring", _one(t), dtype=t) for t in (*datatypes.ALL, *datatypes.COMPLEX)}
        record = datatypes.lookup({"x": int})
        return found | {"user-defined": done_by("semiring", sparsezc.semiring.any_first[record], dtype=record)}


def _one(dtype: Any) -> Any:
    return sparsezc.semiring.lor_land if dtype.is_bool else sparsezc.semiring.plus_times[dtype]
