# ruff: noqa: E501  -- one operator, one line; a lambda takes all operands and may ignore some
"""The index-unary operators, by python-graphblas's names: ``z = f(x, i, j, thunk)``. One line defines one.

In CUDA ``x`` is the entry, ``i`` and ``j`` its row and column (a vector's index is its row, its column is 0), ``y`` the thunk.
"""

from __future__ import annotations

from sparsezc.semirings.algebra.operators import IndexUnaryOp
from sparsezc.semirings.types.domains import DIAGINDEX, INDEX, POSITION_TEST, TO_BOOL

# fmt: off
# Positions plus the thunk
rowindex = IndexUnaryOp("rowindex", numpy=lambda x, i, j, y: i + y, cuda="i + y", domain=INDEX)
colindex = IndexUnaryOp("colindex", numpy=lambda x, i, j, y: j + y, cuda="j + y", domain=INDEX)
diagindex = IndexUnaryOp("diagindex", numpy=lambda x, i, j, y: j - (i + y), cuda="j - (i + y)", domain=DIAGINDEX)

# Tests of positions
tril = IndexUnaryOp("tril", numpy=lambda x, i, j, y: j <= i + y, cuda="j <= i + y", domain=POSITION_TEST)
triu = IndexUnaryOp("triu", numpy=lambda x, i, j, y: j >= i + y, cuda="j >= i + y", domain=POSITION_TEST)
diag = IndexUnaryOp("diag", numpy=lambda x, i, j, y: j == i + y, cuda="j == i + y", domain=POSITION_TEST)
offdiag = IndexUnaryOp("offdiag", numpy=lambda x, i, j, y: j != i + y, cuda="j != i + y", domain=POSITION_TEST)
rowle = IndexUnaryOp("rowle", numpy=lambda x, i, j, y: i <= y, cuda="i <= y", domain=POSITION_TEST)
rowgt = IndexUnaryOp("rowgt", numpy=lambda x, i, j, y: i > y, cuda="i > y", domain=POSITION_TEST)
colle = IndexUnaryOp("colle", numpy=lambda x, i, j, y: j <= y, cuda="j <= y", domain=POSITION_TEST)
colgt = IndexUnaryOp("colgt", numpy=lambda x, i, j, y: j > y, cuda="j > y", domain=POSITION_TEST)

# Tests of values
valueeq = IndexUnaryOp("valueeq", numpy=lambda x, i, j, y: x == y, cuda="x == y", domain=TO_BOOL)
valuene = IndexUnaryOp("valuene", numpy=lambda x, i, j, y: x != y, cuda="x != y", domain=TO_BOOL)
valuegt = IndexUnaryOp("valuegt", numpy=lambda x, i, j, y: x > y, cuda="x > y", domain=TO_BOOL)
valuege = IndexUnaryOp("valuege", numpy=lambda x, i, j, y: x >= y, cuda="x >= y", domain=TO_BOOL)
valuelt = IndexUnaryOp("valuelt", numpy=lambda x, i, j, y: x < y, cuda="x < y", domain=TO_BOOL)
valuele = IndexUnaryOp("valuele", numpy=lambda x, i, j, y: x <= y, cuda="x <= y", domain=TO_BOOL)

# A vector's index is its row
index = rowindex
indexle = rowle
indexgt = rowgt

from_string = IndexUnaryOp.from_string
register_anonymous = IndexUnaryOp.register_anonymous
register_new = IndexUnaryOp.register_new
