"""Reading a CSR file makes no second copy: the peak is at most 1.1 times the final arrays."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PROGRAM = """
import sys, tracemalloc
import numpy as np
from sparsezc.io._read import read_csr
read_csr("path:3", placement="host")
from importlib import import_module
for name in ("npz", "gap", "emogi"): import_module("sparsezc.io.formats." + name)
tracemalloc.start()
csr, _ = read_csr(sys.argv[1], placement="host")
peak = tracemalloc.get_traced_memory()[1]
print(peak, csr.nbytes)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a graph of 4 million entries in each format, 33 to 65 MB as final arrays."""
    import scipy.sparse as sp

    from sparsezc.io._write import write
    from sparsezc.memory.csr import Csr

    made = tmp_path_factory.mktemp("graphs")
    n, degree = 100_000, 40
    rng = np.random.default_rng(1)
    ids = (7 * np.arange(n)[:, None] % (n // degree) + np.arange(degree) * (n // degree)).ravel()  # quick to compress
    indptr = np.arange(0, n * degree + 1, degree)
    csr = Csr.from_arrays(indptr, ids.astype(np.uint64), (ids % 98 + 1).astype(np.int32), n)
    late = np.ones(ids.size, np.int16)
    late[-1] = 2  # the last value shows that it is not iso-valued
    write(Csr.from_arrays(indptr, ids.astype(np.uint64), late, n), made / "late.npz")
    for name in ("a.npz", "a.sg", "a.wsg", "a.bel"):
        write(csr, made / name)
    sp.save_npz(made / "small.npz", sp.csr_array((np.ones(ids.size, np.int8), ids, indptr), shape=(n, n)))
    mixed = ids.reshape(n, degree)[:, ::-1].ravel()
    sp.save_npz(
        made / "unsorted.npz", sp.csr_array((rng.random(ids.size), mixed, indptr), shape=(n, n)), compressed=False
    )
    return made


@pytest.mark.parametrize("name", ["a.npz", "small.npz", "late.npz", "unsorted.npz", "a.sg", "a.wsg", "a.bel"])
def test_peak_of_loading_a_csr(folder: Path, name: str) -> None:
    root = Path(__file__).resolve().parents[3]
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder / name)], cwd=root, capture_output=True, text=True, check=True,
        env=os.environ | {"PYTHONPATH": str(root)},
    )  # fmt: skip
    peak, final = map(int, run.stdout.split())
    assert final > 30e6
    assert peak <= 1.1 * final, f"{peak / final:.3f} times the final arrays"
