"""The compilation of CUDA text to machine code by NVRTC, and a folder that caches the code.

CuPy's own compiler always flushes denormal numbers to zero (its issue 9576); a product of two FP32 numbers would then
differ from the CPU's.

Cached code runs on the device, so it is used only if no other user can have written it and its digest matches;
otherwise it is compiled again and replaced.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from sparsezc.exceptions import PerformanceWarning

_OPTIONS = ("--std=c++17",)


def compiled(nvrtc: Any, source: str, architecture: int) -> bytes:
    """Return the machine code of `source`, compiled unless it is in the cache.

    Parameters
    ----------
    nvrtc : module
        CuPy's ``cupy.cuda.nvrtc``, or one with the same functions.
    source : str
        The complete text. It includes no file, so the same text always compiles to the same code.
    architecture : int
        The device's compute capability: 90 for 9.0. If it is newer than this NVRTC supports, NVRTC makes PTX for the
        newest that it supports, which the driver compiles.

    Raises
    ------
    RuntimeError
        The text does not compile; the message has the compiler's log.
    """
    known = [a for a in nvrtc.getSupportedArchs() if a <= architecture]
    real = architecture in known
    kind = f"sm_{architecture}" if real else f"compute_{max(known)}"
    key = "\n".join((*map(str, nvrtc.getVersion()), kind, *_OPTIONS, source))
    name = hashlib.sha256(key.encode()).hexdigest()
    folder = _folder()
    code = None if folder is None else _read(folder / name)
    if code is None:
        code = _compile(nvrtc, source, (*_OPTIONS, f"--gpu-architecture={kind}"), real)
        if folder is not None:
            _write(folder / name, code)
    return code


def _compile(nvrtc: Any, source: str, options: tuple[str, ...], real: bool) -> bytes:
    program = nvrtc.createProgram(source, "sparsezc.cu", [], [])
    try:
        nvrtc.compileProgram(program, options)
        code = nvrtc.getCUBIN(program) if real else nvrtc.getPTX(program)
    except nvrtc.NVRTCError as error:
        raise RuntimeError(f"a kernel does not compile ({error}):\n{nvrtc.getProgramLog(program)}") from None
    finally:
        nvrtc.destroyProgram(program)
    return code if isinstance(code, bytes) else str(code).encode()


def _digest(name: str, code: bytes) -> bytes:
    """Return the digest of a cached file's code and name; a file renamed to another name does not match."""
    return hashlib.sha256(name.encode() + code).digest()


def _read(path: Path) -> bytes | None:
    """Return the code of a cached file; None if there is no file that can be trusted."""
    try:
        with path.open("rb") as file:
            if not _is_private(os.fstat(file.fileno())):
                return None
            digest, code = file.read(hashlib.sha256().digest_size), file.read()
    except OSError:
        return None
    return code if digest == _digest(path.name, code) else None


def _write(path: Path, code: bytes) -> None:
    """Replace a cached file atomically, as other processes read the same folder."""
    with suppress(OSError):  # on a full disk, for example: the next process compiles it again
        handle, unfinished = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_digest(path.name, code) + code)
            Path(unfinished).replace(path)
        except OSError:
            Path(unfinished).unlink()


def _is_private(status: os.stat_result) -> bool:
    """Return whether a file or folder is the user's own and no other user may write to it."""
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022


@cache
def _folder() -> Path | None:
    """Return the user's cache folder; None if there is none that can be trusted."""
    home = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        if not home.is_absolute():  # the variable's specification says to ignore it
            home = Path.home().resolve() / ".cache"
        folder = home / "sparsezc" / "kernels"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except (OSError, RuntimeError):  # RuntimeError: the user has no home folder
        return None
    if _is_private(status):
        return folder
    warnings.warn(
        f"compiled kernels are not kept in {folder}, which belongs to user {status.st_uid} and has mode"
        f" {status.st_mode & 0o777:o}: it must belong to user {os.geteuid()}, and no other may write to it (chmod"
        " go-w). Until then every process compiles its own",
        PerformanceWarning,
        stacklevel=2,
    )
    return None
