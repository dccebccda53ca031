"""Without a GPU everything else works, and a request for one raises one error with the reason."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import sparsezc as gb
from sparsezc import memory
from sparsezc.device import cuda, cupy_device


@pytest.fixture(autouse=True)
def look_again() -> Iterator[None]:
    """Let each test look for a GPU anew, and put back the device in use."""
    before = cuda.use(None)
    yield
    cuda.use(before)


def cupy(devices: Callable[[], int], version: Callable[[], Any] = lambda: (13, 0)) -> Any:
    """Return a CuPy that has only the calls which look for a device and a compiler."""
    return SimpleNamespace(
        cuda=SimpleNamespace(runtime=SimpleNamespace(getDeviceCount=devices), nvrtc=SimpleNamespace(getVersion=version))
    )


def fails(text: str) -> Callable[[], Any]:
    def call() -> Any:
        raise RuntimeError(text)

    return call


MISSING: dict[str, tuple[Any, str]] = {
    "CuPy": (None, r"CuPy is not installed .*sparsezc\[cuda13\]"),
    "driver": (cupy(fails("insufficient driver")), r"driver does not answer \(insufficient driver\)"),
    "card": (cupy(lambda: 0), "driver sees no device"),
    "compiler": (cupy(lambda: 1, fails("no libnvrtc.so.13")), r"NVRTC.*is missing \(no libnvrtc.so.13\)"),
}


@pytest.mark.parametrize("what", MISSING)
def test_the_error_says_what_is_missing(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, reason = MISSING[what]
    monkeypatch.setitem(sys.modules, "cupy", module)
    A = gb.Matrix.from_coo([0, 1], [1, 0], [1, 2])
    for ask in (
        lambda: A.to("gpu"),
        lambda: A.to(placement="device"),
        lambda: A.to(placement="zerocopy"),
        lambda: gb.Vector.from_coo([0], [1]).to("gpu"),
        lambda: memory.allocate("device", 1, "int8"),
        lambda: memory.allocate("zerocopy", 1, "int8"),
        lambda: gb.io.read("kron:4", placement="device"),
        cuda.current,
    ):
        with pytest.raises(gb.exceptions.DeviceUnavailable, match="no GPU: .*" + reason):
            ask()
    with (
        gb.config.set(engine="gpu"),
        pytest.raises(gb.exceptions.DeviceUnavailable, match="no GPU: .*" + reason),
    ):
        gb.Matrix.from_coo([0], [0], [1])
    assert isinstance(gb.exceptions.DeviceUnavailable("x"), RuntimeError)


def test_everything_else_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    with gb.config.set(engine="auto", placement="auto"):
        A = gb.io.read("kron:6")
        assert A._engine.name == "cpu"
        assert gb.algorithms.bfs(A, int(A.to_coo()[0][0])).nvals > 1
        assert gb.algorithms.pagerank(A).nvals == A.nrows
    assert cuda.reason() is not None


def test_the_search_for_a_gpu_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(cupy_device, "_import_cupy", lambda: asked.append(1) or cupy(lambda: 0))
    monkeypatch.setattr(
        cupy_device, "Cuda", lambda: (_ for _ in ()).throw(gb.exceptions.DeviceUnavailable("no GPU: none"))
    )
    assert cuda.reason() == cuda.reason() == "no GPU: none"
    monkeypatch.setattr(cupy_device, "Cuda", lambda: asked.append(2))
    assert cuda.reason() == "no GPU: none"
    assert asked == []


def test_a_placement_that_is_none_needs_no_gpu_to_be_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    A = gb.Matrix.from_coo([0, 1], [1, 0], [1, 2])
    for ask in (
        lambda: gb.io.read("kron:4", placement="bogus"),
        lambda: A.to(placement="bogus"),
        lambda: A.to("gpu", placement="bogus"),
        lambda: A.to("cpu", placement="bogus"),
    ):
        with pytest.raises(
            gb.exceptions.InvalidValue, match=r"'bogus' is not a placement; .* auto, host, device, peer, zero"
        ):
            ask()


def test_the_error_says_what_asked_for_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    A, v = gb.Matrix.from_coo([0, 1], [1, 0], [1, 2], name="A"), gb.Vector.from_coo([0], [1], name="v")
    asked: dict[str, Callable[[], Any]] = {
        r"A\.to\('gpu'\)": lambda: A.to("gpu"),
        r"A\.to\(placement='device'\)": lambda: A.to(placement="device"),
        r"A\.compress": lambda: A.compress(),
        r"A\.reorder": lambda: A.reorder([1, 0]),
        r"v\.to\('gpu'\)": lambda: v.to("gpu"),
        "placement 'zerocopy'": lambda: gb.io.read("kron:4", placement="zerocopy"),
        "engine='gpu'": lambda: gb.io.from_array([1.0], engine="gpu"),
    }
    for said, ask in asked.items():
        with pytest.raises(gb.exceptions.DeviceUnavailable, match=said + " needs a GPU, and there is no GPU: CuPy"):
            ask()
    with (
        gb.config.set(engine="gpu"),
        pytest.raises(gb.exceptions.DeviceUnavailable, match=r"gb\.config\.engine='gpu' needs a GPU"),
    ):
        gb.io.read("kron:4")
