"""Users' functions as SuiteSparse's operators, in machine code that is freed with the operator.

Numba never frees the code that it compiled, about a megabyte a function. So Numba compiles one *form* for all functions
that differ in constants alone; it takes the constants as parameters. An operator's own code is a copy of the form, and
a function that calls it with the operator's constants, in an LLVM engine that is closed with the operator.
"""

from __future__ import annotations

import math
import weakref
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from sparsezc.exceptions import NotImplementedException
from sparsezc.semirings.algebra.operators import TypedOp
from sparsezc.semirings.types.datatypes import BOOL, DataType

__all__ = ["free_with", "operator"]

_ENTRY = "sparsezc_entry"


def operator(gb: Any, op: TypedOp, name: str) -> Any:
    """Return python-graphblas's untyped operator of a user's function, which has the one type of `op`."""
    from graphblas.core import ffi, lib

    assert op.op.user_function is not None
    kind = op.op.opclass
    text, constants = op.op.user_function.python(op.type)
    types = (op.return_type, op.type) if op.op.kind == "unary" else (op.return_type, op.type, op.type2)
    with_place = op.op.kind in ("indexunary", "select")
    form = _form(text, types, tuple(c.dtype for c in constants), with_place)
    engine, address, kept = _linked(form, 5 if with_place else len(types), constants)

    function = ffi.cast("void *", address)
    struct = "IndexUnaryOp" if with_place else kind
    made = ffi.new(f"GrB_{struct}*")
    theirs = [gb.dtypes.lookup_dtype(t.name) for t in types]
    if getattr(lib, f"GrB_{struct}_new")(made, function, *(t._carg for t in theirs)) != lib.GrB_SUCCESS:
        raise NotImplementedException(f"SuiteSparse makes no operator of {op!r}")
    namespace = import_module(f"graphblas.core.operator.{op.op.kind}")
    untyped = getattr(namespace, kind)(name, op.op.orig_func, anonymous=True)
    second = {} if op.op.kind == "unary" else {"dtype2": theirs[2]}
    typed = getattr(namespace, f"TypedUser{kind}")(untyped, name, theirs[1], theirs[0], made[0], **second)
    untyped._add(typed)
    free_with(typed, struct, engine, kept)
    return untyped


def free_with(typed: Any, struct: str, engine: Any = None, kept: Any = None) -> None:
    """Have SuiteSparse free an operator, and then its code, when python-graphblas's object of it is freed."""
    from graphblas.core import ffi, lib

    cell = ffi.new(f"GrB_{struct}*", typed.gb_obj)
    freeing = weakref.finalize(typed, _free, getattr(lib, f"GrB_{struct}_free"), cell, engine, kept)
    freeing.atexit = False


def _free(free: Any, cell: Any, engine: Any, kept: Any) -> None:
    free(cell)
    if engine is not None:
        engine.close()
    del kept  # the constants, which the code reads, are kept until here


@cache
def _form(text: str, types: tuple[DataType, ...], constants: tuple[Any, ...], with_place: bool) -> tuple[bytes, str]:
    """Return a form's code, as LLVM's bitcode, and its name there.

    It is a function of pointers to the result, the operands and the constants, and of two positions.
    """
    import llvmlite.binding as llvm

    numba: Any = import_module("numba")  # its type hints are wrong about cfunc
    namespace: dict[str, Any] = {"np": np, "math": math}
    exec(text, namespace)  # noqa: S102  -- our own text, made of numbers and a fixed set of operations
    # Only the entry below calls it, so it needs no forms for Python and C, whose making takes a fifth of the time.
    namespace["function"] = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(namespace["function"])

    def number(dtype: Any) -> Any:  # Numba's own Booleans have one bit
        return numba.types.int8 if dtype == np.bool_ else numba.from_dtype(dtype)

    values = [f"{name}[0] != 0" if t is BOOL else f"{name}[0]" for name, t in zip("xy", types[1:], strict=False)]
    operands = ["x", "row", "column", "y"] if with_place else ["x", "y"][: len(values)]
    given = [values[0], "row", "column", values[1]] if with_place else values
    names = [f"c{n}" for n in range(len(constants))]
    given += [f"{name}[0]" for name in names]
    exec(f"def entry({', '.join(['z', *operands, *names])}):\n    z[0] = function({', '.join(given)})\n", namespace)  # noqa: S102

    pointers = [numba.types.CPointer(number(t.np_type)) for t in types]
    if with_place:
        pointers[2:2] = [numba.types.uint64] * 2
    pointers += [numba.types.CPointer(number(t)) for t in constants]
    compiled = numba.cfunc(numba.types.void(*pointers), nopython=True)(namespace["entry"])
    with llvm.parse_assembly(compiled.inspect_llvm()) as module:
        (name,) = (f.name for f in module.functions if f.name.startswith("cfunc.") and not f.is_declaration)
        return module.as_bitcode(), name


def _linked(form: tuple[bytes, str], operands: int, constants: tuple[Any, ...]) -> tuple[Any, int, Any]:
    """Return an engine with a form and a function that passes it the constants, its address, and the constants."""
    import llvmlite.binding as llvm
    from llvmlite import ir

    code, name = form
    kept = [np.array([c]) for c in constants]
    pointer, word, nothing = ir.IntType(8).as_pointer(), ir.IntType(64), ir.VoidType()
    taken = [word if operands == 5 and n in (2, 3) else pointer for n in range(operands)]
    module = ir.Module()
    inner = ir.Function(module, ir.FunctionType(nothing, [*taken, *[pointer] * len(kept)]), name)
    outer = ir.Function(module, ir.FunctionType(nothing, taken), _ENTRY)
    build = ir.IRBuilder(outer.append_basic_block())
    addresses = [ir.Constant(word, c.ctypes.data).inttoptr(pointer) for c in kept]
    build.call(inner, [*outer.args, *addresses], tail=True)  # a jump
    build.ret_void()

    whole = llvm.parse_assembly(str(module))
    whole.link_in(llvm.parse_bitcode(code))
    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3, jit=True
    )
    engine = llvm.create_mcjit_compiler(whole, target)
    engine.finalize_object()
    return engine, engine.get_function_address(_ENTRY), kept
