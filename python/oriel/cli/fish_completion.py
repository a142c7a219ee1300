# SPDX-License-Identifier: BSD-3-Clause
"""The completion script for fish."""

from __future__ import annotations

from collections.abc import Sequence

from oriel.cli.command_line import Argument, Command

_HEAD = """\
# Completes the command `oriel` in fish; printed by `oriel completion fish`.

# Whether the words behind `oriel` begin with these.
function __oriel_begins
    set -l words (commandline -opc)
    set -e words[1]
    test (count $words) -ge (count $argv); or return 1
    for i in (seq (count $argv))
        test "$words[$i]" = "$argv[$i]"; or return 1
    end
end

# Whether the words behind `oriel` are these and no more.
function __oriel_is
    set -l words (commandline -opc)
    test (count $words) -eq (math (count $argv) + 1); and __oriel_begins $argv
end

complete -c oriel -f
complete -c oriel -n __oriel_is -l version -d 'print the version'
"""


def _quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _option(option: Argument) -> str:
    words = [
        f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names
    ]
    if option.choices:
        words.append(f"-x -a {_quote(' '.join(option.choices))}")
    elif option.takes_file:
        words.append("-r -F")
    elif option.metavar:
        words.append("-x")
    return f"{' '.join(words)} -d {_quote(option.help.partition(' (default')[0])}"


def _lines(command: Command) -> list[str]:
    begins = f"-n {_quote('__oriel_begins ' + ' '.join(command.words))}"
    before = f"-n {_quote(' '.join(['__oriel_is', *command.words[:-1]]))}"
    lines = [f"{before} -a {command.words[-1]} -d {_quote(command.summary)}"]
    for positional in command.positionals:
        if positional.choices:
            lines.append(f"{begins} -a {_quote(' '.join(positional.choices))}")
        elif positional.takes_program:
            lines.append(f"{begins} -F -a '(__fish_complete_command)'")
    if command.subjects:
        return [*lines, *(line for subject in command.subjects for line in _lines(subject))]
    return [*lines, *(f"{begins} {_option(option)}" for option in command.options)]


def script(commands: Sequence[Command]) -> str:
    lines = [line for command in commands for line in _lines(command)]
    return _HEAD + "".join(f"complete -c oriel {line}\n" for line in lines)
