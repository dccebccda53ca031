"""PyTorch Geometric's interfaces: a sampler, a graph store and a feature store, for its own loaders."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sparsezc import ops
from sparsezc.core.matrix import Matrix
from sparsezc.core.transposed import TransposedMatrix
from sparsezc.exceptions import IndexOutOfBound, InvalidValue
from sparsezc.io.build.optional import need
from sparsezc.loader.neighbor_loader import rows_by_target
from sparsezc.loader.tables import tables
from sparsezc.ops.sampling import fanouts_of
from sparsezc.ops.select import random_seed

__all__ = ["FeatureStore", "GraphStore", "NeighborSampler"]

torch = need("torch", "torch")
_pyg = need("torch_geometric", "torch")
_sampling = need("torch_geometric.sampler.neighbor_sampler")
# For type checkers, which may not have PyG, these are any classes.
_Sampler: Any = _pyg.sampler.BaseSampler
_GraphStore: Any = _pyg.data.GraphStore
_FeatureStore: Any = _pyg.data.FeatureStore


class NeighborSampler(_Sampler):  # type: ignore[misc]
    """PyG's ``BaseSampler`` over a Matrix: for ``NodeLoader``, ``LinkLoader`` and loaders built on them.

    Parameters
    ----------
    A : Matrix or TransposedMatrix, n x n
        As for :class:`~sparsezc.loader.NeighborLoader`.
    fanouts : iterable of int
        Neighbours of each vertex, a number a hop; -1: all.
    replace, weighted : bool
        Draw neighbours with replacement, or in proportion to A's values.
    seed : int, optional
        Call c of the sampler draws by `seed` and c; in a worker of a loader also by the worker's seed, which PyTorch
        draws.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue
        As for :class:`~sparsezc.loader.NeighborLoader`; InvalidValue also for a call with times or types of vertices.

    Examples
    --------
    >>> import torch, sparsezc as gb
    >>> from torch_geometric.loader import NodeLoader
    >>> A = gb.io.read("path:5")
    >>> stores = gb.loader.FeatureStore(A, torch.eye(5)), gb.loader.GraphStore(A)
    >>> loader = NodeLoader(stores, gb.loader.NeighborSampler(A, [2]), torch.tensor([0, 4]), batch_size=2)
    >>> next(iter(loader)).n_id
    tensor([0, 4, 1, 3])
    """

    def __init__(
        self,
        A: Matrix | TransposedMatrix,
        fanouts: Iterable[int],
        *,
        replace: bool = False,
        weighted: bool = False,
        seed: int | None = None,
    ) -> None:
        self._rows = rows_by_target(A, "NeighborSampler")
        self.num_nodes = self._rows.nrows
        self._fanouts = fanouts_of(fanouts, "NeighborSampler")
        self._how = {"replace": replace, "weighted": weighted}
        self.seed = random_seed(seed, "NeighborSampler")
        self._calls = 0

    def sample_from_nodes(self, inputs: Any, **_: Any) -> Any:
        """Return PyG's SamplerOutput of a NodeSamplerInput."""
        return _sampling.node_sample(inputs, self._sample)

    def sample_from_edges(self, inputs: Any, neg_sampling: Any = None) -> Any:
        """Return PyG's SamplerOutput of an EdgeSamplerInput."""
        return _sampling.edge_sample(inputs, self._sample, self.num_nodes, False, None, neg_sampling)

    @property
    def edge_permutation(self) -> None:
        """Return None: edges have one numbering, by target, then source."""
        return

    def _sample(self, seeds: Any, seed_time: Any = None) -> Any:
        if isinstance(seeds, dict) or seed_time is not None:
            raise InvalidValue("NeighborSampler: types and times of vertices are given; a graph without both is needed")
        worker = torch.utils.data.get_worker_info()
        key = np.array([self.seed ^ (0 if worker is None else worker.seed % 2**64), self._calls], np.uint64)
        self._calls += 1
        seed = int(np.random.Philox(key=key).random_raw())
        found = ops.sample_hops(self._rows, seeds.cpu().numpy(), self._fanouts, **self._how, seed=seed)
        node, row, col, edge = map(torch.from_dlpack, found[:4])
        return _pyg.sampler.SamplerOutput(
            node, row, col, edge, num_sampled_nodes=found.num_sampled_nodes, num_sampled_edges=found.num_sampled_edges
        )


