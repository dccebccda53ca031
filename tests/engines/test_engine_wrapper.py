"""Wrappers of engines: one thread's calls of an engine reach the wrapper for a while, and the engine is unchanged."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.core import engine_loops
from sparsezc.expr import engines


class Listing(engines.EngineWrapper):
    """A wrapper that records statements, capabilities and reads of vectors."""

    def __init__(self, engine: Any) -> None:
        super().__init__(engine)
        self.seen: list[str] = []

    def run(self, expression: Any, out: Any, write: Any) -> None:
        self.seen.append(expression.operation)
        self.engine.run(expression, out, write)

    def row_lengths(self, store: Any) -> Any:
        self.seen.append("row_lengths")
        return np.diff(self.engine.matrix_to_csr(store).indptr)  # the CPU engine lacks the method

    def vector_to_coo(self, store: Any) -> Any:
        self.seen.append("read")
        return self.engine.vector_to_coo(store)


@pytest.fixture
def A() -> gb.Matrix:
    return gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1, 2, 3], nrows=3, ncols=3)


def test_it_runs_what_it_has_and_hands_on_all_else(A: gb.Matrix) -> None:
    x = gb.Vector.from_dense([1, 2, 3])
    with engines.through(Listing(A._engine)) as listing:
        w = A.mxv(x).new()
        assert w.to_dense().tolist() == [2, 6, 3]
        lengths = engine_loops.row_lengths(A)
        assert lengths is not None
        assert lengths.tolist() == [1, 1, 1]
        assert A.nvals == 3
    assert listing.seen == ["mxv", "read", "row_lengths"]
    assert A.mxv(x).new().nvals == 3
    assert len(listing.seen) == 3
    assert w._engine is A._engine is engines.get("cpu")


def test_what_waits_for_a_vector_s_engine_is_seen(A: gb.Matrix) -> None:
    v, w = gb.Vector(int, 3), gb.Vector.from_scalar(2, 3)
    v[0] = 5
    with engines.through(Listing(A._engine)) as listing:
        assert v.vxm(A).new().to_dict() == {1: 5}
        assert w.vxm(A).new().nvals == 3
    assert listing.seen == ["assign", "vxm", "read", "assign", "vxm"]


def test_the_engine_stays_as_it_is(A: gb.Matrix) -> None:
    before = dict(vars(A._engine))
    with engines.stepping(A._engine), engines.through(Listing(A._engine)):
        gb.algorithms.bfs(A, 0)
        assert vars(A._engine) == before


def test_other_threads_ask_the_engine_itself(A: gb.Matrix) -> None:
    found = []
    with engines.through(Listing(A._engine)) as listing, engines.stepping(A._engine):
        thread = threading.Thread(
            target=lambda: found.append((engine_loops.runs_loops(A), A.apply("ainv").new().nvals))
        )
        thread.start()
        thread.join()
        assert not engine_loops.runs_loops(A)
    assert found == [(True, 3)]
    assert listing.seen == []


def test_the_inner_wrapper_replaces_the_outer_one_until_it_ends(A: gb.Matrix) -> None:
    with engines.through(Listing(A._engine)) as outer:
        inner = Listing(A._engine)
        with pytest.raises(gb.exceptions.DimensionMismatch), engines.through(inner):
            A.apply("ainv").new().mxv(gb.Vector(int, 4))
        A.T.new()
    assert (inner.seen, outer.seen) == (["apply"], ["transpose"])


def test_an_engine_that_steps_has_no_loop(A: gb.Matrix, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = gb.algorithms.connected_components(A)
    assert engines.can(A._engine, "run_loop")
    with engines.stepping(A._engine) as stepping:
        for name in ("run_loop", "run_arrays", "search", "components"):
            assert not engines.can(A._engine, name)
            with pytest.raises(AttributeError, match=f"cpu runs statements here, not {name}"):
                getattr(stepping, name)
        assert engines.can(A._engine, "adopt_csr")
        assert gb.algorithms.connected_components(A).isequal(expected)
    assert engines.can(A._engine, "run_loop")
