"""Users' operators in python-graphblas: the CPU engine uses them where python-graphblas lacks an operator or is wrong.

A Python function was translated when it became an operator (:mod:`sparsezc.semirings.udf.functions`). The engine gives
python-graphblas, which compiles it with Numba, that translation in plain Python for one type, so both engines compute
the same. Some of python-graphblas's own operators are Python functions that raise at a division by zero, after which
SuiteSparse continues with undefined values, or crash at the least integer divided by -1: these are replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

from sparsezc.engines.cpu.suitesparse import compiled_functions
from sparsezc.exceptions import NotImplementedException
from sparsezc.semirings.algebra import names
from sparsezc.semirings.algebra.operators import BinaryOp, TypedOp

__all__ = ["is_made", "make"]

_MENDED: dict[str, Callable[[Any, Any], Any]] = {
    "floordiv": lambda x, y: x // y,
    "rfloordiv": lambda x, y: y // x,
    "mod": lambda x, y: x % y,
    "rpow": lambda x, y: y**x,
}


@cache
def _mended(name: str) -> Any:
    """Return a replaced built-in operator as a function, which is translated like users' functions."""
    return BinaryOp.register_anonymous(_MENDED[name], name)


def is_made(op: TypedOp) -> bool:
    """Return whether a user made the operator (a function, or a monoid or semiring of parts), or it is replaced."""
    whole: Any = op.op
    binaryop = {"binary": whole, "semiring": getattr(whole, "binaryop", None)}.get(whole.kind)
    if binaryop is not None and _is_mended(binaryop, op):
        return True
    return whole.user_function is not None or names.names_of(whole.kind).get(op.name) is not whole


def _is_mended(binaryop: Any, op: TypedOp) -> bool:
    """Return whether one type of a built-in operator has a replacement function."""
    name = binaryop.name
    if name not in _MENDED or names.names_of("binary")[name] is not binaryop or find_spec("numba") is None:
        return False
    return not op.of_users and (name != "rpow" or op.type.is_integer)


def make(gb: Any, op: TypedOp, key: Any) -> Any:
    """Return python-graphblas's operator for a user's, typed; `key` selects the type there.

    Raises
    ------
    NotImplementedException
        Numba, which compiles functions for SuiteSparse, is not installed.
    """
    parts: Any = op.op
    if op.op.kind == "semiring":
        whole: Any = op
        made = gb.semiring.register_anonymous(_monoid(gb, whole.monoid), _binary(gb, op, parts.binaryop))[key]
        compiled_functions.free_with(made, "Semiring")
        return made
    if op.op.kind == "monoid":
        return _monoid(gb, op)[key]
    if op.op.kind == "binary":
        return _binary(gb, op, op.op)[key]
    if op.op.user_function is None:
        raise NotImplementedException(f"the cpu engine (python-graphblas) has no operator {op.op!r}")
    return _function(gb, op)[key]


def _function(gb: Any, op: TypedOp) -> Any:
    """Return python-graphblas's untyped operator of a function's translation for one type or, on user types, itself."""
    if find_spec("numba") is None:
        raise NotImplementedException(
            f"the cpu engine needs numba for {op!r}, which is a Python function; pip install numba, or run it on a GPU"
        )
    if op.of_users:
        return getattr(gb, op.op.kind).register_anonymous(op.op.orig_func, op.name, is_udt=True)
    return compiled_functions.operator(gb, op, op.name)


def _binary(gb: Any, op: TypedOp, binaryop: Any) -> Any:
    """Return an untyped python-graphblas binary operator; one of a function works for one type."""
    if _is_mended(binaryop, op):
        return _function(gb, _mended(binaryop.name)[op.type])
    if binaryop.user_function is None:
        namespace = gb.binary
        homes = (getattr(namespace, "ss", None), namespace, getattr(namespace, "numpy", None))
        found = next((getattr(home, binaryop.name) for home in homes if binaryop.name in dir(home)), None)
        if found is None or names.names_of("binary").get(binaryop.name) is not binaryop:
            raise NotImplementedException(f"the cpu engine (python-graphblas) has no operator {binaryop!r}")
        return found
    return _function(gb, binaryop[(op.type, op.type2) if op.of_users else op.type])


def _monoid(gb: Any, op: Any) -> Any:
    """Return an untyped python-graphblas monoid, which works for at least one type."""
    if not is_made(op):
        return getattr(gb.monoid, op.name)
    if op.op.binaryop.user_function is None:
        raise NotImplementedException(f"the cpu engine (python-graphblas) has no {op!r}, made of a built-in operator")
    if op.of_users:
        return gb.monoid.register_anonymous(_binary(gb, op, op.op.binaryop), op.identity, op.name)
    identity = {op.type.name: op.identity.item()}
    function = _function(gb, op.op.binaryop[op.type])
    made = gb.monoid.register_anonymous(function, identity, op.name, is_idempotent=op.is_idempotent)
    compiled_functions.free_with(made[op.type.name], "Monoid")
    return made
