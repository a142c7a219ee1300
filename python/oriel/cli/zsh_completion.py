# SPDX-License-Identifier: BSD-3-Clause
"""The completion script for zsh."""

from __future__ import annotations

import re
from collections.abc import Sequence

from oriel.cli.command_line import Argument, Command

_HEAD = """\
#compdef oriel
# Completes the command `oriel` in zsh; printed by `oriel completion zsh`.
"""

# Read by compinit it is the function's body; read by `source` or `eval` it has to name it.
_TAIL = """\
if [[ ${funcstack[1]} == _oriel ]]; then
  _oriel "$@"
else
  compdef _oriel oriel
fi
"""


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _described(text: str) -> str:
    """Within the brackets of an option, and behind colons."""
    return re.sub(r"([\[\]:\\])", r"\\\1", text.partition(" (default")[0])


def _values(argument: Argument) -> str:
    if argument.choices:
        return f"({' '.join(argument.choices)})"
    if argument.metavar == "FOLDER":
        return "_files -/"
    return "_files" if argument.takes_file else " "


def _specifications(command: Command) -> list[str]:
    lines = []
    for option in command.options:
        value = f":{_described(option.metavar)}:{_values(option)}" if option.metavar else ""
        others = f"({' '.join(option.names)})" if len(option.names) > 1 else ""
        lines += [
            _quote(f"{others}{name}[{_described(option.help)}]{value}") for name in option.names
        ]
    for argument in command.positionals:
        if argument.takes_program:
            return [*lines, _quote("*::program:_normal")]
        if argument.choices:
            lines.append(_quote(f":{_described(argument.help)}:{_values(argument)}"))
    return lines


def _choose(commands: Sequence[Command], level: int, indent: str) -> list[str]:
    """The words of one level, and what follows each of them."""
    lines = [
        "local context state state_descr line words_of_level",
        "typeset -A opt_args",
        "_arguments -C '--help[show help]' '1:command:->command' '*::argument:->argument'",
        "case $state in",
        "  command)",
        "    words_of_level=(",
        *(
            f"      {_quote(f'{each.words[level]}:{_described(each.summary)}')}"
            for each in commands
        ),
        "    )",
        "    _describe command words_of_level ;;",
        "  argument)",
        "    case $words[1] in",
        *(f"      {each.words[level]}) {_function(each)} ;;" for each in commands),
        "    esac ;;",
        "esac",
    ]
    return [indent + line for line in lines]


def _function(command: Command) -> str:
    return "_oriel_" + "_".join(command.words)


def _functions(command: Command) -> list[str]:
    lines = []
    for subject in command.subjects:
        lines += _functions(subject)
    lines += [f"{_function(command)}() {{"]
    if command.subjects:
        lines += _choose(command.subjects, 1, "  ")
    else:
        specifications = [f"    {each}" for each in _specifications(command)]
        lines += [" \\\n".join(["  _arguments -s", *specifications])]
    return [*lines, "}", ""]


def script(commands: Sequence[Command]) -> str:
    lines = [line for command in commands for line in _functions(command)]
    lines += ["_oriel() {", *_choose(commands, 0, "  "), "}", ""]
    return _HEAD + "\n".join(lines) + "\n" + _TAIL
