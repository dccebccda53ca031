"""Collectives, received bytes, partitions, agreement: the data that ranks exchange, and those that they do not."""

from __future__ import annotations

import numpy as np
import pytest
from mpi4py import MPI

import sparsezc as gb
from sparsezc.engines import distributed
from sparsezc.engines.distributed.parts.partition import ALIGN
from sparsezc.engines.distributed.statements import products

ENGINE = distributed.engine()
T = ENGINE.transport


def check_a_level_of_a_search_takes_two_collectives() -> None:
    """One collective counts the frontier's entries and edges and one exchanges it, in pulls and pushes of any level."""
    for spec, levels in (("path:300", 300), ("kron:9", None)):
        A = gb.io.read(spec).distribute()
        before = T.calls
        found = gb.algorithms.bfs(A, 1)
        calls = T.calls - before
        levels = int(found.reduce(gb.monoid.max).new().value) + 2 if levels is None else levels
        assert calls <= 2 * levels, (spec, calls, levels)


def check_an_iteration_of_pagerank_takes_two_collectives() -> None:
    """One collective gathers the vector and one sums it; all ranks know without a message that it is full."""
    A = gb.io.read("kron:9").distribute()
    gb.algorithms.pagerank(A, tol=None, max_iter=1)
    before = [T.calls]
    for rounds in (1, 6):
        gb.algorithms.pagerank(A, tol=None, max_iter=rounds)
        before.append(T.calls)
    first, second = np.diff(before)
    assert second - first == (10 if T.size > 1 else 0)


