"""NeighborLoader: PyG's conventions, by PyG's own subgraphs and layers; epochs, options, engines and bad input."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency, chisquare

import sparsezc as gb
from sparsezc.config import config
from tests.emulator.device import EmulatedDevice
from tests.loader.graphs import directed, edge_index, planted, sage

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="PyG is not installed")
utils = pytest.importorskip("torch_geometric.utils")
torch.set_num_threads(1)  # with small models several threads only wait for each other

SURE = 1e-6  # least p-value: one correct program in a million fails
Loader = gb.loader.NeighborLoader


def features(n: int, width: int = 6) -> np.ndarray[Any, Any]:
    return np.random.default_rng(1).random((n, width), np.float32)


def same(one: Any, other: Any) -> None:
    assert one.keys() == other.keys()
    for name in one.keys():  # noqa: SIM118  (iterating over a Data gives pairs)
        a, b = one[name], other[name]
        assert torch.equal(a, b.cpu()) if torch.is_tensor(a) else a == b, name


# PyG's conventions


def test_a_batch_is_a_subgraph_by_pyg() -> None:
    """With all neighbours a batch is PyG's k-hop subgraph without the edges into the last hop's vertices."""
    A, X = directed(), features(80)
    edges = edge_index(A)
    for batch in Loader(A, X, [-1, -1], 7, labels=np.arange(80)):
        seeds = batch.n_id[: batch.batch_size]
        inner, near, _, _ = utils.k_hop_subgraph(seeds, 1, edges, num_nodes=80)
        nodes, _, _, _ = utils.k_hop_subgraph(seeds, 2, edges, num_nodes=80)
        assert sorted(batch.n_id.tolist()) == nodes.tolist()
        into = edges[:, torch.isin(edges[1], inner)]
        found = batch.n_id[batch.edge_index]
        assert sorted(map(tuple, found.T.tolist())) == sorted(map(tuple, into.T.tolist()))
        assert near.shape[1] <= found.shape[1]
        assert torch.equal(batch.x, torch.from_numpy(X)[batch.n_id])
        assert torch.equal(batch.y, batch.n_id)
        by_target = torch.from_numpy(np.stack(A.T.new().to_coo()[:2]).astype(np.int64)).flip(0)
        assert torch.equal(by_target[:, batch.e_id], found)


@pytest.mark.parametrize("name", ["n_id", "edge_index", "e_id", "x"])
def test_a_batch_that_is_wrong_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge refuses a batch in which two values are swapped."""

    def wrong(*given: Any, **options: Any) -> Any:
        for batch in gb.loader.NeighborLoader(*given, **options):
            batch[name] = batch[name].clone()
            batch[name][..., [-2, -1]] = batch[name][..., [-1, -2]]
            yield batch

    monkeypatch.setitem(globals(), "Loader", wrong)
    with pytest.raises(AssertionError):
        test_a_batch_is_a_subgraph_by_pyg()


def test_layers_see_the_same_graph() -> None:
    """A model answers for the seeds as on the whole graph, also with PyG's trimming by hops."""
    from torch_geometric.utils import trim_to_layer

    A, X = directed(), features(80)
    model = sage(6, 5, 3)
    with torch.no_grad():
        expected = model(torch.from_numpy(X), edge_index(A))
        for batch in Loader(A, X, [-1, -1], 30):
            seeds = batch.n_id[: batch.batch_size]
            assert torch.allclose(model(batch.x, batch.edge_index)[: seeds.numel()], expected[seeds], atol=1e-5)
            x, edges = batch.x, batch.edge_index
            for k, layer in enumerate(model.layers):
                x, edges, _ = trim_to_layer(k, batch.num_sampled_nodes, batch.num_sampled_edges, x, edges)
                x = layer(x, edges).relu() if k == 0 else layer(x, edges)
            assert torch.allclose(x[: seeds.numel()], expected[seeds], atol=1e-5)


def test_what_a_batch_says_of_itself() -> None:
    A = directed()
    loader = Loader(A, None, [3, 2], 8, np.arange(40, 60), seed=1)
    batches = list(loader)
    assert len(loader) == len(batches) == 3
    assert [b.batch_size for b in batches] == [8, 8, 4]
    assert torch.cat([b.input_id for b in batches]).tolist() == list(range(20))
    for b in batches:
        assert b.n_id[: b.batch_size].tolist() == (b.input_id + 40).tolist()
        assert (b.num_nodes, b.num_edges) == (sum(b.num_sampled_nodes), sum(b.num_sampled_edges))
        assert b.num_sampled_nodes[0] == b.batch_size
        assert int(utils.degree(b.edge_index[1], b.num_nodes).max()) <= 3
        assert {x.dtype for x in (b.edge_index, b.n_id, b.e_id, b.input_id)} == {torch.int64}
        assert b.validate(raise_on_error=True)
    mask = np.zeros(80, bool)
    mask[40:60] = True
    for given in (mask, torch.from_numpy(mask), gb.Vector.from_coo(range(40, 60), True, "BOOL", size=80)):
        first = next(iter(Loader(A, None, [3, 2], 8, given, seed=1)))
        assert first.input_id.tolist() == list(range(40, 48))  # PyG's rule: a mask selects vertices
        assert torch.equal(first.edge_index, batches[0].edge_index)


