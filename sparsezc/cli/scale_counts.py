"""Counts of the bytes that an algorithm's statements would exchange, and of entries read, for ``sparsezc scale``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from sparsezc.cli.scale_loops import RankLoops
from sparsezc.expr.engines import through

__all__ = ["Counts", "Cut", "cut", "imbalance"]

_ID = 4  # bytes of a vertex's id in an exchange
_PRODUCTS = ("mxv", "vxm", "mxm", "best_label")


@dataclass(frozen=True)
class Cut:
    """A partition of the vertices among ranks, and the rank whose received bytes are counted.

    Attributes
    ----------
    bounds : ndarray of int64, shape (ranks + 1,)
    packing : int
        Bytes that positions must save over presence words to be sent instead.
    on_device : bool
        The ranks are GPUs.
    rank : int
    """

    bounds: Any
    packing: int
    on_device: bool
    rank: int = 0


class Counts:
    """Counts of products, of the bytes of their vectors that ranks would exchange, and of entries read.

    Attributes
    ----------
    steps, statements : int
    nbytes : float
        Bytes of whole vectors; each of p ranks receives ``1 - 1 / p`` of them.
    received : float or None
        Bytes that the cut's rank receives, by the encodings and directions that ranks choose; None once a product has
        several vectors, whose bytes are not counted so.
    entries : float
    ways : list of (bool, bool)
        For each product, whether ranks push, and whether they read a symmetric matrix's rows in place of the columns
        that the statement names, or the reverse.
    """

    received: float | None

    def __init__(self, cut: Cut | None = None) -> None:
        self.steps = self.statements = 0
        self.nbytes = self.entries = 0.0
        self.received = 0.0
        self.ways: list[tuple[bool, bool]] = []
        self._cut, self._turned = cut, set[int]()

    def look(self, x: Any) -> None:
        """Count one statement: ids or presence bits of a sparse operand, and the values that the product reads."""
        self.statements += 1
        if x.operation not in _PRODUCTS:
            return
        self.steps += 1
        self.ways.append((False, False))
        left = x.operation == "vxm" or (x.operation == "mxm" and x.operands[0].shape[0] < x.operands[0].shape[1])
        v, matrix = x.operands[:2][:: 1 if left else -1]
        there, size = v.nvals, v.size if v.ndim == 1 else v.shape[0] * v.shape[1]
        reads = x.op is None or ("x" if left else "y") in getattr(x.op, "reads", "xy")
        value = v.dtype.np_type.itemsize * reads
        self.entries += matrix.nvals * there / max(size, 1)
        cut = self._cut
        if cut is not None and v.ndim == 1 and matrix.shape == (cut.bounds[-1], cut.bounds[-1]):
            self._receive(self._product(x, v, matrix, value, left=left))
            return
        self.received = None
        self.nbytes += 0 if there == size else min(_ID * there, -(-size // 8))
        self.nbytes += there * value

    def exchange(self, nbytes: int, times: int) -> None:
        """Count `times` exchanges of a loop, in which the rank receives `nbytes` bytes in all."""
        self.statements += 1
        self.steps += times
        self._receive(nbytes)

    def exchange_values(self, value: int) -> None:
        """Count a loop's exchange of a vector with all entries, of `value` bytes each."""
        assert self._cut is not None
        bounds, rank = self._cut.bounds, self._cut.rank
        self.exchange(int(bounds[-1] - bounds[rank + 1] + bounds[rank]) * value, 1)

    def _receive(self, nbytes: int) -> None:
        assert self._cut is not None
        self.received = None if self.received is None else self.received + nbytes
        self.nbytes += nbytes / (1 - 1 / (len(self._cut.bounds) - 1))

    def _whole(self, at: Any, value: int) -> int:
        """Return the bytes that the rank receives of a vector with entries at positions `at`, of `value` bytes each."""
        import numpy as np

        from sparsezc.engines.distributed.model import received_bytes

        cut = self._cut
        assert cut is not None
        counts = np.diff(np.searchsorted(at, cut.bounds))
        return received_bytes.gathered(counts, np.diff(cut.bounds), cut.rank, value, cut.packing)

    def _product(self, x: Any, v: Any, A: Any, value: int, *, left: bool) -> int:
        """Return the bytes of a product that pulls or pushes, by the rule of engines/distributed/statements/products.py."""  # noqa: E501
        import numpy as np

        from sparsezc.engines.distributed.model import received_bytes
        from sparsezc.engines.distributed.statements import products

        cut, at = self._cut, _positions(v)
        assert cut is not None
        symmetric = bool((A.T if A._transposed else A)._symmetric)
        by_result = A._transposed == left
        both = symmetric or id(A._store) in self._turned
        pulls, pushes = by_result or both, not by_result or both
        most = None
        if pushes and not (pulls and at.size == v.size):
            degrees = _degrees(A, flipped=by_result and not symmetric)
            most = received_bytes.entries_at(at, degrees, cut.bounds, on_device=cut.on_device)
            share = products.STOPPING if x.op.monoid.stops_anywhere or x.op.monoid.name == "lor" else 0
            share = share or (products.READING if cut.on_device or not value else products.NEVER)
            pulls = pulls and int(most.sum()) * share > A.nvals
        pushes = not pulls and most is not None
        self.ways[-1] = pushes, symmetric and pushes == by_result
        if pulls or most is None:
            return self._whole(at, value)
        ones = x.op.binaryop.name == "pair" and x.op.monoid.name in products.ONES
        made = 0 if ones else x.dtype.np_type.itemsize
        return received_bytes.folded(most, np.diff(cut.bounds), cut.rank, made, cut.packing, tells=not cut.on_device)

    @contextmanager
    def watching(self, A: Any) -> Iterator[Counts]:
        """Count every statement that a matrix's engine runs in this context, step by step on all edges, as ranks do.

        A loop that ranks on processors run counts by the bytes of its exchanges.
        """
        with through(_Watched(A, self, self._ranks(A))):
            yield self

    @contextmanager
    def directed(self, A: Any) -> Iterator[None]:
        """Have a matrix's engine run the watched statements again, with products in the directions that ranks choose.

        Products read the entries that ranks read, and a push writes its result once that is complete.
        """
        with through(_Directed(A, self.ways, self._ranks(A))):
            yield

    def _ranks(self, A: Any) -> int:
        """Return the number of ranks whose processors run loops over a matrix; 0 if none do."""
        cut = self._cut
        if cut is None or cut.on_device or A.shape != (cut.bounds[-1], cut.bounds[-1]):
            return 0
        return len(cut.bounds) - 1

    def turn(self, store: Any) -> None:
        """Record that a matrix is stored in both directions."""
        self._turned.add(id(store))

    def read_whole(self, size: int, at: Any, value: int) -> None:
        """Count that all ranks read a whole vector with entries at positions `at`, of `value` bytes each."""
        if self._cut is not None and size == self._cut.bounds[-1]:
            self._receive(self._whole(at, value))


