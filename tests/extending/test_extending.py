"""Extensions in one file outside the package; the package works with them unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc import cli
from sparsezc.config import config
from sparsezc.exceptions import FileFormatError, InvalidValue
from sparsezc.expr import engines
from sparsezc.io import formats
from sparsezc.networkx_backend import dispatch, register
from sparsezc.networkx_backend.graphs import claims
from tests.engines.distributed.algorithms import CALLS, alike, asked_of, graphs, outcome
from tests.extending import flow_hierarchy, nearest_semiring, pairs_format, recording_engine, two_hop

HERE = Path(__file__).parent


def test_each_is_one_file_of_sixty_lines_at_most_on_the_page() -> None:
    files = [path for path in HERE.glob("*.py") if not path.name.startswith(("test_", "__"))]
    assert {path.name: n for path in files if (n := len(path.read_text().splitlines())) > 60} == {}
    assert len(files) == 6
    page = (HERE.parents[1] / "docs/howto/extend.md").read_text()
    assert [path.name for path in files if f"{{literalinclude}} ../../tests/extending/{path.name}" not in page] == []


@pytest.fixture
def semiring() -> Iterator[Any]:
    yield nearest_semiring.register()
    for space in (gb.binary, gb.semiring, gb.op):  # other tests use all registered names
        for name in ("squared_difference", "min_squared_difference"):
            vars(space).pop(name, None)


def dense(A: Any, fill: float) -> Any:
    return np.asarray(A.to_dense(fill))


@pytest.mark.parametrize("engine", ["cpu", "gpu"])
@pytest.mark.parametrize("dtype", ["INT64", "FP32"])
def test_a_semiring(semiring: Any, engine: str, dtype: str, gpu: Any) -> None:
    rng = np.random.default_rng(3)
    a, x = rng.integers(0, 9, (13, 40)), rng.integers(0, 9, 40)
    A = gb.Matrix.from_dense(a, missing_value=0).dup(dtype).to(engine)
    v = gb.Vector.from_dense(x).dup(dtype).to(engine)
    expected = np.where(a > 0, (a - x) ** 2, 10**6).min(axis=1)
    for product in (A.mxv(v, semiring), v.vxm(A.T, "min_squared_difference"), semiring(A @ v)):
        assert product.new().to_dense(10**6).tolist() == expected.tolist()
    w = gb.Vector.from_scalar(5, 13, dtype).to(engine)
    w(gb.Vector.from_coo([1, 2], True, size=13).to(engine).S, accum=gb.binary.plus) << A.mxv(v, semiring)
    assert w.to_dense().tolist() == [5 + e if i in (1, 2) else 5 for i, e in enumerate(expected.tolist())]


@pytest.mark.parametrize("placement", ["host", "device", "zerocopy", "hybrid"])
def test_an_algorithm(placement: str, gpu: Any) -> None:
    import networkx as nx

    G = nx.gnm_random_graph(60, 90, seed=4)
    A = gb.io.from_networkx(G)
    A = A if placement == "host" else A.to("gpu", placement=placement)
    lengths = dict(nx.all_pairs_shortest_path_length(G, cutoff=2))
    expected = [sum(d == 2 for d in lengths[v].values()) for v in G]
    assert two_hop.two_hop_counts(A).to_dense().tolist() == expected


@pytest.fixture
def pairs() -> Iterator[None]:
    gb.io.register_format("pairs", pairs_format, [".pairs"])
    yield
    del formats.FORMATS["pairs"], formats.SUFFIXES[".pairs"], formats.REGISTERED["pairs"]


def test_a_file_format(pairs: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    A = gb.Matrix.from_coo([0, 0, 3], [1, 2, 0], [5, 7, 9], nrows=4, ncols=4)
    gb.io.write(A, tmp_path / "a.pairs")
    assert gb.io.read(tmp_path / "a.pairs").isequal(A)
    assert gb.io.read(tmp_path / "a.pairs", symmetrize=True).nvals == 6
    gb.io.convert(tmp_path / "a.pairs", tmp_path / "a.mtx")
    gb.io.convert(tmp_path / "a.pairs", tmp_path / "b.h5", memory="4GB")
    assert gb.io.read(tmp_path / "a.mtx").isequal(A)
    assert gb.io.read(tmp_path / "b.h5").isequal(A, check_dtype=False)
    assert cli.main(["info", str(tmp_path / "a.pairs")]) == 0
    assert "3" in capsys.readouterr().out
    (tmp_path / "bad.pairs").write_text("[4, 4]\n[0, 1\n")
    with pytest.raises(FileFormatError, match=r"bad\.pairs"):
        gb.io.read(tmp_path / "bad.pairs")
    with pytest.raises(InvalidValue, match=r"'\.mtx' cannot be registered"):
        gb.io.register_format("other", pairs_format, [".mtx"])


def test_a_networkx_function(monkeypatch: pytest.MonkeyPatch) -> None:
    import networkx as nx

    if "sparsezc" not in nx.config.backends:
        pytest.skip("NetworkX finds backends by entry points: sparsezc is not installed")
    flow_hierarchy.claim()
    try:
        for G in (nx.gnp_random_graph(8, 0.3, 2, True), nx.gnp_random_graph(9, 0.15, 1, True)):
            assert nx.flow_hierarchy(G, backend="sparsezc") == nx.flow_hierarchy(G, backend="networkx")
            assert dispatch.should_run("flow_hierarchy", (G,), {}) is True
        with pytest.raises(InvalidValue, match="flow_hierarchy"):
            flow_hierarchy.claim()

        def transitivity(G: Any) -> None: ...

        with pytest.raises(InvalidValue, match="transitivity"):  # sparsezc's own format, not loaded before
            register(nx.transitivity, transitivity)
    finally:
        del claims.CLAIMS["flow_hierarchy"]
        nx.flow_hierarchy.backends.discard("sparsezc")


@pytest.fixture
def recording() -> Iterator[Any]:
    engine = recording_engine.RecordingEngine()
    gb.engines.register("recording", engine)
    try:
        with gb.config.set(engine="recording"):
            yield engine
    finally:
        del engines.registry._known["recording"]
        config.engines.discard("recording")


def test_an_engine(recording: Any) -> None:
    A = gb.io.read("kron:6")
    there = A.to("cpu")
    assert gb.algorithms.bfs(A, 1).isequal(gb.algorithms.bfs(there, 1))
    assert np.allclose(gb.algorithms.pagerank(A).to_dense(), gb.algorithms.pagerank(there).to_dense())
    assert {"vxm", "assign"} <= set(recording.seen)


@pytest.mark.parametrize("graph", ["directed", "path", "three vertices"])
def test_every_algorithm_runs_on_an_engine(graph: str, recording: Any) -> None:
    """Algorithms run by statements, as compiled loops belong to the CPU engine; results equal the CPU engine's."""
    assert {name.partition(" ")[0] for name in CALLS} == set(gb.algorithms.__all__)
    A = graphs()[graph].to("recording")
    names, there = asked_of(graph, A), A.to("cpu")
    with engines.stepping(recording):
        found = {name: outcome(CALLS[name], A) for name in names}
    with gb.config.set(engine="cpu"), engines.stepping(recording.cpu):
        wanted = {name: outcome(CALLS[name], there) for name in names}
    assert {name: (found[name], wanted[name]) for name in names if not alike(found[name], wanted[name])} == {}
    assert {"assign", "ewise_mult", "mxm", "mxv", "reduce", "select", "vxm"} <= set(recording.seen)
