"""Bipartite projections: pairs of vertices of one side, weighted by their common neighbours."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple, overload

import numpy as np

from sparsezc import ops
from sparsezc.algorithms._degree import in_degree, out_degree
from sparsezc.applications import _check
from sparsezc.core.access import facts, forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import DomainMismatch, maker
from sparsezc.io.files.source import file_name
from sparsezc.io.formats import edge_pieces
from sparsezc.memory import budget
from sparsezc.semirings import binary, monoid, select, semiring, unary
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import steps

WEIGHTS = ("count", "ratio", "jaccard", "overlap", "collaboration", "none")
_PAIR_BYTES = 48  # bytes for each pair of a block: in the product, in its lower triangle, and as rows and columns
_RESULT_BYTES = 64  # bytes for each pair of the result: both directions, while they are put together
_SHARE = 0.25  # share of free memory that a block of pairs may take
_BLOCK = 1 << 22  # least pairs of a block, unless memory is short
_COPIES = 8  # copies of the graph that must fit the engine's fastest memory, for its transpose and rows of a block, too
_BLOCKS = 16  # blocks of a large result: upper halves of diagonal blocks are computed in vain, a 32nd of the square


class _Side(NamedTuple):
    """The side that is projected onto: its rows, their transpose, its degrees, and the size of the other side."""

    R: Matrix
    T: Matrix
    degree: Vector
    others: int


@overload
def projection(A: Matrix, onto: str = "rows", weight: str = "count", out: None = None) -> Matrix: ...
@overload
def projection(A: Matrix, onto: str = "rows", weight: str = "count", *, out: str | os.PathLike[str]) -> int: ...
def projection(
    A: Matrix, onto: str = "rows", weight: str = "count", out: str | os.PathLike[str] | None = None
) -> Matrix | int:
    """Project a bipartite graph onto one side: join vertices that have a neighbour in common.

    Parameters
    ----------
    A : Matrix, shape (m, n), any dtype
        The graph: an entry (i, j), whatever its value, joins vertex i of one side to vertex j of the other.
    onto : {"rows", "columns"}
        The side whose vertices are joined.
    weight : {"count", "ratio", "jaccard", "overlap", "collaboration", "none"}
        The formula for the weight of a pair (i, j). With N(i) the neighbours of i: ``|N(i) & N(j)|``, or this divided
        by the size of the other side, by ``|N(i) | N(j)|``, or by the smaller of ``|N(i)|`` and ``|N(j)|``; Newman's
        sum of 1 / (d - 1) over the common neighbours, whose degrees are d; or none.
    out : str or path, optional
        A file to which the pairs are written, each once, instead of a result in memory: ``.txt``, ``.tsv``, ``.csv``
        (also ``.gz``), ``.parquet``. ``gb.io.read(out, directed=False)`` reads it. A ``.csv`` holds no sizes: vertices
        after the last one of a pair are lost.

    Returns
    -------
    Matrix, shape (m, m) or (n, n)
        The weights, symmetric, without a diagonal: INT64 for counts, BOOL for ``"none"``, else FP64.
    int
        With `out`, the number of pairs instead.

    Raises
    ------
    InvalidValue
        `onto` or `weight` is none of these, or `out` is a ``.csv`` that would be empty, as there are no pairs.
    DomainMismatch
        `A` is not a Matrix.
    OutOfMemory
        The result needs more memory than may be used; the message has its size.
    FileFormatError
        The suffix of `out` is that of no format.

    Notes
    -----
    With R the rows of one side, one triangle is computed, a block of rows at a time::

        L = tril(R R', -1)            over (plus, pair)
        L = tril(R D R', -1)          over (plus, times), D = 1 / (d - 1), for Newman's weights
        B = L + L'

    Blocks stay in the memory in which the products are computed. With `out` each block is written before the next one
    is computed, so the result may be larger than memory.

    Source: NetworkX's ``bipartite.projection``, whose weights these are; M. Newman, Scientific collaboration networks
    II, Physical Review E 64, 016132, 2001, doi:10.1103/PhysRevE.64.016132; as a product: C. Yang, A. Buluc, J. Owens,
    GraphBLAST, ACM TOMS 48, 2022, section 7, doi:10.1145/3466795.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_coo([0, 0, 1, 1, 2], [0, 1, 0, 1, 1], 1, nrows=3, ncols=2)  # readers and books
    >>> gb.applications.projection(A).to_dicts()
    {0: {1: 2, 2: 1}, 1: {0: 2, 2: 1}, 2: {0: 1, 1: 1}}
    >>> gb.applications.projection(A, "columns", "jaccard").get(0, 1)
    0.6666666666666666
    """
    if not isinstance(A, Matrix):
        raise DomainMismatch(f"A is a {type(A).__name__}; a Matrix is needed{maker(A, 'A')}")
    _check.one_of(onto, "onto", ("rows", "columns"))
    _check.one_of(weight, "weight", WEIGHTS)
    if out is not None:
        edge_pieces.format_of(file_name(out, "out"), "out")
    side = _side(A, onto)
    n, blocks = side.R.nrows, _blocks(side)
    if out is not None:
        return _write(side, blocks, weight, out)
    _require(side, blocks)
    L = ops.stack(*_pairs(side, blocks, weight)).new() if n else Matrix(_dtype(weight), n, n)
    # B = L + L'
    B: Matrix = L.ewise_add(L.T, binary.first).new()
    return facts.known_symmetric(B)


def _dtype(weight: str) -> Any:
    return {"count": datatypes.INT64, "none": datatypes.BOOL}.get(weight, datatypes.FP64)


def _side(A: Matrix, onto: str) -> _Side:
    A = forms.resident(A, _COPIES)
    T = A.T.new()
    R, T = (A, T) if onto == "rows" else (T, A)
    degree = Vector.from_scalar(0, R.nrows, datatypes.INT64)
    degree(binary.plus) << out_degree(R)
    return _Side(R, T, degree, R.ncols)


def _blocks(side: _Side) -> list[tuple[int, int]]:
    """Return the first row and the end of each block of rows; the pairs of a block fit in memory."""
    n = side.R.nrows
    # bounds of each row's pairs: its products, and the number of vertices before it
    products = Vector.from_scalar(0, n, datatypes.INT64)
    products(binary.plus) << side.R.mxv(out_degree(side.T), semiring.plus_second[datatypes.INT64])
    bound = np.minimum(products.to_dense(), np.arange(1, n + 1))
    ends = np.cumsum(bound)
    most = max(_BLOCK, int(ends[-1] if n else 0) // _BLOCKS)
    if (space := budget.workspace()) is not None:
        most = max(1, min(most, int(_SHARE * space) // _PAIR_BYTES))
    blocks, first = [], 0
    while first < n:
        done = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + most, side="right")))
        blocks.append((first, last))
        first = last
    return blocks


def _require(side: _Side, blocks: list[tuple[int, int]]) -> None:
    """Raise OutOfMemory if the result does not fit in memory; pairs are counted only if their bound does not fit."""
    degrees = in_degree(side.R)
    bound = int(degrees.ewise_mult(degrees, binary.times).new().reduce(monoid.plus).new().get(0)) // 2
    space = budget.host_available()
    if space is None or min(bound, side.R.nrows**2 // 2) * _RESULT_BYTES <= space:
        return
    pairs = sum(_product(side, block, semiring.any_pair[datatypes.BOOL]).nvals for block in blocks)
    budget.require_host(pairs * _RESULT_BYTES, f"a projection of {pairs:,} pairs (out= writes it in pieces)")


def _product(side: _Side, block: tuple[int, int], op: Any, R: Matrix | None = None) -> Matrix:
    """Multiply a block of rows by all rows up to its last one; return the part below the diagonal."""
    first, last = block
    rows = (side.R if R is None else R)[first:last, :].new()
    # L = tril(R R', -1)
    L: Matrix = rows.mxm(side.T[:, :last].new(), op).new()
    L << L.select(select.tril, first - 1)
    return L


def _pairs(side: _Side, blocks: list[tuple[int, int]], weight: str) -> Iterator[Matrix]:
    """Yield the weighted pairs of the lower triangle, a block of rows at a time."""
    scaled, op = None, semiring.plus_pair[datatypes.INT64]
    if weight == "none":
        op = semiring.any_pair[datatypes.BOOL]
    if weight == "collaboration":
        # R D, D = 1 / (d - 1); a vertex of degree 1 is a common neighbour of no pair
        d = in_degree(side.R).apply(binary.minus, right=1).new(datatypes.FP64)
        D = d.select(select.valuegt, 0).new().apply(unary.minv).new()
        scaled = side.R.ewise_mult(D, binary.second[datatypes.FP64]).new()
        op = semiring.plus_first[datatypes.FP64]
    for first, last in steps(blocks, "blocks"):
        L = _product(side, (first, last), op, scaled)
        if weight == "ratio":
            L = L.apply(binary.truediv, right=side.others).new()
        if weight in ("jaccard", "overlap"):
            # the degrees of i and of j, for each entry (i, j)
            one = side.degree[first:last].new().ewise_mult(L, binary.first).new()
            two = L.ewise_mult(side.degree[:last].new(), binary.second).new()
            if weight == "jaccard":
                two << one.ewise_mult(two, binary.plus)
                two << two.ewise_mult(L, binary.minus)
            else:
                two << one.ewise_mult(two, binary.min)
            L = L.ewise_mult(two, binary.truediv).new()
        yield L.reposition(0, 0, ncols=side.R.nrows).new()


def _write(side: _Side, blocks: list[tuple[int, int]], weight: str, out: str | os.PathLike[str]) -> int:
    """Write the pairs to a file; return their number."""
    n, pairs = side.R.nrows, 0
    with edge_pieces.writing(out, (n, n), None if weight == "none" else _dtype(weight).np_type) as write:
        for (first, _), piece in zip(blocks, _pairs(side, blocks, weight), strict=True):
            i, j, values = piece.to_coo(values=weight != "none")
            write(j.astype(np.int64), i.astype(np.int64) + first, values)
            pairs += j.size
    return pairs
