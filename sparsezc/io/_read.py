"""``gb.io.read``: one entry for every format and every made graph."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from sparsezc.errors import FileFormatError, InvalidValue, OutOfMemory
from sparsezc.expr.options import flag
from sparsezc.io.build import csr_builder, edge_order
from sparsezc.io.build import weights as weighting
from sparsezc.io.build.csr_chunks import unweighted
from sparsezc.io.files.piped import is_piped, seekable
from sparsezc.io.files.source import existing, naming
from sparsezc.io.hdf5 import aligned_file, csr_file
from sparsezc.memory.budget import resolve
from sparsezc.memory.csr import Csr
from sparsezc.memory.placement import is_file
from sparsezc.terminal.progress import task, working

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix

#: The formats: each is the module of this name, with `SUFFIXES`, `read` and perhaps `write`.
FORMATS = ("snap", "mtx", "dimacs", "metis", "gap", "emogi", "npz", "parquet", "binsparse")
#: Names of made graphs, the part before the colon.
MADE = ("kron", "urand", "grid", "path", "star")
_NEVER_GZIPPED = ("npz", "emogi", "parquet", "binsparse")
_TEXT = ("snap", "mtx", "dimacs", "metis")


@overload
def read(
    path: str | os.PathLike[str], directed: bool | None = None, symmetrize: bool = False, weights: Any = None,
    relabel: Literal[False] = False, placement: str | None = None, *, dup_op: Any = None, format: str | None = None,
    verify: bool = False,
) -> Matrix: ...  # fmt: skip
@overload
def read(
    path: str | os.PathLike[str], directed: bool | None = None, symmetrize: bool = False, weights: Any = None,
    *, relabel: Literal[True], placement: str | None = None, dup_op: Any = None, format: str | None = None,
    verify: bool = False,
) -> tuple[Matrix, NDArray[np.int64]]: ...  # fmt: skip
@overload
def read(
    path: str | os.PathLike[str], directed: bool | None = None, symmetrize: bool = False, weights: Any = None,
    relabel: bool = False, placement: str | None = None, *, dup_op: Any = None, format: str | None = None,
    verify: bool = False,
) -> Matrix | tuple[Matrix, NDArray[np.int64]]: ...  # fmt: skip
def read(
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
) -> Matrix | tuple[Matrix, NDArray[np.int64]]:
    """Read a graph from a file, or make one, as an adjacency matrix.

    Parameters
    ----------
    path : str or path
        A file whose name ends in a known suffix, or the name of a made graph: ``kron:SCALE[:EDGEFACTOR]``,
        ``urand:SCALE[:EDGEFACTOR]``, ``grid:ROWSxCOLS``, ``path:N``, ``star:N``, each perhaps with options as in
        ``kron:20?seed=7&weights=1-255``.
    directed : bool, optional
        False: every edge counts in both directions. None: as the format says (edge lists and .gr are directed).
    symmetrize : bool
        Add the transpose: the same as ``directed=False``, for matrices that are directed by format.
    weights : None, bool, dtype or str
        None: the file's values, in the type that the file states, or else INT64 (UINT64 where one does not fit) for
        whole numbers and FP64 for fractions; True everywhere (BOOL, iso-valued) where the file has none, as .sg. False:
        the pattern only. A type: the file's values, converted to it as GraphBLAS does (integers wrap, floats saturate
        on their way to integers, NaN becomes 0 there). ``"narrowest"``: as None, but whole numbers whose type the file
        does not state in the smallest type that holds them (UINT8 for 1 to 255), so that a GPU reads fewer bytes.
        ``"hash:LOW-HIGH"``: made whole numbers in such a type, of the numbers that the two vertices have in the matrix:
        the same for (i, j) and (j, i), and others with `relabel`.
    relabel : bool
        Number only the ids that occur, in ascending order.
    placement : str, optional
        Where the arrays are built: "auto" or one of ``sparsezc.memory.placement.RECORDS``; None leaves it to
        ``gb.config``. "mapped" leaves them in the file, a .h5 that sparsezc wrote, and opens it without reading them:
        what "auto" does on a GPU if the file is large (docs/formats.md). The CPU engine reads it all the same.
    dup_op : str, BinaryOp or Monoid, optional
        How the values of edges that occur more than once become one: min, max, plus, times, first, second, any, lor,
        land or lxor. None: "plus" for .npz, where duplicates mean their sum, and "min" for all other formats (edge
        lists, .mtx, .gr, .graph, .sg, .wsg, .bel, .parquet; .h5 files with duplicates are refused). What `symmetrize`
        adds is merged with "min" in .npz too.
    format : str, optional
        Read the file as this format ("snap", "mtx", "dimacs", "metis", "gap", "emogi", "npz", "parquet" or
        "binsparse"), whatever its name.
    verify : bool
        Compare the whole of a .h5 file that sparsezc wrote with its checksums at once. Without it, what is read is
        compared when it is read, and what "mapped" leaves in the file when it is first used.

    Returns
    -------
    Matrix, shape (n, n)
        Or (Matrix, ids) with `relabel`: row i stands for the vertex that has number ``ids[i]`` without it (ids are
        int64, shape (n,)). Ids are the file's; those of formats that count from 1 are lowered by one.

    Raises
    ------
    FileFormatError
        The file is empty, damaged or not of its format; the message has file, line, what was found and needed.
    FileNotFoundError, IsADirectoryError
        There is no such file.
    InvalidValue
        An argument that is not understood.
    OutOfMemory
        The graph does not fit; the message has the bytes.

    Notes
    -----
    In a narrow type, which is that of made weights, sums of plain statements may wrap around, as in python-graphblas;
    the algorithms widen it. ``A.dup("INT64")`` is the same matrix in a wider type.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.io.read("grid:3x4")
    >>> A.nrows, A.nvals, A.dtype
    (12, 34, BOOL)
    >>> A = gb.io.read("path:3?weights=200-200")
    >>> A.reduce_scalar("plus").new().value, A.dup("INT64").reduce_scalar("plus").new().value
    (32, 800)
    """
    from sparsezc.core.matrix import Matrix

    csr, ids = read_csr(
        path, directed, symmetrize, weights, relabel, placement, dup_op=dup_op, format=format, verify=verify
    )
    matrix: Matrix = Matrix._from_csr(csr, adopt=True)  # nobody else has these arrays
    return matrix if ids is None else (matrix, ids)


def read_csr(
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
) -> tuple[Csr, NDArray[np.int64] | None]:
    """What :func:`read` does, as a plain :class:`~sparsezc.memory.csr.Csr` and the ids (None without `relabel`)."""
    wanted, merge = weighting.parse(weights), None if dup_op is None else edge_order.merge_name(dup_op)
    for name, value in (("symmetrize", symmetrize), ("relabel", relabel), ("verify", verify)):
        flag(name, value)
    if directed is not None:
        directed = flag("directed", directed)
    if symmetrize and directed:
        raise InvalidValue("directed=True and symmetrize=True contradict each other; give one of them")
    if not os.fspath(path):
        raise InvalidValue("the name of the graph is empty; a file, or a graph to make such as kron:16, is needed")
    try:
        with task(), naming(path):
            return _read(path, directed, symmetrize, wanted, relabel, placement, merge, format, verify)
    except OutOfMemory:
        raise
    except MemoryError as error:
        raise OutOfMemory(f"{path} does not fit the host's memory: {error}") from None


def _read(
    path: str | os.PathLike[str], directed: bool | None, symmetrize: bool, wanted: weighting.Weights, relabel: bool,
    placement: str | None, merge: str | None, format: str | None, verify: bool,
) -> tuple[Csr, NDArray[np.int64] | None]:  # fmt: skip
    both = symmetrize or directed is False
    kind = kind_of(path, format)
    more = {}
    if kind == "binsparse":
        more["verify"] = verify
    elif verify:
        raise csr_file.unchecked(path)
    elif is_file(placement):
        resolve(placement, 0, 0)  # refuses before the work
    if kind is None:
        generate = import_module("sparsezc.io.build.generate")
        wanted = generate.weights_of(str(path), generate.parse(str(path)), wanted)
        found: Csr | csr_builder.Edges = generate.make(str(path), wanted, placement)
    else:
        module = import_module(f"sparsezc.io.formats.{kind}")
        direct = not (both or relabel)
        with seekable(path) as file:
            found = module.read(Path(file), weights=wanted, placement=placement, direct=direct, **more)
    if directed and (found.symmetric if isinstance(found, Csr) else found.undirected):
        raise InvalidValue(f"directed=True, but {path} is undirected by its format; leave directed out")
    if isinstance(found, Csr):
        if not relabel and (found.symmetric or not both):
            return found, None
        with working("taking the rows apart"):
            found = as_edges(found)
    ids = None
    if merge is None and wanted.kind == "file" and added_up(path, format):
        merge = "plus"
        if both:  # the other directions are no duplicates to add
            found, merge = as_edges(csr_builder.build(found, placement="host", dup_op="plus")), "min"
    if relabel:
        with working("numbering the ids"):
            found, ids = csr_builder.relabel(found)
    return csr_builder.build(found, wanted, placement=placement, dup_op=merge or "min", symmetrize=both), ids


def is_made(path: str | os.PathLike[str]) -> bool:
    """Whether it is the name of a made graph."""
    return isinstance(path, str) and path.partition(":")[0] in MADE and not Path(path).exists()


def kind_of(path: str | os.PathLike[str], format: str | None = None) -> str | None:
    """The format of a file, or the one asked for; None: a made graph, which has none.

    Raises
    ------
    InvalidValue
        A format was asked for where nothing is read.
    """
    if not is_made(path):
        return format_of(Path(path), format)
    if format is not None:
        raise InvalidValue(f"format={format!r} is for files; {path} is made, so leave it out")
    return None


def added_up(path: str | os.PathLike[str], format: str | None = None) -> bool:
    """Whether duplicates of this file mean their sum, as SciPy's do."""
    return kind_of(path, format) == "npz"


