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
        """Return the names of placements for its matrices, if it has others than host memory."""

    def load(self, x: Any) -> None:
        """Move an object of an engine that runs no statements to one that does."""

    def reader(self, csr: Csr) -> Engine | None:
        """Return the engine that reads a mapped matrix where it is, for loops; for statements :meth:`load` moves it."""

    def adopt_csr(self, csr: Csr) -> Any:
        """Make a store as ``matrix_from_csr`` does, taking over arrays that own their memory: the Csr must not be used
        afterwards.
        """

    def full_values(self, store: Any) -> Any:
        """Return the values of a matrix that has every entry, as an array of its shape in host memory."""

    def matrix_from_full(self, values: NDArray[Any], dtype: DataType) -> Any:
        """Make a store with an entry for each element of an array, in one copy."""

    def storage(self, store: Any) -> tuple[str, str | None, int]:
        """Return the content's format, its placement if the engine has several, and its bytes: repr shows these."""

    def summary(self, store: Any) -> str:
        """Return the content in a few words, if counting its entries needs other processes: repr shows this."""

    def keep_transpose(self, store: Any) -> None:
        """Store a matrix by columns too, if that lets the engine choose between push and pull."""

    def afford_transpose(self, store: Any) -> None:
        """Store a matrix by columns too, for repeated products with the transpose, if faster and if memory allows."""

    def resident(self, store: Any, times: int) -> Any:
        """Return a copy of a matrix in the engine's fastest memory, if so many copies of it fit there."""

    def compress(self, store: Any, order: str) -> Any:
        """Return the same matrix with its ids in less memory.

        `order`: the engine's own vertex order, "natural", "degree" or "auto".
        """

    def reorder(self, store: Any, vertices: NDArray[Any]) -> Any:
        """Return the same square matrix with ``vertices[k]`` at place k; results do not show this order."""

    def id_bytes(self, store: Any) -> int | None:
        """Return the memory that the ids of a matrix take."""

    def hold_rows(self, array: NDArray[Any], placement: str | None) -> Callable[[Any], Any] | None:
        """Return a function that reads rows of an array of bytes, n x m, by their numbers, in the engine's memory.

        The array is copied to a placement, by default the configured one; numbers are an array of int64 there.
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
        """Return what a loop over rows returns, in machine code: :func:`sparsezc.core.engine_loops.run_loop`."""

    def run_arrays(
        self,
        loop: Callable[..., Any],
        given: tuple[Any, ...],
        cost: float,
        over: range | None = None,
        again: Callable[[list[Any]], bool] | None = None,
    ) -> Any:
        """Return what a loop over arrays returns in machine code: :func:`sparsezc.core.engine_loops.run_arrays`."""

    def lend_rows(self, store: Any) -> Any:
        """Return a context that lends a matrix's rows in host memory: :func:`sparsezc.core.engine_loops.lent_rows`."""

    def row_lengths(self, store: Any) -> NDArray[Any] | None:
        """Return the number of entries of each row, if no statement has to count them."""

    def search(self, matrix: Any, start: Any, parents: bool) -> Any:
        """Return a vector of the levels of a breadth-first search along the rows of a square matrix.

        They are INT32, 0 at `start`: a vertex, or the entries of a vector. With `parents` they are INT64, the vertex
        before each; the vertex itself, or the vector's own values, at `start`.
        """

    def searches(self, matrix: Any, sources: NDArray[Any]) -> Any:
        """Return a matrix of the levels of searches along the rows of a square matrix, a row for each source; INT32."""

    def shorten(
        self, matrix: Any, near: Any, distance: Any, limits: tuple[float, float, float, int | None]
    ) -> bool | None:
        """Lower the distances of a full vector by the edges of a matrix until none changes, and return true.

        Their lengths are >= 0. Paths start at the entries of `near`, which is overwritten. `limits`: the width of a
        bucket of delta-stepping, the largest distance that is asked for, the least length, and a vertex beyond whose
        distance none is.
        It ends early if an integer distance wraps around.
        """

    def components(self, matrix: Any) -> Any:
        """Return a full vector of the smallest vertex of each vertex's weak component, INT64, of a square matrix."""

    def local_pagerank(self, matrix: Any, seeds: NDArray[Any], limits: tuple[float, float, float, int, int]) -> Any:
        """Return the l1-regularised PageRank around vertices of a symmetric matrix without loops.

        See :func:`sparsezc.core.engine_loops.local_pagerank`.
        """

    def pointers(self, store: Any) -> Any:
        """Return a square matrix with a true entry (i, v(i)) for each entry of a vector of positions."""

    def follow(self, store: Any, starts: NDArray[Any], length: int, meanwhile: Callable[[], None]) -> Any:
        """Return walks along a vector of positions as a matrix, as ``walk`` along its pointers does.

        `meanwhile` is called once, while an engine that computes beside the host walks.
        """

    def replay(self, frontier: Any, number: int) -> Any:
        """Return the rounds of a loop over a frontier, from this number on, which run without the host.

        It is an iterator of device scalars, each the number of a round. Afterwards its `rounds` is the number of
        rounds.
        """

    def replay_buckets(
        self, near: Any, distance: Any, limits: tuple[float, float, float], continues: Callable[[], bool]
    ) -> Any:
        """Return the rounds of delta-stepping, which run without the host; each has a limit of its bucket.

        ``number()`` returns this limit afterwards. `limits`: the limit, its increase, and the last limit. The loop ends
        when `continues` returns false.
        """


