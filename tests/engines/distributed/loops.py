"""Compiled loops that ranks on CPUs run over their rows: components, and rounds of PageRank."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

import sparsezc as gb
from sparsezc.engines import distributed
from sparsezc.engines.cpu import compiled_loops
from sparsezc.engines.distributed.loops import rows
from sparsezc.expr import engines

a = gb.algorithms


@contextmanager
def running(expected: bool) -> Iterator[None]:
    """Let loops pay on one rank; check that all ranks run them, or none does."""
    rank, said = distributed.engine().rank, []
    can_run = rows.can_run

    def told(*given: Any) -> bool:
        said.append(can_run(*given))
        return said[-1]

    with patch.object(compiled_loops, "pays", lambda _: rank == 0), patch.object(rows, "can_run", told):
        yield
    assert set(said) == {expected}, said


def _graphs() -> Iterator[gb.Matrix]:
    rng = np.random.default_rng(11)
    for spec in ("kron:9", "urand:8", "path:300"):
        yield gb.io.read(spec)
    for k in range(10):
        n = int(rng.integers(70, 400))
        i, j = rng.integers(0, n, (2, int(rng.integers(n // 8, n))))
        A = gb.Matrix.from_coo(i, j, i * 0 + 1, nrows=n, ncols=n, dup_op="min")
        yield A if k % 2 else A.ewise_add(A.T, gb.monoid.max).new()._known_symmetric(True)


def check_components_of_all_ranks_rows() -> None:
    """Components are right in directed graphs, too, where each edge is stored in one row only."""
    for A in _graphs():
        with engines.stepping(A._engine):
            expected = a.connected_components(A)
        D = A.distribute()
        with running(expected=not _is_split(D)):
            found = a.connected_components(D)
        assert found._engine is distributed.engine()
        assert found.nvals == A.nrows
        assert np.array_equal(found.to_dense(), expected.to_dense())


def _is_split(D: gb.Matrix) -> bool:
    """Return whether a row is so long that it is split among ranks."""
    return D._store.long is not None


def check_pagerank_by_rounds() -> None:
    rng = np.random.default_rng(12)
    A = gb.io.read("kron:9?weights=1-9")
    n, few = A.nrows, rng.random(A.nrows)
    given: list[dict[str, Any]] = [
        {}, {"weighted": True}, {"tol": None, "max_iter": 4},
        {"personalization": gb.Vector.from_dense(few), "dangling": gb.Vector.from_dense(1 - few)},
        {"nstart": gb.Vector.from_dense(few, dtype=gb.dtypes.FP32), "tol": None, "max_iter": 6},
    ]  # fmt: skip
    D = A.distribute()
    for options in given:
        with engines.stepping(A._engine):
            expected = a.pagerank(A, **options)
        with running(expected=True):
            found = a.pagerank(D, **options)
        assert found._engine is distributed.engine()
        assert found.dtype is expected.dtype
        bound = 1e-9 if found.dtype is gb.dtypes.FP64 else 1e-5
        np.testing.assert_allclose(found.to_dense(), expected.to_dense(), rtol=bound)
    told = None
    try:
        a.pagerank(D, max_iter=1, tol=1e-12)
    except gb.exceptions.ConvergenceFailure as error:
        told = str(error)
    assert told is not None
    assert "at most n * tol = " in told
    assert n == found.size


def check_statements_where_loops_cannot_run() -> None:
    """One rank without memory or compiler has all ranks run statements, without an error."""
    engine = distributed.engine()
    D = gb.io.read("kron:9").distribute()
    expected = a.pagerank(D), a.connected_components(D)
    for where, name in ((rows, "has_host"), (compiled_loops, "can_compile")):
        with running(expected=False), patch.object(where, name, lambda *_: engine.rank > 0):
            found = a.pagerank(D), a.connected_components(D)
        assert found[0].isclose(expected[0], rel_tol=1e-9)
        assert found[1].isequal(expected[1])


def check_ranks_on_the_same_processors_share_them() -> None:
    engine = distributed.engine()
    for numbers, share in ((range(12), 12 // engine.size), (range(12 * engine.rank, 12 * engine.rank + 12), 12)):
        with patch.object(rows, "usable", lambda found=tuple(numbers): found), patch.dict(os.environ):
            os.environ.pop("OMP_NUM_THREADS", None)
            assert rows._threads(engine) == share
