"""A check for operands that were resized after their expression was made, as kernels would read beyond their arrays.

Operations check shapes when an expression is made. SuiteSparse checks them again when the expression runs, but kernels
do not. Once any object of the engine was resized, shapes are therefore compared again before each statement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sparsezc.exceptions import DimensionMismatch
from sparsezc.expr.expression import says_shape


def check(e: Any) -> None:
    """Compare the shapes of an expression's operands with its own.

    Raises
    ------
    DimensionMismatch
        An operand was resized since the expression was made.
    """
    rule = _RULES.get(e.operation)
    if rule is None or rule(e.shape, *e.operands):
        return
    shapes = ", ".join(f"{x.name} is a {says_shape(x.shape)}" for x in e.operands if x._stored)
    raise DimensionMismatch(
        f"{e.operation}: {shapes}, resized since the expression was made, which makes a {says_shape(e.shape)}"
    )


def _is_within(keys: tuple[Any, ...], shape: tuple[int, ...]) -> bool:
    """Return whether each index list's positions are within its dimension."""
    return all(map(_reaches, keys, shape))


def _reaches(key: Any, size: int) -> bool:
    if key.kind == "all":
        return bool(key.size == size)
    if key.kind == "one":
        return bool(key.key < size)
    if key.size == 0:
        return True
    return bool((max(key.key[0], key.key[-1]) if key.kind == "range" else key.key.max()) < size)


def _ewise(shape: tuple[int, ...], x: Any, y: Any) -> bool:
    """Return whether shapes fit; a vector is repeated as each column (left operand) or each row (right operand)."""
    left, right = (shape, shape) if x.ndim == y.ndim else (shape[: x.ndim], shape[-y.ndim :])
    return bool(x.shape == left and y.shape == right)


def _same(shape: tuple[int, ...], *operands: Any) -> bool:
    return all(x.shape == shape for x in operands if x._stored)


def _diag(shape: tuple[int, ...], x: Any, k: Any) -> bool:
    offset = int(k.value)
    if x.ndim == 1:
        return bool(x.size + abs(offset) == shape[0])
    nrows, ncols = x.shape
    return bool(max(0, min(nrows + min(offset, 0), ncols - max(offset, 0))) == shape[0])


def _assign(shape: tuple[int, ...], value: Any, *keys: Any) -> bool:
    region = tuple(key.size for key in keys if key.kind != "one")
    return _is_within(keys, shape) and (not value.ndim or bool(value.shape == region))


#: For each operation, whether the operands still fit the expression's shape.
_RULES: dict[str, Callable[..., bool]] = {
    "mxv": lambda shape, A, v: A.shape == shape + v.shape,
    "vxm": lambda shape, v, A: A.shape == v.shape + shape,
    "mxm": lambda shape, A, B: (A.shape[0], B.shape[1]) == shape and A.shape[1] == B.shape[0],
    "sampled_mxm": lambda shape, A, X, Y, Z, _op: (
        X.shape[1] == Y.shape[0]
        and A.shape == (X.shape[0], Y.shape[1])
        and (A.shape[0], Z.shape[1]) == shape
        and A.shape[1] == Z.shape[0]
    ),
    "two_way_mxm": lambda shape, A, values, X: (
        A.shape == (shape[0], shape[0]) and values.shape == (A.nvals, shape[1] // 2) and X.shape == shape
    ),
    "two_way_sampled_mxm": lambda shape, A, X, _op: X.shape == shape and sum(A.shape) == shape[0],
    "solve": lambda shape, G, B: B.shape == shape and G.shape == (shape[0], shape[1] * (shape[1] + 1) // 2),
    "distances": lambda shape, X, Y: (X.shape[0], Y.shape[0]) == shape and X.shape[1] == Y.shape[1],
    "map_rows": lambda shape, *given: (
        all(A.shape[0] == shape[0] for A in given[:-1]) and sum(A.shape[1] for A in given[:-1]) == given[-1].inputs
    ),
    "best_label": lambda shape, A, *rest: A.shape == shape * 2 and _same(shape, *rest),
    "label_weight": lambda shape, A, *rest: A.shape == shape * 2 and _same(shape, *rest),
    "move_labels": lambda shape, A, *rest: A.shape == shape * 2 and _same(shape, *rest),
    "join_labels": lambda shape, A, *rest: A.shape == shape * 2 and _same(shape, *rest),
    "color_rows": lambda shape, A, order: A.shape == shape * 2 and order.shape == shape,
    "sum_by_labels": lambda _shape, A, label: A.shape == label.shape * 2,
    "net_flow": lambda shape, R, _s, _t: R.shape == shape,
    "count_corners": lambda shape, *matrices: all(x.shape == shape * 2 for x in matrices),
    "best_column": lambda shape, A, v: A.shape == shape + v.shape,
    "argsort": lambda shape, u: shape[0] <= u.size,
    "selectk": lambda shape, A, index, pick: pick.fits(shape, A, index),
    "walk": lambda _shape, A, trail, *weights: trail.fits(A, *weights),
    "inner": lambda shape, u, v: u.shape == v.shape,
    "outer": lambda shape, u, v: u.shape + v.shape == shape,
    "kronecker": lambda shape, A, B: (A.shape[0] * B.shape[0], A.shape[1] * B.shape[1]) == shape,
    "power": _same,
    "ewise_add": _ewise,
    "ewise_mult": _ewise,
    "ewise_union": lambda shape, x, _left, y, _right: _ewise(shape, x, y),
    "apply": _same,
    "apply_left": _same,
    "apply_right": _same,
    "apply_index": _same,
    "select": _same,
    "select_mask": _same,
    "reduce_rowwise": lambda shape, A: A.shape[:1] == shape,
    "transpose": lambda shape, A: A.shape[::-1] == shape,
    "diag": _diag,
    "values_of": lambda shape, A: A.nvals == shape[0],
    "stack": lambda shape, *blocks: (
        sum(A.shape[0] for A in blocks) == shape[0] and all(A.shape[1] == shape[1] for A in blocks)
    ),
    "with_values": lambda shape, A, v: A.shape == shape and A.nvals == v.size,
    "extract": lambda _shape, u, *keys: _is_within(keys, u.shape),
    "assign": _assign,
    "subassign": _assign,
}
