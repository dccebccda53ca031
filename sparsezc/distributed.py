"""Programs on several processes, each of which has a part of every matrix: ``mpiexec -n 4 python -m mpi4py prog.py``.

>>> import sparsezc as gb
>>> A = gb.io.read("path:5").distribute()  # the plain matrix, as this is one process
>>> gb.algorithms.bfs(A, 0).to_dict()
{0: 0, 1: 1, 2: 2, 3: 3, 4: 4}
"""

from __future__ import annotations

from typing import Any

__all__ = ["init"]


def init(comm: Any = None, engine: str = "cpu", *, deadline: float = 600.0, force: bool = False) -> None:
    """Start the distributed engine.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, optional
        The ranks that take part; by default all.
    engine : {"cpu", "gpu"}
        Where each rank has its part. Ranks of one machine take its GPUs in turn.
    deadline : float
        Seconds that a rank waits for the others before it ends all of them.
    force : bool
        Distribute at one rank, too, where a plain matrix does as well: for tests.

    Raises
    ------
    DeviceUnavailable
        mpi4py is missing, or the engine is "gpu" and there is none.
    InvalidValue
        `engine` is unknown.
    """
    from sparsezc.engines.distributed import start

    start(comm, engine, deadline=deadline, force=force)
