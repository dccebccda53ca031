"""Translation of a Python function from rows of numbers to rows, over NumPy arrays and in CUDA, in FP64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sparsezc.semirings.types.datatypes import FP64
from sparsezc.semirings.udf import graph
from sparsezc.semirings.udf.source import source_of
from sparsezc.semirings.udf.translate import translate_row

__all__ = ["RowFunction"]


class RowFunction:
    """A function of plain numbers that returns a tuple of numbers.

    It is translated when this object is made, so variables of the enclosing scope keep their values of that time.

    Parameters
    ----------
    function : callable
        Written in Python, with as many parameters as a row has numbers.

    Attributes
    ----------
    inputs, outputs : int
        The numbers of a row that it takes, and returns.
    cuda : str
        Statements that write the row ``z``, given the row ``x``.

    Raises
    ------
    UdfParseError
        A construct in it cannot be translated.
    TypeError
        It is no Python function.
    """

    __slots__ = ("_roots", "cuda", "inputs", "name", "outputs")
    _stored: ClassVar[bool] = False  # as an operand of a statement, it has no store
    _lock: ClassVar[None] = None

    def __init__(self, function: Callable[..., Any]) -> None:
        code = getattr(function, "__code__", None)
        source = source_of(function, 0 if code is None else code.co_argcount)
        self.name, self.inputs = source.name, len(source.parameters)
        operands = tuple(graph.operand(f"x[{k}]", FP64) for k in range(self.inputs))
        self._roots = tuple(graph.convert(root, FP64) for root in translate_row(source, operands))
        self.outputs, self.cuda = len(self._roots), graph.cuda_row(self._roots, "z")

    def numpy(self, columns: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
        """Return the columns of the result for the columns of the operands."""
        given = {f"x[{k}]": column for k, column in enumerate(columns)}
        with np.errstate(all="ignore"):
            return [graph.evaluate(root, given) for root in self._roots]

    def __repr__(self) -> str:
        return self.name
