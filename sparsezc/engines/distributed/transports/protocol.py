"""Exchange between the ranks of a distributed program: the protocol of a transport, and that of one process.

Arrays are the local engine's: NumPy arrays on the CPU engine, device arrays on the GPU engine; a transport returns
arrays of the kind that it was given. Counts are numbers of elements, one a rank. Every method is a collective: all
ranks call it, in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import InvalidValue

__all__ = ["DEADLINE", "Alone", "Shared", "Transport", "check_options"]

#: Seconds that a rank waits for the others by default: ranks that read files may be as far apart.
DEADLINE = 600.0

Counts = NDArray[np.int64]


class Shared(NamedTuple):
    """Memory of all ranks that kernels of each read and write.

    Attributes
    ----------
    arrays : list of arrays of bytes
        One of each rank.
    left : object or None
        The note that the last caller left about the contents; None: the contents are zeros.
    leave : callable
        Called at the end with a note about the contents, for the next caller with the same key.
    told : array of bytes
        Host memory of this rank that its kernels write.
    wait : callable
        Calls a function until it returns true, at most until the deadline: kernels of ranks wait for each other.
    count_received : callable
        Called with the bytes that this rank received through this memory.
    """

    arrays: list[Any]
    left: Any
    leave: Callable[[Any], None]
    told: NDArray[np.uint8]
    wait: Callable[[Callable[[], bool]], None]
    count_received: Callable[[int], None]


_KINDS = ("auto", "mpi", "ipc", "nccl")
_ENGINES = ("cpu", "gpu")


def check_options(engine: Any, kind: Any, deadline: Any) -> None:
    """Raise an error for invalid options of ``distributed.init``, on all ranks, as all give the same options.

    Raises
    ------
    InvalidValue
        The engine or the transport is unknown, the transport needs the GPU engine, or the deadline is not above 0.
    """
    if engine not in _ENGINES:
        raise InvalidValue(f"distributed.init: engine={engine!r} is unknown; there are {', '.join(_ENGINES)}")
    if kind not in _KINDS:
        raise InvalidValue(f"distributed.init: transport={kind!r} is unknown; there are {', '.join(_KINDS)}")
    if kind in ("ipc", "nccl") and engine != "gpu":
        raise InvalidValue(f"distributed.init: transport={kind!r} moves device arrays; engine={engine!r} has none")
    if isinstance(deadline, bool) or not isinstance(deadline, int | float) or not 0 < deadline < inf:
        raise InvalidValue(f"distributed.init: deadline={deadline!r}; a number of seconds above 0 is needed")


class Transport(Protocol):
    """The collectives that the distributed engine needs.

    Attributes
    ----------
    rank, size : int
        This rank's number, and how many there are.
    calls : int
        Collectives so far, for tests and benchmarks.
    received : int
        Bytes that other ranks sent to this one so far, without numbers and objects.
    waited : float
        Seconds of this process's processor time within collectives: ranks poll while they wait.
    packs_below : float
        Packing wanted values saves time if they are less than this share of all; 0: it never does.
    """

    rank: int
    size: int
    calls: int
    received: int
    waited: float
    packs_below: float

    def numbers(self, *mine: int) -> NDArray[np.int64]:
        """Return the integers of every rank, shape (size, len(mine))."""

    def objects(self, mine: Any) -> list[Any]:
        """Return the objects of all ranks, in rank order; objects are pickled."""

    def gather(self, mine: Any, counts: Counts) -> Any:
        """Return the arrays of all ranks, one after the other; ``counts[r]`` elements are of rank r."""

    def scatter(self, mine: Any, sent: Counts, received: Counts) -> Any:
        """Send parts of an array that follow each other, ``sent[r]`` elements to rank r; return what arrives.

        ``received[r]`` elements of the result are of rank r.
        """

    def gather_both(self, one: Any, two: Any, ones: Counts, twos: Counts) -> tuple[Any, Any]:
        """Gather two arrays, of any types, in one collective."""

    def scatter_both(self, one: Any, two: Any, sent: Sequence[Counts], received: Sequence[Counts]) -> tuple[Any, Any]:
        """Scatter two arrays, of any types, in one collective; `sent` and `received` are of each."""

    def shift(self, mine: Any, count: int) -> Any:
        """Send an array to the rank before this one, in a ring; return the `count` elements of the rank after it."""

    def shared(self, nbytes: int, told: int, key: Any, owner: Any) -> Shared | None:
        """Return memory of each rank that kernels of all access: zeros, or as the last caller with this key left it.

        None: kernels cannot access it, or a rank has too little. `told`: bytes of host memory. `nbytes` is the same on
        all ranks. The memory may be freed once no `owner` that needs as much is alive: an object of each rank, which is
        referred to weakly.
        """

    def abort(self, said: str) -> None:
        """Print a line and end all ranks."""


class Alone:
    """The transport of one process, which receives the arrays that it sends."""

    def __init__(self) -> None:
        self.rank, self.size = 0, 1
        self.calls, self.received, self.waited, self.packs_below = 0, 0, 0.0, 0.0

    def numbers(self, *mine: int) -> NDArray[np.int64]:
        return np.array([mine], np.int64)

    def objects(self, mine: Any) -> list[Any]:
        return [mine]

    def gather(self, mine: Any, counts: Counts) -> Any:
        return mine

    def scatter(self, mine: Any, sent: Counts, received: Counts) -> Any:
        return mine

    def gather_both(self, one: Any, two: Any, ones: Counts, twos: Counts) -> tuple[Any, Any]:
        return one, two

    def scatter_both(self, one: Any, two: Any, sent: Sequence[Counts], received: Sequence[Counts]) -> tuple[Any, Any]:
        return one, two

    def shift(self, mine: Any, count: int) -> Any:
        return mine

    def shared(self, nbytes: int, told: int, key: Any, owner: Any) -> Shared | None:
        return None

    def abort(self, said: str) -> None:
        raise SystemExit(said)
