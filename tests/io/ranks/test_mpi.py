"""Files over MPI itself, each run by its own mpiexec; threads stand for ranks in the other tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mpi4py", reason="mpi4py is not installed")
ROOT = Path(__file__).resolve().parents[3]
MPIEXEC = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")


@pytest.mark.skipif(MPIEXEC is None, reason="there is no mpiexec")
@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_are_processes(tmp_path: Path, ranks: int) -> None:
    told = tmp_path / "found.json"
    program = ["-m", "mpi4py", "-m", "tests.engines.distributed.run_checks", "files", str(told), "cpu"]
    run = subprocess.run(
        [str(MPIEXEC), "-n", str(ranks), sys.executable, *program], cwd=ROOT, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "TMPDIR": str(tmp_path)}, timeout=120,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    found = json.loads(told.read_text())
    assert len(found) == 7
    assert not {check: failure for check, failure in found.items() if failure}
