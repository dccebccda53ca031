"""The frame of all campaigns: it runs trials in a child process with a deadline and a memory limit.

A campaign is a module beside this one with a function ``trial(rng, folder) -> Trial``, and perhaps ``prepare()``, which
the child process calls once. Trial `k` of seed `s` draws from
``numpy.random.default_rng([s, k])`` only, so ``--seed s --first k --trials 1`` repeats it. The child process
answers after each trial; if it ends or does not answer, that trial is the finding, and a new child continues.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import multiprocessing
import pkgutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

FOUND = Path(__file__).parent / "found"
_SHOWN = 20  # most failures in a report
_FRAME = {"__main__", "frame", "graphs", "oracle", "test_campaigns", "test_frame"}


@dataclass
class Failure:
    """A trial's failure, and a test that fails while the fault exists.

    `test` is the text of a pytest file; ``FOLDER`` in it is the folder where `files` (name to bytes) are saved.
    """

    message: str
    test: str
    files: dict[str, bytes] = field(default_factory=dict)


@dataclass
class Trial:
    """One trial's outcome: the number of attacks by kind, and the failure if any."""

    tried: dict[str, int]
    failure: Failure | None = None


def numbered(rng: np.random.Generator, run: Callable[[int], tuple[dict[str, int], str | None]]) -> Trial:
    """Return the trial of `run` with a random number, which repeats it; `run` returns its counts and first fault."""
    number = int(rng.integers(2**31))
    tried, wrong = run(number)
    if wrong is None:
        return Trial(tried)
    text = f"def test() -> None:\n    from {run.__module__} import run\n\n    assert run({number})[1] is None\n"
    return Trial(tried, Failure(wrong, text))


class Campaign(Protocol):
    """The interface of a campaign's module."""

    DEADLINE: float  # most seconds of one trial
    MEMORY: int | None  # most bytes by which resident memory may grow in one trial; None: any
    trial: Callable[[np.random.Generator, Path], Trial]


@dataclass
class Result:
    """The attacks and findings of a campaign's run."""

    name: str
    seed: int
    trials: int = 0
    tried: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, Failure]] = field(default_factory=list)
    seconds: float = 0.0
    peak: int = 0  # the largest growth of resident memory in a trial, in bytes

    def report(self) -> str:
        """Return lines with the numbers of attacks and the failures."""
        made = f"{self.trials} trials of seed {self.seed} in {self.seconds:.1f} s, {len(self.failures)} failed"
        lines = [f"{self.name}: {made}; a trial's memory grew by {self.peak / 1e6:.0f} MB at most"]
        lines += [f"  {kind:<40} {count:>9}" for kind, count in sorted(self.tried.items())]
        for n, (k, failure) in enumerate(self.failures[:_SHOWN]):
            lines.append(f"  FAILED trial {k}: {failure.message if n == 0 else failure.message.splitlines()[0]}")
        if len(self.failures) > _SHOWN:
            lines.append(f"  and {len(self.failures) - _SHOWN} more")
        return "\n".join(lines)


def names() -> list[str]:
    """Return the names of all campaigns."""
    return [m.name for m in pkgutil.iter_modules([str(Path(__file__).parent)]) if not m.ispkg and m.name not in _FRAME]


def load(name: str) -> Campaign:
    """Return the module of a campaign."""
    module: Any = importlib.import_module(f"tests.campaigns.{name}")
    return module  # type: ignore[no-any-return]


