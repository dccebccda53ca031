"""Writers that are killed, run out of disk, or have rivals: the target has the old or the new bytes, never a mixture.

A trial draws a writer, an old and a new graph, and a disturbance: `moment` kills at random times, `step` before random
changes of the file system, `short` limits the size of files (RLIMIT_FSIZE, a full disk to the writer), and `rivals`
writes by several processes at once, some of which are killed. Then one more write must succeed and leave nothing beside
the target. The judge compares bytes with those that undisturbed processes wrote (a .npz member by member, as the
archive has the time of day), and depends on the writers only by the rule at the head of
sparsezc/io/files/multi_file_replace.py.

All draws come from the trial's generator. `step` and `short` repeat exactly; the line at which a `moment` kills a
writer, and the rival that ends first, also depend on the machine's timing.

Writers are forked from a process that has imported everything and has no other threads. As a fork costs more the more
is imported, writers that need pandas, PyArrow or python-graphblas are forked from a process of their own. With TMPDIR
in memory (/dev/shm) kills take a third of the time.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import resource
import select
import shutil
import signal
import sys
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import h5py  # noqa: F401  (imported before forks)
import numpy as np
import pandas as pd  # noqa: F401
import pyarrow.parquet  # noqa: F401
import scipy.io  # noqa: F401

import sparsezc as gb
from sparsezc.exceptions import GraphblasException
from sparsezc.io._read import read_csr
from sparsezc.io._write import write
from sparsezc.io.formats import FORMATS
from sparsezc.memory.csr import Csr
from tests.campaigns.frame import Trial

DEADLINE, MEMORY = 120.0, None
_KILLS = 12  # kills in a trial
_PATIENCE_S = 60.0  # most seconds of one write
_GRAPHS = ("kron:9?weights=1-255", "urand:8?weights=1-99", "kron:8")
_CHANGES = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.symlink", "os.link"}
_DONE, _TOLD, _RAISED = 0, 3, 4  # exit codes of a writer

Files = dict[str, Any]


def _converted(**options: Any) -> Callable[[int, Path], None]:
    return lambda graph, path: gb.io.convert(_source(graph), path, **options)


def _written(**options: Any) -> Callable[[int, Path], None]:
    return lambda graph, path: write(_csr(graph), path, **options)


def _of_matrix(call: Callable[[Any, Path], None]) -> Callable[[int, Path], None]:
    return lambda graph, path: call(gb.Matrix._from_csr(_csr(graph)), path)


def _answered(graph: int, path: Path) -> None:
    from sparsezc.cli import main

    assert main(["bfs", str(_source(graph)), "--out", str(path)]) == 0


#: Name of each writer: its target, and its call with the number of a graph and a path.
WRITERS: dict[str, tuple[str, Callable[[int, Path], None]]] = {
    "write .txt": ("a.txt", _written()),
    "write .txt.gz": ("a.txt.gz", _written()),
    "write .csv": ("a.csv", _written()),
    "write .mtx": ("a.mtx", _written()),
    "write .mtx.gz": ("a.mtx.gz", _written()),
    "write .gr": ("a.gr", _written()),
    "write .graph": ("a.graph", _written()),
    "write .sg": ("a.sg", _written()),
    "write .wsg": ("a.wsg", _written()),
    "write .wsg.gz": ("a.wsg.gz", _written()),
    "write .npz": ("a.npz", _written()),
    "write .h5": ("a.h5", _written()),
    "write .bel": ("a.bel", _written()),
    "write .bel.dst": ("a.bel.dst", _written()),
    "write .npz compressed": ("a.npz", _written(compressed=True)),
    "write .h5 compressed": ("a.h5", _written(compress=True)),
    "convert .bel": ("a.bel", _converted()),
    "convert .h5 --memory": ("a.h5", _converted(memory="16GB")),
    "convert .h5 --memory --compress": ("a.h5", _converted(memory="16GB", compress=True)),
}
_HEAVY: dict[str, tuple[str, Callable[[int, Path], None]]] = {
    "write .parquet": ("a.parquet", _written()),
    "write_binsparse COOR": ("a.h5", _of_matrix(lambda A, path: gb.io.write_binsparse(A, path, "COOR"))),
    "mmwrite": ("a.mtx", _of_matrix(lambda A, path: gb.io.mmwrite(path, A))),
    "to_parquet": ("a.parquet", _of_matrix(lambda A, path: gb.io.to_parquet(A, path))),
    "bfs --out .npy": ("a.npy", _answered),
    "bfs --out .npz": ("a.npz", _answered),
}


_ALL = WRITERS | _HEAVY


def trial(rng: np.random.Generator, folder: Path) -> Trial:
    """Disturb one writer a few times."""
    name = str(rng.choice(list(_ALL)))
    mode = str(rng.choice(["moment", "step", "short", "rivals"], p=[0.4, 0.45, 0.08, 0.07]))
    old, new = (int(graph) for graph in rng.permutation(len(_GRAPHS))[:2])
    old = -1 if rng.random() < 0.2 else old  # no old graph
    case = Case(name, folder / _ALL[name][0], old, new)
    return Trial(_heavily(case, mode, rng) if name in _HEAVY else case.run(mode, rng))


def _heavily(case: Case, mode: str, rng: np.random.Generator) -> dict[str, int]:
    """Run a case in the process that has imported the large libraries."""
    pipe = _heavy()
    pipe.send((case, mode, rng))
    said = pipe.recv()
    assert isinstance(said, dict), said
    return said


@cache
def _heavy() -> Any:
    """Start the process that runs heavy writers' cases, and return a pipe to it; it ends with this one."""
    mine, its = multiprocessing.get_context("fork").Pipe()
    if not os.fork():
        mine.close()
        _serve(its)
    its.close()
    return mine


