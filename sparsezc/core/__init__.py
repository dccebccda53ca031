"""Names that programs import from ``graphblas.core``: classes to annotate and to ask for, and three small questions.

python-graphblas's inside is not a public interface, but programs use a few names in it. These are there, under the
modules' names of python-graphblas: ``matrix``, ``vector``, ``scalar``, ``dtypes``, ``operator`` and ``utils``.

>>> from sparsezc.core.matrix import TransposedMatrix
>>> import sparsezc as gb
>>> isinstance(gb.Matrix(int, 2, 3).T, TransposedMatrix)
True
"""

from sparsezc.core import dtypes, matrix, operator, scalar, utils, vector

_supports_udfs = True  # python-graphblas says by this name whether operators of Python functions can be made

__all__ = ["dtypes", "matrix", "operator", "scalar", "utils", "vector"]


def __dir__() -> list[str]:
    return sorted(__all__)
