"""The number of compiled kernels that are kept is limited: users' functions make new ones without end."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest

import sparsezc as gb
from sparsezc.engines.gpu.runtime import codegen


def test_the_latest_used_are_kept(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codegen, "_compiled", OrderedDict())
    monkeypatch.setattr(codegen, "_MOST_KERNELS", 6)
    v = gb.Vector.from_coo([0, 2], [1, 2], "INT64", size=4).to("gpu")
    first = None
    for c in range(6):
        function = gb.unary.register_anonymous(lambda x: x * 3 + c)  # noqa: B023  (translated at once)
        assert v.apply(function).new().to_coo()[1].tolist() == [3 + c, 6 + c]
        assert v.apply(gb.unary.ainv).new().to_coo()[1].tolist() == [-1, -2]
        positions = [kernel for key, kernel in codegen._compiled.items() if "positions" in key]
        first = first or positions
        assert positions == first  # each use makes it the latest, so it is never compiled again
    assert len(codegen._compiled) == 6  # of ten that were compiled
