"""Masks: the positions of an output that may be written."""

from __future__ import annotations

from typing import Any

from sparsezc.exceptions import DomainMismatch
from sparsezc.expr.expression import Deferred, Operand, says, says_shape
from sparsezc.process.locks import hold_locks
from sparsezc.semirings.types.datatypes import BOOL, DataType, lookup

__all__ = ["Mask", "Maskable", "as_mask", "to_mask"]


class Mask:
    """The positions of an output that may be written: ``A.S``, ``A.V``, ``~A.S`` or ``~A.V``.

    Attributes
    ----------
    parent : Matrix or Vector
    structure : bool
        The mask allows the positions of all entries (``S``), not only of true entries (``V``).
    complement : bool

    Examples
    --------
    >>> import sparsezc as gb
    >>> u, v = gb.Vector.from_coo([0, 1], [1, 0], size=3), gb.Vector.from_coo([1], [5], size=3)
    >>> (u.S & ~v.S).new().to_dict(), (u.V | v.V).new().to_dict()
    ({0: True}, {0: True, 1: True})
    """

    __slots__ = ("__weakref__", "complement", "parent", "structure")
    __array_ufunc__ = None

    def __init__(self, parent: Any, structure: bool, complement: bool = False) -> None:
        self.parent = parent
        self.structure = structure
        self.complement = complement

    def __invert__(self) -> Mask:
        return Mask(self.parent, self.structure, not self.complement)

    @property
    def value(self) -> bool:
        """Return whether the mask allows only the positions of true entries."""
        return not self.structure

    @property
    def name(self) -> str:
        """Return the mask as it is written, such as ``~m.S``."""
        return f"{'~' * self.complement}{self.parent.name}.{'S' if self.structure else 'V'}"

    def new(
        self,
        dtype: Any = None,
        *,
        complement: bool = False,
        mask: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> Any:
        """Return a Vector or Matrix that is True where the mask allows writing, and empty elsewhere.

        Parameters
        ----------
        dtype : optional
            The type of the result; by default BOOL.
        complement : bool
            Return True where the mask does not allow writing, instead.
        mask : Mask, optional
            Another mask that must allow the position too.
        name : str, optional

        Returns
        -------
        Matrix or Vector
        """
        other = None if mask is None else to_mask(mask)
        with hold_locks(self.parent) if other is None else hold_locks(self.parent, other.parent):
            return self._made(BOOL if dtype is None else lookup(dtype), complement, other, name)

    def _made(self, dtype: DataType, complement: bool, other: Mask | None, name: str | None) -> Any:
        made = self._blank(dtype, name)
        if complement:
            made(~self) << True
            if other is not None:
                made(~other) << True
        elif other is None:
            made(self) << True
        elif self.complement and other.complement:  # positions that both allow
            refused = self._blank(BOOL, None)
            refused(~self) << True
            refused(~other) << True
            made(~refused.S) << True
        else:  # first the mask that is not a complement: it lists its positions
            first, second = (other, self) if self.complement else (self, other)
            made(first) << True
            made(second, replace=True) << made
        return made

    def _blank(self, dtype: Any, name: str | None) -> Any:
        return Operand._kinds[self.parent.ndim]._blank(dtype, self.parent.shape, name)

    def __and__(self, other: Any) -> Mask:
        other = to_mask(other)
        both = self.complement and other.complement
        return Mask(self.new(complement=both, mask=other), True, both)

    def __or__(self, other: Any) -> Mask:
        other = to_mask(other)
        if self.complement or other.complement:
            return Mask((~self).new(mask=~other), True, True)
        with hold_locks(self.parent, other.parent):
            made = self.new()
            made(other) << True
        return Mask(made, True)

    __rand__ = __and__
    __ror__ = __or__

    def __eq__(self, other: object) -> bool:
        raise TypeError(f"__eq__ is not defined for masks; the mask {self.name} was compared")

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TypeError(f"__bool__ is not defined for masks; the mask {self.name} is neither true nor false")

    def __repr__(self) -> str:
        text: str = self.parent._text(self)
        return text

    def _repr_html_(self) -> str:
        text: str = self.parent._html(self)
        return text


class Maskable:
    """Base class of the objects that have masks ``S`` and ``V``: Matrix and Vector."""

    __slots__ = ()

    @property
    def S(self) -> Mask:
        """Mask: the positions that have an entry."""
        return Mask(self, True)

    @property
    def V(self) -> Mask:
        """Mask: the positions whose entry is true (not zero)."""
        return Mask(self, False)


def to_mask(mask: Any, where: str = "mask") -> Mask:
    """Check and return a user's mask; a Vector or Matrix of BOOL is a mask by values.

    Raises
    ------
    TypeError
        `mask` is not a mask.
    DomainMismatch
        `mask` is by values of a user-defined type (also a TypeError).
    """
    if type(mask) is Mask:
        if not mask.structure and mask.parent.dtype.is_udt:
            raise DomainMismatch(
                f"{where}: values of {mask.parent.dtype} are neither true nor false; {mask.name} was given"
            )
        return mask
    if isinstance(mask, Deferred):
        mask = mask.operand("use as a mask")
    if not isinstance(mask, Operand) or not mask.ndim or mask._transposed:
        raise TypeError(f"Invalid mask: {where} must be x.S, x.V, ~x.S or ~x.V; got {says(mask)}")
    if mask.dtype is not BOOL:
        need = "Mask must be given by values (x.V) or by structure (x.S)"
        raise TypeError(f"{where}: {mask.name} is of type {mask.dtype}. {need}; only BOOL can omit this")
    return Mask(mask, False)


def as_mask(mask: Any, out: Operand) -> Mask:
    """Check and return a user's mask for `out`.

    Raises
    ------
    TypeError
        `mask` is not a mask, or has the wrong number of dimensions.
    """
    checked = to_mask(mask, f"mask of {out.name}")
    if checked.parent.ndim > out.ndim:
        raise TypeError(
            f"Mask object must be type Vector: mask of {out.name} must be of a Vector; {checked.name} is of a"
            f" {says_shape(checked.parent.shape)}"
        )
    return checked
