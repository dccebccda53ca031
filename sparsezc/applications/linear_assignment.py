"""Linear assignment: a column for each row, of least total cost."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check as graphs
from sparsezc.applications import _check
from sparsezc.core.access import forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import DimensionMismatch, DomainMismatch, InvalidValue, maker
from sparsezc.semirings import binary, indexunary, monoid, select, semiring, unary
from sparsezc.semirings.types import datatypes

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_SHARE = 1e-3  # default least bid for costs that are not integers, as a share of their range
_LARGE = 2.0**500  # larger costs are divided by this: prices reach (m + 1) times their range, and must stay finite


def linear_assignment(
    C: Matrix, *, maximize: bool = False, absent: float | None = None, method: str = "exact", eps: float | None = None
) -> Vector:
    """Assign a different column to each row so that the sum of the costs is least.

    Parameters
    ----------
    C : Matrix, shape (m, n), m <= n, any real dtype
        The costs. Absent entries cannot be chosen, unless `absent` is given.
    maximize : bool
        Maximise the sum: the values are benefits.
    absent : float, optional
        The cost of every absent entry, no better than that of any present one. No entries are formed.
    method : {"exact", "auction"}
        SciPy's shortest augmenting paths on the host, or Bertsekas' auction, in which all rows without a column bid at
        once.
    eps : float, optional
        The least bid of the auction, above 0: the sum is within m * `eps` of the optimum. By default 1 / (m + 1) for
        integers, which gives the optimum, else a thousandth of the range of the costs. The default is larger if FP64
        would round it away in prices, which reach (m + 1) times that range.

    Returns
    -------
    Vector of INT64, size m
        The column of each row.

    Raises
    ------
    InvalidValue
        There is no assignment of all rows; a cost is NaN, infinite, or an integer that FP64 does not hold exactly;
        `absent` is one of these, or better than a cost; `method` is neither of the two; or `eps` is not above 0 or
        rounded away in prices.
    DimensionMismatch
        There are more rows than columns.
    DomainMismatch
        `C` is not a Matrix, or is complex.

    Notes
    -----
    The auction, with b the benefits, p the prices, 0 at first, and q the rows without a column::

        V = diag(q) b - p
        j(i) = argmax V(i, :)                       with v(i), w(i) the best and the second best value
        bid(i) = p(j(i)) + v(i) - w(i) + eps
        each column goes to its highest bidder, whose bid is its new price; the row that had it loses it

    With `absent` a row may also remain without a column, for that benefit; such rows get the columns that are left.

    Source: D. Crouse, On implementing 2D rectangular assignment algorithms, IEEE Trans. Aerospace and Electronic
    Systems 52, 2016, doi:10.1109/TAES.2016.140952; D. Bertsekas, The auction algorithm: a distributed relaxation
    method for the assignment problem, Annals of Operations Research 14, 1988, doi:10.1007/BF02186476.

    Examples
    --------
    >>> import sparsezc as gb
    >>> C = gb.Matrix.from_dense([[4, 1, 3], [2, 0, 5], [3, 2, 2]])
    >>> gb.applications.linear_assignment(C).to_dense().tolist()
    [1, 0, 2]
    """
    if not isinstance(C, Matrix):
        raise DomainMismatch(f"C is a {type(C).__name__}; a Matrix is needed{maker(C, 'C')}")
    _check.one_of(method, "method", ("exact", "auction"))
    m, n = C.shape
    if m > n:
        raise DimensionMismatch(f"C is {m} x {n}; at least as many columns as rows are needed")
    _exactly(_check.real(C, "C"))
    b = C.dup(datatypes.FP64)
    if not (is_finite := b.apply(unary.isfinite).new()).reduce_scalar(monoid.land).new().get(True):
        found = graphs.first_of(b, is_finite.apply(unary.lnot).new())
        raise InvalidValue(f"C has costs that are NaN or infinite, first {found}; finite numbers are needed")
    if not maximize:
        b << b.apply(binary.times, right=-1.0)
    spread = _spread(b)
    idle = None if absent is None else _check.finite_number(absent, "absent") * (1 if maximize else -1)
    if idle is not None:
        if not idle <= spread[0]:
            raise InvalidValue(f"absent is {absent}, and C has a value that is worse; one no better than any is needed")
        spread = (idle, max(idle, spread[1]))
    step, unit = eps if eps is None else _check.above(eps, "eps", 0), 1.0
    if method == "auction" and b.nvals and max(map(abs, spread)) > _LARGE:
        unit = 1 / _LARGE
        b << b.apply(binary.times, right=unit)
        spread = spread[0] * unit, spread[1] * unit
        idle, step = (None if x is None else x * unit for x in (idle, step))
    if step is None:
        whole = C.dtype.is_integer and (absent is None or float(absent).is_integer())
        step = unit / (m + 1) if whole else _SHARE * (spread[1] - spread[0] or 1.0)
    if method == "auction" and b.nvals:
        # bids are differences of values: subtracting the largest from all keeps more of their bits
        b << b.apply(binary.minus, right=spread[1])
        idle = None if idle is None else idle - spread[1]
        least = 4 * float(np.spacing((m + 1) * (spread[1] - spread[0])))  # the largest price's last bits
        if eps is not None and step < least:
            raise InvalidValue(
                f"eps is {eps}; at least {least / unit:.3g} is needed, else FP64 rounds it away in the prices of C"
            )
        step = max(step, least)
    if method == "auction" and idle is None:
        # refuse a matrix without an assignment, as its auction would never end
        _exact(b.apply(binary.times, right=0.0).new(), None)
    chosen = _exact(b, idle) if method == "exact" else _auction(b, idle, step)
    left = np.setdiff1d(np.arange(n), chosen)
    without = chosen < 0
    chosen[without] = left[: int(without.sum())]
    return Vector.from_dense(chosen)


def assigned(b: Matrix, method: str, eps: float) -> Ints:
    """Return each row's column for the largest sum of benefits, all > 0; -1 for rows that may have any other column."""
    return _exact(b, 0.0) if method == "exact" else _auction(b, 0.0, eps)


