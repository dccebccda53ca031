"""All objects made for a user's function are freed with the last reference to its operator."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sparsezc as gb
from sparsezc.engines.cpu.suitesparse import compiled_functions

USES: dict[str, Any] = {
    "unary": lambda v, c: v.apply(gb.unary.register_anonymous(lambda x: x * c + 1)).new(),
    "binary": lambda v, c: v.ewise_add(v, gb.binary.register_anonymous(lambda x, y: x * c + y)).new(),
    "indexunary": lambda v, c: v.apply(gb.indexunary.register_anonymous(lambda x, i, j, t: x + i * c + t), 2).new(),
    "select": lambda v, c: v.select(gb.select.register_anonymous(lambda x, i, j, t: x + i < c + t), 2).new(),
    "monoid": lambda v, c: v.reduce(
        gb.monoid.register_anonymous(gb.binary.register_anonymous(lambda x, y: max(x, y, -c)), -c)
    ).new(),
    "semiring": lambda v, c: v.inner(
        v,
        gb.semiring.register_anonymous(
            gb.monoid.register_anonymous(gb.binary.register_anonymous(lambda x, y: max(x, y, -c)), -c),
            gb.binary.register_anonymous(lambda x, y: x * y + c),
        ),
    ).new(),
    "a function as it is": lambda v, c: v.apply(lambda x: x - c).new(),
}
WANTED: dict[str, Any] = {
    "unary": lambda c: [c + 1, 2 * c + 1, 3 * c + 1],
    "binary": lambda c: [c + 1, 2 * c + 2, 3 * c + 3],
    "indexunary": lambda c: [3, c + 4, 2 * c + 5],
    "select": lambda c: [1, 2, 3],
    "monoid": lambda c: 3,
    "semiring": lambda c: 9 + c,
    "a function as it is": lambda c: [1 - c, 2 - c, 3 - c],
}


def plain(x: Any) -> Any:
    return x.value if isinstance(x, gb.Scalar) else x.to_coo()[1].tolist()


@pytest.mark.parametrize("dtype", ["FP64", "INT16"])
@pytest.mark.parametrize("name", USES)
def test_an_operator_is_freed_with_the_last_reference(name: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    freed: list[int] = []
    free = compiled_functions._free
    monkeypatch.setattr(compiled_functions, "_free", lambda *args: (freed.append(1), free(*args)))
    v = gb.Vector.from_coo([0, 1, 2], [1, 2, 3], dtype)
    for c in (10, 20, 30):
        assert plain(USES[name](v, c)) == WANTED[name](c)
    gc.collect()
    assert len(freed) == 3 * {"monoid": 2, "semiring": 4}.get(name, 1)


def scaled(c: float) -> Any:
    return gb.unary.register_anonymous(lambda x: x * c + c**2)


def test_functions_of_one_form_are_compiled_once() -> None:
    """Functions of one form share machine code and keep constants of their own, as long as one of them exists."""
    v = gb.Vector.from_coo([0, 1, 2], [1.0, 2.0, 3.0])
    ops = [scaled(c) for c in (5.5, 6.5, 7.5)]
    before = compiled_functions._form.cache_info().misses
    made = [v.apply(op).new() for op in ops]
    assert compiled_functions._form.cache_info().misses <= before + 1
    del ops[0]
    gc.collect()
    for w, c in zip(made, (5.5, 6.5, 7.5), strict=True):
        assert w.to_coo()[1].tolist() == [x * c + c**2 for x in (1, 2, 3)]
    assert v.apply(ops[0]).new().to_coo()[1].tolist() == [x * 6.5 + 6.5**2 for x in (1, 2, 3)]


PROGRAM = """
import gc
import sparsezc as gb

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

v = gb.Vector.from_coo([0, 1], [1.0, 2.0])

def use(c):
    assert v.apply(gb.unary.register_anonymous(lambda x: x * c + 1)).new().to_dict() == {0: c + 1, 1: 2 * c + 1}

for c in range(10):
    use(c)
gc.collect()
before = resident()
for c in range(100, 130):
    use(c)
gc.collect()
print(resident() - before)
"""


def test_functions_take_no_memory_once_they_are_gone(tmp_path: Path) -> None:
    """Without freeing, 30 functions took 36 MB, 1.2 MB each."""
    program = tmp_path / "program.py"  # a function is translated from its text, which must be in a file
    program.write_text(PROGRAM)
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(root)}
    )
    assert int(done.stdout) < 10 << 20
