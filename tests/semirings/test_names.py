"""Lookup of types and operators, by name, by infix spelling, by Python built-in; and the errors for wrong ones."""

from __future__ import annotations

import copy
import doctest
import importlib.util
import itertools
import pickle
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import graphblas as gb
import numpy as np
import pytest

from sparsezc import exceptions, semirings
from sparsezc.semirings import binary, from_string, indexunary, lookup, monoid, select, semiring, unary
from sparsezc.semirings.algebra import names, structures
from sparsezc.semirings.types import datatypes

from . import judge

SPELLINGS = """
+ - * / // ** & | ^ ~ < > <= >= != == col<= col> row<= row> index<= index> min max abs pair tril
min.+ min.plus min_plus any.pair +.* lor.land |.& plus.times MIN.+ Lor.Land
"""


@pytest.mark.parametrize("dtype", [*datatypes.ALL, *datatypes.COMPLEX], ids=str)
def test_types_are_found_by_every_name(dtype: datatypes.DataType) -> None:
    np_type = dtype.np_type
    for name in (dtype, dtype.name, dtype.name.lower(), np_type, np_type.type, np_type.name, np_type.str):
        assert datatypes.lookup(name) is dtype
        assert dtype == name
    assert dtype == gb.dtypes.lookup_dtype(dtype.name).np_type
    assert dtype != "FC64" or dtype.is_complex
    assert pickle.loads(pickle.dumps(dtype)) is copy.deepcopy(dtype) is dtype
    with pytest.raises(AttributeError):
        dtype.name = "other"


def test_python_types() -> None:
    assert [datatypes.lookup(t) for t in (bool, int, float, "int", complex)] == [
        "BOOL",
        "INT64",
        "FP64",
        "INT64",
        "FC64",
    ]


@pytest.mark.parametrize("wrong", [None, "", "INT128", "U3", object, [], 3.5, {"x": object}])
def test_unknown_types(wrong: object) -> None:
    with pytest.raises(exceptions.UnknownDtype, match="names no GraphBLAS type"):
        datatypes.lookup(wrong)


@pytest.mark.parametrize("kind", names.KINDS)
def test_strings_mean_what_they_mean_there(kind: str) -> None:
    theirs = getattr(gb, kind).from_string
    for text in SPELLINGS.split():
        for typed in ("", "[int]", "[FP32]", "[bool]"):
            try:
                expected = theirs(text + typed)
            except (KeyError, ValueError, AttributeError, TypeError):
                with pytest.raises((exceptions.InvalidValue, KeyError)):
                    from_string(kind, text + typed)
                continue
            got = lookup(kind, text + typed)
            assert got.name == theirs(text).name, text
            assert (typed == "") == (not hasattr(got, "type"))
            if typed:
                assert got.type.name == expected.type.name


@pytest.mark.parametrize("text", ["", "nothing", "+[", "+[int", "+]int[", "+[int][int]", "min.+.times", "+[FC65]"])
@pytest.mark.parametrize("kind", ["binary", "semiring"])
def test_strings_that_mean_nothing(kind: str, text: str) -> None:
    with pytest.raises((exceptions.InvalidValue, exceptions.UnknownDtype)):
        from_string(kind, text)


