"""The files of an LDBC Graphalytics graph: NAME.properties, vertices (.v), edges (.e), reference outputs (NAME-BFS).

A line of .v begins with a vertex's id, one of .e has two ids and perhaps a weight, one of an output an id and a value.
An undirected graph lists each edge once. Any file but the properties may be gzipped, with .gz after its name.
Source: A. Iosup et al., The LDBC Graphalytics Benchmark, arXiv:2011.15028.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sparsezc as gb
from benchmarks.verify import answers
from sparsezc.io.build import csr_builder, edge_list
from sparsezc.io.files.source import existing
from sparsezc.io.formats import snap
from sparsezc.memory.csr import Csr


class BadGraph(ValueError):
    """The error that a graph's files contradict each other or are incomplete; the message names the file."""


@dataclass(frozen=True)
class Properties:
    """A graph's properties file; `entries` has the keys without their common prefix ``graph.NAME.``."""

    path: Path
    name: str
    entries: dict[str, str]

    def __getitem__(self, key: str) -> str:
        if key not in self.entries:
            raise BadGraph(f"{self.path}: graph.{self.name}.{key} is missing")
        return self.entries[key]

    def file(self, key: str) -> Path:
        """Return the path of a file that the properties name, or of the same with .gz after its name."""
        named = self.path.parent / self[key]
        packed = named.with_name(named.name + ".gz")
        return existing(packed if packed.exists() and not named.exists() else named)

    def number(self, key: str, kind: Any = int) -> Any:
        try:
            return kind(self[key])
        except ValueError:
            raise BadGraph(f"{self.path}: graph.{self.name}.{key} is {self[key]!r}; a number is needed") from None

    @property
    def directed(self) -> bool:
        if self["directed"] not in ("true", "false"):
            raise BadGraph(f"{self.path}: graph.{self.name}.directed is {self['directed']!r}; true or false is needed")
        return self["directed"] == "true"

    @property
    def algorithms(self) -> list[str]:
        """The algorithms' names in capitals, as in the names of outputs."""
        return [name.strip().upper() for name in self["algorithms"].split(",") if name.strip()]

    def output(self, algorithm: str) -> Path | None:
        """Return the path of an algorithm's reference output; None if there is none."""
        plain = self.path.with_name(f"{self.name}-{algorithm}")
        return next((path for path in (plain, Path(f"{plain}.gz")) if path.is_file()), None)


def properties(path: Path) -> Properties:
    """Read a properties file: lines ``key = value``, and comments that begin with # or !."""
    found = {}
    for line in path.read_text().splitlines():
        if entry := re.match(r"\s*([^#!\s=:][^\s=:]*)\s*[=:]?\s*(.*?)\s*$", line):
            found[entry[1]] = entry[2]
    names = {key.split(".")[1] for key in found if re.fullmatch(r"graph\.[^.]+\.vertex-file", key)}
    if len(names) != 1:
        raise BadGraph(f"{path} describes {len(names)} graphs; the keys of one, graph.NAME.vertex-file ..., are needed")
    name = names.pop()
    start = f"graph.{name}."
    return Properties(path, name, {key.removeprefix(start): x for key, x in found.items() if key.startswith(start)})


def described(given: Path) -> list[Path]:
    """Return the properties files in a folder, or the given file."""
    if given.is_file():
        return [given]
    found = sorted(given.glob("*.properties"))
    if not found:
        raise BadGraph(f"{given} holds no .properties file" if given.is_dir() else f"{given} does not exist")
    return found


class Graph:
    """A graph that has been read into a placement.

    Attributes
    ----------
    A : gb.Matrix
        Vertices are numbered by ascending ids, so of two labels the smaller number has the smaller id.
    ids : ndarray of int64, shape (n,)
    edges : int
        Number of edges as the suite counts them: those of an undirected graph once.
    load_seconds : float
        Seconds from the files to the matrix.
    """

    def __init__(self, about: Properties, placement: str, xp: Any = np) -> None:
        start = time.perf_counter()
        self.about, self.xp = about, xp
        self.ids = _vertices(about)
        edges = snap.read(about.file("edge-file"))
        self.edges, self.weighted = int(edges.rows.size), edges.values is not None
        for key, number in (("meta.vertices", self.ids.size), ("meta.edges", self.edges)):
            if key in about.entries and about.number(key) != number:
                raise BadGraph(f"{about.path}: {key} is {about[key]}; the file holds {number}")
        self.A: Any = gb.Matrix._from_csr(_built(about, edges, self.ids, placement), adopt=True)
        self.load_seconds = time.perf_counter() - start

    @property
    def n(self) -> int:
        return int(self.ids.size)

    @cached_property
    def csr(self) -> Csr:
        """The matrix's arrays, for checks and counts."""
        found: Csr = self.A._to_csr()
        return found

    def stream(self) -> answers.Edges:
        return answers.Edges(self.csr, self.xp)

    def source(self, algorithm: str) -> int:
        """Return the number of the vertex from which an algorithm starts."""
        given = self.about.number(f"{algorithm}.source-vertex")
        at = int(np.searchsorted(self.ids, given))
        if at == self.n or self.ids[at] != given:
            raise BadGraph(f"{self.about.path}: {algorithm}.source-vertex is {given}, which is no vertex")
        return at

    def reference(self, algorithm: str) -> NDArray[Any] | None:
        """Return the values of the reference output, one for each vertex in the order of `ids`."""
        path = self.about.output(algorithm)
        if path is None:
            return None
        value = np.float64 if algorithm in ("PR", "LCC", "SSSP") else np.int64
        table = np.loadtxt(path, dtype=[("id", np.int64), ("value", value)], ndmin=1)
        order = np.argsort(table["id"])
        if not np.array_equal(table["id"][order], self.ids):
            raise BadGraph(f"{path}: one line for each vertex of {self.about.name} is needed")
        found: NDArray[Any] = table["value"][order]
        return found


def _vertices(about: Properties) -> NDArray[np.int64]:
    path = about.file("vertex-file")
    listed = np.loadtxt(path, dtype=np.int64, usecols=0, ndmin=1)
    ids = np.unique(listed)
    if ids.size != listed.size:
        raise BadGraph(f"{path} lists {listed.size - ids.size} vertices more than once")
    return ids


def _built(about: Properties, edges: edge_list.Edges, ids: NDArray[np.int64], placement: str) -> Csr:
    """Return the matrix's arrays: vertices are numbered by ascending ids, and lengths are FP64."""
    numbers = []
    for end in (edges.rows, edges.cols):
        at = np.minimum(np.searchsorted(ids, end), ids.size - 1)
        if (lost := ids[at] != end).any():
            raise BadGraph(f"{about.file('edge-file')}: {end[lost][0]} is the end of an edge and no vertex")
        numbers.append(edge_list.narrow_ids(at))
    values = None if edges.values is None else edges.values.astype(np.float64)
    made = edge_list.Edges(ids.size, ids.size, *numbers, values, undirected=not about.directed)
    return csr_builder.build(made, placement=placement)
