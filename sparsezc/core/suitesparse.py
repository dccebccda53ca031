"""``A.ss`` and ``v.ss``: the methods of SuiteSparse:GraphBLAS beyond the standard, run by the CPU engine.

python-graphblas runs them on the CPU engine's store; an object on another engine is copied there, and copied back if
the method changed it. Arguments and results are our objects; arrays are SuiteSparse's own where python-graphblas
returns them without a copy (``give_ownership=True``, ``unpack``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import MethodType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc import ops
from sparsezc.engines import cpu
from sparsezc.engines.cpu.suitesparse import native
from sparsezc.engines.cpu.suitesparse.expressions import mask as mask_of
from sparsezc.exceptions import InvalidObject
from sparsezc.expr.expression import Deferred, Operand
from sparsezc.expr.mask import Mask
from sparsezc.ops import arrays
from sparsezc.process import first_use
from sparsezc.process.locks import hold_locks
from sparsezc.semirings.algebra.operators import Operator, TypedOp
from sparsezc.semirings.types.datatypes import DataType

__all__ = ["Accessor", "SuiteSparse", "ours", "theirs"]

_PACKS = {
    1: ("any", "bitmap", "full", "sparse"),
    2: (
        "any", "bitmapc", "bitmapr", "coo", "cooc", "coor", "csc", "csr", "fullc", "fullr", "hypercsc", "hypercsr",
        "hyperhash",
    ),
}  # fmt: skip
_READS = {
    "compactify", "config", "export", "flatten", "format", "head", "is_iso", "iso_value", "iteritems", "iterkeys",
    "itervalues", "nbytes", "orientation", "scan", "selectk", "serialize", "sort", "split",
}  # `selectk` of a Matrix is our own, on the matrix's engine  # fmt: skip
_CHANGES = {"build_diag", "build_scalar", "concat", "reshape", "unpack", "unpack_hyperhash"}
_ONLY_MATRIX = {"flatten", "orientation", "unpack_hyperhash"}


_sha256 = first_use.function("hashlib", "sha256")  # importing it loads OpenSSL, as slow as ten of our modules

# A serialized object is a mark, the SHA-256 digest of SuiteSparse's bytes, and these bytes.
_MARKS = {1: b"sparsezc Vector\n", 2: b"sparsezc Matrix\n"}


def theirs(x: Any) -> Any:
    """Convert an object of ours, or a list or dict of them, to python-graphblas's; return others unchanged."""
    if isinstance(x, Deferred):
        x = x.new()
    if isinstance(x, Operand):
        return x.to_graphblas()  # type: ignore[attr-defined]
    if isinstance(x, Mask):
        return mask_of(Mask(x.parent.to("cpu"), x.structure, x.complement))
    if isinstance(x, TypedOp):
        return native.operator(x)
    if isinstance(x, Operator):
        return getattr(getattr(native.gb, x.kind), x.name)
    if isinstance(x, DataType):
        return native.type_of(x)
    if isinstance(x, list | tuple):
        return type(x)(map(theirs, x))
    return {key: theirs(value) for key, value in x.items()} if isinstance(x, dict) else x


def ours(x: Any) -> Any:
    """Convert an object of python-graphblas, or a list or dict of them, to ours."""
    gb = native.gb
    if type(x) is gb.Matrix:
        return Operand._kinds[2]._from_store(cpu.engine(), x, native.our_type(x.dtype), x.shape, x.name)
    if type(x) is gb.Vector:
        return Operand._kinds[1]._from_store(cpu.engine(), x, native.our_type(x.dtype), x.shape[0], x.name)
    if type(x) is gb.Scalar:
        return Operand._kinds[0].from_value(x.value, native.our_type(x.dtype), name=x.name)
    if type(x) is gb.dtypes.DataType:
        return native.our_type(x)
    if type(x) in (list, tuple):
        return type(x)(map(ours, x))
    return {key: ours(value) for key, value in x.items()} if type(x) is dict else x


