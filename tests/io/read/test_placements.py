"""Every reader builds directly in the requested placement, with 4-byte ids on the GPU engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.device import cuda
from sparsezc.exceptions import DeviceUnavailable, OutOfMemory
from sparsezc.io._read import read_csr
from sparsezc.io._write import convert
from tests.io.fake_gpu import Card
from tests.io.graphs import load


@pytest.mark.parametrize("placement", ["device", "zerocopy"])
@pytest.mark.parametrize("name", ["a.txt", "a.mtx", "a.gr", "a.graph", "a.wsg", "a.bel", "a.npz", "kron:7?weights=1-9"])
def test_each_format_in_each_placement(tmp_path: Path, card: Card, name: str, placement: str) -> None:
    source: Any = name
    if not name.startswith("kron"):
        source = tmp_path / name
        convert("kron:7?weights=1-9", source)
    here = load(source)
    there, _ = read_csr(source, placement=placement)
    assert there.indices.placement == there.values.placement == placement
    assert there.indices.dtype == np.uint32
    assert here.indices.dtype == np.uint64
    np.testing.assert_array_equal(here.indptr, there.indptr)
    np.testing.assert_array_equal(here.indices.read(), there.indices.read())
    np.testing.assert_array_equal(here.values.read(), there.values.read())


@pytest.mark.parametrize("source", ["urand:12", "a.npz"])
def test_auto_takes_the_device_where_it_fits_and_says_what_is_needed_where_nothing_does(
    tmp_path: Path, card: Card, source: str
) -> None:
    convert("urand:12", tmp_path / "a.npz")
    path = source if ":" in source else tmp_path / source
    assert read_csr(path)[0].indices.placement == "device"
    card.free = 450_000  # vectors and offsets fit, the edges do not
    assert read_csr(path)[0].indices.placement == "hybrid"
    with pytest.raises(OutOfMemory, match=r"device: [\d,]+; zerocopy and others: [\d,]+"):
        read_csr(path, placement="device")


def test_the_configuration_decides_where_nothing_is_said(card: Card) -> None:
    with gb.config.set(engine="cpu"):
        assert read_csr("path:9")[0].indices.placement == "host"
    with gb.config.set(placement="zerocopy"):
        assert read_csr("path:9")[0].indices.placement == "zerocopy"
    assert read_csr("path:9", placement="host")[0].indices.placement == "host"


def test_a_gpu_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "reason", lambda: "no GPU: none was plugged in")
    with pytest.raises(DeviceUnavailable, match="none was plugged in"):
        read_csr("path:9", placement="zerocopy")
    assert read_csr("path:9")[0].indices.placement == "host"
