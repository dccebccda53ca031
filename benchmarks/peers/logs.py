"""Times in the logs of peers: JSON lines of cuGraph, lines of ``name=number`` of BLEST and ECL-CC.

Each reader takes the lines of a log and yields the times that it finds in them; benchmarks/README.md has the formats.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple


class Times(NamedTuple):
    """Some times of one kernel.

    Attributes
    ----------
    kernel : str
        The kernel's name in benchmarks.gap.
    program : str
        The peer, and its variant if it has several.
    milliseconds : list of float
        Times of one search or iteration each.
    failed : str
        The program's message about a failure or a wrong answer; "" without one.
    """

    kernel: str
    program: str
    milliseconds: list[float]
    failed: str = ""


Lines = Iterable[tuple[int, str]]
_PAIR = re.compile(r"(\w+)=([-+.\w]+)")
#: Our kernel for each of cuGraph's, and the name of the program and variant.
_CUGRAPH = {
    "bfs_do": ("bfs", "cugraph, both directions"),
    "bfs": ("bfs", "cugraph"),
    "wcc": ("cc", "cugraph"),
    "pagerank": ("pagerank", "cugraph, FP32"),
    "sssp": ("sssp", "cugraph"),
    "bc": ("bc", "cugraph"),
}


def read(peer: str, path: Path) -> list[Times]:
    """Return the times in a peer's log, those of one kernel and program together.

    Raises
    ------
    ValueError
        The log has no time, or has a damaged line, which the message names.
    """
    lines = enumerate(path.read_text(errors="replace").splitlines(), 1)
    found: dict[tuple[str, str], Times] = {}
    try:
        for times in READERS[peer](lines):
            key = times.kernel, times.program
            before = found.get(key, Times(*key, []))
            both = [*before.milliseconds, *times.milliseconds]
            found[key] = Times(*key, both, before.failed or times.failed)
    except _Damaged as error:
        raise ValueError(f"{path}:{error}") from None
    if not found:
        raise ValueError(f"{path} has no line of {peer} with a time: {NEEDED[peer]} is needed")
    return list(found.values())


class _Damaged(Exception):
    """The error that a line of a log cannot be parsed."""


def _cugraph(lines: Lines) -> Iterator[Times]:
    """Yield the trials of each source, or of a kernel without sources; other JSON lines have no times."""
    of_sources: set[str] = set()
    for number, line in lines:
        if not line.startswith("{"):
            continue
        try:
            said: dict[str, Any] = json.loads(line)
            name = said.get("kernel")
            if name not in _CUGRAPH:
                continue
            kernel, program = _CUGRAPH[name]
            if "error" in said:
                yield Times(kernel, program, [], str(said["error"]))
            elif "source" in said:
                of_sources.add(name)
                yield Times(kernel, program, [float(ms) for ms in said["ms_all"]])
            elif name not in of_sources:
                parts = said["iterations"] if name == "pagerank" else said["sources"] if name == "bc" else 1
                yield Times(kernel, program, [float(ms) / parts for ms in said["ms_all"]])
        except (ValueError, TypeError, KeyError, ZeroDivisionError) as error:
            raise _Damaged(f"{number}: {type(error).__name__}: {error}, in {line[:80]!r}") from None


def _blest(lines: Lines) -> Iterator[Times]:
    """Yield times of the kernel alone, and with the clearing of levels, which a search needs, too."""
    for number, line in lines:
        if not line.startswith(("SOURCE ", "CC ")):
            continue
        failed = "its check failed" if "CHECK=BAD" in line else ""
        ms = _number(number, line, "kernel_ms")
        if line.startswith("CC "):
            yield Times("cc", "blest", [ms], failed)
            continue
        yield Times("bfs", "blest", [ms], failed)
        yield Times("bfs", "blest, with clearing", [ms + _number(number, line, "reset_ms")], failed)


def _eclcc(lines: Lines) -> Iterator[Times]:
    for number, line in lines:
        if line.startswith("RUN "):
            yield Times("cc", "ecl-cc", [_number(number, line, "compute_ms")])
        elif "CHECK=BAD" in line or line.startswith("ERROR"):
            yield Times("cc", "ecl-cc", [], line.strip())


def _number(number: int, line: str, name: str) -> float:
    said = dict(_PAIR.findall(line)).get(name)
    try:
        return float(said)  # type: ignore[arg-type]  # None is refused as other words
    except (TypeError, ValueError):
        raise _Damaged(f"{number}: {name} is {said}; a number is needed, in {line[:80]!r}") from None


READERS: dict[str, Callable[[Lines], Iterator[Times]]] = {"cugraph": _cugraph, "blest": _blest, "ecl-cc": _eclcc}
#: An example of the lines with a peer's times.
NEEDED = {
    "cugraph": '{"kernel": "sssp", "source": 3, "ms_all": [61.5]}',
    "blest": "'SOURCE 3 run=0 ... kernel_ms=1.27 ... reset_ms=0.1'",
    "ecl-cc": "'RUN compute_ms=8.3'",
}
