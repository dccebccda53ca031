"""The memory of a matrix's arrays: buffers of each placement, the budget, and arrays that do not fit."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any
from weakref import WeakSet

import numpy as np
import pytest

import sparsezc as gb
from sparsezc import memory
from sparsezc.device import cuda
from sparsezc.memory import budget, zerocopy
from sparsezc.memory.csr import Csr
from sparsezc.memory.placement import choices

GPU_PLACEMENTS = choices()[1:]  # without `mapped`, which is a file: tests/io/hdf5/test_mappable_file.py


@pytest.mark.parametrize("placement", GPU_PLACEMENTS)
@pytest.mark.parametrize("dtype", ["uint8", "uint32", "uint64", "float32", "bool"])
def test_a_buffer_is_written_and_read_in_parts(placement: str, dtype: str, gpu: Any) -> None:
    buffer = memory.allocate(placement, 1000, dtype)
    assert (buffer.count, len(buffer), buffer.dtype, buffer.placement) == (1000, 1000, np.dtype(dtype), placement)
    assert buffer.nbytes == 1000 * np.dtype(dtype).itemsize
    if placement != "device" or gpu.name != "emulator":  # NumPy aligns arrays of the emulated device less
        assert buffer.pointer % 128 == 0  # entry 32 * k begins a line
    wanted = np.arange(1000).astype(dtype)
    buffer.write(0, np.arange(300))  # the values are converted
    buffer.write(300, np.arange(300, 1000).astype("float64"))
    np.testing.assert_array_equal(buffer.read(), wanted)
    np.testing.assert_array_equal(buffer.read(250, 350), wanted[250:350])
    np.testing.assert_array_equal(buffer.read(999), wanted[999:])
    assert buffer.read().dtype == dtype


def test_a_kernel_reads_what_the_host_wrote(gpu: Any) -> None:
    for placement in GPU_PLACEMENTS:
        buffer = memory.allocate(placement, 700, "uint32")
        buffer.write(0, gpu.xp.arange(700))  # written from a device array
        assert buffer.read().sum() == 699 * 350
        A = gb.Matrix.from_coo([0, 1, 1], [1, 0, 1], [2.0, 3.0, 4.0]).to("gpu", placement=placement)
        assert A._store.placement == placement
        assert A.mxv(gb.Vector.from_coo([0, 1], [1.0, 10.0]), gb.semiring.plus_times).new().to_dict() == {0: 20, 1: 43}


@pytest.mark.parametrize("placement", GPU_PLACEMENTS)
def test_the_one_value_of_all_entries_lies_on_the_card(placement: str, gpu: Any) -> None:
    A = gb.Matrix.from_csr([0, 2, 3, 3], [0, 2, 1], 7, ncols=3).to("gpu", placement=placement)
    for B, wanted in ((A, {0: 28, 1: 14}), (A.T.new(), {0: 7, 1: 14, 2: 7}), (A.dup(), {0: 28, 1: 14})):
        assert B._store.rows.values.placement == "device"
        v = gb.Vector.from_dense([1, 2, 3])
        assert B.mxv(v, gb.semiring.plus_times).new().to_dict() == wanted
        assert v.vxm(B.T, gb.semiring.plus_times).new().to_dict() == wanted


@pytest.mark.parametrize("placement", GPU_PLACEMENTS)
def test_entries_cross_the_link_once(placement: str, gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries are copied from device memory into a placement's pages, without an array on the host between."""
    A = gb.Matrix.from_coo([0, 1, 1], [1, 0, 1], [2.0, 3.0, 4.0])
    here = A.to("gpu", placement="device")
    monkeypatch.setattr(type(here._store.rows.indices), "read", None)
    there = here.to(placement=placement)
    monkeypatch.undo()
    back = there.to(placement="device")
    assert (there._store.placement, back._store.placement) == (placement, "device")
    assert A.isequal(there.to("cpu"))
    assert A.isequal(back.to("cpu"))


def test_a_name_that_is_no_placement() -> None:
    with pytest.raises(gb.exceptions.InvalidValue, match=r"'cloud'.*host, device, peer, zerocopy"):
        memory.allocate("cloud", 1, "int8")


# ---- memory limits --------------------------------------------------------------------------------------------------


