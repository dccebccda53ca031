"""The choice of a backend for calls that name none: sparsezc runs those that are faster here with equal answers."""

from __future__ import annotations

import math
import operator
import sys
from typing import Any

import networkx as nx
from networkx.utils import create_py_random_state, create_random_state

from sparsezc.networkx_backend.graphs.claims import CLAIMS, given_to
from sparsezc.networkx_backend.graphs.graph import Graph
from sparsezc.networkx_backend.info import FUNCTIONS
from sparsezc.networkx_backend.times import TIMES, Times

__all__ = ["estimated", "should_run"]

#: Microseconds of a conversion for a node or an entry, and of reading an edge attribute.
_CONVERSION, _ATTRIBUTE = 0.42, 0.45
#: Microseconds of overhead of a call here, at most, and of a process's first conversion, which loads SuiteSparse and
#: numba.
_CALL, _START = 2e3, 0.4e6
#: Microseconds in which a decision reads a node or an entry, and the share of NetworkX's time that it may take.
_READING, _DECIDING = 0.15, 0.05
#: Nodes and entries of the measured graphs; NetworkX's time for each grows by this share for every factor of ten, as
#: its dictionaries do not fit the processor's caches.
_MEASURED, _GROWTH = 11_000, 0.8
#: The random generators that NetworkX passes to functions when no seed is given.
_UNSEEDED = create_py_random_state(None), create_random_state(None)
_SHORT = f"less than {_CALL / 1e6:g} s in NetworkX, and a call here may take as long"
_LONG = "NetworkX is about as fast as a conversion of the graph and this function here, or faster"
#: Microseconds that earlier calls would have saved here if the library had been started.
_waited = [0.0]


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return True if a call is faster here, else the reason; NetworkX calls this only if no backend is named.

    A faster call whose answer differs is sent only with ``nx.config.backends.sparsezc.same_answers = False``. The time
    that a start of the library would have saved is summed over calls, until a start pays off.
    """
    try:
        return _judged(name, args, kwargs)
    except Exception as error:  # NetworkX catches no errors; its own function may accept these arguments
        return f"its time for these arguments is not known ({error})"


def _judged(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return the result of `should_run`; raise an error for arguments whose work cannot be estimated."""
    claim = CLAIMS[name]
    known_as = claim.function.__name__  # also if this version of NetworkX has renamed it
    times = TIMES.get(known_as)
    G = args[0] if args else kwargs[next(iter(claim.defaults))]
    if getattr(G, "__networkx_backend__", "networkx") == "sparsezc":
        return True
    if times is None:
        return _LONG if known_as in FUNCTIONS else True  # a user's function, registered in its place
    n = len(G)
    longest = (times.weighted or (times.theirs,))[0]
    if longest * (n if times.each else 1) * n * (n + 1) <= _CALL:  # known without reading rows or arguments
        return _SHORT
    given = given_to(claim, args, kwargs)
    for parameter in times.unless:
        if parameter in given and given[parameter] is not claim.defaults[parameter]:
            return f"with {parameter} NetworkX has less to do"
    weight = next((given[one] for one in ("weight", "distance", "capacity") if given.get(one) is not None), None)
    measured = (times.theirs, times.ours) if weight is None else times.weighted
    if measured is None:
        return f"sparsezc has not measured this function with the edge attribute {weight!r}"
    counted = _count(G, times, given)
    work = counted if times.each else counted / max(n, 1)
    if measured[0] * work * n * (n + 1) <= _CALL:
        return _SHORT
    size = n + sum(map(len, G._adj.values()))
    converting = _converting(G, weight)
    alone, here = estimated(measured, work, times.each, size, converting)
    start = 0.0 if "suitesparse_graphblas" in sys.modules else _START
    if times.each and alone > here:
        alone *= _reach(G, (here + start) / alone, _DECIDING * alone / _READING)
    told = _told(alone, here + start, converting > 0, start > 0)
    if alone <= here:
        return told
    if times.differs and not _takes_others() and _is_determined(given):
        named = 'name backend="sparsezc", or set nx.config.backends.sparsezc.same_answers = False'
        return f"{times.differs} ({told}): {named}"
    if alone <= here + start:
        _waited[0] += alone - here
        if _waited[0] <= start:
            return told
    return True


def estimated(
    measured: tuple[float, float], work: float, each: bool, size: int, converting: float = _CONVERSION
) -> tuple[float, float]:
    """Return the microseconds of a call in NetworkX and here; `work`: a number of searches, or a share of all rows."""
    growth = max(1.0, 1 + _GROWTH * math.log10(size / _MEASURED))
    here = measured[1] * (work if each else 1) + converting
    return measured[0] * work * size * growth, here * size + _CALL


def _count(G: Any, times: Times, given: dict[str, Any]) -> int:
    """Return the number of nodes that a call computes for: all, unless an argument names or counts some."""
    found = len(G)
    for parameter in times.nodes:
        value = given.get(parameter)
        if value is None:
            continue
        if parameter in ("k", "number_of_nodes"):
            found = min(found, operator.index(value))
        elif hasattr(value, "__len__") and not isinstance(value, str) and not _is_node(G, value):
            found = min(found, len(value))
        else:
            found = min(found, 1)  # also for an iterator, which must not be consumed
    return found


def _is_node(G: Any, value: Any) -> bool:
    try:
        return value in G
    except TypeError:
        return False


def _converting(G: Any, weight: Any) -> float:
    """Return the microseconds of the missing conversions, for a node or entry."""
    cached = (getattr(G, "__networkx_cache__", None) or {}).get("backends", {}).get("sparsezc", {}).values()
    kept = [H for H in cached if isinstance(H, Graph)]  # a failed conversion is cached as a string
    if weight is None:
        return 0.0 if kept else _CONVERSION
    if any(weight in H._values for H in kept):
        return 0.0
    return _ATTRIBUTE + _CONVERSION


def _reach(G: Any, enough: float, most: float) -> float:
    """Return the share of nodes that searches from three nodes reach on average.

    Return 1 as soon as the share is at least `enough` for the decision, or `most` nodes and entries were read.
    """
    nodes, reached, read = list(G), 0, 0
    for start in (nodes[0], nodes[len(nodes) // 2], nodes[-1]):
        seen, front = {start}, [start]
        while front:
            row = G._adj[front.pop()]
            new = [v for v in row if v not in seen]
            seen.update(new)
            front += new
            read += 1 + len(row)
            if reached + len(seen) >= 3 * enough * len(nodes) or read > most:
                return 1.0
        reached += len(seen)
    return reached / (3 * len(nodes))


def _takes_others() -> bool:
    """Return whether the user accepts correct answers that differ from NetworkX's."""
    return getattr(getattr(nx.config.backends, "sparsezc", None), "same_answers", True) is False


def _is_determined(given: dict[str, Any]) -> bool:
    """Return whether NetworkX's answer is determined: without a seed, Louvain's differs from run to run."""
    if "seed" not in given:
        return True
    return not any(given["seed"] is one for one in (None, *_UNSEEDED))


def _told(alone: float, here: float, converts: bool, starts: bool) -> str:
    with_ = " and ".join(["the conversion"] * converts + ["the library's start"] * starts)
    return f"{_seconds(alone)} in NetworkX, {_seconds(here)} here{' with ' * bool(with_)}{with_}"


def _seconds(microseconds: float) -> str:
    seconds = microseconds / 1e6
    if seconds < 0.001:
        return "less than 0.001 s"
    return f"about {seconds:,.0f} s" if seconds >= 10 else f"about {seconds:.2g} s"
