"""One row of the table: an application on one input, its call and judge, its goals, and its peers.

A file of this folder holds the rows of one subject, in a list ``ROWS``; ``__main__.py`` lists the files.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sparsezc as gb
from benchmarks.harness.frame import SEED, nothing, pick_sources, timed

#: Placements of matrices; "host" is the CPU engine.
HOST = "host"
#: Formats of the reference graphs whose names differ in ``gb.io.read``.
FORMATS = {"gr": "dimacs"}


class Unavailable(Exception):
    """The error that a row's input is not on this machine; the message names the missing input."""


class Goal(NamedTuple):
    """A figure that a row must reach.

    Attributes
    ----------
    value : float
        The least units of work a second; for the unit "s" the most seconds; for "of peer" the most of the time of the
        row's first peer in the same run.
    unit : str
        "s", "of peer", or the unit of work, such as "steps".
    """

    value: float
    unit: str = "s"

    @property
    def is_time(self) -> bool:
        """True if less is better."""
        return self.unit in ("s", "of peer")

    def reached(self, seconds: float, work: float, peer: float | None = None) -> float | None:
        """Return the figure of a call from its seconds and units of work; None if a goal "of peer" has no peer's time.

        >>> Goal(2.0).reached(1.5, 1e6), Goal(1e6, "steps").reached(0.5, 1e6), Goal(1.0, "of peer").reached(3.0, 1, 4.0)
        (1.5, 2000000.0, 0.75)
        """
        if self.unit == "of peer":
            return None if peer is None else seconds / peer
        return seconds if self.unit == "s" else work / seconds

    def is_met(self, figure: float) -> bool:
        return figure <= self.value if self.is_time else figure >= self.value


def on_a_gpu(*goal: Any) -> dict[str, Goal]:
    """Return a goal for graphs in host memory, and the same one for graphs in device memory."""
    return {where: Goal(*goal) for where in ("zerocopy", "device")}


@dataclass(frozen=True)
class Peer:
    """Another program on the same input, run in the same process after the trials, or its published figure.

    Attributes
    ----------
    name : str
        The program, and the machine of a published figure.
    run : callable, optional
        Given the input; returns an answer of the peer's own kind.
    module : str
        The module that `run` needs; without it the peer is left out.
    published : float, optional
        The published figure, in the row's unit.
    most : int
        Most entries of a graph on which the peer runs: on a larger one it takes minutes.
    prepare : callable, optional
        Converts the row's input to the input of `run`. Not timed.
    ours : bool
        The peer is another call of this package; its second run is timed, as the first compiles.
    """

    name: str
    run: Callable[[Any], Any] | None = None
    module: str = "numpy"
    published: float | None = None
    most: int = 1 << 62
    prepare: Callable[[Any], Any] | None = None
    ours: bool = False

    @property
    def is_installed(self) -> bool:
        return importlib.util.find_spec(self.module) is not None

    @property
    def can_run(self) -> bool:
        return self.run is not None and self.is_installed

    def timed(self, made: Any, synchronize: Callable[[], None] = nothing) -> tuple[Any, float, float]:
        """Run the peer; return its answer, its seconds, and its processor seconds in all threads."""
        assert self.run is not None
        call = partial(self.run, made if self.prepare is None else self.prepare(made))
        if self.ours:
            call()
        before = time.process_time()
        answer, took = timed(call, synchronize)
        return answer, took, time.process_time() - before


