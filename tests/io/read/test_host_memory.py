"""A graph too large for host memory is refused, with all sizes, before any memory is allocated."""

from __future__ import annotations

import os
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc import memory
from sparsezc.cli import main
from sparsezc.device import cuda
from sparsezc.device.protocol import Pages
from sparsezc.exceptions import OutOfMemory
from sparsezc.io._read import read_csr
from sparsezc.io._write import convert
from sparsezc.io.build import csr_builder, edge_list
from sparsezc.memory import budget, machine
from tests.io.fake_gpu import Card
from tests.io.graphs import load

GB = 10**9


class Untouched(Card):
    """A card that fails if host pages are requested."""

    def pages(self, nbytes: int, kind: str, wait: bool = True) -> Pages:
        raise AssertionError(f"{nbytes} bytes of {kind} pages were mapped")


@pytest.fixture
def readings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the system files from which free memory is read: 8 GB available, no control group."""
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "meminfo").write_text("MemTotal: 9 kB\nMemFree: 5 kB\nMemAvailable:    8000000 kB\n")
    monkeypatch.setattr(machine, "_ROOT", tmp_path)
    return tmp_path


def group(root: Path, path: str, files: dict[str, str]) -> None:
    folder = root / "sys" / "fs" / "cgroup" / path
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)


def test_what_linux_says(readings: Path) -> None:
    assert machine.available() == 8_192_000_000
    assert budget.host_available() == int(0.9 * 8_192_000_000)


def test_the_limits_of_the_process_count(readings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (readings / "proc" / "self" / "statm").write_text("5000 900 300 10 0 2000 0\n")
    limits = {resource.RLIMIT_AS: resource.RLIM_INFINITY, resource.RLIMIT_DATA: resource.RLIM_INFINITY}
    monkeypatch.setattr(resource, "getrlimit", lambda which: (limits[which], resource.RLIM_INFINITY))
    page = os.sysconf("SC_PAGE_SIZE")
    assert machine.available() == 8_192_000_000
    for which, held in ((resource.RLIMIT_AS, 5000), (resource.RLIMIT_DATA, 2000)):
        limits[which] = 9000 * page
        assert machine.available() == (9000 - held) * page
        limits[which] = resource.RLIM_INFINITY


def test_another_system_says_nothing_and_nothing_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_ROOT", tmp_path)
    assert machine.available() is None
    assert budget.host_available() is None
    assert budget.resolve("host", 10**15, 10, host_nbytes=10**15) == "host"


def test_the_tightest_control_group_above_the_process_counts(readings: Path) -> None:
    (readings / "proc" / "self" / "cgroup").write_text("0::/pod/job\n")
    group(readings, "pod/job", {"memory.max": "max\n", "memory.current": "5\n"})
    assert machine.available() == 8_192_000_000
    stat = "anon 1\ninactive_file 1000\nactive_file 7\n"
    group(readings, "pod", {"memory.max": "3000000\n", "memory.current": "2001007\n", "memory.stat": stat})
    assert machine.available() == 1_000_000
    group(readings, "pod/job", {"memory.max": "5\n", "memory.current": "9\n"})
    assert machine.available() == 0


def test_control_groups_of_version_1(readings: Path) -> None:
    (readings / "proc" / "self" / "cgroup").write_text("5:cpu:/x\n4:memory:/box\n")
    group(readings, "memory/box", {
        "memory.limit_in_bytes": "9000\n", "memory.usage_in_bytes": "4000\n",
        "memory.stat": "inactive_file 1\ntotal_inactive_file 400\nactive_file 1\ntotal_active_file 100\n",
    })  # fmt: skip
    assert machine.available() == 5500
    group(readings, "memory/box", {"memory.limit_in_bytes": "9223372036854771712\n"})  # cgroup v1's value for no limit
    assert machine.available() == 8_192_000_000


def test_the_configuration_is_taken_at_its_word(readings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "total", lambda: 20 * GB)
    for setting, space in (("100GB", 100 * GB), (5000, 5000), (0.5, 10 * GB), (None, int(0.9 * 8_192_000_000))):
        with gb.config.set(host_budget=setting):
            assert budget.host_available() == space


@pytest.mark.parametrize("source", ["urand:12", "a.npz"])
def test_zerocopy_is_measured_before_a_page_is_mapped(tmp_path: Path, readings: Path, source: str) -> None:
    path = tmp_path / source
    if ":" not in source:
        convert("urand:12", path)
    before = cuda.use(Untouched())
    try:
        with (
            gb.config.set(host_budget=100_000),
            pytest.raises(
                OutOfMemory,
                match=r"placement 'zerocopy' needs [\d,]+ bytes of host memory and 100,000 may be used "
                r"\(device: [\d,]+; zerocopy and others: [\d,]+, stream and gather: [\d,]+, and [\d,]+ of host memory; "
                r"host: [\d,]+ of host memory\); "
                r"of device memory [\d,]+ may be used; the limit is gb\.config\.host_budget",
            ) as caught,
        ):
            read_csr(source if ":" in source else path, placement="zerocopy")
    finally:
        cuda.use(before)
    assert source in str(caught.value)


def test_arrays_that_are_made_one_by_one_are_measured_too(readings: Path) -> None:
    (readings / "proc" / "meminfo").write_text("MemAvailable: 20000 kB\n")
    before = cuda.use(Untouched())
    try:
        with pytest.raises(OutOfMemory, match="'zerocopy' needs 40,000,000 bytes of host memory and 18,432,000 may"):
            memory.allocate("zerocopy", 10_000_000, np.uint32)
    finally:
        cuda.use(before)
    with pytest.raises(OutOfMemory, match="'host' needs 40,000,000 bytes"):
        memory.allocate("host", 10_000_000, np.uint32)
    assert memory.allocate("host", 1000, np.uint32).count == 1000


def test_a_matrix_that_lies_there_already_needs_nothing(readings: Path) -> None:
    before = cuda.use(Card())
    try:
        with gb.config.set(host_budget=1000):
            assert budget.resolve("zerocopy", GB, 10, current="zerocopy") == "zerocopy"
            with pytest.raises(OutOfMemory, match="needs 1,000,000,000 bytes of host memory"):
                budget.resolve("zerocopy", GB, 10, current="host")
    finally:
        cuda.use(before)


@pytest.mark.parametrize("name", ["a.npz", "a.sg", "a.mtx", "a.txt", "a.gr", "a.graph"])
def test_the_host_placement_is_measured(tmp_path: Path, name: str) -> None:
    convert("urand:12", tmp_path / name)
    with gb.config.set(host_budget="50kB"), pytest.raises(OutOfMemory, match=r"50,000 may be used") as caught:
        load(tmp_path / name)
    assert name in str(caught.value)
    with gb.config.set(host_budget="50MB"):
        assert load(tmp_path / name).nrows == 4096


def test_headers_that_ask_for_too_much_are_refused_before_their_lines_are_read(tmp_path: Path, readings: Path) -> None:
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n9000000000 9000000000 1\n1 1\n")
    with pytest.raises(OutOfMemory, match=r"a\.mtx: .*offsets of 9,000,000,000 rows needs 72,000,000,008 bytes"):
        load(path)
    with pytest.raises(OutOfMemory, match=r"relabel=True"):
        csr_builder.offsets(2**32)


@pytest.mark.parametrize(
    ("name", "edges"),
    [("star:4000000000", 7_999_999_998), ("path:3000000000", 5_999_999_998), ("grid:60000x60000", 14_399_760_000)],
)
def test_made_graphs_are_measured_before_they_are_made(readings: Path, name: str, edges: int) -> None:
    with pytest.raises(OutOfMemory, match=f"{name}: making {edges:,} edges needs {20 * edges:,} bytes of host memory"):
        load(name)


@pytest.mark.parametrize(("values", "each"), [(None, 12), (np.ones(1000), 24)])
@pytest.mark.parametrize("symmetrize", [False, True])
def test_sorting_is_measured_before_it_begins(readings: Path, values: Any, each: int, symmetrize: bool) -> None:
    ids = np.arange(1000, dtype=np.uint32)
    count, each = (2000, each + 4) if symmetrize else (1000, each)
    edges = edge_list.Edges(1000, 1000, ids, ids, values)
    with (
        gb.config.set(host_budget=count * each - 1),
        pytest.raises(OutOfMemory, match=f"sorting {count:,} edges needs {count * each:,} bytes"),
    ):
        csr_builder.build(edges, placement="host", symmetrize=symmetrize)


def test_the_command_line_sets_it(capsys: pytest.CaptureFixture[str]) -> None:
    with gb.config.set(host_budget=None):
        assert main(["info", "urand:12", "--host-budget", "50kB"]) == 1
        told = capsys.readouterr().err
        assert told.count("\n") == 1
        assert "urand:12: placement 'host' needs" in told
        assert main(["info", "urand:12", "--host-budget", "1GB"]) == 0
        with pytest.raises(SystemExit):
            main(["info", "urand:12", "--host-budget", "much"])
        assert "argument --host-budget: 'much' is no number of bytes" in capsys.readouterr().err


def test_writing_to_the_placement_needs_room_too(readings: Path) -> None:
    csr: Any = load("path:1000")
    with gb.config.set(host_budget=100), pytest.raises(OutOfMemory, match="'host' needs"):
        csr.place("host", ids=np.uint32)
