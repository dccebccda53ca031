"""``sparsezc mpirun -n 4 prog.py``: a program on several processes, with the mpiexec that belongs to mpi4py."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sparsezc.cli.answers.report import Report
from sparsezc.cli.graph import count
from sparsezc.exceptions import DeviceUnavailable
from sparsezc.io.files.source import FileMissing

__all__ = ["add", "command_line", "find_mpiexec"]


def add(commands: Any) -> None:
    """Declare the command."""
    text = "run a Python program on several processes (MPI)"
    command = commands.add_parser("mpirun", help=text, description=f"{text[0].upper()}{text[1:]}.")
    command.add_argument("-n", type=count, default=2, metavar="N", help="processes (default: 2)")
    command.add_argument("--mpiexec", metavar="PATH", help="the mpiexec to use (default: the one beside this Python)")
    command.add_argument("program", help="the Python file")
    rest = command.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    rest.required = False  # Python 3.11 lists them among those that are missing
    command.set_defaults(run=mpirun)


def find_mpiexec() -> str:
    """Return the path of mpiexec: that of this Python's environment, else the first on the PATH.

    Raises
    ------
    FileMissing
        There is none.
    """
    beside = Path(sys.executable).parent / "mpiexec"
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None:
        raise FileMissing("mpirun: there is no mpiexec; pip install 'sparsezc[mpi]' brings one")
    return found


def command_line(mpiexec: str, ranks: int, program: str, arguments: list[str]) -> list[str]:
    """Return the command that runs a program; ``-m mpi4py`` ends all ranks if one of them fails."""
    return [mpiexec, "-n", str(ranks), sys.executable, "-m", "mpi4py", program, *arguments]


def mpirun(arguments: argparse.Namespace) -> Report:
    """Run the program; its exit code is the command's.

    Raises
    ------
    DeviceUnavailable
        mpi4py is not installed.
    """
    if find_spec("mpi4py") is None:
        raise DeviceUnavailable("mpirun: mpi4py is not installed; pip install 'sparsezc[mpi]' brings it and an MPI")
    if not Path(arguments.program).is_file():
        raise FileMissing(f"mpirun: there is no file {arguments.program}")
    mpiexec = arguments.mpiexec or find_mpiexec()
    done = subprocess.run(command_line(mpiexec, arguments.n, arguments.program, arguments.arguments), check=False)
    facts = [("processes", str(arguments.n)), ("exit code", str(done.returncode))]
    data = {"command": "mpirun", "processes": arguments.n, "exit_code": done.returncode}
    return Report(data, facts, code=done.returncode, aside=True)