def test_a_matrix_by_target_is_read_as_it_is() -> None:
    A = directed()
    same(next(iter(Loader(A, None, [3, 2], 8, seed=1))), next(iter(Loader(A.T.new().T, None, [3, 2], 8, seed=1))))
    S, _ = planted((20, 20), 0.3, 0.1)
    S = gb.Matrix.from_csr(*S.to_csr(), symmetric=True)
    assert Loader(S)._rows is S


def test_options() -> None:
    A = directed()
    b = next(iter(Loader(A, {"x": features(80), "z": np.arange(80)}, [4], 80, values=True, replace=True, seed=1)))
    i, _, w = A.T.new().to_coo()
    assert b.edge_attr.tolist() == w[b.e_id].tolist()
    assert torch.equal(b.z, b.n_id)
    into = np.bincount(i.astype(int), minlength=80)
    assert utils.degree(b.edge_index[1], 80).tolist() == np.where(into > 0, 4, 0).tolist()
    done = Loader(A, None, [4], 80, transform=lambda batch: batch.n_id)
    assert torch.is_tensor(next(iter(done)))
    assert len(Loader(A, None, [1], 33, drop_last=True)) == len(list(Loader(A, None, [1], 33, drop_last=True))) == 2
    star = gb.Matrix.from_coo([1, 2, 3], [0, 0, 0], [1.0, 0.0, 3.0], nrows=4, ncols=4)
    (heavy,) = Loader(star, None, [1], 2000, [0] * 2000, weighted=True, seed=1)
    drawn = np.bincount(heavy.n_id[heavy.edge_index[0]], minlength=4)
    assert drawn[2] == 0
    assert chisquare(drawn[[1, 3]], [500, 1500]).pvalue > SURE


def test_neighbours_alike() -> None:
    star = gb.Matrix.from_coo(range(1, 7), [0] * 6, 1, nrows=7, ncols=7)
    loader = Loader(star, None, [2], 1000, [0] * 3000, seed=1)
    drawn = torch.cat([b.n_id[b.edge_index] for b in loader], 1)
    assert drawn[1].tolist() == [0] * 6000
    pairs = np.unique(np.sort(drawn[0].reshape(-1, 2).numpy()), axis=0, return_counts=True)[1]
    assert pairs.size == 15
    assert chisquare(pairs).pvalue > SURE


def own_loader(data: Any, *args: Any, **options: Any) -> Any:
    """Return PyG's NeighborLoader, or skip if no correct sampler for it is installed."""
    import torch_geometric.typing as known
    from torch_geometric.loader import NeighborLoader

    # torch-sparse 0.6.18 without replacement never draws the last of two neighbours: Floyd's bound is one too low.
    draws = -1 not in args[0] and not options.get("replace")
    if not (known.WITH_PYG_LIB or (known.WITH_TORCH_SPARSE and not draws)):
        pytest.skip("PyG draws by pyg-lib, or by torch-sparse, which is not installed or not right here")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyG warns that it will need pyg-lib
        return NeighborLoader(data, *args, **options)


def test_pyg_s_own_loader_gives_the_same_batches() -> None:
    """With all neighbours batches equal PyG's, also in the order of vertices and edges, and for repeated seeds."""
    from torch_geometric.data import Data

    A, X, seeds = directed(), features(80), torch.tensor([5, 5, 7, *range(20, 60)])
    edges = edge_index(A.T.new()).flip(0)  # sorted by target
    data = Data(x=torch.from_numpy(X), y=torch.arange(80), edge_index=edges)
    theirs = own_loader(data, [-1, -1], seeds, batch_size=8, is_sorted=True)
    for a, b in zip(Loader(A, X, [-1, -1], 8, seeds, labels=np.arange(80)), theirs, strict=True):
        for name in ("n_id", "e_id", "edge_index", "x", "y", "input_id"):
            assert torch.equal(a[name], b[name].to(a[name].dtype)), name
        assert a.batch_size == b.batch_size
        if "num_sampled_nodes" in b:  # torch-sparse returns no counts
            assert (a.num_sampled_nodes, a.num_sampled_edges) == (b.num_sampled_nodes, b.num_sampled_edges)


