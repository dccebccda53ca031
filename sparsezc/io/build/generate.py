"""Generated graphs: Kronecker and uniform random ones for benchmarks, and grids, paths and stars for tests.

Random graphs come from a counter-based hash of (seed, edge, draw), computed in integers: NumPy and CuPy generate the
same graph, in chunks of any size. A random graph has 2^SCALE vertices and EDGEFACTOR drawn edges for each vertex, in
both directions; self-loops and duplicates are dropped, ids are shuffled.
Sources: Graph500 benchmark specification 2.0 (initiator .57 .19 .19 .05); D. Chakrabarti, Y. Zhan, C. Faloutsos, R-MAT,
SDM 2004, doi:10.1137/1.9781611972740.43; G. Steele, D. Lea, C. Flood, Fast splittable pseudorandom number generators,
OOPSLA 2014, doi:10.1145/2660193.2660195 (the hash).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import InvalidValue
from sparsezc.io.build import csr_builder, edge_list
from sparsezc.io.build import weights as weighting
from sparsezc.io.build.weights import FROM_FILE, Weights
from sparsezc.memory import Buffer, allocate_all, budget
from sparsezc.memory.buffer import index_dtype
from sparsezc.memory.csr import Csr
from sparsezc.memory.placement import HOSTS
from sparsezc.terminal.progress import bar, working

SEED = 20071105
EDGEFACTOR = 16  # drawn edges for each vertex, as in Graph500
_MASK = 2**64 - 1
_SORTING = 40  # bytes a key while it is sorted: itself, the sort's own copy, and the memory for dropping duplicates
_LEAST = 1 << 26  # bytes of keys that are sorted at once even if memory is short: fewer make too many parts
_BITS = 21  # random bits a level: one hash serves three levels of the recursion
_A, _AB, _ABC = (round(share * 2**_BITS) for share in (0.57, 0.76, 0.95))  # bounds of the quadrants


@dataclass(frozen=True)
class Recipe:
    """A parsed name: `kind`, its two numbers, and options."""

    kind: str
    first: int
    second: int
    seed: int
    weights: str | None


def parse(name: str) -> Recipe:
    """Parse a name such as ``kron:16:8?seed=7``.

    >>> parse("kron:16:8?seed=7")
    Recipe(kind='kron', first=16, second=8, seed=7, weights=None)
    """
    body, _, query = name.partition("?")
    kind, _, rest = body.partition(":")
    given = dict(parse_qsl(query, keep_blank_values=True))
    unknown = set(given) - {"seed", "weights"}
    if unknown:
        raise InvalidValue(f"{name}: unknown option {sorted(unknown)[0]!r}; the options are seed and weights")
    if not re.fullmatch(r"\d{1,18}", given.get("seed", "0")):
        raise InvalidValue(f"{name}: seed={given['seed']!r}; a whole number of at least 0 is needed")
    seed = int(given.get("seed", SEED))
    numbers = _numbers(name, kind, rest)
    return Recipe(kind, *numbers, seed, given.get("weights"))


def _numbers(name: str, kind: str, rest: str) -> tuple[int, int]:
    """Return the one or two numbers of a name, after checking their bounds."""
    shapes = {"grid": "ROWSxCOLS", "path": "N", "star": "N"}
    pattern = {"grid": r"(\d{1,12})x(\d{1,12})", "path": r"(\d{1,12})", "star": r"(\d{1,12})"}
    found = re.fullmatch(pattern.get(kind, r"(\d{1,12})(?::(\d{1,12}))?"), rest)
    if not found:
        shape = shapes.get(kind, "SCALE[:EDGEFACTOR]")
        raise InvalidValue(f"{name}: the name has the form {kind}:{shape}, in whole numbers of at most 12 digits")
    numbers = [int(part) for part in found.groups() if part is not None]
    if kind in ("kron", "urand"):
        scale, factor = numbers[0], numbers[1] if len(numbers) > 1 else EDGEFACTOR
        if scale > 32:
            raise InvalidValue(f"{name}: the scale is {scale}; 0 to 32 (2^SCALE vertices) are possible")
        if not 1 <= factor <= 2**16:
            raise InvalidValue(f"{name}: the edge factor is {factor}; 1 to 65536 edges a vertex are possible")
        return scale, factor
    vertices = numbers[0] * numbers[-1] if kind == "grid" else numbers[0]
    if not 1 <= vertices <= 2**32:
        raise InvalidValue(f"{name}: {vertices} vertices; 1 to 2^32 are possible")
    return numbers[0], numbers[-1]


def sizes(recipe: Recipe) -> tuple[int, int, bool]:
    """Return the numbers of vertices and entries of a graph, and whether the latter is only an upper bound.

    >>> sizes(parse("grid:3x4")), sizes(parse("kron:16:8"))
    ((12, 34, False), (65536, 1048576, True))
    """
    if recipe.kind in ("kron", "urand"):
        return 1 << recipe.first, 2 * recipe.second << recipe.first, True
    height, width = (recipe.first, recipe.second) if recipe.kind == "grid" else (1, recipe.first)
    return height * width, 2 * (height * (width - 1) + (height - 1) * width), False


def make(
    name: str,
    weights: Weights = FROM_FILE,
    placement: str | None = None,
    xp: Any = None,
    chunk: int = 0,
    passes: int = 0,
) -> Csr:
    """Generate the graph of this name.

    Parameters
    ----------
    xp : module, optional
        NumPy or CuPy; by default CuPy if there is a GPU.
    chunk, passes : int, optional
        Edges drawn at a time, and parts in which the graph is generated (by default as many as memory requires); the
        graph does not depend on them.

    Examples
    --------
    >>> make("path:3").indices.read()
    array([1, 0, 2, 1], dtype=uint64)
    """
    recipe = parse(name)
    weights = weights_of(name, recipe, weights)
    if recipe.kind in ("grid", "path", "star"):
        rows, cols, n = _regular(recipe)
        edges = edge_list.Edges(n, n, rows, cols, undirected=True)
        return csr_builder.build(edges, weights, placement=placement)
    xp = _array_module() if xp is None else xp
    return _random(recipe, weights, placement, xp, chunk, passes)


def weights_of(name: str, recipe: Recipe, weights: Weights) -> Weights:
    """Return the requested weights or, if none are requested, those that the graph's name requests."""
    if recipe.weights is None or weights.kind != "file" or weights.dtype is not None:
        return weights
    try:
        return weighting.parse(recipe.weights)
    except InvalidValue as error:
        raise InvalidValue(f"{name}: {error}") from None


