"""Kernels generated from one text each for all semirings, types, masks and widths.

A kernel is specialised by the *prelude*, the text in front of it: types, flags and small inline functions, which the
functions below generate. :func:`kernel` joins prelude and kernel text and compiles them at first use; the device's
compiler keeps the code on disk. An operator has its own CUDA expression (see :mod:`sparsezc.semirings`). Caches with
operators as keys are limited, as a program may define any number of functions as operators.
"""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from sparsezc import stats
from sparsezc.device.launcher import Launcher
from sparsezc.device.protocol import Device
from sparsezc.device.signature import Signature
from sparsezc.device.signature import typedefs as types_of
from sparsezc.semirings.algebra.operators import TypedOp
from sparsezc.semirings.types.datatypes import DataType

_KERNELS = Path(__file__).resolve().parents[1] / "kernels"
_PACKAGE = Path(__file__).resolve().parents[3]
_HELPERS = next(p for p in (_PACKAGE / "semirings/cuda", _PACKAGE.parent / "semirings/cuda") if p.is_dir())
_INCLUDE = '\n#include "'
_COMPLEX = re.compile(r"\bc(64|128)\b")
_WORD = re.compile(r"\w+")
#: Compiled kernels, the latest used last. Their number is limited; a recording's kernels are among the latest.
_compiled: OrderedDict[tuple[int, bool, str, str, str], Launcher] = OrderedDict()
_MOST_KERNELS = 4096  # a program without functions of its own uses a few hundred


@cache
def file_text(name: str) -> str:
    """Return the text of a kernel's file or header."""
    return Path(files()[name]).read_text(encoding="utf-8").replace("#pragma once\n", "")


@cache
def files() -> dict[str, str]:
    """Return the path of every kernel text by its file name, which is unique in all folders."""
    found = (each for root in (_KERNELS, _HELPERS) for each in os.walk(root))  # three times as fast as `Path.rglob`
    return {name: f"{folder}/{name}" for folder, _, names in found for name in names if ".cu" in name}


def source(file: str, prelude: str) -> str:
    """Return the whole text of a kernel: headers, prelude and the file, each include replaced once by its text.

    The text names no file, so that a compiler's cache that is keyed by the text stays valid when files move.
    """
    seen: set[str] = set()
    pieces: list[str] = []

    def expand(text: str) -> None:
        head, *rest = f"\n{text}".split(_INCLUDE)  # a regular expression would take ten times as long
        pieces.append(head)
        for part in rest:
            name, _, after = part.partition('"')
            if name not in seen:
                seen.add(name)
                expand(file_text(name).removesuffix("\n"))
            pieces.append(after)

    headers = ["portability.cuh", "operators.cuh", *(["complex.cuh"] if _COMPLEX.search(prelude) else [])]
    expand("".join(f'#include "{header}"\n' for header in headers))
    pieces.append(f"\nnamespace szc {{\n{prelude}\n}}")
    expand(file_text(file))
    return "".join(pieces)[1:]


@cache
def signature(file: str, name: str) -> Signature:
    """Return the parameters that a file declares for its kernel `name`."""
    return Signature.parse(file_text(file), name, file)


def kernel(device: Device, file: str, prelude: str, name: str) -> Launcher:
    """Return the kernel `name` of `file`, specialised by `prelude` and compiled on first use."""
    counting = stats.collecting is not None
    key = (id(device), counting, file, name, prelude)
    try:
        found = _compiled[key]
    except KeyError:
        while len(_compiled) >= _MOST_KERNELS:
            _compiled.popitem(last=False)
        # a file whose kernels have names of their own has one text for all of them, which is compiled once
        named = f"#define KERNEL {name}\n" if "KERNEL(" in file_text(file) else ""
        text = ("#define SZC_COUNT\n" if counting else "") + named + source(file, prelude)
        declared, types = signature(file, name), types_of(prelude)
        compiled = device.compile(text, name, declared.passed(types))
        found = _compiled[key] = Launcher(compiled, declared, types)
    _compiled.move_to_end(key)
    return found


# Parts of preludes.


def typedefs(**types: DataType | str) -> str:
    """Return ``typedef i64 Z;`` and so on."""
    return "\n".join(f"typedef {t if isinstance(t, str) else t.ctype} {name};" for name, t in types.items())


