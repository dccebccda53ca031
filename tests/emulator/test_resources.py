"""The kernels compile for every supported GPU, within the resources of the committed table."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emulator import resources
from tests.emulator.resources import NvrtcError, Usage, differences, measure

pytestmark = pytest.mark.skipif(resources.why_unavailable() is not None, reason=str(resources.why_unavailable()))

SPILLS = """
extern "C" __global__ void __launch_bounds__(1024, 2) spills(const double* a, double* out) {
  double v[48];
  for (int i = 0; i < 48; ++i) v[i] = a[i * 1024 + threadIdx.x];
  for (int k = 0; k < 48; ++k)
    for (int i = 0; i < 48; ++i) v[i] = v[i] * v[(i + 7) % 48] + v[(i + 13) % 48];
  for (int i = 0; i < 48; ++i) out[i * 1024 + threadIdx.x] = v[i];
}
"""
SHARED = """
extern "C" __global__ void shares(int* out) {
  __shared__ int s[100];
  s[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[99 - threadIdx.x];
}
"""
BROKEN = 'extern "C" __global__ void broken(int* out) { out[0] = no_such_name; }'


@pytest.mark.parametrize("part", ["some", pytest.param("all", marks=pytest.mark.slow)])
def test_no_kernel_takes_more_than_the_table_allows(part: str) -> None:
    table = resources.read_table()
    if part == "some":
        told = resources.read_known()
        known = {at: usage for at, usage in told.items() if at[0][1] != "0"}  # all but a sixteenth
        measured = resources.measure_some(known)
        changed = len(known.keys() - told.keys())
        assert changed < len(told) / 2, (
            f"{changed} texts have changed of some {len(told)}: python -m tests.emulator.resources --known"
        )
        table = {row: usage for row, usage in table.items() if row in measured or row[1] == resources.WHOLE}
    else:
        measured = resources.measure_all()
    worse = differences(table, measured)
    assert not worse, (
        "\n".join(worse)
        + "\nIf that is wanted: python -m tests.emulator.resources --update, and say why in the commit."
    )


def test_the_table_is_of_the_nvrtc_that_is_installed() -> None:
    assert f"NVRTC {resources.version()};" in resources.TABLE.read_text().splitlines()[0]


def test_spills_stack_and_shared_memory_are_seen(tmp_path: Path) -> None:
    cases = [("spills", SPILLS, "spills"), ("shares", SHARED, "shares")]
    found = measure(cases, architectures=(80, 90), cache=tmp_path / "cache")
    for architecture in (80, 90):
        assert found["spills", architecture].spills > 0
        assert found["spills", architecture].registers == 32  # 64 Ki registers for 2048 threads
        assert found["shares", architecture].spills == found["shares", architecture].stack == 0
        assert found["shares", architecture].shared % 1024 == 400  # sm_90 and later reserve 1 KiB more
    assert measure(cases, architectures=(80, 90), cache=tmp_path / "cache") == found  # from the cache


def test_what_is_known_is_not_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text with other comments is known; one that differs otherwise is compiled."""
    told: resources.Known = {}
    found = measure([("shares", SHARED, "shares")], (80,), tmp_path / "one" / "cache", told)
    with monkeypatch.context() as patch:
        patch.setattr(resources, "compile_program", None)
        assert measure([("shares", SHARED, "shares")], (80,), tmp_path / "two" / "cache", told) == found
        explained = SHARED.replace("{\n", "{  // of a block\n  // of 100\n\n", 1)
        assert measure([("shares", explained, "shares")], (80,), tmp_path / "two" / "cache", told) == found
    larger = [("shares", SHARED.replace("100", "200"), "shares")]
    assert measure(larger, (80,), tmp_path / "two" / "cache", told)["shares", 80].shared == 800
    assert len(told) == 2


def test_a_label_s_row_is_the_largest_of_its_cases(tmp_path: Path) -> None:
    small = SHARED.replace("100", "50").replace("99", "49")
    found = measure([("one", SHARED, "shares"), ("one", small, "shares")], (80,), tmp_path / "cache")
    assert found["one", 80].shared == 400


def test_a_kernel_that_does_not_compile_is_named_by_its_message(tmp_path: Path) -> None:
    with pytest.raises(NvrtcError, match="no_such_name"):
        measure([("shares", SHARED, "shares"), ("broken", BROKEN, "broken")], (80,), tmp_path / "cache")


def test_differences_read_as_a_diff() -> None:
    table = {("mxv", 80): Usage(32, 0, 0, 256), ("vxm", 80): Usage(21), ("gone", 80): Usage(10)}
    measured = {("mxv", 80): Usage(33, 16, 24, 128), ("vxm", 80): Usage(24), ("new", 80): Usage(8)}
    assert differences(table, measured) == [
        "gone on sm_80: in the table, but there is no such kernel",
        "mxv on sm_80: registers 32 -> 33, stack 0 -> 16, spills 0 -> 24",
        "new on sm_80: not in the table; it takes Usage(registers=8, stack=0, spills=0, shared=0)",
    ]
    assert differences(measured, measured) == []
