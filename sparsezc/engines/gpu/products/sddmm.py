"""Products of full panels: of two at a mask's entries only (sddmm.cu), or of one and a small full matrix (CuPy).

The first is known as SDDMM. The result shares the mask's offsets and ids; only its values are computed.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, NamedTuple

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.elementwise import panel
from sparsezc.engines.gpu.elementwise.matrix_merge import MaskRows
from sparsezc.engines.gpu.elementwise.panel import Panel
from sparsezc.engines.gpu.runtime import codegen, launch, presence_words
from sparsezc.engines.gpu.runtime.codegen import evaluate, function, typedefs
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.engines.gpu.storage.vector_store import VectorStore
from sparsezc.expr.expression import Step, Weights
from sparsezc.memory import allocate, budget
from sparsezc.semirings import binary
from sparsezc.semirings.semiring import any_pair, plus_times
from sparsezc.semirings.types.datatypes import BOOL, DataType

_SECTOR = 32  # bytes of device memory that a request reads at least: one lane reads a panel's row of at most so many


class Sides(NamedTuple):
    """Two full panels, X by rows and Y by columns, whose product is sampled, and the steps from it to weights."""

    semiring: Any
    left: Panel
    right: Panel
    weights: tuple[Weights, ...] = ()

    @property
    def inner(self) -> int:
        return self.left.width

    @property
    def prelude(self) -> str:
        panels = self.left.vector, self.right.vector
        aligned = is_aligned(*(x.values for x in panels))
        return _prelude(self.semiring, *(x.dtype for x in panels), self.inner, aligned)

    @property
    def is_narrow(self) -> bool:
        """Return whether one lane reads a whole row of either panel."""
        return _is_narrow(self.left.vector.dtype, self.right.vector.dtype, self.inner)

    @property
    def dtype(self) -> DataType:
        """The type of the weights or, without steps, of the product."""
        return (
            _types(self.semiring.return_type, self.weights[0].steps)[-1] if self.weights else self.semiring.return_type
        )

    @property
    def weighing(self) -> str:
        return _weighing(self.semiring.return_type, self.weights)

    @property
    def reads_values(self) -> bool:
        """Return whether steps read the values of the matrix at whose entries the product is sampled."""
        return any(step.kind == "ewise_mult" for each in self.weights for step in each.steps)

    def arguments(self) -> dict[str, Any]:
        return {"left": self.left.vector.values, "right": self.right.vector.values, "inner": self.inner}


def sides(semiring: Any, a: Any, b: Any, weights: tuple[Weights, ...] = ()) -> Sides | None:
    """Return the panels of the product A B; None if A or B is no full panel."""
    left, right = _full(a, a._transposed), _full(b, not b._transposed)
    return None if left is None or right is None else Sides(semiring, left, right, weights)


def _full(matrix: Any, across: bool) -> Panel | None:
    """Return a full matrix as a panel, with few rows (`across`) or few columns; None if it is not such a matrix."""
    store: MatrixStore = matrix._store
    size = store.nrows * store.ncols
    shape = panel.shape_of(store.nrows, store.ncols)
    if shape is None or shape[1] != across or store.nvals != size:
        return None
    if not store.is_panel and not panel.fits(size, store.dtype):
        return None
    return panel.get_or_build(store, *shape)


def at_entries(given: Sides, mask: MaskRows) -> MatrixStore:
    """Return the product at the entries of a structural mask."""
    gpu, rows, dtype = cuda.current(), mask.rows, given.semiring.return_type
    shape = rows.nrows, rows.ncols
    if rows.nvals == 0:
        return MatrixStore(dtype, *shape, None)
    nbytes = rows.nvals * dtype.np_type.itemsize
    values = allocate(budget.fitting(rows.indices.placement, nbytes), rows.nvals, dtype.np_type)
    prelude = typedefs(Id="u64" if rows.wide else "u32", W=dtype) + "\n" + given.prelude
    kernel = codegen.kernel(gpu, "sddmm.cu", prelude, "sampled")
    stats.counted(kernel, placements.in_device_memory(rows))(
        launch.blocks(gpu, rows.nvals), nvals=rows.nvals, nrows=rows.nrows, indptr=rows.indptr,
        indices=rows.indices.pointer, **given.arguments(), out=values.pointer,
    )  # fmt: skip
    gpu.synchronize()  # the host may read the result's pages now
    made = Rows(rows.nrows, rows.ncols, rows.nvals, rows.indptr, rows.indices, values, False)
    return MatrixStore(dtype, *shape, made)


def times_small(semiring: Any, a: Any, b: Any, width: int, across: bool) -> VectorStore | None:
    """Return a full panel times a small full matrix, or with `across` the reverse product, as a panel of `width`.

    None if the product is another, not of floats, or not over plus_times.
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
    if few._transposed != across:  # the right factor of X
        factor = factor.T
    made = VectorStore(result, x.length * width)
    rows = x.vector.values.reshape(x.length, x.width).astype(result.np_type, copy=False)
    made.set((rows @ factor).ravel(), presence_words.full(made.size), made.size)
    return made


def _is_narrow(left: DataType, right: DataType, inner: int) -> bool:
    return inner * max(left.np_type.itemsize, right.np_type.itemsize) <= _SECTOR


