"""NeighborLoader: batches of sampled neighbours as PyTorch Geometric's Data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from sparsezc import ops
from sparsezc.core.matrix import Matrix
from sparsezc.core.transposed import TransposedMatrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from sparsezc.io.build.optional import need
from sparsezc.loader.tables import tables
from sparsezc.ops import arrays
from sparsezc.ops.checks import whole_number
from sparsezc.ops.sampling import fanouts_of
from sparsezc.ops.select import random_seed

__all__ = ["NeighborLoader", "rows_by_target"]


class Options(TypedDict, total=False):
    """The options of :class:`NeighborLoader`, which documents them."""

    replace: bool
    weighted: bool
    values: bool
    shuffle: bool
    drop_last: bool
    seed: int | None
    placement: str | None
    transform: Callable[[Any], Any] | None
    num_workers: int
    finite: bool


@dataclass(frozen=True)
class _Settings:
    """The options with their defaults."""

    replace: bool = False
    weighted: bool = False
    values: bool = False
    shuffle: bool = False
    drop_last: bool = False
    seed: int | None = None
    placement: str | None = None
    transform: Callable[[Any], Any] | None = None
    num_workers: int = 0
    finite: bool = True


class NeighborLoader:
    """Batches of vertices, sampled neighbours and their features, like those of PyTorch Geometric's ``NeighborLoader``.

    Parameters
    ----------
    A : Matrix or TransposedMatrix, n x n
        An entry (i, j) is an edge from i to j, as in PyG's ``edge_index``, and messages travel along edges: neighbours
        are drawn among in-edges. If A is not known to be symmetric, its transpose is built once. A matrix B whose rows
        have in-edges is given as ``B.T`` and read in place. The matrix must not change while the loader is in use.
    features : array, tensor, Matrix or dict of these, optional
        A row for each vertex; "x" in the batches, or the names of the dict. On the GPU an array in host memory is
        copied once to `placement`, where kernels read the rows of each batch over the link; rows of a memory-mapped
        array are gathered by the host. Missing entries of a Matrix are zeros.
    fanouts : iterable of int
        Neighbours of each vertex, a number a hop; -1: all.
    batch_size : int
        Seeds of a batch, at least 1; the last batch may have fewer.
    seeds : array of int or of bool, or Vector of BOOL, optional
        The vertices that batches are made of: their numbers or a mask (PyG's `input_nodes`). By default all.
    labels : array, tensor or Vector, optional
        A label for each vertex; "y" in the batches.
    **options
        Of :class:`Options`: `replace`: draw neighbours with replacement. `weighted`: draw them in proportion to A's
        values. `values`: the values of edges as `edge_attr`. `shuffle`: seeds in another order in each epoch.
        `drop_last`: leave out a last batch of fewer seeds. `seed`: from 0 to 2**64 - 1, by default a random one; the
        same one gives the same epochs, on every engine. `placement`: of features, by default ``config.placement``; with
        "host" the host gathers rows. `transform`: called with each batch; its result is yielded. `num_workers`: 0 only,
        as batches are made in the process that has the graph. `finite`: raise an error for a batch whose features are
        NaN or infinite; with False they are accepted, as in PyG, and as labels always are.

    Attributes
    ----------
    epoch : int
        The number of the next epoch, which each ``iter(loader)`` increases. Setting it repeats an epoch.
    seed : int

    Raises
    ------
    PackageMissing
        PyTorch or PyTorch Geometric is not installed.
    DimensionMismatch
        A is not square, or the length of features, labels or a mask is not its number of vertices.
    DomainMismatch
        A is no matrix; features have a type that tensors lack; weights are complex or of a user-defined type.
    InvalidValue
        `fanouts`, `batch_size`, `seed` or `num_workers` is not allowed; from a batch: a vertex has features that are
        NaN or infinite.
    IndexOutOfBound
        One of `seeds` is no vertex.
    TypeError
        An option is unknown, or `batch_size` or `seed` is no integer.

    Notes
    -----
    A batch is a ``torch_geometric.data.Data`` on the device where A is: features, `edge_index` (a row of sources and
    one of targets, local numbers), `n_id` (vertices, the seeds first), `e_id` (edges, numbered by target, then source:
    indices into ``A.T.new().to_coo()``), `batch_size`, `input_id` (indices into `seeds`, or vertices of a mask),
    `num_sampled_nodes` and `num_sampled_edges`. Batch b of epoch e depends on `seed`, e, b and its seeds; it is
    :func:`sparsezc.ops.sample_hops`' sample.

    Source: W. Hamilton, R. Ying, J. Leskovec, Inductive representation learning on large graphs, NIPS 2017,
    arXiv:1706.02216; conventions: PyTorch Geometric 2.8, ``torch_geometric.loader.NeighborLoader``.

    Examples
    --------
    >>> import numpy as np, sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(1, 0), (2, 0), (3, 1), (3, 2)], nrows=4, ncols=4)
    >>> loader = gb.loader.NeighborLoader(A, np.eye(4), [2, 2], batch_size=1, seeds=[0], seed=1)
    >>> for batch in loader:
    ...     print(batch.n_id.tolist(), batch.edge_index.tolist(), batch.x.shape)
    [0, 1, 2, 3] [[1, 2, 3, 3], [0, 0, 1, 2]] torch.Size([4, 4])
    """

    def __init__(
        self,
        A: Matrix | TransposedMatrix,
        features: Any = None,
        fanouts: Iterable[int] = (15, 10, 5),
        batch_size: int = 1024,
        seeds: Any = None,
        labels: Any = None,
        **options: Unpack[Options],
    ) -> None:
        need("torch_geometric", "torch")
        given = _settings(options)
        self._rows = rows_by_target(A, "NeighborLoader")
        self.fanouts = fanouts_of(fanouts, "NeighborLoader")
        self.batch_size = whole_number(batch_size, "NeighborLoader: batch_size", 1)
        self.seed = random_seed(given.seed, "NeighborLoader")
        self.epoch = 0
        self._given = given
        self._seeds, self._places = _seeds(seeds, self._rows.nrows)
        self._tables = tables(self._rows, features, labels, given.placement)
        self._finite = self._tables.keys() - ({"y"} if labels is not None else set()) if given.finite else set()

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        whole, rest = divmod(self._seeds.size, self.batch_size)
        return whole + (rest > 0 and not self._given.drop_last)

    def __iter__(self) -> Iterator[Any]:
        """Begin an epoch."""
        epoch, self.epoch = self.epoch, self.epoch + 1
        return self._batches(epoch)

    def __repr__(self) -> str:
        return f"<NeighborLoader of {self._seeds.size:,} seeds, {len(self):,} batches, fanouts {self.fanouts}>"

    def _batches(self, epoch: int) -> Iterator[Any]:
        count = len(self)
        chance = np.random.Philox(key=np.array([self.seed, epoch % 2**64], np.uint64))
        batch_seeds = chance.random_raw(count)
        order = np.argsort(chance.random_raw(self._seeds.size), kind="stable") if self._given.shuffle else None
        for number in range(count):
            some = slice(number * self.batch_size, (number + 1) * self.batch_size)
            yield self._batch(some if order is None else order[some], int(batch_seeds[number]))

    def _batch(self, some: Any, seed: int) -> Any:
        torch, given = need("torch"), self._given
        options = {"replace": given.replace, "weighted": given.weighted, "values": given.values}
        found = ops.sample_hops(self._rows, self._seeds[some], self.fanouts, **options, seed=seed)
        n_id, row, col, e_id = map(torch.from_dlpack, found[:4])
        data = need("torch_geometric.data").Data(edge_index=torch.stack([row, col]))
        for name, table in self._tables.items():
            data[name] = table.read(found.node)
            if name in self._finite:
                table.require_finite(data[name], n_id)
        if not self._tables:
            data.num_nodes = n_id.numel()
        if given.values:
            data.edge_attr = torch.from_dlpack(found.values)
        data.n_id, data.e_id = n_id, e_id
        data.num_sampled_nodes, data.num_sampled_edges = found.num_sampled_nodes, found.num_sampled_edges
        data.input_id = torch.from_numpy(self._places[some]).to(n_id.device)
        data.batch_size = data.input_id.numel()
        return data if given.transform is None else given.transform(data)


def rows_by_target(A: Any, where: str) -> Matrix:
    """Return the matrix whose row j has the sources of edges to j.

    Raises
    ------
    DomainMismatch, DimensionMismatch
        A is no matrix, or not square.
    """
    if not isinstance(A, Matrix | TransposedMatrix):
        raise DomainMismatch(f"{where}: A is a {type(A).__name__}; a Matrix is needed")
    if A.nrows != A.ncols:
        raise DimensionMismatch(f"{where}: A is {A.nrows} x {A.ncols}; an adjacency matrix is square")
    if isinstance(A, TransposedMatrix):
        return A.T
    return A if A._symmetric else A.T.new()


def _settings(options: Any) -> _Settings:
    unknown = options.keys() - Options.__annotations__.keys()
    if unknown:
        known = ", ".join(Options.__annotations__)
        raise TypeError(f"NeighborLoader: option {min(unknown)!r} is unknown; there are {known}")
    given = _Settings(**options)
    if given.num_workers != 0:
        raise InvalidValue(
            f"NeighborLoader: num_workers is {given.num_workers}; 0 is needed: batches are made in the graph's process"
            " (PyG's NodeLoader takes workers, with gb.loader.NeighborSampler on the CPU engine)"
        )
    return given


def _seeds(given: Any, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the vertices that batches are made of, and the `input_id` of each."""
    if given is None:
        return (every := np.arange(n)), every
    if isinstance(given, Vector):
        given = given.to_dense(fill_value=False)
    mask = np.asarray(given)
    if mask.dtype != np.bool_:
        seeds = arrays.ids(given, "NeighborLoader: seeds", n).astype(np.int64)
        return seeds, np.arange(seeds.size)
    if mask.shape != (n,):
        raise DimensionMismatch(f"NeighborLoader: seeds is a mask of shape {mask.shape}; {(n,)} is needed")
    seeds = np.flatnonzero(mask)
    return seeds, seeds
