"""The methods that only some engines have, by the part of the package that asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparsezc.expr.engines.protocol import Engine
    from sparsezc.expr.sampling import Hops, Pick, Subgraph, Trail
    from sparsezc.memory.csr import Csr
    from sparsezc.semirings.types.datatypes import DataType

__all__ = ["Capabilities"]


class StorageCapabilities(Protocol):
    """Methods for how a matrix or vector is stored, moved and shown."""

    def placements(self) -> tuple[str, ...] | None:
        """Return the names of placements for the engine's matrices, if there are others than host memory."""

    def load(self, x: Any) -> None:
        """Move an object to an engine that runs statements, if its own engine runs none."""

    def reader(self, csr: Csr) -> Engine | None:
        """Return the engine whose loops read a mapped matrix in its file; for statements :meth:`load` moves it."""

    def adopt_csr(self, csr: Csr) -> Any:
        """Make a store as ``matrix_from_csr`` does, taking over arrays that own their memory: the Csr must not be used
        afterwards.
        """

    def full_values(self, store: Any) -> Any:
        """Return the values of a full matrix, as an array of its shape in host memory."""

    def matrix_from_full(self, values: NDArray[Any], dtype: DataType) -> Any:
        """Make a full matrix's store from an array, in one copy."""

    def storage(self, store: Any) -> tuple[str, str | None, int]:
        """Return the content's format, its placement if the engine has several, and its bytes: repr shows these."""

    def summary(self, store: Any) -> str:
        """Return a short text for repr, if the engine should not count all entries (on other ranks, in a file)."""

    def keep_transpose(self, store: Any) -> None:
        """Store a matrix by columns too, if that lets the engine choose between push and pull."""

    def afford_transpose(self, store: Any) -> None:
        """Store a matrix by columns too, for repeated products with the transpose, if faster and if memory allows."""

    def resident(self, store: Any, times: int) -> Any:
        """Return a copy of a matrix in the engine's fastest memory, if `times` copies fit there."""

    def compress(self, store: Any, order: str) -> Any:
        """Return the same matrix with its ids in less memory.

        `order`: the engine's own vertex order, "natural", "degree" or "auto".
        """

    def reorder(self, store: Any, vertices: NDArray[Any]) -> Any:
        """Return the same square matrix with vertex ``vertices[k]`` stored at place k; results do not change."""

    def id_bytes(self, store: Any) -> int | None:
        """Return the bytes of a matrix's stored ids."""

    def row_reader(self, array: NDArray[Any], placement: str | None) -> Callable[[Any], Any] | None:
        """Return a function that reads rows of an n x m array of bytes by number, into the engine's memory.

        The array is copied to a placement, by default the configured one; the numbers are int64 in the engine's memory.
        """


