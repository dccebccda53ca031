"""CUDA text to machine code: NVRTC, and a folder that remembers what it made.

CuPy can compile too, but always asks for denormal numbers to be flushed to zero (its issue 9576), and then a product of
two FP32 numbers is not what the CPU says it is.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

_OPTIONS = ("--std=c++17",)


def compiled(nvrtc: Any, source: str, architecture: int) -> Path:
    """The file with the machine code of `source`, compiled if nobody did so before.

    Parameters
    ----------
    nvrtc : module
        CuPy's ``cupy.cuda.nvrtc``, or one with the same functions.
    source : str
        A whole text: it includes nothing, so the same text always means the same code.
    architecture : int
        The device's compute capability: 90 for 9.0. Beyond what this NVRTC knows, PTX of the newest that it does; the
        driver finishes it.

    Raises
    ------
    RuntimeError
        The text does not compile; the message is the compiler's.
    """
    known = [a for a in nvrtc.getSupportedArchs() if a <= architecture]
    real = architecture in known
    kind = f"sm_{architecture}" if real else f"compute_{max(known)}"
    key = "\n".join((*map(str, nvrtc.getVersion()), kind, *_OPTIONS, source))
    path = _folder() / f"{hashlib.sha256(key.encode()).hexdigest()}.{'cubin' if real else 'ptx'}"
    if not path.exists():
        _write(path, _compile(nvrtc, source, (*_OPTIONS, f"--gpu-architecture={kind}"), real))
    return path


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


def _write(path: Path, code: bytes) -> None:
    """Whole or not at all: other processes look into the same folder."""
    handle, unfinished = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(code)
    Path(unfinished).replace(path)


@cache
def _folder() -> Path:
    """Where code is kept: the user's cache, or a folder of this process alone where that cannot be written to."""
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sparsezc" / "kernels"
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError):  # a user without a home is the latter
        return Path(tempfile.mkdtemp(prefix="sparsezc-"))
