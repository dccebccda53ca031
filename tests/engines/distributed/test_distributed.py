"""The distributed engine at 1, 2 and 3 ranks: each test of checks is one mpiexec, which runs all modules of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from types import SimpleNamespace

import pytest

from sparsezc.cli.mpirun import find_mpiexec
from sparsezc.engines.distributed import starting
from sparsezc.exceptions import DeviceUnavailable
from tests.emulator.device import why_unavailable

pytestmark = pytest.mark.skipif(find_spec("mpi4py") is None, reason="mpi4py is not installed: pip install '.[mpi]'")
ROOT = Path(__file__).resolve().parents[3]


def launch(ranks: int, *arguments: str, timeout: float = 300, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a module on some ranks, one thread each."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "NUMBA_OPT": "0"} | more
    command = [find_mpiexec(), "-n", str(ranks), sys.executable, "-m", "mpi4py", "-m", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=timeout, check=False
    )


def failures(modules: str, ranks: int, tmp_path: Path, engine: str = "cpu") -> dict[str, str]:
    """Run modules of checks on some ranks; return the failures by check."""
    path = tmp_path / "found.json"
    limit = 600 if engine == "gpu" else 300  # the emulator compiles kernels
    program = ["tests.engines.distributed.run_checks", modules, str(path), engine]
    done = launch(ranks, *program, timeout=limit, TMPDIR=str(tmp_path))
    assert path.exists(), done.stderr[-4000:] + done.stdout[-1000:]
    found = json.loads(path.read_text())
    assert found
    return {check: said for check, said in found.items() if said}


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_checks(ranks: int, tmp_path: Path) -> None:
    """One mpiexec runs all checks, as a rank takes a second to start and its processor is busy while it waits.

    Two ranks also run the algorithms on emulated GPUs, where these can be emulated.
    """
    elsewhere = ranks == 2 and why_unavailable() is None
    whole = "applications," if elsewhere else "algorithms,applications,"
    of_several = ",files,balance,search_batches,loops,received_bytes" if ranks > 1 else ""
    wrong = failures(f"{whole}statements,programs,exchanges{of_several}", ranks, tmp_path)
    assert not wrong, "\n\n".join(f"{check}\n{said}" for check, said in wrong.items())


@pytest.mark.skipif(why_unavailable() is not None, reason="there is no emulated GPU here")
def test_ranks_on_emulated_gpus(tmp_path: Path) -> None:
    assert failures("on_gpus,search_batches,received_bytes,shared_windows", 2, tmp_path, "gpu") == {}


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["ipc", "mpi"])
@pytest.mark.parametrize("ranks", [2, 4])
def test_ranks_on_cards(ranks: int, kind: str, tmp_path: Path) -> None:
    assert failures("on_cards", ranks, tmp_path, kind) == {}


def test_a_killed_rank_ends_the_job() -> None:
    began = monotonic()
    done = launch(3, "tests.engines.distributed.faults", "killed", timeout=60)
    assert done.returncode != 0
    assert monotonic() - float(done.stdout.split()[0]) < 3, done.stdout  # it takes one second on a quiet machine
    assert monotonic() - began < 60


def test_a_frozen_rank_ends_the_job_at_the_deadline() -> None:
    began = monotonic()
    done = launch(2, "tests.engines.distributed.faults", "frozen", timeout=60)
    assert done.returncode != 0
    assert "another rank did not arrive within 1 s" in done.stderr
    assert monotonic() - began < 30  # the frozen rank sleeps for 30 s


def test_a_rank_that_works_on_alone_is_waited_for() -> None:
    done = launch(2, "tests.engines.distributed.faults", "late", timeout=60)
    assert done.returncode == 0, done.stderr
    assert "rank 0 of 2: its program has ended, and it waits for rank 1 for more than 1 s" in done.stderr


def test_mpiexec_and_mpi4py_must_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "3")
    alone = SimpleNamespace(Get_size=lambda: 1)
    with pytest.raises(DeviceUnavailable, match="mpiexec started 3 processes, and mpi4py sees one"):
        starting._refuse_another_mpi(alone)
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(DeviceUnavailable, match="mpiexec started 3 processes, and mpi4py cannot be used"):
        starting.init()
    monkeypatch.delenv("OMPI_COMM_WORLD_SIZE")
    with pytest.raises(DeviceUnavailable, match=r"distributed: mpi4py cannot be used: .*sparsezc.mpi."):
        starting.transport_of(alone)


def test_mpirun_finds_mpiexec(tmp_path: Path) -> None:
    program = tmp_path / "prog.py"
    program.write_text(
        "import sys, sparsezc as gb\ngb.distributed.init()\nA = gb.io.read('path:200').distribute()\n"
        "n = gb.algorithms.bfs(A, 0).nvals\n"
        "sys.stdout.write(f'{n} {sys.argv[1]} {A._engine.name}\\n')\n"  # one write a line: ranks share the stream
    )
    command = [sys.executable, "-m", "sparsezc", "mpirun", "-n", "2", str(program), "given"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["200 given distributed"] * 2
