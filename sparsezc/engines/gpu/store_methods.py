"""The methods of the GPU engine that make, read and change stores; the CPU engine handles user-defined types."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.device import cuda
from sparsezc.engines.gpu import array_exchange, matrix_conversions
from sparsezc.engines.gpu.elementwise import panel, panel_parts, vector_map
from sparsezc.engines.gpu.graph_replay import Depth, Limit, Replay
from sparsezc.engines.gpu.graphs.components import components
from sparsezc.engines.gpu.graphs.local_pagerank import local_pagerank
from sparsezc.engines.gpu.graphs.paths import shorten
from sparsezc.engines.gpu.graphs.search import search
from sparsezc.engines.gpu.layouts import head_cache
from sparsezc.engines.gpu.products.spgemm_rows import the_one_value
from sparsezc.engines.gpu.runtime import launch
from sparsezc.engines.gpu.runtime.engine_state import ENGINE_STATE
from sparsezc.engines.gpu.sampling import selectk, walks
from sparsezc.engines.gpu.sampling.feature_rows import FeatureRows
from sparsezc.engines.gpu.sampling.hops import sample_hops
from sparsezc.engines.gpu.sampling.walks import Steps
from sparsezc.engines.gpu.several_processes import search_levels
from sparsezc.engines.gpu.several_processes.colors import SharedColors
from sparsezc.engines.gpu.several_processes.labels import SharedMoves
from sparsezc.engines.gpu.several_processes.search_step import SharedStep
from sparsezc.engines.gpu.storage import assembly, vector_store
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore
from sparsezc.engines.gpu.storage.user_typed import HostStore, host_engine
from sparsezc.engines.gpu.storage.vector_store import MaskBits, VectorStore
from sparsezc.expr.mask import Mask
from sparsezc.expr.sampling import Hops, Pick, Subgraph, Trail
from sparsezc.memory.csr import Csr
from sparsezc.memory.placement import RECORDS, choices
from sparsezc.semirings.types.datatypes import DataType


class Keeper:
    """The methods of the engine protocol that run no statements; see :class:`sparsezc.expr.engines.Engine`.

    A method that would only call a function with its own arguments is that function.
    """

    def new_matrix(self, dtype: DataType, nrows: int, ncols: int) -> Any:
        if dtype.is_udt:
            return HostStore(host_engine().new_matrix(dtype, nrows, ncols))
        return MatrixStore(dtype, nrows, ncols, None)

    def new_vector(self, dtype: DataType, size: int) -> Any:
        return HostStore(host_engine().new_vector(dtype, size)) if dtype.is_udt else VectorStore(dtype, size)

    matrix_from_csr = staticmethod(MatrixStore.from_csr)

    def matrix_to_csr(self, store: Any) -> Csr:
        if isinstance(store, HostStore):
            csr: Csr = host_engine().matrix_to_csr(store.store)
            return csr
        return matrix_conversions.csr_of(store)

    @launch.locked
    def vector_from_coo(self, indices: NDArray[Any], values: NDArray[Any], dtype: DataType, size: int) -> Any:
        if dtype.is_udt:
            return HostStore(host_engine().vector_from_coo(indices, values, dtype, size))
        xp = cuda.current().xp
        store = VectorStore(dtype, size)
        if indices.size:
            numbers = xp.array(np.ascontiguousarray(values).astype(dtype.np_type, copy=False))  # always a copy
            full = indices.size == size  # positions are ascending and distinct, so all are present
            store.put(xp.arange(size) if full else xp.asarray(np.ascontiguousarray(indices)), numbers)
        return store

    def vector_to_coo(self, store: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        if isinstance(store, HostStore):
            found: tuple[NDArray[Any], NDArray[Any]] = host_engine().vector_to_coo(store.store)
            return found
        gpu = cuda.current()
        store.arrange(None)
        at, values = store.entries()  # only present entries are copied over the link
        return gpu.asnumpy(at).astype(np.uint64), gpu.asnumpy(values)

    vector_to_arrays = staticmethod(vector_store.to_arrays)

    def vector_from_arrays(self, form: str, arrays: tuple[Any, ...], dtype: DataType, size: int) -> VectorStore:
        if arrays[-1] is None and form != "ids":
            bits = arrays[0] if form == "words" else vector_store.all_present(size)
            return panel.SameVector(dtype, size, bits, dtype.np_type.type(1), size if form == "full" else None)
        return vector_store.from_arrays(form, arrays, dtype, size)

    @launch.locked
    def frontier_entries(self, vector: VectorStore, matrix: MatrixStore) -> int | None:
        rows = None if isinstance(matrix, HostStore) else matrix.held(matrix.order)[0]
        if rows is None or isinstance(vector, HostStore) or rows.nrows != vector.size:
            return None
        if vector.bits is None:
            return 0
        vector.arrange(rows.order)
        return vector.count_rows(rows)

    @launch.locked
    def set_column_degrees(self, matrix: Any, degrees: NDArray[Any]) -> None:
        rows = None if isinstance(matrix, HostStore) else matrix.held(matrix.order)[0]
        if rows is not None:
            rows.facts[head_cache.ColumnDegrees].of(degrees)

    def dup(self, store: Any, dtype: DataType) -> Any:
        if isinstance(store, HostStore):
            return HostStore(host_engine().dup(store.store, dtype))
        if isinstance(store, MatrixStore):
            return matrix_conversions.cast(store, dtype)
        return vector_map.cast(store, dtype)

    def nvals(self, store: Any) -> int:
        if isinstance(store, HostStore):
            return int(store.store.nvals)
        count: int = store.nvals if isinstance(store, MatrixStore) else store.nvals()
        return count

    def clear(self, store: Any) -> None:
        if isinstance(store, HostStore):
            store.store.clear()
        elif isinstance(store, MatrixStore):
            store.replace(None)
        else:
            store.clear()

    def resize(self, store: Any, *shape: int) -> None:
        ENGINE_STATE.note_resized()
        if isinstance(store, HostStore):
            store.store.resize(*shape)
            return
        if isinstance(store, MatrixStore):
            matrix_conversions.resize(store, *shape)
            return
        indices, values = self.vector_to_coo(store)
        kept = indices < shape[0]
        store.take(self.vector_from_coo(indices[kept], values[kept], store.dtype, shape[0]))

    def wait(self, store: Any) -> None:
        held = store.panel if isinstance(store, MatrixStore) else None
        if held is not None and isinstance(held.vector, panel.ArrivingVector):
            held.vector.arrive()
        cuda.current().synchronize()

    # Methods that only some engines have; see :class:`sparsezc.expr.engines.Capabilities`

    def placements(self) -> tuple[str, ...]:
        return choices(files=True)[1:]

    def storage(self, store: Any) -> tuple[str, str | None, int]:
        if isinstance(store, HostStore):
            found: tuple[str, str | None, int] = host_engine().storage(store.store)
            return found
        if isinstance(store, VectorStore):
            return "bitmap", "device", store.size * store.dtype.np_type.itemsize + 4 * store.nwords
        if store.is_panel:
            return "fullr", store.placement, store.nvals * store.dtype.np_type.itemsize
        rows = store.in_stored_order()[0]
        parts = [] if rows is None else [rows.indptr, rows.indices, rows.values]
        iso = " (iso)" if rows is not None and rows.iso else ""
        return f"csr{iso}", store.placement, sum(part.nbytes for part in parts)

    def full_values(self, store: Any) -> Any:
        if isinstance(store, HostStore) or not store.is_panel or store.nvals != store.nrows * store.ncols:
            return None
        return panel_parts.to_full(store.panel)

    @launch.locked
    def matrix_from_full(self, values: NDArray[Any], dtype: DataType) -> MatrixStore | None:
        shape = None if dtype.is_udt else panel.shape_of(*values.shape)
        if shape is None or not panel.fits(values.size, dtype):
            return None
        store = MatrixStore(dtype, values.shape[0], values.shape[1], None)
        store.hold(panel_parts.from_full(values, dtype, *shape))
        return store

    def keep_transpose(self, store: Any) -> None:
        if isinstance(store, MatrixStore):
            matrix_conversions.keep_transpose(store)

    def afford_transpose(self, store: Any) -> None:
        """Build the transpose of a matrix in device memory; over the link a push streams rows as fast as a pull."""
        if isinstance(store, MatrixStore) and RECORDS[store.placement].resident:
            matrix_conversions.afford_transpose(store)

    @launch.locked
    def resident(self, store: Any, times: int) -> MatrixStore | None:
        return None if isinstance(store, HostStore) else matrix_conversions.resident(store, times)

    @launch.locked
    def sample(self, matrix: Any) -> MatrixStore | None:
        store = matrix._store
        held, columns = (None, None) if isinstance(store, HostStore) else store.held(store.order)
        if held is None:
            return None
        rows = head_cache.sample(held, columns, store.dtype)
        return None if rows is None else MatrixStore(store.dtype, store.nrows, store.ncols, rows)

    @launch.locked
    def sample_hops(self, store: Any, transposed: bool, seeds: NDArray[np.int64], hops: Hops) -> Subgraph:
        if isinstance(store, HostStore):
            found: Subgraph = host_engine().sample_hops(store.store, transposed, seeds, hops)
            return found
        read = matrix_conversions.transpose(store) if transposed else store
        return sample_hops(read, cuda.current().xp.asarray(seeds), hops)

    @launch.locked
    def pick_entries(self, store: Any, listed: NDArray[np.int64], pick: Pick, values: bool) -> Any:
        if isinstance(store, HostStore):
            return None
        gpu, rows = cuda.current(), assembly.rows_of(store)
        *places, picked = selectk.entries(rows, store.dtype, gpu.xp.asarray(listed), pick, values=values)
        return (*(gpu.asnumpy(x).astype(np.int64) for x in places), None if picked is None else gpu.asnumpy(picked))

    @launch.locked
    def walk_steps(self, store: Any, trail: Trail, top: Any, by: Any) -> Steps | None:
        return None if isinstance(store, HostStore) else Steps(assembly.rows_of(store), store.dtype, trail, top, by)

    def row_reader(self, array: NDArray[Any], placement: str | None) -> Callable[[Any], Any]:
        held = FeatureRows(array, placement)
        return lambda at: held.read(array_exchange.array(at))

    @launch.locked
    def vector_of_rows(self, store: Any) -> Any:
        if isinstance(store, HostStore):
            return None
        held = store.panel if store.is_panel else None
        if held is None or not held.across or held.width != store.nrows:
            held = panel.build(store, store.nrows, across=True)
        return held.vector

    @launch.locked
    def rows_of_vector(self, vector: VectorStore, nrows: int) -> MatrixStore:
        made = MatrixStore(vector.dtype, nrows, vector.size // nrows, None)
        return panel.put_panel(made, panel.Panel(nrows, True, vector))

    @launch.locked
    def shared_step(self, op: Any, frontier: Any, push: Any, pull: Any, mask: Mask | None) -> SharedStep | None:
        same = the_one_value(op)
        if same is None:
            return None
        pushed, pulled = (None if each is None else each.held()[0] for each in (push, pull))
        bits = MaskBits() if mask is None else vector_store.bits_of(mask, self.vector_of_rows(mask.parent._store))
        x = panel.Panel(frontier.nrows, True, self.vector_of_rows(frontier))
        return SharedStep(same, op.return_type, pushed, pulled, x, bits)

    @launch.locked
    def shared_searches(
        self, starts: NDArray[np.int64], shape: tuple[int, int], push: Any, pull: Any
    ) -> search_levels.SharedSearches | None:
        with suppress(MemoryError):  # if memory is short on one rank, all run statements instead
            pushed, pulled = (None if each is None else each.held()[0] for each in (push, pull))
            return search_levels.from_starts(starts, shape, pushed, pulled)
        return None

    @launch.locked
    def shared_moves(self, e: Any, *given: Any, joins: bool) -> SharedMoves | None:
        return None if isinstance(e.operands[0]._store, HostStore) else SharedMoves(e, *given, joins=joins)

    @launch.locked
    def shared_colors(self, store: Any, order: NDArray[np.int64], first: int, last: int) -> SharedColors | None:
        return None if isinstance(store, HostStore) else SharedColors(store, order, first, last)

    pointers = staticmethod(matrix_conversions.pointers)
    follow = staticmethod(walks.follow)

    def compress(self, store: Any, order: str) -> MatrixStore | None:
        return None if isinstance(store, HostStore) else matrix_conversions.compress(store, order)

    def reorder(self, store: Any, vertices: NDArray[Any]) -> MatrixStore | None:
        return None if isinstance(store, HostStore) else matrix_conversions.reorder(store, vertices)

    def run_arrays(self, *given: Any) -> Any:
        return host_engine().run_arrays(*given)

    def lend_rows(self, store: Any) -> Any:
        return None if isinstance(store, HostStore) else matrix_conversions.lend_rows(store)

    def id_bytes(self, store: Any) -> int | None:
        if isinstance(store, HostStore):
            return None
        rows = store.in_stored_order()[0]
        return 0 if rows is None else rows.indices.nbytes

    def search(self, matrix: Any, start: VectorStore | int, parents: bool) -> VectorStore | None:
        with suppress(MemoryError):  # statements need less memory, or report what is short
            return None if isinstance(matrix, HostStore) else search(matrix, start, parents)
        return None

    def searches(self, matrix: Any, sources: NDArray[np.int64]) -> MatrixStore | None:
        with suppress(MemoryError):
            return None if isinstance(matrix, HostStore) else search_levels.searches(matrix, sources)
        return None

    def shorten(
        self, matrix: Any, near: VectorStore, distance: VectorStore, limits: tuple[float, float, float, int | None]
    ) -> bool | None:
        with suppress(MemoryError):
            return None if isinstance(matrix, HostStore) else shorten(matrix, near, distance, limits)
        return None

    def components(self, matrix: Any) -> VectorStore | None:
        with suppress(MemoryError):
            return None if isinstance(matrix, HostStore) else components(matrix)
        return None

    def local_pagerank(
        self, matrix: Any, seeds: NDArray[np.int64], limits: tuple[float, float, float, int, int]
    ) -> Any:
        with suppress(MemoryError):
            return None if isinstance(matrix, HostStore) else local_pagerank(matrix, seeds, limits)
        return None

    def replay(self, frontier: VectorStore, number: int) -> Replay:
        return Replay(frontier, Depth(number))

    def replay_buckets(
        self,
        near: VectorStore,
        distance: VectorStore,
        limits: tuple[float, float, float],
        continues: Callable[[], bool],
    ) -> Replay:
        return Replay(near, Limit(distance, *limits), continues)
