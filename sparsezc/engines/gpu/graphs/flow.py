"""Maximum flows (ops.net_flow, flow.cu): rounds of push-relabel, and searches that compute heights between them.

Residual capacities are in device memory, one number for each entry; ids are read where they are stored. The launches of
both loops read the number of their rows from device memory: the host waits once for many launches, and replays them
from a recording.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.elementwise import matrix_index
from sparsezc.engines.gpu.elementwise.transpose import transposed
from sparsezc.engines.gpu.runtime import boolean_reductions, codegen, launch
from sparsezc.engines.gpu.storage.assembly import near
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.engines.gpu.storage.row_blocks import pieces
from sparsezc.engines.gpu.storage.vector_store import VectorStore
from sparsezc.exceptions import InvalidValue
from sparsezc.memory.device import DeviceBuffer
from sparsezc.semirings.types.datatypes import DataType

_LONG_ROW = 2048  # entries of a row that a warp processes at most; a block processes a longer one
_LEVELS = 32  # levels between two waits of the host; a multiple of 4, as two lists and four tallies take turns
_ROUNDS = 16  # rounds, of two launches each, between two waits of the host; even for the same reason
_FAR = 2**32 - 1


def net_flow(e: Any) -> MatrixStore:
    """Return the matrix of the net flow along each entry, from source to target."""
    A, s, t = e.operands
    rows = A._store.rows
    if rows is None:
        return MatrixStore(e.dtype, A._store.nrows, A._store.ncols, None)
    flow = _Flow(e, rows, e.dtype)
    flow.run("leave", int(flow.indptr[s.value + 1] - flow.indptr[s.value]), source=s.value)
    flow.drain(t.value, s.value)
    flow.drain(s.value, t.value)
    found = VectorStore(e.dtype, rows.nvals)
    found.put(cuda.current().xp.arange(rows.nvals), _values(rows, e.dtype) - flow.residual)
    return matrix_index.with_values(A._store, found)


class _Flow:
    """The state of a flow on the device; flow.cu explains its arrays."""

    def __init__(self, e: Any, rows: Rows, dtype: DataType) -> None:
        self.gpu = gpu = cuda.current()
        xp, n = gpu.xp, rows.nrows
        self.size, self.rows = n, near(rows, values=False)
        place = np.dtype(np.uint64 if rows.nvals >= 2**32 else np.uint32)
        self.key = np.dtype(np.uint64 if n >= 2**32 else np.uint32)
        self.back = _opposite(e, rows, place)
        self.indptr = rows.indptr
        self.residual, self.got = _values(rows, dtype), xp.zeros(rows.nvals, dtype.np_type)
        self.excess, self.height = xp.zeros(n, dtype.np_type), xp.empty(n, np.uint32)
        self.lists = [xp.empty(n, self.key) for _ in range(2)]
        self._prelude = kernel_prelude(self.rows.wide, self.key, place, dtype)
        self._arrays = {
            "indptr": self.indptr, "indices": self.rows.arguments.indices, "back": self.back, "residual": self.residual,
            "got": self.got, "excess": self.excess, "height": self.height, "raised": xp.empty(n, np.uint32),
            "mark": xp.zeros(n, np.uint32),
        }  # fmt: skip
        self._read: dict[str, dict[str, Any]] = {}  # the arrays that each kernel takes, by its name

    def drain(self, target: int, wall: int) -> None:
        """Push excess to `target`, not through `wall`, until no vertex with excess can reach it."""
        xp, one = self.gpu.xp, self.lists[0]
        levels, rounds = xp.zeros((4, 2), np.uint64), xp.zeros((4, 2), np.uint64)
        ends = {"target": target, "wall": wall}
        is_long = int(self.indptr[target + 1] - self.indptr[target]) > _LONG_ROW
        first = xp.asarray(np.array([not is_long, is_long], np.uint64))
        searching = _Batch(self.gpu, lambda: self.search(levels, wall))
        pushing = _Batch(self.gpu, lambda: self.push(rounds, ends))
        while True:
            self.height.fill(_FAR)
            self.height[target] = 0
            one[-1 if is_long else 0] = target
            levels.fill(0)
            levels[0] = first
            deepest = 0
            while searching.run(levels):
                deepest += _LEVELS
            rounds.fill(0)
            self.run("list_active", self.size, size=self.size, most=self.size, next=one, next_tally=rounds[0], **ends)
            if not int(rounds[0].sum()):
                return
            done = 0
            while pushing.run(rounds) and done < deepest // 2:
                done += _ROUNDS

    def search(self, tally: Any, wall: int) -> None:
        """Launch `_LEVELS` levels of the search for heights."""
        for k in range(_LEVELS):
            self._step("search", tally, k, self.lists[k % 2], self.lists[1 - k % 2], wall=wall)

    def push(self, tally: Any, ends: dict[str, int]) -> None:
        """Launch `_ROUNDS` rounds of push and gather."""
        one, other = self.lists
        for k in range(0, 2 * _ROUNDS, 2):
            self._step("push", tally, k, one, other, **ends)
            self._step("gather", tally, k + 1, other, one)

    def _step(self, name: str, tally: Any, k: int, listed: Any, following: Any, **ends: int) -> None:
        """Launch a kernel on a list of rows; it writes the next list."""
        self.run(
            name, 32 * self.size, listed=listed, most=self.size, tally=tally[k % 4], next=following,
            next_tally=tally[(k + 1) % 4], later_tally=tally[(k + 2) % 4], **ends,
        )  # fmt: skip

    def run(self, name: str, threads: int, **arguments: Any) -> None:
        """Launch a kernel with those of the state's arrays that it takes, and these arguments."""
        kernel = codegen.kernel(self.gpu, "flow.cu", self._prelude, name)
        if name not in self._read:
            taken = {parameter.name for parameter in codegen.signature("flow.cu", name).parameters}
            self._read[name] = {key: array for key, array in self._arrays.items() if key in taken}
        run = stats.counted(kernel, placements.in_device_memory(self.rows))
        run(launch.blocks(self.gpu, threads), **self._read[name], **arguments)


