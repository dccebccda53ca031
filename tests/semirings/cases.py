"""Every typed operator with operands and the judge's result, for tests of its NumPy and its CUDA form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import graphblas as gb
import numpy as np

from sparsezc.semirings import TypedOp
from sparsezc.semirings.algebra import names

from . import judge, samples

Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Undefined:
    """Operands that are compared, and the reason why the judge has no right result for the others."""

    compared: Callable[..., np.ndarray]
    reason: str


def _divides(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return where x // y is defined: y is not 0, and the quotient fits the type."""
    if x.dtype.kind != "i":
        return y != 0
    return (y != 0) & ((x != np.iinfo(x.dtype).min) | (y != -1))


def _powers(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return where y ** x is defined and exact in python-graphblas."""
    return np.isfinite(x) if x.dtype.kind == "f" else (x >= 0) & (x < 2**16)


def _differences(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return where x - y fits the type."""
    if x.dtype.kind == "f":
        return np.isfinite(x) & np.isfinite(y)
    exact = x.astype(object) - y.astype(object)
    limits = np.iinfo(np.uint64 if x.dtype.kind == "u" else np.int64) if x.dtype != bool else np.iinfo(np.int64)
    return np.array((exact >= limits.min) & (exact <= limits.max) & (exact > limits.min), bool)


_NUMBA = "a Numba function there, which "

# SuiteSparse defines the operators' results, except for these operands.
NOT_COMPARED = {
    "floordiv": Undefined(_divides, _NUMBA + "raises, writing nothing, at x // 0 and gives 0 or traps at low // -1"),
    "rfloordiv": Undefined(lambda x, y: _divides(y, x), "as floordiv"),
    "mod": Undefined(_divides, "as floordiv"),
    "rpow": Undefined(_powers, _NUMBA + "raises at negative exponents and takes large ones through floats"),
    "isclose": Undefined(_differences, _NUMBA + "finds infinity near every number, and wraps where x - y does"),
    "ldexp": Undefined(lambda x, y: np.abs(y) < 2**31, "cuts the exponent to a C int, undefined in C beyond its range"),
}

# Relative tolerances in units of the type's resolution; all other results are equal, NaN included.
MATHEMATICS = {
    "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "lgamma", "tgamma", "atan2", "hypot", "pow",
    "rpow",
}  # fmt: skip
ULPS = dict.fromkeys(MATHEMATICS, 8.0) | {"erfc": 256.0}  # SciPy's erfc loses digits in its tail


@dataclass(frozen=True)
class Case:
    typed: TypedOp
    operands: Arrays
    expected: np.ndarray

    def __str__(self) -> str:
        return repr(self.typed)

    def check(self, got: np.ndarray, *, on_gpu: bool = False) -> None:
        """Raise unless ``got`` is the expected array; on a GPU four times the tolerance applies."""
        want = self.expected
        assert got.dtype == want.dtype, f"{self}: {got.dtype} instead of {want.dtype}"
        with np.errstate(all="ignore"):
            right = got == want
            if want.dtype.kind == "f":
                right |= np.isnan(got) & np.isnan(want)
            ulps = ULPS.get(self.typed.name, 0.0) * (4 if on_gpu else 1)
            if ulps:
                floating = want.dtype if want.dtype.kind == "f" else np.dtype(np.float64)
                info = np.finfo(floating)
                off = np.abs(got.astype(floating) - want.astype(floating))
                right |= off <= ulps * float(info.eps) * np.abs(want.astype(floating)) + float(info.tiny)
                if on_gpu and want.dtype.kind == "f":  # rounding may carry the largest numbers to infinity
                    right |= np.isinf(got) & (got * want > 0) & (np.abs(want) > info.max * (1 - ulps * info.eps))
        if not right.all():
            wrong = np.flatnonzero(~right)
            shown = [(*(x[n].item() for x in self.operands), got[n].item(), want[n].item()) for n in wrong[:8]]
            raise AssertionError(f"{self}: {len(wrong)} of {len(right)} differ; (operands, got, wanted): {shown}")


def typed_operators(kind: str) -> Iterator[tuple[str, TypedOp]]:
    """Yield each typed operator of a kind once, with an input type that selects it."""
    for op in names.names_of(kind).values():
        seen = set()
        for t, result in op.types.items():
            if t.is_complex or result.is_complex:  # test_complex.py tests them
                continue
            typed = op[t]
            if id(typed) not in seen:
                seen.add(id(typed))
                yield t.name, typed


def operators_of_values(kind: str) -> list[TypedOp]:
    """Return the typed operators of values of a kind: unary, binary or indexunary."""
    return [typed for _, typed in typed_operators(kind) if not typed.is_positional]


@cache
def _inputs(kind: str) -> dict[int, str]:
    return {id(typed): t for t, typed in typed_operators(kind)}


@cache
def case(typed: TypedOp) -> Case:
    """Return operands and the judge's result, at the time of a test, as the judge compiles operators for seconds."""
    kind = typed.op.kind
    theirs = judge.operators(kind)[typed.name][_inputs(kind)[id(typed)]]
    if kind == "unary":
        operands: Arrays = (samples.values(typed.type, count=60),)
        expected = judge.apply(theirs, *operands)
    elif kind == "binary":
        operands = samples.pairs(typed.type)
        if typed.name in NOT_COMPARED:
            keep = NOT_COMPARED[typed.name].compared(*operands)
            operands = tuple(x[keep] for x in operands)
        expected = judge.combine(theirs, *operands)
    else:
        operands, expected = _value_tests(typed, theirs)
    return Case(typed, operands, expected.astype(typed.return_type.np_type))


def _value_tests(typed: TypedOp, theirs: object) -> tuple[Arrays, np.ndarray]:
    x, thunk = samples.pairs(typed.type)
    answers = np.empty(len(x), bool)
    for value in np.unique(thunk):  # one call for each thunk
        at = thunk == value if value == value else np.isnan(thunk)
        scalar = gb.Scalar.from_value(value, dtype=typed.type.name)
        answers[at] = judge.vector(x[at]).apply(theirs, right=scalar).new().to_dense()
    return (x, thunk), answers
