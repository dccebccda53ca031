"""Exchange of arrays: ``@`` with another library's array, and DLPack of objects (``np.from_dlpack(v)``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparsezc.device import cuda
from sparsezc.expr import engines
from sparsezc.process.first_use import provided

if TYPE_CHECKING:
    from sparsezc.expr.engines import Engine

__all__ = ["ByDlpack", "from_array"]

_PROTOCOLS = ("__array__", "__dlpack__", "__cuda_array_interface__")


def from_array(x: Any) -> Any:
    """Return an array of any library as a Vector or a full Matrix; None unless it is an array of 1 or 2 dimensions."""
    if getattr(x, "ndim", 0) not in (1, 2) or not any(hasattr(x, each) for each in _PROTOCOLS):
        return None
    return provided("from array")(x)


class ByDlpack:
    """The DLPack protocol, by which other libraries read an object's values as their own array."""

    __slots__ = ()

    def _need(self) -> tuple[Engine, Any]:
        raise NotImplementedError

    def __dlpack__(self, **options: Any) -> Any:
        """Return a DLPack capsule of the value of every position: the array of :func:`sparsezc.io.to_array`.

        A full vector on the GPU engine shares its memory; all others are copied once.

        Raises
        ------
        TypeError
            Entries are missing; ``gb.io.to_array(v, 0)`` fills them with 0.
        """
        return provided("to array")(self).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the DLPack device of that array: the GPU on the GPU engine, else the host."""
        if not engines.has_placements(self._need()[0]):
            return 1, 0  # kDLCPU
        where: tuple[int, int] = cuda.current().xp.empty(0).__dlpack_device__()
        return where
