"""The options of ``gb.io.read`` and ``gb.io.convert``, checked in one place, and the format of a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from sparsezc.errors import FileFormatError, GraphblasException, InvalidValue
from sparsezc.expr.options import flag
from sparsezc.io.build import edge_order
from sparsezc.io.build import weights as weighting
from sparsezc.io.build.weights import FROM_FILE, Weights
from sparsezc.io.files.source import add_name, existing, is_piped

#: The formats, each the module of this name in formats/ or one that a program registers, and their files' suffixes.
FORMATS: dict[str, tuple[str, ...]] = {
    "snap": (".txt", ".el", ".wel", ".e", ".edges", ".tsv", ".csv"),
    "mtx": (".mtx",),
    "dimacs": (".gr",),
    "metis": (".graph",),
    "gap": (".sg", ".wsg"),
    "emogi": (".bel", ".bel.col", ".bel.dst", ".bel.val"),
    "npz": (".npz",),
    "parquet": (".parquet", ".pq"),
    "binsparse": (".h5", ".hdf5"),
}
SUFFIXES = {suffix: name for name, suffixes in FORMATS.items() for suffix in suffixes}
#: Names of generated graphs, the part before the colon.
GENERATED = ("kron", "urand", "grid", "path", "star")
_NEVER_GZIPPED = ("npz", "emogi", "parquet", "binsparse")
_TEXT = ("snap", "mtx", "dimacs", "metis")


_registered: dict[str, Any] = {}


def module_of(kind: str) -> Any:
    """Return the module that reads and writes a format: one of formats/, or one that a program registered."""
    return _registered.get(kind) or import_module(f"sparsezc.io.formats.{kind}")


def register_format(name: str, format: Any, suffixes: Sequence[str]) -> None:
    """Add a program's own file format to ``gb.io.read``, ``write``, ``convert`` and the command line.

    Parameters
    ----------
    name : str
        The name for ``format=`` and ``--format``.
    format : module or object
        ``read(path, *, weights, placement, direct)`` returns :class:`~sparsezc.io.build.edge_list.Edges` or a
        :class:`~sparsezc.memory.csr.Csr`; ``write(csr, output, **options)`` writes to ``output.open()``. For
        conversions in bounded memory, ``edge_chunks(path, weights)``.
    suffixes : sequence of str
        Suffixes of file names, each with its dot.

    Raises
    ------
    InvalidValue
        The name or a suffix is taken or malformed.

    Examples
    --------
    tests/extending/pairs_format.py is a format in thirty lines.
    """
    if name in FORMATS or not name.isidentifier():
        raise InvalidValue(f"format {name!r} cannot be registered: a new name, of letters and digits, is needed")
    for suffix in suffixes:
        if suffix in SUFFIXES or not suffix.startswith(".") or suffix != suffix.lower():
            raise InvalidValue(f"suffix {suffix!r} cannot be registered: a new one, such as '.pairs', is needed")
    _registered[name] = format
    FORMATS[name] = tuple(suffixes)
    SUFFIXES.update(dict.fromkeys(suffixes, name))


@dataclass(frozen=True)
class ReadOptions:
    """The options of :func:`sparsezc.io.read`, parsed.

    Attributes
    ----------
    kind : str or None
        The format of the file; None: a generated graph, which has none.
    both : bool
        Every edge counts in both directions.
    merge : str
        The name of the operator that merges duplicates.
    adds_duplicates : bool
        Duplicates are added, as this format means them so (SciPy's do) and no other operator was given.
    """

    kind: str | None
    directed: bool | None = None
    both: bool = False
    weights: Weights = FROM_FILE
    relabel: bool = False
    placement: str | None = None
    merge: str = "min"
    adds_duplicates: bool = False
    verify: bool = False

    @classmethod
    def parse(
        cls,
        path: str | os.PathLike[str],
        directed: bool | None = None,
        symmetrize: bool = False,
        weights: Any = None,
        relabel: bool = False,
        placement: str | None = None,
        *,
        dup_op: Any = None,
        format: str | None = None,
        verify: bool = False,
    ) -> ReadOptions:
        """Parse the arguments of :func:`sparsezc.io.read`.

        Raises
        ------
        InvalidValue
            An argument is malformed, or two contradict each other; the name is empty, or a format is given where no
            file is read.
        FileFormatError
            As for :func:`format_of`.

        Examples
        --------
        >>> ReadOptions.parse("kron:4", symmetrize=True).both
        True
        """
        wanted = FROM_FILE if weights is None else weighting.parse(weights)
        merge = "min" if dup_op is None else edge_order.merge_name(dup_op)
        for name, value in (("symmetrize", symmetrize), ("relabel", relabel), ("verify", verify)):
            if value is not False:
                flag(name, value)
        if directed is not None:
            flag("directed", directed)
        if symmetrize and directed:
            raise InvalidValue("directed=True and symmetrize=True contradict each other; give one of them")
        if not os.fspath(path):
            raise InvalidValue("the name of the graph is empty; a file, or a graph to make such as kron:16, is needed")
        try:
            kind = None if is_generated(path) else format_of(Path(path), format)
            if kind is None and format is not None:
                raise InvalidValue(f"format={format!r} is for files; {path} is made, so leave it out")
        except GraphblasException as error:
            add_name(error, path)
            raise
        both = bool(symmetrize) or (directed is not None and not directed)
        adds = kind == "npz" and dup_op is None and wanted.kind == "file"
        return cls(kind, directed, both, wanted, bool(relabel), placement, merge, adds, bool(verify))

    def check_direction(self, path: str | os.PathLike[str], undirected: bool) -> None:
        """Raise InvalidValue if directed=True is given for a graph whose format makes it undirected."""
        if self.directed and undirected:
            raise InvalidValue(f"directed=True, but {path} is undirected by its format; leave directed out")


def is_generated(path: str | os.PathLike[str]) -> bool:
    """Return whether it is the name of a generated graph."""
    return isinstance(path, str) and path.partition(":")[0] in GENERATED and not Path(path).exists()


def format_of(path: Path, format: str | None = None, *, exists: bool = True) -> str:
    """Return the format of a file by the longest known suffix of its name, or the requested one.

    >>> format_of(Path("web-Google.txt.gz"))
    'snap'
    """
    if format is not None and format not in FORMATS:
        raise InvalidValue(f"format={format!r} is not known; choose one of {', '.join(FORMATS)}")
    name = path.name.lower()
    plain = name.removesuffix(".gz")
    suffix = max((suffix for suffix in SUFFIXES if plain.endswith(suffix)), key=len, default=None)
    if format is None and suffix is None:
        if exists:
            existing(path)
        made = ", and made graphs such as kron:16, urand:16, grid:100x100"
        others = "; of other names, and pipes, format= (--format) says what they hold"
        raise FileFormatError(
            f"{path}: the suffix {Path(plain).suffix!r} is not known; known are "
            f"{', '.join(sorted(SUFFIXES))} (text and .sg formats also with .gz)" + (made + others) * exists
        )
    found = format or SUFFIXES[str(suffix)]
    if found in _NEVER_GZIPPED and name.endswith(".gz"):
        raise FileFormatError(f"{path}: {found} files are not gzipped; a name without .gz is needed")
    if exists and found not in _TEXT and is_piped(path):
        raise FileFormatError(f"{path} is a pipe or a device; of these text can be read, {found} files must be regular")
    return found
