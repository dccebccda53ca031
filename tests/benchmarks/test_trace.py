"""`benchmarks.trace` counts the files that a call enters and the changes between them."""

from __future__ import annotations

import subprocess
import sys

import sparsezc as gb
from benchmarks.trace import ROOT, followed
from tests.benchmarks.runs import emulated


def test_a_call_within_one_file_enters_it_once() -> None:
    config = gb.config  # the first use of a name of `gb` looks it up in other files
    walk = followed(lambda: repr(config))
    assert walk.files == ["sparsezc/config.py"]
    assert walk.changes == 1


def test_a_statement_passes_from_its_check_to_its_engine() -> None:
    v = gb.Vector.from_coo([0], [1.0], size=3)
    v << v.apply(gb.unary.ainv)
    walk = followed(lambda: v << v.apply(gb.unary.ainv))
    assert {"ops/apply.py", "sparsezc/expr/dispatch.py", "sparsezc/engines/cpu/cpu_engine.py"} <= set(walk.files)
    assert walk.files.index("ops/apply.py") < walk.files.index("sparsezc/engines/cpu/cpu_engine.py")
    assert walk.changes >= len(walk.files)


def test_code_of_others_is_not_counted() -> None:
    walk = followed(lambda: sorted([3, 1, 2], key=lambda x: -x))
    assert walk.files == []
    assert walk.changes == walk.functions == 0


@emulated
def test_warm_calls_pass_through_few_files() -> None:
    """A warm call, in a process of its own, enters at most so many files and changes between them at most so often.

    The project's limits are for a structural mask and a full vector; for value masks and pushes the limits are the
    present numbers.
    """
    command = [sys.executable, "-m", "benchmarks.trace"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=True).stdout
    lines = [line.rsplit(maxsplit=3) for line in told.splitlines()[2:]]
    found = {name: [int(part) for part in numbers] for name, *numbers in lines}
    most = {
        "masked mxv, CPU engine": (9, 14),
        "masked mxv, CPU engine, value mask": (9, 15),
        "masked mxv, GPU engine, zerocopy": (14, 40),
        "masked mxv, GPU engine, zerocopy, value mask": (17, 23),
        "masked mxv, GPU engine, zerocopy, sparse vector (push)": (21, 38),
        "a text file into a zerocopy CSR": (14, 60),
    }
    assert found.keys() == most.keys()
    for name, (files, changes) in most.items():
        assert found[name][0] <= files, (name, found[name])
        assert found[name][1] <= changes, (name, found[name])


def test_small_statements_enter_few_functions() -> None:
    """Searching a graph of a few vertices takes as long as its Python calls, so their number is limited."""
    A = gb.Matrix.from_coo([0, 1], [1, 2], [1.0, 2.0], nrows=3, ncols=3)
    x, w, q = gb.Vector.from_dense([1.0, 2.0, 3.0]), gb.Vector(float, 3), gb.Vector.from_coo([0], [1.0], size=3)
    most = {
        "product": (lambda: w << A.mxv(x, gb.semiring.plus_times), 13),
        "masked": (lambda: w(~q.S, replace=True) << q.vxm(A, gb.semiring.plus_times), 22),
        "accumulated": (lambda: w(q.S, accum=gb.binary.plus, replace=True) << A.mxv(x, gb.semiring.plus_times), 33),
        "assigned": (lambda: w(q.S) << 2.0, 37),
        "counted": (lambda: q.nvals, 3),
    }
    for name, (statement, limit) in most.items():
        for _ in range(2):
            statement()
        assert followed(statement).functions <= limit, name
