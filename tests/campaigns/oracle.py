"""GraphBLAS on plain dictionaries: the C specification, with python-graphblas's syntax.

An object is its shape, its type and a dictionary from positions to values. Every operation makes a dictionary T and a
type; :func:`_write` is the one place where masks, accumulators and replacement act: ``C<M, r> = C (+) T``. Nothing is
taken from the code under test. Where python-graphblas has rules of its own for types, the oracle raises
:class:`Unknown`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

NAMES = {"BOOL": "bool", "FP32": "float32", "FP64": "float64"}
NAMES |= {f"{sign}{bits}": f"{sign.lower()}{bits}" for sign in ("INT", "UINT") for bits in (8, 16, 32, 64)}
TYPES = {name: np.dtype(text) for name, text in NAMES.items()}
Entries = dict[tuple[int, ...], Any]


class Unknown(Exception):
    """The oracle has no rule for this."""


def cast(value: Any, dtype: str) -> Any:
    """Return a value in another type: integers wrap around, floats saturate in integer types, NaN becomes 0."""
    kind = TYPES[dtype]
    value = np.asarray(value)[()]
    if kind.kind == "b":
        return np.bool_(value != 0)
    if value.dtype.kind == "f" and kind.kind in "iu":
        low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
        if np.isnan(value):
            return kind.type(0)
        return kind.type(low if value <= low else high if value >= float(high) else int(value))
    with np.errstate(all="ignore"):
        if kind.kind in "iu":
            return np.array(int(value) & 0xFFFF_FFFF_FFFF_FFFF, np.uint64).astype(kind)[()]
        return kind.type(value)


def meet(left: str, right: str) -> str:
    """Return the common type of two types, by NumPy's rule."""
    return next(name for name, kind in TYPES.items() if kind == np.promote_types(TYPES[left], TYPES[right]))


class Operator:
    """A function of values of one type, and the one for Booleans, which the specification may leave out."""

    def __init__(self, name: str, function: Callable[..., Any], of_bool: Callable[..., Any] | None = None) -> None:
        self.name, self.function, self.of_bool = name, function, of_bool

    def __getitem__(self, dtype: str) -> Operator:
        return self

    def __call__(self, dtype: str, *values: Any) -> Any:
        """Return the result for values converted to `dtype`."""
        function = self.function
        if dtype == "BOOL":
            if self.of_bool is None:
                raise Unknown(f"{self.name} of BOOL")
            function = self.of_bool
        with np.errstate(all="ignore"):
            return cast(function(*(cast(x, dtype) for x in values)), dtype)


def _least(x: Any, y: Any) -> Any:
    return np.fmin(x, y)


binary = SimpleNamespace(
    plus=Operator("plus", lambda x, y: x + y, np.logical_or),
    minus=Operator("minus", lambda x, y: x - y, np.logical_xor),
    times=Operator("times", lambda x, y: x * y, np.logical_and),
    min=Operator("min", _least, np.logical_and),
    max=Operator("max", np.fmax, np.logical_or),
    first=Operator("first", lambda x, y: x, lambda x, y: x),
    second=Operator("second", lambda x, y: y, lambda x, y: y),
    pair=Operator("pair", lambda x, y: 1),
)
unary = SimpleNamespace(
    abs=Operator("abs", np.abs, lambda x: x),
    ainv=Operator("ainv", lambda x: -x, lambda x: x),
    identity=Operator("identity", lambda x: x, lambda x: x),
)
monoid = SimpleNamespace(**{name: Operator(name, getattr(binary, name).function) for name in ("plus", "min", "max")})
semiring = SimpleNamespace(
    **{f"{a}_{m}": (getattr(binary, a), getattr(binary, m))
       for a, m in (("plus", "times"), ("min", "plus"), ("max", "second"), ("plus", "pair"))}
)  # fmt: skip
indexunary = SimpleNamespace(rowindex="rowindex")
select = SimpleNamespace(
    rowle=lambda i, j, k: i <= k, rowgt=lambda i, j, k: i > k,
    tril=lambda i, j, k: j <= i + k, triu=lambda i, j, k: j >= i + k, offdiag=lambda i, j, k: j != i + k,
)  # fmt: skip
agg = SimpleNamespace(count="count", sum=monoid.plus, max=monoid.max)


