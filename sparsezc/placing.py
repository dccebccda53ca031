"""How a matrix gets to another engine or into another placement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sparsezc import engines
from sparsezc.config import config
from sparsezc.engines import cpu
from sparsezc.errors import InvalidValue, warn_slow
from sparsezc.memory import budget

if TYPE_CHECKING:
    from sparsezc.matrix import Matrix

__all__ = ["bits_per_id", "compressed", "placed", "reordered", "say_that_it_moves"]

_NOTEWORTHY_BYTES = 1 << 20  # moving less than this is not worth a word


def say_that_it_moves(matrix: Matrix, engine: str, nbytes: int) -> None:
    """A matrix follows a statement to another engine: once each, and worth knowing where it is large."""
    if nbytes < _NOTEWORTHY_BYTES or config.fallback == "silent":
        return
    said = f"matrix {matrix.name} ({nbytes:,} bytes) is needed on engine {engine!r}"
    if config.fallback == "error":
        raise InvalidValue(f"{said} and config.fallback is 'error': use {matrix.name}.to({engine!r}) first")
    warn_slow(f"{said} and moves there; {matrix.name}.to({engine!r}) says so")


def placed(matrix: Matrix, engine: str | None, placement: str | None, with_transpose: bool) -> Matrix:
    """The matrix on an engine and in a placement: itself where nothing changes, else a copy; see :meth:`Matrix.to`."""
    if engine is None:
        engine = "cpu" if placement == "host" else "gpu"
    there = engines.get(engine)
    if matrix._engine is there and placement is None and not with_transpose:
        return matrix
    if there is cpu.engine():
        if placement not in (None, "host"):
            raise InvalidValue(
                f"{matrix.name}.to: placement={placement!r} is none of engine {engine!r}, which has 'host'"
            )
        if matrix._engine is there:
            return matrix
        csr, wanted = matrix._to_csr(), "host"
    elif placement == "host":
        raise InvalidValue(f"{matrix.name}.to: placement='host' is none of engine {engine!r}; it is the CPU engine's")
    elif matrix.dtype.is_udt:  # its content stays in host memory, whatever engine has it
        csr, wanted = matrix._to_csr(), "host"
    else:
        csr = matrix._to_csr()
        lies = csr.indices.placement
        wanted = budget.resolve(placement or config.placement, csr.placed_nbytes, csr.nrows, lies=lies)
        if matrix._engine is there and lies == wanted and not with_transpose:
            return matrix
    placed = csr.place(wanted)
    made: Matrix = type(matrix)._from_csr(placed, engine, name=matrix.name, adopt=placed is not csr)
    if with_transpose:
        there.keep_transpose(made._store)
    return made


def compressed(matrix: Matrix, order: str) -> Matrix:
    """A matrix with its ids compressed; see :meth:`Matrix.compress`."""
    if order not in ("natural", "degree", "auto"):
        raise InvalidValue(f"{matrix.name}.compress: order={order!r} is none; choose 'natural', 'degree' or 'auto'")
    if order == "degree" and matrix.shape[0] != matrix.shape[1]:
        raise InvalidValue(f"{matrix.name}.compress: order='degree' needs a square matrix; this is of {matrix.shape}")
    here = placed(matrix, "gpu", None, False)
    engine, store = here._need()
    made: Matrix = type(matrix)._from_store(engine, engine.compress(store, order), here.dtype, here.shape)
    made._symmetric = matrix._symmetric
    return made


def reordered(matrix: Matrix, order: ArrayLike) -> Matrix:
    """A matrix with its vertices in an order of its own; see :meth:`Matrix.reorder`."""
    nrows, ncols = matrix.shape
    if nrows != ncols or nrows > 2**32:
        raise InvalidValue(
            f"{matrix.name}.reorder needs a square matrix of at most 2^32 rows; this is of {matrix.shape}"
        )
    vertices = np.asarray(order)
    given = vertices.ndim == 1 and vertices.size == nrows and vertices.dtype.kind in "iu"
    if not given or not np.array_equal(np.sort(vertices), np.arange(nrows)):
        said = f"{vertices.dtype} of shape {vertices.shape}"
        raise InvalidValue(
            f"{matrix.name}.reorder: order must have each of the numbers 0 .. {nrows - 1} once; got {said}"
        )
    here = placed(matrix, "gpu", None, False)
    engine, store = here._need()
    made: Matrix = type(matrix)._from_store(engine, engine.reorder(store, vertices), here.dtype, here.shape)
    made._symmetric = matrix._symmetric
    return made


def bits_per_id(matrix: Matrix) -> float:
    """Bits of an id, with all that says where it lies; 0 where there are none."""
    if matrix.nvals == 0:
        return 0.0
    engine, store = matrix._need()
    return engine.id_bytes(store) * 8 / matrix.nvals
