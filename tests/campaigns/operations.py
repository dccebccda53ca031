"""The operations that GraphBLAS lacks, on random operands, against loops over plain Python and python-graphblas.

A trial draws a matrix (of any size from 0 to 2^40, any type, extremes among the values) and runs each operation once,
with arguments within and beyond its bounds: `selectk`, `walk`, `best_column`, `count_corners`, `sampled_mxm`,
`two_way_mxm` and its sampled form, `best_label`, `label_weight`, `color_rows` and `net_flow`. For random draws the
judge checks the conditions of any draw, and that a seed draws the same again: from the matrix, from listed rows and on
the emulated GPU if present. A bad argument must raise an error of the package or a TypeError.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import graphblas
import numpy as np
from suitesparse_graphblas import is_initialized

if not is_initialized():
    graphblas.init("suitesparse", blocking=True)

import sparsezc as gb
from sparsezc import ops
from sparsezc.device import cuda
from sparsezc.exceptions import GraphblasException, PerformanceWarning
from tests.campaigns.frame import Trial, numbered
from tests.emulator.device import EmulatedDevice, why_unavailable
from tests.ops.judge import TYPES

DEADLINE, MEMORY = 120.0, None
Rows = dict[int, dict[int, Any]]
_ON_GPU = 0.15  # share of trials on the emulator too, which compiles a kernel for each type
_REFUSED = (GraphblasException, TypeError)


class Draw:
    """Random operands and arguments of one trial."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.n = self.pick(0, 1, 2, 5, 9, 40, 2**40)
        self.dtype = self.pick(*TYPES)
        self.gpu = self.n <= 40 and rng.random() < _ON_GPU and why_unavailable() is None

    def pick(self, *choices: Any) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def ids(self, count: int) -> np.ndarray:
        """Return random vertices of the matrix; of a large one, few distinct ones."""
        if self.n == 0:
            return np.zeros(0, np.int64)
        return self.rng.integers(0, min(self.n, 50), count) * (max(self.n, 1) // max(min(self.n, 50), 1))

    def table(self, nrows: int, ncols: int, density: float, dtype: str) -> Any:
        """Return the arguments of ``from_coo`` for a small random matrix."""
        at = np.nonzero(self.rng.random((nrows, ncols)) < density)
        values = self.rng.integers(0, 5, at[0].size).astype(gb.dtypes.lookup_dtype(dtype).np_type)
        return (*at, values, dtype), {"nrows": nrows, "ncols": ncols}

    def values(self, count: int, dtype: str, *, weights: bool = False) -> np.ndarray:
        kind = np.dtype(gb.dtypes.lookup_dtype(dtype).np_type)
        if kind.kind == "b":
            return self.rng.random(count) < 0.6
        found = self.rng.integers(0 if kind.kind == "u" or weights else -3, 6, count).astype(kind)
        if weights or self.rng.random() < 0.6:
            return found
        extremes = [np.nan, np.inf, -np.inf, -0.0] if kind.kind == "f" else [np.iinfo(kind).min, np.iinfo(kind).max]
        at = self.rng.random(count) < 0.3
        found[at] = self.rng.choice(np.array(extremes, kind), int(at.sum()))
        return found

    def matrix(self, *, weights: bool = False, ncols: int | None = None) -> gb.Matrix:
        m = self.n if ncols is None else ncols
        count = int(self.rng.integers(0, 4 * min(self.n, 50) + 1)) if m else 0
        at = np.unique(np.c_[self.ids(count), self.ids(count) % max(m, 1)], axis=0).reshape(-1, 2)
        values: Any = self.values(len(at), self.dtype, weights=weights)
        if self.rng.random() < 0.2 and len(at):
            values = values[0]
        return gb.Matrix.from_coo(at[:, 0], at[:, 1], values, self.dtype, nrows=self.n, ncols=m)


def rows_of(A: Any) -> Rows:
    """Return a matrix as a dictionary of rows, which are dictionaries from columns to values."""
    rows: Rows = {}
    for i, j, x in zip(*A.to_coo(), strict=True):
        rows.setdefault(int(i), {})[int(j)] = x.item()
    return rows


def trial(rng: np.random.Generator, folder: Path) -> Trial:
    """Run each operation once."""
    return numbered(rng, run)


def run(number: int) -> tuple[dict[str, int], str | None]:
    """Run each operation once on the operands of this number; return the counts of calls, and the first fault."""
    draw, tried = Draw(np.random.default_rng(number)), dict[str, int]()
    before = cuda.use(_card()) if draw.gpu else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PerformanceWarning)
        try:
            for name, operation in OPERATIONS.items():
                try:
                    wrong = operation(draw)
                except _REFUSED as error:
                    wrong = f"refused: {type(error).__name__}: {error}"
                kind = f"{name} on both engines" if draw.gpu else name
                tried[kind] = tried.get(kind, 0) + 1
                if wrong:
                    return tried, f"{name} of n = {draw.n}, {draw.dtype}: {wrong}"
        finally:
            if draw.gpu:
                cuda.use(before)
    return tried, None


