"""Conversion of vectors and dense matrices to and from other libraries' arrays: NumPy, CuPy, PyTorch, JAX, Numba ...

An array is any object with DLPack, ``__cuda_array_interface__`` or NumPy's protocols. Arrays on a GPU stay there: no
copy passes through the host. The arrays that are returned are NumPy's from the CPU engine and CuPy's from the GPU
engine; both support the same protocols, so ``torch.from_dlpack(gb.io.to_array(v))`` makes no further copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.device import cuda
from sparsezc.engines.gpu import array_exchange
from sparsezc.engines.gpu.storage import vector_store
from sparsezc.exceptions import InvalidValue
from sparsezc.expr import engines
from sparsezc.io.build.limits import wrong_type
from sparsezc.ops import arrays, compare
from sparsezc.semirings.types.datatypes import lookup

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix
    from sparsezc.core.vector import Vector


def on_device(engine: str | None, *given: Any) -> bool:
    """Return whether to make an object on the GPU engine: as `engine` requests, else if one of the arrays is there."""
    if engine is not None:
        return engines.has_placements(engines.get(engine, f"engine={engine!r}"))
    return any(array_exchange.is_here(x) for x in given)


def on_host(x: Any) -> NDArray[Any]:
    """Return an array as a NumPy array, without a copy if it is in host memory."""
    if array_exchange.is_here(x):
        return cuda.current().asnumpy(array_exchange.array(x))
    return np.asarray(x)


def from_array(
    values: Any,
    indices: Any = None,
    *,
    size: int | None = None,
    dtype: Any = None,
    copy: bool = False,
    engine: str | None = None,
    name: str | None = None,
) -> Vector | Matrix:
    """Make a Vector from an array, or a Matrix with all entries from a two-dimensional array.

    Parameters
    ----------
    values : array, shape (size,) or (nrows, ncols), or (n,) with `indices`
        An array of any library with DLPack or ``__cuda_array_interface__``, or array_like.
    indices : array of integers, shape (n,), optional
        The positions of the values, in any order; without it every position has a value.
    size : int, optional
        The size with `indices`; by default the largest position plus one.
    dtype : optional
        The type of the result; by default the values' own.
    copy : bool
        False: on the GPU, a full vector shares a contiguous array of its type; change neither while both are in use.
        On the CPU, with `indices`, or for another type, one copy is made.
    engine : {"cpu", "gpu"}, optional
        The engine of the result; by default the one where the values are.
    name : str, optional

    Returns
    -------
    Vector or Matrix

    Raises
    ------
    InvalidValue
        A position occurs twice, or the array has neither one nor two dimensions.
    IndexOutOfBound
        A position is negative or at least `size`.

    Examples
    --------
    >>> import numpy as np, sparsezc as gb
    >>> gb.io.from_array(np.array([1.5, 2.5])).to_dict(), gb.io.from_array([7, 8], [3, 1], size=4).to_dict()
    ({0: 1.5, 1: 2.5}, {1: 8, 3: 7})
    """
    from sparsezc.core.matrix import Matrix
    from sparsezc.core.vector import Vector

    made: Any
    if on_device(engine, values, indices):
        made = _on_device(values, indices, size, dtype, copy, name)
        return made  # type: ignore[no-any-return]
    given = on_host(values)
    if indices is not None:
        found: Vector = Vector.from_coo(on_host(indices), given, dtype, size=size, name=name)
        return found
    if given.ndim not in (1, 2):
        raise InvalidValue(f"from_array: values must have one or two dimensions; got shape {given.shape}")
    made = (Vector if given.ndim == 1 else Matrix).from_dense(given, dtype=dtype, name=name)
    return made  # type: ignore[no-any-return]


def _on_device(values: Any, indices: Any, size: int | None, dtype: Any, copy: bool, name: str | None) -> Any:
    from sparsezc.core.matrix import Matrix
    from sparsezc.core.vector import Vector

    gpu = engines.get("gpu")
    given = array_exchange.array(values)
    kind = lookup(given.dtype if dtype is None else dtype)
    if indices is not None:
        at = array_exchange.array(indices)
        if at.shape != given.shape:
            raise InvalidValue(f"from_array: indices have shape {at.shape} and values {given.shape}")
        if size is None:
            size = int(at.max()) + 1 if at.size else 0
        size = arrays.size(size, "from_array: size")
        return Vector._from_store(
            gpu, array_exchange.vector_from_coo(at, given, kind, size, "from_array"), kind, size, name
        )
    if given.ndim == 1:
        return Vector._from_store(gpu, vector_store.from_dense(given, kind, copy=copy), kind, given.size, name)
    if given.ndim != 2:
        raise InvalidValue(f"from_array: values must have one or two dimensions; got shape {given.shape}")
    store = array_exchange.matrix_from_dense(given, kind, copy=copy)
    return Matrix._from_store(gpu, store, kind, given.shape, name)


def to_array(x: Any, fill_value: Any = None, dtype: Any = None, *, copy: bool = False) -> Any:
    """Return a Vector or a Matrix as a dense array: NumPy's from the CPU engine, CuPy's from the GPU engine.

    Parameters
    ----------
    x : Vector or Matrix
    fill_value : number, optional
        The value at positions without an entry.
    dtype : optional
        The type of the array; by default the object's own, or the common type of it and `fill_value`.
    copy : bool
        False: the array of a full vector on the GPU is the vector's own memory; change neither while both are in use.
        All other cases make one copy.

    Returns
    -------
    numpy.ndarray or cupy.ndarray, shape (size,) or (nrows, ncols)

    Raises
    ------
    TypeError
        Entries are missing and there is no `fill_value`.
    DomainMismatch
        `x` is neither Vector nor Matrix.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.io.to_array(gb.Vector.from_coo([1], [2], size=3), 0)
    array([0, 2, 0])
    """
    from sparsezc.core.matrix import Matrix
    from sparsezc.core.vector import Vector

    if not isinstance(x, Vector | Matrix):
        raise wrong_type("to_array", "x", x, "a Vector or a Matrix")
    engine, store = x._need()
    if not engines.has_placements(engine) or x.dtype.is_udt:
        return x.to_dense(fill_value, dtype)
    kind, fill = compare.filling(x, x.nvals, fill_value, dtype)
    if isinstance(x, Matrix):
        return array_exchange.matrix_to_dense(store, fill, kind)
    found = vector_store.to_dense(store, fill, kind)
    return found.copy() if copy and found is store.values else found
