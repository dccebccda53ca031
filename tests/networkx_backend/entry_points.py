"""The entry points of pyproject.toml, for a checkout that is not installed, or whose installation lacks them."""

from __future__ import annotations

import importlib
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def write(folder: Path) -> Path:
    """Write the package's metadata into `folder`, so that a Python with it on its path finds the entry points."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    made = folder / f"sparsezc-{table['version']}.dist-info"
    made.mkdir()
    (made / "METADATA").write_text(f"Metadata-Version: 2.1\nName: sparsezc\nVersion: {table['version']}\n")
    groups = table["entry-points"].items()
    lines = [line for group, names in groups for line in (f"[{group}]", *(f"{k} = {v}" for k, v in names.items()))]
    (made / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


def provide(folder: Path) -> None:
    """Give this process the entry points, if it lacks them, before NetworkX reads them at its first import."""
    if not entry_points(group="networkx.backends", name="sparsezc"):
        sys.path.insert(0, str(write(folder)))
        importlib.invalidate_caches()
