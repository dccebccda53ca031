"""The small graphs that have names, such as Zachary's karate club: NetworkX's edges and attributes, with a Matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
from networkx.utils import backends

from sparsezc.networkx_backend.generators.classic import asked_by_name
from sparsezc.networkx_backend.graphs.claims import makes
from sparsezc.networkx_backend.graphs.convert import convert_from_nx
from sparsezc.networkx_backend.graphs.graph import DiGraph, Graph
from sparsezc.networkx_backend.graphs.views import fix

#: Graphs whose functions have the argument `create_using`; some raise NetworkX's error for directed graphs.
_OF_ANY_KIND = (
    "bull", "chvatal", "cubical", "desargues", "diamond", "dodecahedral", "frucht", "heawood", "house", "house_x",
    "icosahedral", "krackhardt_kite", "moebius_kantor", "octahedral", "petersen", "sedgewick_maze",
    "tetrahedral", "truncated_cube", "truncated_tetrahedron", "tutte",
)  # fmt: skip
_UNDIRECTED = ("davis_southern_women", "florentine_families", "karate_club", "les_miserables", "pappus")
_THEIRS = {Graph: nx.Graph, DiGraph: nx.DiGraph}


def _fixed(source: nx.Graph) -> Graph:
    fix(source)
    return convert_from_nx(source)


def _maker(name: str, any_kind: bool) -> Callable[..., Graph]:
    """Return the function that makes one graph, under NetworkX's name."""
    theirs = backends._registered_algorithms[name]

    def of_any_kind(create_using: Any = None) -> Graph:
        return _fixed(theirs(_THEIRS.get(create_using, create_using), backend="networkx"))

    def undirected() -> Graph:
        return _fixed(theirs(backend="networkx"))

    made = of_any_kind if any_kind else undirected
    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"Return NetworkX's ``{name}`` with its Matrix."
    return made


for _name in _OF_ANY_KIND + _UNDIRECTED:
    makes(asked_by_name)(_maker(f"{_name}_graph", _name in _OF_ANY_KIND))