class _Batch:
    """A batch of launches that leaves its lists and tallies in the roles that they had, and so can be replayed."""

    def __init__(self, gpu: Any, body: Callable[[], None]) -> None:
        self._gpu, self._body = gpu, body
        self._runs = 0
        self._recording: Any = None

    def run(self, tally: Any) -> bool:
        """Run the batch; return whether its last launch has listed rows for the next one. Waits for the device."""
        if self._recording is not None:
            self._recording.replay()
        elif self._runs < 2 or stats.collecting is not None:  # the first compiles kernels
            self._body()
        else:
            with self._gpu.record() as self._recording:
                self._body()
            self._recording.replay()
        self._runs += 1
        return bool(self._gpu.asnumpy(tally[0]).any())


def _values(rows: Rows, dtype: DataType) -> Any:
    """Return a copy of the capacities, one for each entry."""
    xp = cuda.current().xp
    if rows.iso:
        return xp.repeat(rows.values.load(), rows.nvals)
    return rows.values.load().astype(dtype.np_type)  # a copy in any case


def _opposite(e: Any, rows: Rows, place: np.dtype[Any]) -> Any:
    """Return, for each entry (i, j), the position of the entry (j, i); raise InvalidValue if there is none."""
    xp = cuda.current().xp
    numbers = DeviceBuffer(xp.arange(rows.nvals, dtype=place))
    turned = transposed(Rows(rows.nrows, rows.ncols, rows.nvals, rows.indptr, rows.indices, numbers, False))
    alike = boolean_reductions.all_true(turned.indptr == rows.indptr) and all(
        boolean_reductions.all_true(turned.indices.load(a, b) == rows.indices.load(a, b))
        for a, b in pieces(rows.nvals, 2 * rows.indices.dtype.itemsize)
    )
    if not alike:
        raise InvalidValue(f"{e.operation}: {e.operands[0].name} has an entry (i, j) without (j, i)")
    return turned.values.load()


def kernel_prelude(wide: bool, key: np.dtype[Any], place: np.dtype[Any], dtype: DataType) -> str:
    """Return the prelude of flow.cu."""
    types = codegen.typedefs(
        Id="u64" if wide else "u32", Key=f"u{8 * key.itemsize}", Place=f"u{8 * place.itemsize}", T=dtype
    )
    return f"{types}\nconstexpr u64 LONG_ROW = {_LONG_ROW};"
