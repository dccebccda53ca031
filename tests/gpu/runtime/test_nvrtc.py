"""The compiler's cache, with a fake NVRTC that counts compilations: no GPU and no CuPy are needed."""

from __future__ import annotations

import multiprocessing
import os
import warnings
from pathlib import Path
from typing import Any

import pytest

from sparsezc.device import nvrtc as compiler
from sparsezc.exceptions import PerformanceWarning


class Nvrtc:
    """The part of ``cupy.cuda.nvrtc`` that the compiler uses."""

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


def entries(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "sparsezc" / "kernels").iterdir())


def test_a_text_is_compiled_once_for_each_architecture(nvrtc: Any, tmp_path: Path) -> None:
    for text, architecture in (("text", 90), ("text", 80), ("text2", 90)) * 2:
        assert compiler.compiled(nvrtc, text, architecture) == b"cubin of " + text.encode()
    assert [options[-1][-5:] for options in nvrtc.options] == ["sm_90", "sm_80", "sm_90"]
    assert len(entries(tmp_path)) == 3


def test_numbers_that_are_denormal_stay_what_they_are(nvrtc: Any) -> None:
    compiler.compiled(nvrtc, "text", 90)
    assert not any("ftz=true" in option or "fast" in option for option in nvrtc.options[0])


def test_a_gpu_that_nvrtc_does_not_know_gets_ptx(nvrtc: Any) -> None:
    assert compiler.compiled(nvrtc, "text", 120) == b"ptx of text"
    assert nvrtc.options[0][-1] == "--gpu-architecture=compute_90"


def test_what_does_not_compile_says_why_and_leaves_nothing(nvrtc: Any, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"NVRTC_ERROR_COMPILATION.*\nline 1: what is this"):
        compiler.compiled(nvrtc, "wrong", 90)
    assert entries(tmp_path) == []


def flip(entry: Path) -> None:
    data = bytearray(entry.read_bytes())
    data[-1] ^= 1
    entry.write_bytes(data)


DAMAGES: dict[str, Any] = {
    "cut": lambda entry: os.truncate(entry, entry.stat().st_size - 1),
    "empty": lambda entry: os.truncate(entry, 0),
    "a changed bit": flip,
    "no digest": lambda entry: entry.write_bytes(b"cubin of others"),
    "another entry": lambda entry: entry.write_bytes(
        next(e for e in entry.parent.iterdir() if e != entry).read_bytes()
    ),
    "others may write": lambda entry: (flip(entry), entry.chmod(0o666)),
    "a folder in its place": lambda entry: entry.unlink() or entry.mkdir(),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_an_entry_that_is_not_what_was_written_is_compiled_again(name: str, nvrtc: Any, tmp_path: Path) -> None:
    compiler.compiled(nvrtc, "text", 90)
    (entry,) = entries(tmp_path)
    sound = entry.read_bytes()
    compiler.compiled(nvrtc, "text2", 90)
    DAMAGES[name](entry)
    assert compiler.compiled(nvrtc, "text", 90) == b"cubin of text"
    assert len(nvrtc.options) == 3
    if entry.is_file():
        assert (entry.read_bytes(), entry.stat().st_mode & 0o777) == (sound, 0o600)
        assert compiler.compiled(nvrtc, "text", 90) == b"cubin of text"
        assert len(nvrtc.options) == 3
    assert len(entries(tmp_path)) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_an_entry_of_another_user_is_compiled_again(nvrtc: Any, tmp_path: Path) -> None:
    compiler.compiled(nvrtc, "text", 90)
    os.chown(*entries(tmp_path), 12345, 12345)
    assert compiler.compiled(nvrtc, "text", 90) == b"cubin of text"
    assert len(nvrtc.options) == 2
    assert entries(tmp_path)[0].stat().st_uid == 0


@pytest.mark.parametrize("way", ["mode", "owner"])
def test_a_folder_of_others_is_not_used_and_said_once(way: str, nvrtc: Any, tmp_path: Path) -> None:
    compiler.compiled(nvrtc, "text", 90)
    before = entries(tmp_path)
    folder = before[0].parent
    if way == "mode":
        folder.chmod(0o770)
    elif os.geteuid() == 0:
        os.chown(folder, 12345, 12345)
    else:
        pytest.skip("only root can give a folder to another user")
    compiler._folder.cache_clear()
    said = r"kernels, which belongs to user \d+ and has mode 7\d0: it must"
    with pytest.warns(PerformanceWarning, match=said):
        assert compiler.compiled(nvrtc, "text", 90) == b"cubin of text"
    for text in ("text2", "text2"):  # a second warning would be an error
        with warnings.catch_warnings(action="error"):
            assert compiler.compiled(nvrtc, text, 90) == b"cubin of text2"
    assert len(nvrtc.options) == 4
    assert entries(tmp_path) == before


def test_a_relative_folder_is_ignored(nvrtc: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    compiler.compiled(nvrtc, "text", 90)
    assert list((tmp_path / "here").iterdir()) == []
    assert len(entries(tmp_path / "home" / ".cache")) == 1


def test_new_folders_are_the_users_alone(nvrtc: Any, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        compiler.compiled(nvrtc, "text", 90)
    finally:
        os.umask(before)
    (entry,) = entries(tmp_path)
    assert (entry.parent.stat().st_mode & 0o777, entry.stat().st_mode & 0o777) == (0o700, 0o600)


def test_a_cache_that_cannot_be_written_is_done_without(
    nvrtc: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert compiler.compiled(nvrtc, "text", 90) == b"cubin of text"
    assert compiler.compiled(nvrtc, "text", 90) == b"cubin of text"
    assert len(nvrtc.options) == 2


def _compile_many(folder: str) -> None:
    os.environ["XDG_CACHE_HOME"] = folder
    for n in range(200):
        made = Nvrtc()
        text = "text" * 5000 + str(n % 4)
        assert compiler.compiled(made, text, 90) == b"cubin of " + text.encode()
        if n % 7 == 0:
            os.truncate(next(Path(folder, "sparsezc", "kernels").glob("*" + "[0-9a-f]" * 60)), 40)


def test_processes_that_write_one_entry_never_read_a_part(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.map(_compile_many, [str(tmp_path)] * 2)
    assert len(entries(tmp_path)) == 4
