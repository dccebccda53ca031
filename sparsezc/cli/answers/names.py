"""The file names that ``--out`` accepts: the suffix selects the format; a wrong name is refused before the run."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sparsezc.exceptions import meant
from sparsezc.io.files.packing import NAMES
from sparsezc.io.files.source import plain_name
from sparsezc.terminal import streams

if TYPE_CHECKING:
    from sparsezc.cli.graph import Graph
    from sparsezc.core.matrix import Matrix

PARQUET = (".parquet", ".pq")
ARROW = (*PARQUET, ".feather", ".arrow")
HDF5 = (".h5", ".hdf5")
_TEXTS = (".txt", ".tsv", ".csv", ".json")
_SUFFIXES = (*_TEXTS, ".npy", ".npz", *ARROW, *HDF5)
_ROWS = (*_TEXTS, ".npy", ".npz", *ARROW)
#: For each form of answer but columns of vertices: its words in a message, and its suffixes.
_FORMS = {
    "numbers": ("numbers are", (".txt", ".json", "-")), "arrays": ("several arrays are", (".npz",)),
    "rows": ("rows are", (*_ROWS, "-")), "table": ("a table is", (*_ROWS, "-")), "graph": ("edges are", (*_ROWS, "-")),
}  # fmt: skip
_PACKAGES = dict.fromkeys(ARROW, ("pyarrow", "arrow")) | dict.fromkeys(HDF5, ("h5py", "hdf5"))


def check(arguments: argparse.Namespace, form: str, read: Sequence[str] = ()) -> None:
    """Check, before the run, that an answer of this form can be written; see :class:`sparsezc.cli.table.Row`.

    `read`: the arguments that name further input files.

    Raises
    ------
    FileMissing, FileIsFolder, FileNotWritten
        The name is empty, is a folder's, or its folder does not exist or is not writable.
    FileFormatError, PackageMissing
        Its suffix is no format's, or needs a package that is not installed.
    InvalidValue
        It is a file that is read.
    """
    if arguments.out is None:
        return
    from sparsezc.exceptions import FileFormatError, InvalidValue
    from sparsezc.io.build.optional import need

    path = Path(arguments.out)
    what, known = _FORMS.get(form, ("", _SUFFIXES))
    graph = form in ("graph", "table") and is_graph(arguments.out)
    fits = graph or arguments.out in known or plain_name(path.name).endswith(known)
    if form in _FORMS and not fits and not _is_stream(path):
        named = ", ".join(each for each in known if each != "-") + ", or -," * ("-" in known)
        nearest = meant(Path(plain_name(path.name)).suffix, known)
        raise FileFormatError(f"--out {path}: {what} written; a name that ends in {named} is needed{nearest}")
    suffix = "" if graph else suffix_of(arguments.out)
    if suffix == "-":
        streams.require_output()
        return
    check_place(path, "--out")
    for name in ("graph", *read):
        source = getattr(arguments, name)
        if source is not None and path.is_file() and Path(source).is_file() and path.samefile(source):
            what = "the graph itself" if name == "graph" else f"the file {source}, which is read"
            raise InvalidValue(f"--out {path} is {what}; another name is needed")
    if suffix in _PACKAGES:
        need(*_PACKAGES[suffix])


def check_place(path: Path, option: str) -> None:
    """Check that a file can be written at a path.

    Raises
    ------
    FileMissing, FileIsFolder, FileNotWritten
        The path is a folder's, or its folder does not exist or is not writable.
    """
    from sparsezc.io.files.atomic_write import FileNotWritten
    from sparsezc.io.files.source import FileIsFolder, FileMissing

    folder = Path(os.path.realpath(path)).parent  # a link is followed
    if path.is_dir():
        raise FileIsFolder(f"{path} is a folder; {option} needs the name of a file")
    if not folder.is_dir():
        raise FileMissing(f"{path}: the folder {folder} does not exist")
    if not _is_stream(path) and not os.access(folder, os.W_OK | os.X_OK):
        raise FileNotWritten(f"{path} cannot be written: the folder {folder} is closed to this user")


def is_graph(path: str) -> bool:
    """Return whether a file name has the suffix of a graph format.

    Raises
    ------
    FileFormatError
        The suffix is of no format, neither of graphs nor of tables.
    """
    from sparsezc.exceptions import FileFormatError
    from sparsezc.io._write import check_target

    if path == "-" or _is_stream(Path(path)):
        return False
    try:
        check_target(Path(path), compress=False)
    except FileFormatError as error:
        if plain_name(path).endswith(_ROWS):
            return False
        raise FileFormatError(f"--out {error}") from None
    return True


def holds_rows(path: str) -> bool:
    """Return whether a file name has the suffix of a format of rows, which graphs may use, too."""
    return plain_name(path).endswith(_ROWS)


def holds_edges(path: str, graph: Graph, edges: Matrix) -> bool:
    """Return whether edges are written as rows with the graph's ids, rather than as a graph's file.

    In formats of rows, names are, but not in ``.npy``; ids are, but not in ``.npz``, which has a matrix, nor without
    edges, as a graph's file has the size.
    """
    if graph.named_by_text:
        return holds_rows(path) and not path.lower().endswith(".npy")
    return graph.ids is not None and edges.nvals > 0 and holds_rows(path) and not path.lower().endswith(".npz")


def is_edge_list(path: str) -> bool:
    """Return whether a file name has the suffix of an edge list, which can be written piece by piece."""
    return path.lower().removesuffix(".gz").endswith((".txt", ".tsv", ".csv", ".parquet", ".pq"))


def suffix_of(path: str) -> str:
    """Return the suffix that selects a file's format; ``.txt`` for pipes and devices, "-" for standard output."""
    from sparsezc.exceptions import FileFormatError
    from sparsezc.io.files.source import FileMissing

    if not path:
        raise FileMissing("the name of the file to write is empty")
    if path == "-":
        return path
    plain = plain_name(Path(path).name)
    packed = Path(path).name.lower().removeprefix(plain)
    found = next((suffix for suffix in _SUFFIXES if plain.endswith(suffix)), None)
    if found is None and _is_stream(Path(path)):
        return ".txt"
    if found is None:
        raise FileFormatError(
            f"--out {path}: the suffix {Path(plain).suffix!r} selects no format"
            f"{meant(Path(plain).suffix, _SUFFIXES)}; known are {', '.join(_SUFFIXES)} ({', '.join(_TEXTS)} also with"
            f" {', '.join(NAMES)}), and - is standard output"
        )
    if packed and found not in _TEXTS:
        how = "gzipped" if packed == ".gz" else f"packed by {NAMES[packed]}"
        raise FileFormatError(f"--out {path}: {found} files are not {how}; a name without {packed} is needed")
    return found


def _is_stream(path: Path) -> bool:
    """Return whether a path is a pipe or a device, or names an open descriptor, such as /dev/stdout."""
    folder = os.path.realpath(path.parent)
    return folder == "/dev" or folder.startswith("/proc/") or (path.exists() and not (path.is_file() or path.is_dir()))
