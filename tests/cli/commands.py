"""A command that must fail, as the tests of the command line run it."""

from __future__ import annotations

from typing import Any

import pytest

from sparsezc.cli import main


def failed(capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    """The one line of a command that must fail."""
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert (code, out) == (1, "")
    assert err.startswith("sparsezc: ")
    assert err.count("\n") == 1
    return err
