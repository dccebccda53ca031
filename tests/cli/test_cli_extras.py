"""Pictures, quiet runs, completion in shells, and times compared with other libraries."""

from __future__ import annotations

import json
import os
import pty
import re
import select
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


#: Lines before and after completion.
COMPLETED = {
    "sparsezc pa": "sparsezc pagerank ",
    "sparsezc run core": "sparsezc run core-number ",
    "sparsezc run pagerank kron:4 --dam": "sparsezc run pagerank kron:4 --damping ",
    "sparsezc run greedy-color kron:4 --strategy r": "sparsezc run greedy-color kron:4 --strategy random_sequential ",
    "sparsezc bfs kron:4 --engine=c": "sparsezc bfs kron:4 --engine=cpu ",
    "sparsezc convert g.txt --format me": "sparsezc convert g.txt --format metis ",
    "sparsezc info g.txt --ch": "sparsezc info g.txt --check ",
    "sparsezc completion f": "sparsezc completion fish ",
    "sparsezc scale kron:4 pag": "sparsezc scale kron:4 pagerank ",
    "sparsezc bfs my": r"sparsezc bfs my\ words.txt ",
    "sparsezc bfs kron:4 --out=one": "sparsezc bfs kron:4 --out=one.csv ",
}
#: Each shell's arguments, and a command that binds a key to print the line being edited.
SHELLS = {
    "bash": (("--norc", "--noprofile", "-i"), 'bind -x \'"\\C-g": echo "<$READLINE_LINE>"\''),
    "zsh": (("-f", "-i"), 'show() { print -r -- "<$BUFFER>" }; zle -N show; bindkey "^G" show'),
}


@pytest.mark.parametrize("shell", SHELLS)
def test_bash_and_zsh_complete_what_is_typed(shell: str, tmp_path: Path) -> None:
    """Completion works in interactive shells in a pseudo-terminal."""
    if (found := shutil.which(shell)) is None:
        pytest.skip(f"{shell} is not installed")
    for name in ("my words.txt", "one.csv"):
        (tmp_path / name).touch()
    where = {"PYTHON": sys.executable, "PYTHONPATH": str(Path(__file__).resolve().parents[2]), "HOME": str(tmp_path)}
    options, key = SHELLS[shell]
    ours, its = pty.openpty()
    with subprocess.Popen(
        [found, *options], stdin=its, stdout=its, stderr=its, cwd=tmp_path,
        env={**where, "PATH": "/usr/bin:/bin", "TERM": "dumb", "COLUMNS": "200"},
    ) as process:  # fmt: skip
        os.close(its)
        try:
            _typed(ours, f'{key}; eval "$("$PYTHON" -m sparsezc completion {shell})"; echo "<"ready">"\n', "<ready>")
            for line, whole in COMPLETED.items():
                _typed(ours, f"{line}\t\a", f"<{whole}>")
                os.write(ours, b"\x15")  # erases the line
        finally:
            process.kill()
            os.close(ours)


def _typed(terminal: int, keys: str, awaited: str) -> None:
    """Send keys to the terminal, and check the next text in angle brackets."""
    os.write(terminal, keys.encode())
    seen = ""
    while not (told := re.findall(r'<[^<>$"]*>', seen)):
        assert select.select([terminal], [], [], 60)[0], seen
        seen += os.read(terminal, 4096).decode()
    assert told == [awaited]


IN_FISH = """
$PYTHON -m sparsezc completion fish </dev/null | source
while read line
    echo (complete -C "$line" | string split -f1 (printf "\\t"))
end
true
"""


def test_fish_completes(tmp_path: Path) -> None:
    """fish prints the completions that it would offer."""
    if (fish := shutil.which("fish")) is None:
        pytest.skip("fish is not installed")
    (tmp_path / "only.txt").touch()
    offered = {
        "sparsezc pa": "pagerank",
        "sparsezc run core": "core-number",
        "sparsezc run pagerank kron:4 --da": "--damping --dangling",
        "sparsezc bfs kron:4 --engine=": "--engine=auto --engine=cpu --engine=gpu",
        "sparsezc convert g.txt --format me": "metis",
        "sparsezc completion f": "fish",
        "sparsezc scale kron:4 pag": "pagerank",
        "sparsezc bfs only": "only.txt",
    }
    where = {"PYTHON": sys.executable, "PYTHONPATH": str(Path(__file__).resolve().parents[2]), "HOME": str(tmp_path)}
    done = subprocess.run(
        [fish, "--no-config", "-c", IN_FISH], input="\n".join(offered) + "\n", cwd=tmp_path, capture_output=True,
        text=True, timeout=60, check=True, env={**where, "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert dict(zip(offered, done.stdout.splitlines(), strict=True)) == offered


def test_every_name_and_option_is_in_the_scripts(capsys: Any) -> None:
    commands = parser()._subparsers._group_actions[0].choices  # type: ignore[union-attr]
    for shell, option in (("zsh", "--{}"), ("fish", "-l {}")):  # zsh's script includes bash's
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
