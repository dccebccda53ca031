"""Matrix Market files by python-graphblas's functions, ``mmread`` and ``mmwrite``.

Unlike :func:`sparsezc.io.read`, ``mmread`` refuses duplicates unless `dup_op` merges them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.exceptions import InvalidValue
from sparsezc.io.files.atomic_write import Output
from sparsezc.io.formats.mtx import FIELDS, triplets
from sparsezc.io.interop.scipy_sparse import to_scipy_sparse

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix


def mmread(source: Any, engine: str = "auto", *, dup_op: Any = None, name: str | None = None, **kwargs: Any) -> Matrix:
    """Read a Matrix Market file, as python-graphblas's function does: whole numbers as INT64, fractions as FP64.

    Parameters
    ----------
    source : str, path or file object
    engine : {"auto", "scipy", "fmm", "fast_matrix_market"}
        All choose the fast_matrix_market reader of SciPy.
    dup_op : BinaryOp, optional
        The operator that merges entries of one position; without it such entries are an error.
    """
    from sparsezc.core.matrix import Matrix

    _check_engine(engine)
    if kwargs:
        raise InvalidValue(f"mmread does not know the argument {sorted(kwargs)[0]!r}")
    rows, cols, values, shape = triplets(source)
    made: Matrix = Matrix.from_coo(rows, cols, values, nrows=shape[0], ncols=shape[1], dup_op=dup_op, name=name)
    return made


def mmwrite(
    target: Any, matrix: Any, engine: str = "auto", *, comment: str = "", field: str | None = None,
    precision: int | None = None, symmetry: str | None = None, **kwargs: Any,
) -> None:  # fmt: skip
    """Write a Matrix as a Matrix Market file, as python-graphblas's function does.

    Parameters
    ----------
    target : str, path or file object
        A file given by its name appears complete or not at all.
    matrix : Matrix
    engine : {"auto", "scipy", "fmm", "fast_matrix_market"}
    comment : str
        Lines at the head of the file.
    field : {"real", "pattern", "integer", "unsigned-integer"}, optional
    precision : int, optional
        Digits of real values; by default as many as restore the same value.
    symmetry : {"general", "symmetric", "skew-symmetric", "AUTO"}, optional
        By default "general"; "AUTO" detects the symmetry.
    """
    from scipy import io as scipy_io

    _check_engine(engine)
    if kwargs:
        raise InvalidValue(f"mmwrite does not know the argument {sorted(kwargs)[0]!r}")
    if field is not None and field not in FIELDS:
        raise InvalidValue(f"field={field!r} is not one of {', '.join(FIELDS)}")
    array = to_scipy_sparse(matrix, "coo")
    if array.dtype == np.bool_:
        array = array.astype(np.int8)
    options = {"comment": comment, "field": field, "precision": precision, "symmetry": symmetry or "general"}
    if not isinstance(target, (str, os.PathLike)):
        scipy_io.mmwrite(target, array, **options)
        return
    with Output(Path(target)) as out, out.open() as file:
        scipy_io.mmwrite(file, array, **options)


def _check_engine(engine: str) -> None:
    if str(engine).lower() not in ("auto", "scipy", "fmm", "fast_matrix_market"):
        raise InvalidValue(
            f'Bad engine value: engine={engine!r} is not one of "auto", "scipy", "fmm", "fast_matrix_market"'
        )
