"""The aggregators, by python-graphblas's names: ``v.reduce(agg.mean)``, ``A.reduce_rowwise(agg.stdp)``.

One line defines one by a recipe. Aggregators read the stored entries: a missing entry is neither zero nor counted, and
an operand without entries has no result.
``first``, ``last`` and positions follow ascending indices. The sums for a mean, a variance or a root are computed in
FP64 for every type, so they do not wrap.

>>> import sparsezc as gb
>>> v = gb.Vector.from_coo([0, 2, 3], [1, 2, 6])
>>> v.reduce(gb.agg.mean).new().value, v.reduce(gb.agg.ss.argmax).new().value, v.reduce("sum").new().value
(3.0, 3, 9)
"""

from __future__ import annotations

import numpy as np

from sparsezc.semirings import binary, monoid, semiring, unary
from sparsezc.semirings.algebra.aggregators import Aggregator, Entries, Recipe, Result
from sparsezc.semirings.algebra.aggregators import TypedAggregator as TypedAggregator
from sparsezc.semirings.algebra.operators import UnaryOp
from sparsezc.semirings.algebra.structures import Monoid, Semiring
from sparsezc.semirings.types.datatypes import BOOL, COMPLEX, FC64, FLOATS, FP64, INT64, INTEGERS, UINT64, DataType
from sparsezc.semirings.types.domains import EVERY, NUMBERS, QUOTIENT, returning

_WIDE = returning(FP64, INTEGERS + FLOATS)
_SQUARES = returning(INT64, INTEGERS) | returning(FP64, (UINT64, *FLOATS))
_INDEX = returning(INT64)
_COUNT = EVERY | returning(INT64, (BOOL,))


def _count(a: Entries) -> Result:
    return a.weigh(semiring.plus_pair[INT64], 1)


def _counted(meets_zero: Semiring) -> Recipe:
    """Count the entries by comparison with 0, as INT64, which wraps in a narrow type where floats would saturate."""
    return lambda a: a.weigh(meets_zero[FP64], 0).apply(unary.identity[INT64])


def _wide(a: Entries) -> DataType:
    """Return the type in which means are computed."""
    return FC64 if a.dtype in COMPLEX else FP64


def _squares(a: Entries) -> Result:
    return _squared(a) if a.dtype in COMPLEX else a.weigh(semiring.plus_pow[a.dtype, INT64], 2)


def _total(a: Entries) -> Result:
    return a.fold(monoid.plus[_wide(a)])


def _ratio(above: Recipe, below: Recipe) -> Recipe:
    return lambda a: above(a).combine(binary.truediv[_wide(a)], below(a))


def _squared(a: Entries) -> Result:
    return a.weigh(semiring.plus_pow[_wide(a)], 2)


def _inverses(a: Entries) -> Result:
    return a.weigh(semiring.plus_pow[_wide(a)], -1.0)


_mean = _ratio(_total, _count)


def _deviation(a: Entries) -> tuple[Result, Result]:
    """Return the sum of squared distances from the mean, and the count."""
    distances = a.against(semiring.any_rminus[_wide(a)], _mean(a))
    return _squared(distances), _count(a)


def _varp(a: Entries) -> Result:
    squares, count = _deviation(a)
    return squares.combine(binary.truediv[_wide(a)], count)


def _vars(a: Entries) -> Result:
    squares, count = _deviation(a)
    ones = count.combine(binary.truediv[FP64], count)
    return squares.combine(binary.truediv[_wide(a)], count.combine(binary.minus[FP64], ones))


def _log_of_sum(power: UnaryOp, log: UnaryOp) -> Recipe:
    """Return the logarithm of the sum of powers, with the largest entry factored out so that FP64 does not overflow."""
    most = float(np.finfo(np.float64).max)

    def recipe(a: Entries) -> Result:
        if a.dtype in COMPLEX:  # complex numbers have no order
            return a.apply(power[FC64]).fold(monoid.plus[FC64]).apply(log[FC64])
        largest = a.fold(monoid.max[FP64])
        # Infinity minus infinity is NaN, so the largest entry is limited to finite numbers.
        largest = largest.apply(binary.min[FP64], most).apply(binary.max[FP64], -most)
        powers = a.against(semiring.any_rminus[FP64], largest).apply(power[FP64])
        return powers.fold(monoid.plus[FP64]).apply(log[FP64]).combine(binary.plus[FP64], largest)

    return recipe