class SuiteSparse:
    """SuiteSparse's methods of one Matrix or Vector: ``A.ss.export("csr")``, ``A.ss.is_iso`` ...

    * export and import: ``export``, ``unpack``, ``pack_csr`` ... (``Matrix.ss.import_csr`` makes new objects),
      ``serialize``, whose first 48 bytes are ours: a mark and a digest;
    * properties: ``format``, ``orientation``, ``is_iso``, ``iso_value``, ``nbytes``, ``config``;
    * operations: ``concat``, ``split``, ``scan``, ``reshape``, ``flatten``, ``selectk`` (of a Matrix :func:`selectk`),
      ``compactify``, ``sort``, ``head``, ``build_diag``, ``build_scalar``;
    * iterators: ``iterkeys``, ``itervalues``, ``iteritems``.

    python-graphblas's documentation describes their arguments.
    """

    __slots__ = ("_of",)

    def __init__(self, of: Any) -> None:
        self._of = of

    def __dir__(self) -> list[str]:
        return sorted({*_names(self._of.ndim), *dir(_Makers(self._of.ndim))})

    def __getattr__(self, name: str) -> Any:
        of = self._of
        if name in dir(_Makers(of.ndim)):
            return getattr(_Makers(of.ndim), name)
        if name == "selectk" and of.ndim == 2:
            return MethodType(selectk, of)
        if name not in _names(of.ndim):
            raise AttributeError(f"{type(of).__name__}.ss has no attribute {name!r}")
        # Looked up in the class: access through the object would copy it to the host here, and again in the call.
        found = getattr(_class(of.ndim).ss, name)
        if not callable(found):
            with hold_locks(of):
                return ours(getattr(native.keeping(_native(of)[0]), name))

        @wraps(MethodType(found, of))  # bound: the signature is that without `self`
        def call(*args: Any, **kwargs: Any) -> Any:
            with hold_locks(of, *_objects((args, kwargs))):
                store, home = _native(of)
                result = _translated(getattr(native.keeping(store), name))(*args, **kwargs)
                if name not in _READS:
                    _take_back(of, store, home)
                if name == "serialize":
                    return _sealed(result, of.ndim)
                # an iterator would read the object after this call returned
                return iter(list(result)) if name.startswith("iter") else result

        return call


def selectk(
    A: Any, how: str, k: int, order: str = "rowwise", *, name: str | None = None, seed: int | None = None
) -> Any:
    """Pick up to k entries of each row or column, on the engine where the matrix is.

    Parameters
    ----------
    how : {"random", "random_weighted", "first", "last", "largest", "smallest"}
        See :func:`sparsezc.ops.selectk`; SuiteSparse has "random", "first" and "last" only.
    k : int
    order : {"rowwise", "columnwise"}
        Pick from each row, or from each column.
    name : str, optional
        The name of the new Matrix.
    seed : int, optional
        For "random" and "random_weighted"; see :func:`sparsezc.ops.selectk`.

    Returns
    -------
    Matrix
        A matrix of A's shape and type with the picked entries.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_coo([0, 0, 0, 1], [1, 4, 5, 2], [7, 9, 9, 1], nrows=2, ncols=6)
    >>> A.ss.selectk("largest", 1).to_coo()
    (array([0, 1], dtype=uint64), array([4, 2], dtype=uint64), array([9, 1]))
    """
    by_column = arrays.order(order, "selectk") == "columnwise"
    made = ops.selectk(A.T if by_column else A, how.lower() if isinstance(how, str) else how, k, seed=seed).new(
        name=None if by_column else name
    )
    return made.T.new(name=name) if by_column else made


def _class(ndim: int) -> Any:
    """Return python-graphblas's class, Vector or Matrix."""
    cpu.engine()
    return native.gb.Vector if ndim == 1 else native.gb.Matrix


def _native(of: Any) -> tuple[Any, bool]:
    """Return the store on the CPU engine, and whether it is the object's own store, not a copy."""
    engine, store = of._need()
    return (store, True) if engine is cpu.engine() else (of.to("cpu")._store, False)