def _exactly(C: Matrix) -> None:
    """Refuse integers that FP64 does not hold exactly, as rounding could change the optimum."""
    if not C.dtype.is_integer or not C.nvals:
        return
    least, most = (C.reduce_scalar(op).new().get() for op in (monoid.min, monoid.max))
    if least >= -(2**53) and most <= 2**53:
        return
    values = forms.whole(C, "a search for values that FP64 does not hold").to_coo()[2]
    size = np.abs(values).astype(np.uint64)  # right for the least INT64, too, whose absolute value wraps to itself
    large = np.flatnonzero(size > 2**53)
    lowest = size[large] & (~size[large] + np.uint64(1))  # the lowest bit that is 1
    if (wrong := large[size[large] // lowest > 2**53]).size:
        raise InvalidValue(
            f"C has the value {values[wrong[0]]}, which FP64 does not hold exactly; integers up to 2**53 are needed"
        )


def _spread(b: Matrix) -> tuple[float, float]:
    """Return the least and the largest benefit; infinity and -infinity if there are no entries."""
    if b.nvals == 0:
        return np.inf, -np.inf
    return b.reduce_scalar(monoid.min).new().get(), b.reduce_scalar(monoid.max).new().get()


def _exact(b: Matrix, idle: float | None) -> Ints:
    """Return the column of each row for the largest sum of benefits.

    With `idle`, the benefit of a row without a column, no better than any other benefit, such rows have -1.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    m, n = b.shape
    width = n
    i, j, value = forms.whole(b, "exact assignment").to_coo()
    i, j = i.astype(np.int64), j.astype(np.int64)
    if idle is not None:  # a column of its own for each row to remain without one
        width = n + m
        i, j, value = np.r_[i, np.arange(m)], np.r_[j, n + np.arange(m)], np.r_[value, np.full(m, idle)]
    # A number added to a whole row changes no assignment, nor does a factor. Subtracting each row's best, not the best
    # of all, keeps differences from being rounded away, and scaling by a power of two changes no bit.
    value = np.ldexp(value, -np.frexp(np.abs(value).max(initial=0.0))[1])
    best = np.full(m, -np.inf)
    np.maximum.at(best, i, value)
    # the first best entries of rows: if no two are in one column, they are the assignment
    at = np.flatnonzero(value == best[i])[::-1]
    first = np.full(m, -1)
    first[i[at]] = j[at]
    if np.unique(first[first >= 0]).size == m:
        return np.where(first < n, first, -1)
    cost = np.maximum(best[i] - value, np.finfo(np.float64).tiny)  # SciPy requires nonzero costs
    try:
        found = min_weight_full_bipartite_matching(coo_array((cost, (i, j)), shape=(m, width)).tocsr())[1]
    except ValueError:
        raise InvalidValue("C has no assignment of all rows: its entries leave some without a column") from None
    chosen: Ints = found.astype(np.int64)
    chosen[chosen >= n] = -1
    return chosen


def _auction(b: Matrix, idle: float | None, eps: float) -> Ints:
    """Return the column of each row by the auction, -1 for a row that remains without one, for the benefit `idle`."""
    m, n = b.shape
    owner, column = np.full(n, -1), np.full(m, -1)
    price = np.zeros(n)
    floor = -np.inf if idle is None else idle
    waiting = np.flatnonzero(np.ones(m, bool))
    most = b.reduce_scalar(monoid.max).new().get(0.0) - b.reduce_scalar(monoid.min).new().get(0.0)
    while waiting.size:
        rows, target, value, second = _best(b, waiting, price)
        bidding = value > floor
        rows, target, value, second = rows[bidding], target[bidding], value[bidding], second[bidding]
        # a row without a second choice bids more than any competitor can
        second = np.maximum(np.where(np.isneginf(second), value - most - eps, second), floor)
        bid = price[target] + value - second + eps
        # the highest bid for a column wins, of equal bids the first row's
        order = np.lexsort((rows, -bid, target))
        first = order[np.r_[True, np.diff(target[order]) > 0]] if order.size else order
        winners, won = rows[first], target[first]
        displaced = owner[won][owner[won] >= 0]
        column[displaced] = -1
        owner[won], column[winners], price[won] = winners, won, bid[first]
        waiting = np.union1d(np.setdiff1d(rows, winners), displaced)
    return column


def _best(b: Matrix, waiting: Ints, price: Floats) -> tuple[Ints, Ints, Floats, Floats]:
    """Return the waiting rows with entries, the columns of their best values, these values, and the second best."""
    q = Vector.from_coo(waiting, True, datatypes.BOOL, size=b.nrows)
    # V = diag(q) b - p
    V = q.diag().mxm(b, semiring.any_second[datatypes.FP64]).new()
    V << V.ewise_mult(Vector.from_dense(price), binary.minus)
    best = V.reduce_rowwise(monoid.max).new()
    # argmax: the smallest column with the best value of V
    at = best.diag().mxm(V, semiring.any_eq).new()
    at << at.select(select.valueeq, True)
    target = at.apply(indexunary.colindex).new(datatypes.INT64).reduce_rowwise(monoid.min).new()
    rows, columns = target.to_coo()
    rows = rows.astype(np.int64)
    top = Matrix.from_coo(rows, columns, True, datatypes.BOOL, nrows=b.nrows, ncols=b.ncols)
    others = V.dup(mask=~top.S).reduce_rowwise(monoid.max).new().to_dense(-np.inf)
    return rows, columns, best.to_coo()[1], others[rows]
