"""A placement is one record in one file: all readers of the records agree, and no other code has their names."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import sparsezc as gb
from sparsezc.cli import doctor, parser
from sparsezc.memory import placement
from sparsezc.memory.placement import RECORDS, Placement, register

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
#: Files in which a placement's name means something else.
OTHERWISE = {
    "sparsezc/engines/gpu/runtime/launch.py": "a kernel is called gather, too",
    "sparsezc/cli/scale.py": "cards of a machine are peers, too",
}
#: Names that also name kinds of memory or a timed step.
SHARED = {"device", "host", "gather"}


def test_the_page_has_the_records() -> None:
    page = (DOCS / "placements.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (.*) \| (.*) \| (.*) \|$", page, re.MULTILINE)
    told = [row for row in rows if row[0] in RECORDS]
    assert sorted(told) == sorted(
        (each.name, each.location, each.description, each.purpose) for each in RECORDS.values()
    )


def test_the_command_line_has_the_records(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["auto", *(each.name for each in RECORDS.values() if each.kernels)]
    assert f"`--placement {'|'.join(names)}`".replace("|", r"\|") in (DOCS / "cli.md").read_text()
    for name in names:
        assert parser().parse_args(["bfs", "path:3", "--placement", name]).placement == name
    with pytest.raises(SystemExit):
        parser().parse_args(["bfs", "path:3", "--placement", "host"])
    capsys.readouterr()
    with pytest.raises(SystemExit):
        parser().parse_args(["bfs", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert ", ".join(each.name for each in RECORDS.values() if each.baseline) in said
    told = doctor._placements()
    assert told.split("; for comparison: ")[1].split(", ") == [e.name for e in RECORDS.values() if e.baseline]


def test_the_configuration_takes_what_a_matrix_can_be_made_in() -> None:
    for name, each in RECORDS.items():
        if each.kernels and not each.file:
            with gb.config.set(placement=name):
                assert gb.config.placement == name
            continue
        with pytest.raises(gb.exceptions.InvalidValue, match=f"'{name}' is not allowed; needed is one of 'auto', 'dev"):
            gb.config.placement = name


def test_auto_takes_no_baseline() -> None:
    taken = {placement.HOST, placement.FITS, placement.BEYOND, *(each.name for each in RECORDS.values() if each.file)}
    assert [name for name in taken if RECORDS[name].baseline] == []
    baselines = {name for name, each in RECORDS.items() if each.baseline}
    assert baselines == {"stream", "gather", "cached", "uvm"}
    assert all(re.search(r"doi:10\.\d+/", RECORDS[name].source) for name in baselines)


def test_baselines_stand_apart() -> None:
    """Baselines have a folder of their own, whose docstrings name the papers; no other placement uses it."""
    for each in RECORDS.values():
        apart = isinstance(each.serves, str) and each.serves.startswith("baselines.")
        assert apart == (each.baseline and each.serves is not None)
        if apart:
            path = ROOT / "sparsezc/engines/gpu/placements" / (str(each.serves).replace(".", "/") + ".py")
            system, doi = each.source.split(", ")[1], each.source.partition("doi:")[2]
            assert system in ast.get_docstring(ast.parse(path.read_text()))
            assert doi in path.read_text()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "zerocopy"}, "a new name"),
        ({"name": "auto"}, "a new name"),
        ({"name": "a b"}, "a new name"),
        ({"kernels": False}, "kernels must read it"),
        ({"file": True}, "no file"),
    ],
)
def test_what_cannot_be_registered(changes: dict[str, object], message: str) -> None:
    before = dict(RECORDS)
    own = Placement("own", "zerocopy", "", "", "")
    with pytest.raises(gb.exceptions.InvalidValue, match=message):
        register(own._replace(**changes))
    assert before == RECORDS


def constants(node: ast.AST) -> set[object]:
    """Return the strings that an expression is or lists; it may name constants of placement.py."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return set().union(*map(constants, node.elts)) if node.elts else set()
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None
    if name in ("HOST", "FITS", "BEYOND", "OPENED", "BY_ADDRESS"):
        return {getattr(placement, name)}
    return {node.value} if isinstance(node, ast.Constant) else set()


def knows_names(tree: ast.AST) -> list[int]:
    """Return the lines where something is compared with a placement's name, or looked up by several of them."""
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Compare():
                named = set().union(*map(constants, (node.left, *node.comparators))) & set(RECORDS)
            case ast.MatchValue(value=value):
                named = constants(value) & set(RECORDS)
            case ast.Dict(keys=keys):  # "device" and "host" are also kinds of memory
                named = set().union(*(constants(key) for key in keys if key is not None)) & set(RECORDS)
                named -= {"device", "host"}
            case ast.Tuple() | ast.List() | ast.Set():
                named = constants(node) & set(RECORDS) - {"device", "host"}
                named = named if len(named) > 1 else set()
            case _:
                continue
        if named:
            found.append(node.lineno)
    return found


def writes_names(tree: ast.AST) -> list[int]:
    """Return the lines that write a placement's name, other than a buffer's own name in its class."""
    own = {part for x in ast.walk(tree) if isinstance(x, ast.ClassDef) for each in x.body for part in ast.walk(each)
           if isinstance(each, ast.Assign)}  # fmt: skip
    names = set(RECORDS) - SHARED
    return [x.lineno for x in ast.walk(tree) if isinstance(x, ast.Constant) and x.value in names and x not in own]


def test_nothing_else_compares_lists_or_writes_names() -> None:
    """Code that needs a placement uses the constant of its role."""
    found = []
    for folder in ("sparsezc", "ops", "semirings"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            inside = path.relative_to(ROOT).as_posix()
            if inside != "sparsezc/memory/placement.py" and inside not in OTHERWISE:
                tree = ast.parse(path.read_text())
                found += [f"{inside}:{line}" for line in knows_names(tree) + writes_names(tree)]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        'p == "hybrid"',
        '"device" != p',
        'p in ("stream", "gather")',
        'match p:\n  case "host": 1',
        '{"mapped": 1}.get(p)',
        'X = ["zerocopy", "uvm"]',
        "p == BEYOND",
        "placements.FITS != p",
        "p in (placement.HOST, other)",
        "match p:\n  case placements.HOST: 1",
        "{BEYOND: 1}.get(p)",
    ],
)
def test_the_judge_sees_every_form(text: str) -> None:
    assert knows_names(ast.parse(text))
    assert not knows_names(ast.parse('f("hybrid"); p = "device"; {"device": 1, "host": 2}; q == index("device")'))
    assert writes_names(ast.parse('def f(): return allocate("zerocopy" if x else FITS, where="hybrid")')) == [1, 1]
    assert not writes_names(ast.parse('class B(Buffer): placement, pages = "peer", "device"\nallocate(BY_ADDRESS, 3)'))
    assert not knows_names(ast.parse("f(BEYOND); p = FITS if x in FILES else HOST; needs[placements.HOST] == q"))
