"""Conversion of other libraries' sparse matrices by way of three arrays, shared by their modules.

A `form` is "csr", "csc" or "coo". Its three arrays are offsets, ids and values, or for "coo" row ids, column ids and
values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sparsezc.exceptions import InvalidValue
from sparsezc.io.interop.csr_arrays import from_coo_arrays, from_csr_arrays, to_coo_arrays, to_csr_arrays

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix
    from sparsezc.core.vector import Vector


def choice(where: str, name: str, given: Any, allowed: Sequence[str]) -> str:
    """Return an argument in lower case after checking that it is one of the allowed words.

    Raises
    ------
    InvalidValue
        It is another word; the message lists the allowed ones.
    """
    found = str(given).lower()
    if found not in allowed:
        raise InvalidValue(f"{where}: {name}={given!r} is not one of {', '.join(allowed)}")
    return found


def matrix_of(
    form: str,
    parts: tuple[Any, Any],
    values: Any,
    shape: tuple[int, int],
    *,
    dup_op: Any = None,
    copy: bool = False,
    engine: str | None = None,
    name: str | None = None,
) -> Matrix:
    """Make a Matrix from the arrays of a form, on their engine; `dup_op` is for "coo", `copy` for the other forms."""
    (first, second), (nrows, ncols) = parts, shape
    if form == "coo":
        return from_coo_arrays(
            first, second, values, nrows=nrows, ncols=ncols, dup_op=dup_op, engine=engine, name=name
        )  # fmt: skip
    if form == "csr":
        return from_csr_arrays(first, second, values, ncols=ncols, copy=copy, engine=engine, name=name)
    flipped = from_csr_arrays(first, second, values, ncols=nrows, copy=copy, engine=engine)
    made: Matrix = flipped.T.new(name=name)
    return made


def parts_of(A: Any, form: str, dtype: Any = None, *, copy: bool = False) -> tuple[Any, Any, Any]:
    """Return the three arrays of a Matrix in a form; without `copy` they may be the matrix's own."""
    if form == "coo":
        rows, columns, values = to_coo_arrays(A, dtype=dtype)
        return rows, columns, values.copy() if copy else values
    return to_csr_arrays(A, by_columns=form == "csc", dtype=dtype, copy=copy)


def from_coordinates(
    ids: Sequence[Any], values: Any, shape: Sequence[int], dup_op: Any = None, name: str | None = None
) -> Matrix | Vector:  # fmt: skip
    """Make a Vector or a Matrix from NumPy arrays of coordinates, one for each dimension."""
    from sparsezc.core.matrix import Matrix
    from sparsezc.core.vector import Vector

    if len(ids) == 1:
        found: Vector = Vector.from_coo(ids[0], values, size=shape[0], dup_op=dup_op, name=name)
        return found
    rows, columns = ids
    made: Matrix = Matrix.from_coo(rows, columns, values, nrows=shape[0], ncols=shape[1], dup_op=dup_op, name=name)
    return made


def require_int32(A: Any, where: str) -> None:
    """Raise InvalidValue for a Matrix whose ids or offsets do not fit a library's 32 bits."""
    if max(A.nrows, A.ncols, A.nvals) >= 2**31:
        raise InvalidValue(f"{where}: A is {A.nrows} x {A.ncols} with {A.nvals} entries; 2**31 - 1 are possible")