class Made:
    """A computed result before it is written: the dictionary T, its type and its shape."""

    def __init__(self, entries: Entries, dtype: str, shape: tuple[int, ...]) -> None:
        self.entries, self.dtype, self.shape = entries, dtype, shape

    def new(self) -> Any:
        if not self.shape:
            return self
        kind = Vector if len(self.shape) == 1 else Matrix
        made = kind(self.dtype, *self.shape)
        made.entries = dict(self.entries)
        return made


class Moved(Made):
    """A repositioned object, which python-graphblas writes as an assignment: entries outside the region stay."""

    def __init__(self, entries: Entries, dtype: str, shape: tuple[int, ...], region: tuple[slice, ...]) -> None:
        super().__init__(entries, dtype, shape)
        self.region = region


class Mask:
    """The positions that a statement may write."""

    def __init__(self, parent: Any, structure: bool, complement: bool = False) -> None:
        self.parent, self.structure, self.complement = parent, structure, complement

    def __invert__(self) -> Mask:
        return Mask(self.parent, self.structure, not self.complement)

    def allows(self, at: tuple[int, ...]) -> bool:
        value = self.parent.entries.get(at)
        return (value is not None and (self.structure or bool(value != 0))) != self.complement


class Target:
    """``out(mask, accum, replace)`` or ``out[I](mask, replace)``, which a statement then writes."""

    def __init__(self, out: Any, mask: Mask | None, accum: Operator | None, replace: bool, region: Any = None) -> None:
        self.out, self.mask, self.accum, self.replace, self.region = out, mask, accum, replace, region

    def __lshift__(self, value: Any) -> None:
        if isinstance(value, Moved):
            self[value.region] = _extract(value, value.region)
        elif self.region is None:
            _write(self.out, _value(value, self.out), self.mask, self.accum, self.replace)
        else:
            made = _extract(self.out, self.region).new()
            _write(made, _value(value, made), self.mask, self.accum, self.replace)
            _assign(self.out, self.region, made, None, None, False)

    def __setitem__(self, keys: Any, value: Any) -> None:
        _assign(self.out, keys, value, self.mask, self.accum, self.replace)


class Place:
    """``out[I]``: read by ``new``, written by calling it."""

    def __init__(self, parent: Any, keys: Any) -> None:
        self.parent, self.keys = parent, keys
        made = _extract(parent, keys)
        self.entries, self.dtype, self.shape, self.new = made.entries, made.dtype, made.shape, made.new

    def __call__(self, mask: Mask, replace: bool = False) -> Target:
        return Target(self.parent, mask, None, replace, self.keys)


def _value(value: Any, out: Any) -> Any:
    """Return an object as it is, and a number as an object with that value at every position."""
    if not isinstance(value, int | float):
        if value.shape != out.shape:
            raise ValueError(f"{value.shape} into {out.shape}")
        return value
    return Made(dict.fromkeys(out._everywhere(), value), "FP64" if isinstance(value, float) else "INT64", out.shape)


def _write(out: Any, made: Any, mask: Mask | None, accum: Operator | None, replace: bool) -> None:
    """Write ``out<mask, replace> = out (+) made``, the specification's only write rule."""
    old, given = dict(out.entries), made.entries
    whole = {at: cast(x, out.dtype) for at, x in given.items()}
    if accum is not None:
        both = {at: accum(out.dtype, old[at], x) for at, x in whole.items() if at in old}
        whole = old | whole | both
    if mask is None:
        out.entries = whole
        return
    allowed = {at: x for at, x in whole.items() if mask.allows(at)}
    kept = {} if replace else {at: x for at, x in old.items() if not mask.allows(at)}
    out.entries = kept | allowed


