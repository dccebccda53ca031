"""Conversion in bounded memory that ends by a full disk or a signal."""

from __future__ import annotations

import errno
import signal
from pathlib import Path
from typing import Any

import pytest

import sparsezc as gb
from sparsezc.io.build import external_sort
from sparsezc.io.hdf5 import aligned_file
from tests.io.convert.conversions import child
from tests.io.graphs import load

h5py: Any = pytest.importorskip("h5py", reason="h5py is not installed")


@pytest.mark.parametrize("when", ["runs", "target"])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    (tmp_path / "a.h5").write_text("old")

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    if when == "runs":
        monkeypatch.setattr(external_sort.Run, "write", full)
    else:
        monkeypatch.setattr(aligned_file.Filled, "write", full)
    with pytest.raises(OSError, match=r"a\.h5 cannot be written: No space left on device"):
        gb.io.convert("kron:6", tmp_path / "a.h5", memory="8GB")
    assert (tmp_path / "a.h5").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.h5"]


KILLED = """
import sys
from sparsezc.io.hdf5 import aligned_file
import sparsezc as gb
real = aligned_file.Filled.write
def write(self, part):
    print("go", flush=True)
    sys.stdin.readline()
    real(self, part)
aligned_file.Filled.write = write
gb.io.convert("kron:10", sys.argv[1], memory="8GB")
"""


def test_a_killed_conversion_leaves_the_old_file_and_the_next_one_cleans_up(tmp_path: Path) -> None:
    target = tmp_path / "a.h5"
    target.write_text("old")
    run = child(KILLED, target)
    assert run.stdout is not None
    run.stdout.readline()
    assert len(list(tmp_path.iterdir())) == 2
    run.send_signal(signal.SIGKILL)
    run.communicate()
    assert target.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2
    gb.io.convert("kron:10", target, memory="8GB")
    assert [each.name for each in tmp_path.iterdir()] == ["a.h5"]
    assert load(target).nvals == load("kron:10").nvals
