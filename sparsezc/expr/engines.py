"""The engines: what an engine is, what some can do beyond that, and which there are.

An engine keeps *stores*: whatever it holds behind a Matrix or a Vector (python-graphblas objects on the CPU engine,
device arrays on the GPU engine). A Matrix or Vector is an engine and a store, and only the engine looks into the store.
Adding one is writing a class with the methods of :class:`Engine`, and :func:`register`: docs/engines.md has an example.

What ``engine.run(expression, out, write)`` receives
----------------------------------------------------
Everything was checked before. Every operand, the output and the mask's parent are on the engine (``x._store`` is its
store). ``A``, ``B`` are Matrix or TransposedMatrix (``A._transposed``; its ``_store`` is that of the matrix behind it,
``A.T``). ``u``, ``v`` are Vectors; an ``x`` is any of these. ``s``, ``t`` are Scalars, which have no store: read
``s.value`` (None where it is empty, which happens in assign only) and ``s.dtype``. ``I``, ``J`` are
:class:`~sparsezc.expr.expression.IndexList`, P is a :class:`~sparsezc.expr.draws.Pick` and W a
:class:`~sparsezc.expr.draws.Trail` (that module has the rules of chance, by which all engines draw the same); t is the
largest weight of each row and w weights by column, where W asks for them; R is an
:class:`~sparsezc.expr.expression.Inner`.

==============  ================  ==========  =================================================
operation       operands          op          makes
==============  ================  ==========  =================================================
mxv             A, v              semiring    Vector
vxm             v, A              semiring    Vector
mxm             A, B              semiring    Matrix
inner           u, v              semiring    Scalar
outer           u, v              binary      Matrix: op(u(i), v(j))
sampled_mxm     A, X, Y, Z, R     semiring    Matrix: W Z for the W(A.S) << X Y over R's semiring
best_column     A, v              None        Vector: the column of each row's entries where v is largest
kronecker       A, B              binary      Matrix: each entry of A with all of B
power           A, s              semiring    Matrix: A times itself, s.value times
ewise_add       x, y              binary      like x and y: union of the patterns
ewise_mult      x, y              binary      like x and y: intersection
ewise_union     x, s, y, t        binary      union; s stands in for x, t for y
apply           x                 unary       like x
apply_left      s, x              binary      like x: op(s, x)
apply_right     x, s              binary      like x: op(x, s)
apply_index     x, s              indexunary  like x; s is the thunk; may be a select operator
select          x, s              select      like x; s is the thunk; may be an indexunary one
reduce          x                 monoid      Scalar
reduce_rowwise  A                 monoid      Vector; by columns where A is transposed
transpose       A                 None        Matrix: the transpose of A
assign          x or s, I [, J]   None        into out[I] or out[I, J]
subassign       x or s, I [, J]   None        the same; the mask has the region's shape
extract         x, I [, J]        None        Scalar, Vector or Matrix
diag            x, s              None        Matrix from a Vector, Vector from a Matrix; s is k
reposition      x, s [, t]        None        like x, of the expression's shape: moved by s (and t)
select_mask     x, y, M           None        like x: what the mask of y allows; M is a MaskKind
best_label      A, u, v|s,        semiring    Vector: the label that scores most in a row, where it is
                k|s, l|s, s, s                not the row's own (ops/labels.py); a Scalar is no vector
label_weight    A, u, v           semiring    Vector: what a row i has within the label v(i)
selectk         A, I, P           None        Matrix: a row for each of I, the entries that P picks
walk            A, W [, t [, w]]  None        Matrix: a row a walk, its vertices in their order
==============  ================  ==========  =================================================

An ``aggregate`` (x, steps; op an aggregator) never gets to an engine: :mod:`sparsezc.expr.dispatch` runs its steps, the
last one in its place.

``op`` is a TypedOp. ``write`` is a :class:`~sparsezc.expr.dispatch.Write`: its mask, None or a
:class:`~sparsezc.expr.mask.Mask`; its accumulator, None or the TypedOp of a binary operator, whose operands are ``out``
and the result; and `replace`, False without a mask. Types: operands are converted to ``op.type``, the result is of
``expression.dtype`` and is converted to ``out.dtype`` (with `accum`: both to ``accum.type``). The output may also be an
operand or the mask: its old content counts until all is computed.

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

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from sparsezc.config import Config
from sparsezc.errors import DeviceUnavailable, InvalidValue

if TYPE_CHECKING:
    from sparsezc.memory.csr import Csr
    from sparsezc.semirings.types.datatypes import DataType

__all__ = ["Capabilities", "Engine", "capability", "get", "has_placements", "register"]


class Engine(Protocol):
    """What every engine can do: run an expression, and keep stores. Arguments were checked before they come here."""

    name: str
    lock: Any  # of all its objects, where launches share what the engine keeps; None: each object has its own

    def run(self, expression: Any, out: Any, write: Any) -> None:
        """Compute an :class:`~sparsezc.expr.expression.Expression` and write it to a Matrix, Vector or Scalar as
        `write` says.
        """

    # Stores. `store` is this engine's own object.
    def new_matrix(self, dtype: DataType, nrows: int, ncols: int) -> Any: ...
    def new_vector(self, dtype: DataType, size: int) -> Any: ...
    def matrix_from_csr(self, csr: Csr) -> Any: ...
    def matrix_to_csr(self, store: Any) -> Csr:
        """In buffers of the matrix's placement; what lies in host memory is a copy."""

    def vector_from_coo(self, indices: NDArray[Any], values: NDArray[Any], dtype: DataType, size: int) -> Any:
        """`indices` ascending and distinct; `values` of the type's dtype, or one value for all."""

    def vector_to_coo(self, store: Any) -> tuple[NDArray[Any], NDArray[Any]]: ...
    def dup(self, store: Any, dtype: DataType) -> Any: ...
    def nvals(self, store: Any) -> int: ...
    def clear(self, store: Any) -> None: ...
    def resize(self, store: Any, *shape: int) -> None: ...
    def wait(self, store: Any) -> None: ...


