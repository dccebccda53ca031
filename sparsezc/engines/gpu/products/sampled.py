"""Products of two full panels: at a mask's entries only (sampled.cu), or of a panel and a small full matrix (CuPy).

The first is known as SDDMM. The result has the mask's own offsets and ids, which are shared; only values are made.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.elementwise import panel
from sparsezc.engines.gpu.elementwise.matrix_merge import MaskRows
from sparsezc.engines.gpu.elementwise.panel import Panel
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.runtime.codegen import evaluate, function, typedefs
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.engines.gpu.storage.vector_store import VectorStore
from sparsezc.expr.expression import Step, Weights
from sparsezc.memory import allocate, budget
from sparsezc.semirings import binary
from sparsezc.semirings.semiring import any_pair, plus_times
from sparsezc.semirings.types.datatypes import BOOL, DataType


class Sides(NamedTuple):
    """Full panels whose product is wanted at some entries: X by rows, Y by columns; and the steps to its weights."""

    semiring: Any
    left: Panel
    right: Panel
    weights: tuple[Weights, ...] = ()

    @property
    def inner(self) -> int:
        return self.left.width

    @property
    def prelude(self) -> str:
        return _prelude(self.semiring, self.left.vector.dtype, self.right.vector.dtype, self.inner)

    @property
    def dtype(self) -> DataType:
        """The type of weights."""
        return (
            _types(self.semiring.return_type, self.weights[0].steps)[-1] if self.weights else self.semiring.return_type
        )

    @property
    def weighing(self) -> str:
        return _weighing(self.semiring.return_type, self.weights)

    @property
    def reads_values(self) -> bool:
        """Return whether steps read the values of the matrix whose entries are sampled."""
        return any(step.kind == "ewise_mult" for each in self.weights for step in each.steps)

    def arguments(self) -> dict[str, Any]:
        return {"left": self.left.vector.values, "right": self.right.vector.values, "inner": self.inner}


def sides(semiring: Any, a: Any, b: Any, weights: tuple[Weights, ...] = ()) -> Sides | None:
    """Return the panels of A and B of A B; None where one is none, or has places without an entry."""
    left, right = _full(a, a._transposed), _full(b, not b._transposed)
    return None if left is None or right is None else Sides(semiring, left, right, weights)


def _full(matrix: Any, across: bool) -> Panel | None:
    """Return a matrix that lies `across` (few rows) or along (few columns) as a panel; None where it is no full one."""
    store: MatrixStore = matrix._store
    size = store.nrows * store.ncols
    shape = panel.shape_of(store.nrows, store.ncols)
    if shape is None or shape[1] != across or store.nvals != size:
        return None
    if not store.is_panel and not panel.fits(size, store.dtype):
        return None
    return panel.get_or_build(store, *shape)


def at_entries(given: Sides, mask: MaskRows) -> MatrixStore:
    """Return the product at the mask's entries, which must count by being there."""
    gpu, rows, dtype = cuda.current(), mask.rows, given.semiring.return_type
    shape = rows.nrows, rows.ncols
    if rows.nvals == 0:
        return MatrixStore(dtype, *shape, None)
    nbytes = rows.nvals * dtype.np_type.itemsize
    values = allocate(budget.fitting(rows.indices.placement, nbytes), rows.nvals, dtype.np_type)
    prelude = typedefs(Id="u64" if rows.wide else "u32", W=dtype) + "\n" + given.prelude
    kernel = codegen.kernel(gpu, "sampled.cu", prelude, "sampled")
    stats.counted(kernel, placements.lie_near(rows))(
        launch.blocks(gpu, rows.nvals), nvals=rows.nvals, nrows=rows.nrows, indptr=rows.indptr,
        indices=rows.indices.pointer, **given.arguments(), out=values.pointer,
    )  # fmt: skip
    gpu.synchronize()  # the host may read the result's pages now
    made = Rows(rows.nrows, rows.ncols, rows.nvals, rows.indptr, rows.indices, values, False)
    return MatrixStore(dtype, *shape, made)


def times_small(semiring: Any, a: Any, b: Any, width: int, across: bool) -> VectorStore | None:
    """Return a full panel times a small full matrix, or with `across` a small one times a panel, as a panel of `width`.

    None where it is no such product, or not one of floats over plus_times.
    """
    few, large = (a, b) if across else (b, a)
    result: DataType = semiring.return_type
    if semiring.op is not plus_times or not (result.is_float or result.is_complex):
        return None
    if not has_blas():
        return None
    x = _full(large, across != large._transposed)
    small: MatrixStore = few._store
    if x is None or small.nvals != small.nrows * small.ncols or not panel.fits(x.length * width, result):
        return None
    factor = dense(small).astype(result.np_type, copy=False)
    if few._transposed != across:  # what X is multiplied by from the right
        factor = factor.T
    made = VectorStore(result, x.length * width)
    rows = x.vector.values.reshape(x.length, x.width).astype(result.np_type, copy=False)
    made.set((rows @ factor).ravel(), all_bits(made.size), made.size)
    return made


