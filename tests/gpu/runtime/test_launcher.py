"""Kernels are launched with arguments by name, which are checked against the parameters that their texts declare."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from sparsezc.device import launcher
from sparsezc.device.launcher import THREADS, Launcher
from sparsezc.device.signature import Parameter, Signature, kernels, typedefs

TEXT = """
// extern "C" kernels have a word of their own.
extern "C" __global__ void __launch_bounds__(256, 6)
    KERNEL(u64 n, const i64* indptr, const Id* ids, S scale,
           u32 flip, unsigned int* out) {
}
extern "C" __global__ void other(float x) {}
"""
PRELUDE = "typedef u32 Id;\ntypedef float S;\nstruct Quad;"


class Ids(NamedTuple):
    indptr: Any
    ids: Any


class Rest(NamedTuple):
    scale: Any
    flip: Any
    out: Any


def kernel(calls: list[Any] | None = None) -> Launcher:
    found: list[Any] = [] if calls is None else calls
    signature = Signature.parse(TEXT, "thing", "thing.cu")
    return Launcher(lambda *given: found.append(given), signature, typedefs(PRELUDE))


def given(**other: Any) -> dict[str, Any]:
    arguments = {
        "n": 7, "indptr": np.zeros(8, np.int64), "ids": np.zeros(3, np.uint32), "scale": np.float32(2), "flip": 0,
        "out": np.zeros(1, np.uint32),
    }  # fmt: skip
    return arguments | other


def test_a_text_is_read() -> None:
    assert kernels(TEXT) == ["KERNEL", "other"]
    assert Signature.parse(TEXT, "other", "thing.cu").parameters == (Parameter("x", "float", False),)
    assert Signature.parse(TEXT, "thing", "thing.cu").parameters[:3] == (
        Parameter("n", "u64", False),
        Parameter("indptr", "i64", True),
        Parameter("ids", "Id", True),
    )
    assert typedefs(PRELUDE) == {"Id": np.dtype("u4"), "S": np.dtype("f4")}
    with pytest.raises(ValueError, match=r"only\.cu has no kernel 'thing'"):
        Signature.parse('extern "C" __global__ void other(float x) {}', "thing", "only.cu")
    with pytest.raises(ValueError, match="cannot be read: 'float x\\[3\\]'"):
        Signature.parse('extern "C" __global__ void other(float x[3]) {}', "other", "only.cu")


def test_arguments_are_put_into_the_order_of_the_text() -> None:
    calls: list[Any] = []
    launched, a = kernel(calls), given()
    expected = tuple(a.values())
    launched.launch(3, **a)
    launched.launch(3, **dict(reversed(a.items())))
    launched.launch(3, Ids(a["indptr"], a["ids"]), n=a["n"], out=a["out"], flip=0, scale=a["scale"])
    launched.launch(3, Rest(a["scale"], 0, a["out"]), Ids(a["indptr"], a["ids"]), n=a["n"])
    assert len(calls) == 4
    for blocks, threads, arguments in calls:
        assert (blocks, threads) == (3, THREADS)
        assert all(x is y for x, y in zip(arguments, expected, strict=True))


def test_numbers_of_the_prelude_s_types_are_converted() -> None:
    calls: list[Any] = []
    kernel(calls).launch(1, **given(scale=3))
    assert type(calls[0][2][3]) is np.float32
    assert calls[0][2][3] == 3


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"width": 3}, r"thing \(thing.cu\) has no parameter 'width'; its parameters are n, indptr, ids,"),
        ({"n": None}, "argument 'n' is missing"),
        ({"flip": True}, r"parameter 'flip' is u32, True \(bool\)"),
        ({"flip": -1}, "parameter 'flip' is u32, -1"),
        ({"flip": 2**32}, "parameter 'flip' is u32, 4294967296"),
        ({"n": 2**63}, "parameter 'n' is u64"),
        ({"n": np.uint32(7)}, r"parameter 'n' is u64, .*uint32"),
        ({"n": 7.0}, r"parameter 'n' is u64, 7.0 \(float\)"),
        ({"n": np.zeros(1, np.uint64)}, "parameter 'n' is u64, array"),
        ({"ids": np.zeros(3, np.uint64)}, r"parameter 'ids' is Id\*, an array of uint64"),
        ({"indptr": np.zeros(8, np.int32)}, r"parameter 'indptr' is i64\*, an array of int32"),
        ({"indptr": np.zeros(16, np.int64)[::2]}, "parameter 'indptr' .* not contiguous"),
        ({"indptr": None}, "argument 'indptr' is missing"),
        ({"indptr": "x"}, r"parameter 'indptr' is i64\*, 'x' \(str\)"),
        ({"out": -8}, r"parameter 'out' is unsigned int\*, -8"),
        ({"out": np.float64(1)}, r"parameter 'out' is unsigned int\*, .*float64"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(other: dict[str, Any], message: str) -> None:
    arguments = {name: value for name, value in given(**other).items() if value is not None}
    calls: list[Any] = []
    with pytest.raises(TypeError, match=message):
        kernel(calls).launch(1, **arguments)
    assert not calls


def test_an_argument_that_is_given_twice_is_named() -> None:
    with pytest.raises(TypeError, match="argument 'indptr' is given 2 times"):
        kernel().launch(1, Ids(0, 0), **given())


def test_a_group_has_names() -> None:
    with pytest.raises(TypeError, match="must be a NamedTuple, not tuple"):
        kernel().launch(1, (0, 0), n=1)


def test_addresses_are_pointers() -> None:
    calls: list[Any] = []
    kernel(calls).launch(1, **given(indptr=0, ids=np.uint64(2**64 - 8), out=1 << 40))
    assert calls[0][2][1:3] == (0, np.uint64(2**64 - 8))


@pytest.mark.parametrize("always", [False, True])
def test_the_first_launch_of_a_combination_is_checked(always: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "always_check", always)
    calls: list[Any] = []
    launched = kernel(calls)
    launched.launch(1, **given())
    if always:
        with pytest.raises(TypeError, match="flip"):
            launched.launch(1, **given(flip=-1))
    else:
        launched.launch(1, **given(flip=-1))
        assert len(calls) == 2
    with pytest.raises(TypeError, match="flip"):
        launched.launch(1, Ids(0, 0), **{k: v for k, v in given(flip=-1).items() if k not in Ids._fields})


class Kept:
    """A device's kernel that records its launches, kept ones too, as blocks, threads and arguments."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def __call__(self, *given: Any) -> None:
        self.calls.append(given)

    def keep(self, blocks: int, threads: int, arguments: tuple[Any, ...], first: int, count: int) -> Any:
        end = first + count
        return lambda values: self(blocks, threads, (*arguments[:first], *values, *arguments[end:]))


