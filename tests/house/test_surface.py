"""Every name of python-graphblas's public classes, and every parameter of their methods, exists."""

from __future__ import annotations

import inspect
from typing import Any

import graphblas
import pytest
from graphblas.core.matrix import TransposedMatrix as TheirTransposed

import sparsezc as gb
from sparsezc.core.matrix import TransposedMatrix

A, B = graphblas.Matrix(int, 2, 2), gb.Matrix(int, 2, 2)

#: (theirs, ours), by the text that a user writes.
CLASSES: dict[str, tuple[Any, Any]] = {
    "Matrix": (graphblas.Matrix, gb.Matrix),
    "Vector": (graphblas.Vector, gb.Vector),
    "Scalar": (graphblas.Scalar, gb.Scalar),
    "A.T": (TheirTransposed, TransposedMatrix),
    "A.mxm(B)": (A.mxm(A), B.mxm(B)),
    "A @ B": (A @ A, B @ B),
    "A & B": (A & A, B & B),
    "A[i, :]": (A[0, :], B[0, :]),
    "A[:, :]": (A[:, :], B[:, :]),
    "A[i, j]": (A[0, 0], B[0, 0]),
    "A.S": (A.S, B.S),
    "A.ss": (A.ss, B.ss),
    "v.ss": (graphblas.Vector(int, 2).ss, gb.Vector(int, 2).ss),
    "Matrix.ss": (graphblas.Matrix.ss, gb.Matrix.ss),
}
#: Absent names, and the reason.
ABSENT = {
    "gb_obj": "a handle of the C library, which a matrix on a GPU has not",
    "method_name": "of an expression: ours has operation, operands and op",
    "output_type": "of an expression: ours has kind",
    "args": "likewise: operands",
    "at": "what python-graphblas passes to the C library",
    "bt": "what python-graphblas passes to the C library",
    "cfunc_name": "what python-graphblas passes to the C library",
    "construct_output": "how python-graphblas makes a result inside: new()",
    "expr_repr": "a part of its repr",
}


def names(x: Any) -> set[str]:
    return {name for name in dir(x) if not name.startswith("_")}


@pytest.mark.parametrize("what", CLASSES)
def test_every_name_is_there(what: str) -> None:
    theirs, ours = CLASSES[what]
    missing = names(theirs) - ABSENT.keys()
    if what == "Matrix.ss":  # in python-graphblas this also shows methods that need an object
        missing = {name for name in missing if name.startswith("import_") or name == "deserialize"}
    with gb.config.set(autocompute=False):
        found = {name for name in missing if name in dir(ours) or hasattr(type(ours), name) or _has(ours, name)}
    assert not missing - found


def _has(x: Any, name: str) -> bool:
    try:
        getattr(x, name)
    except TypeError:
        return True  # it exists, and needs autocompute
    except AttributeError:
        return False
    return True


#: Expressions and the class of their result, which in python-graphblas has the names that the expression lacks.
MADE = {
    "A.mxm(B)": "Matrix", "A @ B": "Matrix", "A & B": "Matrix", "A[:, :]": "Matrix", "A[i, :]": "Vector",
    "A[i, j]": "Scalar",
}  # fmt: skip


@pytest.mark.parametrize("what", MADE)
def test_what_has_not_run_can_be_read_and_not_changed(what: str) -> None:
    """dir() of an expression has the names of its result, less those that would change a temporary result."""
    theirs, ours = CLASSES[what]
    made_by_them, made = CLASSES[MADE[what]]
    lacking = names(made) - names(ours)
    assert lacking == names(made_by_them) - names(theirs)
    for name in lacking:
        with pytest.raises(AttributeError, match=f"no attribute '{name}'"):
            getattr(ours, name)


def test_what_is_absent_is_no_longer_than_needed() -> None:
    there = {name for theirs, _ in CLASSES.values() for name in names(theirs)}
    assert not ABSENT.keys() - there
    assert not [name for name in ABSENT if hasattr(gb.Matrix, name)]


@pytest.mark.parametrize("what", ["Matrix", "Vector", "Scalar", "A.T"])
def test_every_parameter_is_there(what: str) -> None:
    theirs, ours = CLASSES[what]
    for name in names(theirs) - ABSENT.keys() - {"ss"}:
        method = getattr(theirs, name)
        if not callable(method):
            continue
        wanted, got = (inspect.signature(m).parameters for m in (method, getattr(ours, name)))
        missing = [p for p in wanted if p not in got and p not in ("opts", "self")]
        assert not missing, (name, missing)
        for parameter, theirs_has in wanted.items():
            if parameter in got and isinstance(theirs_has.default, int | str | bool | type(None)):
                assert got[parameter].default == theirs_has.default, (name, parameter)


def test_the_top_level() -> None:
    assert {name for name in dir(graphblas) if not name.startswith("_")} - set(dir(gb)) <= {"core"}
