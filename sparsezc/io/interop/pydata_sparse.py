"""Conversion to and from PyData's sparse arrays (the package ``sparse``).

The package is imported when a function of this module is called: ``pip install sparse``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.exceptions import DimensionMismatch
from sparsezc.io.build.limits import need_numbers, wrong_type
from sparsezc.io.build.optional import need
from sparsezc.io.interop.sparse_parts import choice, from_coordinates

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix
    from sparsezc.core.vector import Vector

_FORMATS = ("coo", "dok", "gcxs")


def from_pydata_sparse(s: Any, *, dup_op: Any = None, name: str | None = None) -> Matrix | Vector:
    """Make a Vector or a Matrix from a PyData sparse array, in one copy, or two from dok and gcxs.

    Parameters
    ----------
    s : sparse.SparseArray of one or two dimensions
        The fill value is dropped: absent entries stay absent.
    dup_op : binary operator or its name, optional
        The operator that merges entries of one position; without it such entries are an error.
    name : str, optional

    Raises
    ------
    PackageMissing
        The package is not installed.
    DomainMismatch
        `s` is no sparse array.
    DimensionMismatch
        `s` has no dimension, or more than two.
    """
    sparse = need("sparse")
    if not isinstance(s, sparse.SparseArray):
        raise wrong_type("from_pydata_sparse", "s", s, "an array of sparse.pydata.org")
    if s.ndim not in (1, 2):
        raise DimensionMismatch(f"from_pydata_sparse: s has {s.ndim} dimensions; s.ndim must be 1 or 2")
    coo = s if isinstance(s, sparse.COO) else s.asformat("coo")
    return from_coordinates(coo.coords, coo.data, s.shape, dup_op, name)


def to_pydata_sparse(A: Any, format: str = "coo") -> Any:
    """Return a Matrix or a Vector as a PyData sparse array, in one copy for "coo", two for the other formats.

    Parameters
    ----------
    A : Matrix or Vector
    format : {"coo", "dok", "gcxs"}

    Returns
    -------
    sparse.COO, sparse.DOK or sparse.GCXS
        Its fill value is 0.

    Raises
    ------
    PackageMissing
        The package is not installed.
    InvalidValue
        The format is unknown.
    """
    from sparsezc.core.vector import Vector

    form = choice("to_pydata_sparse", "format", format, _FORMATS)
    need_numbers(A, "to_pydata_sparse")
    sparse = need("sparse")
    if isinstance(A, Vector):
        at, values = A.to_coo()
        ids: Any = at.view(np.int64)[None]
    else:
        rows, columns, values = A.to_coo()
        ids = np.stack([rows, columns]).view(np.int64)
    return sparse.COO(
        ids, values, shape=A.shape, sorted=not getattr(A, "_transposed", False), has_duplicates=False
    ).asformat(form)