def is_aligned(*arrays: Any) -> bool:
    """Return whether all arrays begin at multiples of 16 bytes, as all do that are no views into others."""
    return all(isinstance(x, int) or cuda.current().pointer(x) % 16 == 0 for x in arrays)


@cache
def has_blas() -> bool:
    """Return whether CuPy can load cuBLAS, which its smallest installation lacks."""
    one = cuda.current().xp.ones((1, 1))
    try:
        return float((one @ one)[0, 0]) == 1
    except (ImportError, OSError, RuntimeError):
        return False


def dense(store: MatrixStore) -> Any:
    """Return a full matrix as a two-dimensional device array."""
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
def _prelude(semiring: Any, left: DataType, right: DataType, inner: int, aligned: bool) -> str:
    """Return the part of a prelude that sddmm.cuh reads."""
    multiply = evaluate(semiring, x="v", y="w", i="row", k="shared", j="col")
    inside = (
        typedefs(Z=semiring.return_type),
        codegen.monoid(semiring.monoid),
        function("Z", "multiply", "L v, R w, u64 row, u64 shared, u64 col", multiply),
    )
    alone = _is_narrow(left, right, inner)
    group = 1 if alone else 1 << max(0, min(inner, 32) - 1).bit_length()
    sizes = f"constexpr u32 GROUP = {group}, INNER = {inner if alone else 0};"
    return "\n".join(
        (typedefs(L=left, R=right), sizes, codegen.flags(ALIGNED_SIDES=aligned), "namespace dot {", *inside, "}")
    )


@lru_cache(maxsize=256)
def _weighing(dtype: DataType, weights: tuple[Weights, ...]) -> str:
    """Return the part of a prelude that computes weights from a product of type `dtype` (spmm.cuh).

    The steps with which all weights begin are computed once.
    """
    each = weights or (Weights(0, ()),)
    alike = next((k for k, some in enumerate(zip(*(x.steps for x in each), strict=False)) if len(set(some)) > 1), None)
    alike = min(len(x.steps) for x in each) if alike is None else alike
    shared, lines = _steps(dtype, each[0].steps[:alike], "of all", "return 0;")
    parts, columns = [], []
    start = _types(dtype, each[0].steps[:alike])[-1]
    for number, (stop, steps) in enumerate(each):
        body, more = _steps(start, steps[alike:], f"of {number}", "break;")
        lines += more
        bodies = (
            f"const {start.ctype} v0 = all; {body} a[{number}] = cast<A>(v{len(steps) - alike}); has |= {1 << number}u;"
        )
        parts.append(f"do {{ {bodies} }} while (false);")
        columns.append(f"if (column < {stop}) return {number};")
    drops = any(step.kind == "select" for x in each for step in x.steps)
    body = f"const {dtype.ctype} v0 = w; {shared} const {start.ctype} all = v{alike}; u32 has = 0; {' '.join(parts)}"
    lines.append(f"constexpr u32 WEIGHTS = {len(columns)};\nconstexpr bool DROPS = {str(drops).lower()};")
    lines.append(
        function("u32", "weigh", "dot::Z w, Own own, u64 row, u64 col, A (&a)[WEIGHTS]", f"{body} return has;")
    )
    lines.append(function("u32", "weight_of", "u64 column", " ".join((*columns[:-1], f"return {len(columns) - 1};"))))
    return "\n".join(lines)


def _steps(dtype: DataType, steps: tuple[Step, ...], which: str, end: str) -> tuple[str, list[str]]:
    """Return C++ statements that compute v1, v2 ... from v0, or `end` if a step drops the entry; their functions."""
    body, lines, types = [], [], _types(dtype, steps)
    for k, step in enumerate(steps):
        name = f"step_{which.replace(' ', '_')}_{k}"
        value = {"x": "v", "y": "v", "i": "row", "j": "col", "k": "col"}
        if step.kind == "ewise_mult":
            value["x"] = "own"
        elif step.kind != "apply":
            value["y"] = f"({step.right_type.literal(step.right)})"
        text = "return v * v;" if _squares(step, types[k]) else evaluate(step.op, elementwise=True, **value)
        lines.append(function(step.return_type.ctype, name, f"{types[k].ctype} v, Own own, u64 row, u64 col", text))
        call = f"{name}(v{k}, own, row, col)"
        kept = f"if (!(bool){call}) {end} const {types[k].ctype} v{k + 1} = v{k};"
        body.append(kept if step.kind == "select" else f"const {types[k + 1].ctype} v{k + 1} = {call};")
    return " ".join(body), lines


def _squares(step: Step, dtype: DataType) -> bool:
    """Return whether a step squares a float, for which CUDA's pow takes some hundred instructions."""
    powers = step.kind == "apply_right" and step.op.op is binary.pow and step.right == 2
    return powers and dtype.is_float and dtype is step.return_type


def _types(dtype: DataType, steps: tuple[Step, ...]) -> list[DataType]:
    """Return the type of the value before each step, and after the last."""
    found = [dtype]
    for step in steps:
        found.append(found[-1] if step.kind == "select" else step.return_type)
    return found


def not_sampled(dtype: DataType = BOOL) -> tuple[str, str]:
    """Return the parts of a prelude that a kernel needs for sampling when it does not sample: those of any product."""
    return _prelude(any_pair[BOOL], dtype, dtype, 1, False), _weighing(BOOL, ())
