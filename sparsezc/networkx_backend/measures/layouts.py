"""Positions of nodes in a drawing, with NetworkX's names, arguments and errors."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.networkx_backend.graphs.claims import claims
from sparsezc.networkx_backend.graphs.graph import Graph

_Array = NDArray[Any]
_PAIRS = 1 << 18  # of nodes whose distances are held at a time: their arrays fit a processor's cache


def _started(G: Graph, pos: Any, seed: Any, dim: int) -> _Array:
    """Return the start positions of nodes: random, or given, with others random in the given ones' bounding box."""
    if pos is None:
        return seed.rand(len(G), dim).astype(np.float32)  # type: ignore[no-any-return]
    if len(pos) == len(G):
        return np.array([pos[node].copy() for node in G])
    given = np.array(list(pos.values()))
    low, high = given.min(axis=0), given.max(axis=0)
    found: _Array = low + seed.rand(len(G), low.size) * (high - low)
    for k, node in enumerate(G):
        if node in pos:
            found[k] = pos[node]
    return found


def _attraction(G: Graph, weight: str | None, at: _Array, linlog: bool) -> _Array:
    """Return each node's weighted sum of the vectors to its neighbours, scaled by log(1 + d) / d if `linlog`."""
    i, j, values = G.values(weight).to_coo()
    apart = i != j
    i, j, pull = i[apart].astype(np.int64), j[apart].astype(np.int64), values[apart].astype(np.float64)
    way = at[j] - at[i]
    if linlog:
        distance = np.linalg.norm(way, axis=-1)
        pull = pull * np.log(1 + distance) / distance
    return np.stack([np.bincount(i, pull * way[:, k], minlength=len(G)) for k in range(at.shape[1])], axis=1)


def _repulsion(at: _Array, mass: _Array, size: _Array | None) -> _Array:
    """Return each node's sum, over the others, of both masses times the vector from it over the squared distance."""
    n = mass.size
    found = np.empty(at.shape)
    step = max(_PAIRS // max(n, 1), 1)
    for first in range(0, n, step):
        rows = np.arange(first, min(first + step, n))
        way = at[rows, None] - at[None]
        distance = np.linalg.norm(way, axis=-1)
        if size is not None:
            distance += -size[rows, None] - size[None]
        squared, product = distance**2, mass[rows, None] * mass[None]
        squared[rows - first, rows], product[rows - first, rows] = 1, 0
        found[rows] = np.einsum("ijk, ij -> ik", way, product / squared)
    return found


def _gravity(at: _Array, mass: _Array, strong: bool) -> _Array:
    """Return each node's pull to the centre, which grows with the distance only if `strong`."""
    way = at - at.mean(axis=0)
    if not strong:
        with np.errstate(divide="ignore", invalid="ignore"):
            way = np.nan_to_num(way / np.linalg.norm(way, axis=-1)[:, None], nan=0)
    pull: _Array = mass[:, None] * way
    return pull


def _speed(
    n: int, swing: float, traction: float, speed: float, efficiency: float, tolerance: float
) -> tuple[float, float]:
    """Return the next speed and the next efficiency, which falls where nodes swing more than they move."""
    usual = 0.05 * sqrt(n)
    jitter = tolerance * max(sqrt(usual), min(10, usual * traction / n**2))
    if swing / traction > 2:
        efficiency *= 0.5 if efficiency > 0.05 else 1
        jitter = max(jitter, tolerance)
    wanted = inf if swing == 0 else jitter * efficiency * traction / swing
    if swing > jitter * traction:
        efficiency *= 0.7 if efficiency > 0.05 else 1
    elif speed < 1000:
        efficiency *= 1.3
    return speed + min(wanted - speed, 0.5 * speed), efficiency


@claims("store_pos_as", multigraph=True)
def forceatlas2_layout(
    G: Graph, pos: Any = None, *, max_iter: int = 100, jitter_tolerance: float = 1.0, scaling_ratio: float = 2.0,
    gravity: float = 1.0, distributed_action: bool = False, strong_gravity: bool = False, node_mass: Any = None,
    node_size: Any = None, weight: str | None = None, linlog: bool = False, seed: Any = None, dim: int = 2,
    store_pos_as: str | None = None,
) -> dict[Any, _Array]:  # fmt: skip
    """Return the position of each node: edges attract, nodes repel each other, and gravity pulls all to the centre.

    Source: M. Jacomy, T. Venturini, S. Heymann, M. Bastian, ForceAtlas2, 2014, doi:10.1371/journal.pone.0098679.
    """
    n = len(G)
    if n == 0:
        return {}
    at = _started(G, pos, seed, dim)
    mass = G.degrees() + 1.0
    size = None if node_size is None else np.array([node_size.get(node, 1) for node in G], float)
    for node, own in (node_mass or {}).items():
        if node in G:
            mass[G.index[node]] = own
    speed = efficiency = swing = traction = 1.0
    for _ in range(max_iter):
        pull = _attraction(G, weight, at, linlog)
        if distributed_action:
            pull = pull / mass[:, None]  # out of place: the pull is an integer array without edges
        force = pull + scaling_ratio * _repulsion(at, mass, size) - gravity * _gravity(at, mass, strong_gravity)
        swing += float((mass * np.linalg.norm(at - force, axis=-1)).sum())
        traction += float((0.5 * mass * np.linalg.norm(at + force, axis=-1)).sum())
        speed, efficiency = _speed(n, swing, traction, speed, efficiency, jitter_tolerance)
        length = np.linalg.norm(force, axis=-1)
        if size is None:
            factor = speed / (1 + np.sqrt(speed * mass * length))
        else:
            factor = np.minimum(0.1 * speed / (1 + np.sqrt(speed * mass * length)) * length, 10.0) / length
        step = force * factor[:, None]
        at += step
        if abs(step).sum() < 1e-10:
            break
    return dict(zip(G, at, strict=True))