def check_values_that_are_not_read_do_not_travel() -> None:
    n = 64 * 8 * T.size
    A = gb.io.read(f"path:{n}").distribute()
    v = gb.Vector.from_scalar(1.0, n).to("distributed")
    before = T.received
    A.mxv(v, gb.semiring.plus_pair).new()
    assert T.received == before  # all ranks know that the vector is full
    v[: n // 4] = 2  # enough other entries remain for a pull
    w = v.select("valuene", 2).new()
    assert w.nvals == n - n // 4
    before = T.received
    A.mxv(w, gb.semiring.plus_pair).new()
    assert T.received - before <= n // 8
    before = T.received
    A.mxv(v, gb.semiring.plus_times).new()
    assert T.received - before == 8 * (n - ENGINE.partitions.of((n,)).sizes[T.rank]) * (T.size > 1)


def check_only_values_that_rows_read_travel() -> None:
    """Where packing pays, a rank gets only values that its rows read: of full and other vectors, and for long rows."""
    n = 64 * 8 * T.size
    path, kron = gb.io.read(f"path:{n}"), gb.io.read("kron:9")
    star = gb.Matrix.from_coo(np.zeros(199, int), np.arange(1, 200), np.arange(1.0, 200), nrows=640, ncols=640)
    for A in (path, kron, star):
        full = gb.Vector.from_coo(np.arange(A.nrows), np.arange(A.nrows) + 0.5)
        for v in (full, full.select("valuene", 3.5).new()):
            expected = [M.mxv(v, gb.semiring.min_plus).new().to_dict() for M in (A, A.T)]
            D, u = A.distribute(), v.to("distributed")
            ENGINE._transport.packs_below, products.NEVER = 1.0, products.READING  # choose pulls as a GPU does
            try:
                got = [M.mxv(u, gb.semiring.min_plus).new().to_dict() for M in (D, D.T)]
                before, calls = T.received, T.calls
                D.mxv(u, gb.semiring.min_plus).new()
                received, calls = T.received - before, T.calls - calls
            finally:
                ENGINE._transport.packs_below, products.NEVER = 0.0, 1
            assert got == expected
            assert calls <= 1 or A is star  # partial results of a long row are combined, too
            if A is path:  # each rank reads the neighbours of its range
                bits = 0 if v is full else n // 8 * (T.size - 1) // T.size
                assert received == bits + 8 * ((T.rank > 0) + (T.rank < T.size - 1))


def check_few_complex_results_are_told() -> None:
    """Complex results, which travel as two integers each, are right."""
    n = 64 * 8 * T.size
    i = np.arange(n - 1)
    A = gb.Matrix.from_coo(i, i + 1, i * (1 + 2j), nrows=n, ncols=n)
    v = gb.Vector.from_coo(i[60:80], i[60:80] - 1j, size=n)
    for op in (gb.semiring.plus_times, gb.semiring.any_second):
        assert v.to("distributed").vxm(A.distribute(), op).new().to_dict() == v.vxm(A, op).new().to_dict()


def check_frontiers_of_searches_travel_as_columns() -> None:
    """Check that a pull of several searches gathers 4 bytes an entry, and values only where the multiply reads them."""
    A = gb.io.read("kron:9")
    j = np.random.default_rng(2).choice(3 * A.nrows, A.nrows, replace=False)
    Q = gb.Matrix.from_coo(j // A.nrows, j % A.nrows, j % 5 == 0, nrows=3, ncols=A.nrows)
    D, P = A.distribute(), Q.distribute()
    for op, size in ((gb.semiring.any_pair, 4), (gb.semiring.lor_first, 5)):
        before = T.received
        got = P.mxm(D, op).new()
        assert T.received - before == size * (Q.nvals - P._store.local.nvals)
        assert got.to_dicts() == Q.mxm(A, op).new().to_dicts()


def check_ranges_have_equal_work() -> None:
    A = gb.io.read("kron:12")
    D = A.distribute()
    partition = D._store.partition
    counts = ENGINE.counts(D._store)
    assert counts.sum() == A.nvals
    assert (partition.bounds[:-1] % ALIGN == 0).all()
    assert counts.max() <= 1.3 * A.nvals / T.size


def check_rows_longer_than_a_share_are_split() -> None:
    n = 300
    one = np.ones(n - 1, int)
    out, both = np.zeros(n - 1, int), np.arange(1, n)
    star = gb.Matrix.from_coo(out, both, np.arange(1, n), nrows=n, ncols=n)
    back = gb.Matrix.from_coo(np.r_[out, both[:20]], np.r_[both, both[1:21]], np.r_[one, one[:20]], nrows=n, ncols=n)
    v = gb.Vector.from_coo(np.arange(0, n, 3), np.arange(0, n, 3), size=n)
    for A in (star, back):
        D, u = A.distribute(), v.to("distributed")
        if T.size > 1:
            assert D._store.long.rows.tolist() == [0]
            counts = ENGINE.counts(D._store)
            assert counts.sum() == A.nvals
            assert counts.max() <= A.nvals / T.size + 70
        for op in (gb.semiring.plus_times, gb.semiring.min_plus, gb.semiring.any_pair):
            for got, want in (
                (D.mxv(u, op), A.mxv(v, op)),
                (u.vxm(D, op), v.vxm(A, op)),
                (D.T.mxv(u, op), A.T.mxv(v, op)),
            ):
                assert got.new().to_dict() == want.new().to_dict()
        assert T.size == 1 or D._store.long is not None
        assert gb.algorithms.bfs(D, 0).to_dict() == gb.algorithms.bfs(A, 0).to_dict()
        assert gb.algorithms.pagerank(D).isclose(gb.algorithms.pagerank(A).to("distributed"), rel_tol=1e-9)
        assert D.select("triu").new().to_edgelist()[0].tolist() == A.select("triu").new().to_edgelist()[0].tolist()
        assert T.size == 1 or D._store.long is None
        for call in (
            lambda X: gb.ops.selectk(X, "random", 3, seed=1).new().to_dicts(),
            lambda X: gb.algorithms.random_walks(X, range(n), 3, seed=1).to_dicts(),
            lambda X: [part.tolist() for part in gb.ops.sample_hops(X, [0, 5], [4, 2], seed=1)[:4]],
        ):
            assert call(A.distribute()) == call(A)


def check_repr_does_not_communicate() -> None:
    A = gb.io.read("kron:8").distribute()
    v = A.reduce_rowwise(gb.monoid.lor).new()
    if T.rank == T.size - 1:
        before = T.calls
        said = repr(A), repr(v), v._repr_html_(), A._repr_html_()
        assert T.calls == before
        assert all(f"rank {T.rank} of {T.size}" in text for text in said)


def check_ranks_that_disagree_about_a_graph() -> None:
    A = gb.io.read(f"path:{200 + T.rank}")
    if T.size == 1:
        A.distribute()
        return
    with pytest.raises(gb.exceptions.InvalidValue, match="nrows is 200 on rank 0 and 201 on rank 1"):
        A.distribute()
    v = gb.Vector.from_scalar(1, 200, ["INT64", "FP64"][T.rank % 2])
    with pytest.raises(gb.exceptions.InvalidValue, match=f"{v.name}.to: dtype is INT64 on rank 0 and FP64 on rank 1"):
        v.to("distributed")


def check_one_seed_for_all_ranks() -> None:
    A = gb.io.read("kron:8").distribute()
    found = gb.algorithms.maximal_independent_set(A).to_coo()[0].tolist()
    assert T.objects(found) == [found] * T.size


def check_a_vector_moves_to_the_cut_of_a_later_matrix() -> None:
    n = 640
    v = gb.Vector.from_coo(np.arange(n), np.arange(n), size=n).to("distributed")
    i = np.repeat(np.arange(64), 60)
    A = gb.Matrix.from_coo(i, np.arange(i.size) * 7 % n, np.ones(i.size), nrows=n, ncols=n, dup_op="plus")
    bounds = v._store.partition.bounds
    D = A.distribute()
    w, want = D.T.mxv(v).new(), A.T.mxv(v.to("cpu")).new()
    assert w.isequal(want.to("distributed"))
    moved = T.size > 1 and ENGINE.partitions.of((n,)).bounds.tolist() != bounds.tolist()
    assert (v._store.partition.bounds.tolist() != bounds.tolist()) == moved


def check_no_fallback_where_none_is_wanted() -> None:
    A = gb.io.read("kron:8").distribute()
    with gb.config.set(fallback="error"):
        gb.algorithms.bfs(A, 1)
        gb.algorithms.pagerank(A)
        gb.algorithms.connected_components(A)
        gb.algorithms.sssp(A, 1)
        gb.algorithms.triangle_count(A)
        if T.size > 1:
            with pytest.raises(gb.exceptions.NotImplementedException, match="has no kronecker of a Matrix"):
                A.kronecker(A, gb.binary.ss.firsti).new()
            with pytest.raises(gb.exceptions.NotImplementedException, match="has no exact assignment, and"):
                gb.applications.linear_assignment(A, absent=2.0)
            refused = pytest.raises(gb.exceptions.NotImplementedException, match="is 'error' on rank 1")
            with gb.config.set(fallback="error" if T.rank else "warn"), refused:
                A.kronecker(A, gb.binary.ss.firsti).new()


def check_operands_of_two_communicators() -> None:
    if T.size == 1:
        return
    A, B = gb.io.read("path:200").distribute(), gb.io.read("path:200", comm=T.comm.Dup())
    assert B._engine is not A._engine is distributed.engine()
    v, w = (x.reduce_rowwise(gb.monoid.lor).new() for x in (A, B))
    for call in (
        lambda: A.ewise_add(B, "plus").new(),
        lambda: A.mxv(w, "any_pair").new(),
        lambda: v.ewise_mult(w).new(),
    ):
        with pytest.raises(gb.exceptions.InvalidValue, match="operands of two communicators, of"):
            call()


def check_a_whole_that_does_not_fit_is_refused_before_it_starts() -> None:
    if T.size == 1:
        return
    A = gb.io.read("kron:13").distribute()
    one = gb.Matrix.from_dense([[1]]).distribute()
    budget = 1 << 20 if T.rank == 1 else None  # set on one rank only: all raise the same error
    too_much = pytest.raises(gb.exceptions.OutOfMemory, match="the whole of a 8192 x 8192 matrix needs")
    with gb.config.set(host_budget=budget), too_much as raised:
        A.kronecker(one, gb.binary.ss.firsti).new()
    said = T.objects(str(raised.value))
    assert said == [said[0]] * T.size
    assert f"may be used by rank 1 of {T.size}" in said[0]


def check_ranks_that_distribute_other_vectors() -> None:
    if T.size == 1:
        return
    v = gb.Vector.from_coo([1, 100], [1, 2 + T.rank], size=200)
    with gb.config.set(check=True), pytest.raises(gb.exceptions.InvalidValue, match=r"its content is .* on rank 0 and"):
        v.to("distributed")


def check_rows_that_ranks_give() -> None:
    few = gb.memory.csr.Csr.from_arrays([0, 0, 0], np.empty(0, np.uint32), [1], 2, dtype=bool)
    for bounds in ([0, *[2] * T.size], [0, *[1] * (T.size - 1), 2]):
        if T.size > 1:
            with pytest.raises(gb.exceptions.InvalidValue, match=r"too small for|do not cut"):
                distributed.from_rows(few, np.array(bounds), 2)
    if T.size > 1:
        with pytest.raises(gb.exceptions.InvalidValue, match="nrows is 640 on rank 0 and 641 on rank 1"):
            distributed.from_rows(few, np.arange(T.size + 1) * 64, 640 + T.rank)
        with pytest.raises(gb.exceptions.InvalidValue, match="rank 0 gives 2 rows; by the bounds it has 64"):
            distributed.from_rows(few, np.arange(T.size + 1) * 64, 64 * T.size)


def check_ranks_that_start_with_other_options() -> None:
    if T.size > 1:
        with pytest.raises(gb.exceptions.InvalidValue, match=r"deadline is 20\.0 on rank 0 and 21\.0 on rank 1"):
            distributed.init(T.comm.Dup(), deadline=20.0 + T.rank)
    assert distributed.engine() is ENGINE


def check_options_that_cannot_be() -> None:
    for options, said in (
        ({"deadline": 0}, "deadline=0; a number of seconds above 0"),
        ({"deadline": float("nan")}, "deadline=nan; a number"),
        ({"engine": "distributed"}, "engine='distributed' is unknown; there are cpu, gpu"),
        ({"comm": MPI.COMM_NULL}, "comm is MPI.COMM_NULL"),
    ):
        with pytest.raises(gb.exceptions.InvalidValue, match=said):
            distributed.init(**options)
    with pytest.raises(TypeError, match="comm is a int; an mpi4py"):
        distributed.init(3)
    assert distributed.engine() is ENGINE


def check_a_communicator_of_one_rank() -> None:
    A = gb.io.read("path:200", comm=MPI.COMM_SELF)
    assert A._engine.name == "cpu"
    assert A.isequal(gb.io.read("path:200"))


def check_flows_in_machine_code() -> None:
    """Run a flow of more entries than Python loops serve; at two ranks only, as compiling takes seconds."""
    if T.size != 2:
        return
    A = gb.io.read("kron:9?weights=1-99").dup("INT64")
    value, flow = gb.algorithms.maximum_flow(A.distribute(), 1, 2)
    assert value == gb.algorithms.maximum_flow(A, 1, 2)[0] > 0
    sent, arrived = (flow.to("cpu").reduce_rowwise("plus").new(), flow.to("cpu").reduce_columnwise("plus").new())
    net = sent.to_dense(0) - arrived.to_dense(0)
    assert net[[1, 2]].tolist() == [value, -value]
    assert np.count_nonzero(net) == 2
    assert flow.to("cpu").ewise_mult(A, gb.binary.le).new().reduce_scalar(gb.monoid.land).new().get()


def check_a_rank_that_strays_is_an_error_on_all() -> None:
    if T.size == 1:
        return
    A = gb.io.read("kron:8").distribute()
    v = A.reduce_rowwise(gb.monoid.lor).new()
    call = (lambda: v.reduce("lor").new()) if T.rank == 0 else (lambda: v.vxm(A, gb.semiring.any_pair).new())
    strayed = r"ranks have strayed: rank 0 is at collective .*reduce.*, and rank 1 is at .*vxm"
    with gb.config.set(check=True), pytest.raises(gb.exceptions.InvalidValue, match=strayed):
        call()
    ended = r"rank 0 is at collective .* the end of the program, and rank 1 is at .*v_\d+\.reduce\(monoid\.lor"
    with gb.config.set(check=True), pytest.raises(gb.exceptions.InvalidValue, match=ended):
        v.reduce(gb.monoid.lor).new() if T.rank else ENGINE.end()


def check_a_rank_that_alone_checks() -> None:
    """All ranks fail at once, and then continue, if one sends one number where the others send several."""
    if T.size == 1:
        return
    v = gb.io.read("kron:8").distribute().reduce_rowwise(gb.monoid.lor).new()
    strayed = pytest.raises(
        gb.exceptions.InvalidValue, match=r"ranks have strayed: of a .* rank 0 sends 1, and rank 1 4;"
    )
    with gb.config.set(check=T.rank == 0), strayed:
        v.reduce(gb.monoid.lor).new()
    assert v.reduce(gb.monoid.lor).new()


def check_ranks_whose_statements_differ_in_a_number() -> None:
    """Check that a vertex, number, list or seed that differs by rank is found, although no exchange shows it."""
    if T.size == 1:
        return
    A = gb.io.read("kron:8").distribute()
    v, rank = gb.Vector.from_scalar(1, A.nrows).to("distributed"), T.rank

    def write() -> None:
        v[[1, 2 + rank]] = 3

    for call in (
        lambda: gb.algorithms.bfs(A, rank),
        lambda: v.apply("plus", right=rank).new(),
        write,
        lambda: gb.ops.walk(A, [1, 2], 3, seed=rank).new(),
    ):
        with gb.config.set(check=True), pytest.raises(gb.exceptions.InvalidValue, match="ranks have strayed: rank 0"):
            call()


def check_a_halo_is_asked_for_again_once_long_rows_are_joined() -> None:
    """Check that the owner of a joined long row receives the halo that the row's parts on other ranks needed before."""
    n = 64 * 8 * T.size
    plain = gb.Matrix.from_coo(np.zeros(n - 1, int), np.arange(1, n), np.arange(1.0, n), nrows=n, ncols=n)
    v = gb.Vector.from_coo(np.arange(n), np.arange(n) % 7 + 0.5)
    D, u = plain.distribute(), v.to("distributed")
    ENGINE._transport.packs_below, products.NEVER = 2.0, products.READING
    try:
        for _ in range(2):
            assert D.mxv(u, gb.semiring.max_plus).new().to_dict() == plain.mxv(v, gb.semiring.max_plus).new().to_dict()
            assert D.reduce_rowwise(gb.monoid.plus).new().to_dict() == plain.reduce_rowwise("plus").new().to_dict()
    finally:
        ENGINE._transport.packs_below, products.NEVER = 0.0, 1
