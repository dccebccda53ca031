"""python-graphblas, started once, and our types and operators as its own."""

from __future__ import annotations

import warnings
from typing import Any

from sparsezc import exceptions
from sparsezc.engines.cpu.suitesparse import movers, operators
from sparsezc.process import locks
from sparsezc.semirings.algebra.operators import TypedOp
from sparsezc.semirings.types import user_types
from sparsezc.semirings.types.datatypes import DataType, lookup

making = locks.shared()  # held while python-graphblas is started, or makes a type or an operator
gb: Any = None  # python-graphblas, imported when the engine starts


def start() -> bool:
    """Start python-graphblas in blocking mode, unless the program has started it; return whether it is in that mode."""
    global gb
    import graphblas
    from suitesparse_graphblas import ffi, is_initialized, lib

    if not is_initialized():
        graphblas.init("suitesparse", blocking=True)
    gb = graphblas
    _ = graphblas.Vector  # starts python-graphblas itself, in the mode that the program chose
    mode = ffi.new("int32_t*")
    lib.GxB_Global_Option_get_INT32(lib.GxB_MODE, mode)
    if mode[0] == lib.GrB_BLOCKING:
        return True
    warnings.warn(
        "graphblas was started in nonblocking mode, in which SuiteSparse can give wrong answers. sparsezc waits for"
        " each of its own results, so they are correct; for your own calls, run"
        " graphblas.init('suitesparse', blocking=True) before anything else",
        RuntimeWarning,
        stacklevel=4,
    )
    return False


def keeping(store: Any) -> Any:
    """Return another ``ss`` of a store, which keeps the store alive; the store has no reference to it."""
    return type(store.ss)(store)


def handed_out(store: Any) -> Any:
    """Make a store an ordinary object of python-graphblas again, whose ``ss`` may outlive the caller's name for it."""
    store.ss = keeping(store)
    return store


_types: dict[DataType, Any] = {}


def type_of(dtype: DataType) -> Any:
    """Return python-graphblas's type, by name; a user-defined type without a name there gets ours."""
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
    """Return our type for one of python-graphblas's."""
    if theirs.c_type.startswith("uint8_t["):
        return user_types.known(theirs.np_type) or user_types.register_anonymous(theirs.np_type, theirs.name)
    return lookup(theirs.name)


def operator(op: TypedOp) -> Any:
    """Return python-graphblas's operator of the same name and type."""
    if op.native is None:
        with making:
            if op.native is None:
                op.keep_native(_translate(op))
    return op.native


def _translate(op: TypedOp) -> Any:
    if op.of_users:
        movers.provide(gb, op, type_of)
    if operators.is_made(op):
        return operators.make(gb, op, _key(op))
    namespace = getattr(gb, op.op.kind)
    # `.ss` first: python-graphblas still has its names elsewhere, but warns.
    homes = (getattr(namespace, "ss", None), namespace, getattr(namespace, "numpy", None))
    found = next((getattr(home, op.name) for home in homes if op.name in dir(home)), None)
    if found is None:
        raise exceptions.NotImplementedException(f"the cpu engine (python-graphblas) has no operator {op.op!r}")
    if op.of_users:
        return found[_key(op)]
    for dtype in (op.type, *op.op.types):  # some are listed only under types that convert to theirs
        if dtype in op.op.types and op.op[dtype] is op and dtype.name in found:
            return found[dtype.name]
    for dtype in op.op.types.values():
        if op.op.is_positional and dtype.name in found:
            return found[dtype.name]
    raise exceptions.NotImplementedException(f"the cpu engine (python-graphblas) has no {op!r}")


def _key(op: TypedOp) -> Any:
    """Return the key that selects a type of a python-graphblas operator."""
    left = type_of(op.type)
    return left if op.op.kind in ("unary", "monoid") or not op.of_users else (left, type_of(op.type2))
