"""The laws of monoids and semirings, as properties of their NumPy functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsezc.semirings import TypedMonoid, TypedSemiring, binary, monoid, semiring
from sparsezc.semirings.algebra import names
from sparsezc.semirings.algebra.structures import register_anonymous
from sparsezc.semirings.types import datatypes


def typed(module: Any) -> list[Any]:
    """Return each typed operator of a namespace once, without complex ones, which test_complex.py tests."""
    ops = names.names_of(module.__name__.rpartition(".")[2]).values()
    return list({id(op[t]): op[t] for op in ops for t in op.types if not t.is_complex}.values())


MONOIDS: list[TypedMonoid] = typed(monoid)
SEMIRINGS: list[TypedSemiring] = typed(semiring)


def numbers(t: datatypes.DataType) -> st.SearchStrategy[Any]:
    if t.is_bool:
        found: st.SearchStrategy[Any] = st.booleans()
    elif t.is_complex:
        found = st.complex_numbers(width=64 if t is datatypes.FC32 else 128, max_magnitude=1e6)
    elif t.is_float:
        found = st.floats(width=32 if t is datatypes.FP32 else 64, allow_nan=False)
    else:
        found = st.integers(int(datatypes.lowest(t)), int(datatypes.highest(t)))
    return found.map(t.np_type.type)


def triples(t: datatypes.DataType) -> st.SearchStrategy[tuple[Any, Any, Any]]:
    return st.tuples(numbers(t), numbers(t), numbers(t))


def same(a: Any, b: Any) -> bool:
    if np.iscomplexobj(a) or np.iscomplexobj(b):  # the two sides of a law round at different steps
        return bool(np.isclose(a, b, rtol=1e-5 if np.asarray(a).itemsize == 8 else 1e-12, atol=0))
    return bool(a == b) or bool(np.isnan(a) and np.isnan(b))


@pytest.mark.parametrize("op", MONOIDS, ids=repr)
@settings(max_examples=25)
@given(data=st.data())
def test_monoid(op: TypedMonoid, data: st.DataObject) -> None:
    x, y, z = data.draw(triples(op.type))
    assert op.identity.dtype == op.type.np_type
    assert op.stops_anywhere or same(op.numpy(op.identity, x), x)
    assert op.stops_anywhere or same(op.numpy(x, op.identity), x)
    assert op.stops_anywhere or same(op.numpy(x, y), op.numpy(y, x))
    # Sums and products of floats are associative up to rounding only.
    if not ((op.type.is_float or op.type.is_complex) and op.name in ("plus", "times")):
        assert same(op.numpy(op.numpy(x, y), z), op.numpy(x, op.numpy(y, z)))
    if op.stops_anywhere:
        assert op.numpy(x, y) in (x, y)
    if op.terminal is not None:
        assert op.terminal.dtype == op.type.np_type
        assert same(op.numpy(op.terminal, x), op.terminal)
        assert same(op.numpy(x, op.terminal), op.terminal)


@pytest.mark.parametrize("op", [m for m in MONOIDS if m.type.is_float and m.name in ("min", "max")], ids=repr)
def test_a_nan_never_wins(op: TypedMonoid) -> None:
    nan = op.type.np_type.type(np.nan)
    assert op.numpy(nan, op.terminal) == op.terminal
    assert op.numpy(op.numpy(op.identity, nan), op.terminal) == op.terminal


@pytest.mark.parametrize("dtype", datatypes.INTEGERS, ids=str)
def test_every_value_but_the_terminal_can_change(dtype: datatypes.DataType) -> None:
    """A monoid without a terminal value really has none: integer types of one byte are tried in full."""
    if dtype.np_type.itemsize > 1:
        return
    every = np.arange(int(datatypes.lowest(dtype)), int(datatypes.highest(dtype)) + 1).astype(dtype.np_type)
    for op in (m for m in MONOIDS if m.type is dtype and not m.stops_anywhere):
        absorbs = [t for t in every if (op.numpy(np.full_like(every, t), every) == t).all()]
        assert absorbs == ([] if op.terminal is None else [op.terminal]), repr(op)


def test_semirings_add_what_they_multiply() -> None:
    assert len(SEMIRINGS) > 1500
    for op in SEMIRINGS:
        assert op.binaryop.type is op.type, op
        assert op.binaryop.return_type is op.monoid.type is op.monoid.return_type is op.return_type, op
        assert (op.cuda, op.reads, op.type2) == (op.binaryop.cuda, op.binaryop.reads, op.type), op


def rings() -> list[tuple[TypedSemiring, bool]]:
    """Return semirings whose multiplication distributes over their addition, and whether its zero annihilates."""
    return [
        (semiring.plus_times["INT8"], True),
        (semiring.plus_times["UINT64"], True),
        (semiring.lor_land["BOOL"], True),
        (semiring.land_lor["BOOL"], True),
        (semiring.lxor_land["BOOL"], True),
        (semiring.bor_band["UINT16"], True),
        (semiring.min_max["INT32"], True),
        (semiring.max_min["FP64"], True),
        (semiring.min_first["FP64"], True),
        (semiring.max_second["INT16"], False),
    ]


@pytest.mark.parametrize(("op", "annihilates"), rings(), ids=repr)
@settings(max_examples=50)
@given(data=st.data())
def test_distributes(op: TypedSemiring, annihilates: bool, data: st.DataObject) -> None:
    x, y, z = data.draw(triples(op.type))
    add, multiply = op.monoid.numpy, op.binaryop.numpy
    assert same(multiply(add(x, y), z), add(multiply(x, z), multiply(y, z)))
    assert same(multiply(x, add(y, z)), add(multiply(x, y), multiply(x, z)))
    if annihilates:
        assert same(multiply(op.monoid.identity, x), op.monoid.identity)


@pytest.mark.parametrize("name", names.names_of("binary"))
@settings(max_examples=15)
@given(data=st.data())
def test_commuted_operator_takes_its_operands_the_other_way_round(name: str, data: st.DataObject) -> None:
    op = names.names_of("binary")[name]
    other = op.commutes_to
    if other is None or op.is_positional or {name, other.name} == {"pow", "rpow"} or op.name == "any":
        return  # any may return either; rpow differs from pow at extremes, as in python-graphblas
    t = data.draw(st.sampled_from([t for t in op.types if not t.is_complex]))
    x, y, _ = data.draw(triples(op[t].type))
    assert same(op[t].numpy(x, y), other[t].numpy(y, x))


def test_an_anonymous_semiring() -> None:
    made = register_anonymous(monoid.min, binary.hypot, "shortest")
    assert made.name == "shortest"
    assert made["INT8"].monoid is monoid.min["FP32"]
    with pytest.raises(TypeError, match="plus"):
        register_anonymous(monoid.bor, binary.plus)["FP64"]
    with pytest.raises(TypeError, match="Monoid"):
        register_anonymous(binary.plus, "times")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no type"):
        register_anonymous(monoid.eq, binary.hypot)