def _assign(out: Any, keys: Any, value: Any, mask: Mask | None, accum: Operator | None, replace: bool) -> None:
    """Assign to a region; entries outside it stay, except for the mask's effect."""
    lists = _lists(out, keys)
    shape = tuple(len(ids) for ids, single in lists if not single)
    cells = _cells(lists)
    if not isinstance(value, int | float) and value.shape != shape:
        raise ValueError(f"{value.shape} into {shape}")
    given = {at: value if isinstance(value, int | float) else value.entries.get(to) for to, at in cells}
    whole = {at: x for at, x in out.entries.items() if accum is not None or at not in given}
    for at, x in given.items():
        if x is not None:
            x = cast(x, out.dtype)
            whole[at] = accum(out.dtype, whole[at], x) if at in whole else x
    _write(out, Made(whole, out.dtype, out.shape), mask, None, replace)


def _extract(parent: Any, keys: Any) -> Made:
    lists = _lists(parent, keys)
    entries = {to: parent.entries[at] for to, at in _cells(lists) if at in parent.entries}
    return Made(entries, parent.dtype, tuple(len(ids) for ids, single in lists if not single))


def _lists(parent: Any, keys: Any) -> list[tuple[range | list[int], bool]]:
    """Return for each index in brackets its positions, and True if it is a single position."""
    keys = keys if isinstance(keys, tuple) else (keys,)
    found: list[tuple[range | list[int], bool]] = []
    for key, n in zip(keys, parent.shape, strict=True):
        if isinstance(key, slice):
            found.append((range(*key.indices(n)), False))
            continue
        ids = key if isinstance(key, list) else [key]
        if any(not 0 <= i < n for i in ids):
            raise IndexError(f"{key} of {n}")
        found.append((ids, not isinstance(key, list)))
    return found


