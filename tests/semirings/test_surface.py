"""The public names of python-graphblas's operator namespaces, and of their operators: all exist but those listed."""

from __future__ import annotations

import warnings
from typing import Any

import graphblas
import numpy as np
import pytest

import sparsezc as gb
from sparsezc.semirings.algebra import names
from sparsezc.semirings.algebra.registering import Parameterized
from sparsezc.semirings.types import datatypes

from . import judge

KINDS = (*judge.KINDS, "op", "agg")

EMPTY = "is there for symmetry, and empty"
MAKES_ONE = "registers an operator of SuiteSparse's JIT from C text, which runs on its engine only"
ABSENT: dict[str, str] = {
    "monoid.ss": EMPTY,
    "unary.ss.register_new": MAKES_ONE,
    "binary.ss.register_new": MAKES_ONE,
    "indexunary.ss": MAKES_ONE,
    "select.ss": MAKES_ONE,
}
# Attributes of operators that are absent here.
OURS_INSTEAD = {
    "gb_obj": "SuiteSparse's own object; only its engine has one",
    "gb_name": "the name of SuiteSparse's own object",
    "register_new": "of monoids and semirings: stands in their namespace only",
    "register_anonymous": "likewise",
}


def public(module: Any) -> set[str]:
    return {name for name in dir(module) if not name.startswith("_")}


def namespaces(kind: str) -> dict[str, set[str]]:
    """Return the public names of a python-graphblas namespace, and of the namespaces in it."""
    module = getattr(graphblas, kind)
    found = {
        namespace: public(getattr(module, namespace)) for namespace in ("ss", "numpy") if hasattr(module, namespace)
    }
    return {"": public(module)} | found


# Read at import: python-graphblas adds names in use, such as any_pow by an outer product.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    THEIRS = {kind: namespaces(kind) for kind in KINDS}


def missing() -> set[str]:
    """Return every public name of python-graphblas's namespaces that is absent here."""
    found = set()
    for kind, theirs in THEIRS.items():
        ours = getattr(gb, kind)
        found |= {f"{kind}.{name}" for name in theirs[""] if not hasattr(ours, name)}
        if "ss" in theirs and hasattr(ours, "ss"):
            found |= {f"{kind}.ss.{name}" for name in theirs["ss"] if not hasattr(ours.ss, name)}
        if "numpy" in theirs:
            extra = theirs["numpy"] - set(dir(ours.numpy))
            found |= {f"{kind}.numpy.{name}" for name in extra if not made_of_absent(kind, name)}
    return found


def made_of_absent(kind: str, name: str) -> bool:
    """Return whether a semiring's monoid or operator is absent, or the monoid lacks the products' type.

    python-graphblas has more of them: BOOL and INT8 count as one type in its tables of NumPy's names.
    """
    parts = {each.rpartition(".")[2] for each in ABSENT if ".numpy." in each}
    if kind == "op" and name in parts:
        return True
    if kind not in ("semiring", "op"):
        return False
    adds = {*dir(gb.monoid.numpy), *parts}
    multiplies = {*dir(gb.binary.numpy), *parts}
    return any(name.startswith(f"{each}_") and name.removeprefix(f"{each}_") in multiplies for each in adds)


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # SuiteSparse's own operators under their old names
        yield


def test_every_name_is_here_or_has_a_reason() -> None:
    assert missing() == set(ABSENT)


def pairs() -> list[tuple[str, Any, Any]]:
    """Return the operators of both modules by kind, those of ``ss`` by their plain names."""
    return [
        (f"{kind}.{name}", names.names_of(kind)[name], theirs)
        for kind in judge.KINDS
        for name, theirs in judge.operators(kind).items()
        if name in names.names_of(kind)
    ]


def test_operators_have_the_same_attributes() -> None:
    for label, ours, theirs in pairs():
        assert {name for name in public(theirs) if not hasattr(ours, name)} <= set(OURS_INSTEAD), label
        dtype = next(t for t in (*judge.NAMES, "FC64") if t in ours and t in theirs)
        lacking = public(theirs[dtype]) - public(ours[dtype]) - set(OURS_INSTEAD)
        assert not lacking, label


