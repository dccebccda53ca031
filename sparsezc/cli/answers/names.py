"""The names that ``--out`` accepts: the suffix says the format, and a wrong name is refused before the work."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from sparsezc.io.files.packing import NAMES, plain_name
from sparsezc.terminal import streams
from sparsezc.terminal.suggest import meant

_TABLES = (".npy", ".csv")
_NUMBERS = (".txt", ".json")
PARQUET = (".parquet", ".pq")
ARROW = (*PARQUET, ".feather", ".arrow")
HDF5 = (".h5", ".hdf5")
_TEXTS = (".txt", ".tsv", ".csv", ".json")
_SUFFIXES = (*_TEXTS, ".npy", ".npz", *ARROW, *HDF5)
_PACKAGES = dict.fromkeys(ARROW, ("pyarrow", "arrow")) | dict.fromkeys(HDF5, ("h5py", "hdf5"))


def check(arguments: argparse.Namespace) -> None:
    """Check, before the work, that the answer's file can be written.

    Raises
    ------
    FileMissing, FileIsFolder, FileNotWritten
        The name is empty, is a folder's, or its folder does not exist or is not writable.
    FileFormatError, PackageMissing
        Its suffix is no format's, or needs a package that is not installed.
    InvalidValue
        It is the graph's own file.
    """
    if arguments.out is None:
        return
    from sparsezc.errors import InvalidValue
    from sparsezc.io.build.optional import need
    from sparsezc.io.files.atomic_write import FileNotWritten
    from sparsezc.io.files.names import FileIsFolder, FileMissing

    suffix = suffix_of(arguments.out)
    if suffix == "-":
        streams.require_output()
        return
    path, graph = Path(arguments.out), Path(arguments.graph)
    folder = Path(os.path.realpath(path)).parent  # a link is followed
    if path.is_dir():
        raise FileIsFolder(f"{path} is a folder; --out needs the name of a file")
    if not folder.is_dir():
        raise FileMissing(f"{path}: the folder {folder} does not exist")
    if not _is_stream(path) and not os.access(folder, os.W_OK | os.X_OK):
        raise FileNotWritten(f"{path} cannot be written: the folder {folder} is closed to this user")
    if graph.is_file() and path.is_file() and graph.samefile(path):
        raise InvalidValue(f"--out {path} is the graph itself; another name is needed")
    if suffix in _PACKAGES:
        need(*_PACKAGES[suffix])


def check_matrix(path: str, form: str) -> None:
    """Refuse, before the work, a name that a graph, a table, rows, arrays or numbers cannot be written to.

    Raises
    ------
    FileFormatError
        Its suffix says no format of those.
    FileMissing
        Its folder is not there.
    """
    from sparsezc.errors import FileFormatError
    from sparsezc.io._write import check_target
    from sparsezc.io.files.names import FileMissing

    if form == "arrays" and not path.lower().endswith(".npz"):
        raise FileFormatError(f"--out {path}: several arrays are written; a name that ends in .npz is needed")
    if form == "numbers" and path != "-" and not plain_name(path).endswith(_NUMBERS):
        raise FileFormatError(
            f"--out {path}: numbers are written; a name that ends in {' or '.join(_NUMBERS)}, or -, is needed"
        )
    if form == "rows" and not path.lower().endswith(_TABLES):
        raise FileFormatError(f"--out {path}: rows are written; a name that ends in {' or '.join(_TABLES)} is needed")
    if form == "graph" or (form == "table" and not path.lower().endswith(_TABLES)):
        check_target(Path(path), compress=False)
    if not Path(path).resolve().parent.is_dir():
        raise FileMissing(f"{path}: the folder {Path(path).resolve().parent} does not exist")


def is_edge_list(path: str) -> bool:
    """Return whether a name asks for a list of edges, which can be written piece by piece."""
    return path.lower().removesuffix(".gz").endswith((".txt", ".tsv", ".csv", ".parquet", ".pq"))


def suffix_of(path: str) -> str:
    """Return the format of a name's suffix; ``.txt`` for pipes and devices, and "-" for standard output."""
    from sparsezc.errors import FileFormatError
    from sparsezc.io.files.names import FileMissing

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
            f"--out {path}: the suffix {Path(plain).suffix!r} says no format"
            f"{meant(Path(plain).suffix, _SUFFIXES)}; known are {', '.join(_SUFFIXES)} ({', '.join(_TEXTS)} also with"
            f" {', '.join(NAMES)}), and - is standard output"
        )
    if packed and found not in _TEXTS:
        how = "gzipped" if packed == ".gz" else f"packed by {NAMES[packed]}"
        raise FileFormatError(f"--out {path}: {found} files are not {how}; a name without {packed} is needed")
    return found


def _is_stream(path: Path) -> bool:
    """Return whether it is a pipe or a device, or names an open descriptor, such as /dev/stdout."""
    folder = os.path.realpath(path.parent)
    return folder == "/dev" or folder.startswith("/proc/") or (path.exists() and not (path.is_file() or path.is_dir()))
