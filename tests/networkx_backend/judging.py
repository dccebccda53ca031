"""Comparison of two calls: values, types, order, and the class of an error."""

from __future__ import annotations

import math
import signal
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

Outcome = tuple[str, Any]


class Endless(BaseException):
    """The error that ends a call after its time limit."""


def _stop(*_: Any) -> None:
    raise Endless


def outcome(call: Callable[[], Any], seconds: float | None = None) -> Outcome:
    """Return a call's result, iterators read to their end, or its error's class, or "endless" after `seconds`."""
    if seconds is not None:
        before = signal.signal(signal.SIGALRM, _stop)
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds, 0.1)  # repeats: Python ignores an error in a destructor
            try:
                return outcome(call)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except Endless:  # also while the timer is being stopped
            signal.setitimer(signal.ITIMER_REAL, 0)
            return "endless", None
        finally:
            signal.signal(signal.SIGALRM, before)
    try:
        found = call()
        if hasattr(found, "__next__"):
            found = ["iterator", *found]
        return "returned", found
    except Exception as error:
        return "raised", type(error)


def pythons_own(found: Any) -> Any:
    """Replace Booleans and NumPy's numbers in values, not in keys, by Python's integers and floats."""
    if isinstance(found, dict):
        return type(found)(*([found.default_factory] if hasattr(found, "default_factory") else []), {
            k: pythons_own(v) for k, v in found.items()
        })  # fmt: skip
    if isinstance(found, (list, tuple)):
        return type(found)(map(pythons_own, found))
    found = found.item() if isinstance(found, np.generic) else found
    return int(found) if isinstance(found, bool) else found


def difference(a: Any, b: Any, tolerance: float, order: bool = True, path: str = "answer") -> str | None:
    """Describe where two answers differ in types, numbers beyond `tolerance` or dictionary order; None if nowhere."""
    if type(a) is not type(b):
        return f"{path} is a {type(a).__name__} ({a!r:.60}); NetworkX has a {type(b).__name__} ({b!r:.60})"
    if isinstance(a, (float, np.floating)):
        same = math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance) or (math.isnan(a) and math.isnan(b))
        return None if same else f"{path} is {a!r}; NetworkX has {b!r}"
    if hasattr(a, "toarray"):
        return difference([a.format, a.toarray()], [b.format, b.toarray()], tolerance, order, path)
    if hasattr(a, "to_numpy"):
        return difference([list(a), a.to_numpy()], [list(b), b.to_numpy()], tolerance, order, path)
    if isinstance(a, np.ndarray):
        return difference([str(a.dtype), a.tolist()], [str(b.dtype), b.tolist()], tolerance, order, path)
    if isinstance(a, nx.Graph):
        return difference(_parts(a), _parts(b), tolerance, order, path)
    if isinstance(a, dict):
        keys = difference(list(a), list(b), tolerance, order, f"{path}'s keys") if order else None
        if keys or a.keys() != b.keys():
            return keys or f"{path} has the keys {sorted(map(repr, a))}; NetworkX has {sorted(map(repr, b))}"
        return _first(difference(a[k], b[k], tolerance, order, f"{path}[{k!r}]") for k in b)
    if isinstance(a, (list, tuple)) or type(a).__name__ == "dict_values":
        a, b = list(a), list(b)
        if len(a) != len(b):
            return f"{path} has {len(a)} items ({a!r:.80}); NetworkX has {len(b)} ({b!r:.80})"
        pairs = enumerate(zip(a, b, strict=True))
        return _first(difference(x, y, tolerance, order, f"{path}[{k}]") for k, (x, y) in pairs)
    if isinstance(a, (set, frozenset)):
        here, there = ({(type(x).__name__, repr(x)) for x in side} for side in (a, b))
        return None if here == there else f"{path} is {a!r:.80}; NetworkX has {b!r:.80}"
    return None if a is b or a == b else f"{path} is {a!r:.80}; NetworkX has {b!r:.80}"


def _first(found: Any) -> str | None:
    return next((one for one in found if one is not None), None)


def _parts(G: Any) -> Any:
    """Return the visible content of a graph: class, attributes, nodes and neighbours in their order."""
    adjacency = {u: {v: dict(data) for v, data in row.items()} for u, row in G.adj.items()}
    return [type(G).__name__, dict(G.graph), {u: dict(data) for u, data in G.nodes.items()}, adjacency]


def weighs(G: Any, path: list[Any], weight: str | None) -> Any:
    """Return the sum of the weights of a path's edges, or its number of edges if `weight` is None."""
    return sum(1 if weight is None else G[u][v].get(weight, 1) for u, v in pairwise(path))
