"""What tests of whole runs share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.emulator.device import why_unavailable

emulated = pytest.mark.skipif(why_unavailable() is not None, reason=str(why_unavailable()))

#: Options that make a run of `gap` small.
SMALL = ("--trials", "2", "--sources", "2", "--iterations", "4", "--copy-mib", "1")


def cases(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text())["cases"]
    return found
