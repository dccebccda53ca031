"""The process that opens other programs' HDF5 files, forked from one that has imported h5py.

That takes 3 ms of processor time instead of 150: the process imports this file, which imports little, and nothing else
of sparsezc. A test that changes what is started, or how, gets the users' process.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["h5py"])


def _answer(program: Path, asked: Connection, answers: Connection) -> None:
    """Be the process: its requests and answers go through pipes, and it says nothing else."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    sys.stdin = os.fdopen(os.dup(asked.fileno()))
    sys.path.insert(0, str(program.parent))
    import_module(program.stem).main(os.dup(answers.fileno()))


class _Forked:
    """The part of `subprocess.Popen` that is asked for."""

    def __init__(self, program: Path, answers: Connection) -> None:
        asked, ours = _FORKS.Pipe(duplex=False)
        self._process = _FORKS.Process(target=_answer, args=(program, asked, answers), daemon=True)
        main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")  # pytest, not to be imported
        try:
            self._process.start()
        finally:
            sys.modules["__main__"] = main
        asked.close()
        self.stdin = os.fdopen(os.dup(ours.fileno()), "wb")
        self.kill = self._process.kill

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode


def starting(foreign: Any) -> Any:
    """Return a function that replaces the module's `_start`."""
    started, program, executable = foreign._start, foreign._PROGRAM, sys.executable

    def start(path: Path) -> tuple[Any, Any]:
        if (foreign._PROGRAM, sys.executable) != (program, executable):
            return started(path)
        ours, theirs = _FORKS.Pipe(duplex=False)
        made = _Forked(program, theirs)
        theirs.close()
        return made, os.fdopen(os.dup(ours.fileno()), "rb")

    return start


@contextmanager
def forking() -> Iterator[None]:
    """Start the process that is forked, and end it: it is waited for, so that its processor time is seen."""
    from unittest import mock  # of what it imports the processes need nothing

    with mock.patch.dict(os.environ, {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}):
        forkserver.ensure_running()
    try:
        yield
    finally:
        forkserver._forkserver._stop()  # type: ignore[attr-defined]
