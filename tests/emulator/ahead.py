"""Kernels that a run of all tests asks for, in groups that are compiled together: ahead.json.xz.

A kernel takes 30 ms of processor time more where it is compiled alone, and most tests ask for one after the other. The
groups are those of a run: for each kernel its file, name and prelude. A kernel whose prelude has changed since is in no
group, and is compiled alone; one that g++ takes no more is left out. So the file need not be right, but is to be
renewed after a change of many preludes, which costs a run of all tests minutes::

    python -m pytest -n 2 --dist worksteal --cache-clear && python -m tests.emulator.ahead
"""

from __future__ import annotations

import json
import lzma
import os
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from sparsezc.engines.gpu.runtime import codegen

FILE = Path(__file__).with_suffix(".json.xz")
GROUP = 24  # kernels; a miss of one compiles all of them
ASKED = "asked.txt"  # in a compiler's cache: names of the kernels that were asked for, in their order
_COUNTING = "#define SZC_COUNT\n"
_OPEN, _CLOSE = "\nnamespace szc {\n", "\n}\n"  # around a prelude

_IN_USE = "SPARSEZC_AHEAD"  # in the environment, as ranks and benchmarks that tests start ask for kernels, too
in_use = _IN_USE in os.environ  # in a run of all tests only: one that asks for few kernels would compile others


def use() -> None:
    """Compile in groups in this process, and in those that it starts."""
    global in_use
    os.environ[_IN_USE] = "1"
    in_use = True


class Case(NamedTuple):
    """The parts of a kernel's text, as `codegen.kernel` has them."""

    counting: bool
    file: str
    name: str
    prelude: str

    def text(self) -> str:
        named = f"#define KERNEL {self.name}\n" if "KERNEL(" in codegen._file(self.file) else ""
        return _COUNTING * self.counting + named + codegen.source(self.file, self.prelude)


@cache
def _common() -> tuple[str, ...]:
    """Return the text before a prelude, with complex numbers and without."""
    return tuple(codegen.source("bits.cu", types).partition(_OPEN + types + _CLOSE)[0] for types in ("c64 c128", ""))


def _parts(text: str, name: str) -> tuple[bool, str, str, str] | None:
    """Return whether a text counts, its kernel's name, its prelude, and what follows."""
    head = len(_COUNTING) * text.startswith(_COUNTING)
    head += len(f"#define KERNEL {name}\n") * text.startswith(f"#define KERNEL {name}\n", head)
    for common in _common():
        if text.startswith(common + _OPEN, head):
            prelude, _, rest = text[head + len(common + _OPEN) :].partition(_CLOSE)
            return text.startswith(_COUNTING), name, prelude, rest
    return None


@cache
def _groups() -> dict[tuple[bool, str, str], list[Case]]:
    found = {}
    for group in json.loads(lzma.decompress(FILE.read_bytes())):
        cases = [case for case in map(Case._make, group) if case.file in codegen._paths()]  # others are gone
        found |= {(each.counting, each.name, each.prelude): cases for each in cases}
    return found


def together(text: str, name: str) -> list[tuple[str, str]]:
    """Return texts and names of the kernels to compile with one, this one too."""
    parts = _parts(text, name) if in_use else None
    group = _groups().get(parts[:3], []) if parts else []
    return list(dict.fromkeys([(text, name), *((each.text(), each.name) for each in group)]))


def write(cache: Path) -> int:
    """Write down the kernels that were asked of a compiler with this cache, in their order; return how many."""
    ends: dict[str, str] = {}
    for path in sorted(codegen._paths().values()):
        if path.suffix == ".cu":
            for types in ("", "c64 c128"):
                end = codegen.source(path.name, types).partition(_OPEN + types + _CLOSE)[2]
                ends.setdefault(end, path.name)
    names: dict[str, str] = {}
    for unit in cache.glob("*.cpp"):
        names |= dict(re.findall(r"^SZC_EMU_EXPORT\((\w+), (\w+)\)$", unit.read_text(), re.M))
    cases = []
    asked = dict.fromkeys((cache / ASKED).read_text().split())
    for symbol in (each for each in asked if (cache / f"{each}.cu").exists()):  # no lines that two wrote at once
        parts = _parts((cache / f"{symbol}.cu").read_text(), names.get(symbol, ""))
        if parts and parts[3] in ends:
            cases.append(Case(parts[0], ends[parts[3]], parts[1], parts[2]))
    groups = [cases[i : i + GROUP] for i in range(0, len(cases), GROUP)]
    FILE.write_bytes(lzma.compress(json.dumps(groups).encode(), preset=9))
    return len(cases)


if __name__ == "__main__":
    from tests.emulator.compiler import default_cache

    print(f"{write(default_cache()):,} kernels")
