"""The format of a file by its name, and the module that reads it."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from sparsezc.errors import FileFormatError, InvalidValue, meant
from sparsezc.io.files import packing
from sparsezc.io.files.names import existing, is_piped
from sparsezc.io.files.packing import plain_name
from sparsezc.io.formats import FORMATS, GENERATED, REGISTERED, SUFFIXES

_NEVER_PACKED = ("npz", "emogi", "parquet", "feather", "binsparse")
_TEXT = ("snap", "mtx", "dimacs", "metis", "konect", "networkx")


def is_generated(path: str | os.PathLike[str]) -> bool:
    """Return whether it is the name of a generated graph."""
    return isinstance(path, str) and path.partition(":")[0] in GENERATED and not Path(path).exists()


def format_of(path: Path, format: str | None = None, *, exists: bool = True) -> str:
    """Return the format of a file by the longest known suffix of its name, or the requested one.

    >>> format_of(Path("web-Google.txt.gz"))
    'snap'
    """
    if format is not None and format not in FORMATS:
        nearest = meant(str(format), FORMATS)
        raise InvalidValue(f"format={format!r} is not known{nearest}; choose one of {', '.join(FORMATS)}")
    if format is None and exists and path.is_dir() and any(path.rglob("*.parquet")):
        return "parquet"
    plain = plain_name(path.name)
    packed = path.name.lower().removeprefix(plain)
    suffix = max((suffix for suffix in SUFFIXES if plain.endswith(suffix)), key=len, default=None)
    if format is None and suffix is None and exists and plain.startswith("out."):
        return "konect"
    if format is None and suffix is None:
        if exists:
            _, colon, sizes = path.name.partition(":")
            existing(path, [f"{kind}:{sizes}" for kind in GENERATED] if colon else ())
        made = ", and made graphs such as kron:16, urand:16, grid:100x100"
        known = sorted(each for each in SUFFIXES if each.count(".") == 1)
        others = "; of other names, and pipes, format= (--format) says what they hold"
        raise FileFormatError(
            f"{path}: the suffix {Path(plain).suffix!r} is not known{meant(Path(plain).suffix, known)}; known are "
            f"{', '.join(known)} (text and .sg formats also with {', '.join(packing.SUFFIXES)})"
            + (made + others)
            * exists
        )
    found = format or SUFFIXES[str(suffix)]
    if found in _NEVER_PACKED and packed:
        how = "gzipped" if packed == ".gz" else f"packed by {packing.NAMES[packed]}"
        raise FileFormatError(f"{path}: {found} files are not {how}; a name without {packed} is needed")
    if exists and found not in _TEXT and is_piped(path):
        raise FileFormatError(f"{path} is a pipe or a device; of these text can be read, {found} files must be regular")
    return found


def module_of(kind: str) -> Any:
    """Return the module that reads and writes a format: one of formats/, or one that a program registered."""
    return REGISTERED.get(kind) or import_module(f"sparsezc.io.formats.{kind}")
