"""Functions of ``graphblas.core.utils``: the class of an object or of an expression's result, and that result."""

from __future__ import annotations

from typing import Any

from sparsezc.expr.expression import Deferred

__all__ = ["ensure_type", "output_type"]


def output_type(x: Any) -> type:
    """Return the class of an object, or of the result of an expression.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc.core.utils import output_type
    >>> A = gb.Matrix(int, 2, 2)
    >>> [output_type(x).__name__ for x in (A.mxm(A), A[0, :], A.T, 2)]
    ['Matrix', 'Vector', 'TransposedMatrix', 'int']
    """
    found: type = x.kind if isinstance(x, Deferred) else type(x)
    return found


def ensure_type(x: Any, types: type | tuple[type, ...]) -> Any:
    """Return `x`, or the result of the expression `x`, if it has one of these classes; ``autocompute`` need not be on.

    Parameters
    ----------
    x : Matrix, TransposedMatrix, Vector, Scalar or expression
    types : class or tuple of classes

    Returns
    -------
    object of one of `types`
        An expression is computed anew each time.

    Raises
    ------
    TypeError
        `x` is any other object.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc.core.utils import ensure_type
    >>> v = gb.Vector.from_dense([1, 2])
    >>> ensure_type(v + v, gb.Vector).to_dense().tolist()
    [2, 4]
    """
    if isinstance(x, types):
        return x
    wanted = types if isinstance(types, tuple) else (types,)
    if isinstance(x, Deferred) and output_type(x) in wanted:
        return x.new()
    needed = " or ".join(each.__name__ for each in wanted)
    raise TypeError(f"ensure_type: x is a {type(x).__name__}; a {needed} is needed")
