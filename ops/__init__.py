"""The operations: one function each.

A function checks operands, determines the result's type and size, and returns an
:class:`~sparsezc.expr.expression.Expression` that has not run.
Errors and their messages are raised only here; engines do not check again. :func:`sample_hops` runs at once, as its
result is no matrix.

The methods of Matrix and Vector call these functions, so ``A.mxv(v, op)`` and ``ops.mxv(A, v, op)`` are the same.

>>> import sparsezc as gb
>>> from sparsezc import ops
>>> A = gb.Matrix.from_coo([0, 1], [1, 0], [2, 3])
>>> ops.reduce_rowwise(A, gb.monoid.plus).new().to_dense()
array([2, 3])
"""

# PyPI has another package named ``ops``; under that name this folder would also be a second copy of every function.
if __name__ != "sparsezc.ops":
    raise ImportError(f"this folder imports as sparsezc.ops only, not as {__name__}: import sparsezc.ops")

from sparsezc.expr import infix
from sparsezc.ops import overloads
from sparsezc.ops.apply import apply, map_rows, row_function
from sparsezc.ops.assign import assign
from sparsezc.ops.diag import diag, setdiag
from sparsezc.ops.ewise import ewise_add, ewise_mult, ewise_union
from sparsezc.ops.extract import extract, values_of, with_values
from sparsezc.ops.labels import best_label, join_labels, label_weight, move_labels, sum_by_labels
from sparsezc.ops.mxm import distances, kronecker, mxm, net_flow, power, solve
from sparsezc.ops.mxv import best_column, color_rows, count_corners, inner, mxv, outer, vxm
from sparsezc.ops.panels import sampled_mxm, two_way_mxm, two_way_sampled_mxm
from sparsezc.ops.reduce import reduce, reduce_columnwise, reduce_rowwise
from sparsezc.ops.reposition import reposition, stack, transpose
from sparsezc.ops.sampling import sample_hops, walk
from sparsezc.ops.select import argsort, select, selectk

__all__ = [
    "apply", "argsort", "assign", "best_column", "best_label", "color_rows", "count_corners", "diag", "distances",
    "ewise_add", "ewise_mult", "ewise_union", "extract", "inner", "join_labels", "kronecker", "label_weight",
    "map_rows", "move_labels", "mxm", "mxv", "net_flow", "outer", "power", "reduce", "reduce_columnwise",
    "reduce_rowwise", "reposition", "row_function", "sample_hops", "sampled_mxm", "select", "selectk", "setdiag",
    "solve", "stack", "sum_by_labels", "transpose", "two_way_mxm", "two_way_sampled_mxm", "values_of", "vxm", "walk",
    "with_values",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


infix.define(overloads)
