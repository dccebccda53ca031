"""The text and the HTML of objects, masks and expressions equal python-graphblas's.

docs/python-graphblas.md lists the differences of the text. These tests therefore have no large sparse objects, no
objects that no statement has stored yet, no names with characters of HTML, no monoids of elementwise operations, and
no operands of two types in HTML, whose types python-graphblas exchanges.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import graphblas
import graphblas.core.formatting
import numpy as np
import pytest

import sparsezc
from sparsezc.core import formatting

LIBRARIES = (graphblas, sparsezc)
MASKS = {"S": lambda x: x.S, "V": lambda x: x.V, "~S": lambda x: ~x.S, "~V": lambda x: ~x.V}


def objects(gb: Any) -> Iterator[Any]:
    """Yield matrices, vectors, scalars and transposes of several types, shapes, contents and formats."""
    wide = np.arange(30 * 200.0).reshape(30, 200)
    for name, A in {
        "A": gb.Matrix.from_coo([0, 0, 1], [1, 2, 2], [5, 0, 7], nrows=3, ncols=3),
        "B_1": gb.Matrix.from_coo([0, 2], [1, 0], [True, False], nrows=3, ncols=2),
        "c": gb.Matrix.from_coo([1, 3], [0, 1], [1.5, float("nan")], nrows=4, ncols=3),
        "full": gb.Matrix.from_dense(wide),
        "tall": gb.Matrix.from_dense(wide.T.astype(np.int8)),
        "one": gb.Matrix.from_scalar(3, nrows=3, ncols=4),
        "few": gb.Matrix.from_coo([0, 2], [1, 0], 2.5, nrows=3, ncols=3),
        "complex": gb.Matrix.from_coo([0], [0], [1 + 2j], nrows=2, ncols=2),
        "flat": gb.Matrix.from_coo([], [], [], "UINT16", nrows=0, ncols=3),
    }.items():
        A.name = name
        yield A
        yield A.T
    for name, v in {
        "v": gb.Vector.from_coo([0, 2], [3, 0], size=4),
        "v_2": gb.Vector.from_coo([1], [-0.25], "FP32", size=3),
        "long": gb.Vector.from_dense(np.arange(300)),
        "whole": gb.Vector.from_coo(range(5), True, size=5),
        "none": gb.Vector.from_coo([], [], "INT16", size=0),
    }.items():
        v.name = name
        yield v
    for i, (value, dtype) in enumerate(((3, None), (2.5, "FP32"), (True, None), (1 - 1j, None))):
        yield gb.Scalar.from_value(value, dtype, name=f"s_{i}")
    yield gb.Scalar("INT64", name="t")


def operands(gb: Any) -> tuple[Any, Any, Any]:
    A = gb.Matrix.from_coo([0, 0, 1], [1, 2, 2], [5, 4, 7], nrows=3, ncols=3, name="A_1")
    B = gb.Matrix.from_coo([0, 2, 1], [0, 2, 1], [0.5, 2.0, 1.0], nrows=3, ncols=3, name="B")
    return A, B, gb.Vector.from_coo([0, 2], [3, 1], size=3, name="v_x")


EXPRESSIONS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "mxm": lambda gb, A, B, v: A.mxm(B, gb.semiring.min_plus),
    "mxm, transposed": lambda gb, A, B, v: A.T.mxm(B.T),
    "mxv": lambda gb, A, B, v: A.mxv(v, gb.semiring.any_second),
    "vxm": lambda gb, A, B, v: v.vxm(B, "plus_times"),
    "ewise_add": lambda gb, A, B, v: A.ewise_add(B, gb.binary.max),
    "ewise_mult": lambda gb, A, B, v: A.ewise_mult(B, gb.binary.gt),
    "ewise_union": lambda gb, A, B, v: A.ewise_union(B, "minus", 1, 2.5),
    "ewise_union of vectors": lambda gb, A, B, v: v.ewise_union(v, "plus", 0, 0),
    "ewise_add of vectors": lambda gb, A, B, v: v.ewise_add(v, "plus"),
    "kronecker": lambda gb, A, B, v: A.kronecker(B, gb.binary.times),
    "apply": lambda gb, A, B, v: B.apply(gb.unary.sqrt),
    "apply, right": lambda gb, A, B, v: v.apply("plus", right=2),
    "apply, left": lambda gb, A, B, v: A.apply("minus", left=2),
    "select": lambda gb, A, B, v: A.select("tril", -1),
    "select values": lambda gb, A, B, v: v.select(gb.select.valuege, 2),
    "select by mask": lambda gb, A, B, v: A.select(~B.V),
    "reduce_rowwise": lambda gb, A, B, v: A.reduce_rowwise("max"),
    "reduce_columnwise": lambda gb, A, B, v: A.reduce_columnwise(),
    "reduce_scalar": lambda gb, A, B, v: B.reduce_scalar(gb.monoid.times),
    "reduce": lambda gb, A, B, v: v.reduce("plus"),
    "reduce by an aggregator": lambda gb, A, B, v: A.reduce_rowwise(gb.agg.mean),
    "count columns": lambda gb, A, B, v: A.reduce_columnwise("count"),
    "mean of all": lambda gb, A, B, v: A.reduce_scalar(gb.agg.mean),
    "largest of a vector": lambda gb, A, B, v: v.reduce(gb.agg.ss.argmax),
    "inner": lambda gb, A, B, v: v.inner(v),
    "outer": lambda gb, A, B, v: v.outer(v, "plus"),
    "power": lambda gb, A, B, v: A.power(3),
    "@": lambda gb, A, B, v: A @ A.T,
    "v @": lambda gb, A, B, v: v @ A.T,
    "@ v": lambda gb, A, B, v: B @ v,
    "v @ v": lambda gb, A, B, v: v @ v,
    "&": lambda gb, A, B, v: B & B,
    "|": lambda gb, A, B, v: v | v,
    "+": lambda gb, A, B, v: A + B,
    "- 1": lambda gb, A, B, v: v - 1,
    "~": lambda gb, A, B, v: -B,
    "A[1, :]": lambda gb, A, B, v: A[1, :],
    "A[:, [0, 2]]": lambda gb, A, B, v: A[:, [0, 2]],
    "A[0:2, 1]": lambda gb, A, B, v: A[0:2, 1],
    "A[0, 1]": lambda gb, A, B, v: A[0, 1],
    "v[1:]": lambda gb, A, B, v: v[1:],
    "v[::2]": lambda gb, A, B, v: v[::2],
    "v[[2, 0]]": lambda gb, A, B, v: v[[2, 0]],
    "v[0]": lambda gb, A, B, v: v[0],
}


def printed(x: Any) -> tuple[str, str]:
    """Return the text, and the HTML without its style, which each library has of its own, and with single blanks."""
    html = re.sub(r"<style>.*?</style>", "", x._repr_html_(), flags=re.DOTALL)
    return repr(x), re.sub(r"\s+", " ", html)


@pytest.fixture(params=["with pandas", "without"])
def tables(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let both libraries print tables with pandas, or neither."""
    monkeypatch.setattr(formatting, "has_pandas", request.param == "with pandas")
    monkeypatch.setattr(graphblas.core.formatting, "has_pandas", request.param == "with pandas")
    if request.param == "with pandas":
        pd = pytest.importorskip("pandas", reason="pandas is not installed")

        class Frame(pd.DataFrame):
            """A frame whose values are writable: python-graphblas writes to them, and pandas 3 makes them read-only."""

            @property
            def values(self) -> Any:
                found = super().values
                found.flags.writeable = True
                return found

        names = ("option_context", "options", "notna")
        writable = SimpleNamespace(DataFrame=Frame, **{name: getattr(pd, name) for name in names})
        monkeypatch.setattr(graphblas.core.formatting, "pd", writable)


