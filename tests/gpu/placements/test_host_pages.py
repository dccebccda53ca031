"""The kind of an array's host pages: rules first, then one measurement; doctor reports the choice."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparsezc import memory
from sparsezc.cli import doctor as command
from sparsezc.device import cuda
from sparsezc.device.protocol import Pages
from sparsezc.engines.gpu import doctor
from sparsezc.exceptions import OutOfMemory
from sparsezc.memory import machine, zerocopy
from sparsezc.memory.placement import RECORDS
from sparsezc.memory.zerocopy import Rate
from tests.emulator import resources
from tests.emulator.device import EmulatedDevice

MIB = 1 << 20


@pytest.fixture
def card(emulated: EmulatedDevice, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmulatedDevice]:
    """Put an emulated GPU in use without measurements, with samples of 64 KiB."""
    monkeypatch.setattr(zerocopy, "_measured", None)
    monkeypatch.setattr(zerocopy, "_SAMPLE", 1 << 16)
    monkeypatch.setattr(zerocopy, "_MATTERS", 1 << 20)
    monkeypatch.setattr(zerocopy, "_managed", weakref.WeakSet())
    before = cuda.use(emulated)
    yield emulated
    cuda.use(before)


def measured(monkeypatch: pytest.MonkeyPatch, gpu: Any, **rates: Rate) -> None:
    monkeypatch.setattr(zerocopy, "_measured", (gpu, rates))


@pytest.mark.parametrize("placement", ["stream", "gather", "cached"])
def test_bulk_copies_want_pinned_pages_whatever_was_measured(
    card: EmulatedDevice, monkeypatch: pytest.MonkeyPatch, placement: str
) -> None:
    measured(monkeypatch, card, managed=Rate(9e9, 9e9), pinned=Rate(1e9, 1e9))
    assert zerocopy.choose(placement, 10, 10 * MIB).kind == "pinned"
    assert memory.allocate(placement, 10, "uint32").pages == "pinned"


def test_rules_come_before_measurements(card: EmulatedDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    measured(monkeypatch, card, managed=Rate(9e9, 9e9), pinned=Rate(1e9, 1e9))
    assert zerocopy.choose("zerocopy", 5 * MIB, 10 * MIB).kind == "managed"
    assert zerocopy.choose("zerocopy", 10 * MIB, 10 * MIB) == (
        "pinned", "managed pages beyond the card's free memory (10,485,760 bytes) can hang it",
    )  # fmt: skip
    monkeypatch.setattr(card, "managed_is_safe", lambda: False, raising=False)
    assert zerocopy.choose("zerocopy", 5, 10 * MIB).kind == "pinned"


@pytest.mark.parametrize(
    ("managed", "pinned", "kind"),
    [
        (Rate(50e9, 50e9), Rate(51e9, 51e9), "managed"),  # a tie: managed pages keep their rate in large arrays
        (Rate(40e9, 50e9), Rate(51e9, 51e9), "pinned"),
        (Rate(51e9, 10e9), Rate(51e9, 50e9), "pinned"),
        (Rate(50e9, 50e9), Rate(50e9, 12e9), "managed"),
    ],
)
def test_the_faster_kind_is_taken(
    card: EmulatedDevice, monkeypatch: pytest.MonkeyPatch, managed: Rate, pinned: Rate, kind: str
) -> None:
    measured(monkeypatch, card, managed=managed, pinned=pinned)
    for placement in (name for name, each in RECORDS.items() if each.in_place):
        choice = zerocopy.choose(placement, 2 * MIB, 10 * MIB)
        assert choice.kind == kind
        assert str(pinned) in choice.why
    assert memory.allocate("hybrid", 4, "uint32").pages == kind


def test_a_measurement_is_made_once_and_for_large_arrays_only(
    card: EmulatedDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def counted(gpu: Any, held: Pages, **_: Any) -> Rate:
        asked.append(held.kind)
        return Rate(2e9, 1e9) if held.kind == "pinned" else Rate(1e9, 1e9)

    monkeypatch.setattr(zerocopy, "rate", counted)
    assert memory.allocate("zerocopy", MIB - 1, "uint8").pages == "managed"
    assert memory.allocate("zerocopy", 2 << 30, "uint8").pages == "pinned"  # the rule applies
    assert zerocopy.choose("zerocopy", MIB, 10 * MIB, measure=False).kind == "managed"
    assert asked == []
    assert [memory.allocate("zerocopy", 2 * MIB, "uint8").pages for _ in range(3)] == ["pinned"] * 3
    assert asked == ["managed", "pinned"]
    other = EmulatedDevice(multiprocessors=1)
    before = cuda.use(other)
    try:
        assert zerocopy.known(other) is None
    finally:
        cuda.use(before)


@pytest.mark.parametrize("missing", ["managed", "pinned"])
def test_a_kind_that_cannot_be_made_is_not_taken(
    card: EmulatedDevice, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    made = card.pages

    def refusing(nbytes: int, kind: str, wait: bool = True) -> Pages:
        if kind == missing:
            raise OutOfMemory("the system forbids it")
        return made(nbytes, kind)

    monkeypatch.setattr(card, "pages", refusing, raising=False)
    other = {"managed": "pinned", "pinned": "managed"}[missing]
    assert memory.allocate("zerocopy", MIB, "uint8").pages == other
    assert missing in zerocopy.choose("zerocopy", MIB, 10 * MIB).why


def test_a_measurement_takes_no_more_managed_memory_than_is_safe(
    card: EmulatedDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zerocopy, "_MATTERS", 0)
    assert zerocopy.choose("zerocopy", 100, zerocopy._SAMPLE).kind == "pinned"
    assert set(zerocopy.known(card) or {}) == {"pinned"}


@pytest.mark.parametrize("factor", [1, zerocopy._FAR])
def test_every_line_is_read_once(card: EmulatedDevice, factor: int) -> None:
    lines = 1 << 9
    held = card.pages(128 * lines, "pinned")
    held.array.view(np.uint32)[:] = np.arange(32 * lines, dtype=np.uint32)
    sums = np.zeros(2 * 256, np.uint64)
    zerocopy._kernel(card).launch(2, lines=lines, factor=np.uint64(factor), words=held.pointer, sums=sums)
    assert int(sums.sum()) == 32 * lines * (32 * lines - 1) // 2


def test_pages_are_measured(gpu: Any) -> None:
    for kind in ("managed", "pinned"):
        assert min(zerocopy.rate(gpu, gpu.pages(1 << 16, kind), repeats=1)) > 0


def test_what_sizes_get_is_told_once_for_each_choice(card: EmulatedDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    told = zerocopy.choices(10 * MIB, measure=False)
    assert [(start, choice.kind) for start, choice in told] == [
        (0, "managed"), (MIB, "managed"), (10 * MIB, "pinned"),
    ]  # fmt: skip
    measured(monkeypatch, card, managed=Rate(9e9, 9e9), pinned=Rate(1e9, 1e9))
    assert [start for start, _ in zerocopy.choices(10 * MIB)] == [0, 10 * MIB]


@pytest.mark.parametrize("space", [-1, 0, 1, MIB // 2, MIB, 10 * MIB])
def test_what_is_told_is_what_arrays_get(card: EmulatedDevice, monkeypatch: pytest.MonkeyPatch, space: int) -> None:
    """Reported choices equal those of arrays, even where free memory is smaller than arrays worth a measurement."""
    measured(monkeypatch, card, managed=Rate(9e9, 9e9), pinned=Rate(9e9, 9e9))
    told = zerocopy.choices(space)
    assert [start for start, _ in told] == sorted({start for start, _ in told})
    for nbytes in (0, 1, MIB // 2 - 1, MIB // 2, MIB, 10 * MIB - 1, 10 * MIB):
        holds = [choice.kind for start, choice in told if start <= nbytes][-1]
        assert zerocopy.choose("zerocopy", nbytes, space).kind == holds, nbytes


def test_managed_memory_is_counted_while_it_lives_whatever_goes_meanwhile(card: EmulatedDevice) -> None:
    class Late:
        @property
        def nbytes(self) -> int:
            gone.clear()  # the garbage collector may free it at any call
            return 100

    space = zerocopy.managed_available()
    gone = [memory.allocate("zerocopy", 40, np.uint8)]
    assert space - zerocopy.managed_available() == 40
    late: Any = Late()
    zerocopy.count_managed(late)
    assert space - zerocopy.managed_available() in (100, 140)  # counted before or after the other was freed
    assert not gone
    assert space - zerocopy.managed_available() == 100
    del late
    assert zerocopy.managed_available() == space


def test_managed_memory_is_counted_by_threads_at_once(card: EmulatedDevice) -> None:
    def make(_: int) -> Any:
        made = [memory.allocate("zerocopy", 40, np.uint8) for _ in range(50)]
        zerocopy.managed_available()
        return made[::2]

    space = zerocopy.managed_available()
    with ThreadPoolExecutor(8) as pool:
        kept = list(pool.map(make, range(8)))
    assert space - zerocopy.managed_available() == 8 * 25 * 40
    kept.clear()
    assert zerocopy.managed_available() == space


def test_doctor_measures_each_kind_and_says_which_is_taken(
    card: EmulatedDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "_BYTES", 1 << 17)
    facts = doctor.diagnose()
    assert set(facts["link"]) == {"copy", "gather", "managed", "pinned", "file"}
    assert set(facts["scattered"]) == {"managed", "pinned", "file"}
    assert min(*facts["link"].values(), *facts["scattered"].values()) > 0
    assert facts["pages"][-1]["kind"] == "pinned"
    assert "in order" in facts["pages"][1]["why"]
    lines = command._texts("pages", facts["pages"])
    assert lines[-1].startswith("from 1 GiB on pinned: managed pages beyond")


def test_doctor_holds_one_kind_of_pages_at_a_time(card: EmulatedDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_BYTES", 1 << 17)
    made, held = card.pages, []

    def noted(nbytes: int, kind: str) -> Pages:
        assert [pages() for pages in held if pages() is not None] == []
        found = made(nbytes, kind)
        held.append(weakref.ref(found.array.base))
        return found

    monkeypatch.setattr(card, "pages", noted, raising=False)
    doctor._link(card)
    assert len(held) == 2


def test_doctor_goes_on_without_a_file_or_much_memory(card: EmulatedDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_array: Any) -> None:
        raise OutOfMemory("no such pages")

    monkeypatch.setattr(card, "map", refused, raising=False)
    monkeypatch.setattr(card, "managed_is_safe", lambda: False, raising=False)
    monkeypatch.setattr(machine, "available", lambda: 10 * MIB)
    asked: list[int] = []
    made = card.pages
    monkeypatch.setattr(card, "pages", lambda n, *how: asked.append(n) or made(n, *how), raising=False)
    facts = doctor.diagnose()
    assert set(facts["link"]) == {"copy", "gather", "pinned"}
    assert max(asked) == MIB


def test_doctor_measures_nothing_when_it_shall_be_quick(card: EmulatedDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zerocopy, "rate", lambda *_: 1 / 0)
    facts = doctor.diagnose(measure=False)
    assert "link" not in facts
    assert facts["pages"][1]["why"].startswith("unless")


@pytest.mark.skipif(resources.why_unavailable() is not None, reason=str(resources.why_unavailable()))
def test_the_kernel_compiles_for_gpus_without_spills(tmp_path: Any) -> None:
    text = (Path(zerocopy.__file__).parent / "pages.cu").read_text()
    found = resources.measure([("pages", text, "read_lines")], (80, 90), tmp_path / "cache")
    assert len(found) == 2
    assert all(each.spills == 0 and each.stack == 0 and each.registers <= 32 for each in found.values())