class LoopCapabilities(Protocol):
    """Methods for whole loops of algorithms, in place of their statements (:mod:`sparsezc.core.engine_loops`)."""

    def run_loop(
        self,
        store: Any,
        loop: Callable[..., Any],
        given: tuple[Any, ...],
        cost: float,
        values: Any,
        over: range | None,
        again: Callable[[list[Any]], bool] | None,
    ) -> Any:
        """Run a compiled loop over rows and return its result: :func:`sparsezc.core.engine_loops.run_loop`.

        `cost`: nanoseconds that the statements take for each row and entry at least; infinite: the loop must run.
        """

    def run_arrays(
        self,
        loop: Callable[..., Any],
        given: tuple[Any, ...],
        cost: float,
        over: range | None = None,
        again: Callable[[list[Any]], bool] | None = None,
    ) -> Any:
        """Run a compiled loop over arrays and return its result: :func:`sparsezc.core.engine_loops.run_arrays`.

        `cost`: nanoseconds that the statements take in all at least; infinite: the loop must run.
        """

    def lend_rows(self, store: Any) -> Any:
        """Return a context that lends a matrix's rows in host memory: :func:`sparsezc.core.engine_loops.lent_rows`."""

    def row_lengths(self, store: Any) -> NDArray[Any] | None:
        """Return the number of entries of each row, if that needs no statement."""

    def search(self, matrix: Any, start: Any, parents: bool) -> Any:
        """Return a vector of the levels of a breadth-first search along the rows of a square matrix.

        Levels are INT32, 0 at `start`: a vertex, or the entries of a vector. With `parents` the values are INT64, the
        vertex before each; at `start` the vertex itself, or the vector's values.
        """

    def searches(self, matrix: Any, sources: NDArray[Any]) -> Any:
        """Return a matrix of the INT32 levels of searches along a square matrix's rows, with a row for each source."""

    def shorten(
        self, matrix: Any, near: Any, distance: Any, limits: tuple[float, float, float, int | None]
    ) -> bool | None:
        """Lower the distances of a full vector by the edges of a matrix until none changes, and return true.

        Edge lengths are >= 0. Paths start at the entries of `near`, which is overwritten. `limits`: the width of a
        bucket of delta-stepping, the largest distance needed, the least length, and a vertex beyond whose distance no
        distance is needed, or None. The search ends early if an integer distance wraps around.
        """

    def components(self, matrix: Any) -> Any:
        """Return a full INT64 vector of the smallest vertex of each vertex's weak component, of a square matrix."""

    def local_pagerank(self, matrix: Any, seeds: NDArray[Any], limits: tuple[float, float, float, int, int]) -> Any:
        """Return the l1-regularised PageRank around vertices of a symmetric matrix without self-loops.

        See :func:`sparsezc.core.engine_loops.local_pagerank`.
        """

    def pointers(self, store: Any) -> Any:
        """Return a square matrix with a true entry (i, v(i)) for each entry of a vector of positions."""

    def follow(self, store: Any, starts: NDArray[Any], length: int, meanwhile: Callable[[], None]) -> Any:
        """Return walks along a vector of positions as a matrix, as ``walk`` along its pointers does.

        `meanwhile` is called once during the walk, by an engine that runs asynchronously to the host.
        """

    def replay(self, frontier: Any, number: int) -> Any:
        """Return an iterator that runs the rounds of a loop over a frontier, from `number` on, without the host.

        It yields device scalars, each the number of a round. Afterwards its `rounds` is the number of rounds.
        """

    def replay_buckets(
        self, near: Any, distance: Any, limits: tuple[float, float, float], continues: Callable[[], bool]
    ) -> Any:
        """Return an iterator that runs rounds of delta-stepping without the host; it yields each round's bucket limit.

        Afterwards its ``number()`` returns the limit. `limits`: the limit, its increase, and the last limit. The loop
        ends when `continues` returns false.
        """


class SamplingCapabilities(Protocol):
    """Methods for samples of neighbours and walks, from rows that are read where they are stored."""

    def sample(self, matrix: Any) -> Any:
        """Return a store with the first entries of each row of a Matrix, hubs first, if it is cheaper to read."""

    def sample_hops(self, store: Any, transposed: bool, seeds: NDArray[Any], hops: Hops) -> Subgraph | None:
        """Return the subgraph that a :class:`~sparsezc.expr.sampling.Hops` picks; `seeds` are int64."""

    def pick_entries(self, store: Any, listed: NDArray[Any], pick: Pick, values: bool) -> Any:
        """Return the entries picked from listed rows, read where they are stored, as arrays in host memory.

        The arrays are the places in `listed`, positions, columns and, with `values`, values; an entry that is drawn
        again is listed again.
        """

    def walk_steps(self, store: Any, trail: Trail, top: Any, by: Any) -> Any:
        """Return an object whose ``step`` extends walks by one step; it reads rows where they are stored.

        `top`, `by`: vectors of the largest weight of each row, and of weights by column, or None.
        """


