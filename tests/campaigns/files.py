"""Damaged files of every format: each is refused with one line, or read as a well-formed matrix.

The files are ours, in every format and form, and other programs' (SciPy, h5py, pyarrow, written by hand). These must be
refused:

* a file with checksums (our .h5 and .parquet, .gz, .npz) that reads as another matrix;
* a text file that states its number of entries and has more or fewer lines;
* a binary file whose length is not that of its head.

Elsewhere a wrong byte may give another graph, which must be well formed.
"""

from __future__ import annotations

import gzip
import io
import re
import tempfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import sparsezc as gb
from sparsezc.exceptions import GraphblasException
from tests.campaigns.frame import Failure, Trial

DEADLINE = 10.0
HOST_BUDGET = 256_000_000  # bytes: a matrix of more is refused
MEMORY = HOST_BUDGET + 64_000_000
LONGEST = 1_000  # characters of a message

Files = dict[str, bytes]


class Whole(NamedTuple):
    """An undamaged file, the first of `files`, with the files that belong to it."""

    kind: str
    files: Files
    holds: str  # how its format detects damage: "checksum", "entries", "length" or "nothing"
    content: Any  # its matrix, by `content_of`


def _matrices() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    rows, cols = rng.integers(0, 23, 90), rng.integers(0, 23, 90)

    def made(values: Any, shape: tuple[int, int] = (25, 25)) -> Any:
        return gb.Matrix.from_coo(rows, cols, values, nrows=shape[0], ncols=shape[1], dup_op="first")

    return {
        "whole": made(rng.integers(1, 60_000, 90)),
        "signed": made(rng.integers(-300, 300, 90), (31, 24)),
        "fractions": made(rng.normal(size=90)),
        "pattern": gb.Matrix.from_coo(*np.unique([rows, cols], axis=1), True, nrows=25, ncols=25),
        "symmetric": gb.io.read("kron:5:3?weights=1-300", placement="host"),
        "long": gb.io.read("kron:9:6?weights=1-9", placement="host"),
    }


OURS = {  # suffix: how the format detects damage, and the matrices that it can represent
    ".txt": ("entries", ("whole", "signed", "fractions", "pattern", "symmetric", "long")),
    ".csv": ("nothing", ("whole", "fractions", "symmetric")),
    ".txt.gz": ("checksum", ("whole", "long")),
    ".mtx": ("entries", ("whole", "signed", "fractions", "pattern", "symmetric", "long")),
    ".mtx.gz": ("checksum", ("symmetric",)),
    ".gr": ("entries", ("whole", "long")),
    ".graph": ("entries", ("symmetric",)),
    ".sg": ("length", ("pattern", "symmetric", "long")),
    ".wsg": ("length", ("whole", "symmetric")),
    ".sg.gz": ("checksum", ("symmetric",)),
    ".bel": ("length", ("whole", "pattern", "symmetric")),
    ".npz": ("checksum", ("whole", "signed", "fractions", "pattern", "long")),
    ".parquet": ("checksum", ("whole", "signed", "fractions", "pattern", "long")),
    ".h5": ("checksum", ("whole", "signed", "fractions", "pattern", "symmetric", "long")),
}


@cache
def wholes() -> list[Whole]:
    """Return all undamaged files."""
    made, matrices = [], _matrices()
    with tempfile.TemporaryDirectory() as top, gb.config.set(progress=False):
        for suffix, (holds, names) in OURS.items():
            for name in names:
                folder = Path(top) / f"{name}{suffix}"
                folder.mkdir()
                path = folder / f"a{suffix}"
                gb.io.write(matrices[name], path)
                made.append(_whole(f"ours {suffix}", path, holds))
        for kind, (name, holds, write) in FOREIGN.items():
            folder = Path(top) / kind.replace(" ", "_")
            folder.mkdir()
            path = folder / name
            write(path, matrices["whole"])
            made.append(_whole(f"foreign {kind}", path, holds))
    return made


def _whole(kind: str, path: Path, holds: str) -> Whole:
    files = {other.name: other.read_bytes() for other in sorted(path.parent.iterdir()) if other.is_file()}
    first = path.name if path.name in files else f"{path.name}.col"
    return Whole(kind, {first: files.pop(first), **files}, holds, content_of(path, {}))


def _coo(A: Any) -> Any:
    i, j, x = A.to_coo()
    return sp.coo_array((x, (i.astype(np.int64), j.astype(np.int64))), A.shape)