class GraphStore(_GraphStore):  # type: ignore[misc]
    """PyG's ``GraphStore`` over a Matrix: an entry (i, j) is an edge from i to j. It cannot be changed.

    :class:`NeighborSampler` reads no edges from it; PyG's own samplers read all edges, into host memory.

    Parameters
    ----------
    A : Matrix or TransposedMatrix, n x n

    Examples
    --------
    >>> import sparsezc as gb
    >>> store = gb.loader.GraphStore(gb.Matrix.from_edgelist([(1, 0), (2, 0)], nrows=3, ncols=3))
    >>> store.get_edge_index(None, "csc")  # sources, and where those of each target begin
    (tensor([1, 2]), tensor([0, 2, 2, 2]))
    """

    def __init__(self, A: Matrix | TransposedMatrix) -> None:
        super().__init__()
        self._rows = rows_by_target(A, "GraphStore")

    def get_all_edge_attrs(self) -> list[Any]:
        """Return the attributes of the one type of edges, stored by target."""
        return [_pyg.data.EdgeAttr(None, "csc", size=self._rows.shape)]

    def _get_edge_index(self, edge_attr: Any) -> Any:
        if edge_attr.edge_type is not None:
            return None
        layout = edge_attr.layout.value
        if layout == "csr":
            first, second, _ = self._rows.T.to_csr()
        elif layout == "csc":
            second, first, _ = self._rows.to_csr()
        else:
            second, first, _ = self._rows.to_coo(values=False)
        return torch.from_numpy(first.astype(np.int64)), torch.from_numpy(second.astype(np.int64))

    def _put_edge_index(self, edge_index: Any, edge_attr: Any) -> bool:
        return False

    def _remove_edge_index(self, edge_attr: Any) -> bool:
        return False


class FeatureStore(_FeatureStore):  # type: ignore[misc]
    """PyG's ``FeatureStore`` over arrays with a row for each vertex. It cannot be changed.

    Parameters
    ----------
    A : Matrix
        The graph, on whose engine rows are read.
    features, labels : optional
        As for :class:`~sparsezc.loader.NeighborLoader`.
    placement : str, optional
        The placement of features, by default ``config.placement``; with "host" the host gathers rows.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue
        As for :class:`~sparsezc.loader.NeighborLoader`.

    Examples
    --------
    >>> import torch, sparsezc as gb
    >>> store = gb.loader.FeatureStore(gb.io.read("path:3"), torch.eye(3), labels=[5, 6, 7])
    >>> store.get_tensor(None, "y", torch.tensor([2, 0]))
    tensor([7, 5])
    """

    def __init__(self, A: Matrix, features: Any = None, labels: Any = None, placement: str | None = None) -> None:
        super().__init__()
        self.__dict__["_tables"] = tables(A, features, labels, placement)

    def get_all_tensor_attrs(self) -> list[Any]:
        """Return the names of the arrays, of vertices of one type."""
        return [_pyg.data.TensorAttr(None, name) for name in self._tables]

    def _get_tensor(self, attr: Any) -> Any:
        table = self._tables.get(attr.attr_name) if attr.group_name is None else None
        if table is None:
            return None
        n, index = table.shape[0], attr.index
        if index is None or isinstance(index, slice):
            index = torch.arange(n)[slice(None) if index is None else index]
        at = torch.as_tensor(index)
        at = torch.where(at < 0, at + n, at).to(torch.int64)
        for bad in at[(at < 0) | (at >= n)][:1].tolist():
            raise IndexOutOfBound(f"FeatureStore: index has {bad}; {attr.attr_name} has {n} rows")
        found = table.read(at.reshape(-1))
        return found if at.ndim else found[0]

    def _get_tensor_size(self, attr: Any) -> Any:
        table = self._tables.get(attr.attr_name) if attr.group_name is None else None
        return None if table is None else table.shape

    def _put_tensor(self, tensor: Any, attr: Any) -> bool:
        return False

    def _remove_tensor(self, attr: Any) -> bool:
        return False
