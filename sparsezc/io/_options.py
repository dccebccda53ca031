"""The options of the functions that read a graph, checked and parsed once; and the format that a file name implies."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypedDict, Unpack
from urllib.parse import unquote, urlsplit

from sparsezc.exceptions import FileFormatError, GraphblasException, InvalidValue, add_name, meant
from sparsezc.expr.options import flag
from sparsezc.io.build import csr_builder
from sparsezc.io.build import weights as weighting
from sparsezc.io.build.checked_edges import checked_format
from sparsezc.io.build.limits import unexpected
from sparsezc.io.build.table_columns import USUAL, Names, TableColumns
from sparsezc.io.build.weights import FROM_FILE, Weights
from sparsezc.io.files import packing
from sparsezc.io.files.source import existing, file_name, is_piped, plain_name
from sparsezc.io.formats import FORMATS, GENERATED, REGISTERED, SUFFIXES

TABLES = ("snap", "parquet", "feather", "networkx")  # formats whose columns can be chosen and vertices may have names
_NEVER_PACKED = ("npz", "emogi", "parquet", "feather", "binsparse")
_ARCHIVES = (".zip", ".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".7z", ".rar")  # as collections of graphs distribute
_TEXT = ("snap", "mtx", "dimacs", "metis", "konect", "networkx")


class Reading(TypedDict, total=False):
    """The keyword options of all functions that read a graph; :func:`sparsezc.io.read` documents them."""

    directed: bool | None
    symmetrize: bool
    weights: Any
    placement: str | None
    dup_op: Any
    format: str | None
    verify: bool
    source_col: str | None
    target_col: str | None
    weight_col: str | None
    type_col: str | None
    type: str | None


@dataclass(frozen=True)
class ReadOptions:
    """The options of :func:`sparsezc.io.read`, parsed.

    Attributes
    ----------
    kind : str or None
        The format of the file; None for a generated graph.
    both : bool
        Every edge counts in both directions.
    merge : str
        The name of the operator that merges duplicates.
    adds_duplicates : bool
        Duplicates are summed, because the format (.npz) defines them as sums and `dup_op` is not given.
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
    columns: TableColumns = USUAL

    @classmethod
    def parse(cls, path: str | os.PathLike[str], *, relabel: bool = False, **options: Unpack[Reading]) -> ReadOptions:
        """Parse the options of :func:`sparsezc.io.read` for a graph.

        Raises
        ------
        InvalidValue
            An argument is malformed, or two contradict each other; the name is empty, or `format` is given with a
            generated graph.
        FileFormatError
            As for :func:`format_of`.
        TypeError
            An option is unknown.

        Examples
        --------
        >>> ReadOptions.parse("kron:4", symmetrize=True).both
        True
        """
        if unknown := options.keys() - Reading.__annotations__:
            raise unexpected("read", unknown, Reading)
        directed, symmetrize = options.get("directed"), options.get("symmetrize", False)
        verify, format = options.get("verify", False), options.get("format")
        given, dup_op = options.get("weights"), options.get("dup_op")
        wanted = FROM_FILE if given is None else weighting.parse(given)
        merge = "min" if dup_op is None else csr_builder.merge_name(dup_op)
        columns = _columns(options)
        for name, value in (("symmetrize", symmetrize), ("relabel", relabel), ("verify", verify)):
            if value is not False:
                flag(name, value)
        if directed is not None:
            flag("directed", directed)
        if symmetrize and directed:
            raise InvalidValue("directed=True and symmetrize=True contradict each other; give one of them")
        if not (called := file_name(path, "the graph")):
            raise InvalidValue("the name of the graph is empty; a file or a generated graph such as kron:16 is needed")
        if "://" in called:
            raise InvalidValue(f"{called} is an address; a file is needed{_fetched(called)}")
        try:
            kind = None if is_generated(path) else format_of(Path(path), format)
            if kind is None and format is not None:
                raise InvalidValue(f"format={format!r} is for files; {path} is a generated graph, so leave it out")
            if (columns.kind is None) != (columns.only is None):
                raise InvalidValue("type_col= and type= are needed together: a column, and the type of edges to read")
            if columns.named and (kind not in TABLES or (columns.kind and kind == "networkx")):
                raise InvalidValue(
                    f"{path} is no table whose columns have names; source_col=, target_col= and weight_col= are for"
                    f" the formats {', '.join(TABLES)}"
                )
        except GraphblasException as error:
            add_name(error, path)
            raise
        both = bool(symmetrize) or (directed is not None and not directed)
        adds = kind == "npz" and dup_op is None and wanted.kind == "file"
        return cls(
            kind, directed, both, wanted, bool(relabel), options.get("placement"), merge, adds, bool(verify), columns
        )

    @property
    def named(self) -> bool:
        """Return whether vertices are read as names: with `relabel`, in a format whose vertices always have names."""
        return self.relabel and self.kind == "networkx"

    def check_direction(self, path: str | os.PathLike[str], undirected: bool) -> None:
        """Raise InvalidValue if directed=True is given for a graph whose format makes it undirected."""
        if self.directed and undirected:
            raise InvalidValue(f"directed=True, but {path} is undirected by its format; leave directed out")


