"""Reading by ranks, each a thread, and comparison of their rows with the whole matrix."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sparsezc.io._options import ReadOptions, module_of
from sparsezc.io._read import read_csr
from sparsezc.io.ranks import reading
from sparsezc.io.ranks.rank_rows import RankRows
from sparsezc.memory.csr import Csr
from tests.io.ranks.threads import ThreadComm, run


def source(path: Any, **options: Any) -> reading.Source:
    """Return the reader's source of a path with parsed options."""
    parsed = ReadOptions.parse(path, **options)
    return reading.Source(path, parsed, None if parsed.kind is None else module_of(parsed.kind))


def read(path: Any, size: int, placement: str = "host", **options: Any) -> list[Any]:
    """Return each rank's rows, or its error."""

    def one(comm: ThreadComm) -> RankRows:
        asked = source(path, placement=placement, **options)
        return reading.read_rank_rows(asked, lambda: read_csr(path, asked.options)[0], comm)

    return run(size, one)


def convert(path: Any, target: Any, size: int, **options: Any) -> list[Any]:
    """Convert by several ranks; return None or the error of each."""
    return run(size, lambda comm: reading.convert(source(path, **options), target, comm))


def check(blocks: Iterable[Any], whole: Csr) -> None:
    """Check that the rows of all ranks together are the matrix."""
    at = 0
    for rank, block in enumerate(blocks):
        if isinstance(block, Exception):
            raise block
        csr, bounds = block.csr, block.bounds
        first, last = bounds[rank], bounds[rank + 1]
        assert all(bound % 64 == 0 or bound == whole.nrows for bound in bounds)
        assert (csr.nrows, csr.ncols, block.nvals) == (last - first, whole.ncols, whole.nvals)
        start, stop = whole.indptr[first], whole.indptr[last]
        assert first == at
        np.testing.assert_array_equal(csr.indptr, whole.indptr[first : last + 1] - start)
        np.testing.assert_array_equal(csr.indices.read(), whole.indices.read(start, stop))
        values = np.broadcast_to(whole.values.read(), whole.nvals) if whole.iso else whole.values.read()
        found = np.broadcast_to(csr.values.read(), csr.nvals) if csr.iso else csr.values.read()
        np.testing.assert_array_equal(found, values[start:stop])
        assert (csr.dtype, csr.symmetric) == (whole.dtype, whole.symmetric)
        at = last
    assert at == whole.nrows
