"""The classes of python-graphblas, and the construction of one object of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.house import test_surface

from . import suitesparse
from .find import ABSENT
from .statements import BOOLEAN, EXPRESSION, MASK, MATRIX, SCALAR, VECTOR, Statement


class Class(NamedTuple):
    """A class: its title on the page, the class that has its names, an object of it, and a statement for each name."""

    title: str
    like: str
    made: Callable[[Any, Any], Any]
    statements: dict[str, Statement]


def expression(title: str, like: str, made: Callable[[Any, Any], Any], statements: dict[str, Statement]) -> Class:
    return Class(title, like, made, statements | EXPRESSION)


CLASSES = [
    Class("Matrix", "Matrix", lambda g, o: o.A, MATRIX | {"ss": lambda g, o, x: x.ss.nbytes > 0}),
    Class("Vector", "Vector", lambda g, o: o.u, VECTOR | {"ss": lambda g, o, x: x.ss.nbytes > 0}),
    Class("Scalar", "Scalar", lambda g, o: g.Scalar.from_value(3), SCALAR),
    Class("A.T", "Matrix", lambda g, o: o.A.T, MATRIX),
    expression("A.mxm(B)", "Matrix", lambda g, o: o.A.mxm(o.B, g.semiring.plus_times), MATRIX),
    expression("A @ B", "Matrix", lambda g, o: o.A @ o.B, MATRIX),
    expression("A & B", "Matrix", lambda g, o: o.A.dup(bool) & o.B.dup(bool), MATRIX | BOOLEAN),
    expression("A[i, :]", "Vector", lambda g, o: o.A[0, :], VECTOR),
    expression("A[:, :]", "Matrix", lambda g, o: o.A[:, :], MATRIX),
    expression("A[i, j]", "Scalar", lambda g, o: o.A[1, 2], SCALAR),
    Class("A.S", "A.S", lambda g, o: o.A.S, MASK),
    Class("A.ss", "A.ss", lambda g, o: o.A, suitesparse.MATRIX),
    Class("v.ss", "A.ss", lambda g, o: o.u, suitesparse.VECTOR),
]


def states(of: Class, run: Callable[[str, Any], str]) -> dict[str, str]:
    """Return the state of every public name of a class; `run` runs a statement and returns its state."""
    theirs = test_surface.CLASSES[of.title][0]
    found = {}
    for name in sorted(test_surface.names(theirs)):
        if name in test_surface.ABSENT:
            found[name] = ABSENT
        elif name == "ss" and name not in of.statements:
            continue  # an expression's `ss` is that of its result
        else:
            statement = of.statements[name]
            found[name] = run(f"{of.title}: {name}", lambda g, o, f=statement: f(g, o, of.made(g, o)))
    return found