@cache
def _card() -> EmulatedDevice:
    return EmulatedDevice()


def _both(draw: Draw, A: gb.Matrix, run: Callable[[Any], Any]) -> tuple[Any, str | None]:
    """Return the CPU engine's result, and the difference of the GPU engine's or None."""
    found = run(A)
    if draw.gpu:
        other = run(A.to("gpu")).to("cpu")
        pairs = zip(found.to_coo(), other.to_coo(), strict=True)
        alike = all(np.array_equal(x, y, equal_nan=x.dtype.kind == "f") for x, y in pairs)
        if not alike or found.dtype is not other.dtype or found.shape != other.shape:
            return found, f"the CPU engine gives {found.to_coo()}, the GPU engine {other.to_coo()}"
    return found, None


def _is_refused(run: Callable[[], Any]) -> str | None:
    try:
        got = run()
    except _REFUSED:
        return None
    return f"accepted: {got!r}"


ORDERS: dict[str, Callable[[tuple[int, Any]], Any]] = {
    "first": lambda entry: entry[0],
    "last": lambda entry: -entry[0],
    "largest": lambda entry: (entry[1] != entry[1], -entry[1] if entry[1] == entry[1] else 0, entry[0]),
    "smallest": lambda entry: (entry[1] != entry[1], entry[1] if entry[1] == entry[1] else 0, entry[0]),
}


def selectk(draw: Draw) -> str | None:
    how = draw.pick(*ORDERS, "random", "random_weighted")
    replace = how.startswith("random") and draw.rng.random() < 0.5
    A, seed = draw.matrix(weights=how == "random_weighted"), int(draw.rng.integers(0, 2**63))
    k = draw.pick(0, 1, 2, 7, 300) if not replace else draw.pick(0, 1, 5)
    listed = None if draw.n == 2**40 and draw.rng.random() < 0.5 else draw.ids(int(draw.rng.integers(0, 9)))
    if draw.n == 0 or (draw.n < 2**40 and draw.rng.random() < 0.5):
        listed = None
    source = A.T if draw.rng.random() < 0.2 else A

    def run(M: Any) -> Any:
        return ops.selectk(M.T if source is not A else M, how, k, listed, replace=replace, seed=seed).new()

    S, wrong = _both(draw, A, run)
    rows, picked = rows_of(source), rows_of(S)
    for r, i in enumerate(listed) if listed is not None else zip(rows, rows, strict=True):
        row, got = rows.get(int(i), {}), picked.pop(r, {})
        able = {j: x for j, x in row.items() if how != "random_weighted" or x > 0}
        if how in ORDERS:
            right = _same(got, dict(sorted(row.items(), key=ORDERS[how])[:k]))
        elif replace:
            right = got.keys() <= able.keys() and sum(got.values()) == (k if able else 0) and 0 not in got.values()
        else:
            right = len(got) == min(k, len(able)) and all(
                j in able and _same({0: x}, {0: able[j]}) for j, x in got.items()
            )
        if not right:
            return f"selectk({how!r}, {k}, replace={replace}) of row {i}, {row}, gives {got}"
    if picked:
        return f"rows {picked} come from nowhere"
    if not S.isequal(run(A)) and not any(x != x for row in rows.values() for x in row.values()):
        return "the same seed draws other entries"
    return wrong or _is_refused(
        draw.pick(
            lambda: ops.selectk(A, how, -1), lambda: ops.selectk(A, how, 1.5), lambda: ops.selectk(A, "best", 1),
            lambda: ops.selectk(A, how, 1, [draw.n]), lambda: ops.selectk(A, "random", 1, seed=-1),
            lambda: ops.selectk(A, "random", 1, seed=2**64), lambda: ops.selectk(A, "first", 1, replace=True),
        )
    )  # fmt: skip