@pytest.mark.parametrize("replace", [False, True])
def test_pyg_s_own_loader_draws_alike(replace: bool) -> None:
    """Our samples and PyG's, counted as whole subgraphs, have one distribution."""
    from torch_geometric.data import Data

    A = gb.Matrix.from_coo([1, 2, 3, 0, 4, 1, 5, 3], [0, 0, 0, 1, 1, 2, 2, 3], 1, nrows=6, ncols=6)
    data, seeds = Data(edge_index=edge_index(A), num_nodes=6), torch.zeros(1000, dtype=torch.int64)
    theirs = own_loader(data, [2, 1], seeds, replace=replace, batch_size=1)
    torch.manual_seed(1)
    counts = [
        Counter(tuple(sorted(map(tuple, b.n_id[b.edge_index].T.tolist()))) for b in loader)
        for loader in (Loader(A, None, [2, 1], 1, seeds, replace=replace, seed=1), theirs)
    ]
    known = sorted(counts[0] | counts[1])
    assert len(known) == (13 if replace else 8)
    assert chi2_contingency([[found[x] for x in known] for found in counts]).pvalue > SURE


# Epochs


def test_epochs_repeat_by_seed_and_differ() -> None:
    A = directed()
    one, other = (Loader(A, None, [2, 2], 16, shuffle=True, seed=7) for _ in range(2))
    first, second = list(one), list(one)
    assert one.epoch == 2
    for a, b in zip([*first, *second], [*other, *other], strict=True):
        same(a, b)
    assert torch.cat([b.input_id for b in first]).tolist() != torch.cat([b.input_id for b in second]).tolist()
    for epoch in (first, second):
        assert sorted(torch.cat([b.input_id for b in epoch]).tolist()) == list(range(80))
    one.epoch = 0
    for a, b in zip(first, one, strict=True):
        same(a, b)
    plain = Loader(A, None, [2], 80, seed=7)
    a, b = next(iter(plain)), next(iter(plain))
    assert torch.equal(a.input_id, b.input_id)
    assert not torch.equal(a.e_id, b.e_id)
    assert Loader(A).seed != Loader(A).seed


def test_a_model_learns_as_from_the_whole_graph() -> None:
    A, y = planted((60, 60, 60), 0.12, 0.01)
    X = np.random.default_rng(2).normal(0, 1, (180, 8)).astype(np.float32)
    X[np.arange(180), y] += 0.7
    train = np.random.default_rng(3).random(180) < 0.3
    edges, labels, x = edge_index(A), torch.from_numpy(y), torch.from_numpy(X)

    def accuracy(batches: Any) -> float:
        torch.manual_seed(0)
        model = sage(8, 16, 3)
        optimizer = torch.optim.Adam(model.parameters(), 0.02)
        for _ in range(20):
            for b in batches:
                optimizer.zero_grad()
                out = model(b.x, b.edge_index)[: b.batch_size]
                torch.nn.functional.cross_entropy(out, b.y[: b.batch_size]).backward()
                optimizer.step()
        with torch.no_grad():
            right = model(x, edges).argmax(1) == labels
        return float(right[torch.from_numpy(~train)].float().mean())

    sampled = accuracy(Loader(A, X, [6, 6], 20, train, labels=y, shuffle=True, seed=1))
    whole = accuracy(Loader(A, X, [-1, -1], 180, train, labels=y))  # all neighbours: the whole graph
    permuted = accuracy(Loader(A, X, [6, 6], 20, train, labels=np.random.default_rng(4).permutation(y), seed=1))
    assert whole > 0.85
    assert abs(sampled - whole) < 0.08
    assert permuted < 0.6


# Engines and features

TABLES = {
    "float32": features(80),
    "512 bytes": features(80, 128),
    "float16, odd": features(80, 3).astype(np.float16),
    "bytes": np.arange(240, dtype=np.uint8).reshape(80, 3),
    "labels": np.arange(80),
    "truth": np.arange(80) % 3 == 0,
    "three dimensions": np.arange(80 * 6).reshape(80, 2, 3),
    "complex": features(80).astype(np.complex64),
    "no columns": np.empty((80, 0)),
    "not contiguous": features(80, 8)[:, ::2],
}


@pytest.mark.parametrize("placement", ["device", "zerocopy", "stream", "host"])
def test_engines_and_placements_of_features_agree(gpu: Any, placement: str) -> None:
    A = directed()
    given = {**TABLES, "tensor": torch.arange(160).reshape(80, 2).to(torch.bfloat16), "Matrix": A[:, :3].new()}
    given = {name.replace(" ", "_").replace(",", ""): X for name, X in given.items() if name[0] != "5"} | {
        "wide": TABLES["512 bytes"]
    }
    options = {"seed": 3, "values": True, "labels": gb.Vector.from_dense(np.arange(80))}
    here = Loader(A, given, [3, 2], 30, **options)
    there = Loader(A.to("gpu", "zerocopy"), given, [3, 2], 30, **options, placement=placement)
    for a, b in zip(here, there, strict=True):
        same(a, b)


