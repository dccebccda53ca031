"""The environment of a run, part of every result file: the machine, the versions, the command."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("numpy", "scipy", "python-graphblas", "suitesparse-graphblas", "cupy-cuda13x", "cupy-cuda12x")


def facts() -> dict[str, Any]:
    """Return the facts from which a reader can reproduce a result: command, commit, versions, processor, GPU."""
    return {
        "command": [Path(sys.executable).name, "-m", *_module()],
        "commit": _commit(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "gpu": gpu(),
        "versions": {name: found for name in PACKAGES if (found := _version(name))},
    }


def _module() -> list[str]:
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return [spec.name if spec else Path(sys.argv[0]).name, *sys.argv[1:]]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        folder = Path(__file__).parent
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None  # not a checkout, or no git
    return done.stdout.strip()


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def gpu() -> dict[str, Any] | str:
    """Return the GPU's facts, or the reason why there is none."""
    from sparsezc.device import cuda

    if why := cuda.reason():
        return why
    card = cuda.current()
    found: dict[str, Any] = {"name": card.name, "multiprocessors": card.multiprocessors, "memory": card.memory()[1]}
    runtime = getattr(getattr(card.xp, "cuda", None), "runtime", None)
    if runtime is not None:
        found |= {"driver": runtime.driverGetVersion(), "runtime": runtime.runtimeGetVersion()}
    return found
