"""The judge: one statement runs on python-graphblas and on sparsezc, and both must have the same result.

A *statement* is a function of a module and of operands, ``f(g, o)``: ``g`` is graphblas or sparsezc, whose syntax is
the same, and ``o`` has operands by name, made from the same arrays for both. The returned objects are compared:
positions and types exactly, values exactly or, for floats, to a relative error that another order of summation
explains.

A further engine takes one more line in :data:`ENGINES`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple, TypeVar

import graphblas
import numpy as np

import sparsezc
from tests.emulator.rehearsal import rehearsing

TYPES = ("BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64", "FP32", "FP64")
Statement = Callable[[Any, Any], Any]
T = TypeVar("T")


class Engine(NamedTuple):
    """An engine under test: the function that moves an object of sparsezc to it, and whether grids are tried in full.

    On the GPU engine each semiring, operator and type takes a kernel of its own, and time to compile it. So a grid is
    sampled there by default: each row and each column is tried, not each combination. Combinations of operators and
    types are all tried where one compilation has them (tests/semirings/test_cuda_expressions.py).
    """

    name: str
    put: Callable[[Any], Any]
    full: bool

    def __str__(self) -> str:
        return self.name

    def sample(self, grid: Iterable[T], row: str, one_in: int = 3) -> list[T]:
        """Return all columns of a grid's row, or every third, starting at another column in each row.

        Rows of types start so that all columns are tried, and a type is combined with one of another kind.
        """
        start = (TYPES.index(row) + 4 if row in TYPES else zlib.crc32(row.encode())) % one_in
        return [column for k, column in enumerate(grid) if self.full or k % one_in == start]


def _on_gpu(x: Any) -> Any:
    return x.to("gpu") if getattr(x, "ndim", 0) else x


#: "emulated" is the GPU engine with its kernels run on the CPU (tests/emulator), "gpu" the same on a GPU.
ENGINES = {
    "cpu": Engine("cpu", lambda x: x, full=True),
    "emulated": Engine("emulated", _on_gpu, full=False),
    "emulated-full": Engine("emulated-full", _on_gpu, full=True),
    "gpu": Engine("gpu", _on_gpu, full=False),
    "gpu-full": Engine("gpu-full", _on_gpu, full=True),
}


class Arrays(NamedTuple):
    """A vector (`columns` is None) or a matrix as plain arrays."""

    rows: Any
    columns: Any
    values: Any
    shape: tuple[int, ...]
    dtype: str


def random_values(rng: np.random.Generator, dtype: str, count: int) -> Any:
    """Return small numbers with zeros among them, so that sums are exact and value masks refuse some positions."""
    if dtype == "BOOL":
        return rng.random(count) < 0.6
    low = 0 if dtype.startswith("U") else -4
    values = rng.integers(low, 6, count)
    return values / 2 if dtype.startswith("FP") else values


def random_vector(rng: np.random.Generator, size: int, dtype: str, density: float) -> Arrays:
    at = np.flatnonzero(rng.random(size) < density)
    return Arrays(at, None, random_values(rng, dtype, at.size), (size,), dtype)


def random_matrix(rng: np.random.Generator, nrows: int, ncols: int, dtype: str, density: float) -> Arrays:
    rows, columns = np.nonzero(rng.random((nrows, ncols)) < density)
    return Arrays(rows, columns, random_values(rng, dtype, rows.size), (nrows, ncols), dtype)


def make(g: Any, x: Arrays) -> Any:
    """Return a module's object with these arrays."""
    if x.columns is None:
        return g.Vector.from_coo(x.rows, np.asarray(x.values), x.dtype, size=x.shape[0])
    nrows, ncols = x.shape
    return g.Matrix.from_coo(x.rows, x.columns, np.asarray(x.values), x.dtype, nrows=nrows, ncols=ncols)


@cache
def operands(
    seed: int, dtype: str = "INT64", n: int = 7, density: float = 0.5, other: str | None = None
) -> dict[str, Arrays]:
    """Return arrays for every statement: square A and B; vectors u, v; outputs w, C; masks m (vector), M (matrix).

    `other` is the type of v and B, by default that of u and A.
    """
    rng = np.random.default_rng(seed)
    other = dtype if other is None else other
    return {
        "A": random_matrix(rng, n, n, dtype, density),
        "B": random_matrix(rng, n, n, other, density),
        "R": random_matrix(rng, n, n + 2, dtype, density),
        "u": random_vector(rng, n, dtype, density),
        "v": random_vector(rng, n, other, density),
        "x": random_vector(rng, n + 2, other, density),
        "w": random_vector(rng, n, dtype, density),
        "C": random_matrix(rng, n, n, dtype, density),
        "m": random_vector(rng, n, "INT8", 0.6),
        "M": random_matrix(rng, n, n, "INT8", 0.6),
    }


