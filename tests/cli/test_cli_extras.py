"""Pictures, quiet runs, completion in a shell, and times beside other libraries'."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import sparsezc as gb
from sparsezc.cli import bench, main, parser
from sparsezc.cli.table import ROWS
from tests.cli.commands import failed

HEADS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.fixture(autouse=True)
def _settings_end_with_the_test() -> Any:
    with gb.config.set(engine="auto", placement="auto"):
        yield


@pytest.mark.parametrize(
    "command",
    [
        "bfs path:99 --plot a.png", "sssp star:9?weights=1-9 --plot a.svg", "pagerank star:9 --plot a.pdf",
        "cc kron:6 --plot a.svg", "run core-number kron:6 --plot a.svg", "info kron:6 --plot a.svg",
        "info kron:6 --plot a.svg --plot-kind spy", "run greedy-color grid:3x4 --seed 1 --plot a.svg --plot-kind graph",
    ],
)  # fmt: skip
def test_a_picture_appears(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    for package in ("matplotlib", "networkx"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    assert main(command.split()) == 0
    assert "drawn" in capsys.readouterr().out
    (path,) = tmp_path.iterdir()
    assert path.read_bytes().startswith(HEADS[path.suffix])


def test_a_picture_shows_the_numbers_of_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = []
    figure = pytest.importorskip("matplotlib.figure").Figure
    monkeypatch.setattr(figure, "savefig", lambda self, file, **_: (figures.append(self), file.write(b"x")))
    assert main(["bfs", "path:4", "--source", "0", "--plot", str(tmp_path / "a.png")]) == 0
    assert [bar.get_height() for bar in figures[0].axes[0].patches] == [1, 1, 1, 1]
    assert main(["info", "path:4", "--plot", str(tmp_path / "a.png"), "--plot-kind", "spy"]) == 0
    entries = figures[1].axes[0].images[0].get_array().filled(0)
    assert entries.tolist() == [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("bfs none.txt --plot a.bmp", "--plot a.bmp: a name that ends in .png, .svg, .pdf is needed"),
        ("bfs none.txt --plot no/a.png", "does not exist"),
        ("run diameter path:9 --plot a.png", "diameter has no distribution; --plot-kind degrees, spy or graph"),
        ("bfs kron:10 --plot a.png --plot-kind graph", "a square graph of at most 500 vertices can be drawn"),
    ],
)
def test_a_picture_that_cannot_be(command: str, message: str, capsys: Any) -> None:
    pytest.importorskip("matplotlib")
    assert message in failed(capsys, *command.split())


def test_a_package_that_is_not_there(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    said = failed(capsys, "bfs", "none.txt", "--plot", "a.png")
    assert 'pip install "sparsezc[plot]" brings it' in said


def test_quiet_prints_nothing(tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "a.txt"
    assert main(["bfs", "path:3", "--source", "0", "--quiet", "--out", str(out)]) == 0
    assert capsys.readouterr() == ("", "")
    assert out.read_text() == "0 0\n1 1\n2 2\n"
    assert main(["bfs", "path:3", "--source", "0", "--quiet", "--out", "-"]) == 0
    assert capsys.readouterr() == (out.read_text(), "")
    assert main(["bfs", str(tmp_path / "none.txt"), "--quiet"]) == 1
    assert "does not exist" in capsys.readouterr().err
    assert gb.config.progress == "auto"
    with pytest.raises(SystemExit):
        main(["bfs", "path:3", "--quiet", "--json"])


TRY = """
eval "$("$PYTHON" -m sparsezc completion bash)"
while read -r -a words; do
    if [ "${words[-1]}" = "''" ]; then words[-1]=""; fi
    COMP_WORDS=("${words[@]}") COMP_CWORD=$(( ${#words[@]} - 1 ))
    _sparsezc
    echo "${COMPREPLY[*]}"
done
"""
COMPLETED = {
    "sparsezc pa": "pagerank",
    "sparsezc run core": "core-number",
    "sparsezc run pagerank kron:4 --da": "--damping --dangling",
    "sparsezc run greedy-color kron:4 --strategy ''": "largest_first random_sequential",
    "sparsezc bfs kron:4 --engine ''": "auto cpu gpu",
    "sparsezc info g.txt --ch": "--check",
    "sparsezc bfs only": "only.txt",
}


def test_bash_completes(tmp_path: Path) -> None:
    """By bash itself: the words of a line, and the array that its completion fills."""
    if (bash := shutil.which("bash")) is None:
        pytest.skip("bash is not installed")
    (tmp_path / "only.txt").touch()
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [bash, "-c", TRY], input="\n".join(COMPLETED) + "\n", cwd=tmp_path, capture_output=True, text=True, timeout=60,
        check=True, env={"PYTHON": sys.executable, "PYTHONPATH": str(root), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert done.stderr == ""
    assert dict(zip(COMPLETED, done.stdout.splitlines(), strict=True)) == COMPLETED


IN_ZSH = """
eval "$("$PYTHON" -m sparsezc completion zsh)"
setopt ksharrays shwordsplit
while read -r line; do
    COMP_WORDS=($line) COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
    _sparsezc
    print -- "${COMPREPLY[@]}"
done
"""
IN_FISH = """
$PYTHON -m sparsezc completion fish </dev/null | source
while read line
    echo (complete -C "$line" | string split -f1 (printf "\\t"))
end
true
"""


@pytest.mark.parametrize(("shell", "text"), [("zsh", IN_ZSH), ("fish", IN_FISH)])
def test_zsh_and_fish_complete(shell: str, text: str, tmp_path: Path) -> None:
    """By the shells themselves; zsh drops what has another start when it shows what it is told here."""
    if (found := shutil.which(shell)) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "only.txt").touch()
    words = {line: answer for line, answer in COMPLETED.items() if not line.endswith("''") and "g.txt" not in line}
    where = {"PYTHON": sys.executable, "PYTHONPATH": str(Path(__file__).resolve().parents[2]), "HOME": str(tmp_path)}
    done = subprocess.run(
        [found, "-f" if shell == "zsh" else "--no-config", "-c", text], input="\n".join(words) + "\n", cwd=tmp_path,
        capture_output=True, text=True, timeout=60, check=True, env={**where, "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    offered = dict(zip(words, map(str.split, done.stdout.splitlines()), strict=True))
    for line, answer in words.items():
        found_here = [word for word in offered[line] if word.startswith(line.split()[-1])]
        assert sorted(found_here) == sorted(answer.split()), line


def test_every_name_and_option_is_in_the_scripts(capsys: Any) -> None:
    commands = parser()._subparsers._group_actions[0].choices  # type: ignore[union-attr]
    for shell, option in (("bash", "--{}"), ("zsh", "--{}"), ("fish", "-l {}")):
        with pytest.raises(SystemExit) as left:
            main(["completion", shell])
        assert left.value.code == 0
        script = capsys.readouterr().out
        assert [row.name for row in ROWS if row.name not in script] == []
        assert [name for name in commands if name not in script] == []
        assert [o.flag for row in ROWS for o in row.options if option.format(o.flag[2:]) not in script] == []


@pytest.mark.parametrize("text", ["0 1 3\n1 2 4\n2 0 1\n2 2 7\n3 4 1\n", None])
def test_libraries_agree(text: str | None, tmp_path: Path, capsys: Any) -> None:
    pytest.importorskip("networkx")
    path = tmp_path / "a.txt"
    path.write_text(text or "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        assert main(["bench", str(path) if text else "kron:6?weights=1-9", "--trials", "1", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert [each["answer"] for each in results if each["library"] == "networkx"] == ["equal"] * len(bench.ALGORITHMS)
    assert [each["answer"] for each in results if each["library"] == "scipy"] == ["equal"] * 4
    with_igraph = ["equal"] * 4 if find_spec("igraph") else ["not installed"] * len(bench.ALGORITHMS)
    assert [each["answer"] for each in results if each["library"] == "igraph"] == with_igraph
    assert all(each["seconds"] > 0 for each in results if each["answer"] == "equal")


def test_a_wrong_answer_is_told(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(bench, "_LIBRARIES", {"scipy": lambda *_: (lambda: 7, int)})
    assert main(["bench", "kron:4", "--algorithms", "triangles"]) == 1
    assert "differs" in capsys.readouterr().out
