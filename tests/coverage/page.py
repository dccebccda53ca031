"""docs/coverage.md, in sections: the classes, the operators, the other namespaces."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import graphblas

import sparsezc
from tests.emulator.rehearsal import rehearsing
from tests.house import test_surface
from tests.semirings import test_surface as operator_surface

from . import find, operators
from .find import ABSENT, FALLBACK, HOST, NATIVE
from .objects import CLASSES, states
from .statements import FORMS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "coverage.md"
HEAD = """\
# Coverage of python-graphblas

The public names of python-graphblas 2025.2, and the engine that runs each. `python -m tests.coverage --update` writes
this page and `tests/coverage/test_coverage.py` fails if it is stale: each name is used in a statement, which gives the
same result on python-graphblas, on the CPU engine and on the GPU engine.

On the CPU engine every name below that is not absent is native. On the GPU engine, with operands there:

* **native**: the CPU engine has no part in it (`gb.config.fallback` is `"error"`);
* **by fallback**: operands are copied to the CPU engine, and the output is copied back, with one
  `PerformanceWarning` per kind;
* **on the host**: the CPU engine runs it without a warning, as it reads a user's arrays or Scalars, or calls
  SuiteSparse; the result is then moved.

"""
STATES = (NATIVE, FALLBACK, HOST, ABSENT)
#: Names of other namespaces that are absent, with the reason.
OTHERS_ABSENT = {
    "viz.to_networkx": "imported there for its own use; io.to_networkx",
    "viz.to_scipy_sparse": "imported there for its own use; io.to_scipy_sparse",
    "dtypes.ss": "registers a type of SuiteSparse's JIT from C text",
    "exceptions.GrB_NO_VALUE": "a code of the C library",
    "exceptions.GrB_SUCCESS": "a code of the C library",
    "exceptions.JitError": "of SuiteSparse's JIT, which is not used",
    "exceptions.check_status": "reads codes of the C library",
    "exceptions.check_status_carg": "reads codes of the C library",
}

OPERATORS = """\
Each is used in the operations of its kind, on both engines. `tests/ops/test_operators.py` and `tests/semirings/`
compare their values with python-graphblas's.\
"""
#: The tests of python-graphblas's own suite that fail on the CPU engine; kept by hand, as no test here can run that
#: suite.
SUITE = """\
## python-graphblas's own tests

Of the 251 tests of its suite that use its public names only, 244 pass with the CPU engine, and of the 24 on files,
conversions and pickles 23. The others:

| tests | reason |
| --- | --- |
| `test_expr_is_like_...` and `test_index_expr_is_like_...` (of Matrix, Vector and Scalar) | the public half passes: \
expressions lack the same public names (`tests/house/test_surface.py`). The rest is private names that a Matrix, \
Vector or Scalar has there and its expressions have not: `__del__`, `_assign_element`, `_carg`, `_delete_element`, \
`_deserialize`, `_empty`, `_expr_name`, `_expr_name_html`, `_extract_element`, `_from_csx`, `_from_obj`, \
`_name_counter`, `_parent`, `_prep_for_assign`, `_prep_for_extract`, `_to_csx`, `_update` |
| `test_from_coo` of Vector | its last check expects other words in the message about indices that are no integers |
| `test_udt` of pickles | expects pickles of python-graphblas's own classes to load as ours; they load as its own, \
which `gb.from_graphblas` converts |
"""


def code(names: Iterable[str]) -> str:
    """Return names as the text of a table's cell."""
    return ", ".join(f"`{name.replace('|', chr(92) + '|')}`" for name in names) or "-"


def _checked(label: str, statement: Any) -> str:
    if not rehearsing():
        find.on_cpu(label, statement)
    return find.on_gpu(label, statement)


def _by_state(found: dict[str, str]) -> list[str]:
    rows = ["| on a GPU | names |", "| --- | --- |"]
    named = {state: [name for name, its in found.items() if its == state] for state in STATES}
    return rows + [f"| {state} | {code(names)} |" for state, names in named.items() if names]


def classes() -> str:
    """Return a table for each class, and one for the forms of statements; the statements run on the device in use."""
    lines = ["## Classes", ""]
    absent: set[str] = set()
    seen: dict[str, dict[str, str]] = {}
    for of in CLASSES:
        found = states(of, _checked)
        absent |= {name for name, its in found.items() if its == ABSENT}
        lines += [f"### `{of.title}`", ""]
        before = seen.setdefault(of.like, found)
        if before is not found:
            lines += [f"As `{of.like}`, and:", ""]
        lines += [
            *_by_state({name: its for name, its in found.items() if before is found or before.get(name) != its}),
            "",
        ]
    forms = {text: _checked(text, lambda g, o, f=form: f(g, o, o.A)) for text, form in FORMS.items()}
    lines += ["### Statements and signs", "", *_by_state(forms), ""]
    lines += ["### Absent, and why", "", "| name | reason |", "| --- | --- |"]
    lines += [f"| `{name}` | {reason} |" for name, reason in sorted(test_surface.ABSENT.items()) if name in absent]
    return "\n".join(lines) + "\n\n"


def algebra() -> str:
    """Return a table of the operators' namespaces, and of the types."""
    lines = [
        "## Operators",
        "",
        OPERATORS,
        "",
        "| namespace | native on a GPU | by fallback | absent |",
        "| --- | --- | --- | --- |",
    ]
    reasons: dict[str, str] = {}
    for name, namespace in operators.namespaces().items():
        reasons |= {f"{name}.{each}": operator_surface.ABSENT.get(f"{name}.{each}", "") for each in namespace.absent}
        told = [each for each in namespace.absent if reasons[f"{name}.{each}"]]
        rest = len(namespace.absent) - len(told)
        absent = f"{rest} that are made of absent ones" if rest else code(told)
        native, fallback = namespace.operators[NATIVE], namespace.operators[FALLBACK]
        lines.append(f"| `{name}` | {len(native)} | {code(fallback)} | {absent} |")
    lines += ["", "`op` is the union of these. Why names are absent:", "", "| name | reason |", "| --- | --- |"]
    lines += [f"| `{name}` | {reason} |" for name, reason in operator_surface.ABSENT.items()]
    numbers = operators.kinds_of_numbers()
    lines += ["", "Products over the types:", "", *_by_state(numbers)]
    return "\n".join(lines) + "\n\n"


def others() -> str:
    """Return a table of the other namespaces: the names that they have and those that are absent."""
    lines = ["## Other namespaces", "", "| namespace | there | absent |", "| --- | --- | --- |"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("", "dtypes", "exceptions", "io", "ss", "viz"):
            theirs, ours = (getattr(g, name) if name else g for g in (graphblas, sparsezc))
            names = sorted(operator_surface.public(theirs))
            there = [each for each in names if hasattr(ours, each)]
            title = f"`{name}`" if name else "top level"
            lines.append(f"| {title} | {code(there)} | {code(each for each in names if each not in there)} |")
    lines += ["", "| absent | reason |", "| --- | --- |"]
    lines += [f"| `{name}` | {reason} |" for name, reason in OTHERS_ABSENT.items()]
    return "\n".join(lines) + "\n\n"


def others_missing() -> set[str]:
    """Return the full names that the other namespaces lack."""
    found = {name for name in operator_surface.public(graphblas) if not hasattr(sparsezc, name)}
    for name in ("dtypes", "exceptions", "io", "ss", "viz"):
        theirs, ours = getattr(graphblas, name), getattr(sparsezc, name)
        found |= {f"{name}.{each}" for each in operator_surface.public(theirs) if not hasattr(ours, each)}
    return found
