"""EMOGI's algorithms in our own kernels: rounds over a CSR whose ids and lengths are in host memory.

Source: S. Min, V. Mailthody, Z. Qureshi, J. Xiong, E. Ebrahimi, W. Hwu, EMOGI: Efficient Memory-access for
Out-of-memory Graph-traversal in GPUs, PVLDB 14(2), 2021, doi:10.14778/3425879.3425883. The kernels are in
kernels/emogi.cu.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.model.emogi import PATTERNS, of_rows, per_row
from benchmarks.model.requests import Requests
from sparsezc.device.launcher import THREADS, Launcher
from sparsezc.engines import gpu as gpu_engine

UNREACHED = 2**32 - 1


def source(pattern: str, id_bytes: int = 4, length_bytes: int = 1) -> str:
    """Return the full text of kernels/emogi.cu for a pattern and widths, with its headers inserted."""
    port = Path(gpu_engine.__file__).parent / "kernels" / "common" / "portability.cuh"
    types = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}
    number = PATTERNS.index(pattern)  # the order of the kernels' enum
    prelude = f"typedef {types[id_bytes]} Id;\ntypedef {types[length_bytes]} Length;\nconstexpr int PATTERN = {number};"
    text = (Path(__file__).parent / "kernels" / "emogi.cu").read_text()
    return f"{port.read_text().replace('#pragma once', '')}\nnamespace szc {{\n{prelude}\n}}\n{text}"


@dataclass(eq=False)
class Edges:
    """A CSR: offsets on the device, addresses of ids and lengths that kernels can read.

    Attributes
    ----------
    indptr : device array of int64, shape (n + 1,)
    indices, lengths : int
        Addresses; `lengths` may be 0 if no shortest paths are computed.
    """

    indptr: Any
    indices: int
    lengths: int
    id_bytes: int
    length_bytes: int

    @property
    def n(self) -> int:
        return int(self.indptr.size) - 1


@dataclass
class Count:
    """The requests over the link of all rounds of one call."""

    ids: Requests = field(default_factory=Requests)
    lengths: Requests = field(default_factory=Requests)
    rounds: int = 0

    @property
    def all(self) -> Requests:
        return self.ids + self.lengths


class Variant:
    """EMOGI's algorithms with one access pattern.

    Parameters
    ----------
    edges : Edges
        In any kind of memory: the kind of its pages makes the variant zero-copy or UVM.
    """

    def __init__(self, gpu: Any, edges: Edges, pattern: str) -> None:
        self.gpu, self.xp, self.edges, self.pattern = gpu, gpu.xp, edges, pattern
        self.begin, self.end = edges.indptr[:-1], edges.indptr[1:]
        self._requests = cache(self._rows_requests)

    def as_array(self, answer: Any) -> Any:
        """Return an answer as an array on the device, with the value for unreached vertices at absent entries."""
        return answer

    def _launch(self, name: str, **arguments: Any) -> None:
        edges, threads = self.edges, self.edges.n * (1 if self.pattern == "naive" or name == "jump" else 32)
        kernel = _compiled(self.gpu, self.pattern, edges.id_bytes, edges.length_bytes, name)
        if name != "jump":
            arguments |= {"indptr": edges.indptr, "indices": edges.indices}
        kernel.launch(-(-threads // THREADS), nrows=edges.n, **arguments)

    def _rows_requests(self, itemsize: int) -> Any:
        return per_row(self.begin, self.end, itemsize, self.pattern, self.xp)

    def counting(self, count: Count, *, lengths: bool = False) -> Callable[[Any], None]:
        """Return a function that adds the requests of a round's active vertices to `count`."""

        def add(active: Any) -> None:
            rows = self.end - self.begin
            count.rounds += 1
            count.ids += of_rows(self._requests(self.edges.id_bytes), rows, active, self.edges.id_bytes)
            if lengths:
                width = self.edges.length_bytes
                count.lengths += of_rows(self._requests(width), rows, active, width)

        return add

    def of_search(self, level: Any) -> Count:
        """Return the requests of a search, derived from its answer: each reached vertex was active in one round."""
        count = Count()
        self.counting(count)(level >= 0)
        count.rounds = int(level.max()) + 1
        return count

    def bfs(self, start: int, look: Callable[[Any], None] | None = None) -> Any:
        """Return levels, -1 for unreached vertices; `look` receives the active vertices before each round."""
        level = self.xp.full(self.edges.n, -1, np.int32)
        level[start] = 0
        depth, going = 0, True
        while going:
            if look:
                look(level == depth)
            changed = self.xp.zeros(1, np.uint32)
            self._launch("bfs", level=level, depth=depth, changed=changed)
            depth, going = depth + 1, bool(changed[0])
        return level

    def sssp(self, start: int, look: Callable[[Any], None] | None = None) -> Any:
        """Return distances over integer lengths, UNREACHED for unreached vertices."""
        distance = self.xp.full(self.edges.n, UNREACHED, np.uint32)
        active = self.xp.zeros(self.edges.n, np.uint8)
        distance[start], active[start] = 0, 1
        going = True
        while going:
            if look:
                look(active != 0)
            changed, following = self.xp.zeros(1, np.uint32), self.xp.zeros(self.edges.n, np.uint8)
            rounds = {"distance": distance, "active": active, "next": following, "changed": changed}
            self._launch("sssp", lengths=self.edges.lengths, **rounds)
            active, going = following, bool(changed[0])
        return distance

    def cc(self, _start: None = None, look: Callable[[Any], None] | None = None) -> Any:
        """Return the smallest vertex of each vertex's component; the graph must be symmetric."""
        component = self.xp.arange(self.edges.n, dtype=np.uint32)
        before, active = component.copy(), self.xp.ones(self.edges.n, np.uint8)
        going = True
        while going:
            if look:
                look(active != 0)
            changed = self.xp.zeros(1, np.uint32)
            self._launch("hook", component=component, active=active, changed=changed)
            self._launch("jump", component=component, before=before, active=active)
            going = bool(changed[0])
        return component


@cache
def _compiled(gpu: Any, pattern: str, id_bytes: int, length_bytes: int, name: str) -> Launcher:
    return Launcher.compiled(gpu, source(pattern, id_bytes, length_bytes), name)
