"""One row of the table: an application on one input, how it is run and judged, what it must reach, and its peer.

A file of this folder holds the rows of one application, in a list ``ROWS``; ``__main__.py`` lists the files.
"""

from __future__ import annotations

import gc
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

import sparsezc as gb
from benchmarks.harness.frame import SEED, pick_sources

#: Placements of matrices; "host" is the CPU engine.
HOST = "host"


class Goal(NamedTuple):
    """A figure that a row must reach.

    Attributes
    ----------
    value : float
        At least so many units of work a second; or, where `unit` is "s", at most so many seconds.
    unit : str
        "s", or what is counted, "steps".
    """

    value: float
    unit: str = "s"

    def reached(self, seconds: float, work: float) -> float:
        """Return the figure of a call that took so long and did so much work."""
        return seconds if self.unit == "s" else work / seconds

    def is_met(self, figure: float) -> bool:
        return figure <= self.value if self.unit == "s" else figure >= self.value


@dataclass(frozen=True)
class Peer:
    """Another program on the same input, run in the same process before the trials; or a published figure of it.

    Attributes
    ----------
    name : str
        The program, and the machine of a published figure.
    run : callable, optional
        Given the input; returns an answer of the peer's own kind.
    module : str
        What must be installed for `run`; the peer is left out where it is not.
    published : float, optional
        In the row's unit.
    """

    name: str
    run: Callable[[Any], Any] | None = None
    module: str = "numpy"
    published: float | None = None

    @property
    def can_run(self) -> bool:
        return self.run is not None and importlib.util.find_spec(self.module) is not None


@dataclass(frozen=True)
class Row:
    """An application on one input.

    Attributes
    ----------
    name : str
        Of the row, distinct in all files: "walks", "walks by weight".
    graph : str
        As ``gb.io.read`` takes it; "" where `make` needs none. Its size is replaced by ``--scale``.
    host_graph : str
        The same for the CPU engine, where it has another size.
    make : callable
        Given an :class:`Input`; returns what `run` takes. Not timed.
    run : callable
        The call that is timed, through the public interface.
    judge : callable
        Given what `make` made and the answer; raises :class:`benchmarks.verify.answers.Wrong`. Not timed.
    goals : mapping of str to Goal
        By placement.
    work : callable
        Given what `make` made and the answer: units of work in a call, where goals count them.
    nbytes : callable
        The same: bytes that had to be read.
    requests : callable
        The same: requests to the memory of the edges; 0 where bytes say what limits a call.
    peers : tuple of Peer
        The first is in the table; all are in the result file.
    made : str
        Says that an input is made and what it stands for; "" where it is the original.
    """

    name: str
    graph: str
    make: Callable[[Input], Any]
    run: Callable[[Any], Any]
    judge: Callable[[Any, Any], None]
    goals: Mapping[str, Goal] = field(default_factory=dict)
    work: Callable[[Any, Any], float] = lambda _given, _answer: 1.0
    nbytes: Callable[[Any, Any], int] = lambda _given, _answer: 0
    requests: Callable[[Any, Any], int] = lambda _given, _answer: 0
    peers: tuple[Peer, ...] = ()
    made: str = ""
    host_graph: str = ""

    def graph_in(self, placement: str) -> str:
        """Return the graph for a placement."""
        return self.host_graph if self.host_graph and placement == HOST else self.graph


@dataclass
class Input:
    """The graph that a row's input is made of, in its placement, and the size that was asked for.

    Attributes
    ----------
    name : str
        Of the graph, with its scale.
    placement : str
        Of matrices; "host" for the CPU engine.
    small : bool
        Whether ``--scale`` asked for less than the row's own size: inputs that are not graphs shrink too.
    """

    name: str
    placement: str
    small: bool = False
    seed: int = SEED
    _graphs: dict[tuple[str, str], gb.Matrix] = field(default_factory=dict)

    def put(self, A: gb.Matrix) -> gb.Matrix:
        """Return a matrix in the placement."""
        return A.to("cpu") if self.placement == HOST else A.to("gpu", placement=self.placement)

    def read(self, options: str = "") -> gb.Matrix:
        """Return the graph in the placement, read or made once for all rows; `options` as "?weights=..."."""
        key = self.name + options, self.placement
        if key not in self._graphs:
            self._graphs.clear()  # one graph at a time: they are large
            gc.collect()
            engine, where = ("cpu", {}) if self.placement == HOST else ("gpu", {"placement": self.placement})
            with gb.config.set(engine=engine):
                self._graphs[key] = gb.io.read(self.name + options, **where)
        return self._graphs[key]

    def sources(self, A: gb.Matrix, count: int) -> np.ndarray[Any, Any]:
        """Return `count` vertices with out-edges, the same ones in each run."""
        degree = A.apply("one").new("INT64").reduce_rowwise("plus").new().to_dense(fill_value=0)
        return np.array(pick_sources(degree, count, self.seed))

    def rng(self) -> np.random.Generator:
        """Return random numbers, the same ones in each run."""
        return np.random.default_rng(self.seed)