def _serve(pipe: Any) -> None:
    try:
        for module in "pandas", "pyarrow.parquet", "scipy.io", "sparsezc.algorithms", "sparsezc.cli":
            import_module(module)
        _home.cache_clear()
        gb.Matrix._from_csr(_csr(0))  # imports the engine
        while True:
            case, mode, rng = pipe.recv()
            try:
                pipe.send(case.run(mode, rng))
            except Exception as error:
                pipe.send("".join(traceback.format_exception(error)))
    except EOFError:
        shutil.rmtree(_home(), ignore_errors=True)
    finally:
        os._exit(0)


@dataclass
class Case:
    """A writer, its target, and the numbers of the old graph (-1: none) and the new one."""

    name: str
    path: Path
    old: int
    new: int
    tried: Counter[str] = field(default_factory=Counter)

    def run(self, mode: str, rng: np.random.Generator) -> dict[str, int]:
        """Disturb the writer in one way a few times; return the counts."""
        getattr(self, mode)(rng)
        self.write_undisturbed()
        return dict(self.tried)

    def moment(self, rng: np.random.Generator) -> None:
        """Kill at random times."""
        known = _undisturbed(self.name, self.new)
        for share in rng.uniform(0, 1, _KILLS):
            self._put_old()
            with _writer(self.name, self.new, self.path) as running:
                time.sleep(share * known.seconds)
                running.kill()
                code = running.wait()
            known.seconds *= 1.03 if code else 0.9  # adapts to the machine's speed, so that most kills hit
            self._count("moment", code)
            self._judge({self.old, self.new})

    def step(self, rng: np.random.Generator) -> None:
        """Kill before random changes of the file system."""
        last = _undisturbed(self.name, self.new).steps
        for step in rng.integers(1, last + 1, _KILLS).tolist():
            self._put_old()
            with _writer(self.name, self.new, self.path, step=step) as running:
                self._count("step", running.wait())
            self._judge({self.old, self.new})

    def short(self, rng: np.random.Generator) -> None:
        """Limit the files to random sizes."""
        largest = max(_undisturbed(self.name, self.new).sizes)
        for limit in rng.integers(0, largest + largest // 4, _KILLS).tolist():
            self._put_old()
            with _writer(self.name, self.new, self.path, limit=limit) as running:
                code = running.wait()
            self.tried["short disks, " + ("written" if code == _DONE else "refused")] += 1
            assert code in (_DONE, _TOLD), f"{self.name} with files of {limit} bytes at most ended with {code}"
            self._judge({self.new} if code == _DONE else {self.old}, litter=0)

    def rivals(self, rng: np.random.Generator) -> None:
        """Write by several processes at once, some of which are killed."""
        self._put_old()
        graphs = [self.new, *rng.integers(0, len(_GRAPHS), 3).tolist()]
        victims = rng.integers(0, 4, int(rng.integers(0, 3))).tolist()
        moments = rng.uniform(0, 3, 4)
        running = [_writer(self.name, graph, self.path, times=5) for graph in graphs]
        writers = [each.__enter__() for each in running]
        try:
            for at in victims:
                time.sleep(moments[at] * _undisturbed(self.name, self.new).seconds)
                writers[at].kill()
            for at, writer in enumerate(writers):
                code = writer.wait()
                self._count("rivals", code)
                assert code == _DONE or at in victims, f"{self.name}: one of four writers ended with {code}"
        finally:
            for each in running:
                each.__exit__(None, None, None)
        self._judge({self.old, *graphs}, litter=len(victims))

    def write_undisturbed(self) -> None:
        """Write once more, and check that only the new files are in the folder."""
        with _writer(self.name, self.new, self.path) as running:
            assert (code := running.wait()) == _DONE, f"{self.name}: the write after a kill ended with {code}"
        self._judge({self.new}, litter=0)
        self.tried["writes after"] += 1

    def _count(self, mode: str, code: int) -> None:
        assert code in (_DONE, -signal.SIGKILL), f"{self.name} ({mode}) ended with {code}"
        self.tried[f"kills, {self.name}" if code else "ended before the kill"] += 1
        self.tried["KILLS"] += code != 0

    def _put_old(self) -> None:
        """Restore the old graph, and keep the unfinished files of killed writers."""
        for file in self.path.parent.iterdir():
            if file.name.endswith(".switch"):
                shutil.rmtree(file)
            elif not file.name.startswith("."):
                file.unlink()
        if self.old >= 0:
            for name, content in _undisturbed(self.name, self.old).files.items():
                (self.path.parent / name).write_bytes(content)

    def _judge(self, allowed: set[int], litter: int = 1) -> None:
        """Check that the files are those of one allowed graph, with at most `litter` unfinished folders."""
        states = [_plain(_undisturbed(self.name, graph).files) if graph >= 0 else {} for graph in sorted(allowed)]
        files, hidden = _files(self.path.parent), []
        seen = [_plain(files)]
        for file in self.path.parent.iterdir():
            if file.name == ".a.bel.switch":
                seen.append(_plain(files | _files(file)))
            elif file.name.startswith("."):
                hidden.append(file.name)
        good = seen[-1] in states and (seen[0] in states or "a.bel.col" not in files)
        found = {name: len(content) for name, content in files.items()}
        assert good, f"{self.name}: the target is neither old nor new: {found} of graphs {sorted(allowed)}"
        assert len(hidden) <= litter, f"{self.name}: {len(hidden)} unfinished folders are left: {hidden}"


def _files(folder: Path) -> Files:
    return {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.startswith(".")}


def _plain(files: Files) -> Files:
    """Return the files without the parts that may differ between two writes of one graph."""
    plain = {}
    for name, content in files.items():
        if name.endswith(".npz"):
            try:
                with zipfile.ZipFile(io.BytesIO(content)) as archive:
                    plain[name] = {member: archive.read(member) for member in archive.namelist()}
            except zipfile.BadZipFile:
                plain[name] = content
        elif not (name.endswith(".bel.val") and len(content) <= 16):  # no weights
            plain[name] = content
    return plain


@dataclass
class Known:
    """The files of an undisturbed write, its number of steps, and its time."""

    files: Files
    steps: int
    sizes: list[int]
    seconds: float


@cache
def _undisturbed(name: str, graph: int) -> Known:
    folder = _home() / f"{name.replace(' ', '_')}-{graph}"
    folder.mkdir()
    with _writer(name, graph, folder / _ALL[name][0], count=True) as running:
        start = time.monotonic()
        assert running.wait() == _DONE, f"{name} cannot write {_GRAPHS[graph]}"
        seconds = time.monotonic() - start
        steps = running.counted()
    files = _files(folder)
    return Known(files, steps, [len(content) for content in files.values()], seconds)


@cache
def _home() -> Path:
    """Return a folder of this process for sources and undisturbed targets."""
    import atexit

    home = Path(mkdtemp(prefix="campaign-kills-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    for name in FORMATS:
        import_module(f"sparsezc.io.formats.{name}")
    return home


@cache
def _csr(graph: int) -> Csr:
    return read_csr(_GRAPHS[graph], placement="host")[0]


@cache
def _source(graph: int) -> Path:
    path = _home() / f"source{graph}.mtx"
    write(_csr(graph), path)
    return path


class _Running:
    """A forked writer."""

    def __init__(self, child: int, pipe: int) -> None:
        self._child, self._pipe = child, pipe
        self._code: int | None = None

    def kill(self) -> None:
        if self._code is None:
            os.kill(self._child, signal.SIGKILL)

    def wait(self) -> int:
        """Return its exit code, or minus the signal that ended it."""
        if self._code is None:
            handle = os.pidfd_open(self._child)
            ended = select.select([handle], [], [], _PATIENCE_S)[0]
            os.close(handle)
            assert ended, f"a writer has not ended within {_PATIENCE_S:g} s"
            self._code = os.waitstatus_to_exitcode(os.waitpid(self._child, 0)[1])
        return self._code

    def counted(self) -> int:
        """Return the number of steps that it took."""
        return int(os.read(self._pipe, 100))

    def close(self) -> None:
        if self._code is None:
            self.kill()
            os.waitpid(self._child, 0)
            self._code = -signal.SIGKILL
        os.close(self._pipe)


@contextmanager
def _writer(
    name: str, graph: int, path: Path, *, step: int = 0, limit: int = -1, times: int = 1, count: bool = False
) -> Iterator[_Running]:
    """Fork a writer, which starts when the context is entered."""
    _csr(graph), _source(graph)  # cached before the fork
    mine, its = os.pipe()
    child = os.fork()
    if not child:
        _write_and_end(name, graph, path, its, step, limit, times, count)
    os.close(its)
    os.read(mine, 1)
    running = _Running(child, mine)
    try:
        yield running
    finally:
        running.close()


def _write_and_end(
    name: str, graph: int, path: Path, pipe: int, step: int, limit: int, times: int, count: bool
) -> None:
    """Write in the forked process, and exit without the parent's clean-up."""
    code, steps = _RAISED, 0

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal steps
        if event in _CHANGES and (steps or str(path.parent) in str(arguments[0])):
            steps += 1
            if steps == step:
                os.kill(os.getpid(), signal.SIGKILL)

    try:
        quiet = os.open(os.devnull, os.O_RDWR)
        for standard in (1, 2):
            os.dup2(quiet, standard)
        if limit >= 0:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        os.write(pipe, b"x")
        if step or count:
            sys.addaudithook(hook)
        for _ in range(times):
            _ALL[name][1](graph, path)
        if count:
            os.write(pipe, str(steps).encode())
        code = _DONE
    except (GraphblasException, AssertionError):  # a command's failure is an AssertionError here
        code = _TOLD
    finally:
        os._exit(code)
