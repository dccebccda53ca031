"""The collectives of ranks that files need, and errors that all ranks raise together.

A rank that raises an error alone leaves the others waiting in their next collective. So each step that may fail runs in
:func:`together`: after it the ranks exchange their errors, and if there is one, all of them raise it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import GraphblasException, InvalidObject, OutOfMemory

T = TypeVar("T")


class RankFailure(GraphblasException, OSError):
    """The error that all ranks raise for an operating system's error on one of them."""


class Communicator(Protocol):
    """The collectives that files need, a part of the distributed engine's transport."""

    @property
    def rank(self) -> int:
        """Return this rank's number."""
        ...

    @property
    def size(self) -> int:
        """Return the number of ranks."""
        ...

    def numbers(self, *mine: int) -> NDArray[np.int64]:
        """Return every rank's integers, shape (size, len(mine))."""
        ...

    def objects(self, mine: Any) -> list[Any]:
        """Return every rank's object, in rank order."""
        ...

    def scatter(self, array: Any, sent: Any, received: Any) -> Any:
        """Send ``sent[r]`` consecutive entries to each rank r; return the entries received, in the order of senders."""
        ...


def together(comm: Communicator, work: Callable[[], T]) -> T:
    """Return the result of this rank's work; raise the error of the first rank that failed on all ranks.

    Raises
    ------
    GraphblasException
        A rank failed. Of several ranks, the message begins with the number of the one that failed.
    """
    result, failed = None, None
    try:
        result = work()
    except GraphblasException as error:
        failed = type(error), str(error)
    except MemoryError as error:
        failed = OutOfMemory, f"the system refuses memory: {error}"
    except OSError as error:
        failed = RankFailure, str(error)
    raise_first(comm, failed)
    return result  # type: ignore[return-value]


def raise_first(comm: Communicator, failed: tuple[type[GraphblasException], str] | None) -> None:
    """Raise the error of the first rank that has one, on all ranks."""
    for rank, error in enumerate(comm.objects(failed)):
        if error is not None:
            kind, message = error
            raise kind(message if comm.size == 1 else f"rank {rank}: {message}")


def same(comm: Communicator, name: str, mine: Sequence[Any]) -> None:
    """Compare facts that must be the same on all ranks, such as a file's size.

    Raises
    ------
    InvalidObject
        The facts differ; the message, the same on all ranks, names two ranks and the facts of each.
    """
    found = comm.objects(tuple(mine))
    for rank, other in enumerate(found):
        if other != found[0]:
            pairs = [pair for a, b in zip(found[0], other, strict=True) for pair in _differing(a, b)]
            mine, theirs = (", ".join(each) for each in zip(*pairs, strict=True))
            raise InvalidObject(f"{name}: rank 0 has {mine}, rank {rank} has {theirs}")


def _differing(a: Any, b: Any, name: str = "") -> list[tuple[str, str]]:
    """Return a pair of texts for two facts that differ, or for each field in which two records differ."""
    if a == b:
        return []
    if not is_dataclass(a) or type(a) is not type(b):
        return [(f"{name}{a}", f"{name}{b}")]
    return [
        pair
        for field in fields(a)
        for pair in _differing(getattr(a, field.name), getattr(b, field.name), f"{field.name} ")
    ]


def before(comm: Communicator, count: int) -> tuple[int, int]:
    """Return the sum of the counts of the ranks before this one, and that of all ranks."""
    counts = comm.numbers(count)[:, 0]
    return int(counts[: comm.rank].sum()), int(counts.sum())
