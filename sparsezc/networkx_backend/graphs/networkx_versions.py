"""The differences between NetworkX 3.6 and 3.7; no other module reads NetworkX's version."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import Signature, signature
from typing import Any

import networkx as nx

#: The oldest NetworkX whose rules the functions follow: earlier ones scale samples of betweenness differently.
FIRST = (3, 6)


def _numbers(version: str) -> tuple[int, int] | None:
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else None


def require_networkx(version: str) -> None:
    """Raise ImportError for a NetworkX version whose results differ."""
    found = _numbers(version)
    if found and found < FIRST:
        raise ImportError(f"sparsezc's backend follows NetworkX {FIRST[0]}.{FIRST[1]}; this is NetworkX {version}")


#: Whether the installed NetworkX has the rules of 3.7. A version without numbers is taken for a newer one.
SINCE_3_7 = (_numbers(nx.__version__) or (3, 7)) >= (3, 7)

#: The names by which NetworkX dispatches renamed functions, whose old names it keeps as aliases.
_RENAMED = {"barycenter": "centroid"} if SINCE_3_7 else {}

#: Arguments that functions have since 3.7.
_ADDED = {
    "adjacency_matrix": ("format",),
    "closeness_centrality": ("sp",),
    "from_numpy_array": ("nonedge",),
    "from_pandas_adjacency": ("nonedge",),
    "hits": ("method",),
    "leiden_communities": ("metric", "theta"),
    "rich_club_coefficient": ("n_samples",),
}


def name_of(name: str) -> str:
    """Return the name by which the installed NetworkX dispatches a function."""
    return _RENAMED.get(name, name)


def signature_of(function: Callable[..., Any]) -> Signature:
    """Return a function's signature without the arguments that the installed NetworkX does not have."""
    known = signature(function)
    absent = () if SINCE_3_7 else _ADDED.get(function.__name__, ())
    return known.replace(parameters=[p for p in known.parameters.values() if p.name not in absent])
