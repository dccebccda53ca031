"""Helpers for tests that run whole benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.harness import publish
from tests.emulator.device import why_unavailable

emulated = pytest.mark.skipif(why_unavailable() is not None, reason=str(why_unavailable()))

#: Options that make a run of `gap` small.
SMALL = ("--trials", "2", "--sources", "2", "--iterations", "4", "--copy-mib", "1")


def cases(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = publish.content(path)["cases"]
    return found
