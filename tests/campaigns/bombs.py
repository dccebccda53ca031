"""Small text files that expand: compression bombs, endless lines, huge counts and sizes in headers, long numbers.

A file is read, or converted with `memory`, under a stated bound. The outcome must be the file's known content or a
FileFormatError, OutOfMemory or InvalidValue of one short line with the file's name, in time, and within the bound plus
64 MB.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import sparsezc as gb
from sparsezc.exceptions import FileFormatError, GraphblasException, InvalidValue, OutOfMemory
from sparsezc.memory import machine
from tests.campaigns.frame import Failure, Trial

DEADLINE = 30.0  # seconds of a trial; a reader may take _SECONDS
BOUND = 96_000_000  # bytes beyond those in use, the bound of each trial
MEMORY = BOUND + 64_000_000
_SECONDS = 10.0  # of processor time, which depends little on other programs
_LETTERS = 600  # characters of a message, without the folder's name

SUFFIXES = (".txt", ".csv", ".mtx", ".gr", ".graph")
_MTX = b"%%MatrixMarket matrix coordinate integer general\n"
_HEADS = {  # suffix: the head of a graph of 3 vertices with %d entries
    ".txt": b"# 3 x 3, %d entries\n", ".csv": b"", ".mtx": _MTX + b"3 3 %d\n", ".gr": b"p sp 3 %d\n",
    ".graph": b"3 %d 001\n",
}  # fmt: skip
_ENTRY = {".txt": b"0 1 5\n", ".csv": b"0,1,5\n", ".mtx": b"1 2 5\n", ".gr": b"a 1 2 5\n", ".graph": b"2 5\n"}
_COMMENT = {".txt": b"#", ".csv": b"#", ".mtx": b"%", ".gr": b"c", ".graph": b"%"}

_NEVER = ("_line", "_count", "_number")  # never a graph; the others have one edge, perhaps repeated

Parts = Iterator[tuple[bytes, int]]  # bytes, and the number of their repetitions


def trial(rng: np.random.Generator, folder: Path) -> Trial:
    """Make one file, and read it or convert it in bounded memory."""
    kinds = [_expansion, _comments, _line, _count, _number, _members, _heavy]
    make = kinds[int(rng.integers(len(kinds)))]
    suffix = SUFFIXES[int(rng.integers(len(SUFFIXES)))]
    packed = make in (_expansion, _members) or bool(rng.integers(2))
    path = folder / f"bomb{suffix}{'.gz' * packed}"
    pack = _members_of if make is _members else _written
    pack(path, make(rng, suffix), packed)
    bounded = bool(rng.integers(2))
    tried = {f"{make.__name__[1:]} {suffix}{'.gz' * packed}": 1, "with memory=" if bounded else "without memory=": 1}
    return Trial(tried, _judged(path, make.__name__, bounded, folder))


def _judged(path: Path, kind: str, bounded: bool, folder: Path) -> Failure | None:
    start, message = time.process_time(), None
    try:
        found = _read(path, bounded, folder)
        if found.nvals != (kind != "_comments" or path.name.startswith(("bomb.txt", "bomb.csv"))) or kind in _NEVER:
            message = f"{path.name} was read, as {found.nrows} x {found.ncols} with {found.nvals} entries"
    except (FileFormatError, OutOfMemory, InvalidValue) as error:
        message = _badly_told(error, path)
    spent = time.process_time() - start
    if message is None and spent > _SECONDS:
        message = f"{path.name} of {path.stat().st_size:,} bytes took {spent:.1f} s of processor time"
    if message is None:
        return None
    how = f", memory={'machine.used() + ' + str(BOUND)}" if bounded else ""
    files = {path.name: path.read_bytes()}
    return Failure(f"{kind}: {message}", _TEST.format(name=path.name, how=how), files)


_TEST = """def test(tmp_path: Path) -> None:
    import sparsezc as gb
    from sparsezc.memory import machine

    before = machine.used()
    with gb.config.set(host_budget=before + 96_000_000):
        try:
            gb.io.convert(FOLDER / "{name}", tmp_path / "a.h5"{how})
        except (gb.exceptions.GraphblasException, ValueError) as error:
            assert str(error).isprintable()
            assert len(str(error)) < 1000
