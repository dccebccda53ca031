"""Complex numbers: the operators that accept FC32 and FC64, and their result types.

The operators' own lines list real types; this module adds complex types to those that have them in python-graphblas.
Their NumPy functions and CUDA expressions are the same; complex.cuh defines the functions these call on complex
numbers.
"""

from __future__ import annotations

from types import ModuleType

from sparsezc.semirings.algebra.operators import Operator
from sparsezc.semirings.types.datatypes import BOOL, COMPLEX, FC64, INT64
from sparsezc.semirings.types.domains import COMPLEX_ITSELF as SAME
from sparsezc.semirings.types.domains import COMPLEX_PARTS as PART
from sparsezc.semirings.types.domains import Domain

__all__ = ["extend"]

TEST: Domain = {t: (t, BOOL) for t in COMPLEX}
TRUTH: Domain = dict.fromkeys(COMPLEX, (BOOL, BOOL))

_UNARY = """
acos acosh ainv asin asinh atan atanh ceil cos cosh exp exp2 expm1 floor identity log log10 log1p log2 minv one round
signum sin sinh sqrt tan tanh trunc
"""
_BINARY = "any cdiv first iseq isne minus pair plus pow rdiv rminus rpow rtruediv second times truediv"
_WIDE = "sum_of_squares sum_of_inverses hypot harmonic_mean logaddexp logaddexp2"
_PRODUCTS = "cdiv first minus pair plus rdiv rminus rtruediv second times truediv"

TABLE: dict[str, dict[str, Domain]] = {
    "unary": {
        **dict.fromkeys(_UNARY.split(), SAME),
        "abs": PART,
        **dict.fromkeys(("isfinite", "isinf", "isnan"), TEST),
    },
    "binary": {**dict.fromkeys(_BINARY.split(), SAME), "absfirst": PART, "abssecond": PART, "eq": TEST, "ne": TEST},
    "indexunary": {"valueeq": TEST, "valuene": TEST},
    "select": {"valueeq": TEST, "valuene": TEST},
    "monoid": {"any": SAME, "plus": SAME, "times": SAME},
    "semiring": {
        **{f"{add}_{multiply}": SAME for add in ("any", "plus", "times") for multiply in _PRODUCTS.split()},
        **{f"{add}_{part}": PART for add in ("max", "plus") for part in ("absfirst", "abssecond")},
        **{f"{add}_{part}": TRUTH for add in ("eq", "land", "lor", "lxor") for part in ("first", "pair", "second")},
        "plus_pow": SAME,
        "plus_rpow": SAME,
        **dict.fromkeys(("max_pair", "min_pair"), dict.fromkeys(COMPLEX, (INT64, INT64))),
        **{f"{add}_{test}": TEST for add in ("any", "eq", "land", "lor", "lxor") for test in ("eq", "ne")},
    },
    "agg": {
        **dict.fromkeys(["any_value", "count", "exists", "first", "last", "prod", "sum"], SAME),
        **dict.fromkeys(_WIDE.split(), dict.fromkeys(COMPLEX, (FC64, FC64))),
        **dict.fromkeys(["mean", "varp", "vars", "stdp", "stds", "geometric_mean", "root_mean_square"], SAME),
        **dict.fromkeys(("L1norm", "Linfnorm"), PART),
        **dict.fromkeys(["first_index", "last_index"], dict.fromkeys(COMPLEX, (INT64, INT64))),
    },
}


def extend(*namespaces: ModuleType) -> None:
    """Add complex types to the operators of namespaces."""
    for namespace in namespaces:
        for name, domain in TABLE[namespace.__name__.rpartition(".")[2]].items():
            op: Operator = vars(namespace)[name]
            op._extend(domain)
