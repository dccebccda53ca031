"""The column among each row's entries at which a vector is largest: a product whose sums are a column and its score."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.products import spmv
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore
from sparsezc.engines.gpu.storage.vector_store import ALL, VectorStore
from sparsezc.semirings.algebra.operators import BinaryOp
from sparsezc.semirings.algebra.structures import Monoid, Semiring
from sparsezc.semirings.types.datatypes import FC64, FP64, INT64, UINT64, DataType

_BITS = "__double_as_longlong({}.%s)"
#: By the type in which scores are compared: C++ text for a score as a double's bits and back, and the least score.
_STORED = {FP64: "y", INT64: "__longlong_as_double(y)", UINT64: "__longlong_as_double(i64(y))"}
_READ = {FP64: "{}.im", INT64: _BITS % "im", UINT64: f"u64({_BITS % 'im'})"}
_LEAST = {FP64: -np.inf, INT64: -0.0, UINT64: 0.0}


def best_column(matrix: MatrixStore, transposed: bool, vector: VectorStore) -> VectorStore:
    """Return each row's column with the largest entry of the vector, INT64; of equal entries the first column."""
    size = matrix.ncols if transposed else matrix.nrows
    sums, best = VectorStore(FC64, size), VectorStore(INT64, size)
    spmv.spmv(matrix, transposed, vector, _semiring(vector.dtype), sums, ALL, vector_left=False)
    if sums.bits is not None:
        columns = cuda.current().xp.ascontiguousarray(sums.values.view(np.int64)[::2])
        best.set(columns, sums.bits, sums.count)
    return best


def _semiring(dtype: DataType) -> Any:
    """Return the semiring for a vector of this type."""
    return _of_scores(FP64 if dtype.is_float else UINT64 if dtype.is_bool or dtype.np_type.kind == "u" else INT64)


@lru_cache(maxsize=3)
def _of_scores(scores: DataType) -> Any:
    """Return the semiring whose sums are complex numbers: the bits of the column, then those of its score.

    The column is first, as atomics on 16 bytes lock them by a marker in the first half, which no column equals.
    """
    x, y, j, k = (text.format(name) for text in (_READ[scores], _BITS % "re") for name in "xy")
    better = BinaryOp(
        "better",
        numpy=_refused,
        cuda=f"{x} < {y} || ({x} == {y} && {k} < {j}) ? y : x",
        domain={FC64: (FC64, FC64)},
        commutes_to="better",
    )
    least = complex(np.inf, _LEAST[scores])
    best = Monoid(better, identity=lambda _: least, domain={FC64: (FC64, FC64)}, is_idempotent=True)
    pair = f"c128(__longlong_as_double(k), {_STORED[scores]})"
    scored = BinaryOp("scored", numpy=_refused, cuda=pair, domain={scores: (scores, FC64)})
    return Semiring(best, scored)[scores]


def _refused(*_: Any) -> Any:
    raise NotImplementedError("this semiring has no NumPy form, only kernels")