"""


def _read(path: Path, bounded: bool, folder: Path) -> gb.Matrix:
    if not bounded:
        with gb.config.set(host_budget=BOUND // 2):  # half: sorting takes as much again as the edges
            return gb.io.read(path, placement="host")
    target = folder / "out.h5"
    gb.io.convert(path, target, memory=machine.used() + BOUND)
    return gb.io.read(target, placement="host")


def _badly_told(error: GraphblasException, path: Path) -> str | None:
    said = str(error)
    if not said.isprintable():
        return f"a message with control characters: {said[:200]!r}"
    if len(said) > _LETTERS + len(str(path)):
        return f"a message of {len(said):,} letters: {said[:200]}"
    return None if path.name in said else f"a message without the file's name: {said[:200]}"


def _written(path: Path, parts: Parts, packed: bool) -> None:
    """Write the parts to a file, compressed part by part if `packed`."""
    deflate = zlib.compressobj(9, wbits=31) if packed else None
    with path.open("wb") as file:
        for data, times in parts:
            step = max(1, (1 << 20) // len(data))
            block = data * min(step, times)
            for at in range(0, times, step):
                piece = block if times - at >= step else data * (times - at)
                file.write(piece if deflate is None else deflate.compress(piece))
        if deflate is not None:
            file.write(deflate.flush())


def _members_of(path: Path, parts: Parts, _: bool) -> None:
    """Write each part as gzip members of its own."""
    with path.open("wb") as file:
        for data, times in parts:
            deflate = zlib.compressobj(1, wbits=31)
            file.write((deflate.compress(data) + deflate.flush()) * times)


def _size(rng: np.random.Generator, low: float, high: float) -> int:
    """Return a random size between two bounds, uniform in its logarithm."""
    return int(10 ** rng.uniform(np.log10(low), np.log10(high)))


def _entries(suffix: str, count: int) -> Parts:
    yield (head % count if b"%d" in (head := _HEADS[suffix]) else head or b"\n"), 1
    yield _ENTRY[suffix], count


def _expansion(rng: np.random.Generator, suffix: str) -> Parts:
    """Yield an entry many times, or line ends after one: hundreds of times the size of the compressed file."""
    size = _size(rng, 7e7, 3e8)
    if rng.integers(2):
        yield from _entries(suffix, size // len(_ENTRY[suffix]))
    else:
        yield from _entries(suffix, 1)
        yield b"\n", size


def _comments(rng: np.random.Generator, suffix: str) -> Parts:
    """Yield comments, and a graph after them."""
    mark = _COMMENT[suffix]
    if suffix == ".mtx":
        yield _MTX, 1
    yield mark + b" said\n", _size(rng, 1e4, 1e6)
    yield (b"0 1\n" if suffix in (".txt", ".csv") else b"1 1 0\n" if suffix == ".mtx" else b"\n"), 1


def _line(rng: np.random.Generator, suffix: str) -> Parts:
    """Yield an endless line of digits, blanks, words or a comment."""
    yield from _entries(suffix, 1)
    fill = [b"7", b" ", b"1 ", b"x", _COMMENT[suffix] + b" "][int(rng.integers(5))]
    yield b"a 1 2 " if suffix == ".gr" else _COMMENT[suffix] if fill == b" " else b"1 ", 1
    yield fill, _size(rng, 1.2e6, 1e8) // len(fill)


def _count(rng: np.random.Generator, suffix: str) -> Parts:
    """Yield a header with a number of up to 20,000 digits for a size or a count."""
    digits = int(rng.choice([6, 9, 10, 11, 12, 15, 18, 19, 20, 30, 400, 5000, 20_000]))
    giant = b"%c" % rng.integers(49, 58) + bytes(rng.integers(48, 58, digits, np.uint8))
    small = [b"3", b"3", b"2"]
    at = int(rng.integers(1, 3)) if suffix == ".graph" else int(rng.integers(3))
    small[at] = giant
    forms = {
        ".txt": b"# %s x %s, %s entries\n" % tuple(small),
        ".csv": b"%s,%s,5\n" % (giant + b"0" * 12, small[0]),
        ".mtx": _MTX + b"%s %s %s\n" % tuple(small),
        ".gr": b"p sp %s %s\n" % (small[0] + b"00000000000", small[2]),
        ".graph": b"%s %s 011 %s\n" % (small[1], small[2], giant),
    }
    yield forms[suffix], 1
    yield _ENTRY[suffix], 1


def _number(rng: np.random.Generator, suffix: str) -> Parts:
    """Yield an entry with a number of up to a million characters, or with terminal control characters."""
    size = _size(rng, 20, 1e6)
    forms = [b"9" * size, b"-" * size, b"\x1b[2J" * (size // 20), b"1" * size + b"e", b"." + b"0" * size + b"x"]
    word = forms[int(rng.integers(len(forms)))]
    head = _HEADS[suffix]
    yield (head % 1 if b"%d" in head else head or b"\n"), 1
    yield _ENTRY[suffix].replace(b"2" if suffix not in (".txt", ".csv") else b"1", word), 1


def _members(rng: np.random.Generator, suffix: str) -> Parts:
    """Yield a graph, then many gzip members, each empty or one line end."""
    yield b"".join(data * times for data, times in _entries(suffix, 1)), 1
    yield (b"", b"\n")[int(rng.integers(2))], _size(rng, 1e3, 1e5)


def _heavy(rng: np.random.Generator, suffix: str) -> Parts:
    """Yield a valid graph, whose entries may take more memory than the bound."""
    yield from _entries(suffix, _size(rng, 1e4, 3e6))