def _then(recipe: Recipe, function: UnaryOp) -> Recipe:
    return lambda a: recipe(a).apply(function[_wide(a)])


def _place(chosen: Monoid | None = None, *, last: bool = False) -> Recipe:
    if chosen is None:
        return lambda a: a.places(None, last)
    return lambda a: a.places(lambda b: b.fold(chosen[b.dtype]), last)


# One operator's fold
sum = Aggregator("sum", monoid.plus)
prod = Aggregator("prod", monoid.times)
all = Aggregator("all", monoid.land)
any = Aggregator("any", monoid.lor)
min = Aggregator("min", monoid.min)
max = Aggregator("max", monoid.max)
any_value = Aggregator("any_value", monoid.any)
bitwise_all = Aggregator("bitwise_all", monoid.band)
bitwise_any = Aggregator("bitwise_any", monoid.bor)

# Counts
count = Aggregator("count", _count, domain=_COUNT, counts=True)
count_nonzero = Aggregator("count_nonzero", _counted(semiring.plus_isne), domain=_COUNT, counts=True)
count_zero = Aggregator("count_zero", _counted(semiring.plus_iseq), domain=_COUNT, counts=True)
exists = Aggregator("exists", lambda a: a.weigh(semiring.any_pair[INT64], 1), domain=EVERY, counts=True)

# Sums of functions of the entries
sum_of_squares = Aggregator("sum_of_squares", _squares, domain=_SQUARES)
sum_of_inverses = Aggregator("sum_of_inverses", _inverses, domain=_WIDE)
hypot = Aggregator("hypot", _then(_squared, unary.sqrt), domain=_WIDE)
logaddexp = Aggregator("logaddexp", _log_of_sum(unary.exp, unary.log), domain=_WIDE)
logaddexp2 = Aggregator("logaddexp2", _log_of_sum(unary.exp2, unary.log2), domain=_WIDE)
L0norm = count_nonzero
L1norm = Aggregator("L1norm", lambda a: a.weigh(semiring.plus_absfirst[a.dtype], 0), domain=NUMBERS)
L2norm = hypot
Linfnorm = Aggregator("Linfnorm", lambda a: a.weigh(semiring.max_absfirst[a.dtype], 0), domain=EVERY)

# Means and deviations
mean = Aggregator("mean", _mean, domain=QUOTIENT)
peak_to_peak = Aggregator(
    "peak_to_peak",
    lambda a: a.fold(monoid.max[a.dtype]).combine(binary.minus[a.dtype], a.fold(monoid.min[a.dtype])),
    domain=EVERY,
)
varp = Aggregator("varp", _varp, domain=QUOTIENT)
vars = Aggregator("vars", _vars, domain=QUOTIENT)
stdp = Aggregator("stdp", _then(_varp, unary.sqrt), domain=QUOTIENT)
stds = Aggregator("stds", _then(_vars, unary.sqrt), domain=QUOTIENT)
geometric_mean = Aggregator(
    "geometric_mean", _then(lambda a: _mean(a.apply(unary.log[_wide(a)])), unary.exp), domain=QUOTIENT
)
harmonic_mean = Aggregator("harmonic_mean", _ratio(_count, _inverses), domain=_WIDE)
root_mean_square = Aggregator("root_mean_square", _then(_ratio(_squared, _count), unary.sqrt), domain=QUOTIENT)

# Positions, and entries at positions
first = Aggregator("first", lambda a: a.value_at(a.places(None, False)), domain=EVERY)
last = Aggregator("last", lambda a: a.value_at(a.places(None, True)), domain=EVERY)
first_index = Aggregator("first_index", _place(), domain=_INDEX, of_vectors=True)
last_index = Aggregator("last_index", _place(last=True), domain=_INDEX, of_vectors=True)
argmin = Aggregator("argmin", _place(monoid.min), domain=_INDEX, of_vectors=True)
argmax = Aggregator("argmax", _place(monoid.max), domain=_INDEX, of_vectors=True)

from_string = Aggregator.from_string

# Imported last: it takes its names from this module
from sparsezc.semirings import agg_ss  # noqa: E402

ss = agg_ss