def _objects(x: Any) -> list[Any]:
    """Return the arguments that have a lock."""
    if isinstance(x, dict):
        return _objects(list(x.values()))
    if isinstance(x, list | tuple):
        return [found for each in x for found in _objects(each)]
    if isinstance(x, Deferred):
        return list(x._parts)
    return [x.parent] if isinstance(x, Mask) else [x] if isinstance(x, Operand) else []


def _names(ndim: int) -> set[str]:
    names = _READS | _CHANGES | {f"pack_{form}" for form in _PACKS[ndim]}
    return names if ndim == 2 else names - _ONLY_MATRIX


def _take_back(of: Any, store: Any, home: bool) -> None:
    """Update an object from the store that a method changed: its shape, its cached facts, and its entries if copied."""
    shape = tuple(store.shape)
    if shape != of.shape:
        of.resize(*shape)
    of._changed()
    if not home:
        of << ours(store)


def _translated(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a python-graphblas method: it takes and returns our objects, and raises our errors."""

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            result = method(*theirs(args), **theirs(kwargs))
        except native.gb.exceptions.GraphblasException as error:
            raise cpu.ours(error, method.__name__) from error
        return ours(result)

    return call


def _sealed(blob: NDArray[np.uint8], ndim: int) -> NDArray[np.uint8]:
    """Put a mark and a digest before SuiteSparse's bytes."""
    head = _MARKS[ndim] + _sha256(blob.tobytes()).digest()
    return np.concatenate([np.frombuffer(head, np.uint8), blob])


def _opening(deserialize: Callable[..., Any], ndim: int) -> Callable[..., Any]:
    """Wrap ``deserialize`` with a check of the digest: damaged bytes can crash SuiteSparse."""
    run = _translated(deserialize)

    @wraps(deserialize)
    def opened(data: Any, dtype: Any = None, *, trusted: bool = False, **options: Any) -> Any:
        is_array = isinstance(data, np.ndarray)
        blob: Any = np.ascontiguousarray(data, np.uint8) if is_array else np.frombuffer(data, np.uint8)
        mark, digest = blob[:16].tobytes(), blob[16:48].tobytes()
        said = f"data: {blob.size:,} bytes"
        if mark in _MARKS.values():
            blob = blob[48:]
            if digest != _sha256(blob).digest():
                raise InvalidObject(
                    f"{said} that were cut or changed since serialize() made them: their digest differs"
                )
            if mark != _MARKS[ndim]:
                raise InvalidObject(f"{said} of a {mark[9:15].decode()}; use the deserialize of that class")
        elif not trusted:
            raise InvalidObject(
                f"{said} without the mark and the digest that serialize() puts before them; damaged bytes could crash"
                " the process. deserialize(data, trusted=True) reads python-graphblas's own bytes unchecked"
            )
        return run(blob, dtype, **options)

    return opened


class _Makers:
    """``Matrix.ss`` or ``Vector.ss``: methods that make new objects, such as ``import_csr`` and ``deserialize``."""

    __slots__ = ("_ndim",)

    def __init__(self, ndim: int) -> None:
        self._ndim = ndim

    def __dir__(self) -> list[str]:
        return sorted({"deserialize", *(f"import_{form}" for form in _PACKS[self._ndim] if form != "hyperhash")})

    def __getattr__(self, name: str) -> Any:
        if name not in dir(self):
            raise AttributeError(f"{'Vector' if self._ndim == 1 else 'Matrix'}.ss has no attribute {name!r}")
        made = getattr(_class(self._ndim).ss, name)
        return _opening(made, self._ndim) if name == "deserialize" else _translated(made)


class Accessor:
    """The attribute ``ss`` of a class and of its objects."""

    def __get__(self, of: Any, kind: Any) -> Any:
        return _Makers(kind.ndim) if of is None else SuiteSparse(of)
