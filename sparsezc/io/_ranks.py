"""Reading and conversion by the ranks of a communicator: ``comm=`` of ``gb.io.read`` and ``gb.io.convert``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from numpy.typing import NDArray

from sparsezc.config import config
from sparsezc.exceptions import GraphblasException, add_name
from sparsezc.io.ranks import reading
from sparsezc.io.ranks.agreement import same, together
from sparsezc.io.ranks.row_bounds import ALIGN
from sparsezc.terminal.progress import task

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix

T = TypeVar("T")

_ENGINE = "sparsezc.engines.distributed"  # imported when a communicator is given: it needs MPI


def agreed(parse: Callable[[], T], comm: Any) -> T:
    """Parse this rank's arguments; if those of a rank are wrong, all ranks raise that rank's error."""
    return together(import_module(_ENGINE).transport_of(comm), parse)


def read(source: reading.Source, whole: reading.Whole, comm: Any) -> tuple[Matrix, NDArray[Any] | None]:
    """Read a graph on the ranks of `comm` as one distributed matrix; `whole` reads all of it on one rank.

    With `relabel` the second result is the ids of all vertices, on every rank.
    """
    from sparsezc.core.matrix import Matrix

    distributed = import_module(_ENGINE)
    engine = distributed.engine_of(comm)
    with config.set(engine=engine.local.engine.name), _naming(source.path):
        source, ids = reading.numbered(source, distributed.transport_of(comm))
        block = reading.read_rank_rows(source, whole, distributed.transport_of(comm))
        if block.nrows <= ALIGN and engine.size > 1:  # too few rows to divide: every rank reads all
            few: Matrix = Matrix._from_csr(whole()).distribute()
            return few, ids
    matrix: Matrix = distributed.from_rows(block.csr, block.bounds, block.nrows, comm=comm)
    return matrix, ids


def convert(source: reading.Source, target: str | os.PathLike[str], comm: Any) -> None:
    """Convert a graph to one .h5 file, of which each rank of `comm` writes its rows."""
    transport = import_module(_ENGINE).transport_of(comm)
    same(transport, "gb.io.convert: the ranks' targets differ", (os.fspath(target),))
    with _naming(source.path), task():
        reading.convert(source, target, transport)


@contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put the graph's name in front of errors that lack it."""
    try:
        yield
    except GraphblasException as error:
        add_name(error, path)
        raise