def plainly(x: Any) -> Any:
    """Return an attribute in a form that compares: names instead of objects, and the real types only."""
    if isinstance(x, dict):
        return {str(k): plainly(v) for k, v in x.items() if str(k) in judge.NAMES}
    if hasattr(x, "name"):
        return x.name.removeprefix("ss."), str(getattr(x, "type", ""))
    return x


def agree(ours: Any, theirs: Any, attributes: tuple[str, ...]) -> list[str]:
    return [
        f"{name}: {plainly(getattr(ours, name))} instead of {plainly(getattr(theirs, name))}"
        for name in attributes
        if hasattr(theirs, name) and plainly(getattr(ours, name)) != plainly(getattr(theirs, name))
    ]


SAID = ("is_positional", "monoid", "binaryop", "is_commutative", "is_idempotent", "commutes_to")
UNTYPED = (*SAID, "coercions", "identities", "types")
TYPED = (*SAID, "opclass", "type", "type2", "return_type", "identity", "thunk_type")


def differs(label: str, ours: Any, dtype: str | None) -> set[str]:
    """Return the attributes that differ in python-graphblas for a known reason."""
    kind, _, name = label.partition(".")
    found = set()
    if label == "binary.hypot":
        found |= {"monoid"}  # set there once a program has used numpy.hypot
    if label == "binary.binom":
        found |= {"coercions"}  # it has typed operators there, not types
    if kind in ("indexunary", "select"):
        found |= {"is_positional"}  # there it means "of positions alone" for a few operators
    if kind in ("select", "semiring") or name in ("max", "min", "times"):
        found |= {"coercions"}  # empty or incomplete there, or BOOL into BOOL
    if kind == "semiring" and name.endswith(judge.CONVERTING):
        found |= {"types"}
    if ours.is_positional:
        found |= {"thunk_type"}  # SuiteSparse reads INT64, whichever type is declared there
    if dtype == "BOOL":  # there several names share one BOOL operator, which has any of the names
        found |= {"monoid", "binaryop", "commutes_to", "is_idempotent"}
    return found


def test_attributes_say_the_same() -> None:
    for label, ours, theirs in pairs():
        same = tuple(name for name in UNTYPED if name not in differs(label, ours, None))
        assert agree(ours, theirs, same) == [], label
        for dtype in judge.table(theirs):
            same = tuple(name for name in TYPED if name not in differs(label, ours, dtype))
            assert agree(ours[dtype], theirs[dtype], same) == [], f"{label}[{dtype}]"
            assert ours[dtype].parent is (ours() if isinstance(ours, Parameterized) else ours)


STRINGS = [
    "plus",
    "abs",
    "min.plus",
    "min_plus",
    "+",
    "-",
    "~",
    "tril",
    "min_plus[FP64]",
    "ss.firsti",
    "+[int]",
    "abs[FP32]",
    "any_secondi",
    "valuegt",
]


@pytest.mark.parametrize("text", STRINGS)
def test_a_string_of_any_kind(text: str) -> None:
    theirs, ours = graphblas.op.from_string(text), gb.op.from_string(text)
    kind = type(theirs).__name__ if not hasattr(theirs, "opclass") else theirs.opclass
    assert (ours.opclass, ours.name) == (kind, theirs.name.removeprefix("ss."))
    assert getattr(ours, "type", None) == str(theirs.type) if hasattr(theirs, "type") else not hasattr(ours, "type")


def test_a_string_of_no_kind() -> None:
    for text in ("nothing", "min.plus.times", ""):
        with pytest.raises(ValueError, match="names no operator"):
            gb.op.from_string(text)
    with pytest.raises(AttributeError, match="no unary, binary or semiring operator"):
        _ = gb.op.nothing


def test_every_namespace_reads_strings() -> None:
    for kind, text in (("unary", "~"), ("binary", "**"), ("monoid", "+"), ("select", ">="), ("indexunary", "tril")):
        ours, theirs = getattr(gb, kind).from_string(text), getattr(graphblas, kind).from_string(text)
        assert (ours.name, ours.opclass) == (theirs.name, type(theirs).__name__)
    for text in ("min.plus", "min_plus[FP64]", "lor.land[bool]"):
        assert gb.semiring.from_string(text).name == graphblas.semiring.from_string(text).name
    assert gb.semiring.get_semiring(gb.monoid.min, gb.binary.plus) is gb.semiring.min_plus
    assert gb.semiring.get_semiring(gb.binary.plus, gb.binary.hypot).name == "plus_hypot"