@cache
def has_blas() -> bool:
    """Return whether CuPy finds cuBLAS, which its smallest installation lacks."""
    one = cuda.current().xp.ones((1, 1))
    try:
        return float((one @ one)[0, 0]) == 1
    except (ImportError, OSError, RuntimeError):
        return False


def all_bits(size: int) -> Any:
    """Presence words of which every bit below `size` is set."""
    bits = cuda.current().xp.full(-(-size // 32), 2**32 - 1, np.uint32)
    if size % 32:
        bits[-1] = 2 ** (size % 32) - 1
    return bits


def dense(store: MatrixStore) -> Any:
    """Return a full matrix as an array of two dimensions."""
    if store.panel is not None:
        held: Panel = store.panel
        array = held.vector.values.reshape(held.length, held.width)
        return array.T if held.across else array
    rows = store.rows
    assert rows is not None
    xp = cuda.current().xp
    values = rows.values.load()
    return (xp.full(rows.nvals, values[0]) if rows.iso else values).reshape(store.nrows, store.ncols)


@lru_cache(maxsize=256)
def _prelude(semiring: Any, left: DataType, right: DataType, inner: int) -> str:
    """Return the part of a prelude that sampled.cuh reads."""
    multiply = evaluate(semiring, x="v", y="w", i="row", k="shared", j="col")
    inside = (
        typedefs(Z=semiring.return_type),
        codegen.monoid(semiring.monoid),
        function("Z", "multiply", "L v, R w, u64 row, u64 shared, u64 col", multiply),
    )
    group = 1 << max(0, min(inner, 32) - 1).bit_length()
    return "\n".join((typedefs(L=left, R=right), f"constexpr u32 GROUP = {group};", "namespace dot {", *inside, "}"))


@lru_cache(maxsize=256)
def _weighing(dtype: DataType, weights: tuple[Weights, ...]) -> str:
    """Return the part of a prelude with the steps from a product, of type `dtype`, to weights (spmm.cuh)."""
    lines, cases, columns = [], [], []
    for number, (stop, steps) in enumerate(weights or (Weights(0, ()),)):
        body, types = [], _types(dtype, steps)
        for k, step in enumerate(steps):
            name = f"step_{number}_{k}"
            value = {"x": "v", "y": "v", "i": "row", "j": "col", "k": "col"}
            if step.kind == "ewise_mult":
                value["x"] = "own"
            elif step.kind != "apply":
                value["y"] = f"({step.right_type.literal(step.right)})"
            text = "return v * v;" if _squares(step, types[k]) else evaluate(step.op, elementwise=True, **value)
            given = f"{types[k].ctype} v, Own own, u64 row, u64 col"
            lines.append(function(step.return_type.ctype, name, given, text))
            call = f"{name}(v{k}, own, row, col)"
            kept = f"if (!(bool){call}) return false; const {types[k].ctype} v{k + 1} = v{k};"
            body.append(kept if step.kind == "select" else f"const {types[k + 1].ctype} v{k + 1} = {call};")
        start = f"const {dtype.ctype} v0 = w;"
        end = f"a = cast<A>(v{len(steps)}); return true;"
        lines.append(function("bool", f"weigh_{number}", _WEIGHED, " ".join((start, *body, end))))
        cases.append(f"if (k == {number}) return weigh_{number}(w, own, row, col, a);")
        columns.append(f"if (column < {stop}) return {number};")
    drops = any(step.kind == "select" for each in weights for step in each.steps)
    lines.append(function("bool", "weigh", f"u32 k, {_WEIGHED}", " ".join((*cases, "return false;"))))
    lines.append(function("u32", "weight_of", "u64 column", " ".join((*columns[:-1], f"return {len(columns) - 1};"))))
    lines.append(f"constexpr u32 WEIGHTS = {len(columns)};\nconstexpr bool DROPS = {str(drops).lower()};")
    return "\n".join(lines)


def _squares(step: Step, dtype: DataType) -> bool:
    """Return whether a step squares a float, for which CUDA's pow takes some hundred instructions."""
    powers = step.kind == "apply_right" and step.op.op is binary.pow and step.right == 2
    return powers and dtype.is_float and dtype is step.return_type


def _types(dtype: DataType, steps: tuple[Step, ...]) -> list[DataType]:
    """Return the type before each step, and after the last."""
    found = [dtype]
    for step in steps:
        found.append(found[-1] if step.kind == "select" else step.return_type)
    return found


_WEIGHED = "dot::Z w, Own own, u64 row, u64 col, A& a"


def not_sampled(dtype: DataType = BOOL) -> tuple[str, str]:
    """Return the parts of a prelude of a kernel that can sample where nothing is sampled: of any product of panels."""
    return _prelude(any_pair[BOOL], dtype, dtype, 1), _weighing(BOOL, ())
