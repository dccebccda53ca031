"""A graph computed from hashes whose edges are written in no order, as files that a conversion has to sort.

Every row has 64 slots, one in each 64th of the columns; a hash of the slot says whether an entry is there, which
column of its part it has, and its value. So any row can be made again by itself, and an answer be held against it, with
nothing kept. The slots are gone through in an order that mixes all bits of their numbers (an odd multiplier and a
shifted xor, twice: each can be undone, so each slot comes once); of the rows an eighth are empty and a quarter full.
"""

from __future__ import annotations

import gzip
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.io.build.generate import mix

SLOTS = 6  # of a row, as a power of two
DIGITS = 12  # of a value at most
_PIECE = 1 << 17
_PARTS = ("rows", "cols", "values")
_KINDS = (np.uint32, np.uint32, np.uint64)
_FILLED = np.array([0, 16, 32, 32, 64, 128, 256, 256], np.uint64)  # of 256 slots, by the row
_ODD = np.uint64(0x9E3779B97F4A7C15)

Piece = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's output function (Steele, Lea, Flood: doi 10.1145/2660193.2660195)."""
    found: NDArray[np.uint64] = mix(numbers * _ODD, np)
    return found


@dataclass(frozen=True)
class Scattered:
    """A square graph of 2^scale vertices, 24.5 entries a row on the average."""

    scale: int

    @property
    def n(self) -> int:
        return 1 << self.scale

    def entries(self, slots: NDArray[np.uint64]) -> Piece:
        """Those that these slots have: rows, columns, values from 1 on."""
        rows = slots >> np.uint64(SLOTS)
        found = mixed(slots + np.uint64(1))
        there = (found >> np.uint64(56)) < _FILLED[mixed(rows + (np.uint64(1) << np.uint64(40))) & np.uint64(7)]
        rows, slots, found = rows[there], slots[there], found[there]
        shift = np.uint64(self.scale - SLOTS)
        cols = (slots & np.uint64((1 << SLOTS) - 1)) << shift
        cols |= found & np.uint64((1 << int(shift)) - 1)
        values = (found >> np.uint64(16)) % np.uint64(10**DIGITS - 1) + np.uint64(1)
        return rows.astype(np.uint32), cols.astype(np.uint32), values

    def rows(self, first: int, stop: int) -> Piece:
        """All entries of some rows in order."""
        return self.entries(np.arange(first << SLOTS, stop << SLOTS, dtype=np.uint64))

    def pieces(self) -> Iterator[Piece]:
        """All entries in no order."""
        bits = self.scale + SLOTS
        mask, shift = np.uint64((1 << bits) - 1), np.uint64(bits // 2)
        for start in range(0, 1 << bits, _PIECE):
            slots = np.arange(start, min(start + _PIECE, 1 << bits), dtype=np.uint64)
            for _ in range(2):
                slots *= _ODD
                slots &= mask
                slots ^= slots >> shift
            yield self.entries(slots)


@dataclass(frozen=True)
class Spool:
    """The entries in no order, made once and kept in plain files from which every format is written."""

    folder: Path
    n: int
    nvals: int

    @classmethod
    def of(cls, graph: Scattered, folder: Path) -> Spool:
        """Make the files."""
        count = 0
        files = [(folder / name).open("wb") for name in _PARTS]
        try:
            for piece in graph.pieces():
                count += piece[0].size
                for part, file in zip(piece, files, strict=True):
                    part.tofile(file)
        finally:
            for file in files:
                file.close()
        return cls(folder, graph.n, count)

    def pieces(self, size: int = _PIECE) -> Iterator[Piece]:
        """Rows, columns, values."""
        for start in range(0, self.nvals, size):
            rows, cols, values = (
                np.fromfile(self.folder / name, kind, size, offset=start * np.dtype(kind).itemsize)
                for name, kind in zip(_PARTS, _KINDS, strict=True)
            )
            yield rows, cols, values


def printed(prefix: bytes, columns: Piece, widths: tuple[int, ...]) -> bytes:
    r"""Lines of whole numbers, aligned as tables are.

    >>> printed(b"a ", tuple(np.array([7, 120], np.uint64) for _ in range(3)), (3, 3, 4))
    b'a   7   7    7\na 120 120  120\n'
    """
    lines = np.full((columns[0].size, len(prefix) + sum(widths) + len(widths)), 32, np.uint8)
    lines[:, : len(prefix)] = np.frombuffer(prefix, np.uint8)
    end = len(prefix)
    for column, width in zip(columns, widths, strict=True):
        end += width
        left = column.copy()
        for place in range(width):
            digits = (left % 10 + 48).astype(np.uint8)
            lines[:, end - 1 - place] = digits if place == 0 else np.where(left > 0, digits, 32)
            left //= 10
        end += 1
    lines[:, -1] = 10
    return lines.tobytes()


def _text(spool: Spool, path: Path, head: str, prefix: bytes = b"", base: int = 0) -> None:
    widths = (len(str(spool.n)),) * 2 + (DIGITS,)
    with gzip.open(path, "wb", compresslevel=1) if path.suffix == ".gz" else path.open("wb") as file:
        file.write(head.encode())
        for rows, cols, values in spool.pieces():
            file.write(printed(prefix, (rows + np.uint32(base), cols + np.uint32(base), values), widths))


def _edges(spool: Spool, path: Path) -> None:
    _text(spool, path, f"# {spool.n} vertices, {spool.nvals} edges\n")


def _mtx(spool: Spool, path: Path) -> None:
    head = f"%%MatrixMarket matrix coordinate integer general\n{spool.n} {spool.n} {spool.nvals}\n"
    _text(spool, path, head, base=1)


def _gr(spool: Spool, path: Path) -> None:
    _text(spool, path, f"p sp {spool.n} {spool.nvals}\n", b"a ", 1)


def _npz(spool: Spool, path: Path) -> None:
    """Write a coo as scipy.sparse.save_npz(compressed=False) does."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, small in (("format", np.array(b"coo")), ("shape", np.array([spool.n, spool.n]))):
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, small)
        for name, part, kind in zip(("row", "col", "data"), _PARTS, _KINDS, strict=True):
            descr = np.lib.format.dtype_to_descr(np.dtype(kind))
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member, (spool.folder / part).open("rb") as file:
                np.lib.format.write_array_header_1_0(
                    member, {"descr": descr, "fortran_order": False, "shape": (spool.nvals,)}
                )
                shutil.copyfileobj(file, member, 1 << 20)


def _parquet(spool: Spool, path: Path) -> None:
    """Compressed with Snappy, as is usual, in row groups of a million edges."""
    import pyarrow as pa
    from pyarrow import parquet

    names = ("source", "target", "weight")
    schema = pa.schema(list(zip(names, (pa.int64(), pa.int64(), pa.int64()), strict=True)))
    with parquet.ParquetWriter(path, schema, use_dictionary=False) as file:
        for piece in spool.pieces(1 << 20):
            file.write_table(pa.table([part.astype(np.int64) for part in piece], schema=schema))


def _h5(spool: Spool, path: Path) -> None:
    """binsparse's COO, as another program would write it."""
    import h5py

    names = ("indices_0", "indices_1", "values")
    kinds = {name: np.dtype(kind).name for name, kind in zip(names, _KINDS, strict=True)}
    head = {
        "version": "0.1", "format": "COOR", "shape": [spool.n, spool.n], "number_of_stored_values": spool.nvals,
        "data_types": kinds,
    }  # fmt: skip
    with h5py.File(path, "w") as file:
        made = [file.create_dataset(name, (spool.nvals,), kind) for name, kind in kinds.items()]
        start = 0
        for piece in spool.pieces():
            for part, dataset in zip(piece, made, strict=True):
                dataset[start : start + part.size] = part
            start += piece[0].size
        file.attrs["binsparse"] = json.dumps({"binsparse": head})


#: How each format is written; the key is what the file's name ends in.
WRITERS: dict[str, Callable[[Spool, Path], None]] = {
    "txt": _edges, "txt.gz": _edges, "mtx": _mtx, "mtx.gz": _mtx, "gr": _gr, "gr.gz": _gr, "npz": _npz,
    "parquet": _parquet, "h5": _h5,
}  # fmt: skip