def _same(got: dict[int, Any], want: dict[int, Any]) -> bool:
    """Return True if two dictionaries are equal, NaN to NaN."""
    return got.keys() == want.keys() and all(x == want[j] or (x != x and want[j] != want[j]) for j, x in got.items())


def walk(draw: Draw) -> str | None:
    A, kind, length = draw.matrix(weights=True), draw.pick(None, "values", "columns"), draw.pick(0, 1, 3, 12)
    p, q = draw.pick((1.0, 1.0), (0.25, 4.0), (2, 0.5), (2.0**20, 2.0**-20))
    starts, seed = draw.ids(int(draw.rng.integers(0, 9))) if draw.n else [], int(draw.rng.integers(0, 2**63))
    by: Any = kind
    if kind == "columns":
        at = np.unique(draw.ids(min(draw.n, 20)))
        by = gb.Vector.from_coo(at, draw.values(at.size, "FP64", weights=True), "FP64", size=draw.n)
    W, wrong = _both(draw, A, lambda M: ops.walk(M, starts, length, by, p=p, q=q, seed=seed).new())
    weight = by.to_dict() if kind == "columns" else {}
    rows = {
        i: {j for j, x in row.items() if kind is None or (x if kind == "values" else weight.get(j, 0)) > 0}
        for i, row in rows_of(A).items()
    }
    steps = rows_of(W)
    if W.shape != (len(starts), length + 1):
        return f"walks of shape {W.shape}"
    for w, start in enumerate(starts):
        way = steps.get(w, {})
        at = [way[s] for s in range(len(way))] if way.keys() == set(range(len(way))) else []
        if not at or at[0] != start:
            return f"walk {w} from {start} is {way}"
        if any(b not in rows.get(a, ()) for a, b in pairwise(at)):
            return f"walk {at} uses no edge of {rows}"
        if len(at) <= length and rows.get(at[-1]):
            return f"walk {at} ends before an edge of {rows}"
    return wrong or _is_refused(
        draw.pick(
            lambda: ops.walk(A, [draw.n], 1), lambda: ops.walk(A, [], -1), lambda: ops.walk(A, [], 1, p=0),
            lambda: ops.walk(A, [], 1, q=math.nan), lambda: ops.walk(A, [], 1, "weights"),
            lambda: ops.walk(A, [], 1, seed=-1), lambda: ops.walk(A, np.array([0.5]), 1),
        )
    )  # fmt: skip


def best_column(draw: Draw) -> str | None:
    m = draw.n if draw.rng.random() < 0.5 or draw.n > 40 else int(draw.rng.integers(0, 9))
    A = draw.matrix(ncols=m)
    at = np.unique(draw.ids(min(m, 20)) % max(m, 1))
    dtype = draw.pick(*TYPES)
    values = draw.values(at.size, dtype)
    values = np.nan_to_num(values) if values.dtype.kind == "f" else values
    v = gb.Vector.from_coo(at, values, dtype, size=m)
    w, wrong = _both(draw, A, lambda M: ops.best_column(M, v).new())
    score, want = v.to_dict(), {}
    for i, row in rows_of(A).items():
        able = sorted(row.keys() & score.keys())
        if able:
            want[i] = max(able, key=lambda j: (score[j], -j))
    if w.to_dict() != want:
        return f"best_column({A.to_coo()}, {score}) is {w.to_dict()} instead of {want}"
    return wrong or _is_refused(lambda: ops.best_column(A, gb.Vector("FP64", m + 1)))


def count_corners(draw: Draw) -> str | None:
    """Check count_corners on at most 40 vertices, as the result has an entry for each."""
    if draw.n > 40:
        draw.n = 40
    A, B, M = (draw.matrix() for _ in range(3))
    w, wrong = _both(draw, A, lambda some: ops.count_corners(some, B, M).new())
    a, b, want = rows_of(A), rows_of(B), [0] * draw.n
    for i, row in rows_of(M).items():
        for j in row:
            for k in a.get(i, {}):
                if j in b.get(k, {}):
                    for v in (i, j, k):
                        want[v] += 1
    if w.to_dense().tolist() != want:
        return f"count_corners({A.to_coo()}, {B.to_coo()}, {M.to_coo()}) is {w.to_dense()} instead of {want}"
    wide = gb.Matrix("BOOL", draw.n, draw.n + 1)
    return wrong or _is_refused(lambda: ops.count_corners(A, draw.pick(wide, wide.T), M))