def _columns(options: Reading) -> TableColumns:
    """Check the options that choose columns, and return the columns."""
    given: tuple[tuple[str, Any], ...] = (
        ("source_col", options.get("source_col")),
        ("target_col", options.get("target_col")),
        ("weight_col", options.get("weight_col")),
        ("type_col", options.get("type_col")),
        ("type", options.get("type")),
    )
    for option, name in given:
        if name is not None and (not isinstance(name, str) or not name):
            raise InvalidValue(f"{option}={name!r}; the name of a {'type' if option == 'type' else 'column'} is needed")
    if all(name is None for _, name in given):
        return USUAL
    source, target, weight, kind, only = (name for _, name in given)
    if source is not None and source == target:
        raise InvalidValue(f"source_col and target_col are both {source!r}; two columns are needed")
    return TableColumns(source, target, weight, kind, only, None if only is None else Names())


def _fetched(address: str) -> str:
    """Return the end of a message that says how to download the file of an address.

    >>> _fetched("file:///tmp/a%20b.csv")
    ', here /tmp/a b.csv'
    """
    kind = address.partition("://")[0].lower()
    if kind == "file":
        return f", here {unquote(urlsplit(address).path)}"
    if kind == "s3":
        return f", such as aws s3 cp {address} . makes"
    if kind in ("http", "https", "ftp"):
        return f", such as curl --remote-name {address} makes"
    return f"; copy it with the tools of {kind}:// first"


def is_generated(path: str | os.PathLike[str]) -> bool:
    """Return whether `path` names a generated graph, and no file."""
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
    suffix = max(filter(plain.endswith, SUFFIXES), key=len, default=None)
    if format is None and suffix is None and exists and plain.startswith("out."):
        return "konect"
    if format is None and suffix is None:
        if not exists and path.is_dir():
            raise FileFormatError(f"{path} is a folder; a file in it, whose suffix chooses the format, is needed")
        if exists:
            _, colon, sizes = path.name.partition(":")
            existing(path, [f"{kind}:{sizes}" for kind in GENERATED] if colon else ())
        if exists and Path(plain).suffix in _ARCHIVES:
            raise FileFormatError(f"{path} is an archive; unpack it, and give the file in it that holds the graph")
        generated = ", and generated graphs such as kron:16, urand:16, grid:100x100"
        known = sorted(each for each in SUFFIXES if each.count(".") == 1)
        others = "; for other names, and for pipes, format= (--format) is needed"
        raise FileFormatError(
            f"{path}: the suffix {Path(plain).suffix!r} is not known{meant(Path(plain).suffix, known)}; known are "
            f"{', '.join(known)} (text and .sg formats also with {', '.join(packing.SUFFIXES)})"
            + (generated + others)
            * exists
        )
    found = format or SUFFIXES[str(suffix)]
    if found in _NEVER_PACKED and packed:
        how = "gzipped" if packed == ".gz" else f"packed by {packing.NAMES[packed]}"
        raise FileFormatError(f"{path}: {found} files are not {how}; a name without {packed} is needed")
    if exists and found not in _TEXT and is_piped(path):
        raise FileFormatError(f"{path} is a pipe or a device; these can have text only, {found} files must be regular")
    return found


def module_of(kind: str) -> Any:
    """Return the module that reads and writes a format: one of formats/, or one that a program registered, checked."""
    if kind in REGISTERED:
        return checked_format(kind, REGISTERED[kind])
    return import_module(f"sparsezc.io.formats.{kind}")
