"""PyG's interfaces: its loaders over our sampler and stores give the batches of NeighborLoader."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from tests.loader.graphs import directed, edge_index

torch = pytest.importorskip("torch", reason="torch is not installed")
loaders = pytest.importorskip("torch_geometric.loader", reason="PyG is not installed")
sampling = pytest.importorskip("torch_geometric.sampler")


def stores(A: gb.Matrix, **given: Any) -> tuple[Any, Any]:
    return gb.loader.FeatureStore(A, **given), gb.loader.GraphStore(A)


def test_pyg_s_node_loader() -> None:
    """PyG's NodeLoader with all neighbours gives the batches of our NeighborLoader, attribute by attribute."""
    A, X, y = directed(), np.random.default_rng(1).random((80, 4)), np.arange(80)
    seeds = torch.arange(30, 60)
    theirs = loaders.NodeLoader(
        stores(A, features=X, labels=y), gb.loader.NeighborSampler(A, [-1, -1]), seeds, batch_size=9
    )
    ours = gb.loader.NeighborLoader(A, X, [-1, -1], 9, seeds, labels=y)
    count = 0
    for a, b in zip(ours, theirs, strict=True):
        assert set(a.keys()) <= set(b.keys())
        for name in a.keys():  # noqa: SIM118  (iterating over a Data gives pairs)
            assert torch.equal(a[name], b[name]) if torch.is_tensor(a[name]) else a[name] == b[name], name
        count += 1
    assert count == 4


def test_the_sampler_draws_by_its_seed() -> None:
    A = directed()
    drawn = []
    for seed in (1, 1, 2):
        sampler = gb.loader.NeighborSampler(A, [3, 2], seed=seed)
        inputs = sampling.NodeSamplerInput(None, torch.arange(10))
        out = [sampler.sample_from_nodes(inputs) for _ in range(2)]
        assert isinstance(out[0], sampling.SamplerOutput)
        assert out[0].edge.tolist() != out[1].edge.tolist()
        drawn.append([x.edge.tolist() for x in out])
    assert drawn[0] == drawn[1] != drawn[2]
    weighted = gb.loader.NeighborSampler(A.apply("ainv").new(), [3], weighted=True)
    with pytest.raises(gb.exceptions.InvalidValue, match="weight is negative"):
        weighted.sample_from_nodes(inputs)
    for bad in ({"time": torch.arange(10)}, {"input_type": "paper"}):
        with pytest.raises(gb.exceptions.InvalidValue, match="types and times"):
            sampler.sample_from_nodes(sampling.NodeSamplerInput(None, torch.arange(10), **bad))


def test_pyg_s_link_loader() -> None:
    """Each batch of PyG's LinkLoader has the ends of its edges, and as many negative edges."""
    A = directed()
    edges = edge_index(A)
    loader = loaders.LinkLoader(
        stores(A, labels=np.arange(80)), gb.loader.NeighborSampler(A, [2, 2], seed=1), (None, edges), batch_size=50,
        neg_sampling=sampling.NegativeSampling("binary", 1),
    )  # fmt: skip
    found = []
    for b in loader:
        ends = b.n_id[b.edge_label_index]
        found.append(ends[:, b.edge_label == 1])
        assert int((b.edge_label == 0).sum()) == found[-1].shape[1]
        assert torch.equal(b.y, b.n_id)
    assert torch.equal(torch.cat(found, 1), edges)


@pytest.mark.slow  # starts worker processes
def test_workers() -> None:
    A = directed()
    given = stores(A, labels=np.arange(80)), gb.loader.NeighborSampler(A, [3, 2], seed=1), torch.arange(80)
    loader = loaders.NodeLoader(*given, batch_size=20, num_workers=2)
    found = [b.n_id[: b.batch_size] for b in loader]
    assert torch.cat(found).tolist() == list(range(80))


def test_layouts_of_the_graph_store() -> None:
    A = directed()
    store, edges = gb.loader.GraphStore(A), edge_index(A)
    (attr,) = store.get_all_edge_attrs()
    assert (attr.size, attr.layout.value) == ((80, 80), "csc")
    row, col, _ = store.coo()
    assert sorted(map(tuple, torch.stack([row, col]).T.tolist())) == sorted(map(tuple, edges.T.tolist()))
    direct = torch.stack(store.get_edge_index(None, "coo"))
    assert torch.equal(direct, torch.stack([row, col]))
    indptr, indices, _ = A.to_csr()
    first, second = store.get_edge_index(None, "csr")
    assert (first.tolist(), second.tolist()) == (indptr.tolist(), indices.tolist())
    with pytest.raises(KeyError):
        store.get_edge_index(("a", "to", "b"), "csc")
    assert not store.put_edge_index((row, col), None, "coo")
    assert not store.remove_edge_index(None, "coo")


def test_feature_store() -> None:
    A, X = directed(), np.arange(240.0).reshape(80, 3)
    store = gb.loader.FeatureStore(A, {"a": X}, labels=np.arange(80))
    assert [attr.attr_name for attr in store.get_all_tensor_attrs()] == ["a", "y"]
    assert store.get_tensor_size(None, "a") == (80, 3)
    for index in (torch.tensor([3, 1]), [3, 1], slice(2, 9, 3), 5, -1, None, torch.tensor([], dtype=int)):
        expected = X if index is None else X[index]
        assert np.array_equal(store.get_tensor(None, "a", index).numpy(), expected)
    with pytest.raises(gb.exceptions.IndexOutOfBound, match="index has 80; y has 80 rows"):
        store.get_tensor(None, "y", [0, 80])
    assert store.get_tensor(None, "b", None) is None
    assert not store.put_tensor(torch.eye(3), None, "c", None)


def test_stores_on_the_gpu(gpu: Any) -> None:
    A, X = directed(), np.arange(240.0).reshape(80, 3)
    found = []
    for M in (A, A.to("gpu")):
        sampler = gb.loader.NeighborSampler(M, [3, 2], seed=1)
        found += loaders.NodeLoader(stores(M, features=X), sampler, torch.arange(9), batch_size=9)
    assert torch.equal(found[0].x, found[1].x.cpu())
    assert torch.equal(found[0].edge_index, found[1].edge_index.cpu())
