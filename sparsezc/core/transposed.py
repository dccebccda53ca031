"""TransposedMatrix: a view of a matrix with rows and columns exchanged, which ``new()`` forms as a Matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparsezc import ops
from sparsezc.core import formatting
from sparsezc.core.matrix_export import FlippedContents
from sparsezc.core.matrix_methods import Readable
from sparsezc.expr.mask import to_mask
from sparsezc.expr.options import check as check_options
from sparsezc.process.locks import hold_locks, locked
from sparsezc.semirings.types.datatypes import DataType

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix
    from sparsezc.expr.engines import Engine

__all__ = ["TransposedMatrix"]


class TransposedMatrix(FlippedContents, Readable):
    """``A.T``: A with rows and columns exchanged, as an operand. ``new()`` forms a Matrix."""

    __slots__ = ("_matrix", "__weakref__")
    _transposed = True

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix

    @property
    def T(self) -> Matrix:
        """The matrix itself."""
        return self._matrix

    @property
    def _shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return self._matrix._shape[::-1]

    @property
    def dtype(self) -> DataType:  # type: ignore[override]
        """Type of the entries."""
        return self._matrix.dtype

    @property
    def name(self) -> str:  # type: ignore[override]
        """The matrix's name, followed by ``.T``."""
        return f"{self._matrix.name}.T"

    @property
    def _lock(self) -> Any:
        return self._matrix._lock

    @property
    def _engine(self) -> Engine | None:  # type: ignore[override]
        return self._matrix._engine

    @property
    def _store(self) -> Any:
        return self._matrix._store

    def _settle(self, engine: Engine) -> None:
        self._matrix._settle(engine)

    @property
    def nvals(self) -> int:
        """Number of entries."""
        return self._matrix.nvals

    def new(self, dtype: Any = None, *, mask: Any = None, name: str | None = None) -> Matrix:
        """Form the transpose as a Matrix."""
        if mask is not None:
            mask = to_mask(mask)
        with hold_locks(self) if mask is None else hold_locks(self, mask.parent):
            made: Matrix = ops.transpose(self._matrix).new(dtype, mask=mask, name=name)
        return made

    def dup(
        self,
        dtype: Any = None,
        *,
        clear: bool = False,
        mask: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> Matrix:
        """Return the transpose as a Matrix; with `clear`, an empty Matrix of its shape."""
        check_options(options)
        if clear:
            return type(self._matrix)(self.dtype if dtype is None else dtype, *self.shape, name=name)
        return self.new(dtype, mask=mask, name=name)

    @locked
    def to_graphblas(self, *, copy: bool = False) -> Any:
        """Return the transpose as a python-graphblas Matrix."""
        return self.new().to_graphblas()

    def wait(self, how: str = "materialize") -> TransposedMatrix:
        """Finish pending operations."""
        self._matrix.wait(how)
        return self

    @locked
    def __repr__(self) -> str:
        return formatting.text(self)

    @locked
    def _repr_html_(self) -> str:
        return formatting.html(self)