@pytest.mark.usefixtures("tables")
def test_objects_print_as_in_python_graphblas() -> None:
    for theirs, ours in zip(*map(objects, LIBRARIES), strict=True):
        assert printed(ours) == printed(theirs)


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("mask", MASKS)
def test_masks_print_as_in_python_graphblas(mask: str) -> None:
    for theirs, ours in zip(*map(objects, LIBRARIES), strict=True):
        if theirs.ndim and not hasattr(theirs, "_is_transposed"):
            assert printed(MASKS[mask](ours)) == printed(MASKS[mask](theirs))


@pytest.mark.parametrize("made", EXPRESSIONS)
def test_expressions_print_as_in_python_graphblas(made: str) -> None:
    with graphblas.config.set(autocompute=False):  # else python-graphblas computes to print
        theirs, ours = (printed(EXPRESSIONS[made](gb, *operands(gb))) for gb in LIBRARIES)
    assert ours == theirs


@pytest.mark.usefixtures("tables")
def test_the_placement_and_the_memory_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    """For an object of a MiB or more, text and HTML have these two columns beside those of python-graphblas."""
    theirs, ours = (gb.Vector.from_dense(np.zeros(2**17), name="v") for gb in LIBRARIES)
    (names, values), (names_of_ours, values_of_ours) = (repr(v).splitlines()[:2] for v in (theirs, ours))
    assert names_of_ours.split() == [*names.split(), "placement", "memory"]
    assert values_of_ours.split() == [*values.split(), "host", "1.0", "MiB"]
    more = {"placement": "host", "memory": "1.0 MiB"}
    html, html_of_ours = printed(theirs)[1], printed(ours)[1]
    for name, value in more.items():
        assert f"<pre>{name}</pre>" in html_of_ours
        assert name not in html
        html_of_ours = html_of_ours.replace(f" <td><pre>{name}</pre></td>", "").replace(f" <td>{value}</td>", "")
    assert html_of_ours == html