@pytest.fixture
def small(emulated: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put an emulated GPU in use that has 1 MB free of 2 MB."""
    monkeypatch.setattr(emulated, "free_memory", 1_000_000)
    monkeypatch.setattr(emulated, "total_memory", 2_000_000)
    monkeypatch.setattr(zerocopy, "_managed", WeakSet())
    before = cuda.use(emulated)
    yield emulated
    cuda.use(before)


def test_managed_pages_stay_below_the_card_s_free_memory(small: Any) -> None:
    """More managed pages than free memory can hang a card; released pages no longer count."""
    first = memory.allocate("zerocopy", 600_000, "uint8")
    second = memory.allocate("zerocopy", 600_000, "uint8")
    third = memory.allocate("zerocopy", 300_000, "uint8")
    assert [b.pages for b in (first, second, third)] == ["managed", "pinned", "managed"]
    del first, third
    gc.collect()
    assert memory.allocate("zerocopy", 900_000, "uint8").pages == "managed"


def test_pages_are_pinned_where_managed_ones_are_not_safe(small: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small, "managed_is_safe", lambda: False, raising=False)
    assert memory.allocate("zerocopy", 8, "uint8").pages == "pinned"


def test_the_budget_is_nine_tenths_bytes_a_text_or_a_share(small: Any) -> None:
    for setting, space in ((None, 900_000), (5000, 5000), ("20kB", 20_000), (0.25, 500_000), ("1TB", 1_000_000)):
        with gb.config.set(budget=setting):
            assert budget.available() == space


def test_auto_is_the_card_where_all_fits_and_host_memory_else(small: Any) -> None:
    vectors = budget.working_bytes(1000)
    assert budget.resolve("auto", 900_000 - vectors, 1000) == "device"
    assert budget.resolve("auto", 900_001 - vectors, 1000) == "hybrid"
    assert budget.resolve(None, 900_001 - vectors, 1000) == "hybrid"
    with gb.config.set(placement="zerocopy"):
        assert budget.resolve(None, 10, 10) == "zerocopy"
    with gb.config.set(engine="cpu"):
        assert budget.resolve(None, 10, 10) == budget.resolve("host", 10**9, 10) == "host"


def test_what_does_not_fit_names_every_number_of_bytes(small: Any) -> None:
    with pytest.raises(gb.exceptions.OutOfMemory) as device_error:
        budget.resolve("device", 5_000_000, 1000)
    vectors = budget.working_bytes(1000)
    assert str(device_error.value).startswith(
        f"placement 'device' needs {5_000_000 + vectors:,} bytes of device memory and 900,000 may be used "
        f"(device: {5_000_000 + vectors:,}; zerocopy and others: {vectors:,}, stream and gather: {vectors:,}, and"
        " 5,000,000 of host memory)"
    )
    for placement, named in (("zerocopy", "zerocopy"), ("auto", "hybrid")):
        with pytest.raises(gb.exceptions.OutOfMemory, match=rf"placement '{named}' needs 6,400,000 .* 900,000 may"):
            budget.resolve(placement, 10, 100_000)
    with pytest.raises(gb.exceptions.OutOfMemory, match="2,000,000 bytes and emulator has 1,000,000 free"):
        memory.allocate("device", 2_000_000, "uint8")
    A = gb.Matrix.from_coo(range(30_000), range(30_000), 1.5)
    with pytest.raises(gb.exceptions.OutOfMemory, match="placement 'device' needs"):
        A.to("gpu", placement="device")
    assert A.nvals == 30_000  # it is still where it was


@pytest.mark.parametrize("placement", GPU_PLACEMENTS)
def test_placing_takes_the_memory_of_the_result_and_a_tenth(placement: str, emulated: Any) -> None:
    count = 1 << 20
    indptr = np.arange(0, count + 1, 16)
    csr = Csr.from_arrays(indptr, np.arange(count, dtype=np.uint64) % 1000, np.ones(count, np.float32), 1000)
    before = cuda.use(emulated)
    try:
        tracemalloc.start()
        placed = csr.place(placement)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        cuda.use(before)
    final = placed.indices.nbytes + placed.values.nbytes
    assert final == 8 * count  # ids of 4 bytes where the source has 8
    assert peak <= 1.1 * final
