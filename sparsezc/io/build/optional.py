"""Optional packages: imported at first use; if one is missing, the error names the extra that installs it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sparsezc.exceptions import GraphblasException


class PackageMissing(GraphblasException, ImportError):
    """The error for a package that is optional for sparsezc, needed here, and cannot be imported."""


def need(module: str, extra: str | None = None) -> Any:
    """Import a module of an optional package.

    Parameters
    ----------
    module : str
    extra : str, optional
        The extra of sparsezc that installs the package; without it the message names the package itself.

    Raises
    ------
    PackageMissing
        It is also an ImportError; the message says what to install.

    Examples
    --------
    >>> need("no_such_package", "arrow")
    Traceback (most recent call last):
        ...
    sparsezc.io.build.optional.PackageMissing: no_such_package is needed for this (No module named 'no_such_package'); \
pip install "sparsezc[arrow]" brings it
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        asked = f'"sparsezc[{extra}]"' if extra else package
        raise PackageMissing(f"{package} is needed for this ({error}); pip install {asked} brings it") from error