WRONG = {
    "plus[int": "does not end with",
    "plus[int][float]": "too many",
    "plus][int]": "not matched by",
    "plus[int]extra": "does not end with",
    "badname": "Unknown binary string",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_with_a_string(text: str) -> None:
    for read in (from_string, lambda kind, text: getattr(gb, kind).from_string(text)):
        with pytest.raises(ValueError, match=WRONG[text]):
            read("binary", text)


def test_numpys_names_need_no_prefix() -> None:
    assert from_string("binary", "true_divide") is from_string("binary", "numpy.true_divide")
    assert from_string("op", "logical_and") is binary.numpy.logical_and


def test_names_in_c() -> None:
    for t in (*datatypes.ALL, *datatypes.COMPLEX):
        assert t.c_type == gb.dtypes.lookup_dtype(t.name).c_type
        assert datatypes.lookup(t.c_type) is (
            datatypes.FP64 if t.c_type == "float" else t
        )  # "float" means Python's float, as in python-graphblas


def test_comparing_with_what_is_no_type() -> None:
    assert datatypes.BOOL != None  # noqa: E711
    for compare in (datatypes.BOOL.__eq__, gb.dtypes.BOOL.__eq__):
        with pytest.raises(TypeError):
            compare(object())


def test_a_namespace_lists_what_is_meant() -> None:
    for kind in names.KINDS:
        theirs, ours = (
            {name for name in dir(getattr(g, kind)) if name[0] != "_"} for g in (gb, import_module("sparsezc"))
        )
        assert ours - theirs <= {"mod"}, kind  # python-graphblas has it in binary.numpy only


def test_operators_stand_for_each_other() -> None:
    assert lookup("binary", monoid.plus) is binary.plus
    assert lookup("binary", monoid.plus["FP64"]) is binary.plus["FP64"]
    assert lookup("monoid", binary.min) is monoid.min
    assert lookup("select", binary.isgt) is select.valuegt
    assert lookup("select", indexunary.tril) is select.tril
    assert lookup("indexunary", select.tril) is indexunary.tril
    assert (lookup("unary", abs), lookup("binary", min), lookup("monoid", max)) == (unary.abs, binary.min, monoid.max)
    for kind, wrong in (("unary", binary.plus), ("monoid", binary.minus), ("semiring", monoid.plus), ("binary", 3)):
        with pytest.raises(TypeError, match=f"a {kind} operator is needed"):
            lookup(kind, wrong)


def test_typed_operators_are_made_once() -> None:
    plus = binary.plus
    same = [
        plus[k]
        for k in ("INT64", "int64", int, np.int64, np.dtype("int64"), datatypes.INT64, (datatypes.INT32, "INT64"))
    ]
    assert all(op is same[0] for op in same)
    assert unary.sin["INT8"] is unary.sin["FP32"]
    assert semiring.lor_first["FP64"] is semiring.lor_first["BOOL"]
    assert ("FP64" in binary.band, "INT8" in binary.band, "nothing" in binary.band) == (False, True, False)


def test_a_type_that_an_operator_lacks() -> None:
    for wrong in (lambda: binary.band["FP64"], lambda: monoid.plus["BOOL"], lambda: semiring.min_plus[bool, bool]):
        with pytest.raises(exceptions.DomainMismatch, match="does not work with") as caught:
            wrong()
        assert isinstance(caught.value, KeyError)
        assert isinstance(caught.value, TypeError)


def test_operators_survive_pickling() -> None:
    for kind in judge.KINDS:
        for op in names.names_of(kind).values():
            assert pickle.loads(pickle.dumps(op)) is op
            typed = op[next(iter(op.types))]
            assert pickle.loads(pickle.dumps(typed)) is copy.deepcopy(typed) is typed
    made = structures.register_anonymous(monoid.max, binary.hypot, "longest")
    again = pickle.loads(pickle.dumps(made["FP32"]))
    assert (again.op.name, again.monoid, again.binaryop) == ("longest", monoid.max["FP32"], binary.hypot["FP32"])


def test_calls_reach_the_operand() -> None:
    class Operand:
        def _call_operator(self, op: object, args: tuple[object, ...], kwargs: dict[str, object]) -> tuple[object, ...]:
            return op, args[1:], kwargs

    assert binary.plus(Operand(), 1) == (binary.plus, (1,), {})
    assert semiring.min_plus["INT8"](Operand()) == (semiring.min_plus["INT8"], (), {})
    with pytest.raises(TypeError, match=r"binary\.plus takes"):
        binary.plus(object(), 2)


def test_no_two_operators_are_one() -> None:
    for kind in judge.KINDS:
        ops = {id(op): op for op in names.names_of(kind).values()}.values()
        for a, b in itertools.combinations(ops, 2):
            assert a.name != b.name
        for name, op in names.names_of(kind).items():
            assert op.name == name or name in ("index", "indexle", "indexgt")


def test_the_folder_refuses_any_other_name() -> None:
    spec = importlib.util.spec_from_file_location("semirings", semirings.__file__)
    assert spec is not None
    assert spec.loader is not None
    with pytest.raises(ImportError, match=r"sparsezc\.semirings only"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def test_importing_costs_little() -> None:
    """On a quiet machine it takes under 30 ms beyond NumPy; ten times that is a mistake on any machine."""
    program = (
        "import sys, time, numpy; t = time.perf_counter(); import sparsezc.semirings; d = time.perf_counter() - t;"
        "print(d, sorted({m.split('.')[0] for m in sys.modules} & {'graphblas', 'scipy', 'cupy', 'numba'}))"
    )
    bare = Path(semirings.__file__).parent.parent
    root = bare if (bare / "sparsezc").exists() else bare.parent
    # The package's own __init__ may import more, so an empty package replaces it.
    path = [str(root / "sparsezc")]
    setup = f"import types, sys; m = types.ModuleType('sparsezc'); m.__path__ = {path!r}; sys.modules['sparsezc'] = m;"
    done = subprocess.run([sys.executable, "-c", setup + program], capture_output=True, text=True, check=True)
    seconds, others = done.stdout.split(" ", 1)
    assert others.strip() == "[]"
    assert float(seconds) < 0.3


WITHOUT = ("types.domains", "udf.numpy_functions")
MODULES = ("", "types.datatypes", "algebra.names", "algebra.operators", "algebra.structures", *WITHOUT)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    module = importlib.import_module("sparsezc.semirings" + (name and "." + name))
    result = doctest.testmod(module)
    assert result.failed == 0
    assert result.attempted > 0 or name in WITHOUT
