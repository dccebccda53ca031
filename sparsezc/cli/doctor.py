"""``sparsezc doctor``: the parts of this machine that sparsezc can use, and the reasons why others cannot be used."""

from __future__ import annotations

import argparse
import platform
from pathlib import Path
from typing import Any

from sparsezc.cli.answers.report import Report, seconds, size, version
from sparsezc.device.processors import processors
from sparsezc.memory.placement import RECORDS

_PACKAGES = (
    "numpy",
    "scipy",
    "python-graphblas",
    "suitesparse-graphblas",
    "cupy-cuda12x",
    "cupy-cuda13x",
)


def add(commands: Any) -> None:
    """Declare the command."""
    text = "engines, GPU, link and memory of this machine, and the reasons for what is missing"
    command = commands.add_parser("doctor", help=text, description=f"Say {text}.")
    command.add_argument("--quick", action="store_true", help="do not measure the link")
    command.set_defaults(run=doctor)


def doctor(arguments: argparse.Namespace) -> Report:
    """Check all parts; the exit code is 1 if even the CPU engine does not work."""
    cpu = _cpu()
    gpu = _gpu(measure=not arguments.quick)
    default = "gpu" if gpu.get("available") else "cpu"
    data: dict[str, Any] = {
        "command": "doctor",
        "version": version(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": _packages(),
        "memory": _memory(),
        "cores": processors(),
        "cpu": cpu,
        "gpu": gpu,
        "engine": default,
        "placements": {
            name: {"location": each.location, "description": each.description, "baseline": each.baseline}
            for name, each in RECORDS.items()
        },
    }
    memory = data["memory"]
    told = [f", {size(memory[key])} {text}" for key, text in (("total", "of memory"), ("free", "free")) if memory[key]]
    report = Report(data, code=0 if cpu["available"] else 1)
    report.facts = [
        ("sparsezc", f"{data['version']} on Python {data['python']}, {data['platform']}"),
        ("packages", ", ".join(f"{name} {found or 'missing'}" for name, found in data["packages"].items())),
        ("machine", f"{data['cores']} cores{''.join(told)}"),
        ("CPU engine", _told(cpu)),
        ("GPU engine", _told(gpu)),
    ]
    for key, value in gpu.items():
        if key not in ("available", "reason") and value not in (None, []):
            name = f"  {key}".replace("_", " ")
            report.facts += [(name if k == 0 else "", text) for k, text in enumerate(_texts(key, value))]
    report.facts.append(("default", f"--engine auto is {default}"))
    report.facts.append(("placements", _placements()))
    return report


def _placements() -> str:
    """Return the names that --placement accepts on a GPU; those of published systems come last."""
    own, baselines = (
        ", ".join(each.name for each in RECORDS.values() if each.kernels and each.baseline is baseline)
        for baseline in (False, True)
    )
    return f"{own}; for comparison: {baselines}"


def _told(engine: dict[str, Any]) -> str:
    return (
        "works" + (f": {engine['reason']}" if engine.get("reason") else "")
        if engine["available"]
        else f"not used: {engine['reason']}"
    )


def _texts(key: str, value: Any) -> list[str]:
    """Return the lines for a fact of the GPU engine."""
    if key == "pages":
        return [f"{_from(each['from'])}{each['kind']}: {each['why']}" for each in value]
    return [", ".join(value) if isinstance(value, list) else _text(key, value)]


def _from(start: int) -> str:
    return f"from {size(start)} on " if start else ""


def _text(key: str, value: Any) -> str:
    """Return a fact of the GPU engine as text: bytes and rates with units."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(key, inner)}" for name, inner in value.items())
    if key in ("link", "scattered"):
        return f"{value / 1e9:.3g} GB/s"
    return size(value) if key in ("memory_free", "memory_total", "budget") else str(value)


def _packages() -> dict[str, str | None]:
    """Return the versions of the packages that sparsezc needs, and of optional packages that are installed."""
    from importlib import metadata  # slow to import, and only this command needs it

    found: dict[str, str | None] = {}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            if not name.startswith("cupy"):
                found[name] = None
    return found


def _memory() -> dict[str, int | None]:
    """Return the bytes of memory in all, and those that a new process may use."""
    from sparsezc.memory import machine

    return {"total": machine.total(), "free": machine.available()}


def _cpu() -> dict[str, Any]:
    """Run one product on the CPU engine and check its result."""
    import time

    try:
        start = time.perf_counter()
        from sparsezc.core.matrix import Matrix
        from sparsezc.core.vector import Vector
        from sparsezc.semirings import semiring

        A = Matrix.from_coo([0, 0, 1], [0, 1, 1], [1, 2, 3])
        w = A.mxv(Vector.from_coo([0, 1], [10, 1]), semiring.plus_times).new()
        right = w.to_coo()[1].tolist() == [12, 3]
        elapsed = time.perf_counter() - start
    except Exception as error:  # any error is the reported reason
        return {"available": False, "reason": f"{type(error).__name__}: {error}"}
    if not right:
        return {"available": False, "reason": "a product with a 2 x 2 matrix is wrong"}
    return {"available": True, "reason": f"starting it and a first product took {seconds(elapsed)}", "start": elapsed}


def _gpu(measure: bool) -> dict[str, Any]:
    """Return the facts that the GPU engine reports; without it, those of the NVIDIA driver."""
    try:
        from sparsezc.engines import gpu

        found: dict[str, Any] = gpu.diagnose(measure=measure)
    except Exception as error:
        found = {"available": False, "reason": f"{type(error).__name__}: {error}"}
    return found if found["available"] else {**found, **_driver()}


def _driver(root: Path = Path("/proc/driver/nvidia")) -> dict[str, Any]:
    """Return the cards and the version of a loaded NVIDIA driver, even if Python cannot use it."""
    try:
        text = (root / "version").read_text()
    except OSError:
        return {"driver": None, "cards": []}
    number = next((word for word in text.split() if word[:1].isdigit() and "." in word), None)
    cards = [
        line.partition(":")[2].strip()
        for file in sorted(root.glob("gpus/*/information"))
        for line in file.read_text().splitlines()
        if line.startswith("Model:")
    ]
    return {"driver": number, "cards": cards}
