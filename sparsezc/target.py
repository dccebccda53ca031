"""Where to write: ``w(mask, accum, replace)``, a :class:`Target`, and ``w[I]``, a :class:`Position`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparsezc.errors import DimensionMismatch
from sparsezc.expression import Expression, IndexList, Unrun, says_shape
from sparsezc.mask import Mask, to_mask
from sparsezc.semirings.operators import TypedOp
from sparsezc.semirings.types import DataType
from sparsezc.write import write

if TYPE_CHECKING:
    from sparsezc.writable import Writable

__all__ = ["Position", "Target"]


class Target:
    """``w(mask, accum, replace)``: an output and how to write to it. ``<<`` runs."""

    __slots__ = ("__weakref__", "accum", "input_mask", "mask", "out", "replace")

    def __init__(
        self, out: Writable, mask: Mask | None, accum: TypedOp | None, replace: bool, input_mask: Mask | None = None
    ) -> None:
        self.out = out
        self.mask = mask
        self.accum = accum
        self.replace = replace
        self.input_mask = input_mask

    def __lshift__(self, value: Any) -> None:
        mask = self.mask
        if self.input_mask is not None:
            if type(value) is not Position:
                raise TypeError(f"{self.out.name}(...): `input_mask` argument may only be used for extract")
            mask = value.region_of(self.input_mask)
        write(self.out, value, mask, self.accum, self.replace)

    update = __lshift__

    def __getitem__(self, keys: Any) -> Position:
        return self._at(keys)

    def __setitem__(self, keys: Any, value: Any) -> None:
        self._at(keys) << value

    def __delitem__(self, keys: Any) -> None:
        self._at(keys) << self.out._deletion()

    def _at(self, keys: Any) -> Position:
        if self.input_mask is not None:
            raise TypeError(f"{self.out.name}(...): `input_mask` argument may only be used for extract")
        return Position(self.out, self.out._indexed(keys), self)

    def __eq__(self, other: object) -> bool:
        raise TypeError(f"__eq__ is not defined for {self.out.name}(...), which only waits to be written to")

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TypeError(f"__bool__ is not defined for {self.out.name}(...), which only waits to be written to")


class Position(Unrun):
    """``w[I]`` or ``A[I, J]``: a place to read (``.new()``, ``.value``) or to write (``<<``)."""

    __slots__ = ("keys", "parent", "shape", "submask", "target")

    def __init__(
        self, parent: Any, keys: tuple[IndexList, ...], target: Target | None = None, submask: bool = False
    ) -> None:
        self.parent = parent
        self.keys = keys
        self.target = target
        self.submask = submask
        self.shape = tuple(key.size for key in keys if key.kind != "one")
        self._value: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> Position:
        """``w[I](mask) << x``: here the mask has the shape of the region, not of ``w``."""
        if self.target is not None:
            raise TypeError(f"{self!r}: the mask and the accumulator were given already")
        target = self.parent(*args, **kwargs)
        if target.input_mask is not None:
            raise TypeError(f"{self!r}(...): `input_mask` argument may only be used for extract")
        return Position(self.parent, self.keys, target, target.mask is not None)

    def __lshift__(self, value: Any) -> None:
        if self.parent._transposed:
            raise TypeError(
                f"{self!r}: 'TransposedMatrix' object does not support item assignment; write to the matrix itself"
            )
        target = Target(self.parent, None, None, False) if self.target is None else self.target
        expression = self.parent._assignment(self.keys, value, target.mask, self.submask)
        write(self.parent, expression, target.mask, target.accum, target.replace)

    def update(self, value: Any, **options: Any) -> None:
        """The same as ``<<``."""
        self << value

    @property
    def dtype(self) -> DataType:
        """Type of the entries."""
        kind: DataType = self.parent.dtype
        return kind

    @property
    def expression(self) -> Expression:
        """The extraction that this place means when it is read."""
        if self.target is not None:
            raise TypeError(f"{self!r} with a mask or an accumulator is written to, not read")
        found: Expression = self.parent._extraction(self.keys)
        return found

    def new(
        self,
        dtype: Any = None,
        *,
        mask: Any = None,
        input_mask: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> Any:
        """What lies there, as a new Scalar, Vector or Matrix.

        Parameters
        ----------
        dtype : optional
            By default the parent's.
        mask : Mask, optional
            Of the region's shape: only entries that it allows are made.
        input_mask : Mask, optional
            Instead, a mask of the parent's shape (for a row or column, also one of its length).
        name : str, optional
        """
        if input_mask is not None:
            if mask is not None:
                raise TypeError(f"{self!r}: mask and input_mask arguments cannot both be given")
            mask = self.region_of(to_mask(input_mask, "input_mask"))
        return self.expression.new(dtype, mask=mask, name=name, **options)

    def region_of(self, mask: Mask) -> Mask:
        """The mask of this region that a mask of the whole parent means.

        Raises
        ------
        TypeError
            A mask of a Vector, where more than one row or column is read.
        DimensionMismatch
            The mask has another size than what is read from.
        """
        keys, shape = self.keys, self.parent.shape
        if mask.parent.ndim < len(keys):
            if len(self.shape) != 1:
                raise TypeError(f"{self!r}: Got Vector `input_mask` {mask.name}; it is for a single row or column")
            along = 0 if keys[1].kind == "one" else 1
            keys, shape = (keys[along],), (shape[along],)
        elif mask.parent.ndim > len(keys):
            raise TypeError(f"{self!r}: Mask object must be type Vector; `input_mask` is {mask.name}")
        if mask.parent.shape != shape:
            what = "Size" if len(shape) == 1 else "Shape"
            raise DimensionMismatch(
                f"{what} of `input_mask` does not match what is read: {mask.name} is of a"
                f" {says_shape(mask.parent.shape)}, and {self.parent.name} needs {says_shape(shape)}"
            )
        return Mask(mask.parent._extraction(keys).new(), mask.structure, mask.complement)

    def __repr__(self) -> str:
        return f"<{self.parent.name}[{', '.join(map(repr, self.keys))}]>"