def _array_module() -> Any:
    """Return CuPy if there is a GPU, else NumPy."""
    from sparsezc.config import config
    from sparsezc.device import cuda

    return np if config.engine == "cpu" or cuda.reason() is not None else cuda.current().xp


def _regular(recipe: Recipe) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Return the edges of a grid, a path or a star, one direction each."""
    n, count, _ = sizes(recipe)
    budget.require_host(20 * count, f"making {count:,} edges")
    if recipe.kind == "star":
        cols = np.arange(1, n, dtype=np.uint32)
        return np.zeros_like(cols), cols, n
    at = np.arange(n, dtype=np.uint32).reshape(-1, recipe.second)
    rows = np.concatenate([at[:, :-1].ravel(), at[:-1, :].ravel()])
    cols = np.concatenate([at[:, 1:].ravel(), at[1:, :].ravel()])
    return rows, cols, n


def mix(x: Any, xp: Any) -> Any:
    """Apply SplitMix64's finaliser to an array of uint64: a bijection that looks random."""
    x = (x ^ (x >> xp.uint64(30))) * xp.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> xp.uint64(27))) * xp.uint64(0x94D049BB133111EB)
    return x ^ (x >> xp.uint64(31))


def _scalar_mix(x: int) -> int:
    """Apply :func:`mix` to one Python integer."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & _MASK
    return x ^ (x >> 31)


def _draws(start: int, stop: int, stream: int, seed: int, xp: Any) -> Any:
    """Return one random uint64 for each edge start:stop, from the given stream of draws."""
    base = _scalar_mix((seed * 0x9E3779B97F4A7C15 + stream + 1) & _MASK)
    counter = xp.arange(start, stop, dtype=xp.uint64)
    counter *= xp.uint64(0x9E3779B97F4A7C15)
    counter += xp.uint64(base)
    return mix(counter, xp)


def _kron(start: int, stop: int, scale: int, seed: int, xp: Any) -> tuple[Any, Any]:
    """Return both ends of the edges start:stop: each level of the recursion picks one of four quadrants."""
    rows = xp.zeros(stop - start, xp.uint32)
    cols = xp.zeros(stop - start, xp.uint32)
    for level in range(scale):
        if level % 3 == 0:
            bits = _draws(start, stop, level // 3, seed, xp)
        draw = (bits & xp.uint64(2**_BITS - 1)).astype(xp.uint32)
        bits >>= xp.uint64(_BITS)
        low = draw >= xp.uint32(_AB)
        rows += rows
        rows += low
        cols += cols
        cols += (draw >= xp.uint32(_A)) ^ low ^ (draw >= xp.uint32(_ABC))
    return rows, cols


def _urand(start: int, stop: int, scale: int, seed: int, xp: Any) -> tuple[Any, Any]:
    """Return both ends of the edges start:stop, uniform over the vertices."""
    bits = _draws(start, stop, 0, seed, xp)
    mask = xp.uint64((1 << scale) - 1)
    return (bits & mask).astype(xp.uint32), ((bits >> xp.uint64(32)) & mask).astype(xp.uint32)


def _shuffle(ids: Any, scale: int, seed: int, xp: Any) -> Any:
    """Apply a bijection of 0..2^scale-1, so that ids do not reveal degrees."""
    mask = (1 << scale) - 1
    half = xp.uint32(max(1, scale // 2))
    for turn in range(3):
        word = _scalar_mix((seed * 0xD1342543DE82EF95 + turn + 77) & _MASK)
        ids = (ids + xp.uint32(word >> 32 & mask)) * xp.uint32(word & 0xFFFFFFFF | 1)
        ids &= xp.uint32(mask)
        ids ^= ids >> half
    return ids


def drawn(recipe: Recipe, start: int, stop: int, xp: Any) -> tuple[Any, Any]:
    """Return both ends (uint32) of the edges start:stop of a random graph, one direction each, without self-loops."""
    draw = _kron if recipe.kind == "kron" else _urand
    rows, cols = draw(start, stop, recipe.first, recipe.seed, xp)
    off = rows != cols
    one, other = (_shuffle(ids[off], recipe.first, recipe.seed, xp) for ids in (rows, cols))
    return one, other


def _draw_rows(recipe: Recipe, xp: Any, chunk: int, low: int, high: int) -> Any:
    """Return the stored positions of the rows low:high as sorted 64-bit keys, row in the upper half."""
    scale = recipe.first
    edges = recipe.second << scale
    everything = low == 0 and high == 1 << scale
    parts = []
    progress = bar(edges, f"making {recipe.kind}" + ("" if everything else f" up to row {high:,}"), " edges")
    for start in range(0, edges, chunk):
        stop = min(start + chunk, edges)
        rows, cols = (ids.astype(xp.uint64) for ids in drawn(recipe, start, stop, xp))
        for one, other in ((rows, cols), (cols, rows)):
            keys = (one << xp.uint64(32)) | other
            parts.append(keys if everything else keys[(one >= xp.uint64(low)) & (one < xp.uint64(high))])
        progress.update(stop - start)
    progress.close()
    with working("sorting edges"):
        keys = xp.concatenate(parts)
        del parts
        keys.sort()
        new = xp.ones(keys.size, xp.bool_)
        new[1:] = keys[1:] != keys[:-1]
        return keys[new]


def _ends(keys: Any, low: int, high: int, xp: Any) -> Any:
    """Return the number of keys in rows low..i for each row i below `high`; the last key of all just fits 64 bits."""
    last = xp.arange(low, high, dtype=xp.uint64) << xp.uint64(32) | xp.uint64(0xFFFFFFFF)
    return xp.searchsorted(keys, last, side="right")


def _passes(recipe: Recipe, xp: Any) -> int:
    """Return the number of parts in which to generate the graph, so that each part's keys can be sorted in memory."""
    _, entries, _ = sizes(recipe)
    if xp is np:
        space = budget.host_available()
        free = entries * _SORTING if space is None else max(space // 2, _LEAST)
    else:
        from sparsezc.device import cuda

        free = int(cuda.current().memory()[0] * 0.8)
    return min(max(1, -(-entries * _SORTING // max(free, 1))), 1 << recipe.first)


def _random(
    recipe: Recipe, weights: Weights, placement: str | None, xp: Any, chunk: int = 0, passes: int = 0
) -> Csr:  # fmt: skip
    """Generate a random graph by ranges of rows: drawn once to count and, with several ranges, again to fill."""
    n = 1 << recipe.first
    chunk = chunk or (1 << 24 if xp is not np else 1 << 16)
    passes = passes or _passes(recipe, xp)
    bounds = [n * k // passes for k in range(passes + 1)]
    indptr = csr_builder.offsets(n)
    keys = None
    for low, high in pairwise(bounds):
        keys = _draw_rows(recipe, xp, chunk, low, high)
        indptr[low + 1 : high + 1] = indptr[low] + _host(_ends(keys, low, high, xp), xp)
    nvals = int(indptr[-1])
    _, dtype, iso = csr_builder.final_values(None, weights, None)
    placement = csr_builder.place(placement, n, n, nvals, dtype, iso)
    ids = index_dtype(n, placement)
    indices, values = allocate_all(placement, (nvals, ids), (1 if iso else nvals, dtype.np_type))
    if iso:
        values.write(0, np.ones(1, dtype.np_type))
    for low, high in pairwise(bounds):
        if passes > 1:
            keys = None
            keys = _draw_rows(recipe, xp, chunk, low, high)
        _fill(keys, int(indptr[low]), indices, None if iso else values, weights, placement, xp)
    return Csr(n, n, indptr, indices, values, dtype, iso, symmetric=True)


def _fill(
    keys: Any, at: int, indices: Buffer, values: Buffer | None, weights: Weights, placement: str, xp: Any
) -> None:  # fmt: skip
    """Write the ids, and generated weights, of sorted keys from entry `at` on."""
    block = edge_list.BLOCK if xp is np else 1 << 25
    progress = bar(int(keys.size), f"placing in {placement}", " edges")
    for start in range(0, int(keys.size), block):
        part = keys[start : start + block]
        cols = (part & xp.uint64(0xFFFFFFFF)).astype(xp.uint32)
        # Buffers in a GPU's placements accept CuPy's arrays.
        indices.write(at + start, _host(cols, xp) if placement in HOSTS else cols)
        if values is not None:
            rows = (part >> xp.uint64(32)).astype(xp.uint32)
            made = weighting.hashed(rows, cols, weights, xp)
            values.write(at + start, _host(made, xp) if placement in HOSTS else made)
        progress.update(int(part.size))
    progress.close()


def _host(array: Any, xp: Any) -> NDArray[Any]:
    """Return an array, which may be on the device, as a NumPy array."""
    return array if xp is np else xp.asnumpy(array)  # type: ignore[no-any-return]