class Capabilities(Protocol):
    """What only some engines can do: an engine has any of these methods, or none. Callers ask by :func:`capability`.

    Each returns None where it cannot do it for this store, as :func:`capability` does for an engine without it.
    """

    def placements(self) -> tuple[str, ...] | None:
        """Where its matrices can lie, if not in host memory: names of placements."""

    def keep_transpose(self, store: Any) -> None:
        """Hold a matrix by columns too, where that lets the engine choose between push and pull."""

    def afford_transpose(self, store: Any) -> None:
        """The same for products with the transpose again and again, where these gain by it and there is room."""

    def sample(self, store: Any) -> Any:
        """A matrix with some entries of each row, hubs first, that costs little to read."""

    def pointers(self, store: Any) -> Any:
        """A square matrix with an entry (i, v(i)) for each entry of a vector of positions; its values are true."""

    def compress(self, store: Any, order: str) -> Any:
        """The same matrix with its ids in less memory. `order`: "natural", "degree" or "auto", how it may number
        vertices for itself.
        """

    def reorder(self, store: Any, vertices: NDArray[Any]) -> Any:
        """The same square matrix with ``vertices[k]`` at place k, hidden from all others."""

    def id_bytes(self, store: Any) -> int | None:
        """The memory that the ids of a matrix take."""

    def replay(self, frontier: Any, number: int) -> Any:
        """The rounds of a loop over a frontier from this number on, without the host: an iterator of scalars of the
        device, each the number of a round. Afterwards its `rounds` says how many there were.
        """

    def replay_buckets(
        self, near: Any, distance: Any, limits: tuple[float, float, float], goes_on: Callable[[], bool]
    ) -> Any:
        """The same for delta-stepping, whose rounds differ by the limit of the bucket in work, which ``number()`` tells
        afterwards. `limits`: this limit, by how much it rises, and the last. It ends where `goes_on` says no.
        """


def capability(engine: Engine, name: str) -> Callable[..., Any]:
    """The method of :class:`Capabilities` of this name; for an engine without it a function that returns None."""
    found: Callable[..., Any] = getattr(engine, name, _cannot)
    return found


def _cannot(*_: Any) -> None:
    pass


def has_placements(engine: Engine) -> bool:
    """Whether its matrices can lie elsewhere than in host memory."""
    return capability(engine, "placements")() is not None


#: Each engine, or the module whose function ``engine()`` starts it on first use.
_known: dict[str, str | Engine] = {"cpu": "sparsezc.engines.cpu", "gpu": "sparsezc.engines.gpu"}
_OURS = frozenset(_known)
_METHODS = [name for name in vars(Engine) if name[0] != "_"]


def register(name: str, engine: str | Engine) -> None:
    """Let ``config.engine``, ``A.to(name)`` and ``v.to(name)`` speak of another engine.

    Parameters
    ----------
    name : str
        Which takes the place of an engine that was registered under it before.
    engine : Engine or str
        The engine, whose `name` this is; or the name of a module with a function ``engine()``, which is called whenever
        the engine is asked for.

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
    _known[name] = engine
    Config.engines.add(name)


def get(name: str, asked: str | None = None) -> Engine:
    """The engine of this name, started on first use; `asked`: what the user said that needs it.

    Raises
    ------
    InvalidValue
        For an unknown name.
    DeviceUnavailable
        For ``"gpu"`` where no GPU can be used; the message says why.
    """
    if name not in _known:
        known = " or ".join(map(repr, _known))
        raise InvalidValue(f"engine={name!r} is not an engine; choose {known}")
    found = _known[name]
    if not isinstance(found, str):
        return found
    try:
        engine: Engine = import_module(found).engine()
    except DeviceUnavailable as error:
        if asked is None:
            raise
        raise DeviceUnavailable(f"{asked} needs a GPU, and there is {error}") from None
    return engine