class _Watched(RankLoops):
    """An engine whose statements are counted."""

    counts: Counts

    def run(self, expression: Any, out: Any, write: Any) -> None:
        """Count a statement, and run it."""
        self.counts.look(expression)
        self.engine.run(expression, out, write)

    def afford_transpose(self, store: Any) -> None:
        """Record that a matrix is stored in both directions, and let its engine store it so."""
        self.counts.turn(store)
        if hasattr(self.engine, "afford_transpose"):
            self.engine.afford_transpose(store)

    def sample(self, matrix: Any) -> None:
        """Return no sample: ranks read all edges."""

    def vector_to_coo(self, store: Any) -> Any:
        """Count the read of a whole vector, and return its entries."""
        at, values = self.engine.vector_to_coo(store)
        self.counts.read_whole(store.size, at, values.dtype.itemsize)
        return at, values


class _Directed(RankLoops):
    """An engine whose products push or pull in a given sequence of directions."""

    def __init__(self, A: Any, ways: list[tuple[bool, bool]], ranks: int) -> None:
        super().__init__(A, None, ranks)
        self._ways = cycle(ways or [(False, False)])

    def run(self, expression: Any, out: Any, write: Any) -> None:
        """Run a statement; a product in the next direction of the sequence."""
        from sparsezc.engines.distributed.parts.local_objects import Locals, assignment
        from sparsezc.expr.dispatch import PLAIN
        from sparsezc.expr.expression import Expression

        e = expression
        pushes, flips = next(self._ways) if e.operation in _PRODUCTS else (False, False)
        if flips:
            turned = tuple(x.T if x.ndim == 2 else x for x in e.operands)
            e = Expression(e.operation, turned, e.op, e.dtype, e.shape)
        if not pushes:
            self.engine.run(e, out, write)
            return
        made = Locals(self.engine).vector(e.dtype, *e.shape)
        self.engine.run(e, made, PLAIN)
        self.engine.run(assignment(made, out), out, write)


def _positions(v: Any) -> Any:
    """Return the positions of a vector's entries, ascending; this reading is not counted."""
    import numpy as np

    engine, store = v._need()
    return engine.vector_to_coo(store)[0].astype(np.int64)


def _degrees(A: Any, *, flipped: bool) -> Any:
    """Return the entries of each row of a stored matrix, or of its transpose."""
    import numpy as np

    from sparsezc.engines.distributed.parts.row_exchange import on_host

    csr = (A.T if A._transposed else A)._to_csr()
    return np.bincount(on_host(csr.indices.read()), minlength=A.nrows) if flipped else np.diff(csr.indptr)


def cut(indptr: Any, ranks: int, *, gpu: bool) -> Cut | None:
    """Return the partition of the vertices among ranks (two if there is one); None for a graph too small to divide."""
    from sparsezc.engines.distributed.parts import partition, vector_exchange

    if indptr.size - 1 <= partition.ALIGN:
        return None
    return Cut(partition.cut_rows(indptr, max(ranks, 2)), vector_exchange.PACKING if gpu else 0, gpu)


def imbalance(indptr: Any, numbers: tuple[int, ...]) -> dict[int, float]:
    """Return, for each number of ranks, the most entries of a rank's part over the mean, less 1."""
    import numpy as np

    from sparsezc.io.ranks import row_bounds

    n, nvals, found = indptr.size - 1, int(indptr[-1]), {}
    for ranks in numbers:
        cuts = [row_bounds.first_row(lambda i, j: indptr[i:j], n, nvals, rank, ranks) for rank in range(ranks + 1)]
        shares = np.diff(indptr[np.maximum.accumulate(cuts)])
        found[ranks] = float(shares.max() / shares.mean() - 1) if nvals else 0.0
    return found
