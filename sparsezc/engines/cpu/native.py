"""python-graphblas, started once, and our types and operators in its terms."""

from __future__ import annotations

import warnings
from typing import Any
from weakref import proxy

from sparsezc import errors, locks
from sparsezc.engines.cpu import movers, operators
from sparsezc.semirings.algebra.operators import TypedOp
from sparsezc.semirings.types import user_types
from sparsezc.semirings.types.datatypes import DataType, lookup

making = locks.shared()  # held where python-graphblas is started, or asked for a type or an operator for the first time
gb: Any = None  # python-graphblas, imported when the engine starts


def start() -> bool:
    """Start python-graphblas in blocking mode, unless the program has started it before; whether it is in that mode."""
    global gb
    import graphblas
    from suitesparse_graphblas import ffi, is_initialized, lib

    if not is_initialized():
        graphblas.init("suitesparse", blocking=True)
    gb = graphblas
    _ = graphblas.Vector  # starts python-graphblas itself, in whatever mode the library below it is
    mode = ffi.new("int32_t*")
    lib.GxB_Global_Option_get_INT32(lib.GxB_MODE, mode)
    if mode[0] == lib.GrB_BLOCKING:
        return True
    warnings.warn(
        "graphblas was started in nonblocking mode, in which SuiteSparse can give wrong answers. sparsezc waits for"
        " each of its own results, so they are right; for your own calls, say"
        " graphblas.init('suitesparse', blocking=True) before anything else",
        RuntimeWarning,
        stacklevel=4,
    )
    return False


def acyclic(store: Any) -> Any:
    """Let a new store's memory go with the last reference to it.

    A Matrix or Vector of python-graphblas and its ``ss`` refer to each other, so its arrays would wait for Python's
    collector, which counts objects and not bytes. Here ``ss`` refers weakly to the store.
    """
    store.ss._parent = store.ss.config._parent = proxy(store)
    return store


def keeping(store: Any) -> Any:
    """Return another ``ss`` of a store, which keeps it and which it does not know."""
    return type(store.ss)(store)


def handed_out(store: Any) -> Any:
    """Make a store an ordinary object of python-graphblas again, whose ``ss`` may outlive the caller's name for it."""
    store.ss = keeping(store)
    return store


_types: dict[DataType, Any] = {}


def type_of(dtype: DataType) -> Any:
    """python-graphblas's type: its name, or for a user-defined one the object, which has our name where it had none."""
    if not dtype.is_udt:
        return dtype.name
    if dtype in _types:
        return _types[dtype]
    with making:
        theirs = gb.dtypes.lookup_dtype(dtype.np_type)
        if theirs.name == user_types.default_name(dtype.np_type) != dtype.name:
            theirs = gb.dtypes.register_anonymous(dtype.np_type, dtype.name)
        return _types.setdefault(dtype, theirs)  # that of the first thread


def our_type(theirs: Any) -> DataType:
    """The other way."""
    if theirs.c_type.startswith("uint8_t["):
        return user_types.known(theirs.np_type) or user_types.register_anonymous(theirs.np_type, theirs.name)
    return lookup(theirs.name)


def operator(op: TypedOp) -> Any:
    """python-graphblas's operator of the same name and type."""
    if op.native is None:
        with making:
            if op.native is None:
                op.native = _translate(op)
    return op.native


def _translate(op: TypedOp) -> Any:
    if op.of_users:
        movers.provide(gb, op, type_of)
    if operators.is_made(op):
        return operators.make(gb, op, _key(op))
    room = getattr(gb, op.op.kind)
    # `.ss` first: python-graphblas still has its names outside of it, but warns.
    homes = (getattr(room, "ss", None), room, getattr(room, "numpy", None))
    found = next((getattr(home, op.name) for home in homes if op.name in dir(home)), None)
    if found is None:
        raise errors.NotImplementedException(f"the cpu engine (python-graphblas) has no operator {op.op!r}")
    if op.of_users:
        return found[_key(op)]
    for dtype in (op.type, *op.op.types):  # some are known by the types that are converted to theirs only
        if dtype in op.op.types and op.op[dtype] is op and dtype.name in found:
            return found[dtype.name]
    for dtype in op.op.types.values():
        if op.op.is_positional and dtype.name in found:
            return found[dtype.name]
    raise errors.NotImplementedException(f"the cpu engine (python-graphblas) has no {op!r}")


def _key(op: TypedOp) -> Any:
    """What types an operator there."""
    left = type_of(op.type)
    return left if op.op.kind in ("unary", "monoid") or not op.of_users else (left, type_of(op.type2))
