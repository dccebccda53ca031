"""The reader process of other programs' HDF5 files, forked from a process that has imported h5py.

A fork takes 3 ms of processor time instead of 150, as it imports only this file, which imports little. A test that
changes the program or the interpreter of the reader process gets the process that users get.
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
    """Run as the reader process: read requests and write answers through pipes, and discard other output."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    sys.stdin = os.fdopen(os.dup(asked.fileno()))
    sys.path.insert(0, str(program.parent))
    import_module(program.stem).main(os.dup(answers.fileno()))


class _Forked:
    """The part of `subprocess.Popen` that the package uses."""

    def __init__(self, program: Path, answers: Connection) -> None:
        asked, ours = _FORKS.Pipe(duplex=False)
        self._process = _FORKS.Process(target=_answer, args=(program, asked, answers), daemon=True)
        main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")  # not pytest's
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
    """Return a replacement of the module's `_start` that forks the reader process."""
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
    """Start the fork server, and stop it at the end: waiting for it adds its processor time to this process's."""
    from unittest import mock  # imported here, as the forks do not need it

    with mock.patch.dict(os.environ, {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}):
        forkserver.ensure_running()
    try:
        yield
    finally:
        forkserver._forkserver._stop()  # type: ignore[attr-defined]