def test_memory_mapped_features(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", TABLES["512 bytes"])
    X = np.load(tmp_path / "x.npy", mmap_mode="r")
    b = next(iter(Loader(directed(), X, [3], 9)))
    assert torch.equal(b.x, torch.from_numpy(TABLES["512 bytes"])[b.n_id])


def test_rows_cross_the_link_in_whole_lines(counting: EmulatedDevice) -> None:
    """Rows of 512 bytes are read in four requests of 128 bytes each, in any order of rows."""
    A = directed().to("gpu", "device")
    loader = Loader(A, TABLES["512 bytes"], [3, 2], 20, seed=1, placement="zerocopy")
    batches = iter(loader)
    counting.reset()
    b = next(batches)
    moved = counting.total(1)
    assert (moved.useful_bytes, moved.bytes) == (512 * b.num_nodes,) * 2
    assert moved.by_size == {32: 0, 64: 0, 96: 0, 128: 4 * b.num_nodes}


def test_bad_input() -> None:
    A, X = directed(), features(80)
    errors = gb.exceptions
    for bad, error, said in (
        ({"A": X}, errors.DomainMismatch, "A is a ndarray"),
        ({"A": A[:, :3].new()}, errors.DimensionMismatch, "A is 80 x 3"),
        ({"features": X[:7]}, errors.DimensionMismatch, r"features has the shape \(7, 6\); the graph has 80 vertices"),
        ({"features": 5}, errors.DimensionMismatch, r"features has the shape \(\)"),
        ({"features": np.array(["a"] * 80)}, errors.DomainMismatch, "features has values of type <U1"),
        ({"features": torch.eye(80).to_sparse()}, errors.DomainMismatch, "a dense one is needed"),
        ({"features": {"z": X[:7]}}, errors.DimensionMismatch, r"features\['z'\] has the shape"),
        ({"features": {"y": X}, "labels": X}, errors.InvalidValue, "features has 'y'"),
        ({"features": {"not a name": X}}, errors.InvalidValue, "names of attributes"),
        ({"labels": np.arange(3)}, errors.DimensionMismatch, "labels has the shape"),
        ({"fanouts": [-2]}, errors.InvalidValue, "fanouts has -2"),
        ({"batch_size": 0}, errors.InvalidValue, "batch_size is 0"),
        ({"batch_size": 1.5}, TypeError, "batch_size is 1.5"),
        ({"seeds": [80]}, errors.IndexOutOfBound, r"seeds\[0\] is 80"),
        ({"seeds": np.ones(3, bool)}, errors.DimensionMismatch, "a mask of shape"),
        ({"seed": -1}, errors.InvalidValue, "seed is -1"),
        ({"placement": "nowhere"}, errors.InvalidValue, "placement='nowhere' is not a placement"),
        ({"num_workers": 2}, errors.InvalidValue, "num_workers is 2; 0 is needed"),
        ({"num_neighbors": [2]}, TypeError, "option 'num_neighbors' is unknown"),
        ({"A": A.dup("FC64"), "weighted": True}, errors.DomainMismatch, "weighted needs weights"),
    ):
        given = {"A": A, "features": X, "fanouts": [2], "batch_size": 8, **bad}
        with pytest.raises(error, match=said):
            next(iter(Loader(given.pop("A"), given.pop("features"), **given)))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.complex64])
@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_features_that_are_not_finite_are_refused_by_the_batch_that_reads_them(dtype: Any, value: float) -> None:
    A, X = directed(), features(80).astype(dtype)
    X[7, 2] = value
    given: dict[str, Any] = {"fanouts": [0], "batch_size": 5, "labels": X[:, 2]}
    batches = iter(Loader(A, {"near": features(80), "far": X}, **given))
    assert next(batches).n_id.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(
        gb.exceptions.InvalidValue, match=r"features\['far'\] .* NaN or infinite in row 7; .* finite=False"
    ):
        next(batches)
    passed = list(Loader(A, X, finite=False, **given))[1]
    assert torch.equal(passed.x.isfinite(), torch.from_numpy(np.isfinite(X[5:10])))
    full = np.full((80, 9), 5e4, np.float16)  # finite values whose sum is infinite in FP16
    assert next(iter(Loader(A, full, **given))).x.shape == (5, 9)
    labels = list(Loader(A, None, **given))[1]  # labels may be NaN, which may mean "no label"
    assert not bool(labels.y[2].isfinite())


def test_too_little_memory_for_features(gpu: Any) -> None:
    A = directed().to("gpu")
    with config.set(budget=10_000), pytest.raises(gb.exceptions.OutOfMemory, match="placement 'device' needs"):
        Loader(A, TABLES["512 bytes"], [2], placement="device")
