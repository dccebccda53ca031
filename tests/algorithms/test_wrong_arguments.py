"""Wrong arguments: each function's error names the argument."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import sparsezc as gb

#: Arguments for parameters without a default; further graphs are the graph itself.
GIVEN: dict[str, Any] = {
    "source": 0, "s": 0, "target": 2, "t": 2, "vertex": 0, "center": 0, "sources": [0], "seeds": [0], "nodes": [0],
    "k": 3, "length": 2, "swaps": 1, "communities": gb.Vector.from_dense([0, 0, 1, 1]),
    "scores": gb.Vector.from_dense([1.0] * 4),
}  # fmt: skip


def cases() -> Iterator[Any]:
    """Yield every parameter of each algorithm except the graph, flags and functions."""
    for name in gb.algorithms.__all__:
        function = getattr(gb.algorithms, name)
        parameters = list(inspect.signature(function).parameters.values()) if inspect.isfunction(function) else []
        for each in parameters[1:]:
            if "bool" not in str(each.annotation) and "Callable" not in str(each.annotation):
                yield pytest.param(function, each.name, id=f"{name}-{each.name}")


@pytest.mark.parametrize(("function", "name"), list(cases()))
def test_the_error_names_the_argument(function: Callable[..., Any], name: str) -> None:
    A = gb.Matrix.from_coo([0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2], 1.0, nrows=4, ncols=4)
    first, *others = inspect.signature(function).parameters.values()
    given = {each.name: GIVEN.get(each.name, A) for each in others if each.default is each.empty}
    with pytest.raises((gb.exceptions.GraphblasException, TypeError), match=name):
        function(**{first.name: A, **given, name: object()})


@pytest.mark.parametrize("half", [np.array(0.5), Fraction(1, 2), np.float16(0.5), gb.Scalar.from_value(0.5)])
def test_every_kind_of_number_is_one(half: Any) -> None:
    A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1.0, nrows=3, ncols=3)
    ranks = gb.algorithms.pagerank(A, damping=half, tol=half)
    assert ranks.isequal(gb.algorithms.pagerank(A, damping=0.5, tol=0.5))
    scores = gb.algorithms.eigenvector_centrality(A, tol=half, max_iter=100.0)  # type: ignore[arg-type]
    assert scores.isequal(gb.algorithms.eigenvector_centrality(A, tol=0.5, max_iter=100))


@pytest.mark.parametrize("huge", [10**400, Fraction(10**5000)], ids=["integer", "fraction"])
def test_numbers_beyond_fp64_are_infinite(huge: Any) -> None:
    A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1.0, nrows=3, ncols=3)
    for function in (gb.algorithms.pagerank, gb.algorithms.eigenvector_centrality):
        assert function(A, tol=huge).isequal(function(A, tol=float("inf")))
        with pytest.raises(gb.exceptions.InvalidValue, match="tol is -inf; a number >= 0 is needed"):
            function(A, tol=-huge)
    with pytest.raises(gb.exceptions.InvalidValue, match=r"damping is inf; a number in 0\.\.1 is needed"):
        gb.algorithms.pagerank(A, damping=huge)


@pytest.mark.parametrize("dtype", [np.float64, np.int8, np.bool_, np.dtype("f4")], ids=str)
def test_a_type_of_numpy_is_no_graph(dtype: Any) -> None:
    assert gb.Matrix(dtype, 2, 2).dtype == np.dtype(dtype)


@pytest.mark.parametrize("other", [np.int64(5), np.ones(3), type("Of", (), {"__module__": None})()])
def test_what_is_no_graph_gets_no_function(other: Any) -> None:
    with pytest.raises(gb.exceptions.DomainMismatch, match=r"; a Matrix is needed$"):
        gb.algorithms.pagerank(other)


@pytest.mark.parametrize(
    ("graph", "made"),
    [
        ("a.txt", "gb.io.read(A)"),
        ([[0, 1]], "gb.Matrix.from_edgelist(A) (of pairs) or from_dense (of rows)"),
        (np.eye(2), "gb.Matrix.from_dense(A, missing_value=0)"),
        (sp.eye_array(2).tocsr(), "gb.io.from_scipy_sparse(A)"),
        (nx.path_graph(2), "gb.io.from_networkx(A)"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_graph_of_another_library_gets_the_function_that_makes_a_matrix(graph: Any, made: str) -> None:
    with pytest.raises(TypeError) as error:
        gb.algorithms.pagerank(graph)
    assert str(error.value).endswith(f"; a Matrix is needed, which {made} makes")
    if not isinstance(graph, str):
        with pytest.raises(gb.exceptions.UnknownDtype) as error:
            gb.Matrix(graph)
        assert str(error.value).endswith(f"; a type is needed, or a Matrix, which {made} makes")
