"""Matrices that leave device memory for host pages: the pages are touched in ascending order before they are filled."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
import pytest

from sparsezc.device import cuda, first_touch
from sparsezc.device.protocol import Pages
from sparsezc.memory import buffer
from tests.algorithms.graphs import kronecker, matrix
from tests.emulator.device import EmulatedDevice


def same(one: Any, other: Any) -> None:
    for ours, theirs in zip(one.to("cpu").to_csr(), other.to_csr(), strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("size", [0, 1, 5 << 14, (1 << 20) + 1])
def test_each_page_is_touched_once_and_nothing_else(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_touch, "_LEAST", 1 << 15)
    array = np.full(size, 7, np.uint8)
    touched = first_touch.FirstTouch(array)
    for most in (0, 1, size // 2, size):
        touched.wait(most)
        assert not array[: most : mmap.PAGESIZE].any()
    array[:: mmap.PAGESIZE] += 7
    assert (array == 7).all()


def test_a_thread_that_fails_is_told_to_who_waits() -> None:
    read_only = np.zeros(3 << 20, np.uint8)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        first_touch.FirstTouch(read_only).wait(read_only.size)


@pytest.mark.parametrize("placement", ["zerocopy", "hybrid", "stream"])
def test_pages_are_filled_once_they_are_ready(
    emulated: EmulatedDevice, placement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready: dict[int, int] = {}  # touched bytes of the pages at each address
    done: list[str] = []
    pages, copy_out = emulated.pages, emulated.copy_out

    def begun(nbytes: int, kind: str, wait: bool = True) -> Pages:
        made = pages(nbytes, kind)
        made.array[:] = 0xEE
        ready[made.pointer] = nbytes if wait else 0
        made.ready = lambda most: ready.update({made.pointer: max(ready[made.pointer], most)})
        return made

    def noted(array: Any, host: np.ndarray[Any, Any], kind: str = "pinned", wait: bool = True) -> None:
        begin = max(address for address in ready if address <= host.ctypes.data)
        assert host.ctypes.data + host.nbytes <= begin + ready[begin]
        done.append("waits" if wait else "copy")
        copy_out(array, host, kind)

    monkeypatch.setattr(emulated, "pages", begun, raising=False)
    monkeypatch.setattr(emulated, "copy_out", noted, raising=False)
    monkeypatch.setattr(emulated, "synchronize", lambda: done.append("synchronize"), raising=False)
    monkeypatch.setattr(buffer, "_LANDED", 4096)
    before = cuda.use(emulated)
    try:
        A = matrix(kronecker(8))
        B = A.to("gpu", placement="device")
        done.clear()
        C = B.to(placement=placement)
        copies = [-(-A.nvals * size // 4096) for size in (4, 8)]  # of ids and values
        expected = ["copy"] * copies[0] + ["synchronize"] + ["copy"] * copies[1] + ["synchronize"]
        assert done[: len(expected)] == expected
        same(C, A)
    finally:
        cuda.use(before)


@pytest.mark.parametrize("placement", ["zerocopy", "stream"])
def test_many_parts_land_as_they_were(gpu: Any, placement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_touch, "_LEAST", 1 << 14)
    monkeypatch.setattr(buffer, "_LANDED", 3 << 14)
    A = matrix(kronecker(12))
    landed = A.to("gpu", placement="device").to(placement=placement)
    same(landed, A)
    assert landed.nvals > 10_000
