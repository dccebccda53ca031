"""Files that state sizes too large for a matrix: ``relabel=True`` numbers the ids that occur."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import sparsezc as gb
from sparsezc.exceptions import OutOfMemory
from tests.io.graphs import read_csr

N = 99999999999999
TEXT = {
    "a.txt": f"# {N} x {N}, 2 entries\n5 6\n99999999999 7\n",
    "a.mtx": f"%%MatrixMarket matrix coordinate pattern general\n{N} {N} 2\n6 7\n100000000000 8\n",
    "a.gr": f"p sp {N} 2\na 6 7 1\na 100000000000 8 1\n",
    "a.npz": None,
}


@pytest.mark.parametrize("name", TEXT)
def test_relabel(tmp_path: Path, name: str) -> None:
    pytest.importorskip("h5py", reason="h5py is not installed")
    path, text = tmp_path / name, TEXT[name]
    if text is None:
        sp.save_npz(path, sp.coo_array((np.ones(2), ([5, 99999999999], [6, 7])), shape=(N, N)))
    else:
        path.write_text(text)
    with pytest.raises(OutOfMemory, match="relabel=True only the ids that occur are numbered"):
        read_csr(path)
    csr, ids = read_csr(path, relabel=True)
    assert ids is not None
    assert ids.tolist() == [5, 6, 7, 99999999999]
    assert csr.indices.read().tolist() == [1, 2]
    assert csr.indptr.tolist() == [0, 1, 1, 1, 2]
    gb.io.convert(path, tmp_path / "a.h5", memory="8GB", relabel=True)
    assert gb.io.read(tmp_path / "a.h5").to_coo()[1].tolist() == [1, 2]
