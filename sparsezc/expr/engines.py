"""The engines: their protocol, their optional capabilities, and their registry.

An engine keeps *stores*: the content of a Matrix or a Vector (python-graphblas objects on the CPU engine, device arrays
on the GPU engine). A Matrix or Vector is an engine and a store, and only the engine looks into the store. To add an
engine, write a class with the methods of :class:`Engine`, and call :func:`register`: docs/engines.md has an example.

The arguments of ``engine.run(expression, out, write)``
-------------------------------------------------------
Everything was checked before. Every operand, the output and the mask's parent are on the engine (``x._store`` is its
store). ``A``, ``B`` are Matrix or TransposedMatrix (``A._transposed``; its ``_store`` is that of the matrix ``A.T``
behind it). ``u``, ``v`` are Vectors; an ``x`` is any of these. ``s``, ``t`` are Scalars, which have no store: read
``s.value`` (None if it is empty, which happens in assign only) and ``s.dtype``. ``I``, ``J`` are
:class:`~sparsezc.expr.expression.IndexList`, P is a :class:`~sparsezc.expr.draws.Pick` and W a
:class:`~sparsezc.expr.draws.Trail` (that module has the rules of chance, by which all engines draw the same); t is the
largest weight of each row and w weights by column, where W asks for them; R is an
:class:`~sparsezc.expr.expression.Inner`, F a :class:`~sparsezc.semirings.udf.rows.RowFunction`.

===================  ================  ==========  =================================================
operation            operands          op          makes
===================  ================  ==========  =================================================
mxv                  A, v              semiring    Vector
vxm                  v, A              semiring    Vector
mxm                  A, B              semiring    Matrix
inner                u, v              semiring    Scalar
outer                u, v              binary      Matrix: op(u(i), v(j))
sampled_mxm          A, X, Y, Z, R     semiring    Matrix: W Z for the W(A.S) << X Y over R's semiring
two_way_mxm          A, B, X           semiring    Matrix: W X and W'X by columns, W with values of B (ops/panels.py)
two_way_sampled_mxm  A, X, R           semiring    Matrix: W X and W'X for the W(A.S) << X X' over R's semiring
solve                G, B              None        Matrix of FP64: each row the x with G_i x = b_i (ops/mxm.py)
distances            X, Y              None        Matrix of FP64: of each row of X from each of Y
map_rows             A, B, ..., F      None        Matrix of FP64: F of the rows i of all is row i (ops/apply.py)
best_column          A, v              None        Vector: the column of each row's entries where v is largest
argsort              u                 None        Vector: positions of the least values, in their order
count_corners        A, B, M           None        Vector of INT64: triples with M(i, j), A(i, k), B(k, j), by vertex
kronecker            A, B              binary      Matrix: each entry of A with all of B
power                A, s              semiring    Matrix: A times itself, s.value times
ewise_add            x, y              binary      like x and y: union of the patterns
ewise_mult           x, y              binary      like x and y: intersection
ewise_union          x, s, y, t        binary      union; s stands in for x, t for y
apply                x                 unary       like x
apply_left           s, x              binary      like x: op(s, x)
apply_right          x, s              binary      like x: op(x, s)
apply_index          x, s              indexunary  like x; s is the thunk; may be a select operator
select               x, s              select      like x; s is the thunk; may be an indexunary one
reduce               x                 monoid      Scalar
reduce_rowwise       A                 monoid      Vector; by columns where A is transposed
transpose            A                 None        Matrix: the transpose of A
assign               x or s, I [, J]   None        into out[I] or out[I, J]
subassign            x or s, I [, J]   None        the same; the mask has the region's shape
extract              x, I [, J]        None        Scalar, Vector or Matrix
values_of            A                 None        Vector: the values of A's entries, by rows and columns
with_values          A, v              None        Matrix: A's entries with the values of v, by rows and columns
stack                A, B, ...         None        Matrix: the rows of each in turn
diag                 x, s              None        Matrix from a Vector, Vector from a Matrix; s is k
reposition           x, s [, t]        None        like x, of the expression's shape: moved by s (and t)
select_mask          x, y, M           None        like x: what the mask of y allows; M is a MaskKind
best_label           A, u, s           semiring    Vector: the label that scores most in a row, where it is
                                                   not the row's own (ops/labels.py)
label_weight         A, u              semiring    Vector: what a row i has within the label u(i)
move_labels          A, u, k|s, v|s,   semiring    Vector: the labels after rounds of moves; an empty Scalar
                     s, t, p                       is no vector; s is the scale, t the seed, p the least moves
join_labels          A, u, k, s, t     semiring    Vector: the parts of the groups u, by their rows' joins
net_flow             R, s, t           None        Matrix: a largest flow from s to t at R's entries (ops/mxm.py)
color_rows           A, u              None        Vector: the smallest number that no neighbour of a
                                                   larger u has
sum_by_labels        A, u              semiring    Matrix: sums of entries by the labels of row and column
selectk              A, I, P           None        Matrix: a row for each of I, the entries that P picks
walk                 A, W [, t [, w]]  None        Matrix: a row a walk, its vertices in their order
===================  ================  ==========  =================================================

An ``aggregate`` (x, steps; op an aggregator) never reaches an engine: :mod:`sparsezc.expr.dispatch` runs its steps, and
the last step replaces it.

``op`` is a TypedOp. ``write`` is a :class:`~sparsezc.expr.dispatch.Write`: its mask, None or a
:class:`~sparsezc.expr.mask.Mask`; its accumulator, None or the TypedOp of a binary operator, whose operands are ``out``
and the result; and `replace`, False without a mask. Types: operands are converted to ``op.type``, the result is of
``expression.dtype`` and is converted to ``out.dtype`` (with `accum`: both to ``accum.type``). The output may also be an
operand or the mask: its old content is read until the result is computed.

* **ewise_add, ewise_mult, ewise_union** of a Matrix and a Vector make a Matrix: a vector on the right stands for every
  row, one on the left for every column. Of two Scalars they make a Scalar, as apply and select of one do; these have no
  store anywhere and run on the CPU engine.
* **reduce, inner, and extract of one element**: ``out`` is a Scalar. The engine calls
  ``out._receive(expression, value, write.accum)`` with the value, or with None where there was no entry.
* **assign**: the shape of x fits the index lists that are no single positions (``I.kind == "one"``); an empty Scalar
  deletes. The mask has the shape of ``out``; or, where ``out`` is a Matrix and one of I, J a single position, that of
  the one row or column (``mask.parent.ndim == 1``), and then nothing outside of it is written, by `replace` either.
  ``w << v`` and ``w << 3`` arrive as assign with ``I.kind == "all"``.
* **extract**: both lists single positions make a Scalar; one, a Vector; none, a Matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from sparsezc.config import Config
from sparsezc.device import cuda
from sparsezc.errors import DeviceUnavailable, InvalidValue
from sparsezc.process import first_use

if TYPE_CHECKING:
    from sparsezc.expr.draws import Hops, Pick, Subgraph, Trail
    from sparsezc.memory.csr import Csr
    from sparsezc.semirings.types.datatypes import DataType

__all__ = ["Capabilities", "Engine", "capability", "get", "has_placements", "register", "stepping"]


class Engine(Protocol):
    """The methods of every engine: it runs expressions and keeps stores. Arguments were checked before the call."""

    name: str
    lock: Any  # the lock of all its objects, if launches share the engine's state; None: each object has its own

    def run(self, expression: Any, out: Any, write: Any) -> None:
        """Compute an :class:`~sparsezc.expr.expression.Expression` and write it to an object, as `write` says."""

    # Stores. `store` is this engine's own object.
    def new_matrix(self, dtype: DataType, nrows: int, ncols: int) -> Any: ...
    def new_vector(self, dtype: DataType, size: int) -> Any: ...
    def matrix_from_csr(self, csr: Csr) -> Any: ...
    def matrix_to_csr(self, store: Any) -> Csr:
        """Return a Csr in buffers of the matrix's placement; arrays in host memory are copies."""

    def vector_from_coo(self, indices: NDArray[Any], values: NDArray[Any], dtype: DataType, size: int) -> Any:
        """Build from `indices`, ascending and distinct, and `values` of the type's dtype, or one value for all."""

    def vector_to_coo(self, store: Any) -> tuple[NDArray[Any], NDArray[Any]]: ...
    def dup(self, store: Any, dtype: DataType) -> Any: ...
    def nvals(self, store: Any) -> int: ...
    def clear(self, store: Any) -> None: ...
    def resize(self, store: Any, *shape: int) -> None: ...
    def wait(self, store: Any) -> None: ...