@dataclass(frozen=True)
class Row:
    """An application on one input.

    Attributes
    ----------
    name : str
        The row's name, unique among all files: "walks", "walks by weight".
    graph : str
        A graph for ``gb.io.read``; "" if `make` needs none. ``--scale`` replaces its size.
    host_graph : str
        The graph for the CPU engine, if it has another size there.
    make : callable
        Makes the argument of `run` from an :class:`Input`. Not timed.
    run : callable
        The timed call, through the public interface.
    judge : callable
        Raises :class:`benchmarks.verify.answers.Wrong` if `run`'s answer to the result of `make` is wrong. Not timed.
    what : str
        Description of a call.
    goals : mapping of str to Goal
        Goals by placement.
    unit : str
        Unit of the figure, if there are no goals.
    work : callable
        Returns, for the result of `make` and the answer, the units of work in a call, if goals count them.
    nbytes : callable
        Returns, for the same arguments, the bytes that had to be read.
    requests : callable
        Returns, for the same arguments, the requests to the memory of the edges; 0 if bytes limit a call.
    share : float
        Share of the link's rate of random requests in the same run that a call's requests must reach, too.
    notes : callable
        Returns, for the same arguments, further figures for the result file by name; a list is a series of the case.
    peers : tuple of Peer
        The table has the first peer with a figure, the result file all.
    parts : int
        Equal parts of a call, such as rounds of a descent: `goals`, `nbytes` and figures are of one part.
    base : callable, optional
        A call without these parts. Its time is subtracted before the rest is divided by `parts`.
    made : str
        Description of a generated input and of the original that it replaces; "" for an original.
    """

    name: str
    graph: str
    make: Callable[[Input], Any]
    run: Callable[[Any], Any]
    judge: Callable[[Any, Any], None]
    what: str = ""
    goals: Mapping[str, Goal] = field(default_factory=dict)
    unit: str = "s"
    work: Callable[[Any, Any], float] = lambda _given, _answer: 1.0
    nbytes: Callable[[Any, Any], int] = lambda _given, _answer: 0
    requests: Callable[[Any, Any], int] = lambda _given, _answer: 0
    share: float = 0.0
    notes: Callable[[Any, Any], dict[str, Any]] = lambda _given, _answer: {}
    peers: tuple[Peer, ...] = ()
    parts: int = 1
    base: Callable[[Any], Any] | None = None
    made: str = ""
    host_graph: str = ""

    def graph_in(self, placement: str) -> str:
        """Return the graph for a placement."""
        return self.host_graph if self.host_graph and placement == HOST else self.graph


@dataclass
class Input:
    """The graph from which a row's input is made, its placement, and the requested size.

    Attributes
    ----------
    name : str
        The graph's name, with its scale.
    placement : str
        Placement of matrices; "host" for the CPU engine.
    small : bool
        ``--scale`` is given, so that inputs that are not graphs shrink, too.
    part : int, optional
        Divisor of the sizes of generated tables; by default 1 on a GPU, more on a CPU.
    data : Path, optional
        The folder of the reference graphs.
    """

    name: str
    placement: str
    small: bool = False
    part: int | None = None
    data: Path | None = None
    seed: int = SEED
    _graphs: dict[tuple[str, str], gb.Matrix] = field(default_factory=dict)

    def size(self, full: int, host: int, small: int) -> int:
        """Return the size of an input that is no graph: `small` with ``--scale``, else by the engine."""
        return small if self.small else host if self.placement == HOST else full

    def put(self, A: gb.Matrix) -> gb.Matrix:
        """Return a matrix in the input's placement."""
        return A.to("cpu") if self.placement == HOST else A.to("gpu", placement=self.placement)

    def read(self, options: str = "") -> gb.Matrix:
        """Return the graph in the placement, read or made once for all rows; `options` as "?weights=..."."""
        key = self.name + options, self.placement
        if key not in self._graphs:
            self._graphs.clear()  # graphs are large, so only one is kept
            gc.collect()
            engine, where = ("cpu", {}) if self.placement == HOST else ("gpu", {"placement": self.placement})
            with gb.config.set(engine=engine):
                self._graphs[key] = gb.io.read(self.name + options, **where)
        return self._graphs[key]

    def reference(self, name: str) -> gb.Matrix:
        """Return a reference graph in the placement; raise `Unavailable` if it is not on this machine."""
        listed = self.data / "graphs.json" if self.data else None
        if listed is None or not listed.exists():
            raise Unavailable(f"the reference graphs are not in {self.data}; --data names their folder")
        (found,) = (entry for entry in json.loads(listed.read_text()) if entry["name"] == name)
        with gb.config.set(engine="cpu"):
            A = gb.io.read(
                listed.parent / found["file"], format=FORMATS.get(found["format"], found["format"]),
                directed=found["directed"], relabel=found["format"] == "snap",
            )  # fmt: skip
        return self.put(A[0] if isinstance(A, tuple) else A)

    def sources(self, A: gb.Matrix, count: int) -> np.ndarray[Any, Any]:
        """Return `count` vertices with out-edges, which are equal in each run."""
        return np.array(pick_sources(degrees(A), count, self.seed))

    def rng(self, stream: int = 0) -> np.random.Generator:
        """Return a generator of random numbers: the same in each run, others for another `stream`."""
        return np.random.default_rng([self.seed, stream])


def degrees(A: gb.Matrix) -> np.ndarray[Any, Any]:
    """Return the number of entries of each row; reads offsets alone."""
    ones = gb.Vector.from_scalar(1, A.ncols, "INT64")
    found: np.ndarray[Any, Any] = A.mxv(ones, gb.semiring.plus_pair["INT64"]).new().to_dense(fill_value=0)
    return found