def _cells(lists: list[tuple[range | list[int], bool]]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return pairs of a position in the region and the same in the whole object."""
    cells: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), ())]
    for ids, single in lists:
        if len(ids) > 1000:
            raise Unknown("a region of many positions")
        cells = [((*to, *(() if single else (k,))), (*at, i)) for to, at in cells for k, i in enumerate(ids)]
    return cells


class Readable:
    """The reading methods that vectors, matrices and transposed ones share."""

    entries: Entries
    dtype: str
    shape: tuple[int, ...]

    @property
    def S(self) -> Mask:
        return Mask(self, True)

    @property
    def V(self) -> Mask:
        return Mask(self, False)

    @property
    def size(self) -> int:
        return self.shape[0]

    @property
    def nvals(self) -> int:
        return len(self.entries)

    def to_coo(self) -> tuple[Any, ...]:
        return (
            *np.array(sorted(self.entries)).reshape(-1, len(self.shape)).T,
            np.array(list(self.entries.values()), TYPES[self.dtype]),
        )

    def _made(self, entries: Entries, dtype: str | None = None, shape: tuple[int, ...] | None = None) -> Made:
        return Made(entries, dtype or self.dtype, shape or self.shape)

    def ewise_add(self, other: Any, op: Operator) -> Made:
        dtype = meet(self.dtype, other.dtype)
        whole = {at: cast(x, dtype) for at, x in (other.entries | self.entries).items()}
        return self._made(
            whole | {at: op(dtype, x, other.entries[at]) for at, x in self.entries.items() if at in other.entries},
            dtype,
        )

    def ewise_mult(self, other: Any, op: Operator) -> Made:
        dtype = meet(self.dtype, other.dtype)
        if len(other.shape) < len(self.shape):  # a copy of the vector for each row
            pairs = {at: other.entries.get(at[1:]) for at in self.entries}
        else:
            pairs = {at: other.entries.get(at) for at in self.entries}
        return self._made({at: op(dtype, self.entries[at], y) for at, y in pairs.items() if y is not None}, dtype)

    def ewise_union(self, other: Any, op: Operator, left: int, right: int) -> Made:
        dtype = meet(self.dtype, other.dtype)
        if dtype not in ("INT64", "FP64"):
            raise Unknown("numbers meet narrow types")
        either = self.entries.keys() | other.entries.keys()
        return self._made(
            {at: op(dtype, self.entries.get(at, left), other.entries.get(at, right)) for at in either}, dtype
        )

    def __sub__(self, other: Any) -> Made:
        if "BOOL" in (self.dtype, other.dtype):
            raise Unknown("signs of BOOL")
        if self.dtype != other.dtype:
            raise Unknown("defaults of a difference of two types")
        return self.ewise_union(other, binary.minus, 0, 0) if self.dtype in ("INT64", "FP64") else self._minus(other)

    def _minus(self, other: Any) -> Made:
        either = self.entries.keys() | other.entries.keys()
        get = lambda x, at: x.entries.get(at, 0)  # noqa: E731
        return self._made({at: binary.minus(self.dtype, get(self, at), get(other, at)) for at in either})

    def __add__(self, other: Any) -> Made:
        if "BOOL" in (self.dtype, other.dtype):
            raise Unknown("signs of BOOL")
        return self.ewise_add(other, binary.plus)

    def apply(self, op: Any, right: int | None = None, left: int | None = None) -> Made:
        if op == "rowindex":
            return self._made({at: np.int64(at[0] + (right or 0)) for at in self.entries}, "INT64")
        if right is None and left is None:
            return self._made({at: op(self.dtype, x) for at, x in self.entries.items()})
        if self.dtype not in ("INT64", "FP64"):
            raise Unknown("numbers meet narrow types")
        return self._made(
            {
                at: op(self.dtype, x, right) if left is None else op(self.dtype, left, x)
                for at, x in self.entries.items()
            }
        )

    def select(self, op: Any, thunk: int = 0) -> Made:
        if isinstance(op, Mask):
            return self._made({at: x for at, x in self.entries.items() if op.allows(at)})
        return self._made({at: x for at, x in self.entries.items() if op(at[0], at[-1], thunk)})

    def reposition(self, *offsets: int) -> Moved:
        ends = [(max(k, 0), max(min(n, n + k), 0)) for k, n in zip(offsets, self.shape, strict=True)]
        to = tuple(slice(low, max(low, high)) for low, high in ends)
        moved = {tuple(i + k for i, k in zip(at, offsets, strict=True)): x for at, x in self.entries.items()}
        inside = {
            at: x for at, x in moved.items() if all(i in range(e.start, e.stop) for i, e in zip(at, to, strict=True))
        }
        return Moved(inside, self.dtype, self.shape, to)

    def __getitem__(self, keys: Any) -> Place:
        return Place(self, keys)


def _folded(add: Any, dtype: str, groups: dict[tuple[int, ...], list[Any]]) -> tuple[Entries, str]:
    """Return the sum of each group."""
    if add == "count":
        return {at: np.int64(len(values)) for at, values in groups.items()}, "INT64"
    if dtype == "BOOL":
        raise Unknown("sums of BOOL")
    sums = {}
    for at, values in groups.items():
        sums[at] = values[0]
        for x in values[1:]:
            sums[at] = add(dtype, sums[at], x)
    return sums, dtype


def _product(left: Any, right: Any, op: Any, shape: tuple[int, ...], dtypes: tuple[str, str]) -> Made:
    """Return the sums over k of ``left(.., k) * right(k, ..)``."""
    (add, multiply), dtype = op, meet(*dtypes)
    if dtype == "BOOL" or (multiply.name == "pair" and "BOOL" in dtypes):
        raise Unknown("semirings of BOOL")
    by_k: dict[int, list[tuple[tuple[int, ...], Any]]] = {}
    for at, y in right.items():
        by_k.setdefault(at[0], []).append((at[1:], y))
    groups: dict[tuple[int, ...], list[Any]] = {}
    for at, x in sorted(left.items()):
        for rest, y in by_k.get(at[-1], ()):
            groups.setdefault(at[:-1] + rest, []).append(multiply(dtype, x, y))
    return Made(*_folded(add, dtype, groups), shape)


class _Writable:
    """The writing methods of vectors and matrices."""

    def __call__(self: Any, mask: Any = None, accum: Any = None, replace: bool = False) -> Target:
        return Target(self, mask, accum, replace)

    def __lshift__(self: Any, value: Any) -> None:
        Target(self, None, None, False) << value

    def __setitem__(self: Any, keys: Any, value: Any) -> None:
        _assign(self, keys, value, None, None, False)

    def __delitem__(self: Any, keys: Any) -> None:
        gone = {at for _, at in _cells(_lists(self, keys))}
        self.entries = {at: x for at, x in self.entries.items() if at not in gone}

    def _everywhere(self: Any) -> list[tuple[int, ...]]:
        return [at for _, at in _cells([(range(n), False) for n in self.shape])]

    def clear(self: Any) -> None:
        self.entries = {}

    def resize(self: Any, *shape: int) -> None:
        self.shape = shape
        self.entries = {at: x for at, x in self.entries.items() if all(i < n for i, n in zip(at, shape, strict=True))}

    def dup(self: Any) -> Any:
        return Made(self.entries, self.dtype, self.shape).new()


class Vector(_Writable, Readable):
    def __init__(self, dtype: str, size: int) -> None:
        self.entries, self.dtype, self.shape = {}, dtype, (size,)

    def vxm(self, A: Any, op: Any) -> Made:
        return _product(self.entries, A.entries, op, A.shape[1:], (self.dtype, A.dtype))

    def diag(self) -> Any:
        n = self.size
        return self._made({at * 2: x for at, x in self.entries.items()}, shape=(n, n)).new()

    def outer(self, other: Any, op: Operator) -> Made:
        dtype = meet(self.dtype, other.dtype)
        entries = {(i, j): op(dtype, x, y) for (i,), x in self.entries.items() for (j,), y in other.entries.items()}
        return Made(entries, dtype, self.shape + other.shape)

    def reduce(self, op: Any) -> Made:
        groups = {(): [x for _, x in sorted(self.entries.items())]} if self.entries else {}
        return Made(*_folded(op, self.dtype, groups), ())


class Matrix(_Writable, Readable):
    def __init__(self, dtype: str, nrows: int, ncols: int) -> None:
        self.entries, self.dtype, self.shape = {}, dtype, (nrows, ncols)

    @property
    def T(self) -> Matrix:
        made = Matrix(self.dtype, *self.shape[::-1])
        made.entries = {at[::-1]: x for at, x in self.entries.items()}
        return made

    def mxv(self, v: Any, op: Any) -> Made:
        return _product(self.entries, v.entries, op, self.shape[:1], (self.dtype, v.dtype))

    def mxm(self, B: Any, op: Any) -> Made:
        return _product(self.entries, B.entries, op, (self.shape[0], B.shape[1]), (self.dtype, B.dtype))

    def reduce_rowwise(self, op: Any) -> Made:
        groups: dict[tuple[int, ...], list[Any]] = {}
        for (i, _), x in sorted(self.entries.items()):
            groups.setdefault((i,), []).append(x)
        return Made(*_folded(op, self.dtype, groups), self.shape[:1])

    def reduce_columnwise(self, op: Any) -> Made:
        return self.T.reduce_rowwise(op)

    def diag(self) -> Any:
        return self._made({at[:1]: x for at, x in self.entries.items() if at[0] == at[1]}, shape=self.shape[:1]).new()

    def setdiag(self, v: Any, k: int) -> None:
        others = {at: x for at, x in self.entries.items() if at[0] != at[1]}
        self.entries = others | {at * 2: cast(x, self.dtype) for at, x in v.entries.items()}
