"""Names that programs import from ``graphblas.core``: classes for annotations and type checks, and three functions.

python-graphblas's internals are not a public interface, but programs use a few names in them. These names exist here,
in modules of the same names: ``matrix``, ``vector``, ``scalar``, ``dtypes``, ``operator`` and ``utils``.

>>> from sparsezc.core.matrix import TransposedMatrix
>>> import sparsezc as gb
>>> isinstance(gb.Matrix(int, 2, 3).T, TransposedMatrix)
True
"""

from sparsezc.core import dtypes, matrix, operator, scalar, utils, vector

_supports_udfs = True  # python-graphblas's name; True if operators can be compiled from Python functions

__all__ = ["dtypes", "matrix", "operator", "scalar", "utils", "vector"]


def __dir__() -> list[str]:
    return sorted(__all__)