def _by_h5py(form: str, **storage: Any) -> Callable[[Path, Any], None]:
    """Return a binsparse file as other programs write it: chunked, compressed, without checksums."""

    def write(path: Path, A: Any) -> None:
        import json

        import h5py  # type: ignore[import-untyped]

        coo = _coo(A)
        csr = sp.csr_array(coo)
        csr.sort_indices()
        arrays = {"values": csr.data}
        if form == "CSR":
            arrays |= {"pointers_to_1": csr.indptr.astype(np.uint64), "indices_1": csr.indices.astype(np.uint32)}
        else:
            rows = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
            arrays |= {"indices_0": rows.astype(np.uint64), "indices_1": csr.indices.astype(np.uint64)}
        head = {
            "version": "0.1",
            "format": form,
            "shape": [int(n) for n in csr.shape],
            "number_of_stored_values": int(csr.nnz),
            "data_types": {name: str(x.dtype) for name, x in arrays.items()},
        }
        with h5py.File(path, "w") as file:
            file.attrs["binsparse"] = json.dumps({"binsparse": head})
            for name, x in arrays.items():
                file.create_dataset(name, data=x, **storage)

    return write


def _by_pyarrow(path: Path, A: Any) -> None:
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    coo = _coo(A)
    columns = {"source": coo.row, "target": coo.col, "weight": coo.data}
    pq.write_table(pa.table(columns), path, compression="zstd", row_group_size=40)


def _by_scipy(path: Path, A: Any) -> None:
    sp.save_npz(path, sp.csc_array(_coo(A)), compressed=False)


def _as_snap(path: Path, A: Any) -> None:
    coo = _coo(A)
    lines = ["# Directed graph", "# FromNodeId\tToNodeId"]
    path.write_text("\n".join([*lines, *(f"{i}\t{j}" for i, j in zip(coo.row, coo.col, strict=True))]))


def _as_symmetric_mtx(path: Path, A: Any) -> None:
    coo = sp.coo_array(sp.tril(_coo(A)))
    lines = [
        "%%MatrixMarket matrix coordinate integer symmetric",
        "% by hand",
        f"{coo.shape[0]} {coo.shape[1]} {coo.nnz}",
    ]
    lines += [f"{i + 1} {j + 1} {x}" for i, j, x in zip(coo.row, coo.col, coo.data, strict=True)]
    path.write_text("\n".join(lines) + "\n")


def _as_dense_mtx(path: Path, A: Any) -> None:
    dense = _coo(A).toarray()
    lines = ["%%MatrixMarket matrix array real general", f"{dense.shape[0]} {dense.shape[1]}"]
    path.write_text("\n".join([*lines, *(str(float(x)) for x in dense.T.ravel())]) + "\n")


FOREIGN: dict[str, tuple[str, str, Callable[[Path, Any], None]]] = {
    "binsparse CSR": ("a.h5", "nothing", _by_h5py("CSR", chunks=(16,))),
    "binsparse CSR gzip": ("a.h5", "nothing", _by_h5py("CSR", chunks=(26,), compression="gzip")),
    "binsparse CSR lzf": ("a.h5", "nothing", _by_h5py("CSR", chunks=(26,), compression="lzf", shuffle=True)),
    "binsparse COO": ("a.h5", "nothing", _by_h5py("COO")),
    "parquet": ("a.parquet", "nothing", _by_pyarrow),
    "npz csc": ("a.npz", "checksum", _by_scipy),
    "snap": ("a.txt", "nothing", _as_snap),
    "mtx symmetric": ("a.mtx", "entries", _as_symmetric_mtx),
    "mtx array": ("a.mtx", "entries", _as_dense_mtx),
}


# Functions that damage a file's bytes in place


def _flip(data: bytearray, rng: np.random.Generator, other: bytes) -> None:
    data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))


def _set(data: bytearray, rng: np.random.Generator, other: bytes) -> None:
    data[rng.integers(len(data))] = int(rng.choice(np.frombuffer(b" \n0-.%#,eE9\t\r\x00\xff\x1b", np.uint8)))


def _insert(data: bytearray, rng: np.random.Generator, other: bytes) -> None:
    at = int(rng.integers(len(data) + 1))
    data[at:at] = rng.integers(0, 256, int(rng.integers(1, 9)), np.uint8).tobytes()


def _drop(data: bytearray, rng: np.random.Generator, other: bytes) -> None:
    at, length = _span(data, rng)
    del data[at : at + length]


def _cut(data: bytearray, rng: np.random.Generator, other: bytes) -> None:
    del data[rng.integers(len(data)) :]


def _repeat(data: bytearray, rng: np.random.Generator, other: bytes) -> None:
    at, length = _span(data, rng)
    data[at:at] = data[at : at + length]


