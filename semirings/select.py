"""The select operators: the index-unary operators that decide whether to keep an entry."""

from __future__ import annotations

from sparsezc.semirings import indexunary
from sparsezc.semirings.algebra.operators import SelectOp
from sparsezc.semirings.algebra.select_by import column as column
from sparsezc.semirings.algebra.select_by import index as index
from sparsezc.semirings.algebra.select_by import row as row
from sparsezc.semirings.algebra.select_by import value as value

tril = SelectOp.of(indexunary.tril)
triu = SelectOp.of(indexunary.triu)
diag = SelectOp.of(indexunary.diag)
offdiag = SelectOp.of(indexunary.offdiag)
rowle = SelectOp.of(indexunary.rowle)
rowgt = SelectOp.of(indexunary.rowgt)
colle = SelectOp.of(indexunary.colle)
colgt = SelectOp.of(indexunary.colgt)
valueeq = SelectOp.of(indexunary.valueeq)
valuene = SelectOp.of(indexunary.valuene)
valuegt = SelectOp.of(indexunary.valuegt)
valuege = SelectOp.of(indexunary.valuege)
valuelt = SelectOp.of(indexunary.valuelt)
valuele = SelectOp.of(indexunary.valuele)

# A vector's index is its row
indexle = rowle
indexgt = rowgt

from_string = SelectOp.from_string
register_anonymous = SelectOp.register_anonymous
register_new = SelectOp.register_new
