"""Every operator of python-graphblas exists, under the same name, for the same types."""

from __future__ import annotations

import itertools
from importlib import import_module

import pytest

from sparsezc.semirings import op
from sparsezc.semirings.algebra import names
from sparsezc.semirings.types import datatypes

from . import judge

MOVED: dict[str, dict[str, str]] = {"binary": {"mod": "binary.numpy.mod there, which A % B means"}}


@pytest.mark.parametrize("kind", judge.KINDS)
def test_names(kind: str) -> None:
    theirs, ours = set(judge.operators(kind)) - set(MOVED.get(kind, {})), set(names.names_of(kind))
    assert theirs - ours == set()
    assert ours - theirs == set(MOVED.get(kind, {}))


@pytest.mark.parametrize("kind", ["unary", "binary", "semiring"])
def test_suitesparse_has_a_corner_of_its_own(kind: str) -> None:
    import graphblas as gb

    module = import_module(f"sparsezc.semirings.{kind}")
    theirs = {name for name in dir(getattr(gb, kind).ss) if hasattr(getattr(getattr(gb, kind).ss, name), "types")}
    assert {name for name in vars(module.ss) if not name.startswith("_")} - {"annotations"} == theirs
    for name in theirs:  # the old name exists too, with python-graphblas's warning
        with pytest.warns(DeprecationWarning, match=rf"please use .*`gb\.{kind}\.ss\.{name}`"):
            assert getattr(module.ss, name) is getattr(module, name)
        with pytest.warns(DeprecationWarning, match=rf"please use .*`gb\.op\.ss\.{name}`"):
            assert getattr(module.ss, name) is getattr(op, name)


@pytest.mark.parametrize("kind", judge.KINDS)
def test_input_operand_and_result_types(kind: str) -> None:
    for name, theirs in judge.operators(kind).items():
        ours = names.names_of(kind)[name]
        mine = {t.name: (ours[t].type.name, ours[t].return_type.name) for t in ours.types if not t.is_complex}
        if kind == "semiring" and name.endswith(judge.CONVERTING):
            assert mine.items() >= judge.table(theirs).items(), f"{kind}.{name}"
        else:
            assert mine == judge.table(theirs), f"{kind}.{name}"
        results = {t.name: z.name for t, z in ours.types.items() if not t.is_complex}
        assert results == {t: z for t, (_, z) in mine.items()}, f"{kind}.{name}"


def test_two_types_meet_as_they_do_there() -> None:
    import graphblas as gb

    for a, b in itertools.product(datatypes.ALL, datatypes.ALL):
        theirs = gb.dtypes.unify(gb.dtypes.lookup_dtype(a.name), gb.dtypes.lookup_dtype(b.name))
        assert datatypes.unify(a, b).name == theirs.name
        for left, right in itertools.product((False, True), repeat=2):
            flags = {"is_left_scalar": left, "is_right_scalar": right}
            theirs = gb.dtypes.unify(gb.dtypes.lookup_dtype(a.name), gb.dtypes.lookup_dtype(b.name), **flags)
            assert datatypes.unify(a, b, **flags).name == theirs.name


@pytest.mark.parametrize("kind", ["binary", "semiring"])
def test_operators_of_two_types(kind: str) -> None:
    for name, theirs in judge.operators(kind).items():
        ours = names.names_of(kind)[name]
        for a, b in (("INT8", "FP32"), ("BOOL", "INT16"), ("UINT64", "INT64"), ("INT32", "UINT32")):
            try:
                expected = theirs[a, b]
            except KeyError:
                assert (a, b) not in ours, f"{kind}.{name}[{a}, {b}]"
            else:
                got = ours[a, b]
                assert (got.type.name, got.return_type.name) == (expected.type.name, expected.return_type.name), name


def test_commuted_operators() -> None:
    for kind in ("binary", "semiring"):
        for name, theirs in judge.operators(kind).items():
            expected = theirs.commutes_to
            got = names.names_of(kind)[name].commutes_to
            assert (got and got.name) == (expected and expected.name.removeprefix("ss.")), f"{kind}.{name}"


def test_monoids_and_semirings_have_the_same_parts() -> None:
    for name, theirs in judge.operators("monoid").items():
        ours = names.names_of("monoid")[name]
        assert ours.binaryop.name == theirs.binaryop.name
        for t in judge.table(theirs):
            assert ours[t].identity == theirs[t].identity, f"monoid.{name}[{t}]"
            assert ours[t].identity.dtype == ours[t].type.np_type
    for name, theirs in judge.operators("semiring").items():
        ours = names.names_of("semiring")[name]
        for t in judge.table(theirs):
            mine = ours[t]
            assert (mine.op.monoid.name, mine.binaryop.name) == tuple(name.split("_", 1))
            assert mine.monoid.type is mine.binaryop.return_type is mine.return_type
