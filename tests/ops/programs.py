"""Random programs: statements drawn from a seed, run alike on every module with this syntax.

A step writes one of the program's objects from the others, in a random way (mask, accumulator, replace, assigned
region), so later steps use the states that earlier ones left (other formats, aliases, empty objects, zeros, NaN). The
objects are vectors u, v, w and matrices A, B, C of one size; with R, Q and x there are narrow ones too.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import graphblas
import numpy as np

from tests.ops.judge import Arrays, make

Source = Callable[[Any, Any, random.Random], Any]

#: Sources of a vector: functions of the module, the objects and a random generator, seeded alike for all modules.
VECTORS: dict[str, Source] = {
    "mxv": lambda g, o, r: _matrix(o, r).mxv(_vector(o, r), _semiring(g, r)),
    "vxm": lambda g, o, r: _vector(o, r).vxm(_matrix(o, r), _semiring(g, r)),
    "add": lambda g, o, r: _vector(o, r).ewise_add(_vector(o, r), _binary(g, r)),
    "mult": lambda g, o, r: _vector(o, r).ewise_mult(_vector(o, r), _binary(g, r)),
    "union": lambda g, o, r: _vector(o, r).ewise_union(_vector(o, r), _binary(g, r), 1, 2),
    "sign": lambda g, o, r: _vector(o, r) - _vector(o, r),
    "apply": lambda g, o, r: _vector(o, r).apply(r.choice([g.unary.abs, g.unary.ainv, g.unary.identity])),
    "bound": lambda g, o, r: _vector(o, r).apply(_binary(g, r), r.choice([0, 1, 3])),
    "position": lambda g, o, r: _vector(o, r).apply(g.indexunary.rowindex, r.choice([0, -2])),
    "select": lambda g, o, r: _vector(o, r).select(r.choice([g.select.rowle, g.select.rowgt]), 3),
    "select mask": lambda g, o, r: _vector(o, r).select(_mask(_vector(o, r), r)),
    "rows": lambda g, o, r: _matrix(o, r).reduce_rowwise(r.choice([g.monoid.plus, g.monoid.min])),
    "columns": lambda g, o, r: _matrix(o, r).reduce_columnwise(r.choice([g.monoid.max, g.monoid.plus])),
    "row": lambda g, o, r: _matrix(o, r)[_id(o, r), :],
    "column": lambda g, o, r: _matrix(o, r)[:, _id(o, r)],
    "shuffled": lambda g, o, r: _vector(o, r)[_ids(o, r)],
    "backwards": lambda g, o, r: _vector(o, r)[::-1],
    "moved": lambda g, o, r: _vector(o, r).reposition(r.randrange(-3, 4)),
    "vector": lambda g, o, r: _vector(o, r),
    "number": lambda g, o, r: r.choice([0, 1, 5]),
    "diagonal": lambda g, o, r: _matrix(o, r).diag(),
    "counts": lambda g, o, r: _matrix(o, r).reduce_rowwise(r.choice([g.agg.count, g.agg.sum, g.agg.max])),
    "total": lambda g, o, r: _total(_vector(o, r).reduce(r.choice([g.agg.count, g.monoid.plus, g.monoid.min])).new()),
}
MATRICES: dict[str, Source] = {
    "mxm": lambda g, o, r: _matrix(o, r).mxm(_matrix(o, r), _semiring(g, r)),
    "add": lambda g, o, r: _matrix(o, r).ewise_add(_matrix(o, r), _binary(g, r)),
    "mult": lambda g, o, r: _matrix(o, r).ewise_mult(_matrix(o, r), _binary(g, r)),
    "broadcast": lambda g, o, r: _matrix(o, r).ewise_mult(_vector(o, r), _binary(g, r)),
    "sign": lambda g, o, r: _matrix(o, r) + _matrix(o, r),
    "bound": lambda g, o, r: _matrix(o, r).apply(_binary(g, r), left=r.choice([0, 2])),
    "select": lambda g, o, r: _matrix(o, r).select(r.choice([g.select.tril, g.select.triu, g.select.offdiag])),
    "select mask": lambda g, o, r: _matrix(o, r).select(_mask(o.__dict__[r.choice("ABC")], r)),
    "transpose": lambda g, o, r: o.__dict__[r.choice("ABC")].T,
    "outer": lambda g, o, r: _vector(o, r).outer(_vector(o, r), _binary(g, r)),
    "diagonal": lambda g, o, r: _vector(o, r).diag(),
    "moved": lambda g, o, r: _matrix(o, r).reposition(r.randrange(-3, 4), r.randrange(-3, 4)),
    "shuffled": lambda g, o, r: _matrix(o, r)[_ids(o, r), ::-1],
    "matrix": lambda g, o, r: o.__dict__[r.choice("ABC")],
    "number": lambda g, o, r: r.choice([0, 4]),
}
#: Statements of the narrow operands R (n x m), Q (m x n) and x (m), by the kind of object that they write.
NARROW: dict[str, dict[str, Source]] = {
    "vector": {
        "mxv": lambda g, o, r: r.choice([o.R, o.Q.T]).mxv(o.x, _semiring(g, r)),
        "vxm": lambda g, o, r: o.x.vxm(r.choice([o.Q, o.R.T]), _semiring(g, r)),
        "rows": lambda g, o, r: r.choice([o.R, o.Q.T]).reduce_rowwise(g.monoid.plus),
    },
    "matrix": {"mxm": lambda g, o, r: r.choice([o.R, o.Q.T]).mxm(r.choice([o.Q, o.R.T]), _semiring(g, r))},
    "change": {
        "vxm": lambda g, o, r: o.x << _vector(o, r).vxm(o.R, _semiring(g, r)),
        "outer": lambda g, o, r: o.Q << o.x.outer(_vector(o, r), _binary(g, r)),
        "transposed": lambda g, o, r: o.R << o.Q.T,
        "full": lambda g, o, r: r.choice([o.R, o.Q, o.x]) << 1,
    },
}
CHANGES: dict[str, Source] = {
    "delete": lambda g, o, r: o.__dict__[r.choice("uvw")].__delitem__(r.choice([2, slice(1, 4), [0, 5]])),
    "clear": lambda g, o, r: o.__dict__[r.choice("uvwABC")].clear(),
    "element": lambda g, o, r: o.__dict__[r.choice("ABC")].__setitem__((_id(o, r), _id(o, r)), 3),
    "row": lambda g, o, r: _set_row(o.__dict__[r.choice("ABC")], _id(o, r), _vector(o, r)),
    "part": lambda g, o, r: o.__dict__[r.choice("uvw")].__setitem__([4, 0, 2], _vector(o, r)[1:4].new()),
    "block": lambda g, o, r: o.C.__setitem__((slice(0, 3), [6, 1]), _matrix(o, r)[:3, 2:4].new()),
    "setdiag": lambda g, o, r: o.__dict__[r.choice("ABC")].setdiag(_vector(o, r), 0),
    "resized": lambda g, o, r: _resize(o.C, o.u.size),
    "positions": lambda g, o, r: _through(o.__dict__[r.choice("uvw")], o, "uvw", r).__setitem__(slice(1, None, 2), 3),
    "cells": lambda g, o, r: _through(o.C, o, "ABC", r).__setitem__(([5, 0, 2], slice(None, None, -1)), 4),
    "region": lambda g, o, r: o.C[1:4, [0, 5]](_mask(o.A[1:4, [0, 5]].new(), r), replace=r.random() < 0.5) << 6,
    "copied": lambda g, o, r: setattr(o, r.choice("uvw"), _vector(o, r).dup()),
}


def _vector(o: Any, r: random.Random) -> Any:
    return o.__dict__[r.choice("uvw")]


def _matrix(o: Any, r: random.Random) -> Any:
    matrix = o.__dict__[r.choice("ABC")]
    return matrix.T if r.random() < 0.3 else matrix


def _id(o: Any, r: random.Random) -> int:
    """Return a position; in large objects one of those that have entries."""
    n = o.u.size
    return r.choice(sparse_ids(n)) if n > LARGE else r.randrange(n)


def _ids(o: Any, r: random.Random) -> list[int]:
    return [_id(o, r) for _ in range(min(o.u.size, 7))]


def sparse_ids(n: int) -> list[int]:
    """Return the positions of entries in large objects."""
    return [0, 1, 5, n // 2, n - 3, n - 2, n - 1]


def _set_row(C: Any, i: int, v: Any) -> None:
    """Set a row, unless neither row nor matrix has entries: reductions of the result would crash SuiteSparse."""
    if v.to_coo()[0].size or C.to_coo()[0].size:
        C[i, :] = v


def _resize(C: Any, n: int) -> None:
    C.resize(max(n - 2, 0), n + 2)
    C.resize(n, n)


def _total(s: Any) -> int:
    """Return a whole number that depends on a sum, as a value to write."""
    value = getattr(s, "value", None) if not hasattr(s, "entries") else s.entries.get(())
    return int(value) % 3 if value is not None and np.isfinite(value) else 7


def _mask(x: Any, r: random.Random) -> Any:
    """Return a mask of any kind; by structure if a zero may have a sign, whose truth differs between engines."""
    mask = r.choice([x.S, x.V])
    values = x.to_coo()[-1]
    if values.dtype.kind in "fc" and (values == 0).any():
        mask = x.S
    return ~mask if r.random() < 0.5 else mask


def _through(out: Any, o: Any, letters: str, r: random.Random) -> Any:
    return out(_mask(o.__dict__[r.choice(letters)], r), replace=r.random() < 0.5)


def _semiring(g: Any, r: random.Random) -> Any:
    return r.choice([g.semiring.plus_times, g.semiring.min_plus, g.semiring.max_second, g.semiring.plus_pair])


def _binary(g: Any, r: random.Random) -> Any:
    return r.choice([g.binary.plus, g.binary.minus, g.binary.times, g.binary.min, g.binary.first, g.binary.second])


#: Sources and changes that fill a whole object, row or column: too large for objects of a large size.
DENSE = {"number", "total", "positions", "cells", "full"}
LARGE = 1000  # positions above which an object counts as large


def step(g: Any, o: Any, r: random.Random) -> str:
    """Run one statement, drawn from `r`; return the name of the object written, or "" if it may be any."""
    kind = r.choice(["vector", "vector", "matrix", "matrix", "change"])
    sources, letters = {"vector": (VECTORS, "uvw"), "matrix": (MATRICES, "ABC"), "change": (CHANGES, "")}[kind]
    if hasattr(o, "R") and r.random() < 0.15:
        sources = NARROW[kind]
    source = sources[r.choice([name for name in sorted(sources) if o.u.size <= LARGE or name not in DENSE])]
    if kind == "change":
        source(g, o, r)
        return ""
    name = r.choice(letters)
    out = o.__dict__[name]
    value = source(g, o, r)
    given: dict[str, Any] = {}
    if r.random() < 0.5:
        given["mask"] = _mask(o.__dict__[r.choice(letters)], r)
        given["replace"] = r.random() < 0.5
    if r.random() < 0.3:
        given["accum"] = r.choice([g.binary.plus, g.binary.min, g.binary.second])
    if g is graphblas and "mask" in given and _can_be_formed(value):
        value = value.new()  # else SuiteSparse may read freed row ids, or leave out values if a mask is also an operand
    if g is graphblas and "accum" in given:
        _accumulate(out, value, **given)
    else:
        (out(**given) if given else out) << value
    return name


def _can_be_formed(value: Any) -> bool:
    """Return whether the judge may compute this expression first; a reposition writes a part of the output."""
    return getattr(value, "method_name", "reposition") != "reposition"


def _accumulate(out: Any, value: Any, accum: Any, mask: Any = None, replace: bool = False) -> None:
    """Run ``out(mask, accum, replace) << value`` on the judge, by expressions computed first.

    Under a mask that is no complement, SuiteSparse would add sparse to full beyond its arrays, and products of
    converted operands without the conversion; there the sum is computed first, too.
    """
    value = value.new() if hasattr(value, "new") else value
    if mask is None or mask.complement or not hasattr(value, "nvals"):
        out(mask=mask, accum=accum, replace=replace) << value
    else:
        out(mask=mask, replace=replace) << out.ewise_add(value, accum[out.dtype]).new()  # `value` may be `out`


def drawn(seed: int) -> str:
    """Return the kind of statement that a step draws, for messages."""
    return random.Random(seed).choice(["vector", "vector", "matrix", "matrix", "change"])


def made_anew(content: tuple[Any, ...]) -> Any:
    """Return a new object of the judge with this content and no other state.

    SuiteSparse's methods depend on an object's state, and are not always right: see test_cpu_engine.py. A full object
    is made with all its values, even if they are equal.
    """
    dtype, shape, *at, values = content
    if values.size == math.prod(shape):
        kind = graphblas.Vector if len(shape) == 1 else graphblas.Matrix
        return kind.from_dense(values.reshape(shape), dtype=dtype)
    rows, columns = (*at, None)[:2]
    return make(graphblas, Arrays(rows, columns, values, shape, dtype))
