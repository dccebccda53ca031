"""``w[I]`` and ``A[I, J]``: positions to read or write; and ``w(input_mask=M)``, which masks the positions read."""

from __future__ import annotations

from typing import Any, NamedTuple

from sparsezc.exceptions import DimensionMismatch, InvalidValue
from sparsezc.expr.dispatch import PLAIN, Assigner, Target, Write, update
from sparsezc.expr.expression import Deferred, Expression, IndexList, says_noun, says_shape
from sparsezc.expr.formatting import Shown, escape, index_text, sizes
from sparsezc.expr.infix import K
from sparsezc.expr.mask import Mask, to_mask
from sparsezc.expr.options import check as check_options
from sparsezc.process.locks import hold_locks
from sparsezc.semirings.types.datatypes import DataType

__all__ = ["InputMasked", "Position", "ResolvedIndexes"]


class ResolvedIndexes(NamedTuple):
    """The checked indices of ``obj[I]`` or ``obj[I, J]``; :attr:`py_indices` has them for NumPy and other libraries.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.Matrix(int, 10, 10)[1:6, 8:-8:-2].resolved_indexes.py_indices
    (slice(1, 6, None), slice(8, -8, -2))
    """

    obj: Any
    indices: tuple[IndexList, ...]

    @property
    def py_indices(self) -> Any:
        """Return an integer, a slice or an array; for a Matrix a pair of them."""
        keys = tuple(key.as_python(n) for key, n in zip(self.indices, self.obj.shape, strict=True))
        return keys if len(keys) > 1 else keys[0]


class Position(Deferred[K]):
    """Positions ``w[I]`` or ``A[I, J]`` of an object, to read (``.new()``, ``.value``) or to write (``<<``)."""

    __slots__ = ("keys", "parent", "shape")

    def __init__(self, parent: Any, keys: tuple[IndexList, ...]) -> None:
        self.parent = parent
        self.keys = keys
        self.shape = tuple(key.size for key in keys if key.kind != "one")
        self._value: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> Assigner:
        """Return a target for ``w[I](mask) << x``; the mask has the shape of the assigned positions, not of ``w``."""
        target = self.parent(*args, **kwargs)
        if type(target) is InputMasked:
            raise TypeError(f"{self._written}(...): `input_mask` argument may only be used for extract")
        return Assigner(target, self.keys, target.write.mask is not None)

    def __lshift__(self, value: Any) -> None:
        if self.parent._transposed:
            raise TypeError(
                f"{self._written}: 'TransposedMatrix' object does not support item assignment; write to the matrix"
                " itself"
            )
        update(self.parent, value, PLAIN, self.keys)

    def update(self, expr: Any, **options: Any) -> None:
        """Run ``self << expr``."""
        check_options(options)
        self << expr

    @property
    def resolved_indexes(self) -> ResolvedIndexes:
        """Return the checked indices; the name is python-graphblas's."""
        return ResolvedIndexes(self.parent, self.keys)

    @property
    def _parts(self) -> tuple[Any, ...]:
        """Return the object that has these positions."""
        return (self.parent,)

    @property
    def dtype(self) -> DataType:
        """Return the type of the entries."""
        kind: DataType = self.parent.dtype
        return kind

    @property
    def expression(self) -> Expression[K]:
        """Return the expression that extracts these positions."""
        found: Expression[K] = self.parent._extraction(self.keys)
        return found

    def new(
        self,
        dtype: Any = None,
        *,
        mask: Any = None,
        input_mask: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> K:
        """Extract these positions as a new Scalar, Vector or Matrix.

        Parameters
        ----------
        dtype : optional
            The type of the new object; by default the parent's.
        mask : Mask, optional
            A mask of the result's shape: only entries that it allows are extracted.
        input_mask : Mask, optional
            Instead, a mask of the parent's shape (for a row or column, also a vector's mask of its length).
        name : str, optional
        """
        if not self.shape and not (mask is None and input_mask is None):
            raise InvalidValue(
                f"{self._written}: one element takes neither mask nor input_mask, which are not descriptor options"
            )
        if input_mask is None:
            return self.expression.new(dtype, mask=mask, name=name, **options)
        if mask is not None:
            raise TypeError(f"{self._written}: mask and input_mask arguments cannot both be given")
        whole = to_mask(input_mask, "input_mask")
        with hold_locks(self.parent, whole.parent):
            return self.expression.new(dtype, mask=self.region_of(whole), name=name, **options)

    def region_of(self, mask: Mask) -> Mask:
        """Return the part of a mask of the parent's shape that covers these positions.

        Raises
        ------
        TypeError
            `mask` is of a Vector, and more than one row or column is read.
        DimensionMismatch
            The mask has another size than the parent.
        """
        keys, shape, along = self.keys, self.parent.shape, 0
        if mask.parent.ndim < len(keys):
            if len(self.shape) != 1:
                raise TypeError(
                    f"{self._written}: Got Vector `input_mask` when extracting a submatrix from a Matrix; {mask.name}"
                    " would fit one row or column"
                )
            along = 0 if keys[1].kind == "one" else 1
            keys, shape = (keys[along],), (shape[along],)
        elif mask.parent.ndim > len(keys):
            raise TypeError(f"{self._written}: Mask object must be type Vector; `input_mask` is {mask.name}")
        if mask.parent.shape != shape:
            what = "Size of `input_mask`" if len(shape) == 1 else "Shape of `input_mask`"
            match = "size of input" if len(shape) == 1 else "shape of input"
            if len(shape) < len(self.keys):
                what, match = f"{what} Vector", f"{'ncols' if along else 'nrows'} of Matrix"
            raise DimensionMismatch(
                f"{what} does not match {match}: {mask.name} is of a {says_shape(mask.parent.shape)}, and"
                f" {self.parent.name} needs {says_shape(shape)}"
            )
        return Mask(mask.parent._extraction(keys).new(), mask.structure, mask.complement)

    @property
    def _written(self) -> str:
        """Return the positions as they are written: ``A[:2, 1]``."""
        keys = (index_text(key, n) for key, n in zip(self.keys, self.parent.shape, strict=True))
        return f"{self.parent.name}[{', '.join(keys)}]"

    @property
    def _shown(self) -> Shown:
        noun, text = says_noun(len(self.shape)), self._written
        given = "M" if noun == "Matrix" else noun[0].lower()
        hint = (
            f"This expression may be used to extract or assign a <tt>{noun}</tt>.<br>Example extract: "
            f"<code>{{0}}.new()</code><br>Example assign: <code>{{0}} << {given}</code>"
        )
        return Shown(f"{noun}IndexExpr", text, escape(text), {**sizes(self.shape), "dtype": self.dtype}, hint)


class InputMasked(Target):
    """An output with an input mask, ``w(input_mask=M)``: only entries in M of the object on the right are read."""

    __slots__ = ("input_mask",)

    def __init__(self, out: Any, write: Write[Mask | None], input_mask: Mask) -> None:
        super().__init__(out, write)
        self.input_mask = input_mask

    def __lshift__(self, value: Any) -> None:
        if type(value) is not Position:
            raise TypeError(f"{self.out.name}(...): `input_mask` argument may only be used for extract")
        with hold_locks(self.out, value.parent, self.input_mask.parent):
            update(self.out, value, self.write._replace(mask=value.region_of(self.input_mask)))

    update = __lshift__

    def _at(self, keys: Any) -> Assigner:
        raise TypeError(f"{self.out.name}(...): `input_mask` argument may only be used for extract")
