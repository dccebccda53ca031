"""Edges of a program's own format are checked, as kernels trust ids."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.exceptions import FileFormatError, InvalidValue
from sparsezc.io import formats

IDS = np.array([0, 1, 2])


class Format:
    """A format whose files are ignored: it returns the edges that a test gives."""

    def __init__(self) -> None:
        self.edges: Any = gb.io.Edges(3, 3, IDS, IDS, IDS + 5)

    def read(self, path: Path, **given: Any) -> Any:
        return self.edges

    def edge_chunks(self, path: Path, weights: Any) -> Any:
        return gb.io.EdgeChunks.of(self.edges) if isinstance(self.edges, gb.io.Edges) else self.edges


@pytest.fixture
def format() -> Iterator[Format]:
    made = Format()
    gb.io.register_format("given", made, [".given"])
    yield made
    del formats.FORMATS["given"], formats.SUFFIXES[".given"], formats.REGISTERED["given"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "a.given"
    made.write_bytes(b"")
    return made


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64, list])
def test_ids_of_any_integer_type(format: Format, path: Path, dtype: Any) -> None:
    ids = [0, 1, 2] if dtype is list else IDS.astype(dtype)
    format.edges = gb.io.Edges(3, 3, ids, ids, IDS + 5)
    found = gb.io.read(path)
    assert [x.tolist() for x in found.to_coo()] == [[0, 1, 2], [0, 1, 2], [5, 6, 7]]


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"cols": [0, 3, 1]}, "edge 1 has the column 3, and there are 3 columns, numbered from 0"),
        ({"rows": [0, 2, 10**9]}, "edge 2 has the row 1000000000, and there are 3 rows, numbered from 0"),
        ({"cols": [0, -1, 1]}, "edge 1 has the column -1; 0 to"),
        ({"rows": np.array([0, 2**63, 1], np.uint64)}, "edge 1 has the row 9223372036854775808"),
        ({"cols": [0, 1.0, 1]}, r"the column ids are an array of float64 of shape \(3,\); one of integers"),
        ({"rows": [[0, 1, 2]]}, r"of shape \(1, 3\)"),
        ({"cols": [0, 1]}, "found 3 rows, 2 columns and values of shape"),
        ({"values": IDS[:2]}, r"3 columns and values of shape \(2,\); one of each is needed for each edge"),
        ({"nrows": -1}, "found the size -1; a whole number >= 0 is needed"),
        ({"ncols": 2.5}, "found the size 2.5; a whole number >= 0 is needed"),
    ],
)
def test_what_kernels_cannot_trust_is_refused(
    format: Format, path: Path, tmp_path: Path, change: dict[str, Any], said: str, bounded: bool
) -> None:
    """Reading and conversion in bounded memory refuse alike, and leave no file."""
    given: dict[str, Any] = {"nrows": 3, "ncols": 3, "rows": IDS, "cols": IDS, "values": IDS}
    given |= {name: np.array(x) if isinstance(x, list) else x for name, x in change.items()}
    format.edges = gb.io.Edges(**given)
    target = tmp_path / "a.h5"
    with pytest.raises(FileFormatError, match=said) as refused:
        gb.io.convert(path, target, memory="4GB") if bounded else gb.io.read(path)
    assert str(path) in str(refused.value)
    assert not target.exists()


@pytest.mark.parametrize("bounded", [False, True])
def test_other_objects_are_no_edges(format: Format, path: Path, tmp_path: Path, bounded: bool) -> None:
    format.edges = "0 1"
    with pytest.raises(InvalidValue, match=r"format 'given' returned a str; gb.io.Edge"):
        gb.io.convert(path, tmp_path / "a.h5", memory="4GB") if bounded else gb.io.read(path)


def test_a_format_may_only_read_or_only_write(path: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="has neither `read` nor `write`"):
        gb.io.register_format("given", "no.such.module", [".given"])
    with pytest.raises(InvalidValue, match=r"suffixes is the text '.given'; a list such as \['.given'\] is needed"):
        gb.io.register_format("given", Format(), ".given")
    gb.io.register_format("given", SimpleNamespace(write=lambda csr, output: output.open().close()), [".given"])
    try:
        with pytest.raises(InvalidValue, match="format 'given' has no function `read`"):
            gb.io.read(path)
        formats.REGISTERED["given"] = Format()
        with pytest.raises(InvalidValue, match="format 'given' has no function `write`"):
            gb.io.write(gb.io.read("path:3"), tmp_path / "b.given")
    finally:
        del formats.FORMATS["given"], formats.SUFFIXES[".given"], formats.REGISTERED["given"]
    assert not (tmp_path / "b.given").exists()