class Operands:
    """Operands by name, each made at the first use of its name: ``o.A``."""

    def __init__(self, make: Callable[[Arrays], Any], arrays: dict[str, Arrays]) -> None:
        self._make, self._arrays = make, arrays

    def __getattr__(self, name: str) -> Any:
        try:
            arrays = self._arrays[name]
        except KeyError:
            raise AttributeError(f"no operand {name!r}") from None
        made = self.__dict__[name] = self._make(arrays)
        return made


def plain(result: Any) -> tuple[Any, ...]:
    """Return a result of either module as (type, shape, positions..., values)."""
    if not hasattr(result, "ndim"):
        return ("value", (), result)
    dtype = str(getattr(result.dtype, "name", result.dtype))
    if result.ndim == 0:
        return (dtype, (), result.value)
    *at, values = result.to_coo()
    if len(at) == 2:  # the judge lists a matrix by columns if it is stored so
        order = np.lexsort((at[1], at[0]))
        at, values = [part[order] for part in at], np.asarray(values)[order]
    return (dtype, tuple(result.shape), *at, np.asarray(values))


def same(got: tuple[Any, ...], want: tuple[Any, ...], values: bool = True) -> bool:
    """Return whether two plain results agree; without `values`, in type, shape and positions only."""
    if got[:2] != want[:2]:
        return False
    if not got[1]:
        return got[2] == want[2] or _close(got[2], want[2], got[0]) or (not values and None not in (got[2], want[2]))
    if any(not np.array_equal(a, b) for a, b in zip(got[2:-1], want[2:-1], strict=True)):
        return False
    return not values or _close(got[-1], want[-1], got[0])


def _close(got: Any, want: Any, dtype: str) -> bool:
    if got is None or want is None:
        return got is want
    if dtype[:2] not in ("FP", "FC"):
        return bool(np.array_equal(got, want))
    rtol, atol = 1e-5 if dtype.endswith("32") else 1e-12, 0.0
    with np.errstate(all="ignore"):
        if dtype.startswith("FC"):  # rounding of one part shows in the other, which may be zero
            atol = rtol * float(np.max(np.abs(want), initial=0, where=np.isfinite(want)))
        return bool(np.allclose(got, want, rtol=rtol, atol=atol, equal_nan=True))


def attempt(statement: Statement, g: Any, o: Any) -> tuple[Any, ...] | Exception:
    """Return the plain result of a statement, or its error."""
    try:
        return plain(statement(g, o))
    except Exception as error:
        return error


def like(got: Exception, want: Exception) -> bool:
    """Return whether an error has the name of the judge's error, or is caught as it."""
    return type(got).__name__ == type(want).__name__ or isinstance(got, type(want))


def lacks_a_semiring(want: Any) -> bool:
    """Return whether the judge refuses because outer or a broadcast needs a semiring that it lacks for BOOL."""
    return isinstance(want, KeyError) and "any_" in str(want)


def judge(
    statement: Statement, arrays: dict[str, Arrays], engine: Engine, label: Any = "", *, values: bool = True
) -> None:
    """Run a statement on both modules and compare; without `values`, compare types, shapes and positions only.

    If the judge refuses a statement, sparsezc must refuse it with the same error.
    """
    ours = Operands(lambda x: engine.put(make(sparsezc, x)), arrays)
    got = attempt(statement, sparsezc, ours)
    if rehearsing():
        return
    want = attempt(statement, graphblas, Operands(lambda x: make(graphblas, x), arrays))
    if lacks_a_semiring(want):
        return
    if isinstance(want, Exception) or isinstance(got, Exception):
        if not (isinstance(want, Exception) and isinstance(got, Exception) and like(got, want)):
            cause = got if isinstance(got, Exception) else None
            raise AssertionError(f"{label} on {engine}: got\n{got!r}\nand the judge says\n{want!r}") from cause
        return
    assert same(got, want, values), f"{label} on {engine}: got\n{got}\nand the judge says\n{want}"


#: Forms of a target by name: the arguments of ``w(...)``; `m` is the mask's parent.
MASKS: dict[str, Callable[[Any], Any]] = {
    "none": lambda m: None,
    "structure": lambda m: m.S,
    "values": lambda m: m.V,
    "not structure": lambda m: ~m.S,
    "not values": lambda m: ~m.V,
}
ACCUMULATORS: dict[str, Callable[[Any], Any]] = {
    "none": lambda g: None,
    "plus": lambda g: g.binary.plus,
    "min": lambda g: "min",
    "second": lambda g: g.binary.second,
}


def ways() -> Iterator[tuple[str, str, bool]]:
    """Yield every (mask, accumulator, replace) that is allowed."""
    for mask in MASKS:
        for accum in ACCUMULATORS:
            for replace in (False, True) if mask != "none" else (False,):
                yield mask, accum, replace


def target(g: Any, out: Any, parent: Any, mask: str, accum: str, replace: bool) -> Any:
    """Return ``out(mask, accum, replace)`` of either module."""
    given = {"mask": MASKS[mask](parent), "accum": ACCUMULATORS[accum](g)}
    given = {k: x for k, x in given.items() if x is not None}
    return out(replace=replace, **given) if given else out