def ready_file(path: str | os.PathLike[str], format: str | None = None) -> aligned_file.Ready | None:
    """What is known of a file that lies ready and so has checksums; None for other files and made graphs."""
    return csr_file.find(Path(path)) if kind_of(path, format) == "binsparse" else None


def as_edges(csr: Csr) -> csr_builder.Edges:
    """A CSR as edges again."""
    rows = np.repeat(np.arange(csr.nrows, dtype=np.int64), np.diff(csr.indptr))
    values = None if unweighted(csr) else csr.values.read()
    if csr.iso and values is not None:
        values = np.broadcast_to(values, csr.nvals)
    rows, cols = csr_builder.narrow_ids(rows), csr_builder.narrow_ids(csr.indices.read())
    return csr_builder.Edges(csr.nrows, csr.ncols, rows, cols, values, csr.symmetric, csr.symmetric, csr.dtype)


def suffixes() -> dict[str, str]:
    """The format of each known suffix."""
    known = ((name, import_module(f"sparsezc.io.formats.{name}")) for name in FORMATS)
    return {suffix: name for name, module in known for suffix in module.SUFFIXES}


def format_of(path: Path, format: str | None = None, *, exists: bool = True) -> str:
    """The format of a file by its name, or the one that was asked for.

    >>> format_of(Path("web-Google.txt.gz"))
    'snap'
    """
    if format is not None and format not in FORMATS:
        raise InvalidValue(f"format={format!r} is not known; choose one of {', '.join(FORMATS)}")
    name = path.name.lower()
    found = format or _by_suffix(name.removesuffix(".gz"))
    if found is None:
        if exists:
            existing(path)
        made = ", and made graphs such as kron:16, urand:16, grid:100x100"
        others = "; of other names, and pipes, format= (--format) says what they hold"
        raise FileFormatError(
            f"{path}: the suffix {Path(name.removesuffix('.gz')).suffix!r} is not known; known are "
            f"{', '.join(sorted(suffixes()))} (text and .sg formats also with .gz)" + (made + others) * exists
        )
    if found in _NEVER_GZIPPED and name.endswith(".gz"):
        raise FileFormatError(f"{path}: {found} files are not gzipped; a name without .gz is needed")
    if exists and found not in _TEXT and is_piped(path):
        raise FileFormatError(f"{path} is a pipe or a device; of these text can be read, {found} files must be regular")
    return found


def _by_suffix(name: str) -> str | None:
    """The format of the longest known suffix that a name ends in."""
    known = suffixes()
    return next((known[suffix] for suffix in sorted(known, key=len, reverse=True) if name.endswith(suffix)), None)
