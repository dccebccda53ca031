"""Compressed files: read from every compressor, readable by other programs, refused if damaged."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
from pathlib import Path
from typing import Any

import pytest

import sparsezc as gb
from sparsezc.io.files import packing, unpacking
from sparsezc.io.files.source import InputFile

TEXT = "".join(f"{i} {i * 7 % 1000} {i % 9}\n" for i in range(20_000)).encode()


def zstd(data: bytes) -> bytes:
    arrow = pytest.importorskip("pyarrow")
    sink = arrow.BufferOutputStream()
    with arrow.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


def unzstd(data: bytes) -> bytes:
    arrow = pytest.importorskip("pyarrow")
    return arrow.CompressedInputStream(arrow.BufferReader(data), "zstd").read()


PACK: dict[str, Any] = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd}
UNPACK: dict[str, Any] = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress, ".zst": unzstd}


@pytest.mark.parametrize("suffix", PACK)
def test_reads_alike(suffix: str, tmp_path: Path) -> None:
    plain = tmp_path / "a.el"
    plain.write_bytes(TEXT)
    packed = tmp_path / f"b.el{suffix}"
    packed.write_bytes(PACK[suffix](TEXT))
    A = gb.io.read(plain)
    assert gb.io.read(packed).isequal(A, check_dtype=True)
    anonymous = tmp_path / "c"  # the compressor is found by the content
    anonymous.write_bytes(PACK[suffix](TEXT))
    assert gb.io.read(anonymous, format="snap").isequal(A, check_dtype=True)
    packed.write_bytes(PACK[suffix](TEXT[:5000]) + PACK[suffix](TEXT[5000:]))  # two members, as cat joins files
    assert gb.io.read(packed).isequal(A, check_dtype=True)


@pytest.mark.parametrize("suffix", PACK)
def test_other_programs_read_what_is_written(suffix: str, tmp_path: Path) -> None:
    A = gb.io.read("kron:6?weights=1-9")
    path = tmp_path / f"a.mtx{suffix}"
    gb.io.write(A, path)
    text = UNPACK[suffix](path.read_bytes())
    assert text.startswith(b"%%MatrixMarket")
    assert gb.io.read(path).dup("UINT8").isequal(A)


@pytest.mark.parametrize("suffix", PACK)
def test_damage_is_refused(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.el{suffix}"
    data = PACK[suffix](TEXT)
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(gb.exceptions.GraphblasException, match=r"a\.el\..* (truncated|damaged)"):
        gb.io.read(path)
    path.write_bytes(data[:200] + bytes(b ^ 255 for b in data[200:260]) + data[260:])
    with pytest.raises(gb.exceptions.GraphblasException, match=r"a\.el"):
        gb.io.read(path)
    path.write_bytes(TEXT)
    with pytest.raises(gb.exceptions.GraphblasException, match=f"ends in {suffix} but is not {packing.NAMES[suffix]}"):
        gb.io.read(path)


@pytest.mark.parametrize("suffix", [".bz2", ".xz", ".zst"])
def test_a_bomb_is_refused(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "_UNSUSPECTED", 1 << 19)  # bytes, as the real 64 MiB take bzip2 half a minute
    path = tmp_path / f"a.el{suffix}"
    path.write_bytes(PACK[suffix](b"0 1\n" * (1 << 18)))
    with pytest.raises(gb.exceptions.GraphblasException, match="unpacks to more than 256 times"):
        gb.io.read(path)


@pytest.mark.parametrize("suffix", PACK)
def test_zeros_may_pad_members(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Zeros between and after members are skipped, also more than the bytes that are read at a time."""
    path = tmp_path / f"a{suffix}"
    path.write_bytes(PACK[suffix](b"0 1\n") + bytes(4) + PACK[suffix](b"1 2\n") + bytes(5000))
    if suffix == ".zst" and sys.version_info < (3, 14):
        pytest.skip("pyarrow unpacks it, and knows no pads")
    monkeypatch.setattr(unpacking, "CHUNK", 1 << 10)
    with InputFile(path) as file:
        assert file.read() == b"0 1\n1 2\n"


def test_pieces_are_as_small_as_asked(tmp_path: Path) -> None:
    for suffix, pack in PACK.items():
        path = tmp_path / f"a{suffix}"
        path.write_bytes(pack(TEXT))
        with InputFile(path) as file:
            pieces = list(iter(lambda file=file: file.read(1000), b""))
        assert b"".join(pieces) == TEXT
        assert max(map(len, pieces)) == 1000


def test_the_package_for_zstd_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.version_info >= (3, 14):
        pytest.skip("Python unpacks zstd itself")
    path = tmp_path / "a.el.zst"
    path.write_bytes(zstd(TEXT))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'pip install "sparsezc\[arrow\]" brings it'):
        gb.io.read(path)


def test_a_text_that_begins_as_a_packing_is_text(tmp_path: Path) -> None:
    path = tmp_path / "a.el"
    path.write_text("BZhang 1\n")
    with pytest.raises(gb.exceptions.GraphblasException, match=r"line 1, column 1 \(character 1\): found 'BZhang'"):
        gb.io.read(path)