class Capabilities(Protocol):
    """Methods that only some engines have, any of them or none. Callers ask for them by :func:`capability`.

    Each returns None if the engine cannot do it for this store, as :func:`capability` does for an engine without the
    method.
    """

    def placements(self) -> tuple[str, ...] | None:
        """Return the names of placements for its matrices, if it has others than host memory."""

    def reader(self, csr: Csr) -> Engine | None:
        """Return the engine that reads a mapped matrix where it is, for loops; for statements :meth:`load` moves it."""

    def load(self, x: Any) -> None:
        """Move an object of an engine that runs no statements to one that does."""

    def row_lengths(self, store: Any) -> NDArray[Any] | None:
        """Return the number of entries of each row, if no statement has to count them."""

    def adopt_csr(self, csr: Csr) -> Any:
        """Make a store as ``matrix_from_csr`` does, taking over arrays that own their memory: the Csr must not be used
        afterwards.
        """

    def full_values(self, store: Any) -> Any:
        """Return the values of a matrix that has every entry, as an array of its shape in host memory."""

    def matrix_from_full(self, values: NDArray[Any], dtype: DataType) -> Any:
        """Make a store with an entry for each element of an array, in one copy."""

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

    def beside(self, other: Engine) -> None:
        """Raise an error if objects of another engine cannot take part in this one's statements."""

    def distributed(self, matrix: Any) -> Any:
        """Return a matrix with a part on each process, itself if there is one process."""

    def refuse_different(self, given: Any, method: str) -> None:
        """Raise an error if processes are about to give this engine different objects by a method of theirs."""

    def storage(self, store: Any) -> tuple[str, str | None, int]:
        """Return the content's format, its placement if the engine has several, and its bytes: repr shows these."""

    def agreed(self, *found: Any) -> tuple[Any, ...] | None:
        """Return arrays of equal shapes that every process computed, as the first has them: a collective."""

    def on_whole(self, store: Any, what: str) -> None:
        """Warn that each process does a step of an algorithm on all entries, or refuse as ``config.fallback`` says."""

    def summary(self, store: Any) -> str:
        """Return the content in a few words, if counting its entries needs other processes: repr shows this."""

    def keep_transpose(self, store: Any) -> None:
        """Store a matrix by columns too, if that lets the engine choose between push and pull."""

    def afford_transpose(self, store: Any) -> None:
        """Store a matrix by columns too, for repeated products with the transpose, if faster and if memory allows."""

    def resident(self, store: Any, times: int) -> Any:
        """Return a copy of a matrix in the engine's fastest memory, where that has room for so many copies of it."""

    def sample(self, store: Any) -> Any:
        """Return a matrix with some entries of each row, hubs first, that is cheap to read."""

    def pointers(self, store: Any) -> Any:
        """Return a square matrix with a true entry (i, v(i)) for each entry of a vector of positions."""

    def follow(self, store: Any, starts: NDArray[Any], length: int, meanwhile: Callable[[], None]) -> Any:
        """Return walks along a vector of positions as a matrix, as ``walk`` along its pointers does.

        `meanwhile` is called once, while an engine that computes beside the host walks.
        """

    def compress(self, store: Any, order: str) -> Any:
        """Return the same matrix with its ids in less memory.

        `order`: the engine's own vertex order, "natural", "degree" or "auto".
        """

    def reorder(self, store: Any, vertices: NDArray[Any]) -> Any:
        """Return the same square matrix with ``vertices[k]`` at place k; results do not show this order."""

    def id_bytes(self, store: Any) -> int | None:
        """Return the memory that the ids of a matrix take."""

    def sample_hops(self, store: Any, transposed: bool, seeds: NDArray[Any], hops: Hops) -> Subgraph | None:
        """Return what :class:`~sparsezc.expr.draws.Hops` picks from a matrix, or its transpose; seeds are int64."""

    def pick_entries(self, store: Any, listed: NDArray[Any], pick: Pick, values: bool) -> Any:
        """Return what is picked from listed rows, read where they are, as arrays in host memory.

        These are the places in the list, positions, columns and, if wanted, values; an entry that is drawn again is
        listed again.
        """

    def walk_steps(self, store: Any, trail: Trail, top: Any, by: Any) -> Any:
        """Return an object whose ``step`` takes walks one step further along rows that it reads where they are.

        `top`, `by`: vectors of the largest weight of each row, and of weights by column, or None.
        """

    def hold_rows(self, array: NDArray[Any], placement: str | None) -> Callable[[Any], Any] | None:
        """Return a function that reads rows of an array of bytes, n x m, by their numbers, in the engine's memory.

        The array is copied to a placement, by default the configured one; numbers are an array of int64 there.
        """

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
        """Return what a loop over a matrix's rows returns in machine code: :func:`sparsezc.core.replay.run_loop`."""

    def run_arrays(
        self,
        loop: Callable[..., Any],
        given: tuple[Any, ...],
        cost: float,
        over: range | None = None,
        again: Callable[[list[Any]], bool] | None = None,
    ) -> Any:
        """Return what a loop over arrays returns in machine code: :func:`sparsezc.core.replay.run_arrays`."""

    def lend_rows(self, store: Any) -> Any:
        """Return a context that lends a matrix's rows in host memory: :func:`sparsezc.core.replay.lent_rows`."""

    def part(self, matrix: Any, cost: float, values: Any) -> Any:
        """Return the rows that this process has, for loops: :func:`sparsezc.core.replay.part`."""

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

        See :func:`sparsezc.core.replay.local_pagerank`.
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


