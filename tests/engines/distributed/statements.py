"""Every kind of statement on distributed objects, without gathering the whole, against the plain CPU engine.

CALLS has calls for every operation in the engine's table; WHOLE has the cases that still run on a whole, gathered
object.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import sparsezc as gb
from sparsezc import ops
from sparsezc.engines import distributed
from sparsezc.engines.distributed.distributed_engine import HANDLERS
from sparsezc.expr import engines
from tests.engines.distributed.algorithms import alike
from tests.engines.distributed.objects import N, flow_of, groups, objects, parted, put, without_opposites, written

_I = gb.indexunary
_S = gb.semiring
_STEPS = [(1, [gb.binary.minus])]
_FOUR = ops.row_function(lambda a, b, c, d: (a * b - c, d))
_FIVE = ops.row_function(lambda a, b, c, d, z: (a + z, b * z, c - d, d))
_LIST, _ROWS, _SOME = [140, 3, 70, 64], [149, 0, 65], slice(5, 140, 3)
CALLS: dict[str, list[Callable[[Any], Any]]] = {
    "mxv": [
        lambda o: o.A.mxv(o.v, _S.plus_times).new(), lambda o: o.A.T.mxv(o.v, _S.min_first).new(mask=o.u.S),
        lambda o: o.A.mxv(o.v, _S.ss.plus_firsti).new(), lambda o: o.A.T.mxv(o.full, _S.ss.plus_secondi1).new(),
        lambda o: o.S.mxv(o.v, _S.ss.times_firstj).new(),
    ],
    "vxm": [
        lambda o: o.v.vxm(o.A, _S.min_plus).new(), lambda o: o.v.vxm(o.A, _S.ss.plus_secondj).new(),
        lambda o: o.full.vxm(o.A.T, _S.ss.plus_firstj).new(),
    ],
    "mxm": [
        lambda o: o.A.mxm(o.A, _S.plus_times).new(), lambda o: o.A.mxm(o.A.T, _S.plus_pair).new(mask=o.A.S),
        lambda o: o.A.mxm(o.A, _S.ss.plus_firsti).new(), lambda o: o.R.mxm(o.A, _S.plus_times).new(),
        lambda o: o.A.mxm(o.R.T, _S.ss.plus_secondj).new(),
    ],
    "inner": [lambda o: o.v.inner(o.full, _S.plus_times).new().value],
    "outer": [
        lambda o: o.v.outer(o.u, gb.binary.minus).new(), lambda o: o.x.outer(o.v, gb.binary.first).new(),
        lambda o: ops.diag(o.K).new().outer(o.v, gb.binary.times).new(),
        lambda o: o.v.outer(o.u, "plus").new(mask=o.A.S),
    ],
    "sampled_mxm": [
        lambda o: ops.sampled_mxm(o.F, o.X, o.X, o.Z, "plus_times", "plus_times", _STEPS).new(),
        lambda o: ops.sampled_mxm(o.F, o.X, o.X, o.Z, "plus_times", "plus_times", [(1, [(gb.select.triu, 2)])]).new(),
        lambda o: ops.sampled_mxm(o.F.T, o.X, o.X, o.Z, "plus_times", "plus_times").new(),
    ],
    "two_way_mxm": [lambda o: ops.two_way_mxm(o.A, o.E, o.P, "max_plus").new()],
    "two_way_sampled_mxm": [
        lambda o: ops.two_way_sampled_mxm(o.F, o.XY, "plus_times", "plus_times", [(4, [gb.binary.minus])]).new(),
        lambda o: ops.two_way_sampled_mxm(o.F.T, o.XY, "plus_times", "plus_times").new(),
    ],
    "net_flow": [
        lambda o: flow_of(o.S, 1, 2), lambda o: flow_of(o.S, 149, 70),
        lambda o: flow_of(o.S.apply("times", 0.3).new(), 3, 99), lambda o: without_opposites(o.A),
    ],
    "solve": [lambda o: ops.solve(o.G, o.X).new()],
    "map_rows": [lambda o: ops.map_rows(_FOUR, o.X).new(), lambda o: ops.map_rows(_FIVE, o.X, o.Z).new(mask=o.P.V)],
    "distances": [lambda o: ops.distances(o.X, o.Y).new(), lambda o: ops.distances(o.X[:3, :].new(), o.Y).new()],
    "best_column": [lambda o: ops.best_column(o.A, o.v).new(), lambda o: ops.best_column(o.A.T, o.v).new(mask=o.u.S)],
    "argsort": [
        lambda o: ops.argsort(o.full).new(), lambda o: ops.argsort(o.v, 5).new(), lambda o: ops.argsort(o.w, 77).new(),
    ],
    "count_corners": [
        lambda o: ops.count_corners(o.B, o.B.T, o.B).new(), lambda o: ops.count_corners(o.A, o.A, o.A.T).new(),
    ],
    "kronecker": [
        lambda o: o.A.kronecker(o.K, gb.binary.times).new(), lambda o: o.K.kronecker(o.A, gb.binary.minus).new(),
        lambda o: o.A.kronecker(o.A[:2, :2].new(), gb.binary.plus).new(), lambda o: o.R.kronecker(o.K, "first").new(),
    ],
    "power": [lambda o: o.B.power(5, _S.plus_times).new()],
    "ewise_add": [
        lambda o: o.v.ewise_add(o.u, gb.binary.minus).new(), lambda o: o.v.ewise_add(o.u, gb.binary.ss.firsti).new(),
        lambda o: o.A.ewise_add(o.S, gb.binary.ss.secondj1).new(),
        lambda o: o.A.ewise_add(o.B.T, gb.binary.ss.firsti).new(),
    ],
    "ewise_mult": [
        lambda o: o.A.ewise_mult(o.S, gb.binary.plus).new(),
        lambda o: o.v.ewise_mult(o.full, gb.binary.ss.secondi).new(),
        lambda o: o.A.ewise_mult(o.v, gb.binary.times).new(), lambda o: o.R.ewise_mult(o.R, gb.binary.ss.firstj).new(),
    ],
    "ewise_union": [lambda o: o.v.ewise_union(o.u, gb.binary.minus, 1, 2).new()],
    "apply": [lambda o: o.A.apply(gb.unary.ainv).new()],
    "apply_left": [lambda o: o.v.apply(gb.binary.minus, left=3).new()],
    "apply_right": [lambda o: o.v.apply(gb.binary.minus, 3).new(mask=~o.u.S)],
    "apply_index": [
        lambda o: o.A.apply(_I.rowindex, 2).new(), lambda o: o.A.apply(_I.diagindex, 2).new(),
        lambda o: o.R.apply(_I.colindex, 1).new(), lambda o: o.v.apply(_I.index, 1).new(),
        lambda o: o.A.apply(gb.indexunary.register_anonymous(_mixed), 3).new(),
        lambda o: o.v.apply(gb.indexunary.register_anonymous(_mixed), 3).new(),
    ],
    "select": [
        lambda o: o.A.select("triu", 5).new(), lambda o: o.A.select("valuegt", 4).new(),
        lambda o: o.R.select("colle", 100).new(), lambda o: o.v.select("indexle", 99).new(),
    ],
    "select_mask": [lambda o: o.v.select(o.u.S).new(), lambda o: o.A.select(~o.S.V).new()],
    "reduce": [lambda o: o.A.reduce_scalar(gb.monoid.max).new().value],
    "reduce_rowwise": [
        lambda o: o.A.reduce_rowwise(gb.monoid.plus).new(), lambda o: o.A.reduce_columnwise(gb.monoid.min).new(),
    ],
    "transpose": [lambda o: o.A.T.new(), lambda o: o.R.T.new()],
    "assign": [
        written("v", put(_LIST, lambda o: 5)), written("v", put(_SOME, lambda o: o.full[_SOME].new())),
        written("v", put(_LIST, lambda o: o.full[[0, 1, 2, 3]].new(), lambda o: ~o.u.S, replace=True)),
        written("v", put(slice(None, None, -1), lambda o: o.u, accum="plus")),
        written("v", put([3, 5], lambda o: 5, lambda o: o.u.S, replace=True)),  # some ranks only clear entries
        written("A", put(([3, 5], _ROWS), lambda o: o.S[:2, _ROWS].new(), lambda o: o.B.S, replace=True)),
        written("A", put((140, 7), lambda o: 5, lambda o: o.B.S, replace=True)),
        written("A", put((_ROWS, slice(None)), lambda o: o.S[_ROWS, :].new())),
        written("A", put((_SOME, _ROWS), lambda o: o.S[_SOME, _ROWS].new(), lambda o: o.B.S, replace=True)),
        written("A", put((slice(None), _ROWS), lambda o: o.S[:, _ROWS].new(), accum="minus")),
        written("A", put((_ROWS, _LIST), lambda o: o.A[_LIST, _ROWS].new().T)),
        written("A", put((70, slice(None)), lambda o: o.v)), written("A", put((slice(None), 7), lambda o: o.v)),
        written("A", put((70, slice(None)), lambda o: o.v, lambda o: o.u.S, replace=True)),
        written("A", put((_LIST, 7), lambda o: o.full[_LIST].new(), lambda o: ~o.u.S)),
        written("A", put((_ROWS, _LIST), lambda o: 4, lambda o: ~o.B.V)), written("A", put((140, 3), lambda o: 9)),
        written("R", put(([3, 1], _LIST), lambda o: o.A[:2, :4].new())), written("R", put((3, _LIST), lambda o: 1)),
        written("R", put((slice(None), _SOME), lambda o: o.A[:40, _SOME].new())),
        written("R", put((slice(None), 140), lambda o: o.v[:40].new())),
        written("x", put([89, 1], lambda o: o.v[:2].new())), written("A", put((slice(2, 2), slice(None)),
        lambda o: 3)),
    ],
    "subassign": [
        written("v", put(_LIST, lambda o: 5, lambda o: o.v[[1, 2, 3, 4]].new().S, "part")),
        written("v", put(_SOME, lambda o: o.full[_SOME].new(), lambda o: ~o.u[_SOME].new().S, "part", replace=True)),
        written("A", put((_ROWS, _SOME), lambda o: 6, lambda o: o.S[_ROWS, _SOME].new().S, "part", replace=True)),
        written("A", put((_SOME, _ROWS), lambda o: o.S[_SOME, _ROWS].new(),
        lambda o: ~o.B[_SOME, _ROWS].new().S, "part")),
        written("A", put((_SOME, 9), lambda o: o.full[_SOME].new(), lambda o: o.v[_SOME].new().S, "part")),
        written("A", put((70, _SOME), lambda o: 2, lambda o: o.v[_SOME].new().S, "part", replace=True)),
        written("R", put(([3, 1], _SOME), lambda o: 2, lambda o: o.A[:2, _SOME].new().S, "part", accum="plus")),
    ],
    "extract": [
        lambda o: o.v[_LIST].new(), lambda o: o.A[_ROWS, _LIST].new(), lambda o: o.A[70, :].new(),
        lambda o: o.A[:, 7].new(),
        lambda o: o.A[::-1, :].new(), lambda o: o.R[[3, 1], :].new(), lambda o: o.A.T[_SOME, :].new(),
        lambda o: o.A[140, 3].new().value, lambda o: o.A[_LIST, :].new(),
    ],
    "values_of": [lambda o: ops.values_of(o.A).new()],
    "with_values": [lambda o: ops.with_values(o.A, o.edges).new()],
    "stack": [lambda o: ops.stack(o.A, o.R, o.A.T).new(), lambda o: ops.stack(o.R, o.R).new()],
    "diag": [
        lambda o: ops.diag(o.v).new(), lambda o: ops.diag(o.v, -3).new(), lambda o: ops.diag(o.x, 70).new(),
        lambda o: ops.diag(o.A).new(),
        lambda o: ops.diag(o.A, 4).new(), lambda o: ops.diag(o.R, -2).new(), lambda o: ops.diag(o.A.T, -5).new(),
    ],
    "reposition": [
        lambda o: o.v.reposition(3).new(), lambda o: o.v.reposition(-70, size=200).new(),
        lambda o: o.R.reposition(30, -4).new(),
        lambda o: o.A.reposition(-3, 5, nrows=200, ncols=30).new(),
        written("A", lambda out, o: out(o.S.S, replace=True) << o.B.reposition(70, 0)),
    ],
    "best_label": [
        lambda o: ops.best_label(o.S, o.label, "plus_pair").new(),
        lambda o: ops.best_label(o.A, o.label, "plus_first").new(),
        written("label", lambda out, o: out(o.v.S) << ops.best_label(o.S, o.label, "plus_first")),
    ],
    "label_weight": [lambda o: ops.label_weight(o.S, groups(o), "plus_first").new()],
    "move_labels": [
        lambda o: ops.move_labels(o.S, o.label, "plus_first", o.k, 0.001, seed=3).new(),
        lambda o: ops.move_labels(o.S, o.label, "plus_pair", turn=ops.color_rows(o.S, o.label).new()).new(),
    ],
    "join_labels": [
        lambda o: ops.join_labels(o.S, groups(o), "plus_first", o.k, 0.0002, seed=2).new()
    ],
    "color_rows": [lambda o: ops.color_rows(o.S, o.label).new(), lambda o: ops.color_rows(o.S, o.full).new()],
    "sum_by_labels": [lambda o: ops.sum_by_labels(o.S, o.full, "plus_first", 9).new(),
                      lambda o: ops.sum_by_labels(o.A, o.label, "plus_pair", 120).new()],
    "selectk": [
        lambda o: ops.selectk(o.A, "largest", 2).new(), lambda o: ops.selectk(o.A, "random", 3, seed=4).new(),
        lambda o: ops.selectk(o.A, "random_weighted", 2, [149, 3, 70, 3], seed=4).new(),
        lambda o: ops.selectk(o.A.T, "random", 5, seed=1, replace=True).new(),
        lambda o: ops.selectk(o.A, "first", 2, list(range(149, 30, -1))).new(),
    ],
    "walk": [
        lambda o: ops.walk(o.A, list(range(N)), 5, seed=1).new(),
        lambda o: ops.walk(o.A, [1, 2], 3, "values", seed=2).new(),
        lambda o: ops.walk(o.S, list(range(100)), 6, o.w, p=0.3, q=2.0, seed=3).new(),
        lambda o: ops.walk(o.A.T, list(range(70)), 4, o.v, seed=3).new(),
    ],
}  # fmt: skip
#: Cases that still run on a gathered whole.
WHOLE: dict[str, Callable[[Any], Any]] = {
    "kronecker of positions": lambda o: o.A.kronecker(o.K, gb.binary.ss.firsti).new(),
    "outer of positions": lambda o: o.v.outer(o.u, gb.binary.ss.secondj).new(),
    "inner of positions": lambda o: o.v.inner(o.u, _S.ss.plus_firsti).new(),
    "few rows": lambda o: ops.selectk(o.R, "first", 2).new(),
}


def _mixed(x: Any, i: Any, j: Any, thunk: Any) -> Any:
    return x + 2 * i + 3 * j + thunk


def check_every_kind_of_statement() -> None:
    compare_statements(CALLS)


def compare_statements(operations: Any) -> None:
    """Run the calls of some operations on distributed and on plain objects, and compare the results."""
    plain = objects()
    theirs = SimpleNamespace(**plain)
    ours = SimpleNamespace(**{name: parted(x) for name, x in plain.items()})
    wrong = []
    for operation in operations:
        for number, call in enumerate(CALLS[operation]):
            want = call(theirs)
            try:
                with gb.config.set(fallback="error"):
                    got = call(ours)
            except Exception as error:  # a failed call must not hide the others
                got = repr(error)
            if hasattr(got, "_store") and got._engine is not ours.A._engine:
                wrong.append(f"{operation} {number}: the result is on {got._engine.name}")
            if not alike(got, want):
                wrong.append(f"{operation} {number}: {got!r} instead of {want!r}")
    assert not wrong, "\n".join(wrong)


def check_every_operation_has_a_call() -> None:
    table = (engines.protocol.__doc__ or "").split("=\n")[2]
    listed = set(re.findall(r"^(\w+) ", table, re.M))
    assert set(CALLS) == set(HANDLERS) == listed - set(WHOLE)
    page = (Path(__file__).resolve().parents[3] / "docs" / "distributed.md").read_text()
    rows = page.split("## Statements")[1].split("\n##")[0].splitlines()
    assert set(re.findall(r"`(\w+)`", " ".join(row.split("|")[1] for row in rows if row.startswith("| `")))) == listed


def check_hops() -> None:
    plain = objects()
    D = parted(plain["A"])
    for options in ({}, {"weighted": True, "values": True}, {"replace": True}):
        for fanouts in ([3, 2], [-1, 1], []):
            got, want = (ops.sample_hops(x, [149, 3, 3], fanouts, seed=5, **options) for x in (D, plain["A"]))
            for a, b in zip(got, want, strict=True):
                assert np.array_equal(a, b) if isinstance(b, np.ndarray) else a == b


def check_what_runs_on_the_whole() -> None:
    if distributed.engine().size == 1:
        return
    ours = SimpleNamespace(**{name: parted(x) for name, x in objects().items()})
    for call in WHOLE.values():
        try:
            with gb.config.set(fallback="error"):
                call(ours)
        except gb.exceptions.NotImplementedException as error:
            assert "the distributed engine has no" in str(error)  # noqa: PT017
        else:
            raise AssertionError("it runs by parts: the table should say so")