def run(name: str, seed: int, *, seconds: float | None = None, trials: int | None = None, first: int = 0) -> Result:
    """Run trials from number `first` until `seconds` have passed or `trials` were made."""
    campaign, result, k = load(name), Result(name, seed), first
    start: float | None = None  # after the first child's imports

    def over() -> bool:
        spent = seconds is not None and start is not None and time.monotonic() - start >= seconds
        return spent or (trials is not None and k >= first + trials)

    context = multiprocessing.get_context("spawn")
    while not over():
        mine, its = context.Pipe()
        child = context.Process(target=_child, args=(name, seed, its, campaign.MEMORY is not None), daemon=False)
        child.start()
        its.close()
        try:
            said = _wait(mine, 120.0)  # its imports and preparations
            if said != "ready":
                raise RuntimeError(f"campaign {name} could not begin: {said}")
            start = start or time.monotonic()
            while not over():
                mine.send(k)
                said = _wait(mine, campaign.DEADLINE)
                if isinstance(said, str):
                    child.kill()
                    child.join()
                    if said == "ended":
                        said = f"the process ended with {_ending(child.exitcode)}"
                    result.failures.append((k, Failure(said, _again(name, seed, k))))
                    break
                trial, grown = said
                result.peak = max(result.peak, grown)
                result.tried.update(trial.tried)
                if trial.failure is None and campaign.MEMORY is not None and grown > campaign.MEMORY:
                    trial.failure = Failure(f"memory grew by {grown / 1e6:.0f} MB", _again(name, seed, k))
                if trial.failure is not None:
                    result.failures.append((k, trial.failure))
                k += 1
                result.trials += 1
            else:
                mine.send(None)
                child.join(30)
                break
            k += 1
            result.trials += 1
        finally:
            mine.close()
            if child.is_alive():
                child.kill()
            child.join()
    result.seconds = time.monotonic() - (start or time.monotonic())
    return result


def save(name: str, failure: Failure, folder: Path = FOUND) -> Path:
    """Write a failure as a test below `folder` and return its path."""
    digest = hashlib.sha256(failure.test.encode() + b"".join(failure.files.values())).hexdigest()[:12]
    folder.mkdir(exist_ok=True)
    data = folder / f"{name}_{digest}"
    for file, content in failure.files.items():
        (data / file).parent.mkdir(parents=True, exist_ok=True)
        (data / file).write_bytes(content)
    said = failure.message.splitlines()[0].replace("\\", "/").replace('"', "'")[:80]
    head = f'"""Found by the campaign {name}: {said}"""\n\nfrom pathlib import Path\n\n'
    path = folder / f"test_{name}_{digest}.py"
    path.write_text(f'{head}FOLDER = Path(__file__).parent / "{data.name}"\n\n\n{failure.test}')
    return path


def _again(name: str, seed: int, k: int) -> str:
    return (
        f"def test() -> None:\n    from tests.campaigns.frame import run\n\n"
        f"    result = run({name!r}, {seed}, trials=1, first={k})\n    assert not result.failures, result.report()\n"
    )


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        return signal.Signals(-code).name
    return f"exit status {code}"


def _wait(pipe: Any, seconds: float) -> Any:
    """Return the child's answer, or the reason for its absence."""
    try:
        return pipe.recv() if pipe.poll(seconds) else f"it took more than {seconds:g} s"
    except (EOFError, ConnectionResetError):
        return "ended"


def _child(name: str, seed: int, pipe: Any, measured: bool) -> None:
    """Run as the child process: make the trials whose numbers the pipe gives."""
    campaign = load(name)
    getattr(campaign, "prepare", lambda: None)()
    with tempfile.TemporaryDirectory(prefix="campaign-") as top:
        pipe.send("ready")
        while (k := pipe.recv()) is not None:
            folder = Path(top) / str(k)
            folder.mkdir()
            before = _reset_peak() if measured else 0
            try:
                trial = campaign.trial(np.random.default_rng([seed, k]), folder)
            except Exception as error:  # a fault of the campaign, or an unexpected error
                import traceback

                text = "".join(traceback.format_exception(error))
                trial = Trial({}, Failure(f"{type(error).__name__}: {error}\n{text}", _again(name, seed, k)))
            pipe.send((trial, max(0, _memory("VmHWM") - before) if measured else 0))
            _remove(folder)


def _reset_peak() -> int:
    """Reset the process's peak of resident memory; return its present resident memory, in bytes."""
    Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


def _memory(line: str) -> int:
    text = Path("/proc/self/status").read_text()
    return int(text.partition(f"{line}:")[2].split()[0]) * 1024


def _remove(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def summary(results: list[Result]) -> str:
    """Return the runs as one line of JSON each."""
    return "\n".join(
        json.dumps(
            {"campaign": r.name, "seed": r.seed, "trials": r.trials, "tried": dict(r.tried), "failed": len(r.failures)}
        )
        for r in results
    )