class First(NamedTuple):
    n: Any


class Last(NamedTuple):
    flip: Any
    out: Any


class Scale(NamedTuple):
    scale: Any


class Apart(NamedTuple):
    n: Any
    ids: Any


class Backwards(NamedTuple):
    ids: Any
    indptr: Any


class Unknown(NamedTuple):
    width: Any


def keep(changing: type[Any]) -> tuple[list[Any], Any]:
    made, a = Kept(), given()
    launched = Launcher(made, Signature.parse(TEXT, "thing", "thing.cu"), typedefs(PRELUDE))
    groups = First(a["n"]), Ids(a["indptr"], a["ids"]), Scale(a["scale"]), Last(a["flip"], a["out"])
    return made.calls, launched.keep(5, changing, *groups)


@pytest.mark.parametrize("always", [False, True])
def test_a_kept_launch_takes_the_group_that_changes(always: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "always_check", always)
    calls, again = keep(Ids)
    other = np.ones(4, np.uint32)
    again(Ids(0, other))
    ((blocks, threads, arguments),) = calls
    assert (blocks, threads) == (5, THREADS)
    assert arguments[:2] == (7, 0)
    assert arguments[2] is other
    assert arguments[3:5] == (2, 0)
    if always:
        with pytest.raises(TypeError, match=r"parameter 'ids' is Id\*, an array of int64"):
            again(Ids(0, other.astype(np.int64)))
        with pytest.raises(TypeError, match=r"thing \(thing.cu\): a group Ids is needed, Backwards was given"):
            again(Backwards(other, 0))
        assert len(calls) == 1


@pytest.mark.parametrize(
    ("changing", "message"),
    [
        (Unknown, r"thing \(thing.cu\) has no parameter 'width'; its parameters are n, indptr, ids, scale, flip, out"),
        (Apart, "consecutive parameters n, ids are needed, found n, indptr"),
        (Backwards, "consecutive parameters ids, indptr are needed, found ids, scale"),
        (Scale, "argument 'scale' cannot change, as launches convert it"),
        (tuple, "must be a NamedTuple, not tuple"),
    ],
)
def test_what_cannot_change_is_named_when_a_launch_is_kept(changing: type[Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        keep(changing)


def test_a_type_that_no_prelude_names_is_told() -> None:
    with pytest.raises(ValueError, match="no type 'S' is known for parameter 'scale'"):
        Launcher(lambda *_: None, Signature.parse(TEXT, "thing", "thing.cu"), {})
