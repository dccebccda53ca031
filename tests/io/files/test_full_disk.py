"""A full disk: a one-line error in the system's words, no crash, and no file left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.io.hdf5 import aligned_file

pytest.importorskip("h5py", reason="h5py is not installed")
pytest.importorskip("resource", reason="the system has no limits")

LIMITED = """
import os, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limit, unreserved = int(sys.argv[1]), sys.argv[2] == "unreserved"
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
if unreserved and hasattr(os, "posix_fallocate"):
    del os.posix_fallocate
"""
COMMAND = "from sparsezc.cli import main\nsys.exit(main(['convert', 'kron:13?weights=1-255', *sys.argv[3:]]))"
TRIPLES = "import sparsezc as gb\ngb.io.write_binsparse(gb.io.read('kron:13'), sys.argv[3], 'COOR')"


def limited(code: str, *arguments: str) -> tuple[int, str]:
    """Return the exit code and the last line on stderr of a program with a limit of file sizes."""
    done = subprocess.run([sys.executable, "-c", LIMITED + code, *arguments], capture_output=True, text=True)
    return done.returncode, done.stderr


@pytest.mark.parametrize("how", ["reserved", "unreserved"])
@pytest.mark.parametrize("more", [(), ("--compress",), ("--memory", "500MB")])
@pytest.mark.parametrize("limit", [1000, 300_000])
def test_a_full_disk_is_said_in_one_line(tmp_path: Path, how: str, more: tuple[str, ...], limit: int) -> None:
    path = tmp_path / "g.h5"
    gb.io.convert("path:5", path)
    code, said = limited(COMMAND, str(limit), how, str(path), *more)
    assert (code, said) == (1, f"sparsezc: {path} cannot be written: File too large\n")
    assert [file.name for file in tmp_path.iterdir()] == ["g.h5"]
    assert gb.io.read(path, placement="host").nrows == 5


def test_so_it_is_for_other_formats(tmp_path: Path) -> None:
    code, said = limited(TRIPLES, "100000", "reserved", str(tmp_path / "g.h5"))
    assert code == 1
    assert said.splitlines()[-1].endswith("g.h5 cannot be written: File too large")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the system reserves nothing")
def test_arrays_that_are_filled_side_by_side_are_reserved_together(tmp_path: Path) -> None:
    """Each array's space is reserved when it is made, before it is filled, so that a full disk is found early."""
    part = np.zeros(100_000, np.int64)
    with aligned_file.Writer(tmp_path / "g.h5") as writer:
        arrays = [writer.array(name, part.size, np.int64) for name in ("pointers_to_1", "indices_1")]
        assert (tmp_path / "g.h5").stat().st_size > 2 * part.nbytes
        arrays[0].write(part)
        arrays.append(writer.array("values", part.size, np.int64))  # beside a filled array and an empty one
        assert (tmp_path / "g.h5").stat().st_size > 3 * part.nbytes
        for array in arrays[1:]:
            array.write(part)
        writer.finish({}, symmetric=False)
    assert (tmp_path / "g.h5").stat().st_size < 3.5 * part.nbytes


def test_what_was_reserved_is_given_back(tmp_path: Path) -> None:
    gb.io.convert("path:5", tmp_path / "g.h5")
    assert (tmp_path / "g.h5").stat().st_size < 100_000
