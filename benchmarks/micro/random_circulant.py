"""A symmetric random graph of any size that is made in seconds: no sort, no file, no edge list.

The neighbours of v are among v + s and v - s (mod n), for some thousand shifts s. An edge {u, v} is there if a hash of
the pair is below weight(u) * weight(v), so every row can be made alone, its ids ascend, and both ends of an edge agree.
Weights have a heavy tail, by hash of the vertex: degrees follow a power law (exponent 2.7) up to the number of shifts.
One vertex in 64 is an outlier: it has edges to other outliers only, 0.75 on average, so there are many small components
and isolated vertices beside the giant component.

Source: the idea of weights that multiply is that of F. Chung, L. Lu, Connected components in random graphs with given
expected degree sequences, Annals of Combinatorics 6, 2002, doi:10.1007/PL00012580.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import sparsezc as gb
from sparsezc import memory
from sparsezc.device import cuda
from sparsezc.device.launcher import Launcher
from sparsezc.engines import gpu as gpu_engine
from sparsezc.engines.gpu.runtime import launch
from sparsezc.memory.csr import Csr
from sparsezc.memory.device import DeviceBuffer
from sparsezc.semirings.types.datatypes import BOOL

MEAN = 150.0  # neighbours of a vertex
SHIFTS = 2048  # in one direction
_TAIL = 0.6  # a vertex of 2^k is 2^(0.6 k) times heavier than most
_OUTLIERS = 1 / 64  # of all vertices
_OUTLIER_DEGREE = 0.75
_BLOCK = 1 << 28  # entries that are made at once, in device memory


def _ignore(_text: str) -> None:
    """Ignore the text."""


@dataclass(frozen=True)
class Shifted:
    """The parameters of the graph.

    Attributes
    ----------
    n : int
        Vertices, at most 2^31.
    shifts : ndarray of uint32
        Ascending; with every s also n - s.
    weights : ndarray of float32, shape (33,)
        By the number of leading zeros of a vertex's hash, scaled so that a product is a bound for a hash of 32 bits.
    outliers : float32
        That bound for two outliers.
    """

    n: int
    shifts: NDArray[np.uint32]
    weights: NDArray[np.float32]
    outliers: np.float32

    @classmethod
    def of(
        cls, entries: int, mean: float = MEAN, shifts: int = SHIFTS, reach: int | None = None, seed: int = 1
    ) -> Shifted:
        """About so many entries, `mean` in a row, no neighbour farther than `reach` (by default: anywhere)."""
        n = int(entries / mean)
        most = (n - 1) // 2 if reach is None else min(reach, (n - 1) // 2)
        if not 2 * shifts < most or n > 2**31 or mean > shifts:
            raise ValueError(
                f"{entries:,} entries, {mean:g} a row, among {shifts} shifts of up to {most:,}: the rows must be fewer"
                " than 2^31, the shifts fewer than half of those there are and no fewer than a row has entries"
            )
        rng, one_way = np.random.default_rng(seed), np.empty(0, np.int64)
        while one_way.size < shifts:
            one_way = np.unique(np.concatenate([one_way, rng.integers(1, most + 1, shifts)]))
        one_way = rng.choice(one_way, shifts, replace=False)
        both = np.sort(np.concatenate([one_way, n - one_way])).astype(np.uint32)
        outliers = min(1.0, _OUTLIER_DEGREE / (2 * shifts * _OUTLIERS))
        return cls(n, both, _weights(mean / (2 * shifts)), np.float32(outliers * 2.0**32))

    def weight(self, vertices: NDArray[Any]) -> NDArray[np.float32]:
        """Return the weights of some vertices; those of outliers are 0."""
        h = _mixed(vertices)
        zeros = 32 - np.frexp(h.astype(np.float64))[1]  # the exponent of h is the number of its bits
        return np.where(h & np.uint32(63), self.weights[zeros], np.float32(0))

    def row(self, v: int) -> NDArray[np.uint32]:
        """Return the neighbours of a vertex."""
        others = np.sort((v + self.shifts.astype(np.int64)) % self.n).astype(np.uint32)
        mine, theirs = self.weight(np.array([v]))[0], self.weight(others)
        bound = np.where((theirs == 0) & (mine == 0), self.outliers, mine * theirs)
        return others[_paired(np.uint32(v), others).astype(np.float32) < bound]

    def csr(self, placement: str = "zerocopy", block: int = _BLOCK, said: Callable[[str], None] = _ignore) -> Csr:
        """Make the matrix, a block of rows at a time, each copied into its place; `said` hears how far it is."""
        gpu, (counting, filling) = cuda.current(), _kernels()
        xp = gpu.xp
        given = _Graph(self.n, self.shifts.size, xp.asarray(self.shifts), xp.asarray(self.weights), self.outliers)
        degree, blocks = xp.empty(self.n, np.uint32), launch.blocks(gpu, 32 * self.n)
        counting.launch(blocks, given, degree=degree)
        ends = xp.zeros(self.n + 1, np.int64)
        ends[1:] = xp.cumsum(degree, dtype=np.int64)
        del degree
        indptr = gpu.asnumpy(ends)
        said(f"{indptr[-1]:,} entries counted")
        ids = memory.allocate(placement, int(indptr[-1]), np.uint32)
        said(f"{ids.nbytes:,} bytes of {ids.pages} memory are there")
        cuts = [0]
        while cuts[-1] < self.n:
            end = int(np.searchsorted(indptr, indptr[cuts[-1]] + block, "right")) - 1
            cuts.append(min(max(end, cuts[-1] + 1), self.n))
        buffer = xp.empty(int(np.diff(indptr[cuts]).max()), np.uint32)
        for first, last in pairwise(cuts):
            part = buffer[: int(indptr[last] - indptr[first])]
            filling.launch(blocks, given, first=first, last=last, indptr=ends, out=part)
            ids.write(int(indptr[first]), part)
        one = DeviceBuffer(xp.ones(1, np.bool_))
        return Csr(self.n, self.n, indptr, ids, one, BOOL, iso=True, symmetric=True)


class _Graph(NamedTuple):
    """The arguments of both kernels."""

    n: int
    count: int
    shifts: Any
    weights: Any
    outliers: np.float32


def _kernels() -> tuple[Launcher, Launcher]:
    port = (
        (Path(gpu_engine.__file__).parent / "kernels" / "common" / "portability.cuh")
        .read_text()
        .replace("#pragma once", "")
    )
    text = f"{port}\n{(Path(__file__).parent / 'kernels' / 'random_circulant.cu').read_text()}"
    gpu = cuda.current()
    return Launcher.compiled(gpu, text, "degrees"), Launcher.compiled(gpu, text, "fill")


def _weights(density: float) -> NDArray[np.float32]:
    """Weights with which two vertices are joined with this probability on the average."""
    heavy = 2.0 ** (_TAIL * np.arange(33))
    share = 0.5 ** np.minimum(np.arange(1, 34), 32) * (1 - _OUTLIERS)  # of all vertices
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        found = share @ np.minimum(1, middle * np.outer(heavy, heavy)) @ share
        low, high = (middle, high) if found < density else (low, middle)
    return (np.sqrt(high * 2.0**32) * heavy).astype(np.float32)


def _mixed(x: NDArray[Any]) -> NDArray[np.uint32]:
    x = x.astype(np.uint32)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = (x ^ (x >> np.uint32(shift))) * np.uint32(factor)
    return x ^ (x >> np.uint32(16))


def _paired(u: np.uint32, others: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the hash of each pair."""
    x = np.minimum(u, others).astype(np.uint64) << np.uint64(32) | np.maximum(u, others)
    x = x * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return (x >> np.uint64(32)).astype(np.uint32)


def served(csr: Csr, placement: str) -> Any:
    """Return the matrix of a Csr in host memory, with pages that products read in this way."""
    ids = copy.copy(csr.indices)
    ids.placement = placement
    same = Csr(csr.nrows, csr.ncols, csr.indptr, ids, csr.values, csr.dtype, csr.iso, csr.symmetric)
    return gb.Matrix._from_csr(same, "gpu")