def capability(engine: Engine, name: str) -> Callable[..., Any]:
    """Return the method of :class:`Capabilities` of this name; without it, a function that returns None."""
    found: Callable[..., Any] = getattr(engine, name, _cannot)
    return found


def _cannot(*_: Any) -> None:
    pass


#: The capabilities that run rounds of a loop, or tell degrees, in place of statements.
_LOOPS = (
    "search", "searches", "shorten", "components", "local_pagerank", "follow", "part", "run_loop", "run_arrays",
    "replay", "replay_buckets", "row_lengths",
)  # fmt: skip


def runs_arrays(engine: Engine) -> bool:
    """Return whether an engine runs loops over arrays: not one that runs their statements meanwhile."""
    return capability(engine, "run_arrays") is not _cannot


@contextmanager
def stepping(engine: Any) -> Iterator[None]:
    """Have an engine run the statements of every loop meanwhile, as an engine without these capabilities does."""
    for name in _LOOPS:
        setattr(engine, name, _cannot)
    try:
        yield
    finally:
        for name in _LOOPS:  # the class's own are seen again
            delattr(engine, name)


def has_placements(engine: Engine) -> bool:
    """Return whether its matrices can be in other memory than the host's."""
    return capability(engine, "placements")() is not None


#: For each engine the function that returns it, and starts it at its first call.
_known: dict[str, Callable[[], Engine]] = {
    name: first_use.provided(f"engine {name}") for name in ("cpu", "gpu", "distributed")
}
_OURS = frozenset({"cpu", "gpu"})  # a program may start another distributed one, on other processes
_running: dict[str, Engine] = {}  # of ours, those that were started
_METHODS = [name for name in vars(Engine) if name[0] != "_"]


