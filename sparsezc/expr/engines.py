"""The engines: who runs an expression.

An engine keeps *stores*: whatever it holds behind a Matrix or a Vector (python-graphblas objects on the CPU engine,
device arrays on the GPU engine). Users' objects (Matrix, Vector) are an engine and a store; nobody else looks into a
store. Adding an engine is writing one class with the methods below.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from sparsezc.errors import DeviceUnavailable, InvalidValue

if TYPE_CHECKING:
    from sparsezc.memory.csr import Csr
    from sparsezc.semirings.types.datatypes import DataType

__all__ = ["Engine", "get"]


class Engine(Protocol):
    """What every engine can do. Arguments were checked before they come here."""

    name: str
    lock: Any  # of all its objects, where launches share what the engine keeps; None: each object has its own

    def run(self, expression: Any, out: Any, mask: Any, accum: Any, replace: bool) -> None:
        """Compute `expression` and write it into `out` by mask, accumulator (a TypedOp or None) and replace.

        `out` is a Matrix, Vector (already on this engine) or a Scalar; every operand is on this engine.
        """

    # Making and reading stores. `store` is this engine's own object.
    def new_matrix(self, dtype: DataType, nrows: int, ncols: int) -> Any: ...
    def new_vector(self, dtype: DataType, size: int) -> Any: ...
    def matrix_from_csr(self, csr: Csr) -> Any: ...
    def matrix_to_csr(self, store: Any) -> Csr: ...
    def vector_from_coo(self, indices: NDArray[Any], values: NDArray[Any], dtype: DataType, size: int) -> Any:
        """`indices` ascending and distinct; `values` of the type's dtype, or one value for all."""

    def vector_to_coo(self, store: Any) -> tuple[NDArray[Any], NDArray[Any]]: ...

    def dup(self, store: Any, dtype: DataType) -> Any: ...
    def nvals(self, store: Any) -> int: ...
    def clear(self, store: Any) -> None: ...
    def resize(self, store: Any, *shape: int) -> None: ...
    def keep_transpose(self, store: Any) -> None:
        """Hold a matrix by columns too, where that lets the engine choose between push and pull."""

    def afford_transpose(self, store: Any) -> None:
        """The same for products with the transpose again and again, where these gain by it and there is room."""

    def pointers(self, store: Any) -> Any:
        """A square matrix with an entry (i, v(i)) for each entry of a vector of positions; its values are 1."""

    def compress(self, store: Any, order: str) -> Any:
        """The same matrix with its ids in less memory, where the engine can; else a copy as it is.

        `order`: "natural", "degree" or "auto", how it may number vertices for itself.
        """

    def reorder(self, store: Any, vertices: NDArray[Any]) -> Any:
        """The same square matrix with ``vertices[k]`` at place k, if the engine can hide that; else a copy as it is."""

    def id_bytes(self, store: Any) -> int:
        """The memory that the ids of a matrix take."""
        ...

    def replay(self, frontier: Any, number: int) -> Any:
        """What goes on with a loop over a frontier without the host (see ``gpu.replay``); None where nothing does."""

    def replay_buckets(
        self, near: Any, distance: Any, limit: float, step: float, last: float, goes_on: Callable[[], bool]
    ) -> Any:
        """The same for delta-stepping, whose rounds differ by the limit of the bucket in work: afterwards its `rounds`
        says how many there were, and `number()` what the limit is. It ends where `goes_on` says no.
        """

    def sample(self, store: Any) -> Any:
        """A matrix with some entries of each row, hubs first, that costs little to read; None where there is none."""

    def wait(self, store: Any) -> None: ...


#: The module of each engine; its function ``engine()`` starts it on first use.
_modules = {"cpu": "sparsezc.engines.cpu", "gpu": "sparsezc.engines.gpu"}


def get(name: str, asked: str | None = None) -> Engine:
    """The engine of this name, started on first use; `asked`: what the user said that needs it.

    Raises
    ------
    InvalidValue
        For an unknown name.
    DeviceUnavailable
        For ``"gpu"`` where no GPU can be used; the message says why.
    """
    if name not in _modules:
        known = " or ".join(map(repr, _modules))
        raise InvalidValue(f"engine={name!r} is not an engine; choose {known}")
    try:
        engine: Engine = import_module(_modules[name]).engine()
    except DeviceUnavailable as error:
        if asked is None:
            raise
        raise DeviceUnavailable(f"{asked} needs a GPU, and there is {error}") from None
    return engine