class SamplingCapabilities(Protocol):
    """Methods for samples of neighbours and walks, from rows that are read where they are stored."""

    def sample(self, matrix: Any) -> Any:
        """Return the store of a matrix with some entries of each row of a Matrix, hubs first, that is cheap to read."""

    def sample_hops(self, store: Any, transposed: bool, seeds: NDArray[Any], hops: Hops) -> Subgraph | None:
        """Return what :class:`~sparsezc.expr.sampling.Hops` picks from a matrix, or its transpose; seeds are int64."""

    def pick_entries(self, store: Any, listed: NDArray[Any], pick: Pick, values: bool) -> Any:
        """Return the entries picked from listed rows, read where they are stored, as arrays in host memory.

        These are the places in the list, positions, columns and, if wanted, values; an entry that is drawn again is
        listed again.
        """

    def walk_steps(self, store: Any, trail: Trail, top: Any, by: Any) -> Any:
        """Return an object whose ``step`` takes walks one step further along rows that it reads where they are.

        `top`, `by`: vectors of the largest weight of each row, and of weights by column, or None.
        """


class RankCapabilities(Protocol):
    """Methods for a rank's part of distributed objects, asked by the distributed engine of its local one."""

    def vector_to_arrays(self, store: Any, form: str) -> tuple[Any, ...]:
        """Return the content of a vector of at least one position as arrays in the engine's memory.

        `form`: "full" gives the values of a full vector; "words" presence words (32 positions a uint32) and a value for
        each position; "bits" the words alone; "ids" positions, ascending, and values. Vectors travel between processes
        in these forms.
        """

    def vector_from_arrays(self, form: str, arrays: tuple[Any, ...], dtype: DataType, size: int) -> Any:
        """Make a store of such arrays, which the engine may take over; values None: each is 1."""

    def by_position(self, vector: Any) -> None:
        """Keep a vector so that an entry is found by its position, as products do that read it at random."""

    def frontier_entries(self, vector: Any, matrix: Any) -> int | None:
        """Return how many entries of a matrix's rows are at a vector's entries, which are counted too.

        None: the engine cannot count them without reading the vector's positions.
        """

    def rank_columns(self, matrix: Any, degrees: NDArray[Any]) -> None:
        """Tell the store of some rows of a matrix the number of entries of each column in the whole, or its order."""

    def vector_of_rows(self, store: Any) -> Any:
        """Return a matrix of few rows as a vector: entry (i, j) of k rows is entry j * k + i. It may share memory."""

    def rows_of_vector(self, vector: Any, nrows: int) -> Any:
        """Make a matrix of `nrows` rows of such a vector, which it may take over."""

    def shared_step(self, op: Any, frontier: Any, push: Any, pull: Any, mask: Any) -> Any:
        """Return a step of at most 64 searches that processes take together; None: the semiring has several values.

        `frontier` is this process's part of a matrix with a row for each search; `push` and `pull` its rows of a matrix
        and of the transpose, None where it is not to be used; the `mask` is of its part of the result.
        """

    def shared_searches(self, starts: NDArray[Any], shape: tuple[int, int], push: Any, pull: Any) -> Any:
        """Return all levels of at most 64 searches that processes take together; None: memory is short.

        `shape`: the searches, and the vertices of this process. Search i starts at its vertex j for each ``j *
        shape[0] + i`` of `starts`. `push` and `pull` are as in ``shared_step``.
        """

    def shared_moves(
        self, e: Any, first: int, last: int, start: NDArray[Any], shares: NDArray[Any] | None, scale: float, *,
        joins: bool,
    ) -> Any:  # fmt: skip
        """Return the moves of rows first..last-1 between labels, which it reads where they are, beside other processes.

        The expression's matrix has entries in these rows alone. `start` and `shares` are of all rows.
        """

    def shared_colors(self, store: Any, order: NDArray[Any], first: int, last: int) -> Any:
        """Return the colouring of rows first..last-1, which it reads where they are, beside other processes."""


class ProcessCapabilities(Protocol):
    """Methods for objects that several processes share, as the distributed engine has them."""

    def beside(self, other: Engine) -> None:
        """Raise an error if objects of another engine cannot take part in this one's statements."""

    def distributed(self, matrix: Any) -> Any:
        """Return a matrix with a part on each process, itself if there is one process."""

    def refuse_different(self, given: Any, method: str) -> None:
        """Raise an error if processes are about to give this engine different objects by a method of theirs."""

    def communicator(self) -> Any:
        """Return how the processes that have parts of its objects exchange; its methods are collectives."""

    def agreed(self, *found: Any) -> tuple[Any, ...] | None:
        """Return arrays of equal shapes that every process computed, as the first has them: a collective."""

    def on_whole(self, store: Any, what: str) -> None:
        """Warn that each process does a step of an algorithm on all entries, or refuse as ``config.fallback`` says."""

    def part(self, matrix: Any, cost: float, values: Any) -> Any:
        """Return the rows that this process has, for loops: :func:`sparsezc.core.engine_loops.part`."""


class Capabilities(
    StorageCapabilities, LoopCapabilities, SamplingCapabilities, RankCapabilities, ProcessCapabilities, Protocol
):
    """Methods that only some engines have, any of them or none.

    Callers ask for them by :func:`~sparsezc.expr.engines.capability`. Each returns None if the engine cannot do it for
    this store, as :func:`~sparsezc.expr.engines.capability`'s function does for an engine without the method.
    """