def _zeros(data: bytearray, rng: np.random.Generator, other: bytes) -> None:
    at, length = _span(data, rng)
    data[at : at + length] = bytes(len(data[at : at + length]))


def _splice(data: bytearray, rng: np.random.Generator, other: bytes) -> None:
    at, length = _span(data, rng)
    data[at : at + length] = other[at : at + length]


def _number(data: bytearray, rng: np.random.Generator, other: bytes) -> None:
    """Overwrite 1, 2, 4 or 8 bytes with a number that is extreme for a size or an offset."""
    large = rng.choice(np.array([0, 1, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63, 2**64 - 1], np.uint64))
    at = int(rng.integers(len(data)))
    width = int(rng.choice([1, 2, 4, 8]))
    data[at : at + width] = int(large).to_bytes(8, "little")[:width][: len(data) - at]


def _digits(data: bytearray, rng: np.random.Generator, other: bytes) -> None:
    """Replace a number in a text by an odd one, perhaps very long."""
    number = rng.choice(
        [b"-1", b"0", b"99999999999", b"1" * 40, b"9" * 5000, b"1e400", b"nan", b"0x10", b"1_0", b"\xd9\xa1"]
    )
    at, end = int(rng.integers(len(data))), 0
    while at < len(data) and not 48 <= data[at] <= 57:
        at += 1
    end = at
    while end < len(data) and 48 <= data[end] <= 57:
        end += 1
    data[at:end] = number


def _lines(data: bytearray, rng: np.random.Generator, other: bytes) -> None:
    """Remove a line, repeat it, or exchange it with another."""
    lines = bytes(data).split(b"\n")
    i, j = (int(k) for k in rng.integers(len(lines), size=2))
    how = int(rng.integers(3))
    if how == 0:
        del lines[i]
    elif how == 1:
        lines.insert(i, lines[i])
    else:
        lines[i], lines[j] = lines[j], lines[i]
    data[:] = b"\n".join(lines)


def _span(data: bytearray, rng: np.random.Generator) -> tuple[int, int]:
    return int(rng.integers(len(data))), int(rng.choice([1, 2, 8, 64, 512, 4096]))


DAMAGE = {
    f.__name__[1:]: f for f in (_flip, _set, _insert, _drop, _cut, _repeat, _zeros, _splice, _number, _digits, _lines)
}


def content_of(path: Path, options: dict[str, Any]) -> Any:
    """Return a file's shape, positions, and values as FP64 or FC64, so that their type does not count."""
    A = gb.io.read(path, placement="host", **options)
    i, j, x = A.to_coo()
    _check(A, i, j)
    return (
        A.shape,
        i.tobytes(),
        j.tobytes(),
        np.asarray(x, np.complex128 if x.dtype.kind == "c" else np.float64).tobytes(),
    )


def _check(A: Any, i: Any, j: Any) -> None:
    """Check the invariants of every matrix."""
    assert i.size == j.size == A.nvals
    if i.size:
        assert int(i.max()) < A.nrows
        assert int(j.max()) < A.ncols
        keys = i.astype(np.int64) * A.ncols + j.astype(np.int64)
        assert (np.diff(keys) > 0).all(), "positions do not ascend, or one occurs twice"


def must_refuse(whole: Whole, name: str, damaged: bytes) -> str:
    """Return why a damaged file that reads as another matrix must be refused; "" if its format cannot detect it."""
    old = whole.files[name]
    if whole.holds == "checksum":
        return "its checksum shows the damage"
    if whole.holds == "length" and len(damaged) != len(old) and not (name.endswith(".val") and not damaged):
        return "its length is wrong"
    if whole.holds == "entries":
        before, after = _entry_lines(old), _entry_lines(damaged)
        head = old.split(b"\n", 1)[0]
        if before[0] == after[0] and before[1] != after[1] and damaged.split(b"\n", 1)[0] == head:
            return f"its head says {before[1]} lines of entries, {after[1]} are there"
        if whole.kind.startswith("ours") and old.startswith(damaged) and old != damaged:
            return "it ends within a line"
    return ""


def _entry_lines(data: bytes) -> tuple[bytes, int]:
    """Return the lines that are no entries (heads, comments), and the number of the others."""
    lines = [line for line in data.split(b"\n") if line.strip()]
    heads = [line for line in lines if line[:1] in b"#%pc"]
    rest = lines[len(heads) :]
    if data[:2] == b"%%" and rest:
        heads.append(rest.pop(0))  # the line of sizes
    return b"\n".join(heads), len(rest)


