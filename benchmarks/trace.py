"""The number of files whose functions a call enters: ``python -m benchmarks.trace``, without a GPU.

A reader who follows a call opens a file whenever the call enters a function of another one. For some warm calls this
counts the package's files that are entered, the entered functions that are in another file than the one before, and
all entered functions, with which the host's time of a call grows. Products on a GPU are pulls whose launches are
cached, but the product with a sparse vector is a push; a mask of values becomes presence words first.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import graphblas
import numpy as np

graphblas.init("suitesparse", blocking=True)  # before any other use of it

import sparsezc as gb  # noqa: E402  (python-graphblas is started first)
from benchmarks.harness.frame import table  # noqa: E402
from sparsezc.device import cuda  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = f"{ROOT / 'sparsezc'}/"  # includes the links to ops/ and semirings/


class Walk(NamedTuple):
    """The files that a call entered, in order of first entry; the changes between files; the functions entered."""

    files: list[str]
    changes: int
    functions: int


def followed(call: Callable[[], Any]) -> Walk:
    """Run a call under a tracer, and return the files that it entered."""
    entered: list[str] = []

    def enter(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            entered.append(frame.f_code.co_filename)

    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(None)
    changes = sum(one != other for one, other in zip(["", *entered], entered, strict=False))
    return Walk([str(Path(name).resolve().relative_to(ROOT)) for name in dict.fromkeys(entered)], changes, len(entered))


def warm(folder: Path) -> dict[str, Callable[[], Any]]:
    """Return calls of masked, accumulating products on both engines and of a reader of a file; each has run before."""
    calls = {}
    A = gb.io.read("kron:8?weights=1-9", placement="host")

    def product(A: Any, where: str, *, values: bool = False, sparse: bool = False) -> Callable[[], Any]:
        v, w = (gb.Vector.from_dense(np.full(A.ncols, x)).to(where) for x in (1.0, 9.0))
        if sparse:
            v = gb.Vector.from_coo(range(8), [1.0] * 8, size=A.ncols).to(where)
        mask = gb.Vector.from_coo([1, 2], [True, True], size=A.nrows).to(where)

        def call() -> None:
            w(mask.V if values else mask.S, accum=gb.binary.min, replace=True) << A.mxv(v, gb.semiring.min_plus)

        return call

    on_cpu, on_gpu = A.to("cpu"), A.to("gpu", placement="zerocopy")
    calls["masked mxv, CPU engine"] = product(on_cpu, "cpu")
    calls["masked mxv, CPU engine, value mask"] = product(on_cpu, "cpu", values=True)
    calls["masked mxv, GPU engine, zerocopy"] = product(on_gpu, "gpu")
    calls["masked mxv, GPU engine, zerocopy, value mask"] = product(on_gpu, "gpu", values=True)
    calls["masked mxv, GPU engine, zerocopy, sparse vector (push)"] = product(on_gpu, "gpu", sparse=True)
    path = folder / "a.txt"
    gb.io.write(A, path)
    calls["a text file into a zerocopy CSR"] = lambda: gb.io.read(path, placement="zerocopy")
    for call in calls.values():
        for _ in range(3):  # compiles kernels, and fills caches
            call()
    return calls


def main() -> None:
    from tests.emulator.device import EmulatedDevice

    rows = []
    cuda.use(EmulatedDevice())
    with tempfile.TemporaryDirectory() as folder:
        for name, call in warm(Path(folder)).items():
            found = followed(call)
            rows.append([name, str(len(found.files)), str(found.changes), str(found.functions)])
            if "-v" in sys.argv[1:]:
                print(name, *found.files, sep="\n  ")
    print(table(["a warm call", "files", "changes of file", "functions"], rows))


if __name__ == "__main__":
    main()
