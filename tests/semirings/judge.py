"""python-graphblas as the judge of the algebra: namespaces, tables of types, operators applied to arrays."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import graphblas as gb
import numpy as np

gb.init("suitesparse", blocking=True)  # its default, nonblocking mode may corrupt inputs

NAMES = ("BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64", "FP32", "FP64")
KINDS = ("unary", "binary", "indexunary", "select", "monoid", "semiring")
#: Semirings that convert BOOL and complex operands although their types do not list these.
CONVERTING = ("_pair", "times_first", "times_second", "_eq", "_ne")


#: The names of each kind at import: python-graphblas adds names in use, such as any_pow by an outer product.
_NAMES = {kind: dir(getattr(gb, kind)) for kind in KINDS}


@cache
def operators(kind: str) -> dict[str, Any]:
    """Return the judge's operators of a kind by name, those of its ``ss`` submodule by their plain names.

    The first call makes them: python-graphblas compiles some, which takes seconds.
    """
    module = getattr(gb, kind)
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for name in _NAMES[kind]:
            op = getattr(module, name)
            if hasattr(op, "types"):
                found[name] = op
        if kind == "binary":
            found["mod"] = gb.binary.numpy.mod
            found["isclose"] = gb.binary.isclose()
    return found


def table(op: Any) -> dict[str, tuple[str, str]]:
    """Return ``{input: (operand type, result type)}`` for the real types."""
    names = [t.name for t in op.types if t.name in NAMES]
    return {name: (op[name].type.name, op[name].return_type.name) for name in names}


def vector(values: np.ndarray) -> Any:
    return gb.Vector.from_dense(values)


def apply(op: Any, x: np.ndarray) -> np.ndarray:
    return np.asarray(vector(x).apply(op).new().to_dense())


def combine(op: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return ``op(x[n], y[n])`` for every n."""
    return np.asarray(vector(x).ewise_mult(vector(y), op).new().to_dense())
