"""Features and labels: arrays with a row for each vertex, whose rows are read by number as PyTorch's tensors."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from sparsezc.core.matrix import Matrix
from sparsezc.core.placement import feature_rows
from sparsezc.core.vector import Vector
from sparsezc.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from sparsezc.io.build.optional import need
from sparsezc.memory.budget import check_name

__all__ = ["ON_HOST", "Table", "tables"]

#: The placement whose rows the host gathers.
ON_HOST = "host"


def tables(A: Matrix, features: Any, labels: Any, placement: str | None) -> dict[str, Table]:
    """Return the tables by the names that they have in a batch: "x" for a single one, and "y" for labels.

    Raises
    ------
    InvalidValue
        A name is no identifier, "y" is given twice, or `placement` is unknown.
    DimensionMismatch, DomainMismatch
        As :class:`Table`.
    """
    check_name(placement)
    given = dict(features) if isinstance(features, Mapping) else {} if features is None else {"x": features}
    if labels is not None:
        if "y" in given:
            raise InvalidValue("labels is given, and features has 'y'; one of them is needed")
        given["y"] = labels
    for name in given:
        if not isinstance(name, str) or not name.isidentifier():
            raise InvalidValue(f"features has the name {name!r}; an identifier is needed")
    said = {name: f"features[{name!r}]" if isinstance(features, Mapping) else "features" for name in given}
    if labels is not None:
        said["y"] = "labels"
    return {name: Table(A, array, said[name], placement) for name, array in given.items()}


class Table:
    """An array with a row for each vertex.

    Parameters
    ----------
    A : Matrix
        Rows are read into its engine's memory.
    array : array, tensor, Matrix or Vector
        Missing entries of a Matrix or Vector are zeros. On the GPU an array in host memory is copied to `placement`
        once, and kernels read its rows there; rows of a memory-mapped one are gathered by the host.
    name : str
        The name of the argument, for errors.
    placement : str or None
        By default ``config.placement``; "host": the host gathers rows, and nothing is copied beforehand. On the CPU
        engine this is always so.

    Raises
    ------
    DimensionMismatch
        The array does not have a row for each vertex.
    DomainMismatch
        The array has a type that tensors lack.
    """

    def __init__(self, A: Matrix, array: Any, name: str, placement: str | None) -> None:
        self.name, self._tensor = name, _tensor(array, name)
        self.shape, self.dtype = tuple(self._tensor.shape), self._tensor.dtype
        if not self.shape or self.shape[0] != A.nrows:
            raise DimensionMismatch(f"{name} has the shape {self.shape}; the graph has {A.nrows} vertices, a row each")
        self._read: Any = None
        on_host = placement == ON_HOST or isinstance(array, np.memmap) or not self._tensor.is_cpu
        if not on_host and self._tensor.numel():
            rows = self._tensor.reshape(self.shape[0], -1).contiguous().view(need("torch").uint8)
            self._read = feature_rows(A, rows.numpy(), placement)
            if self._read is not None:
                self._tensor = None  # the copy alone is read

    def read(self, at: Any) -> Any:
        """Return the rows `at`, a tensor or an array of int64 in range, on the device of `at`."""
        torch = need("torch")
        if self._read is None:
            at = torch.as_tensor(at)
            return self._tensor.index_select(0, at.to(self._tensor.device)).to(at.device)
        rows = torch.from_dlpack(self._read(at))
        return rows.view(self.dtype).reshape(rows.shape[0], *self.shape[1:])

    def require_finite(self, rows: Any, vertices: Any) -> None:
        """Raise an error if a row that was read, of `vertices`, has a value that is NaN or infinite.

        Raises
        ------
        InvalidValue
            The message names the first vertex of the batch that has one.
        """
        # If the sum is finite, all values are, in a tenth of the reading's time. Finite values may overflow it, too.
        if not (rows.is_floating_point() or rows.is_complex()):
            return
        if bool(rows.sum(dtype=need("torch").float32 if rows.dtype.itemsize < 4 else None).isfinite()):
            return
        fine = rows.isfinite().reshape(rows.shape[0], -1).all(1)
        if bool(fine.all()):
            return
        vertex = int(vertices[int(fine.int().argmin())])
        raise InvalidValue(
            f"{self.name} has a value that is NaN or infinite in row {vertex}; finite numbers are needed, or the option"
            " finite=False, which accepts all"
        )


def _tensor(array: Any, name: str) -> Any:
    """Return an array as a tensor, which shares the array's memory if possible."""
    torch = need("torch", "torch")
    if isinstance(array, Matrix | Vector):
        array = array.to_dense(fill_value=0)
    if isinstance(array, torch.Tensor):
        if array.layout is not torch.strided:
            raise DomainMismatch(f"{name} is a tensor of layout {array.layout}; a dense one is needed")
        return array.detach()
    if not isinstance(array, np.ndarray) and hasattr(array, "__dlpack__"):
        return torch.from_dlpack(array)
    values = np.asarray(array)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The given NumPy array is not writable", UserWarning)
            return torch.from_numpy(values)
    except (TypeError, ValueError):
        raise DomainMismatch(
            f"{name} has values of type {values.dtype}, which no tensor has; numbers are needed"
        ) from None
