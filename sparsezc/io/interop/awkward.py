"""Conversion to and from Awkward Arrays: ragged rows of indices and values, with python-graphblas's fields.

Awkward is imported when a function of this module is called: ``pip install awkward``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.exceptions import InvalidValue
from sparsezc.io.build.limits import need_numbers, wrong_type
from sparsezc.io.build.optional import need
from sparsezc.io.interop.sparse_parts import from_coordinates

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix
    from sparsezc.core.vector import Vector

_FORMATS = {1: ("vec",), 2: ("csr", "csc", "hypercsr", "hypercsc")}


def from_awkward(A: Any, *, name: str | None = None) -> Matrix | Vector:
    """Make a Matrix or a Vector from an Awkward Array that :func:`to_awkward` or python-graphblas's function made.

    The object's own arrays are one copy.

    Parameters
    ----------
    A : awkward.Array
        An array with the parameters `format` and `shape`.
    name : str, optional

    Raises
    ------
    PackageMissing
        Awkward is not installed.
    DomainMismatch
        `A` is no Awkward Array.
    InvalidValue
        `A` lacks the parameters `format` and `shape`, or they contradict each other.
    """
    from sparsezc.core.matrix import Matrix

    ak = need("awkward")
    if not isinstance(A, ak.Array):
        raise wrong_type("from_awkward", "A", A, "an Awkward Array")
    told = ak.parameters(A)
    form, shape = told.get("format"), told.get("shape")
    if form is None or shape is None or len(shape) not in _FORMATS:
        raise InvalidValue(f"from_awkward: Missing parameters: A has {told}; to_awkward gives it format and shape")
    _check_format(form, len(shape), "from_awkward")
    if form == "vec":
        return from_coordinates([_flat(A, "indices")], _flat(A, "values"), shape, name=name)
    rows = A["data"] if form.startswith("hyper") else A
    layout = ak.to_packed(rows).layout
    offsets = np.asarray(layout.offsets.data)
    ids, values = (np.asarray(layout.content.content(field).data) for field in ("indices", "values"))
    sizes: dict[str, Any] = {"nrows": shape[0], "ncols": shape[1], "name": name}
    if form.startswith("hyper"):
        make: Any = Matrix.from_dcsr if form == "hypercsr" else Matrix.from_dcsc
        return make(_flat(A, "offset_labels"), offsets, ids, values, **sizes)  # type: ignore[no-any-return]
    make = Matrix.from_csr if form == "csr" else Matrix.from_csc
    return make(offsets, ids, values, **sizes)  # type: ignore[no-any-return]


def _check_format(form: Any, ndim: int, where: str) -> None:
    if form not in _FORMATS[ndim]:
        kind, possible = ("Vector", "Matrix")[ndim - 1], ", ".join(_FORMATS[ndim])
        raise InvalidValue(f"{where}: Invalid format for {kind}: {form!r}; possible is {possible}")


def _flat(A: Any, field: str) -> Any:
    return need("awkward").to_numpy(A[field])


def to_awkward(A: Any, format: str | None = None) -> Any:
    """Return a Matrix or a Vector as an Awkward Array, which owns one copy of the entries.

    Parameters
    ----------
    A : Matrix or Vector
    format : {"csr", "csc", "hypercsr", "hypercsc", "vec"}, optional
        By default "csr", for a Vector "vec".

    Returns
    -------
    awkward.Array
        An array with the parameters `format` and `shape`, and the fields `indices` and `values`: for "csr" a list of
        each in every row ("csc": column). The hyper formats have these in the field `data`, and the ids of the rows
        (columns) in `offset_labels`.

    Raises
    ------
    PackageMissing
        Awkward is not installed.
    InvalidValue
        The format is unknown, or not for this kind of object.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.io.to_awkward(gb.io.read("path:3"))["indices"].to_list()
    [[1], [0, 2], [1]]
    """
    from sparsezc.core.matrix import Matrix, TransposedMatrix
    from sparsezc.core.vector import Vector

    ak = need("awkward")
    if not isinstance(A, Matrix | TransposedMatrix | Vector):
        raise wrong_type("to_awkward", "A", A, "a Matrix or a Vector")
    need_numbers(A, "to_awkward")
    form = ("csr" if A.ndim == 2 else "vec") if format is None else str(format).lower()
    _check_format(form, A.ndim, "to_awkward")
    contents, told = ak.contents, {"format": form, "shape": list(A.shape)}

    def record(parts: dict[str, Any], parameters: Any = None) -> Any:
        made = [part if isinstance(part, contents.Content) else contents.NumpyArray(part) for part in parts.values()]
        return contents.RecordArray(made, list(parts), parameters=parameters)

    if isinstance(A, Vector):
        at, values = A.to_coo()
        return ak.Array(record({"values": values, "indices": at.view(np.int64)}, told))
    compressed: dict[str, Any] = {"csr": A.to_csr, "csc": A.to_csc, "hypercsr": A.to_dcsr, "hypercsc": A.to_dcsc}
    *labels, offsets, ids, values = compressed[form]()
    ends = ak.index.Index64(offsets.view(np.int64))
    entries = record({"indices": ids.view(np.int64), "values": values})
    if not labels:
        return ak.Array(contents.ListOffsetArray(ends, entries, parameters=told))
    rows = contents.ListOffsetArray(ends, entries)
    return ak.Array(record({"data": rows, "offset_labels": labels[0].view(np.int64)}, told))