def sampled_mxm(draw: Draw) -> str | None:
    n, m, k, p = (int(x) for x in draw.rng.integers(0, 8, 4))
    op, then = draw.pick("plus_times", "min_plus", "max_second", "plus_pair"), draw.pick("plus_times", "max_first")
    dtype, full = draw.pick("INT64", "FP64", "INT8", "UINT16"), draw.pick(0.5, 1.0)
    given = [draw.table(*size, dtype) for size in ((n, m, 0.5), (n, k, full), (m, k, full), (m, p, full))]
    A, X, Y, Z = (gb.Matrix.from_coo(*a, **o) for a, o in given)
    a, x, y, z = (graphblas.Matrix.from_coo(*a, **o) for a, o in given) if min(n, m, k, p) else (None,) * 4
    C, wrong = _both(draw, A, lambda M: ops.sampled_mxm(M, X, Y, Z, op, then).new())
    if a is None:
        return wrong or ("entries of nothing" if C.nvals and 0 in (n, m, k, p) else None)
    first, second = (getattr(graphblas.semiring, name) for name in (op, then))
    inner = x.mxm(y.T, first).new(mask=a.S)
    want = inner.mxm(z, second).new()
    got, judged = C.to_coo(), want.to_coo()
    if not all(np.array_equal(g, w) for g, w in zip(got, judged, strict=True)) or C.dtype.name != want.dtype.name:
        return f"sampled_mxm({op}, {then}) of {given} is {got}, {C.dtype}, instead of {judged}, {want.dtype}"
    return wrong or _is_refused(lambda: ops.sampled_mxm(A, X, Y, gb.Matrix(dtype, m + 1, p), op, then))


def two_way(draw: Draw) -> str | None:
    """Check two_way_sampled_mxm and two_way_mxm, of matrices with at least a row and a column."""
    n, m, k = (int(x) for x in draw.rng.integers(1, 8, 3))
    op, dtype = draw.pick("plus_times", "min_plus", "max_second"), draw.pick("INT64", "FP64", "INT8")
    full = 1.0 if draw.gpu else draw.pick(0.5, 1.0)  # an X with gaps would fall back to the CPU engine
    given = [draw.table(*size, dtype) for size in ((n, m, 0.5), (n + m, k, full), (n, n, 0.5))]
    A, X, S = (gb.Matrix.from_coo(*a, **o) for a, o in given)
    a, x, s = (graphblas.Matrix.from_coo(*a, **o) for a, o in given)
    C, wrong = _both(draw, A, lambda M: ops.two_way_sampled_mxm(M, X, op, op).new())
    theirs = getattr(graphblas.semiring, op)
    w = x[:n, :].new().mxm(x[n:, :].new().T, theirs).new(mask=a.S)
    want = graphblas.ss.concat([[w.mxm(x[n:, :].new(), theirs).new()], [w.T.mxm(x[:n, :].new(), theirs).new()]])
    if not graphblas.Matrix.from_coo(*C.to_coo(), C.dtype.name, nrows=n + m, ncols=k).isequal(want, check_dtype=True):
        return f"two_way_sampled_mxm({op}) of {given} is {C.to_coo()} instead of {want.to_coo()}"
    values, both = (draw.table(*size, 1.0, dtype) for size in ((S.nvals, k), (n, 2 * k)))
    V, X = (gb.Matrix.from_coo(*a, **o) for a, o in (values, both))
    D, also_wrong = _both(draw, S, lambda M: ops.two_way_mxm(M, V, X, op).new())
    i, j, _ = s.to_coo()
    found, x = D.to_dense(-1), graphblas.Matrix.from_coo(*both[0], **both[1])
    for c in range(k):
        w = graphblas.Matrix.from_coo(i, j, V.to_dense()[:, c].copy(), dtype, nrows=n, ncols=n)
        for column, product in ((c, w.mxv(x[:, k + c].new(), theirs)), (k + c, w.T.mxv(x[:, c].new(), theirs))):
            if not np.array_equal(found[:, column], product.new().to_dense(-1)):
                return f"column {column} of two_way_mxm({op}) of {given[2]}, {values}, {both} is {found[:, column]}"
    return wrong or also_wrong or _is_refused(lambda: ops.two_way_mxm(S, V, gb.Matrix(dtype, n, 2 * k + 1), op))


