"""Rows measured in a process of their own, which ends where a call takes too long: a library's call cannot be ended."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["OURS", "LeftOut", "Work", "limited"]

OURS = "sparsezc"
_START = 180.0  # seconds in which a process reads its graph


class Work(NamedTuple):
    """Some rows of one graph, which a process measures.

    Attributes
    ----------
    until : float
        Rows that have not begun by then are left out, by the clock ``time.monotonic``.
    without : frozenset of (str, str)
        Peers that are left out of a row.
    """

    graph: str
    rows: tuple[str, ...]
    data: Path
    trials: int
    seconds: float
    until: float
    without: frozenset[tuple[str, str]] = frozenset()


class LeftOut(Exception):
    """A row was not measured."""


#: Measures: yields each row's name and its result, and calls the function before each call, with row and program.
Run = Callable[[Work, Callable[[str, str], None]], Iterator[tuple[str, Any]]]


def limited(work: Work, run: Run, limit: float) -> Iterator[tuple[str, Any]]:
    """Yield what `run` yields, while no call takes more than `limit` seconds.

    A peer whose call takes longer is left out of its row, which begins anew. A row of ours that does is left out.
    """
    left = list(work.rows)
    while left:
        late = yield from _until_late(work._replace(rows=tuple(left)), run, limit, left)
        if late is None:
            return
        row, program = late
        if program == OURS:
            left.remove(row)
            yield row, LeftOut(f"no answer within {limit:g} s")
        else:
            work = work._replace(without=work.without | {late})


def _until_late(work: Work, run: Run, limit: float, left: list[str]) -> Any:
    """Yield results, and take their rows from `left`; return the row and the program that is late, or None."""
    ways = multiprocessing.get_context("spawn")
    here, there = ways.Pipe(duplex=False)
    process = ways.Process(target=_child, args=(work, run, there), daemon=True)
    process.start()
    there.close()  # so that the end of the process is seen
    late, wait = (left[0], OURS), _START
    try:
        while here.poll(wait):
            kind, *what = here.recv()
            wait = limit
            if kind == "calls":
                late = what[0], what[1]
            elif kind == "has":
                left.remove(what[0])
                yield what[0], what[1]
            else:
                return None
        return late
    except EOFError:  # it has died, as where memory is short
        return late
    finally:
        process.kill()
        process.join()


def _child(work: Work, run: Run, there: Any) -> None:
    for row, result in run(work, lambda row, program: there.send(("calls", row, program))):
        there.send(("has", row, result))
    there.send(("end",))
