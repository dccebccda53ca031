"""Programs on several processes, each of which has a part of every matrix: ``mpiexec -n 4 python -m mpi4py prog.py``.

>>> import sparsezc as gb
>>> A = gb.io.read("path:5").distribute()  # the plain matrix, as this is one process
>>> gb.algorithms.bfs(A, 0).to_dict()
{0: 0, 1: 1, 2: 2, 3: 3, 4: 4}
"""

from __future__ import annotations

from sparsezc.engines.distributed.parts.partition import cut_rows as cut_rows
from sparsezc.engines.distributed.starting import engine as engine
from sparsezc.engines.distributed.starting import engine_of as engine_of
from sparsezc.engines.distributed.starting import from_rows as from_rows
from sparsezc.engines.distributed.starting import init as init
from sparsezc.engines.distributed.starting import transport_of as transport_of

__all__ = ["init"]  # the other functions are for the folders above


def __dir__() -> list[str]:
    return sorted(__all__)