def labels(draw: Draw) -> str | None:
    """Check best_label and label_weight, whose vectors are full."""
    if draw.n > 40:
        draw.n = 40
    A, n, rng = draw.matrix(weights=True), draw.n, draw.rng
    op, stays = draw.pick("plus_first", "plus_pair"), bool(rng.random() < 0.5)
    label = rng.integers(0, max(n, 1), n)
    given = gb.Vector.from_dense(label)
    best, wrong = _both(draw, A, lambda M: ops.best_label(M, given, op, stays=stays).new())
    weight, also_wrong = _both(draw, A, lambda M: ops.label_weight(M, given, op).new())
    want, sums = {}, np.zeros(n)
    rows = rows_of(A)
    for i in range(n):
        e = {int(label[i]): 0.0}
        for j, x in rows.get(i, {}).items():
            if i != j:
                counts = float(x) if op == "plus_first" else 1.0
                sums[i] += counts * (label[j] == label[i])
                e[int(label[j])] = e.get(int(label[j]), 0.0) + counts
        most = max(e.values())
        winners = [c for c, x in e.items() if x == most]
        choice = int(label[i]) if stays and label[i] in winners else min(winners)
        if choice != label[i]:
            want[i] = choice
    if best.to_dict() != want:
        return f"best_label({A.to_coo()}, {label}, {op}) is {best.to_dict()} instead of {want}"
    if n and not np.array_equal(weight.to_dense(), sums):
        return f"label_weight({A.to_coo()}, {label}, {op}) is {weight.to_dense()} instead of {sums}"
    return wrong or also_wrong or _is_refused(lambda: ops.label_weight(A, gb.Vector("INT64", n + 1), op))


def colors(draw: Draw) -> str | None:
    """Check color_rows of a symmetric matrix."""
    if draw.n > 40:
        draw.n = 40
    A, n = draw.matrix(), draw.n
    near: dict[int, set[int]] = {i: set() for i in range(n)}
    for i, row in rows_of(A).items():
        for j in row.keys() - {i}:
            near[i].add(j), near[j].add(i)
    i, j = np.array([(i, j) for i in near for j in near[i]], np.int64).reshape(-1, 2).T
    S = gb.Matrix.from_coo(i, j, True, nrows=n, ncols=n)
    order = draw.values(n, "INT64")
    w, wrong = _both(draw, S, lambda M: ops.color_rows(M, gb.Vector.from_dense(order)).new())
    want: dict[int, int] = {}
    for v in sorted(range(n), key=lambda v: (-int(order[v]), v)):
        want[v] = min(set(range(n)) - {want[u] for u in near[v] if u in want})
    if w.to_dict() != want:
        return f"color_rows({S.to_coo()}, {order}) is {w.to_dict()} instead of {want}"
    return wrong or _is_refused(lambda: ops.color_rows(S, gb.Vector("INT64", n + 1)))


def flows(draw: Draw) -> str | None:
    """Check net_flow, of capacities up to 2^40: a flow without an augmenting path."""
    n = draw.n = min(draw.n, 40)
    if n < 2:
        return None
    rng, m = draw.rng, int(draw.rng.integers(0, 4 * n))
    at = rng.integers(0, n, (2, m))
    capacity = rng.integers(0, draw.pick(2, 9, 2**40), m)
    R = gb.Matrix.from_coo(
        np.r_[at[0], at[1]], np.r_[at[1], at[0]], np.r_[capacity, 0 * capacity], "INT64",
        nrows=n, ncols=n, dup_op="plus",
    )  # fmt: skip
    s, t = rng.permutation(n)[:2].tolist()
    F = ops.net_flow(R.to("gpu") if draw.gpu else R, s, t).new()  # engines may find different flows
    space, flow = R.to_dense(0), F.to_dense(0)
    net, reached, waiting = flow.sum(axis=1), {s}, [s]
    while waiting:
        i = waiting.pop()
        for j in np.flatnonzero(space[i] > flow[i]).tolist():
            if j not in reached:
                reached.add(j), waiting.append(j)
    net[[s, t]] -= [net[s], -net[s]]
    if t in reached or net.any() or (flow != -flow.T).any() or (flow > space).any():
        return f"net_flow({R.to_coo()}, {s}, {t}) is {F.to_coo()}"
    return _is_refused(lambda: ops.net_flow(R, s, s)) or _is_refused(lambda: ops.net_flow(R, s, n))


OPERATIONS = {
    "selectk": selectk, "walk": walk, "best_column": best_column, "count_corners": count_corners,
    "sampled_mxm": sampled_mxm, "two way": two_way, "labels": labels, "colors": colors, "flows": flows,
}  # fmt: skip
