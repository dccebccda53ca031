"""Rows measured in a process of their own, which is killed if a library's call, which cannot be ended, is late."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["OURS", "LeftOut", "Work", "limited"]

OURS = "sparsezc"
_START = 180.0  # seconds within which a process must read its graph


class Work(NamedTuple):
    """Some rows of one graph, which a process measures.

    Attributes
    ----------
    until : float
        Time of ``time.monotonic`` after which no row begins: the rest are left out.
    without : frozenset of (str, str)
        Pairs of a row and a peer that is left out of it.
    """

    graph: str
    rows: tuple[str, ...]
    data: Path
    trials: int
    seconds: float
    until: float
    without: frozenset[tuple[str, str]] = frozenset()


class LeftOut(Exception):
    """The error that a row was not measured, with the reason."""


#: Measures rows: yields each row's name and result, and calls its second argument with row and program before a call.
Run = Callable[[Work, Callable[[str, str], None]], Iterator[tuple[str, Any]]]


def limited(work: Work, run: Run, limit: float) -> Iterator[tuple[str, Any]]:
    """Yield the results of `run`, and end each call that takes more than `limit` seconds.

    A peer whose call takes longer is left out of its row, which is measured again. If our call does, the row is left
    out.
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
    """Yield results, and remove their rows from `left`; return the row and program of a late call, or None."""
    ways = multiprocessing.get_context("spawn")
    here, there = ways.Pipe(duplex=False)
    process = ways.Process(target=_child, args=(work, run, there), daemon=True)
    process.start()
    there.close()  # else the pipe would not report the process's end
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
    except EOFError:  # the process has died, for example because memory ran out
        return late
    finally:
        process.kill()
        process.join()


def _child(work: Work, run: Run, there: Any) -> None:
    for row, result in run(work, lambda row, program: there.send(("calls", row, program))):
        there.send(("has", row, result))
    there.send(("end",))