OPTIONS: list[dict[str, Any]] = [{}, {}, {}, {"weights": False}, {"symmetrize": True}, {"relabel": True}]


def prepare() -> None:
    """Make the files before the first trial, so that they do not count as its memory and time."""
    wholes()


def trial(rng: np.random.Generator, folder: Path) -> Trial:
    """Damage one file one to three times, and read it."""
    files = wholes()
    whole = files[rng.integers(len(files))]
    name = list(whole.files)[int(rng.integers(len(whole.files)))]
    data, other = bytearray(whole.files[name]), files[rng.integers(len(files))]
    done = []
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        how = str(rng.choice(sorted(DAMAGE)))
        if data:
            DAMAGE[how](data, rng, next(iter(other.files.values())))
            done.append(how)
    damaged = bytes(data)
    if rng.random() < 0.05 and whole.kind.endswith(".gz"):
        damaged = _damaged_inside(whole.files[name], rng)
    for other_name, content in whole.files.items():
        (folder / other_name).write_bytes(damaged if other_name == name else content)
    options = OPTIONS[rng.integers(len(OPTIONS))]
    first = next(iter(whole.files))
    path = folder / (first.removesuffix(".col") if ".bel" in first else first)
    fault = _read(whole, path, name, damaged, options)
    if fault is None:
        return Trial({whole.kind: 1})
    message = f"{whole.kind}, {name}, {'+'.join(done)}, {options}: {fault}"
    return Trial({whole.kind: 1}, Failure(message, *_saved(whole, path, name, options)))


def _damaged_inside(data: bytes, rng: np.random.Generator) -> bytes:
    """Return a .gz with a right checksum of damaged content."""
    inner = bytearray(gzip.decompress(data))
    DAMAGE["flip"](inner, rng, b"")
    return gzip.compress(bytes(inner), 1)


def _read(whole: Whole, path: Path, name: str, damaged: bytes, options: dict[str, Any]) -> str | None:
    """Read a damaged file; return the fault of the outcome, or None."""
    relabel = options.get("relabel", False)
    try:
        with gb.config.set(host_budget=HOST_BUDGET, progress=False):
            if relabel:
                gb.io.read(path, placement="host", **options)
                return None
            content = content_of(path, options)
    except (GraphblasException, FileNotFoundError) as error:
        return wrong_message(str(error), path)
    except AssertionError as error:
        return f"not well formed: {error}"
    if options or content == whole.content or damaged == whole.files[name]:
        return None
    if any(damaged in other.files.values() for other in wholes()):
        return None  # a splice may be another undamaged file
    if whole.holds == "checksum" and path.suffix == ".gz" and _sound(damaged):
        return None  # damaged before compression: its checksum is right
    why = must_refuse(whole, name, damaged)
    return f"read as another matrix, though {why}" if why else None


def _sound(data: bytes) -> bool:
    """Return True if gzip reads the data without an error."""
    try:
        with gzip.open(io.BytesIO(data)) as file:
            file.read()
    except (OSError, EOFError, zlib.error):
        return False
    return True


def wrong_message(text: str, path: Path) -> str | None:
    """Return the fault of a message, or None."""
    if len(text) > LONGEST:
        return f"a message of {len(text)} characters: {text[:200]!r}"
    if not text.isprintable():
        return f"a message with control characters: {text[:200]!r}"
    if path.name.partition(".")[0] not in text or re.search(r"unexpected \w+(Error|Exception)", text):
        return f"a message that does not say which file, or is not ours: {text[:300]!r}"
    return None


def again(folder: Path, kind: str, holds: str, name: str, changed: str, options: dict[str, Any]) -> str | None:
    """Read a saved damaged file once more; return the fault of the outcome, or None."""
    files = {path.name: path.read_bytes() for path in sorted((folder / "whole").iterdir())}
    whole = Whole(kind, files, holds, content_of(folder / "whole" / name, {}))
    return _read(whole, folder / "damaged" / name, changed, (folder / "damaged" / changed).read_bytes(), options)


def _saved(whole: Whole, path: Path, changed: str, options: dict[str, Any]) -> tuple[str, Files]:
    given = f"{whole.kind!r}, {whole.holds!r}, {path.name!r}, {changed!r}, {options!r}"
    text = (
        "def test() -> None:\n    from tests.campaigns.files import again\n\n"
        f"    assert again(FOLDER, {given}) is None\n"
    )
    damaged = {f"damaged/{name}": (path.parent / name).read_bytes() for name in whole.files}
    return text, damaged | {f"whole/{name}": content for name, content in whole.files.items()}
