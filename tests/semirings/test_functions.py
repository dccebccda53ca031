"""Python functions as operators: each form has Python's semantics, and untranslatable functions are refused."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc import exceptions
from sparsezc.semirings import binary, indexunary, select, unary
from sparsezc.semirings.algebra import names
from sparsezc.semirings.types import datatypes
from tests.emulator import resources

from . import cuda_expressions, functions, samples
from .cuda_expressions import HostProgram

KINDS = {"unary": functions.UNARY, "bits": functions.BITS, "binary": functions.BINARY, "indexunary": functions.INDEX}
SMALL = np.array([-9, -5, -3, -2, -1, 0, 1, 2, 3, 4, 5, 7, 9, 12])
CASES = [(kind, name) for kind, table in KINDS.items() for name in table]


def namespace(kind: str) -> Any:
    return {"unary": unary, "bits": unary, "binary": binary, "indexunary": indexunary}[kind]


@cache
def operator(kind: str, name: str) -> Any:
    return namespace(kind).register_anonymous(KINDS[kind][name], name.replace(" ", "_"))


def small(dtype: datatypes.DataType) -> np.ndarray:
    """Return numbers for which these functions stay within every type."""
    if dtype.is_bool:
        return np.array([False, True])
    values = SMALL[SMALL >= 0] if dtype in datatypes.UNSIGNED else SMALL
    values = values.astype(dtype.np_type)
    return np.concatenate([values, values + dtype.np_type.type(0.5)]) if dtype.is_float else values


def operands(kind: str, dtype: datatypes.DataType) -> tuple[np.ndarray, ...]:
    x = small(dtype)
    if kind in ("unary", "bits"):
        return (x,)
    a, b = (each.ravel() for each in np.meshgrid(x, x, indexing="ij"))
    if kind == "binary":
        return a, b
    places = np.arange(a.size) % 5, np.arange(a.size) % 3
    return a, *places, b


# Not compared with Python: UINT64 wraps below 0, and NumPy treats Python's booleans differently.
APART = {("exp", "UINT64"), ("distance", "UINT64"), ("one", "UINT64"), ("weighted", "UINT64")} | {
    (name, "BOOL") for name in ("sign", "angle", "turned", "log", "root", "hypotenuse", "exp")
}


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_means_what_python_means(kind: str, name: str) -> None:
    op, function = operator(kind, name), KINDS[kind][name]
    assert op.types
    for dtype in (t for t in op.types if (name, t.name) not in APART):
        arrays = operands(kind, dtype)
        want = np.array([function(*row) for row in zip(*(a.tolist() for a in arrays), strict=True)])
        got = op[dtype].numpy(*arrays)
        assert got.dtype == op.types[dtype].np_type
        want = datatypes.cast(np.asarray(want, np.float64 if want.dtype.kind == "f" else None), op.types[dtype])
        if got.dtype.kind == "f":
            single = got.dtype == np.float32 or dtype is datatypes.FP32
            np.testing.assert_allclose(got, want, rtol=1e-6 if single else 1e-14, err_msg=f"{name} {dtype}")
        else:
            np.testing.assert_array_equal(got, want, err_msg=f"{name} {dtype}")


SORTS = ("BOOL", "INT8", "INT64", "UINT64", "FP32", "FP64")  # one of each kind; others are computed in these


def typed_ones() -> list[Any]:
    return [operator(kind, name)[dtype] for kind, name in CASES for dtype in SORTS if dtype in operator(kind, name)]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> HostProgram:
    return HostProgram(typed_ones(), tmp_path_factory.mktemp("functions"))


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_cuda_means_the_same_at_every_edge(kind: str, name: str, program: HostProgram) -> None:
    """Extremes of types, infinities and divisions by zero, where Python has no result, equal the NumPy form's."""
    for dtype in (t for t in operator(kind, name).types if t.name in SORTS):
        typed = operator(kind, name)[dtype]
        x, y = samples.pairs(dtype)
        i, j = np.arange(x.size) % 7, np.arange(x.size) % 4
        given = {"unary": (x,), "bits": (x,), "binary": (x, y), "indexunary": (x, i, j, y)}[kind]
        want = typed.numpy(*given)
        got = program(typed, x, y, i, i, j)
        if want.dtype.kind == "f":
            np.testing.assert_allclose(got, want, rtol=1e-5 if want.dtype == np.float32 else 1e-13, err_msg=repr(typed))
        else:
            np.testing.assert_array_equal(got, want, err_msg=repr(typed))


def test_the_compiler_has_nothing_to_say(program: HostProgram) -> None:
    assert program.warnings == ""


@pytest.mark.skipif(resources.why_unavailable() is not None, reason=str(resources.why_unavailable()))
def test_nvrtc_takes_them() -> None:
    operators = [typed for typed in typed_ones() if typed.type.name in ("BOOL", "INT8", "FP64")]
    usage = resources.parse_report(resources.compile_program(cuda_expressions.text(operators, device=True), 90))
    assert len(usage) == len(operators)
    assert all(use.spills == 0 for use in usage.values())


