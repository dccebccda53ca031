"""Moving a matrix to another engine or into another placement."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsezc.config import config
from sparsezc.exceptions import DimensionMismatch, InvalidValue, warn_slow
from sparsezc.expr import engines
from sparsezc.memory import budget
from sparsezc.memory.placement import HOST, HOSTS

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix

__all__ = ["Placeable", "bits_per_id", "compressed", "feature_rows", "placed", "reordered", "report_move"]

_NOTEWORTHY_BYTES = 1 << 20  # bytes: a smaller move takes too little time for a warning


class Placeable:
    """The methods that move a Matrix, and those that change how it is stored."""

    __slots__ = ()

    def to(
        self: Any, engine: str | None = None, placement: str | None = None, *, with_transpose: bool = False
    ) -> Matrix:
        """Return the matrix on another engine or in another placement: itself if nothing changes, else a copy.

        Parameters
        ----------
        engine : {"cpu", "gpu"}, optional
            By default "gpu" if a placement of the GPU is given.
        placement : str, optional
            "auto", or a name of docs/placements.md such as "hybrid". By default ``config.placement``; if that is
            "auto", a matrix on that engine keeps its placement.
        with_transpose : bool
            Store the transpose too, in the same placement: then mxv and vxm can push or pull, whichever reads less.
            This doubles the memory, except of a matrix known to be symmetric. It has no effect on the CPU engine.

        Raises
        ------
        InvalidValue
            `placement` is unknown, or not one of the engine's; or the ranks' matrices for "distributed" differ.
        DeviceUnavailable
            The engine is "gpu" and there is none.
        OutOfMemory
            The matrix does not fit; the message lists the bytes that each placement needs, and the free memory.
        """
        return placed(self, engine, placement, with_transpose)

    def distribute(self: Any) -> Matrix:
        """Return the matrix distributed over the ranks of this program: each keeps a range of rows.

        Every rank must have the same matrix, and all must call this. Algorithms then run on all ranks together, each
        statement on the ranks' parts. ``nvals``, ``to_coo``, ``to_dense``, ``isequal`` and other methods that read all
        entries are collectives: every rank must call them; ``repr`` shows this rank's part.

        Returns
        -------
        Matrix
            The matrix itself if there is one rank.

        Raises
        ------
        InvalidValue
            The ranks have different matrices.

        See Also
        --------
        sparsezc.distributed.init : The ranks, and the engine of their parts.
        """
        there = engines.get("distributed")
        found: Matrix = engines.capability(there, "distributed")(self)
        return found

    def compress(self: Any, order: str = "natural") -> Matrix:
        """Return the same matrix on the GPU engine with its ids compressed: products then read fewer bytes.

        Ids are stored as gaps, bit-packed in blocks of 32, and decoded by the warps that read them, in device memory
        or, where it saves most, in host memory. Products with vectors and with matrices of few rows or columns read the
        compressed ids; other operations make a plain copy while they run. Answers are the same.

        Parameters
        ----------
        order : {"natural", "degree", "auto"}
            The vertex order in which the matrix is stored. "degree": hubs first, which packs graphs with hubs, and ids
            in random order, better; "auto": the order in which a sample packs better. Users' vertex numbers do not
            change: a vector is permuted when it meets the matrix, and again when it is read. Products over positions
            (``any_secondi``) and of matrices then make a plain copy, which is kept.

        Returns
        -------
        Matrix
            In placement "device" if the matrix is there, else in "zerocopy": compressed ids have no segments for the
            regions of "hybrid" and "cached", and use no buffers of "stream" and "gather". It shares the values. Ids
            that no packing makes smaller, or of 2^32 columns or more, stay plain.

        Raises
        ------
        InvalidValue
            `order` is unknown, or is "degree" for a matrix that is not square.
        DeviceUnavailable
            The matrix is not on the GPU engine, and there is no GPU.
        OutOfMemory
            The compressed ids do not fit in memory beside the plain ids.

        See Also
        --------
        bits_per_id : The resulting size.

        Examples
        --------
        >>> import sparsezc as gb
        >>> A = gb.io.read("kron:8").to("gpu")  # doctest: +SKIP
        >>> A.compress().bits_per_id < A.bits_per_id  # doctest: +SKIP
        True
        """
        return compressed(self, order)

    def reorder(self: Any, order: ArrayLike) -> Matrix:
        """Return the same matrix on the GPU engine, with its vertices stored in another order; results do not change.

        Users' vertex numbers do not change: vectors are permuted when they meet the matrix, stay permuted while only
        products with it and elementwise statements use them, and are permuted back when they are read. Products over
        positions (``any_secondi``) and of matrices make a copy in the users' order, which is kept.

        Parameters
        ----------
        order : array_like of integers, shape (n,)
            A permutation, as made by :mod:`sparsezc.orders`: vertex ``order[k]`` is stored at place k.

        Returns
        -------
        Matrix
            The matrix in the same placement. :meth:`compress` keeps the order.

        Raises
        ------
        DimensionMismatch
            The matrix is not square, or `order` has another length.
        InvalidValue
            `order` is not a permutation, or the matrix is already reordered or compressed.
        DeviceUnavailable
            The matrix is not on the GPU engine, and there is no GPU.

        Examples
        --------
        >>> import sparsezc as gb
        >>> A = gb.io.read("kron:8").to("gpu")  # doctest: +SKIP
        >>> B = A.reorder(gb.orders.degree(A))  # doctest: +SKIP
        >>> gb.algorithms.bfs(B, 3).isequal(gb.algorithms.bfs(A, 3))  # doctest: +SKIP
        True
        """
        return reordered(self, order)

    @property
    def bits_per_id(self: Any) -> float:
        """The bits of a stored column id: 32 or 64, or the mean if ids are compressed."""
        return bits_per_id(self)


def report_move(matrix: Matrix, engine: str, nbytes: int) -> None:
    """Warn that a statement moves a large matrix to another engine, or refuse it if ``config.fallback`` is "error"."""
    if nbytes < _NOTEWORTHY_BYTES or config.fallback == "silent":
        return
    said = f"matrix {matrix.name} ({nbytes:,} bytes) is needed on engine {engine!r}"
    if config.fallback == "error":
        raise InvalidValue(f"{said} and config.fallback is 'error': use {matrix.name}.to({engine!r}) first")
    warn_slow(f"{said} and moves there; call {matrix.name}.to({engine!r}) to move it once")


def placed(matrix: Matrix, engine: str | None, placement: str | None, with_transpose: bool) -> Matrix:
    """Return the matrix on an engine and in a placement: itself if nothing changes, else a copy."""
    budget.check_name(placement)
    if engine is None:
        engine = "cpu" if placement in HOSTS else "gpu"
    said = f"placement={placement!r}" if placement is not None else repr(engine)
    there = engines.get(engine, f"{matrix.name}.to({said})")
    if matrix._engine is there and placement is None and not with_transpose:
        return matrix
    if matrix._engine is not there:
        engines.capability(there, "refuse_different")(matrix, "to")
    if not engines.has_placements(there):
        if placement is not None and placement not in HOSTS:
            raise InvalidValue(f"{matrix.name}.to: engine {engine!r} has no placement {placement!r}; it has {HOST!r}")
        if matrix._engine is there:
            return matrix
        csr, wanted = matrix._to_csr(), HOST
    elif placement in HOSTS:
        raise InvalidValue(f"{matrix.name}.to: engine {engine!r} has no placement {HOST!r}; the CPU engine has it")
    elif matrix.dtype.is_udt:  # values of user-defined types stay in host memory on every engine
        csr, wanted = matrix._to_csr(), HOST
    else:
        csr = matrix._to_csr()
        current = csr.indices.placement
        wanted = placement or config.placement
        stays = matrix._engine is there and placement is None and wanted == "auto"
        wanted = current if stays else budget.resolve(wanted, csr.placed_nbytes, csr.nrows, csr.nvals, current=current)
        if matrix._engine is there and current == wanted and not with_transpose:
            return matrix
    placed = csr.place(wanted)
    made: Matrix = type(matrix)._from_csr(placed, engine, name=matrix.name, adopt=placed is not csr)
    if with_transpose:
        engines.capability(there, "keep_transpose")(made._store)
    return made


def compressed(matrix: Matrix, order: str) -> Matrix:
    """Return a matrix with its ids compressed; see :meth:`Matrix.compress`."""
    if order not in ("natural", "degree", "auto"):
        raise InvalidValue(f"{matrix.name}.compress: order={order!r} is unknown; choose 'natural', 'degree' or 'auto'")
    if order == "degree" and matrix.shape[0] != matrix.shape[1]:
        raise InvalidValue(f"{matrix.name}.compress: order='degree' needs a square matrix; got shape {matrix.shape}")
    return _laid_anew(matrix, "compress", order)


def reordered(matrix: Matrix, order: ArrayLike) -> Matrix:
    """Return a matrix with its vertices stored in another order; see :meth:`Matrix.reorder`."""
    where = f"{matrix.name}.reorder"
    vertices, n = np.asarray(order), matrix.shape[0]
    if matrix.shape != (n, n) or vertices.shape != (n,):
        raise DimensionMismatch(
            f"{where}: order has shape {vertices.shape}, the matrix {matrix.shape}; (n,) and (n, n) are needed"
        )
    if n and (vertices.dtype.kind not in "iu" or (np.sort(vertices) != np.arange(n)).any()):
        raise InvalidValue(f"{where}: order is not a permutation of the numbers from 0 to {n - 1}")
    return _laid_anew(matrix, "reorder", vertices)


def _laid_anew(matrix: Matrix, capability: str, how: Any) -> Matrix:
    """Return a matrix on the GPU engine, stored anew by the named capability; a plain copy if that is impossible."""
    engines.get("gpu", f"{matrix.name}.{capability}")
    here = placed(matrix, "gpu", None, False)
    engine, store = here._need()
    laid = engines.capability(engine, capability)(store, how)
    laid = engine.dup(store, here.dtype) if laid is None else laid
    made: Matrix = type(matrix)._from_store(engine, laid, here.dtype, here.shape)
    return made._known_symmetric(matrix._symmetric)


def bits_per_id(matrix: Matrix) -> float:
    """Return the mean bits of a stored id, block headers included; 0 if the matrix has no entries."""
    if matrix.nvals == 0:
        return 0.0
    engine, store = matrix._need()
    nbytes = engines.capability(engine, "id_bytes")(store)
    return 64.0 if nbytes is None else nbytes * 8 / matrix.nvals


def feature_rows(A: Matrix, array: NDArray[Any], placement: str | None) -> Callable[[Any], Any] | None:
    """Return a function that reads rows of an n x m array of bytes by number; None if the host must read them.

    Parameters
    ----------
    A : Matrix
        The function returns rows in the memory of its engine.
    array : ndarray of uint8
        Copied to `placement`.
    placement : str or None
        By default ``config.placement``.
    """
    found: Callable[[Any], Any] | None = engines.capability(A._need()[0], "row_reader")(array, placement)
    return found
