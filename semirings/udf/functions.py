"""Users' Python functions, from which operators are made, and their translations to NumPy and CUDA by type.

A function is translated when an operator is made of it, so variables of the enclosing scope keep their values of that
time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sparsezc.exceptions import UdfParseError
from sparsezc.semirings.types.datatypes import ALL, FP32, FP64, INT8, INT64, DataType
from sparsezc.semirings.types.domains import Domain
from sparsezc.semirings.udf import graph
from sparsezc.semirings.udf.source import source_of
from sparsezc.semirings.udf.translate import translate

__all__ = ["Translation", "UserFunction"]

# The operands of each kind, by their names in CUDA expressions.
OPERANDS = {
    "unary": ("x",),
    "binary": ("x", "y"),
    "indexunary": ("x", "i", "j", "y"),
    "select": ("x", "i", "j", "y"),
}


class Translation(NamedTuple):
    """A user's function for one type of operands: a NumPy function, a CUDA expression, and the graph of both."""

    numpy: Callable[..., Any]
    cuda: str
    root: graph.Node


class UserFunction:
    """A user's Python function, and its translation for each type of operands.

    Parameters
    ----------
    kind : {"unary", "binary", "indexunary", "select"}
    function : callable
        Of as many numbers as the kind has operands: ``x``; ``x, y``; ``x, i, j, thunk``.
    is_udt : bool
        The operator works with user-defined types, too. These are not translated.
    types : tuple of DataType
        The built-in types that it is translated for, where possible. Few of the callable functions accept complex
        numbers.

    Attributes
    ----------
    domain : Domain
        The built-in types that it works with.

    Raises
    ------
    UdfParseError
        A construct in it cannot be translated for any type, and it does not accept user-defined types.
    """

    def __init__(
        self, kind: str, function: Callable[..., Any], is_udt: bool = False, types: tuple[DataType, ...] = ALL
    ) -> None:
        self.kind = kind
        self.function = function
        self.is_udt = is_udt
        self.parameters = OPERANDS[kind]
        self.domain: Domain = {}
        self._translations: dict[DataType, Translation] = {}
        try:
            self._translate(source_of(function, len(self.parameters)), types)
        except UdfParseError:
            if not is_udt:
                raise

    def _translate(self, source: Any, types: tuple[DataType, ...]) -> None:
        """Translate the function for each type.

        Raises
        ------
        UdfParseError
            The function can be translated for no type.
        """
        refused: UdfParseError | None = None
        for dtype in types:
            operands = tuple(graph.operand(name, INT64 if name in "ij" else dtype) for name in self.parameters)
            try:
                root = translate(source, operands)
            except UdfParseError as error:
                refused = error
                continue
            self._add(dtype, result_type(root.dtype, dtype), root)
        if not self._translations:
            assert refused is not None
            raise refused

    def _add(self, dtype: DataType, result: DataType, root: graph.Node) -> None:
        root = graph.convert(root, result)

        def numpy(*operands: Any) -> Any:
            return graph.evaluate(root, dict(zip(self.parameters, operands, strict=True)))

        self.domain[dtype] = dtype, result
        self._translations[dtype] = Translation(numpy, graph.cuda(root), root)

    def __getitem__(self, dtype: DataType) -> Translation:
        return self._translations[dtype]

    def python(self, dtype: DataType, name: str = "function") -> tuple[str, tuple[Any, ...]]:
        """Return the function for one type in plain Python with every conversion written out, and its constants."""
        root, parameters = self._translations[dtype].root, self.parameters
        if "i" not in parameters:
            return graph.python(root, name, parameters)
        # SuiteSparse passes positions as unsigned numbers, whose differences would wrap.
        signed = "    i, j = np.int64(row), np.int64(column)\n"
        return graph.python(root, name, ("x", "row", "column", "y"), signed)


def result_type(computed: DataType, operand: DataType) -> DataType:
    """Return the type of a result: a computed integer gets the operands' integer type, a float FP32 if either is."""
    if computed.is_bool or computed.is_complex:
        return computed
    if computed.is_integer:
        return operand if operand.is_integer else INT8 if operand.is_bool else INT64
    return FP32 if operand is FP32 or computed is FP32 else FP64
