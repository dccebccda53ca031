"""Orientation of undirected edges: from earlier to later vertices, in an order that keeps rows short."""

from __future__ import annotations

from sparsezc.algorithms._degree import out_degree
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import binary, indexunary, select
from sparsezc.semirings.types import datatypes


def by_degree(S: Matrix) -> tuple[Matrix, Matrix]:
    """Split an undirected simple graph into its edges to earlier and those to later vertices; values are undefined.

    With d the degrees, vertices are in the order of r::

        r = d n + i

    In a graph of m edges each vertex has at most sqrt(2 m) later neighbours. Vertices keep their numbers.

    Source: N. Chiba, T. Nishizeki, Arboricity and subgraph listing algorithms, SIAM J. Computing 14, 1985,
    doi:10.1137/0214017.
    """
    n = S.nrows
    # r = d n + i, with very large d clamped so that r fits its type
    r = Vector.from_scalar(0, n, datatypes.INT64)
    r(binary.plus) << out_degree(S)
    r << r.apply(binary.min, right=2**63 // max(n, 1) - 1)
    r << r.apply(binary.times, right=n)
    r(binary.plus) << r.apply(indexunary.rowindex[datatypes.INT64], right=0)
    # E(i, j) = r(i) < r(j)
    ends = S.ewise_mult(r, binary.second[datatypes.INT64]).new()
    E = r.ewise_mult(ends, binary.lt).new()
    return E.select(select.valueeq, False).new(), E.select(select.valuene, False).new()