class RankCapabilities(Protocol):
    """Methods for a rank's part of distributed objects, asked by the distributed engine of its local one."""

    def vector_to_arrays(self, store: Any, form: str) -> tuple[Any, ...]:
        """Return the content of a vector of at least one position as arrays in the engine's memory.

        `form`: "full" gives the values of a full vector; "words" presence words (32 positions a uint32) and a value for
        each position; "bits" the words alone; "ids" positions, ascending, and values. Ranks exchange vectors in these
        forms.
        """

    def vector_from_arrays(self, form: str, arrays: tuple[Any, ...], dtype: DataType, size: int) -> Any:
        """Make a store from the arrays of a form, which the engine may take over; values None: every value is 1."""

    def by_position(self, vector: Any) -> None:
        """Store a vector in a form in which products can look up entries by position."""

    def frontier_entries(self, vector: Any, matrix: Any) -> int | None:
        """Return the number of entries in the matrix rows at which a vector has entries; count the vector's, too.

        None: the engine cannot count without reading the vector's positions.
        """

    def set_column_degrees(self, matrix: Any, degrees: NDArray[Any]) -> None:
        """Give the store of some rows each column's degree in the whole matrix, or numbers that order columns alike."""

    def vector_of_rows(self, store: Any) -> Any:
        """Return a matrix of k rows, k small, as a vector: entry (i, j) is at j * k + i. Memory may be shared."""

    def rows_of_vector(self, vector: Any, nrows: int) -> Any:
        """Make a matrix of `nrows` rows from such a vector, whose memory the engine may take over."""

    def shared_step(self, op: Any, frontier: Any, push: Any, pull: Any, mask: Any) -> Any:
        """Return a step of at most 64 searches that ranks run together; None: entries can have several values.

        `frontier` is this rank's part of a matrix with a row for each search; `push` and `pull` are its rows of a
        matrix and of the transpose, None if not to be used; `mask` is the mask of its part of the result.
        """

    def shared_searches(self, starts: NDArray[Any], shape: tuple[int, int], push: Any, pull: Any) -> Any:
        """Return all levels of at most 64 searches that ranks run together; None: memory is short.

        `shape`: the numbers of searches and of this rank's vertices. Search i starts at this rank's vertex j for each
        ``j * shape[0] + i`` in `starts`. `push` and `pull` are as in ``shared_step``.
        """

    def shared_moves(
        self, e: Any, first: int, last: int, start: NDArray[Any], shares: NDArray[Any] | None, scale: float, *,
        joins: bool,
    ) -> Any:  # fmt: skip
        """Return an object that moves rows first..last-1 between labels, in step with other ranks.

        It reads the rows where they are stored; the expression's matrix has entries in these rows only. `start`, the
        labels, and `shares`, the sums of rows, are of all rows.
        """

    def shared_colors(self, store: Any, order: NDArray[Any], first: int, last: int) -> Any:
        """Return an object that colours rows first..last-1, read where they are stored, in step with other ranks."""


class ProcessCapabilities(Protocol):
    """Methods for objects that several processes share, as the distributed engine has them."""

    def require_compatible(self, other: Engine) -> None:
        """Raise an error if objects of another engine cannot take part in this one's statements."""

    def distributed(self, matrix: Any) -> Any:
        """Return a matrix with a part on each rank; the matrix itself if there is one rank."""

    def refuse_different(self, given: Any, method: str) -> None:
        """Raise an error on every rank if `given` differs between ranks; the message names the user's `method`."""

    def communicator(self) -> Any:
        """Return the transport of the ranks that have parts of the engine's objects; its methods are collectives."""

    def agreed(self, *found: Any) -> tuple[Any, ...] | None:
        """Return rank 0's arrays in place of those that every rank computed, of equal shapes: a collective."""

    def on_whole(self, store: Any, what: str) -> None:
        """Warn that each rank runs step `what` on all entries, or raise an error, as ``config.fallback`` requires."""

    def part(self, matrix: Any, cost: float, values: Any) -> Any:
        """Return this rank's part of the rows, for loops: :func:`sparsezc.core.engine_loops.part`."""


class Capabilities(
    StorageCapabilities, LoopCapabilities, SamplingCapabilities, RankCapabilities, ProcessCapabilities, Protocol
):
    """Methods that only some engines have, any of them or none.

    Callers ask for them by :func:`~sparsezc.expr.engines.capability`. Each returns None if the engine cannot do it for
    this store, as :func:`~sparsezc.expr.engines.capability`'s function does for an engine without the method.
    """
