"""``comm=`` of ``gb.io.read`` and ``gb.io.convert``: from a communicator to a distributed matrix."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sparsezc.config import config
from sparsezc.errors import GraphblasException
from sparsezc.io._read import ReadOptions, module_of, read_csr
from sparsezc.io.files.source import add_name
from sparsezc.io.ranks import reading
from sparsezc.terminal.progress import task

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix

_ENGINE = "sparsezc.engines.distributed"  # loaded when a communicator is given: it needs MPI


def read(path: str | os.PathLike[str], options: ReadOptions, comm: Any) -> Matrix:
    """Read as :func:`sparsezc.io.read` does with `comm`."""
    distributed = import_module(_ENGINE)
    local = distributed.engine_of(comm).local.engine.name
    with config.set(engine=local):
        block = reading.read_block(
            _source(path, options), lambda: read_csr(path, options)[0], distributed.transport_of(comm)
        )
    matrix: Matrix = distributed.from_rows(block.csr, block.bounds, block.nrows, comm=comm)
    return matrix


def convert(source: str | os.PathLike[str], target: str | os.PathLike[str], options: ReadOptions, comm: Any) -> None:
    """Convert as :func:`sparsezc.io.convert` does with `comm`."""
    transport = import_module(_ENGINE).transport_of(comm)
    try:
        with task():
            reading.convert(_source(source, options), target, transport)
    except GraphblasException as error:
        add_name(error, source)
        raise


def _source(path: str | os.PathLike[str], options: ReadOptions) -> reading.Source:
    return reading.Source(path, options, None if options.kind is None else module_of(options.kind))
