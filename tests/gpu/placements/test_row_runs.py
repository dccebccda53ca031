"""Runs and offsets of the rows that a product wants equal NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.device import cuda
from sparsezc.engines.gpu.placements import Wanted, host_gather
from sparsezc.engines.gpu.placements.row_runs import Scan, Stretch
from tests.gpu.placements.serving import N, matrix


@pytest.mark.parametrize("flip", [False, True], ids=["wanted", "not wanted"])
@pytest.mark.parametrize("count", [1, 90, N])
@pytest.mark.parametrize("wide", [False, True], ids=["ids of 4 bytes", "ids of 8"])
def test_runs_of_any_stretch_of_rows(
    wide: bool, count: int, flip: bool, gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_gather, "_TAKE", 32)
    monkeypatch.setattr(host_gather, "UNEVEN", 20)
    A = gb.Matrix._from_csr(matrix()._to_csr().place("gather", ids=np.uint64 if wide else None), "gpu")
    rows, xp = A._store.rows, cuda.current().xp
    told = np.zeros(-(-N // 32) * 32, bool)  # one bit a row, as the device tells it
    told[np.random.default_rng(count).choice(N, count, replace=False)] = True
    is_wanted = told[:N] ^ flip
    indptr = cuda.current().asnumpy(rows.indptr)
    lengths = np.where(is_wanted, np.diff(indptr), 0)
    entries, runs = (np.append(0, np.cumsum(counts)) for counts in (lengths, lengths > 0))

    words = xp.asarray(np.packbits(told, bitorder="little").view(np.uint32))
    scan = Scan(rows, Wanted(words, 2**32 - 1 if flip else 0))
    assert scan._entries.nbytes + scan._runs.nbytes <= N // 2 + 32  # the bound that docs/placements.md gives
    assert scan.before(xp.arange(N + 1)) == (entries.tolist(), runs.tolist())

    stretches, expected = list[tuple[Stretch, int]](), []
    for first, end in ((0, N), (0, 50), (64, 96), (33, 35), (31, 420), (200, 290), (650, N)):
        nvals, nruns = int(entries[end] - entries[first]), int(runs[end] - runs[first])
        stretch = Stretch((first, end), int(entries[first]), int(runs[first]), nvals, nruns)
        offsets = scan.offsets(stretch, start=7)
        found = cuda.current().asnumpy(offsets.array)[first - offsets.first :][: end - first + 1]
        assert found.tolist() == (7 + entries[first : end + 1] - entries[first]).tolist()
        if nvals:
            at = np.flatnonzero(lengths[first:end]) + first
            expected.append(np.stack([indptr[at], indptr[at + 1]], axis=1))
            stretches.append((stretch, int(expected[-1][0, 0]) if first else 0))

    if not stretches:
        return
    listed = scan.listed(stretches)
    for made, bounds, (stretch, base) in zip(listed.runs, expected, stretches, strict=True):
        assert made.base == base
        assert made.bounds.dtype == (np.int64 if wide else np.int32)
        assert (made.bounds + base).tolist() == bounds.tolist()
        assert (made.tasks[0], made.tasks[-1]) == (0, stretch.nruns)
        sums = np.append(0, np.cumsum(bounds[:, 1] - bounds[:, 0]))
        assert made.taken.tolist() == sums[made.tasks].tolist()
        late = host_gather.tasks(stretch.nvals) - made.taken[:-1]
        assert (late >= 0).all()
        assert ((late <= host_gather.UNEVEN) | (late < sums[made.tasks[:-1] + 1] - made.taken[:-1])).all()
    host_gather.give_pages(listed.pages)
