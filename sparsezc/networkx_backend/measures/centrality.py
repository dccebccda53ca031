"""Centralities by iteration, with NetworkX's names, arguments and errors."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from sparsezc import algorithms
from sparsezc.algorithms.eigenvector_centrality import scored
from sparsezc.core.vector import Vector
from sparsezc.exceptions import ConvergenceFailure
from sparsezc.networkx_backend.graphs.claims import claims, else_declined
from sparsezc.networkx_backend.graphs.graph import Graph
from sparsezc.semirings import monoid

#: FP64 can represent the squares of numbers up to this, and sums of their squares.
_SQUARES = 1e140


def _vector(G: Graph, numbers: dict[Any, Any] | None) -> Vector | None:
    """Make a Vector from ``{node: number}``; keys that are not nodes are ignored."""
    if numbers is None:
        return None
    try:
        known = {G.index[node]: float(number) for node, number in numbers.items() if node in G}
    except (AttributeError, TypeError, ValueError) as error:
        raise NotImplementedError("sparsezc: a dictionary {node: number} is needed") from error
    made: Vector = Vector.from_coo(list(known), np.array(list(known.values()), float), size=len(G))
    return made


def _whole(name: str) -> Any:
    """Make a claim's `reason`: the dict argument `name` must have a number >= 0 for every node, and one above 0."""

    def reason(given: dict[str, Any]) -> str | None:
        numbers = given[name]
        if numbers is None or all(node in numbers for node in given["G"]):
            return None
        return f"{name} does not name every node"

    return reason


def _normalized_and_whole(given: dict[str, Any]) -> str | None:
    if given.get("method", "svd") not in ("svd", "power_iteration"):
        return f"sparsezc has no method {given['method']!r}"
    return _whole("nstart")(given) if given["normalized"] else "sparsezc has normalised scores only"


def _iterated(max_iter: int, run: Any) -> Any:
    """Return the result of `run`; raise NetworkX's error if it does not converge."""
    if max_iter < 1:
        raise nx.PowerIterationFailedConvergence(max_iter)
    try:
        with else_declined():
            return run()
    except ConvergenceFailure as error:
        raise nx.PowerIterationFailedConvergence(max_iter) from error


@claims(multigraph=True)
def pagerank(
    G: Graph,
    alpha: float = 0.85,
    personalization: dict[Any, Any] | None = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: dict[Any, Any] | None = None,
    weight: str | None = "weight",
    dangling: dict[Any, Any] | None = None,
) -> dict[Any, float]:
    """Return the rank of each node: see :func:`sparsezc.algorithms.pagerank`."""
    if len(G) == 0:
        return {}
    A = G.values(weight)
    teleport, start, leak = _vector(G, personalization), _vector(G, nstart), _vector(G, dangling)
    if teleport is not None and teleport.reduce(monoid.plus).new().get(0.0) == 0:
        raise ZeroDivisionError("personalization has no value above 0 for a node of the graph")
    return G.named(
        _iterated(
            max_iter,
            lambda: algorithms.pagerank(
                A,
                alpha,
                tol,
                max_iter,
                personalization=teleport,
                nstart=start,
                dangling=leak,
                weighted=weight is not None or G.multi,
            ),
        )
    )


@claims(reason=_normalized_and_whole, multigraph=True)
def hits(
    G: Graph,
    max_iter: int = 100,
    tol: float = 1e-8,
    nstart: dict[Any, Any] | None = None,
    normalized: bool = True,
    *,
    method: str = "power_iteration",
) -> tuple[dict[Any, float], dict[Any, float]]:
    """Return hub and authority scores by node: see :func:`sparsezc.algorithms.hits`, faster than NetworkX's methods."""
    if len(G) == 0:
        return {}, {}
    A = G.values("weight")
    start = _vector(G, nstart)
    hubs, authorities = _iterated(max_iter, lambda: algorithms.hits(A, max_iter, tol, start, weighted=True))
    return G.named(hubs), G.named(authorities)


@claims(reason=_whole("nstart"))
def katz_centrality(
    G: Graph,
    alpha: float = 0.1,
    beta: Any = 1.0,
    max_iter: int = 1000,
    tol: float = 1e-6,
    nstart: dict[Any, Any] | None = None,
    normalized: bool = True,
    weight: str | None = None,
) -> dict[Any, float]:
    """Return the score of each node: see :func:`sparsezc.algorithms.katz_centrality`."""
    if len(G) == 0:
        return {}
    try:
        base = float(beta)
    except (TypeError, ValueError, AttributeError) as error:
        if set(beta) != set(G):
            raise nx.NetworkXError("beta dictionary must have a value for every node") from error
        base = _vector(G, beta)  # type: ignore[assignment]
    start = _vector(G, nstart)
    return G.named(
        _iterated(
            max_iter,
            lambda: algorithms.katz_centrality(
                G.values(weight), alpha, base, max_iter, tol, start, normalized, weighted=weight is not None
            ),
        )
    )


@claims(reason=_whole("nstart"))
def eigenvector_centrality(
    G: Graph,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: dict[Any, Any] | None = None,
    weight: str | None = None,
) -> dict[Any, float]:
    """Return the score of each node, by NetworkX's rounds: see :func:`sparsezc.algorithms.eigenvector_centrality`."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    A = G.values(weight)
    if A.nvals and A.reduce_scalar(monoid.max).new().get() > _SQUARES:
        raise NotImplementedError("sparsezc: weights are so large that their squares are infinite")
    start = _vector(G, nstart)
    if nstart is not None and all(value == 0 for value in nstart.values()):
        raise nx.NetworkXError("initial vector cannot have all zero values")
    return G.named(
        _iterated(
            max_iter,
            lambda: scored(A, max_iter, tol, start, weight is not None, ahead=False),
        )
    )
