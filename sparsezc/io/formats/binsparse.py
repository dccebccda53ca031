"""Binsparse, the binary sparse format, in HDF5 files: the arrays of a matrix or vector, and a descriptor in JSON.

h5py is imported when a file is read or written: ``pip install "sparsezc[hdf5]"``.
Source: https://graphblas.org/binsparse-specification, version 0.1.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import InvalidValue
from sparsezc.io.build import stored_csr
from sparsezc.io.build.csr_chunks import transposed
from sparsezc.io.build.edge_list import EdgeChunks, Edges, narrow_ids
from sparsezc.io.build.limits import need_numbers, wrong_type
from sparsezc.io.build.optional import need
from sparsezc.io.build.weights import Weights
from sparsezc.io.files.atomic_write import Output
from sparsezc.io.formats.binsparse_arrays import ALIASES, ARRAYS, MATRICES, VECTORS, Source, by_rows, chunks, no_matrix
from sparsezc.io.hdf5 import aligned_file, csr_file, csr_file_writer
from sparsezc.io.hdf5.csr_file import type_name
from sparsezc.memory.budget import require_host
from sparsezc.memory.csr import Csr
from sparsezc.semirings.types.datatypes import lookup

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix
    from sparsezc.core.vector import Vector

_VERSION = "0.1.0"


def read_binsparse(
    path: str | os.PathLike[str], group: str | None = None, *, name: str | None = None
) -> Matrix | Vector:
    """Read a Matrix or a Vector from a binsparse HDF5 file.

    Arrays are read once, and copied once more if their types are not GraphBLAS's own. A fill value is dropped: absent
    entries stay absent. A file that sparsezc wrote is compared with its checksums; any other file is opened in a
    separate process and checked against its descriptor (docs/formats.md).

    Parameters
    ----------
    path : str or path
    group : str, optional
        The HDF5 group of the object; by default the file's root.
    name : str, optional

    Returns
    -------
    Matrix or Vector
        A Vector for the formats CVEC and DVEC.

    Raises
    ------
    PackageMissing
        h5py is not installed, which is needed for files of other programs.
    FileFormatError
        The file is damaged, of a newer version, or of an unsupported format or structure; it refers to other files; or
        a number does not fit its declared type. The message names the case.
    OutOfMemory
        The object does not fit in host memory.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.io.write_binsparse(gb.io.read("path:3"), "path.bsp.h5")
    >>> gb.io.read_binsparse("path.bsp.h5").nvals
    4
    """
    with csr_file.opening(Path(path), group) as (file, known):
        return _read(file, known, name)


def _read(file: aligned_file.Container, known: aligned_file.MappableFile | None, name: str | None) -> Matrix | Vector:
    """Return the Matrix or Vector of a file, after comparing it with its checksums if it has any."""
    with csr_file.damage(file.path):
        if known is not None:
            known.verify()
        return _made(Source(file), name)


def _made(source: Source, name: str | None) -> Matrix | Vector:
    """Return the Matrix or Vector that the arrays of a file describe."""
    from sparsezc.core.matrix import Matrix
    from sparsezc.core.vector import Vector

    form, flipped = source.format, source.format in ("CSC", "COOC", "DCSC", "DMATC")
    values = source.array("values")
    if by_rows(form) in ("DMATR", "DVEC"):
        require_host(16 * source.count, f"{source.path}, dense of {source.count:,} values,")
    if form in VECTORS:
        (size,) = source.shape
        at = source.ids("indices_0", size) if form == "CVEC" else np.arange(size)
        return Vector.from_coo(at, values, size=size, name=name)
    nrows, ncols = source.shape
    first, second = (ncols, nrows) if flipped else (nrows, ncols)  # the bounds of indices_0 and indices_1
    kind = by_rows(form)
    if kind == "DMATR":
        dense = np.broadcast_to(values, nrows * ncols).reshape(first, second)
        return Matrix.from_dense(dense.T if flipped else dense, name=name)
    ids = source.ids("indices_1", second)
    if kind == "COOR":
        others = source.ids("indices_0", first)
        rows, columns = (ids, others) if flipped else (others, ids)
        return Matrix.from_coo(rows, columns, values, nrows=nrows, ncols=ncols, name=name)
    makers: dict[str, Any] = {
        "CSR": Matrix.from_csr, "CSC": Matrix.from_csc, "DCSR": Matrix.from_dcsr, "DCSC": Matrix.from_dcsc,
    }  # fmt: skip
    some = [source.ids("indices_0", first)] if kind == "DCSR" else []
    made: Matrix = makers[form](*some, source.offsets(), ids, values, nrows=nrows, ncols=ncols, name=name)
    return made


def write_binsparse(
    A: Any, path: str | os.PathLike[str], format: str | None = None, *, group: str | None = None
) -> None:
    """Write a Matrix or a Vector as a binsparse HDF5 file, which appears complete or not at all.

    Parameters
    ----------
    A : Matrix or Vector
        The value of an iso-valued object is written once.
    path : str or path
    format : {"CSR", "CSC", "COOR", "COOC", "DCSR", "DCSC", "CVEC", "DVEC"}, optional
        By default "CSR", for a Vector "CVEC". "DVEC" needs a Vector with an entry at every position.
    group : str, optional
        The HDF5 group to write into; by default the file's root. A CSR in the root can be mapped
        (docs/formats.md).

    Raises
    ------
    PackageMissing
        h5py is not installed.
    InvalidValue
        The format is unknown, or cannot store the object.
    """
    from sparsezc.core.matrix import Matrix
    from sparsezc.core.vector import Vector

    need("h5py", "hdf5")
    if not isinstance(A, Matrix | Vector):
        raise wrong_type("write_binsparse", "A", A, "a Matrix or a Vector")
    need_numbers(A, "write_binsparse")
    form = ("CSR" if A.ndim == 2 else "CVEC") if format is None else str(format).upper()
    form = ALIASES.get(form, form)
    possible = MATRICES[:6] if A.ndim == 2 else VECTORS
    if form not in possible:
        raise InvalidValue(f"write_binsparse: format={format!r} is not one of {', '.join(possible)}")
    if isinstance(A, Matrix) and form == "CSR" and group is None:
        with Output(path) as out:
            csr_file_writer.save(A._to_csr(), out)
        return
    whole = _matrix_parts(A._to_csr().place("host"), form) if isinstance(A, Matrix) else _vector_parts(A, form)
    with Output(path) as out, aligned_file.Writer(out.reserve(), group) as writer:
        _put(writer, form, A.shape, A.nvals, *whole)


def _vector_parts(v: Any, form: str) -> tuple[list[NDArray[Any]], NDArray[Any], bool]:
    if form == "DVEC" and v.nvals != v.size:
        raise InvalidValue(f"write_binsparse: DVEC needs all positions; {v.size - v.nvals} entries are missing")
    at, values = v.to_coo()
    return ([narrow_ids(at)] if form == "CVEC" else []), values, False


def _matrix_parts(csr: Csr, form: str) -> tuple[list[NDArray[Any]], NDArray[Any], bool]:
    """Return the arrays of a format in the order of ARRAYS, the values, and whether one value stands for all."""
    csr = transposed(csr) if form.endswith("C") else csr
    ids, values = narrow_ids(csr.indices.read()), csr.values.read()
    lengths = np.diff(csr.indptr)
    if form in ("CSR", "CSC"):
        return [csr.indptr, ids], values, csr.iso
    rows = np.arange(csr.nrows)
    if form in ("COOR", "COOC"):
        return [narrow_ids(np.repeat(rows, lengths)), ids], values, csr.iso
    some = rows[lengths > 0]
    return [some, np.append(csr.indptr[:-1][some], csr.nvals), ids], values, csr.iso


def _put(
    writer: aligned_file.Writer,
    form: str,
    shape: tuple[int, ...],
    nvals: int,
    parts: list[NDArray[Any]],
    values: NDArray[Any],
    iso: bool,
) -> None:
    """Write the arrays of an object and its descriptor."""
    kinds: dict[str, str] = {}
    for name, part in zip(ARRAYS[by_rows(form)], parts, strict=True):
        writer.array(name, part.size, part.dtype).write(part)
        kinds[name] = part.dtype.name
    iso = iso and nvals > 0
    kinds["values"] = type_name(values.dtype) if not iso else f"iso[{type_name(values.dtype)}]"
    some = values[: 1 if iso else nvals]
    writer.array("values", some.size, some.dtype).write(some)
    descriptor = {
        "version": _VERSION, "format": form, "shape": list(shape), "number_of_stored_values": nvals,
        "data_types": kinds,
    }  # fmt: skip
    writer.finish(descriptor, symmetric=False)


def read(path: Path, *, weights: Weights, placement: str | None, direct: bool, verify: bool = False) -> Csr | Edges:
    """Read a matrix for :func:`sparsezc.io.read`: as a Csr, mapped or in its placement, if possible, else as edges."""
    from sparsezc.core.matrix import Matrix

    with csr_file.opening(path) as (file, found):
        if found is not None and csr_file.can_be_mapped(found):
            return csr_file.load(found, weights, placement, direct, verify)
        if verify and found is None:
            raise csr_file.unchecked(path)
        A = _read(file, found, None)
    if not isinstance(A, Matrix):
        raise no_matrix(path)
    rows, columns, values = A.to_coo()
    plain = A.dtype.is_bool and bool(values.all())
    return Edges(
        A.nrows, A.ncols, narrow_ids(rows), narrow_ids(columns), None if plain else values, dtype=lookup(values.dtype)
    )


def edge_chunks(path: Path) -> EdgeChunks:
    """Return the entries of a file chunk by chunk."""
    found = csr_file.find(path)
    if found is not None and csr_file.can_be_mapped(found):
        return stored_csr.edge_chunks(csr_file.stored(found))
    return EdgeChunks(chunks(path), distinct=True)


def write(csr: Csr, out: Output, *, compress: bool = False, vertices: NDArray[Any] | None = None) -> None:
    """Write a matrix for :func:`sparsezc.io.write` as a mappable CSR, with the ids or names of its vertices."""
    csr_file_writer.save(csr, out, compress=compress, vertices=vertices)
