"""EMOGI's merged and aligned rounds as GraphBLAS statements: one warp a row, pushes only, no caches on the card.

The kernel of products reads the rows with ``gb.config.rows_per_warp = 1``: one warp reads a row, from the line in which
the row begins. A comment above each statement gives its formula, with f for labels and q for the active vertices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sparsezc as gb
from benchmarks.emogi.variants import UNREACHED, Edges, Variant
from sparsezc import binary, dtypes, monoid, semiring
from sparsezc.core.access import forms

BOOL, UINT32 = dtypes.BOOL, dtypes.UINT32


class Statements(Variant):
    """EMOGI's algorithms by the package's own kernels.

    Parameters
    ----------
    csr : Csr
        In host memory that the device reads. The matrix made of it is not marked symmetric: without a transpose each
        product pushes, as EMOGI's kernels do.
    """

    def __init__(self, gpu: Any, edges: Edges, csr: Any) -> None:
        super().__init__(gpu, edges, "aligned")
        self.A = gb.Matrix._from_csr(replace(csr, symmetric=False), "gpu")

    def as_array(self, answer: Any) -> Any:
        missing = {dtypes.INT32: -1, UINT32: UNREACHED}[answer.dtype]
        return self.xp.asarray(answer.to_dense(missing))

    def _rounds(self, q: Any, look: Callable[[Any], None] | None) -> Any:
        """Yield the number of each round while vertices are active; `look` receives these before each round."""
        depth = 0
        with gb.config.set(rows_per_warp=1, head_cache="off", packing="off"):
            while q.nvals:
                if look:
                    look(self.xp.asarray(q.apply(gb.unary.one[BOOL]).new().to_dense(False)))
                yield depth
                depth += 1

    def bfs(self, start: int, look: Callable[[Any], None] | None = None) -> Any:
        A, level, q = self.A, self._vector(dtypes.INT32), self._vector(BOOL)
        q[start] = True
        for depth in self._rounds(q, look):
            # f<q> = d
            level(q.S) << depth
            # q<!f> = q'A
            q(~level.S, replace=True) << q.vxm(A, semiring.any_pair[BOOL])
        return level

    def sssp(self, start: int, look: Callable[[Any], None] | None = None) -> Any:
        A, distance, q = self.A, self._vector(UINT32), self._vector(UINT32)
        t, less = self._vector(UINT32), self._vector(BOOL)
        distance << UNREACHED
        distance[start] = 0
        q[start] = 0
        for _ in self._rounds(q, look):
            # t = q'A
            t << q.vxm(A, semiring.min_plus[UINT32])
            # q<t < f> = t
            less << t.ewise_mult(distance, binary.lt)
            q(less.V, replace=True) << t
            # f<q> = q
            distance(q.S) << q
        return distance

    def cc(self, _start: None = None, look: Callable[[Any], None] | None = None) -> Any:
        A, label, t, fell = self.A, self._vector(UINT32), self._vector(UINT32), self._vector(BOOL)
        label << 0
        label << label.apply(gb.indexunary.rowindex)
        q = label.dup()
        for _ in self._rounds(q, look):
            before = label.dup()
            # t = q'A
            t << q.vxm(A, semiring.min_first[UINT32])
            # f(f) = min(f(f), t), with an entry (i, f(i)) of P for each vertex
            label(binary.min) << t.vxm(forms.pointers(label), semiring.min_first[UINT32])
            # f = min(f, t)
            label(binary.min) << t
            # f = f(f), until no label falls
            total = None
            while total != (total := label.reduce(monoid.plus[dtypes.INT64]).new().value):
                label << forms.pointers(label).mxv(label, semiring.min_second[UINT32])
            # q<f < before> = f
            fell << label.ewise_mult(before, binary.lt)
            q(fell.V, replace=True) << label
        return label

    def _vector(self, dtype: Any) -> Any:
        return forms.vector_beside(self.A, dtype)
