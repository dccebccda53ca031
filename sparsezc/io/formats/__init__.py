"""File formats, one a module, each with `read` and `write`; their names and suffixes, and names of generated graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sparsezc.exceptions import InvalidValue

#: The suffixes of each format's files; a format is the module of its name in formats/, or registered by a program.
FORMATS: dict[str, tuple[str, ...]] = {
    "snap": (".txt", ".el", ".wel", ".e", ".edges", ".tsv", ".csv"),
    "mtx": (".mtx",),
    "dimacs": (".gr",),
    "metis": (".graph",),
    "gap": (".sg", ".wsg"),
    "emogi": (".bel", ".bel.col", ".bel.dst", ".bel.val"),
    "npz": (".npz",),
    "parquet": (".parquet", ".pq"),
    "feather": (".feather", ".arrow"),
    "networkx": (".graphml", ".gml", ".net", ".paj"),
    "konect": (),  # its files are named out.NAME, without a suffix
    "binsparse": (".h5", ".hdf5"),
}
SUFFIXES = {suffix: name for name, suffixes in FORMATS.items() for suffix in suffixes}
#: Names of generated graphs, the part before the colon.
GENERATED = ("kron", "urand", "grid", "path", "star")
#: The formats that programs have registered, each a module or an object with its functions.
REGISTERED: dict[str, Any] = {}


def register_format(name: str, format: Any, suffixes: Sequence[str]) -> None:
    """Add a program's own file format to ``gb.io.read``, ``write``, ``convert`` and the command line.

    Parameters
    ----------
    name : str
        The name for ``format=`` and ``--format``.
    format : module or object
        ``read(path, *, weights, placement, direct)`` returns :class:`Edges`; ``write(csr, output, **options)`` writes
        to ``output.open()``. ``edge_chunks(path, weights)``, which returns :class:`EdgeChunks`, is needed only for
        conversions in bounded memory.
    suffixes : sequence of str
        Suffixes of file names, each with its dot.

    Raises
    ------
    InvalidValue
        The name or a suffix is taken or malformed, or the format has neither `read` nor `write`.

    Notes
    -----
    Edges are checked as those of other formats: arrays of one length, ids of integers, from 0 to the sizes. A file that
    fails is refused with :class:`~sparsezc.exceptions.FileFormatError`.

    Examples
    --------
    docs/howto/extend.md adds a format in thirty lines.
    """
    if name in FORMATS or not name.isidentifier():
        raise InvalidValue(f"format {name!r} cannot be registered: a new name, of letters and digits, is needed")
    if not any(callable(getattr(format, each, None)) for each in ("read", "write")):
        raise InvalidValue(f"format {name!r}: {format!r} has neither `read` nor `write`; a module or object is needed")
    if isinstance(suffixes, str):
        raise InvalidValue(f"suffixes is the text {suffixes!r}; a list such as [{suffixes!r}] is needed")
    for suffix in suffixes:
        if suffix in SUFFIXES or not suffix.startswith(".") or suffix != suffix.lower():
            raise InvalidValue(f"suffix {suffix!r} cannot be registered: a new one, such as '.pairs', is needed")
    REGISTERED[name] = format
    FORMATS[name] = tuple(suffixes)
    SUFFIXES.update(dict.fromkeys(suffixes, name))
