"""The transports: each collective at one to three ranks, errors on all ranks, and the choice among transports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sparsezc.device import cuda, cupy_device
from tests.emulator.device import why_unavailable

pytest.importorskip("mpi4py", exc_type=ImportError)

CHECKS = "tests.engines.distributed.transport_checks"


def ranks(count: int, *arguments: str) -> list[str]:
    """Return the lines that the ranks of a program print, sorted."""
    mpiexec = Path(sys.executable).with_name("mpiexec")
    command = [str(mpiexec) if mpiexec.exists() else "mpiexec", "-n", str(count), sys.executable, "-m", "mpi4py"]
    done = subprocess.run(
        [*command, "-m", CHECKS, *arguments],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return sorted(line for line in done.stdout.splitlines() if line)


@pytest.fixture(scope="module")
def said_by_two() -> list[str]:
    """Return the lines that two ranks print; one mpiexec runs all checks, as a rank takes a second to start."""
    refused = "nccl on one card,ipc unreachable,ipc short of memory"
    return ranks(2, f"mpi,ipc,nccl,{refused},choice", "emulated")


@pytest.fixture(scope="module")
def said_by_three() -> list[str]:
    """Return the lines that three ranks print, in one mpiexec."""
    return ranks(3, "mpi,ipc,nccl" + (",searches" if why_unavailable() is None else ""), "emulated")


def agreeing(said: list[str], kinds: tuple[str, ...], count: int) -> bool:
    """Return whether each rank reports for each kind of transport that all collectives agree."""
    return {line.split(": ")[0] for line in said if line.endswith(" agree")} >= {
        f"{kind}, rank {rank} of {count}" for kind in kinds for rank in range(count)
    }


@pytest.mark.parametrize("count", [2, 3])
def test_every_rank_gets_what_the_others_sent(count: int, said_by_two: list[str], said_by_three: list[str]) -> None:
    assert agreeing(said_by_two if count == 2 else said_by_three, ("mpi", "ipc", "nccl"), count)


@pytest.mark.skipif(why_unavailable() is not None, reason="there is no emulated GPU here")
def test_searches_of_three_cards(said_by_three: list[str]) -> None:
    """Of three cards each has two others to write to; the levels are those of the CPU engine."""
    assert agreeing(said_by_three, ("searches",), 3)


@pytest.mark.slow
@pytest.mark.skipif(why_unavailable() is not None, reason="there is no emulated GPU here")
def test_searches_of_four_cards() -> None:
    assert agreeing(ranks(4, "searches", "emulated"), ("searches",), 4)


def test_what_one_rank_cannot_do_is_an_error_on_all(said_by_two: list[str]) -> None:
    shared = "transport 'nccl': ranks 0 and 1 share a card, and NCCL needs one for each rank"
    for text in (shared, "rank 1 of 2: no way between", "rank 1 of 2: 67,108,864 bytes are more than"):
        assert sum(text in line for line in said_by_two) == 2


def test_the_transport_is_chosen_by_engine_and_cards(said_by_two: list[str]) -> None:
    unknown = "distributed.init: transport='pigeon' is unknown; there are auto, mpi, ipc, nccl"
    host = "distributed.init: transport='ipc' moves device arrays; engine='cpu' has none"
    differ = "transport is mpi on rank 0 and ipc on rank 1"
    for text in ("cpu auto: Mpi", "gpu auto: Ipc", "gpu mpi: Mpi", "gpu ipc: Ipc", unknown, host, differ):
        assert sum(text in line for line in said_by_two) == 2, said_by_two
    assert sum(line.startswith("refused: ") for line in said_by_two) == 2 * 6


def test_ranks_take_cards_in_turn(said_by_two: list[str]) -> None:
    said = [line for line in said_by_two if line.startswith("card: ")]
    assert said[0].startswith("card: ['rank 1 used a GPU before distributed.init, which would have given it number 1")
    assert said[1:] == ["card: []"]


def test_a_rank_starts_the_card_of_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    class Two:
        """The driver of a machine with two cards."""

        def __init__(self, turn: int = 0) -> None:
            self.id = turn % 2

        def has_turn(self, turn: int) -> bool:
            return self.id == turn % 2

    monkeypatch.setattr(cupy_device, "Cuda", Two)
    before = cuda.use(None)
    try:
        for rank in range(4):
            cuda.use(None)
            assert cuda.use_gpu(rank)
            assert cuda.current().id == rank % 2  # type: ignore[attr-defined]
            assert not cuda.use_gpu(rank + 1)
    finally:
        cuda.use(before)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["mpi", "ipc"])
@pytest.mark.parametrize("count", [2, 4])
def test_ranks_that_share_a_card(kind: str, count: int) -> None:
    assert len(ranks(count, kind, "gpu")) == count


@pytest.mark.gpu
def test_nccl_of_one_rank() -> None:
    assert ranks(1, "nccl", "gpu")[0].startswith("nccl, rank 0 of 1")
