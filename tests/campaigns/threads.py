"""Threads: eight of them call methods of the same objects, and every answer must be that of some sequential order.

The shared objects reveal the order of calls, or do not depend on it: sums that grow by known numbers, contents that
each statement writes whole with a number of its own, totals that no statement changes, positions that one thread owns.
Python's arithmetic is the judge.
"""

from __future__ import annotations

import copy
import pickle
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sparsezc as gb
from tests.campaigns.frame import Failure, Trial

DEADLINE = 120.0
MEMORY = None
THREADS, CALLS = 8, 20  # threads, and calls of each, in one trial
N = 12  # size of the shared objects
TOTAL = 1000  # sum of `bank` and of `square`, which no statement changes


class Wrong(Exception):
    """An answer that no sequential order of the calls gives."""


def need(good: bool, *said: Any) -> None:
    """Raise :class:`Wrong` with a message unless the answer is good."""
    if not good:
        raise Wrong(" ".join(map(str, said)))


class Shared:
    """The objects that all threads share, on one engine."""

    def __init__(self, rng: np.random.Generator, engine: str) -> None:
        def there(A: Any) -> Any:
            return A if engine == "cpu" else A.to(engine)

        self.counts = there(gb.Vector.from_scalar(0, N, int))
        self.cells = there(gb.Matrix.from_coo([0], [0], [0], nrows=N, ncols=N))
        self.sum = gb.Scalar.from_value(0)
        self.tagged = there(gb.Vector.from_scalar(0, N, int))
        self.shifting = there(gb.Matrix.from_dense(np.zeros((1, 1), int)))
        self.bank = there(gb.Vector.from_dense(np.r_[TOTAL, np.zeros(N - 1, int)]))
        square = np.zeros((N, N), int)
        square[0, 1] = TOTAL
        self.square = there(gb.Matrix.from_dense(square, missing_value=0))
        self.slots = there(gb.Vector(int, THREADS))
        self.turn = there(gb.Matrix.from_coo(rng.permutation(N), rng.permutation(N), np.ones(N, int), nrows=N, ncols=N))
        ids = np.arange(N)
        self.ring = there(gb.Matrix.from_coo(ids, (ids + 1) % N, 1, nrows=N, ncols=N))
        self.some = there(gb.Vector.from_coo(rng.choice(N, N // 2, replace=False), True, size=N))
        self.tags = 0
        self.counting = threading.Lock()


class Player:
    """One thread: its calls, and the facts by which it judges their answers."""

    def __init__(self, shared: Shared, number: int, seed: list[int]) -> None:
        self.s, self.k = shared, number
        self.rng = np.random.default_rng(seed)
        self.counts = np.zeros(N, int)
        self.cells = np.zeros((N, N), int)
        self.sum = self.mine = 0
        self.seen: dict[int, int] = {}
        self.tried: Counter[str] = Counter()
        self.failed: str | None = None

    def play(self, calls: int) -> None:
        moves: list[Callable[[], None]] = [getattr(self, name) for name in sorted(dir(self)) if name.startswith("do_")]
        try:
            for _ in range(calls):
                move = moves[self.rng.integers(len(moves))]
                move()
                self.tried[move.__name__.removeprefix("do_")] += 1
        except Exception as error:
            import traceback

            self.failed = f"{type(error).__name__} in {move.__name__}: {error}\n{traceback.format_exc()}"

    def pick(self, *choices: Any) -> Any:
        return choices[self.rng.integers(len(choices))]

    # Sums: no update is lost
    def do_count(self) -> None:
        i, s = int(self.rng.integers(N)), self.s
        self.counts[i] += 1
        if self.rng.integers(2):
            s.counts(accum=gb.binary.plus)[i] << 1
        else:
            s.counts(gb.binary.plus) << gb.Vector.from_coo([i], [1], size=N)

    def do_count_masked(self) -> None:
        mask = self.rng.integers(0, 2, N)
        self.counts += mask
        self.s.counts(gb.Vector.from_dense(mask).V, gb.binary.plus) << 1

    def do_count_in_place(self) -> None:
        i = int(self.rng.integers(N))
        self.counts[i] += 2
        more = gb.Vector.from_coo([i], [2], size=N)
        self.s.counts << self.s.counts.ewise_add(more, gb.binary.plus)

    def do_cell(self) -> None:
        i, j = map(int, self.rng.integers(0, N, 2))
        self.cells[i, j] += 1
        if self.rng.integers(2):
            self.s.cells(gb.binary.plus)[i, j] << 1
        else:
            self.s.cells(gb.binary.plus) << gb.Matrix.from_coo([j], [i], [1], nrows=N, ncols=N).T

    def do_diagonal(self) -> None:
        self.cells += np.eye(N, dtype=int)
        self.s.cells.setdiag(1, accum=gb.binary.plus)

    def do_sum(self) -> None:
        x = int(self.rng.integers(100))
        self.sum += x
        self.s.sum(gb.binary.plus) << self.pick(x, gb.Scalar.from_value(x))

    # Contents that one statement writes whole
    def tag(self) -> int:
        with self.s.counting:
            self.s.tags += THREADS
            return self.s.tags + self.k

    def look(self, tags: Any) -> int:
        """Check that all numbers are one statement's, and none older than the last seen of its thread; return it."""
        found = {int(tag) for tag in np.ravel(tags)}
        need(len(found) == 1, "contents of two statements:", found)
        tag = found.pop()
        need(tag <= self.s.tags + THREADS, tag, "was never written")
        need(tag >= self.seen.get(tag % THREADS, 0), tag, "was overwritten before:", self.seen)
        return tag

    def do_write_tag(self) -> None:
        tag, v = self.tag(), self.s.tagged
        how = int(self.rng.integers(4))
        if how == 0:
            v << tag
        elif how == 1:
            v[:] = tag
        elif how == 2:
            v << gb.Vector.from_scalar(tag, N, int)
        else:
            v.build(np.arange(N), np.full(N, tag), clear=True)
        self.seen[self.k] = tag

    def do_read_tag(self) -> None:
        v = self.s.tagged
        read: Any = self.pick(
            lambda: v.to_coo()[1],
            lambda: v.to_dense(),
            lambda: v.dup().to_coo()[1],
            lambda: list(v.to_dict().values()),
            lambda: pickle.loads(pickle.dumps(v)).to_coo()[1],
            lambda: copy.copy(v).to_coo()[1],
            lambda: v.diag().to_coo()[2],
            lambda: v.apply(gb.unary.identity).new().to_coo()[1],
            lambda: v[::2].new().to_coo()[1],
            lambda: v.dup(mask=self.s.some.S).to_coo()[1],
            lambda: (v.reduce("min").new().value, v.get(0))[:1],
            lambda: v.outer(v, "first").new().to_coo()[2],
            lambda: v.select("valuege", 0).new().to_coo()[1],
        )()
        tag = self.look(read)
        self.seen[tag % THREADS] = tag

    def do_read_tag_elsewhere(self) -> None:
        need(self.s.tagged.nvals == N, "the vector is never seen without entries")
        need(self.s.tagged.isequal(self.s.tagged), "a vector equals itself")
        repr(self.s.tagged), self.s.tagged.wait(), self.s.tagged.ss.nbytes

    def do_shift(self) -> None:
        """Rebuild a square matrix in another size, full of the statement's number."""
        with self.s.counting:
            self.s.tags += THREADS
            tag = self.s.tags
        n = 1 + tag // THREADS % 5
        i, j = np.divmod(np.arange(n * n), n)
        self.s.shifting.build(i, j, np.full(n * n, tag), clear=True, nrows=n, ncols=n)

    def do_read_shifted(self) -> None:
        A = self.s.shifting
        i, j, values = self.pick(
            lambda: A.to_coo(),
            lambda: A.T.to_coo(),
            lambda: A.T.new().to_coo(),
            lambda: A.dup().to_coo(),
            lambda: pickle.loads(pickle.dumps(A)).to_coo(),
            lambda: gb.Matrix.from_csr(*A.to_csr()).to_coo(),
            lambda: gb.Matrix.from_dense(A.to_dense()).to_coo(),
            lambda: gb.Matrix.from_csc(*A.to_csc()).to_coo(),
            lambda: A.dup(mask=A.S).to_coo(),
            lambda: gb.Matrix.ss.deserialize(A.ss.serialize()).to_coo(),
        )()
        need(len({*values.tolist()}) == 1, "contents of two statements:", values)
        n = 1 + int(values[0]) // THREADS % 5
        need(values.size == n * n and i.max() == j.max() == n - 1, "not the shape of", values[0], ":", i, j)
        shape = A.shape
        need(shape[0] == shape[1] or values[0] == 0, "a shape of two statements:", shape)

    # Totals that no statement changes
    def do_move(self) -> None:
        i, j, x = *map(int, self.rng.choice(N, 2, replace=False)), int(self.rng.integers(9))
        change = gb.Vector.from_coo([i, j], [x, -x], size=N)
        if self.rng.integers(2):
            self.s.bank(gb.binary.plus) << change
        else:
            self.s.bank(change.S, gb.binary.plus) << change

    def do_turn(self) -> None:
        """Run a product by a permutation, with the output as an operand."""
        s = self.s
        how = int(self.rng.integers(4))
        if how == 0:
            s.bank << s.bank.vxm(s.turn, gb.semiring.plus_times)
        elif how == 1:
            s.bank << s.turn.mxv(s.bank)
        elif how == 2:
            s.square << s.square.T
        else:
            s.square << s.turn.T.mxm(s.square)

    def do_totals(self) -> None:
        s = self.s
        found = self.pick(
            lambda: s.bank.reduce().new().value,
            lambda: int(s.bank.to_coo()[1].sum()),
            lambda: s.bank.reduce(gb.agg.sum).new().value,
            lambda: s.square.reduce_scalar().new().value,
            lambda: s.square.reduce_rowwise().new().reduce().new().value,
            lambda: int(s.square.T.reduce_columnwise().new().to_coo()[1].sum()),
            lambda: s.square.T.mxm(s.turn).new().reduce_scalar().new().value,
            lambda: sum(sum(row.values()) for row in s.square.to_dicts().values()),
            lambda: int(s.square.to_dcsr()[3].sum()),
            lambda: int(s.square.ss.export("coo")["values"].sum()),
            lambda: s.square.dup("FP64").reduce_scalar().new().value,
        )()
        need(found == TOTAL, "a total of", found)

    def do_move_cells(self) -> None:
        i, j = self.rng.choice(N, 2, replace=False)
        x = int(self.rng.integers(9))
        self.s.square(gb.binary.plus) << gb.Matrix.from_coo([i, j], [j, i], [x, -x], nrows=N, ncols=N)

    # A position that one thread owns
    def do_slot(self) -> None:
        v, k = self.s.slots, self.k
        what = int(self.rng.integers(4))
        if what == 0:
            del v[k]
            need(v.get(k) is None, "an entry that was deleted")
            self.mine = 0
        elif what == 1:
            self.mine = int(self.rng.integers(1, 1000))
            v[k] = self.mine
        elif what == 2 and self.mine:
            v(gb.binary.plus)[k] << 1
            self.mine += 1
        need((v.get(k) or 0) == self.mine, "slot", k, "is", v.get(k), "and was left as", self.mine)

    # Objects that are only read, and state of the whole process
    def do_algorithm(self) -> None:
        source = int(self.rng.integers(N))
        level = gb.algorithms.bfs(self.s.ring, source).to_dense(-1)
        need((level == (np.arange(N) - source) % N).all(), "levels of", level)

    def do_mask(self) -> None:
        s = self.s
        found = self.pick(
            lambda: (s.some.S & s.tagged.S).new().nvals,
            lambda: N - (~s.some.S).new().nvals,
            lambda: s.some.S.new().nvals,
        )()
        need(found == N // 2, "a mask of", found)

    def do_new_operator(self) -> None:
        if self.rng.integers(100):  # Numba's compilation takes as long as a hundred other calls
            return
        add = int(self.rng.integers(50))
        op = gb.unary.register_anonymous(lambda x: x + add)
        need(self.s.some.apply(op).new(int).reduce().new().value == (N // 2) * (1 + add), "a function of the user's")

    def do_names(self) -> None:
        kind = self.pick("INT8", "INT16", "UINT32", "FP32", "FP64")
        op = gb.binary.from_string(f"plus[{kind}]")
        need(op is gb.binary.plus[kind], "two operators of one type")
        need(gb.monoid.min[kind] is gb.monoid.min[kind] and gb.semiring.min_plus[kind].type is op.type, kind)

    def do_config(self) -> None:
        with gb.config.set(mapnumpy=self.pick(True, False), head_cache=self.pick("on", "off", "auto")):
            self.do_totals()

    def do_one_expression(self) -> None:
        """Let an expression compute itself (autocompute), and write it afterwards."""
        x = self.s.some.apply(gb.unary.one)
        need(x.nvals == N // 2 and x.new().nvals == N // 2, "an expression's entries")


def play(rng: np.random.Generator, calls: int, engine: str = "cpu") -> tuple[Counter[str], str | None]:
    """Let eight threads make `calls` calls each; return the counts of calls, and the first fault."""
    shared, seed = Shared(rng, engine), int(rng.integers(2**31))
    before = {key: gb.config[key] for key in ("mapnumpy", "head_cache")}
    players = [Player(shared, k, [seed, k]) for k in range(THREADS)]
    threads = [threading.Thread(target=player.play, args=(calls,)) for player in players]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tried = sum((player.tried for player in players), Counter[str]())
    for player in players:
        if player.failed is not None:
            return tried, player.failed
    try:
        counts, cells = sum(p.counts for p in players), sum(p.cells for p in players)
        need((shared.counts.to_dense(0) == counts).all(), "updates were lost:", shared.counts.to_dense(0), counts)
        need((shared.cells.to_dense(0) == cells).all(), "updates of cells were lost")
        need(shared.sum.value == sum(p.sum for p in players), "updates of a Scalar were lost")
        for p in players:
            need((shared.slots.get(p.k) or 0) == p.mine, "a slot was lost")
        after = {key: gb.config[key] for key in before}
        need(after == before, "settings were left as", after)
    except Wrong as error:
        return tried, str(error)
    return tried, None


def trial(rng: np.random.Generator, folder: Path) -> Trial:
    seed = int(rng.integers(2**31))
    tried, said = play(np.random.default_rng(seed), CALLS)
    return Trial(dict(tried), None if said is None else Failure(said, _AGAIN.format(seed=seed)))


_AGAIN = """def test() -> None:
    import numpy as np

    from tests.campaigns.threads import CALLS, play

    for _ in range(20):  # threads do not meet at the same moments again
        _, said = play(np.random.default_rng({seed}), CALLS)
        assert said is None, said
"""
