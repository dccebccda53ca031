"""Every public algorithm with ``config.autocompute`` off: the setting applies to the user's program only."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import sparsezc as gb

#: Arguments for parameters without a default.
GIVEN: dict[str, Any] = {
    "source": 0,
    "sources": [0, 3],
    "communities": gb.Vector.from_dense([0, 0, 0, 3, 3, 3, 3]),
    "k": 2,
    "length": 4,
    "starts": [0, 3],
    "radius": 2,
    "s": 0,
    "t": 4,
    "swaps": 2,
    "scores": gb.Vector.from_dense([3, 1, 4, 1, 5, 9, 2]),
}


def graph(kind: str) -> gb.Matrix:
    """Return a graph with lengths: two triangles, an edge between them, a pendant vertex and a loop at it."""
    i, j = np.array([0, 1, 2, 2, 3, 4, 5, 5, 6]), np.array([1, 2, 0, 3, 4, 5, 3, 6, 6])
    values = np.array([1, 2, 3, 1, 2, 2, 1, 4, 1])
    if kind == "acyclic":
        i, j, values = i[i < j], j[i < j], values[i < j]
    if kind == "undirected":
        off = i != j
        i, j, values = np.r_[i, j[off]], np.r_[j, i[off]], np.r_[values, values[off]]
    return gb.Matrix.from_coo(i, j, values, nrows=7, ncols=7)


def calls(name: str) -> Iterator[dict[str, Any]]:
    """Yield the arguments of calls: the defaults, then each Boolean parameter inverted by itself."""
    parameters = list(inspect.signature(getattr(gb.algorithms, name)).parameters.values())[1:]
    given = {p.name: GIVEN[p.name] for p in parameters if p.default is inspect.Parameter.empty}
    if any(p.name == "seed" for p in parameters):
        given["seed"] = 1
    yield given
    yield from (given | {p.name: not p.default} for p in parameters if isinstance(p.default, bool))


def plain(x: Any) -> Any:
    """Return a result as lists and numbers, which `str` prints whole."""
    if isinstance(x, gb.Matrix | gb.Vector):
        return [part.tolist() for part in x.to_coo()]
    if isinstance(x, np.ndarray):
        return x.tolist()
    return [plain(part) for part in x] if isinstance(x, list | tuple) else x


def outcome(name: str, kind: str, arguments: dict[str, Any], autocompute: bool) -> Any:
    with gb.config.set(autocompute=autocompute):
        try:
            return plain(getattr(gb.algorithms, name)(graph(kind), **arguments))
        except gb.exceptions.GraphblasException as error:  # the algorithm refuses this graph or argument
            return str(error)


@pytest.mark.parametrize("name", gb.algorithms.__all__)
def test_an_algorithm_asks_for_the_results_that_it_needs(name: str) -> None:
    answered = 0
    for kind in ("undirected", "directed", "acyclic"):
        for arguments in calls(name):
            on, off = (outcome(name, kind, arguments, autocompute) for autocompute in (True, False))
            assert str(off) == str(on), arguments
            answered += not isinstance(off, str)
    assert answered


def test_whose_setting_it_is_does_not_depend_on_the_caller() -> None:
    """With autocompute off an expression raises in any namespace whose code needs its result, the package's too."""
    text = "def nvals(x):\n    return x.nvals\n"
    namespace: dict[str, Any] = {"__name__": "sparsezc.algorithms.any"}
    exec(text, namespace)
    v = gb.Vector.from_dense([1, 2])
    with gb.config.set(autocompute=False), pytest.raises(TypeError, match="autocompute"):
        namespace["nvals"](v + v)