def flags(**values: bool | int) -> str:
    """Return ``constexpr bool ANY = true;`` and so on."""
    return "\n".join(
        f"constexpr {'bool' if isinstance(v, bool) else 'int'} {name} = {str(v).lower()};" for name, v in values.items()
    )


def function(returns: str, name: str, parameters: str, body: str) -> str:
    """Return the text of one small inline device function."""
    return f"__device__ __forceinline__ {returns} {name}({parameters}) {{ {body} }}"


def evaluate(op: TypedOp, *, elementwise: bool = False, **operands: str) -> str:
    """Return C++ statements that convert an operator's operands and return the value of its expression.

    Each of x, y, i, j, k that the operator reads is set from the C++ expression given for it; those expressions must
    not use these names. In the operator's expression Z is its result's type, which hides an outer Z.
    """
    second = op.thunk_type if op.op.kind in ("indexunary", "select") else op.type2
    types = {"x": op.type.ctype, "y": second.ctype}
    expression = op.elementwise if elementwise else op.cuda
    read = set(_WORD.findall(expression))  # a regular expression for each operand would take longer to compile
    sets = [
        f"const {types[name]} {name} = cast<{types[name]}>({text});"
        if name in types
        else f"const i64 {name} = (i64)({text});"
        for name, text in operands.items()
        if name in read
    ]
    return f"typedef {op.return_type.ctype} Z; {' '.join(sets)} return cast<Z>({expression});"


@lru_cache(maxsize=256)
def call(op: TypedOp, *, x: str, y: str, i: str, j: str, k: str, at: str) -> tuple[str, str]:
    """Return a C++ function that applies an operator to two values, with parameters `at` for i, j, k, and its call."""
    text = evaluate(op, elementwise=True, x="p", y="q", i=i, j=j, k=k)
    helper = "template <class P, class Q> " + function(op.return_type.ctype, "f", f"P p, Q q, {at}", text)
    names = [parameter.split()[-1] for parameter in at.split(", ")]
    return helper, f"f({', '.join([x, y, *names])})"


def accumulator(accum: TypedOp | None) -> str:
    """Return the text of ``W accumulate(W old, Z z)`` and the flag ACCUM."""
    if accum is None:
        return flags(ACCUM=False) + "\n" + function("W", "accumulate", "W old, Z z", "return old;")
    inner = function(
        accum.return_type.ctype, "accumulate_typed", "W old, Z z", evaluate(accum, elementwise=True, x="old", y="z")
    )
    outer = function("W", "accumulate", "W old, Z z", "return cast<W>(accumulate_typed(old, z));")
    return f"{flags(ACCUM=True)}\n{inner}\n{outer}"


def monoid(op: Any) -> str:
    """Return the text of ``add``, ``identity`` and ``terminal`` of a typed monoid over Z, and its flags."""
    literal = op.type.literal
    ends = op.terminal is not None and not op.stops_anywhere
    return "\n".join(
        (
            flags(ANY=bool(op.stops_anywhere), TERMINAL=ends, ATOMIC=_atomic(op)),
            function("Z", "add", "Z x, Z y", f"return cast<Z>({op.cuda});"),
            function("Z", "identity", "", f"return {literal(neutral(op))};"),
            function("bool", "terminal", "Z z", f"return {f'z == {literal(op.terminal)}' if ends else 'false'};"),
        )
    )


def neutral(op: Any) -> Any:
    """Return the neutral value of a typed monoid, which folds start from: its identity, but NaN for float min and max.

    These prefer numbers to NaN, so only the fold of NaN alone is NaN.
    """
    by_number = op.op.user_function is None and op.name in ("min", "max")
    return op.type.np_type.type("nan") if by_number and op.type.is_float else op.identity


def _atomic(op: Any) -> int:
    """Return the number of the hardware atomic for a monoid: 1 add, 2 min, 3 max, 0 none (see atomics.cuh)."""
    size = op.type.np_type.itemsize
    if op.op.user_function is not None:
        return 0
    if op.name == "plus" and not op.type.is_bool and size >= 4:
        return 1
    if op.name in ("min", "max") and op.type.is_integer and size >= 4:
        return 2 if op.name == "min" else 3
    return 0
