"""``sparsezc completion SHELL``: a script with which bash, zsh or fish completes commands, names, options and choices.

The script is generated from the parsers of all commands, and so from the table that declares them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from sparsezc.terminal import streams


class _Command(NamedTuple):
    """A command, the algorithm's name after it if any, its help, its options, and the choices of its arguments."""

    command: str
    name: str
    help: str
    options: list[argparse.Action]
    words_at: dict[int, str]

    @property
    def words(self) -> str:
        return f"{self.command} {self.name}".rstrip()


def add(commands: Any) -> None:
    """Declare the command."""
    text = "a script that completes this program's arguments in a shell"
    command = commands.add_parser("completion", help=text, description=f"Print {text}.")
    command.add_argument(
        "shell", choices=tuple(_SHELLS), metavar="SHELL", action=partial(_Print, commands=commands),
        help='bash or zsh: eval "$(sparsezc completion bash)"; fish: sparsezc completion fish | source',
    )  # fmt: skip


class _Print(argparse.Action):
    """An action that prints the script and exits."""

    def __init__(self, *args: Any, commands: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.commands = commands

    def __call__(self, parser: argparse.ArgumentParser, _: Any, shell: Any, *__: object) -> None:
        with streams.output() as out:
            out.write(_SHELLS[shell](list(_every(self.commands))))
        parser.exit()


def _every(commands: Any) -> Iterator[_Command]:
    """Yield all commands; a command that takes a name (``run``) is followed by one command for each name."""
    helps = {each.dest: each.help or "" for each in commands._choices_actions}
    for command, parser in commands.choices.items():
        yield _Command(command, "", helps.get(command, ""), _options(parser), _arguments(parser))
        for inner in parser._actions:
            if isinstance(inner, argparse._SubParsersAction):
                helps_inner = {each.dest: each.help or "" for each in inner._choices_actions}
                for name, each in inner.choices.items():
                    yield _Command(command, name, helps_inner.get(name, ""), _options(each), _arguments(each))


def _options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [action for action in parser._actions if action.option_strings]


def _arguments(parser: argparse.ArgumentParser) -> dict[int, str]:
    """Return the choices of positional arguments, by the number of words before each in a line without options."""
    given = [action for action in parser._actions if not action.option_strings]
    return {
        at: " ".join(map(str, action.choices))
        for at, action in enumerate(given, 2)
        if action.choices is not None and not isinstance(action, argparse._SubParsersAction)
    }


def _bash(commands: list[_Command]) -> str:
    """Return the script for bash; options and choices are looked up by the command's words.

    Where the script finds nothing, the shell completes file names. Bash splits ``--engine=cpu`` and ``kron:16`` into
    three words each; zsh keeps one.
    """
    tops = " ".join(each.command for each in commands if not each.name)
    names = " ".join(each.name for each in commands if each.name)
    options, choices, arguments = [], [], []
    for each in commands:
        arguments += [f'        "{each.words}") from={at} found="{words}" ;;' for at, words in each.words_at.items()]
        flags = [flag for action in each.options for flag in action.option_strings if flag.startswith("--")]
        options.append(f'        "{each.words}") found="{" ".join(flags)}" ;;')
        for action in each.options:
            if action.choices is not None:
                keys = "|".join(f'"{each.words} {flag}"' for flag in action.option_strings)
                choices.append(f'        {keys}) found="{" ".join(map(str, action.choices))}" ;;')
    return f"""\
_sparsezc() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} key=${{COMP_WORDS[1]}}
    local start= found= from=0
    COMPREPLY=()
    case "$word" in
        =) word= ;;
        --*=*) before=${{word%%=*}} start=${{word%%=*}}= word=${{word#*=}} ;;
    esac
    if [ "$before" = = ]; then before=${{COMP_WORDS[COMP_CWORD-2]}}; fi
    if [ "$key" = app ]; then key=run; fi
    if [ "$COMP_CWORD" -eq 1 ]; then
        found="{tops} --help --version"
    elif [ "$key" = run ] && [ "$COMP_CWORD" -eq 2 ]; then
        found="{names} --list --help"
    else
        if [ "$key" = run ]; then key="run ${{COMP_WORDS[2]}}"; fi
        case "$key $before" in
{chr(10).join(choices)}
        esac
        if [ -z "$found" ] && [ "${{word#-}}" != "$word" ]; then
            case "$key" in
{chr(10).join(options)}
            esac
        elif [ -z "$found" ]; then
            case "$key" in
{chr(10).join(arguments)}
            esac
            if [ "$COMP_CWORD" -lt "$from" ]; then found=; fi
        fi
    fi
    if [ -n "$found" ]; then
        COMPREPLY=( $(compgen -P "$start" -W "$found" -- "$word") )
    elif [ -n "$start" ]; then
        for found in "$word"*; do
            if [ -e "$found" ]; then COMPREPLY+=("$start$found"); fi
        done
    fi
}}
complete -o default -F _sparsezc sparsezc
"""


def _zsh(commands: list[_Command]) -> str:
    """Return the script for zsh: bash's script, which zsh runs by its module bashcompinit."""
    own = "(( $+functions[compdef] )) || { autoload -U +X compinit && compinit -i }"  # no question at a shell's start
    return f"{own}\nautoload -U +X bashcompinit && bashcompinit\n{_bash(commands)}"


def _fish(commands: list[_Command]) -> str:
    """Return the script for fish, which shows each option's help, too."""
    lines = []
    for each in commands:
        seen = f"__fish_seen_subcommand_from {each.command}"
        if not each.name:
            lines.append(f"complete -c sparsezc -n __fish_use_subcommand -f -a {each.command} -d {_quoted(each.help)}")
        else:
            first = f"{seen}; and test (count (commandline -opc)) -eq 2"  # no name yet
            lines.append(f"complete -c sparsezc -n '{first}' -f -a {each.name} -d {_quoted(each.help)}")
            seen += f"; and __fish_seen_subcommand_from {each.name}"
        for at, words in each.words_at.items():
            at_least = f"{seen}; and test (count (commandline -opc)) -ge {at}"
            lines.append(f"complete -c sparsezc -n '{at_least}' -a {_quoted(words)}")
        for action in each.options:
            for flag in action.option_strings:
                text = f"complete -c sparsezc -n '{seen}' {'-l' if flag.startswith('--') else '-s'} {flag.lstrip('-')}"
                takes = "" if action.nargs == 0 else " -r"
                if action.choices is not None:
                    takes = f" -x -a {_quoted(' '.join(map(str, action.choices)))}"
                lines.append(f"{text}{takes} -d {_quoted((action.help or '').replace('%%', '%'))}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Return a text in fish's single quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