COMPARISONS = {
    "value": ("valuele", "valuelt", "valuegt", "valuege", "valueeq", "valuene"),
    "row": ("le", "lt", "gt", "ge"),
    "column": ("le", "lt", "gt", "ge"),
}


@pytest.mark.parametrize("what", COMPARISONS)
def test_selecting_by_a_comparison(what: str) -> None:
    rows, columns, values = [0, 1, 2, 3, 3], [1, 2, 0, 0, 3], [1, 2, 3, 2, 0]
    ours = gb.Matrix.from_coo(rows, columns, values)
    theirs = graphblas.Matrix.from_coo(rows, columns, values)
    for name in COMPARISONS[what]:
        op = name.removeprefix("value")
        for side in ("left", "right"):
            got = getattr(gb.select, what)(ours.apply(getattr(gb.binary, op), **{side: 2})).new()
            if side == "right":
                want = getattr(graphblas.select, what)(theirs.apply(getattr(graphblas.binary, op), right=2)).new()
            else:
                mirrored = graphblas.binary.__dict__.get(op, getattr(graphblas.binary, op)).commutes_to
                want = getattr(graphblas.select, what)(theirs.apply(mirrored, right=2)).new()
            assert sorted(zip(*got.to_coo(), strict=True)) == sorted(zip(*want.to_coo(), strict=True)), (op, side)


def test_selecting_by_an_index() -> None:
    v = gb.Vector.from_coo([0, 2, 4], [7, 8, 9])
    assert gb.select.index(v.apply(gb.binary.lt, 4)).new().to_dict() == {0: 7, 2: 8}
    assert gb.select.index(v.apply(gb.binary.lt, left=1)).new().to_dict() == {2: 8, 4: 9}
    with pytest.raises(ValueError, match="compared by"):
        gb.select.index(v.apply(gb.binary.eq, 4))
    with pytest.raises(ValueError, match="'plus'"):
        gb.select.value(v.apply(gb.binary.plus, 4))
    with pytest.raises(TypeError, match="A > 3"):
        gb.select.value(v)


@pytest.mark.slow  # the judge compiles each operator
def test_numpys_names_mean_what_they_mean_there() -> None:
    """Operators with NumPy's names are the same, or have the same results on small numbers."""
    x, y = np.array([1.0, 2, -3, 0.5]), np.array([2.0, 1, -3, 4])
    for kind, arrays in (("unary", (x,)), ("binary", (x, y))):
        theirs, ours = getattr(graphblas, kind).numpy, getattr(gb, kind).numpy
        for name in sorted(set(dir(ours)) & public(theirs)):
            mine, other = getattr(ours, name), getattr(theirs, name)
            if mine.name == other.name and ".numpy." not in repr(other):
                continue
            dtype = "FP64" if "FP64" in mine else "INT64"
            given = tuple(np.abs(a).astype(datatypes.lookup(dtype).np_type) for a in arrays)
            want = judge.apply(other[dtype], *given) if kind == "unary" else judge.combine(other[dtype], *given)
            np.testing.assert_allclose(mine[dtype].numpy(*given), want, rtol=1e-14, err_msg=f"{kind}.numpy.{name}")


def test_numpys_names() -> None:
    assert gb.semiring.numpy.add_multiply is gb.semiring.plus_times
    assert gb.op.numpy.maximum is gb.binary.numpy.maximum
    assert gb.binary.from_string("numpy.add") is gb.binary.plus
    assert gb.monoid.numpy.maximum["FP64"].identity == -np.inf
    assert np.isnan(gb.monoid.numpy.maximum["FP64"].numpy(np.nan, 1.0))
    total = gb.Vector.from_dense([1.0, 2, 3]).reduce(gb.monoid.numpy.logaddexp).new()
    assert total.value == pytest.approx(3.40760596444438)
    for namespace in (gb.unary, gb.binary, gb.monoid, gb.semiring, gb.op):
        with pytest.raises(AttributeError, match="has no 'nothing'"):
            _ = namespace.numpy.nothing
