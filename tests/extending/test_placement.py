"""A user's placement in one file outside the package: every operation works in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sparsezc as gb
from sparsezc.cli import parser
from sparsezc.engines.gpu.layouts.head_cache import HeadCache
from sparsezc.memory import budget, placement
from tests.extending.ordinary_pages import ORDINARY, OrdinaryBuffer
from tests.ops.cases import MATRIX, SCALAR, VECTOR
from tests.ops.judge import Engine, judge, operands, target

# python-graphblas moved positional operators to `.ss` and warns at their old names, which sparsezc keeps.
# The emulated device's kernels read ordinary memory: few GPUs do, and on the others the CUDA context is lost.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.parametrize("gpu", ["emulated"], indirect=True),
]


@pytest.fixture
def card(gpu: Any) -> Iterator[Any]:
    """Put a device in use and register the placement."""
    gb.placements.register(ORDINARY)
    try:
        yield gpu
    finally:
        del placement.RECORDS["ordinary"]


def put(x: Any) -> Any:
    """Return a matrix in ordinary memory, a vector in device memory, other operands unchanged."""
    dimensions = getattr(x, "ndim", 0)
    return x.to("gpu", placement="ordinary") if dimensions == 2 else x.to("gpu") if dimensions else x


ENGINE = Engine("gpu, ordinary", put, full=False)


@pytest.mark.parametrize(("table", "out"), [(VECTOR, "w"), (MATRIX, "C"), (SCALAR, None)], ids=["w", "C", "s"])
def test_every_operation(table: dict[str, Any], out: str | None, card: Any) -> None:
    """Expressions run by themselves; those of vectors and matrices also write to an output under a mask."""
    for name, make in table.items():
        if name not in ("another vector", "another matrix", "a number", "a scalar"):
            judge(lambda g, o, make=make: make(g, o).new(), operands(1, "INT64", n=9), ENGINE, name)
        if out is not None:

            def statement(g: Any, o: Any, make: Any = make) -> Any:
                into = getattr(o, out)
                target(g, into, o.m if out == "w" else o.M, "structure", "plus", False) << make(g, o)
                return into

            judge(statement, operands(2, "INT64", n=9), ENGINE, (name, "into", out))


def test_its_buffers_hold_matrices_and_results(card: Any) -> None:
    A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [2.0, 3.0, 4.0, 5.0]).to("gpu", placement="ordinary")
    for made in (A, A.T.new(), A.dup(), A.mxm(A, "plus_times").new(), A.reorder([2, 0, 1])):
        assert isinstance(made._store.rows.indices, OrdinaryBuffer)
        assert isinstance(made._store.rows.values, OrdinaryBuffer)
    assert A.to("gpu", placement="hybrid").to("cpu").isequal(A.to("cpu"))


def test_algorithms_run_in_it(card: Any) -> None:
    with gb.config.set(engine="cpu"):
        A = gb.io.read("kron:7", weights="hash:1-255")
    with gb.config.set(packing="on", head_cache="on"):
        B = A.to("gpu", placement="ordinary", with_transpose=True)
        assert gb.algorithms.bfs(B, 1).to("cpu").isequal(gb.algorithms.bfs(A, 1))
        assert gb.algorithms.sssp(B, 1).to("cpu").isclose(gb.algorithms.sssp(A, 1))
        assert gb.algorithms.pagerank(B).to("cpu").isclose(gb.algorithms.pagerank(A), abs_tol=1e-9)
        C = B.compress()
        assert (B._store.placement, C._store.placement) == ("ordinary", "zerocopy")
        assert gb.algorithms.bfs(C, 1).to("cpu").isequal(gb.algorithms.bfs(A, 1))


@pytest.mark.parametrize("beyond", [True, False])
def test_one_with_the_facts_of_another_is_treated_alike(
    beyond: bool, gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of a few ids get heads, unless the placement is `beyond` device memory, as hybrid is."""
    hybrid = placement.RECORDS["hybrid"]
    monkeypatch.setitem(placement.RECORDS, "pooled", hybrid._replace(name="pooled", beyond=beyond))
    A = gb.Matrix.from_coo(range(200), [3 * i % 200 for i in range(200)], range(200), dtype="INT64")
    v = gb.Vector.from_dense(range(200)).to("gpu")
    with gb.config.set(head_cache="on"):
        for name in ("pooled", "hybrid"):
            B = A.to("gpu", placement=name)
            assert B.mxv(v, "plus_second").new().to("cpu").isequal(A.mxv(v.to("cpu"), "plus_second").new())
            has_heads = B._store.rows.layouts[HeadCache].built is not None
            assert has_heads == (name == "pooled" and not beyond)


def test_settings_readers_and_the_command_line_take_its_name(card: Any, tmp_path: Path) -> None:
    edges = tmp_path / "edges.txt"
    edges.write_text("0 1\n1 2\n2 0\n")
    with gb.config.set(placement="ordinary", engine="gpu"):
        assert gb.io.read(edges)._store.placement == "ordinary"
        assert gb.io.read("path:5")._store.placement == "ordinary"
    assert parser().parse_args(["bfs", "path:5", "--placement", "ordinary"]).placement == "ordinary"
    assert budget.needs(ORDINARY, 1000, 10, 100) == (budget.working_bytes(10), 1000)
