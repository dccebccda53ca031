"""Inputs that are made: communities, permuted graphs, places on a sphere, tables of ratings, images as grids.

All are made by array operations in a few passes, as the largest have 100 million entries. Answers are planted in them
where that is possible, so a row's judge needs no other program.
"""

from __future__ import annotations

import importlib.util
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

import sparsezc as gb
from benchmarks.hive.row import HOST, Input

Array = NDArray[Any]

MOVIELENS = (138_493, 26_744, 20_000_263)  # users, films, ratings of MovieLens-20M
NETFLIX = (480_189, 17_770, 100_480_507)
ON_A_CPU, TINY = 40, 2000  # parts of these tables
_AT_A_TIME = 1 << 22  # entries that are made at a time
_MORE = 1.25  # times the entries that are asked for: some are made twice, and the rest is left out evenly


def symmetric(i: Array, j: Array, n: int) -> gb.Matrix:
    """Return an undirected graph of these edges, without loops, on the CPU."""
    kept = i != j
    i, j = i[kept], j[kept]
    S = csr_array((np.ones(2 * i.size, np.bool_), (np.r_[i, j], np.r_[j, i])), shape=(n, n))
    S.sort_indices()
    return gb.Matrix.from_csr(S.indptr, S.indices, True, ncols=n)._known_symmetric()


def communities(n: int, degree: int, size: int, rng: np.random.Generator) -> gb.Matrix:
    """Return a graph of communities of a quarter of `size` to two of it, of which a fifth of the edges leads out."""
    start = np.r_[0, np.cumsum(rng.integers(size // 4, 2 * size - size // 4, max(1, n // size)))]
    start = np.r_[start[start < n], n]
    home = np.searchsorted(start, np.arange(n), side="right") - 1
    u = rng.integers(0, n, n * degree // 2)
    inside = start[home[u]] + rng.integers(0, 1 << 40, u.size) % np.diff(start)[home[u]]
    return symmetric(u, np.where(rng.random(u.size) < 0.8, inside, rng.integers(0, n, u.size)), n)


def permuted(n: int, degree: int, rng: np.random.Generator) -> tuple[gb.Matrix, gb.Matrix, Array]:
    """Return a random graph, its shuffled copy, and the vertex of the copy for each."""
    i, j = rng.integers(0, n, (2, n * degree // 2))
    who = rng.permutation(n)
    return symmetric(i, j, n), symmetric(who[i], who[j], n), who


def on_a_sphere(n: int, near: int, rng: np.random.Generator) -> tuple[gb.Matrix, Array]:
    """Return a geometric graph, each vertex and its `near` nearest ones, and the places: latitude and longitude."""
    from scipy.spatial import cKDTree

    places = np.c_[np.degrees(np.arcsin(rng.uniform(-0.9, 0.9, n))), rng.uniform(-180, 180, n)]
    points = unit_vectors(places)
    _, found = cKDTree(points).query(points, near + 1)
    return symmetric(np.repeat(np.arange(n), near), found[:, 1:].ravel(), n), places


def unit_vectors(places: Array) -> Array:
    """Return the points of the unit sphere at these latitudes and longitudes, in degrees."""
    latitude, longitude = np.radians(places).T
    flat = np.cos(latitude)
    return np.c_[flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)]


class Table(NamedTuple):
    """A table of ratings 1..5 as CSR arrays, ascending in each row."""

    indptr: Array
    indices: Array
    values: Array
    shape: tuple[int, int]

    def scipy(self) -> csr_array:
        return csr_array((self.values, self.indices, self.indptr), shape=self.shape)

    def matrix(self) -> gb.Matrix:
        return gb.Matrix.from_csr(self.indptr, self.indices, self.values, ncols=self.shape[1])


def ratings(given: Input, shape: tuple[int, int, int]) -> Table:
    """Return a table of this shape, or of the part of it that was asked for.

    Few users have rated most, few films are rated most. A user of d ratings gets one film of each d-th of the films by
    popularity, so rows are ascending without a sort. A rating is 3, what the user and the film add, and noise.
    """
    part = given.part or (TINY if given.small else ON_A_CPU if given.placement == HOST else 1)
    users, films, count = max(30, shape[0] // part), max(20, shape[1] // part), shape[2] // part
    count = min(count, users * films // 8)
    rng = given.rng()
    weight = rng.pareto(1.5, users) + 0.2
    degree = np.minimum((weight * (_MORE * count / weight.sum())).astype(np.int64) + 1, films // 2)
    generous, good = rng.normal(scale=0.7, size=users), rng.normal(scale=0.7, size=films).astype(np.float32)
    ends = np.cumsum(degree)
    indices, values, kept_of_row = [], [], np.zeros(users, np.int64)
    first = 0
    while first < users:
        last = max(first + 1, int(np.searchsorted(ends, (ends[first - 1] if first else 0) + _AT_A_TIME)))
        d = degree[first:last]
        row = np.repeat(np.arange(last - first, dtype=np.int32), d)
        place = np.arange(row.size) - np.repeat(np.cumsum(d) - d, d)
        at = (place + rng.random(row.size, np.float32)) / d[row]
        film = np.minimum(films * at * at, films - 1).astype(np.int32)
        kept = np.flatnonzero(np.r_[True, (film[1:] != film[:-1]) | (row[1:] != row[:-1])])
        wanted = int(count * d.sum() // ends[-1])
        kept = kept[np.linspace(0, kept.size - 1, min(wanted, kept.size)).astype(np.int64)]
        row, film = row[kept], film[kept]
        kept_of_row[first:last] = np.bincount(row, minlength=last - first)
        stars = 3 + generous[first:last].astype(np.float32)[row] + good[film]
        values.append(np.clip(np.rint(stars + rng.random(row.size, np.float32) - 0.5), 1, 5).astype(np.int8))
        indices.append(film)
        first = last
    return Table(np.r_[0, np.cumsum(kept_of_row)], np.concatenate(indices), np.concatenate(values), (users, films))


def grid(rows: int, columns: int, n: int | None = None) -> tuple[Array, Array]:
    """Return the edges of a grid, of its first n vertices."""
    number = np.arange(rows * columns).reshape(rows, columns)
    i, j = np.r_[number[:, :-1].ravel(), number[:-1].ravel()], np.r_[number[:, 1:].ravel(), number[1:].ravel()]
    kept = j < (rows * columns if n is None else n)
    return i[kept], j[kept]


def photograph(given: Input, rows: int, columns: int) -> tuple[Array, str]:
    """Return an image of numbers 0..1 and what it is: scikit-learn's photograph, if it has this size, or regions."""
    if importlib.util.find_spec("sklearn") and (rows, columns) == (427, 640):
        from sklearn.datasets import load_sample_image

        return load_sample_image("china.jpg").mean(axis=2) / 255, "scikit-learn's photograph china.jpg"
    return regions(rows, columns, 40, given.rng()), f"a generated image of {rows} x {columns} pixels"


def regions(rows: int, columns: int, count: int, rng: np.random.Generator) -> Array:
    """Return an image of so many regions, each of one shade: the pixels that are nearest to a point."""
    from scipy.spatial import cKDTree

    points = np.c_[rng.uniform(0, rows, count), rng.uniform(0, columns, count)]
    pixels = np.stack(np.mgrid[:rows, :columns], axis=-1).reshape(-1, 2)
    return rng.random(count)[cKDTree(points).query(pixels)[1]].reshape(rows, columns)
