"""The compiler's cache, with NVRTC played by an object that counts: no GPU and no CuPy are needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sparsezc import compiler


class Nvrtc:
    """What of ``cupy.cuda.nvrtc`` the compiler uses."""

    class NVRTCError(Exception):
        pass

    def __init__(self) -> None:
        self.options: list[tuple[str, ...]] = []
        self.alive = 0

    def getVersion(self) -> tuple[int, int]:
        return (13, 0)

    def getSupportedArchs(self) -> tuple[int, ...]:
        return (75, 80, 90)

    def createProgram(self, source: str, name: str, headers: list[str], names: list[str]) -> str:
        assert not headers
        assert not names
        self.alive += 1
        return source

    def compileProgram(self, program: str, options: tuple[str, ...]) -> None:
        self.options.append(options)
        if "wrong" in program:
            raise self.NVRTCError("NVRTC_ERROR_COMPILATION")

    def getCUBIN(self, program: str) -> bytes:
        return b"cubin of " + program.encode()

    def getPTX(self, program: str) -> str:
        return "ptx of " + program

    def getProgramLog(self, program: str) -> str:
        return "line 1: what is this?"

    def destroyProgram(self, program: str) -> None:
        self.alive -= 1


@pytest.fixture
def nvrtc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    compiler._folder.cache_clear()
    made = Nvrtc()
    yield made
    compiler._folder.cache_clear()
    assert made.alive == 0


def test_a_text_is_compiled_once_for_each_architecture(nvrtc: Any, tmp_path: Path) -> None:
    first = compiler.compiled(nvrtc, "text", 90)
    assert first.read_bytes() == b"cubin of text"
    assert first.parent == tmp_path / "sparsezc" / "kernels"
    assert compiler.compiled(nvrtc, "text", 90) == first
    assert len(nvrtc.options) == 1
    assert compiler.compiled(nvrtc, "text", 80) != first
    assert compiler.compiled(nvrtc, "text2", 90) != first
    assert [options[-1][-5:] for options in nvrtc.options] == ["sm_90", "sm_80", "sm_90"]
    assert sorted(first.parent.iterdir()) == sorted(
        compiler.compiled(nvrtc, *case) for case in (("text", 90), ("text", 80), ("text2", 90))
    )


def test_numbers_that_are_denormal_stay_what_they_are(nvrtc: Any) -> None:
    compiler.compiled(nvrtc, "text", 90)
    assert not any("ftz=true" in option or "fast" in option for option in nvrtc.options[0])


def test_a_gpu_that_nvrtc_does_not_know_gets_ptx(nvrtc: Any) -> None:
    path = compiler.compiled(nvrtc, "text", 120)
    assert path.read_text() == "ptx of text"
    assert nvrtc.options[0][-1] == "--gpu-architecture=compute_90"


def test_what_does_not_compile_says_why_and_leaves_nothing(nvrtc: Any, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"NVRTC_ERROR_COMPILATION.*\nline 1: what is this"):
        compiler.compiled(nvrtc, "wrong", 90)
    assert list((tmp_path / "sparsezc" / "kernels").iterdir()) == []


def test_a_cache_that_cannot_be_written_is_done_without(
    nvrtc: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    compiler._folder.cache_clear()
    path = compiler.compiled(nvrtc, "text", 90)
    assert path.read_bytes() == b"cubin of text"
    assert compiler.compiled(nvrtc, "text", 90) == path
    path.unlink()
    path.parent.rmdir()
