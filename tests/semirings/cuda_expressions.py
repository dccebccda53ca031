"""The operators' CUDA expressions as functions over arrays: one C++ text, compiled by g++ and called by ctypes.

NVRTC compiles the same text with another head, for a GPU.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sparsezc import semirings
from sparsezc.semirings import TypedOp

HELPERS = [Path(semirings.__file__).parent / "cuda" / name for name in ("operators.cuh", "complex.cuh")]
FIXED_WIDTH = "\n".join(
    f"typedef {c} {name};"
    for name, c in {
        "i8": "signed char", "i16": "short", "i32": "int", "i64": "long long",
        "u8": "unsigned char", "u16": "unsigned short", "u32": "unsigned int", "u64": "unsigned long long",
    }.items()
)  # fmt: skip

# A host compiler takes CUDA's place: its qualifiers are empty macros, and its two bit casts are defined here.
HOST = f"""
#include <cmath>
#include <cstring>
#define __device__
#define __forceinline__ inline
inline float __int_as_float(int v) {{ float f; memcpy(&f, &v, 4); return f; }}
inline double __longlong_as_double(long long v) {{ double f; memcpy(&f, &v, 8); return f; }}
namespace szc {{ {FIXED_WIDTH} }}
"""
DEVICE = f"namespace szc {{ {FIXED_WIDTH} }}\n"


def body(n: int, typed: TypedOp) -> str:
    """Return the operator as the n-th inline function, as the specialiser writes it."""
    x, z = typed.type.ctype, typed.return_type.ctype
    positions = "i64 i, i64 k, i64 j, " if typed.is_positional else ""
    y = typed.thunk_type.ctype if typed.op.kind in ("indexunary", "select") else x
    return (
        f"__device__ __forceinline__ {z} f{n}({positions}{x} x, {y} y) "
        f"{{ using Z = {z}; return cast<Z>({typed.cuda}); }}"
    )


def loop(n: int, typed: TypedOp, head: str) -> str:
    """Return the operator's loop over arrays: ``head`` opens a function body in which ``n`` is an entry's number."""
    call = f"f{n}(i[n], k[n], j[n], x[n], y[n])" if typed.is_positional else f"f{n}(x[n], y[n])"
    y = typed.thunk_type.ctype if typed.op.kind in ("indexunary", "select") else typed.type.ctype
    parameters = (
        f"const {typed.type.ctype}* x, const {y}* y, const i64* i, const i64* k, const i64* j, "
        f"{typed.return_type.ctype}* z, i64 count"
    )
    return f'extern "C" {head.format(name=f"run{n}", parameters=parameters)} z[n] = {call}; }}'


def text(operators: Sequence[TypedOp], *, device: bool) -> str:
    """Return the whole program, with one function for each operator."""
    head = (
        "__global__ void {name}({parameters}) {{ "
        "const i64 n = i64(blockIdx.x) * blockDim.x + threadIdx.x; if (n < count)"
        if device
        else "void {name}({parameters}) {{ for (i64 n = 0; n < count; ++n)"
    )
    helpers = [path.read_text().replace("#pragma once", "") for path in HELPERS]  # an inlined text may not have it
    lines = [DEVICE if device else HOST, *helpers, "namespace szc {"]
    for n, typed in enumerate(operators):
        lines += [body(n, typed), loop(n, typed, head)]
    return "\n".join([*lines, "}"])


def compile_host(source: Path, library: Path) -> str:
    """Compile a C++ file to a shared library; return the compiler's warnings."""
    command = [
        shutil.which("g++") or "c++", "-std=c++17", "-O1", "-fwrapv", "-ffp-contract=off", "-shared", "-fPIC",
        "-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-unused-variable", "-Wno-unused-function",
        "-o", str(library), str(source),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return done.stderr


class HostProgram:
    """The operators' expressions, compiled by g++."""

    def __init__(self, operators: Sequence[TypedOp], folder: Path) -> None:
        self.operators = {id(typed): n for n, typed in enumerate(operators)}
        source, library = folder / "operators.cpp", folder / "operators.so"
        source.write_text(text(operators, device=False))
        self.warnings = compile_host(source, library)
        self.library = ctypes.CDLL(str(library))

    def __call__(self, typed: TypedOp, x: np.ndarray, y: np.ndarray, *positions: np.ndarray) -> np.ndarray:
        z = np.empty(len(x), typed.return_type.np_type)
        arrays = [np.ascontiguousarray(a) for a in (x, y)] + [np.ascontiguousarray(p, np.int64) for p in positions]
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in arrays] + [None] * (3 - len(positions))
        function = self.library[f"run{self.operators[id(typed)]}"]
        function(*pointers, ctypes.c_void_p(z.ctypes.data), ctypes.c_longlong(len(z)))
        return z