def register(name: str, engine: str | Engine) -> None:
    """Make another engine known to ``config.engine``, ``A.to(name)`` and ``v.to(name)``.

    Parameters
    ----------
    name : str
        The engine's name; it replaces an engine that was registered under it before.
    engine : Engine or str
        The engine, whose `name` this is; or the name of a module with a function ``engine()``, which is called whenever
        the engine is needed.

    Raises
    ------
    InvalidValue
        The name is one of sparsezc's own, or not the engine's.
    TypeError
        The engine lacks a method of :class:`Engine`.
    """
    if name in _OURS or name == "auto":
        raise InvalidValue(f"engine name {name!r} is taken: it is sparsezc's own")
    if not isinstance(engine, str):
        missing = [method for method in (*_METHODS, "name", "lock") if not hasattr(engine, method)]
        if missing:
            raise TypeError(f"engine {name!r} lacks {', '.join(missing)}; see sparsezc.expr.engines.Engine")
        if engine.name != name:
            raise InvalidValue(f"engine {name!r} calls itself {engine.name!r}; both must be the same")
    _known[name] = first_use.function(engine, "engine") if isinstance(engine, str) else lambda: engine
    Config.engines.add(name)


def get(name: str, asked: str | None = None) -> Engine:
    """Return the engine of this name, started on first use; `asked`: the user's setting that needs it.

    Raises
    ------
    InvalidValue
        The name is unknown.
    DeviceUnavailable
        The engine is ``"gpu"`` and no GPU can be used; the message gives the reason.
    """
    if name not in _known:
        known = " or ".join(map(repr, _known))
        raise InvalidValue(f"engine={name!r} is not an engine; choose {known}")
    running = _running.get(name)
    if running is not None and (name == "cpu" or cuda.reason() is None):
        return running
    try:
        engine = _known[name]()
    except DeviceUnavailable as error:
        if asked is None:
            raise
        raise DeviceUnavailable(f"{asked} needs a GPU, and there is {error}") from None
    if name in _OURS:
        _running[name] = engine
    return engine
