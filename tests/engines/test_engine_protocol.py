"""An engine with only `run` and stores, added by name: the package works on it, and no other code reads its stores."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.config import Config
from sparsezc.exceptions import InvalidValue
from sparsezc.expr import engines
from tests.algorithms.graphs import SMALL, both_ways, matrix
from tests.algorithms.test_engines import DIRECTED, UNDIRECTED

a = gb.algorithms
OTHERS = {
    "bfs": lambda A: a.bfs(A, 0),
    "bfs_parents": lambda A: a.bfs_parents(A, 0),
    "connected_components": a.connected_components,
    "pagerank": a.pagerank,
    "sssp": lambda A: a.sssp(A, 0),
    "triangle_count": lambda A: a.triangle_count(A),
}
#: The methods that only some engines have.
CAPABILITIES = {name for name in dir(engines.Capabilities) if name[0] != "_"}


class Box:
    """A store that only its engine can open."""

    __slots__ = ("content",)

    def __init__(self, content: Any) -> None:
        self.content = content


class Boxed:
    """The CPU engine with its stores in boxes: only the methods that every engine must have."""

    name = "boxed"
    lock = None

    def __init__(self) -> None:
        self.cpu: Any = engines.get("cpu")
        self.ran: list[str] = []

    def opened(self, x: Any) -> Any:
        if not getattr(x, "ndim", 0):
            return x
        if x._transposed:
            return self.opened(x.T).T
        shape = x.shape if x.ndim == 2 else x.size
        return type(x)._from_store(self.cpu, x._store.content, x.dtype, shape)

    def run(self, expression: Any, out: Any, write: Any) -> None:
        self.ran.append(expression.operation)
        if write.mask is not None:
            mask = write.mask
            write = write._replace(mask=type(mask)(self.opened(mask.parent), mask.structure, mask.complement))
        self.cpu.run(expression.with_operands(self.opened), self.opened(out), write)

    def new_matrix(self, dtype: Any, nrows: int, ncols: int) -> Box:
        return Box(self.cpu.new_matrix(dtype, nrows, ncols))

    def new_vector(self, dtype: Any, size: int) -> Box:
        return Box(self.cpu.new_vector(dtype, size))

    def matrix_from_csr(self, csr: Any) -> Box:
        return Box(self.cpu.matrix_from_csr(csr))

    def matrix_to_csr(self, store: Box) -> Any:
        return self.cpu.matrix_to_csr(store.content)

    def vector_from_coo(self, indices: Any, values: Any, dtype: Any, size: int) -> Box:
        return Box(self.cpu.vector_from_coo(indices, values, dtype, size))

    def vector_to_coo(self, store: Box) -> Any:
        return self.cpu.vector_to_coo(store.content)

    def dup(self, store: Box, dtype: Any) -> Box:
        return Box(self.cpu.dup(store.content, dtype))

    def nvals(self, store: Box) -> int:
        return int(self.cpu.nvals(store.content))

    def clear(self, store: Box) -> None:
        self.cpu.clear(store.content)

    def resize(self, store: Box, *shape: int) -> None:
        self.cpu.resize(store.content, *shape)

    def wait(self, store: Box) -> None:
        self.cpu.wait(store.content)


@pytest.fixture
def boxed(monkeypatch: pytest.MonkeyPatch) -> Boxed:
    monkeypatch.setattr(engines.registry, "_known", engines.registry._known.copy())
    monkeypatch.setattr(Config, "engines", {"auto", "cpu", "gpu"})  # only the package's own
    engine = Boxed()
    engines.register("boxed", engine)
    return engine


@pytest.mark.parametrize("name", [*OTHERS, *UNDIRECTED, *DIRECTED])
def test_algorithms(name: str, boxed: Boxed) -> None:
    algorithm = (OTHERS | UNDIRECTED | DIRECTED)[name]
    graph = SMALL["diamonds"] if name in DIRECTED else both_ways(SMALL["diamonds"])
    expected = algorithm(matrix(graph))
    A = matrix(graph).to("boxed")
    assert A._engine is boxed
    found = algorithm(A)
    assert found.isclose(expected) if hasattr(found, "isclose") else found == expected
    assert boxed.ran


def test_loops_that_other_engines_go_through_by_themselves(boxed: Boxed) -> None:
    """Loops outlast the rounds before other engines use `replay` or `replay_buckets`; this engine has neither."""
    n = 60
    A = gb.Matrix.from_coo(np.arange(n - 1), np.arange(1, n), 2, nrows=n, ncols=n)
    B = A.to("boxed")
    assert gb.algorithms.bfs(B, 0).isequal(gb.algorithms.bfs(A, 0))
    assert gb.algorithms.sssp(B, 0, delta=1).isequal(gb.algorithms.sssp(A, 0, delta=1))


def test_new_matrices_lie_on_the_engine_that_is_configured(boxed: Boxed) -> None:
    with gb.config.set(engine="boxed"):
        made = [
            gb.Matrix.from_coo([0, 1], [1, 0], [1.5, 2.5]),
            gb.Matrix.from_csr([0, 1, 2], [1, 0], [1.5, 2.5]),
            gb.Matrix.from_dense([[0.0, 1.0]]),
            gb.Matrix.from_scalar(3, 2, 2),
            gb.io.read("path:5"),
        ]
    assert [A._engine for A in made] == [boxed] * len(made)
    assert "boxed" in repr(made[0])
    assert made[4].isequal(gb.io.read("path:5").to("cpu"))


def test_stores_are_made_read_changed_and_left(boxed: Boxed) -> None:
    A = gb.Matrix.from_coo([0, 0, 2], [1, 2, 0], [1, 2, 3], nrows=3, ncols=3)
    B = A.to("boxed")
    assert B.to_dicts() == A.to_dicts()
    assert B.to_dense(0).tolist() == A.to_dense(0).tolist()
    assert [x.tolist() for x in gb.io.to_csr_arrays(B)] == [x.tolist() for x in gb.io.to_csr_arrays(A)]
    assert [x.tolist() for x in gb.io.to_coo_arrays(B)] == [x.tolist() for x in gb.io.to_coo_arrays(A)]
    assert gb.io.to_array(B, 0).tolist() == gb.io.to_array(A, 0).tolist()
    assert B.bits_per_id == 64
    assert B.dup("FP64").isequal(A.dup("FP64"))
    assert B.to("cpu").isequal(A)
    assert gb.to_graphblas(B).nvals == 3
    assert B.ss.nbytes > 0
    B.resize(2, 3)
    A.resize(2, 3)
    assert B.isequal(A)
    B[1, 1] = 9
    assert B.nvals == 3
    B.clear()
    assert (B.nvals, B.wait().nvals) == (0, 0)


def test_vectors_follow_a_matrix_to_it(boxed: Boxed) -> None:
    A = gb.Matrix.from_coo([0, 0, 2], [1, 2, 0], [1, 2, 3], nrows=3, ncols=3).to("boxed")
    v, w = gb.Vector.from_coo([0, 1, 2], [1, 2, 3]), gb.Vector.from_coo([0, 1], [5, 5], size=3)
    w(v.S, accum=gb.binary.min, replace=True) << A.mxv(v, gb.semiring.min_plus)
    assert w._engine is v._engine is boxed
    assert w.to_dict() == {0: 3, 1: 5, 2: 4}
    assert v.to("boxed") is v
    v(w.S) << w
    assert v.to_dict() == {0: 3, 1: 5, 2: 4}


def test_no_placement_is_its_own(boxed: Boxed) -> None:
    A = gb.Matrix.from_coo([0], [1], nrows=2, ncols=2)
    with pytest.raises(InvalidValue, match="engine 'boxed' has no placement 'stream'"):
        A.to("boxed", placement="stream")
    assert A.to("boxed", placement="host", with_transpose=True)._engine is boxed


def test_names_are_the_engines_own_and_not_taken(boxed: Boxed) -> None:
    with pytest.raises(InvalidValue, match="'gpu' is taken"):
        engines.register("gpu", boxed)
    with pytest.raises(InvalidValue, match="calls itself 'boxed'"):
        engines.register("other", boxed)
    with pytest.raises(TypeError, match="'half' lacks run, new_matrix"):
        engines.register("half", object())  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="'boxed', 'cpu', 'gpu'"):
        gb.config.engine = "other"


def test_a_module_is_asked_for_its_engine(boxed: Boxed) -> None:
    engines.register("theirs", "sparsezc.engines.cpu")
    assert gb.Vector.from_coo([1], [2.0]).to("theirs")._engine is engines.get("cpu")


def test_a_capability_that_no_engine_has_does_nothing(boxed: Boxed) -> None:
    assert len(CAPABILITIES) > 40
    for name in CAPABILITIES:
        assert engines.capability(boxed, name)(1, 2, 3) is None


def test_every_capability_that_is_asked_for_is_declared_and_in_the_docs() -> None:
    package = Path(engines.__file__).parents[2]
    texts = [path.read_text() for path in package.rglob("*.py")]
    asked = {name for text in texts for name in re.findall(r'\b(?:can|capability)\([\w.()\[\]]+, "(\w+)"\)', text)}
    assert {"search", "run_loop", "storage", "shared_step"} <= asked <= CAPABILITIES
    page = (package.parent / "docs/engines.md").read_text().partition("## Optional capabilities")[2]
    listed = re.findall(r"^\| `\w+Capabilities` \|.*\| (.+) \|$", page, re.MULTILINE)
    assert {name for row in listed for name in re.findall(r"`(\w+)`", row)} == CAPABILITIES


def test_engines_that_need_a_device_have_placements(gpu: Any) -> None:
    for name in ("cpu", "gpu"):
        assert engines.needs_device(name) == engines.has_placements(engines.get(name))
