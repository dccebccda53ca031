"""The methods of every engine: ``run``, and those of its stores.

An engine keeps *stores*: the content of a Matrix or a Vector (python-graphblas objects on the CPU engine, device arrays
on the GPU engine). A Matrix or Vector refers to an engine and a store, and only the engine reads the store. To add an
engine, write a class with the methods of :class:`Engine`, and call :func:`register`: docs/engines.md has an example.

The arguments of ``engine.run(expression, out, write)``
-------------------------------------------------------
All arguments were checked. Every operand, the output and the mask's parent are on the engine (``x._store`` is its
store). ``A``, ``B`` are Matrix or TransposedMatrix (``A._transposed``; its ``_store`` is that of the matrix ``A.T``
behind it). ``u``, ``v`` are Vectors; an ``x`` is any of these. ``s``, ``t`` are Scalars, which have no store: read
``s.value`` (None if it is empty, which happens in assign only) and ``s.dtype``. ``I``, ``J`` are
:class:`~sparsezc.expr.expression.IndexList`, P is a :class:`~sparsezc.expr.sampling.Pick` and W a
:class:`~sparsezc.expr.sampling.Trail` (that module has the rules by which all engines draw the same random numbers); t
is the largest weight of each row and w weights by column, if W uses them; R is an
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
distances            X, Y              None        Matrix of FP64: from the rows of X to those of Y
map_rows             A, B, ..., F      None        Matrix of FP64: row i is F of row i of each operand (ops/apply.py)
best_column          A, v              None        Vector: the column of each row's entries where v is largest
argsort              u                 None        Vector: positions of the least values, in their order
count_corners        A, B, M           None        Vector of INT64: triples with M(i, j), A(i, k), B(k, j), by vertex
kronecker            A, B              binary      Matrix: the Kronecker product
power                A, s              semiring    Matrix: the power s.value of A
ewise_add            x, y              binary      like x and y: union of the patterns
ewise_mult           x, y              binary      like x and y: intersection
ewise_union          x, s, y, t        binary      union; s replaces missing entries of x, t those of y
apply                x                 unary       like x
apply_left           s, x              binary      like x: op(s, x)
apply_right          x, s              binary      like x: op(x, s)
apply_index          x, s              indexunary  like x; s is the thunk; may be a select operator
select               x, s              select      like x; s is the thunk; may be an indexunary one
reduce               x                 monoid      Scalar
reduce_rowwise       A                 monoid      Vector; by columns where A is transposed
transpose            A                 None        Matrix: the transpose of A
assign               x or s, I [, J]   None        into out[I] or out[I, J]
subassign            x or s, I [, J]   None        the same; the mask has the shape of the assigned positions
extract              x, I [, J]        None        Scalar, Vector or Matrix
values_of            A                 None        Vector: the values of A's entries, by rows and columns
with_values          A, v              None        Matrix: A's entries with the values of v, by rows and columns
stack                A, B, ...         None        Matrix: the rows of each in turn
diag                 x, s              None        Matrix from a Vector, Vector from a Matrix; s is k
reposition           x, s [, t]        None        like x, of the expression's shape: moved by s (and t)
select_mask          x, y, M           None        like x: the entries that the mask of y allows; M is a MaskKind
best_label           A, u, s           semiring    Vector: the label that scores most in a row, where it is
                                                   not the row's own (ops/labels.py)
label_weight         A, u              semiring    Vector: the sum of row i within its label u(i)
move_labels          A, u, k|s, v|s,   semiring    Vector: the labels after rounds of moves; an empty Scalar
                     s, t, p                       means no vector; s is the scale, t the seed, p the least moves
join_labels          A, u, k, s, t     semiring    Vector: the labels that rows of the groups u joined
net_flow             R, s, t           None        Matrix: a largest flow from s to t at R's entries (ops/mxm.py)
color_rows           A, u              None        Vector: the smallest number that no neighbour of a
                                                   larger u has
sum_by_labels        A, u              semiring    Matrix: sums of entries by the labels of row and column
selectk              A, I, P           None        Matrix: a row for each of I, the entries that P picks
walk                 A, W [, t [, w]]  None        Matrix: a row for each walk, its vertices in order
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
* **assign**: the shape of x fits the index lists that are not single positions (``I.kind == "one"``); an empty Scalar
  deletes. The mask has the shape of ``out``; or, if ``out`` is a Matrix and one of I, J a single position, the shape of
  that row or column (``mask.parent.ndim == 1``): then nothing outside it is written, not even with `replace`.
  ``w << v`` and ``w << 3`` arrive as assign with ``I.kind == "all"``.
* **extract**: two single positions make a Scalar; of A, one makes a Vector, none a Matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparsezc.memory.csr import Csr
    from sparsezc.semirings.types.datatypes import DataType

__all__ = ["Engine"]


class Engine(Protocol):
    """The methods of every engine: it runs expressions and keeps stores. Arguments were checked before the call."""

    name: str
    lock: Any  # the lock of all its objects, if launches share the engine's state; None: each object has its own

    def run(self, expression: Any, out: Any, write: Any) -> None:
        """Compute an :class:`~sparsezc.expr.expression.Expression` and write it to `out` by the rule `write`."""

    # Stores. `store` is this engine's own object.
    def new_matrix(self, dtype: DataType, nrows: int, ncols: int) -> Any: ...
    def new_vector(self, dtype: DataType, size: int) -> Any: ...
    def matrix_from_csr(self, csr: Csr) -> Any: ...
    def matrix_to_csr(self, store: Any) -> Csr:
        """Return a Csr in buffers of the matrix's placement; arrays in host memory are copies."""

    def vector_from_coo(self, indices: NDArray[Any], values: NDArray[Any], dtype: DataType, size: int) -> Any:
        """Build from `indices`, ascending and distinct, and `values` of the type's dtype, or one value of all."""

    def vector_to_coo(self, store: Any) -> tuple[NDArray[Any], NDArray[Any]]: ...
    def dup(self, store: Any, dtype: DataType) -> Any: ...
    def nvals(self, store: Any) -> int: ...
    def clear(self, store: Any) -> None: ...
    def resize(self, store: Any, *shape: int) -> None: ...
    def wait(self, store: Any) -> None: ...