def test_result_types_are_the_judges() -> None:
    """The types equal python-graphblas's, which it finds by compiling each function for each type."""
    import graphblas

    for kind, wanted in (
        ("unary", ("affine", "floor division", "half", "constant", "bool", "floor")),
        ("binary", ("difference", "equal")),
        ("indexunary", ("row",)),
    ):
        for name in wanted:
            theirs = getattr(graphblas, kind).register_anonymous(KINDS[kind][name])
            table = {t.name: z.name for t, z in theirs.types.items() if not t.name.startswith("FC")}
            assert {t.name: z.name for t, z in operator(kind, name).types.items()} == table, name


def refused_loop(x):
    for _ in range(3):
        x += 1
    return x


def refused_fall(x):  # noqa: RET503
    if x > 0:
        return x
    x += 1


def refused_name(x):
    if x > 0:
        y = 1
    return y


def refused_inside(x):
    def inside():
        return x

    return inside()


def fine(x):
    return x + 1


REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "a loop": (refused_loop, "a for loop"),
    "no number in a text": (lambda x: float("one") + x, "could not convert string to float: 'one'"),
    "a missing return": (refused_fall, "ends without return"),
    "a name without a value": (refused_name, "'y' has no value on every path"),
    "a function inside": (refused_inside, "a function inside"),
    "a library": (lambda x: np.linalg.norm(x), "np.linalg.norm"),
    "a function of the program": (lambda x: fine(x), "a call of 'fine'"),
    "a list": (lambda x: [x], "a list"),
    "an index": (lambda x: x["a"], "an index"),
    "text": (lambda x: "yes", "'yes' is no number"),
    "keywords": (lambda x: max(x, 1, default=3), "a call"),
    "complex numbers": (lambda x: x + 1j, "1j is no number"),
    "large numbers": (lambda x: x + 1180591620717411303424, "more than 64 bits"),
    "an unknown name": (lambda x: x + nothing, "'nothing' has no value"),  # noqa: F821
    "too many parameters": (lambda x, y: x, "takes 2 parameters and 1 are needed"),
    "stars": (lambda *x: 1, "plain names"),
    "defaults": (lambda x=1: x, "plain names"),
    "too many arguments": (lambda x: abs(x, x), "another number of arguments"),
    "is": (lambda x: x is True, "comparisons are"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    function, text = REFUSED[name]
    with pytest.raises(exceptions.UdfParseError, match=__file__.rpartition("/")[2] + ", line [0-9]+") as caught:
        unary.register_anonymous(function)
    assert text in str(caught.value)
    assert isinstance(caught.value, TypeError)


def test_the_line_is_the_constructs() -> None:
    line = refused_loop.__code__.co_firstlineno + 1
    with pytest.raises(exceptions.UdfParseError, match=f"line {line}\\)"):
        unary.register_anonymous(refused_loop)


def test_what_has_no_text() -> None:
    namespace: dict[str, Any] = {}
    exec("def hidden(x): return x", namespace)
    with pytest.raises(exceptions.UdfParseError, match="its source text, which is translated, cannot be found"):
        unary.register_anonymous(namespace["hidden"])
    for wrong in (3, abs, math.sqrt, "x + 1"):
        with pytest.raises(TypeError, match="must be a function"):
            unary.register_anonymous(wrong)


def test_types_that_a_function_does_not_take() -> None:
    bits = unary.register_anonymous(lambda x: x & 1, "low_bit")
    assert ("FP64" in bits, "INT8" in bits, "BOOL" in bits) == (False, True, True)
    with pytest.raises(exceptions.DomainMismatch, match="low_bit does not work with FP64"):
        _ = bits["FP64"]
    positional = indexunary.register_anonymous(lambda x, i, j, t: (x & 1) + i)
    with pytest.raises(exceptions.DomainMismatch, match="does not work with FP32"):
        _ = positional["FP32"]
    with pytest.raises(ValueError, match="must have BOOL return type"):
        select.register_anonymous(lambda x, i, j, t: x + i)


def test_several_lambdas_in_a_line() -> None:
    pair = [unary.register_anonymous(f)["INT64"] for f in (lambda x: x + 1, lambda x: x * (2 + 1))]
    assert [int(op.numpy(5)) for op in pair] == [6, 15]


def test_constants_from_around_are_those_of_that_time() -> None:
    factor = 3
    op = unary.register_anonymous(lambda x: x * factor)
    factor = 4
    assert op["INT64"].numpy(5) == 15
    assert unary.register_anonymous(lambda x: x * factor)["INT64"].numpy(5) == 20


def test_parameters() -> None:
    def scaled(by=2):
        def inner(x):
            return x * by

        return inner

    op = unary.register_anonymous(scaled, parameterized=True)
    assert (op["INT64"].numpy(5), op(3)["INT64"].numpy(5), op(by=1.5)["INT64"].numpy(5)) == (10, 15, 7.5)
    assert op(3) is op(3)
    assert op(3) is not op(3.0)

    class Operand:
        def _call_operator(self, op: object, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
            return op

    assert op(Operand()) is op()
    assert (op.types, op.opclass, op.name, op.orig_func) == (op().types, op().opclass, "scaled", scaled)
    assert gb.Vector.from_dense([1, 2]).apply(op).new().to_dense().tolist() == [2, 4]
    assert gb.Vector.from_dense([1, 2]).apply(op(5)).new().to_dense().tolist() == [5, 10]


@pytest.fixture
def clean() -> Any:
    """Restore the namespaces after each test."""
    namespaces = {kind: vars(getattr(gb, kind)) for kind in names.KINDS}
    before = {kind: dict(each) for kind, each in namespaces.items()}
    yield
    for kind, each in namespaces.items():
        for name in set(each) - set(before[kind]):
            del each[name]


@pytest.mark.usefixtures("clean")
def test_names() -> None:
    op = unary.register_new("Increment", fine)
    assert unary.Increment is op is gb.op.Increment is names.lookup("unary", "Increment")
    assert unary.from_string("Increment[INT8]") is op["INT8"]
    deep = binary.register_new("my.own.distance", functions.distance)
    assert binary.my.own.distance is deep is gb.op.my.own.distance is binary.from_string("my.own.distance")
    with pytest.raises(AttributeError, match=r"unary\.abs is already defined") as caught:
        unary.register_new("abs", fine)
    assert isinstance(caught.value, exceptions.InvalidValue)
    with pytest.raises(AttributeError, match="is an object, not a namespace"):
        unary.register_new("abs.more", fine)
    with pytest.raises(ValueError, match="is no name"):
        unary.register_new("not a name", fine)
    above = indexunary.register_new("above", functions.INDEX["above"])
    assert (above.kind, select.above.kind, select.above.name) == ("indexunary", "select", "above")
    assert select.register_new("near", functions.INDEX["near"]) is select.near
    assert indexunary.near.kind == "indexunary"
    assert not hasattr(select, "row_weighted")
    indexunary.register_new("row_weighted", functions.INDEX["weighted"])
    assert not hasattr(select, "row_weighted")
    for each in (op, deep, above, select.near, op["INT8"]):
        assert pickle.loads(pickle.dumps(each)) is each


@pytest.mark.usefixtures("clean")
def test_monoids_and_semirings() -> None:
    longest = binary.register_new("longest", lambda x, y: max(abs(x), abs(y)))
    norm = gb.monoid.register_new("longest", longest, 0)
    assert (gb.monoid.longest, longest.monoid, norm.binaryop) == (norm, norm, longest)
    assert (norm["INT8"].identity, norm["FP32"].identity.dtype) == (0, np.float32)
    assert datatypes.BOOL not in norm.types  # two BOOL operands give an INT8
    some = gb.monoid.register_anonymous(longest, {"INT8": 0, "FP64": 0.0}, terminal={"INT8": 127, "FP64": np.inf})
    assert [t.name for t in some.types] == ["INT8", "FP64"]
    assert (some["INT8"].terminal, some["FP64"].terminal) == (127, np.inf)
    ring = gb.semiring.register_new("longest_times", norm, binary.times)
    assert gb.semiring.longest_times is ring is gb.semiring.get_semiring(norm, binary.times)
    assert gb.semiring.from_string("longest.times") is ring
    assert gb.semiring.register_anonymous(longest, longest, "twice")["INT8"].monoid is norm["INT8"]
    par = binary.register_anonymous(lambda a=1: lambda x, y: max(x, a * y), "par", parameterized=True)
    many = gb.monoid.register_anonymous(par, 0)
    assert many(3).binaryop is par(3)
    assert gb.semiring.register_anonymous(gb.monoid.plus, par)(3).binaryop is par(3)
    with pytest.raises(exceptions.DomainMismatch, match="is no monoid"):
        gb.monoid.register_anonymous(binary.register_anonymous(lambda x, y: x / y + 0.5, "no"), {"INT8": 0})
    with pytest.raises(TypeError, match="made of a BinaryOp"):
        gb.monoid.register_anonymous(unary.abs, 0)
    with pytest.raises(AttributeError, match="already defined"):
        gb.monoid.register_new("plus", longest, 0)


def test_pickles() -> None:
    op = binary.register_anonymous(functions.distance, "apart")
    again = pickle.loads(pickle.dumps(op["INT8"]))
    assert (again.name, again.numpy(3, 5)) == ("apart", 2)
    assert pickle.loads(pickle.dumps(binary.isclose(0.25))) is binary.isclose(0.25)
    assert binary.isclose.is_commutative
    assert binary.isclose(0.1).commutes_to is binary.isclose(0.1)
