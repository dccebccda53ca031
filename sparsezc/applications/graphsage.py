"""GraphSAGE: embeddings of vertices from features of sampled neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc import ops
from sparsezc.algorithms import _check as graphs
from sparsezc.applications import _check
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import InvalidValue
from sparsezc.memory import budget
from sparsezc.ops.select import random_seed
from sparsezc.semirings import binary, monoid, select, semiring, unary
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import steps

_BATCH = 1 << 20  # vertices computed at a time


def graphsage(
    A: Matrix,
    X: Any,
    W1: Any,
    W2: Any,
    children: Any = 10,
    batch: Any = _BATCH,
    seed: int | None = None,
) -> Matrix:
    """Compute embeddings of vertices by two layers of means over sampled neighbours.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: row i has the neighbours of i.
    X : Matrix or array, shape (n, F)
        Features, a row for each vertex.
    W1 : Matrix or array, shape (2 F, d1)
        Weights of the first layer: F rows for a vertex's own features, then F rows for the mean of its neighbours'.
    W2 : Matrix or array, shape (2 d1, d)
        Weights of the second layer, likewise.
    children : int or pair of int
        Neighbours sampled for each vertex, at least 1: one number for both layers, or one for each. Of a vertex with
        fewer neighbours all are taken; a vertex without neighbours is its own.
    batch : int
        Vertices computed at a time, at least 1. It bounds the memory needed and does not change results.
    seed : int, optional
        From 0 to 2**64 - 1. Chooses the samples. Random by default.

    Returns
    -------
    Matrix of FP64, shape (n, d)
        The embeddings: for each vertex a row of Euclidean norm 1, or of zeros.

    Raises
    ------
    InvalidValue
        Features or weights have NaN or infinite values, or values so large that their products are infinite; `children`
        or `batch` is less than 1; `seed` is outside its range.
    TypeError
        `seed` is not an integer.
    DimensionMismatch
        `A` is not square, `X` does not have `n` rows, or a matrix of weights has another shape.
    OutOfMemory
        The embeddings need more memory than may be used; the message has their size.

    Notes
    -----
    With S_k the sample of layer k, a row for each vertex, c the numbers of entries of its rows, and H = X at first::

        M = S_k H / c                     the mean of the neighbours, over (plus, second)
        H = max([H M] Wk, 0)              H and M beside each other, as in the paper
        H = H / |H|                       by rows

    The sample of layer k is that of :func:`sparsezc.algorithms.sample_neighbors` for all vertices in order, with the
    seed (`seed` + k - 1) mod 2**64.

    Source: W. Hamilton, R. Ying, J. Leskovec, Inductive representation learning on large graphs, NIPS 2017, algorithm
    2, arXiv:1706.02216.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 0), (1, 2)], nrows=4, ncols=4)
    >>> X, W = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 2.0]], [[1.0, 0.0], [0.0, 1.0]]
    >>> H = gb.applications.graphsage(A, X, W + W, W + W, seed=1)
    >>> H[3, :].new().to_dense().tolist(), H.shape  # vertex 3 has no neighbours and is its own
    ([0.0, 1.0], (4, 2))
    """
    n = graphs.adjacency(A)
    H = _check.table_beside(A, X, "X", n)
    first_layer = _weights(W1, "W1", 2 * H.ncols)
    second_layer = _weights(W2, "W2", 2 * first_layer.shape[1])
    counts = _counts(children)
    size = graphs.count(batch, "batch", 1)
    first = random_seed(seed, "graphsage")
    if n == 0:
        return Matrix(datatypes.FP64, 0, second_layer.shape[1])
    widths = H.ncols, first_layer.shape[1], second_layer.shape[1]
    # all layers, and both halves of a layer for a batch
    numbers = n * sum(widths) + 2 * min(n, size) * max(widths)
    budget.require_host(8 * numbers, f"graphsage: layers of {' and '.join(map(str, widths))} numbers of {n:,} vertices")
    for number, W in enumerate((first_layer, second_layer)):
        S = _sample(A, counts[number], (first + number) % 2**64)
        Wf, Wa = map(Matrix.from_dense, np.split(W, 2))  # for own features, and for means
        H = _layer(S, H, Wf, Wa, size)
    return H


def _weights(W: Any, name: str, nrows: int) -> NDArray[np.float64]:
    return _check.finite(_check.table(W, name, nrows), name)


def _counts(children: Any) -> tuple[int, int]:
    """Check `children`; return the number of neighbours of each layer."""
    if np.ndim(children) == 0:
        k = graphs.count(children, "children", 1)
        return k, k
    if len(children) != 2:
        raise InvalidValue(f"children has {len(children)} numbers; one for each of the two layers is needed")
    return graphs.count(children[0], "children", 1), graphs.count(children[1], "children", 1)


def _sample(A: Matrix, k: int, seed: int) -> Matrix:
    """Return a sample of the neighbours of every vertex; a vertex without neighbours is its own."""
    picked: Matrix = ops.selectk(A, "random", k, seed=seed).new()
    S = picked.apply(binary.pair[datatypes.BOOL], right=True).new()
    alone = Vector(datatypes.BOOL, A.nrows)
    alone(~S.reduce_rowwise(monoid.any).new().S) << True
    if alone.nvals:
        S(binary.lor) << alone.diag()
    return S


def _layer(S: Matrix, H: Matrix, Wf: Matrix, Wa: Matrix, batch: int) -> Matrix:
    """Compute a layer for all vertices, `batch` of them at a time."""
    if batch >= S.nrows:
        return _embedded(S, H, H, Wf, Wa)
    made: Matrix = Matrix(datatypes.FP64, S.nrows, Wf.ncols)
    for first in steps(range(0, S.nrows, batch), "vertices", total=S.nrows, size=lambda _: batch):
        some = slice(first, min(first + batch, S.nrows))
        made[some, :] << _embedded(S[some, :].new(), H, H[some, :].new(), Wf, Wa)
    return made


def _embedded(S: Matrix, H: Matrix, own: Matrix, Wf: Matrix, Wa: Matrix) -> Matrix:
    """Compute a layer for some vertices; `S` and `own` are their samples and features."""
    # M = S H / c
    M = S.mxm(H, semiring.plus_second[datatypes.FP64]).new()
    c = S.apply(unary.one).new(datatypes.FP64).reduce_rowwise(monoid.plus).new()
    M << c.apply(unary.minv).new().ewise_mult(M, binary.times)
    # H = max([H M] W, 0), which is H Wf + M Wa with the halves of W
    Z = own.mxm(Wf, semiring.plus_times[datatypes.FP64]).new()
    Z(binary.plus) << M.mxm(Wa, semiring.plus_times[datatypes.FP64])
    if not Z.apply(unary.isfinite).new().reduce_scalar(monoid.land).new().get(True):
        raise InvalidValue("X times the weights has infinite values; smaller features or weights are needed")
    Z << Z.apply(binary.max, right=0.0)
    # H = H / |H|
    # first divide by the largest of each row, so that squares neither vanish nor overflow
    largest = Z.reduce_rowwise(monoid.max).new().select(select.valuegt, 0).new()
    scaled = largest.ewise_mult(Z, binary.rtruediv).new()
    Z(scaled.S) << scaled
    length = Z.ewise_mult(Z, binary.times).new().reduce_rowwise(monoid.plus).new().apply(unary.sqrt).new()
    scaled = length.select(select.valuegt, 0).new().apply(unary.minv).new().ewise_mult(Z, binary.times).new()
    Z(scaled.S) << scaled
    return Z
